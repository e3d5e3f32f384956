target datalayout = "e-p:64:64-p3:32:32-p6:32:32-i64:64-n8:16:32:64"
target triple = "genx64-unknown-unknown"

declare i64 @llvm.genx.oword.st.dummy()
declare <16 x i32> @llvm.genx.svm.block.ld.unaligned.v16i32(i64)
declare void @llvm.genx.svm.block.st.v16i32(i64, <16 x i32>)
declare i32 @llvm.genx.group.id.x()
declare <3 x i32> @llvm.genx.local.id.v3i32()
declare <3 x i32> @llvm.genx.local.size.v3i32()

define dllexport spir_kernel void @vadd(i64 %a, i64 %b, i64 %c) #0 {
  %g = call i32 @llvm.genx.group.id.x()
  %ls = call <3 x i32> @llvm.genx.local.size.v3i32()
  %li = call <3 x i32> @llvm.genx.local.id.v3i32()
  %l0 = extractelement <3 x i32> %ls, i32 0
  %i0 = extractelement <3 x i32> %li, i32 0
  %m = mul i32 %g, %l0
  %id = add i32 %m, %i0
  %id64 = zext i32 %id to i64
  %off = shl i64 %id64, 6
  %pa = add i64 %a, %off
  %pb = add i64 %b, %off
  %pc = add i64 %c, %off
  %va = call <16 x i32> @llvm.genx.svm.block.ld.unaligned.v16i32(i64 %pa)
  %vb = call <16 x i32> @llvm.genx.svm.block.ld.unaligned.v16i32(i64 %pb)
  %s = add <16 x i32> %va, %vb
  call void @llvm.genx.svm.block.st.v16i32(i64 %pc, <16 x i32> %s)
  ret void
}

attributes #0 = { noinline nounwind "CMGenxMain" "oclrt"="1" }
!genx.kernels = !{!0}
!spirv.Source = !{!10}
!opencl.spir.version = !{!10}
!opencl.ocl.version = !{!11}
!10 = !{i32 0, i32 0}
!11 = !{i32 1, i32 0}
!0 = !{void (i64, i64, i64)* @vadd, !"vadd", !1, i32 0, !2, !3, !4, i32 0}
!1 = !{i32 0, i32 0, i32 0}
!2 = !{i32 72, i32 80, i32 88}
!3 = !{i32 0, i32 0, i32 0}
!4 = !{!"svmptr_t", !"svmptr_t", !"svmptr_t"}
