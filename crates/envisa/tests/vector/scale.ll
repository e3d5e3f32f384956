target datalayout = "e-p:64:64-p3:32:32-p6:32:32-i64:64-n8:16:32:64"
target triple = "genx64-unknown-unknown"
declare <16 x i32> @llvm.genx.svm.gather.v16i32.v16i1.v16i64(<16 x i1>, i32, <16 x i64>, <16 x i32>)
declare void @llvm.genx.svm.scatter.v16i1.v16i64.v16i32(<16 x i1>, i32, <16 x i64>, <16 x i32>)
declare i32 @llvm.genx.group.id.x()
declare <3 x i32> @llvm.genx.local.id.v3i32()
declare <3 x i32> @llvm.genx.local.size.v3i32()

define dllexport spir_kernel void @scale(i64 %in, i64 %out, i32 %n, float %f) #0 {
  %g = call i32 @llvm.genx.group.id.x()
  %ls = call <3 x i32> @llvm.genx.local.size.v3i32()
  %li = call <3 x i32> @llvm.genx.local.id.v3i32()
  %l0 = extractelement <3 x i32> %ls, i32 0
  %i0 = extractelement <3 x i32> %li, i32 0
  %m = mul i32 %g, %l0
  %id = add i32 %m, %i0
  %first = shl i32 %id, 4
  %f0 = insertelement <16 x i32> undef, i32 %first, i32 0
  %fs = shufflevector <16 x i32> %f0, <16 x i32> undef, <16 x i32> zeroinitializer
  %ids = add <16 x i32> %fs, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %n0 = insertelement <16 x i32> undef, i32 %n, i32 0
  %ns = shufflevector <16 x i32> %n0, <16 x i32> undef, <16 x i32> zeroinitializer
  %on = icmp ult <16 x i32> %ids, %ns
  %wide = zext <16 x i32> %ids to <16 x i64>
  %off = shl <16 x i64> %wide, <i64 2, i64 2, i64 2, i64 2, i64 2, i64 2, i64 2, i64 2, i64 2, i64 2, i64 2, i64 2, i64 2, i64 2, i64 2, i64 2>
  %a0 = insertelement <16 x i64> undef, i64 %in, i32 0
  %as = shufflevector <16 x i64> %a0, <16 x i64> undef, <16 x i32> zeroinitializer
  %pa = add <16 x i64> %as, %off
  %o0 = insertelement <16 x i64> undef, i64 %out, i32 0
  %os = shufflevector <16 x i64> %o0, <16 x i64> undef, <16 x i32> zeroinitializer
  %po = add <16 x i64> %os, %off
  %x = call <16 x i32> @llvm.genx.svm.gather.v16i32.v16i1.v16i64(<16 x i1> %on, i32 0, <16 x i64> %pa, <16 x i32> undef)
  %xf = bitcast <16 x i32> %x to <16 x float>
  %c0 = insertelement <16 x float> undef, float %f, i32 0
  %cs = shufflevector <16 x float> %c0, <16 x float> undef, <16 x i32> zeroinitializer
  %y = fmul <16 x float> %xf, %cs
  %yi = bitcast <16 x float> %y to <16 x i32>
  call void @llvm.genx.svm.scatter.v16i1.v16i64.v16i32(<16 x i1> %on, i32 0, <16 x i64> %po, <16 x i32> %yi)
  ret void
}
attributes #0 = { noinline nounwind "CMGenxMain" "oclrt"="1" }
!genx.kernels = !{!0}
!0 = !{void (i64, i64, i32, float)* @scale, !"scale", !1, i32 0, !2, !3, !4, i32 0}
!1 = !{i32 0, i32 0, i32 0, i32 0}
!2 = !{i32 72, i32 80, i32 88, i32 92}
!3 = !{i32 0, i32 0, i32 0, i32 0}
!4 = !{!"svmptr_t", !"svmptr_t", !"", !""}
!spirv.Source = !{!10}
!opencl.spir.version = !{!10}
!opencl.ocl.version = !{!11}
!10 = !{i32 0, i32 0}
!11 = !{i32 1, i32 0}
