target datalayout = "e-p:64:64-p3:32:32-p6:32:32-i64:64-n8:16:32:64"
target triple = "genx64-unknown-unknown"
declare void @llvm.genx.oword.st.v4i32(i32, i32, <4 x i32>)
declare <4 x i32> @llvm.genx.oword.ld.v4i32(i32, i32, i32)
declare void @llvm.genx.scatter.scaled.v16i1.v16i32.v16i32(<16 x i1>, i32, i16, i32, i32, <16 x i32>, <16 x i32>)
declare <16 x i32> @llvm.genx.gather.scaled.v16i32.v16i1.v16i32(<16 x i1>, i32, i16, i32, i32, <16 x i32>, <16 x i32>)
declare void @llvm.genx.barrier()
declare void @llvm.genx.slm.init(i32)
declare <16 x i32> @llvm.genx.svm.block.ld.unaligned.v16i32(i64)
declare void @llvm.genx.svm.block.st.v16i32(i64, <16 x i32>)
declare i32 @llvm.genx.group.id.x()
declare <3 x i32> @llvm.genx.local.id.v3i32()
declare <3 x i32> @llvm.genx.local.size.v3i32()

define dllexport spir_kernel void @turn(i64 %in, i64 %out) #0 {
  call void @llvm.genx.slm.init(i32 1024)
  %g = call i32 @llvm.genx.group.id.x()
  %ls = call <3 x i32> @llvm.genx.local.size.v3i32()
  %li = call <3 x i32> @llvm.genx.local.id.v3i32()
  %l0 = extractelement <3 x i32> %ls, i32 0
  %i0 = extractelement <3 x i32> %li, i32 0
  %m = mul i32 %g, %l0
  %id = add i32 %m, %i0
  %id64 = zext i32 %id to i64
  %off = shl i64 %id64, 6
  %pi = add i64 %in, %off
  %po = add i64 %out, %off
  %x = call <16 x i32> @llvm.genx.svm.block.ld.unaligned.v16i32(i64 %pi)
  %at = shl i32 %i0, 6
  %a0 = insertelement <16 x i32> undef, i32 %at, i32 0
  %as = shufflevector <16 x i32> %a0, <16 x i32> undef, <16 x i32> zeroinitializer
  %lanes = add <16 x i32> %as, <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28, i32 32, i32 36, i32 40, i32 44, i32 48, i32 52, i32 56, i32 60>
  call void @llvm.genx.scatter.scaled.v16i1.v16i32.v16i32(<16 x i1> <i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1>, i32 2, i16 0, i32 254, i32 0, <16 x i32> %lanes, <16 x i32> %x)
  call void @llvm.genx.barrier()
  %n1 = add i32 %i0, 1
  %next = urem i32 %n1, %l0
  %nat = shl i32 %next, 6
  %b0 = insertelement <16 x i32> undef, i32 %nat, i32 0
  %bs = shufflevector <16 x i32> %b0, <16 x i32> undef, <16 x i32> zeroinitializer
  %nl = add <16 x i32> %bs, <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28, i32 32, i32 36, i32 40, i32 44, i32 48, i32 52, i32 56, i32 60>
  %y = call <16 x i32> @llvm.genx.gather.scaled.v16i32.v16i1.v16i32(<16 x i1> <i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1>, i32 2, i16 0, i32 254, i32 0, <16 x i32> %nl, <16 x i32> undef)
  call void @llvm.genx.svm.block.st.v16i32(i64 %po, <16 x i32> %y)
  ret void
}
attributes #0 = { noinline nounwind "CMGenxMain" "oclrt"="1" }
!genx.kernels = !{!0}
!0 = !{void (i64, i64)* @turn, !"turn", !1, i32 1024, !2, !3, !4, i32 1}
!1 = !{i32 0, i32 0}
!2 = !{i32 72, i32 80}
!3 = !{i32 0, i32 0}
!4 = !{!"svmptr_t", !"svmptr_t"}
!spirv.Source = !{!10}
!opencl.spir.version = !{!10}
!opencl.ocl.version = !{!11}
!10 = !{i32 0, i32 0}
!11 = !{i32 1, i32 0}
