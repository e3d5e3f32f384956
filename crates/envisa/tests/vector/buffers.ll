target datalayout = "e-p:64:64-p3:32:32-p6:32:32-i64:64-n8:16:32:64"
target triple = "genx64-unknown-unknown"
declare void @llvm.genx.oword.st.v16i32(i32, i32, <16 x i32>)
declare <16 x i32> @llvm.genx.oword.ld.unaligned.v16i32(i32, i32, i32)
declare <16 x i32> @llvm.genx.dword.atomic.add.v16i32.v16i1.v16i32(<16 x i1>, i32, <16 x i32>, <16 x i32>, <16 x i32>)
declare i32 @llvm.genx.group.id.x()

define dllexport spir_kernel void @buffers(i32 %in, i32 %out, i32 %sum) #0 {
  %g = call i32 @llvm.genx.group.id.x()
  %off = shl i32 %g, 6
  %x = call <16 x i32> @llvm.genx.oword.ld.unaligned.v16i32(i32 0, i32 %in, i32 %off)
  %y = mul <16 x i32> %x, <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16>
  %at = lshr i32 %off, 4
  call void @llvm.genx.oword.st.v16i32(i32 %out, i32 %at, <16 x i32> %y)
  %c = call <16 x i32> @llvm.genx.dword.atomic.add.v16i32.v16i1.v16i32(<16 x i1> <i1 1, i1 0, i1 1, i1 0, i1 1, i1 0, i1 1, i1 0, i1 1, i1 0, i1 1, i1 0, i1 1, i1 0, i1 1, i1 0>, i32 %sum, <16 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28, i32 32, i32 36, i32 40, i32 44, i32 48, i32 52, i32 56, i32 60>, <16 x i32> %x, <16 x i32> undef)
  ret void
}
attributes #0 = { noinline nounwind "CMGenxMain" "oclrt"="1" }
!genx.kernels = !{!0}
!0 = !{void (i32, i32, i32)* @buffers, !"buffers", !1, i32 0, !2, !3, !4, i32 0}
!1 = !{i32 2, i32 2, i32 2}
!2 = !{i32 72, i32 76, i32 80}
!3 = !{i32 0, i32 0, i32 0}
!4 = !{!"buffer_t", !"buffer_t", !"buffer_t"}
!spirv.Source = !{!10}
!opencl.spir.version = !{!10}
!opencl.ocl.version = !{!11}
!10 = !{i32 0, i32 0}
!11 = !{i32 1, i32 0}
