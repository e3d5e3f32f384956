target datalayout = "e-p:64:64-p3:32:32-p6:32:32-i64:64-n8:16:32:64"
target triple = "genx64-unknown-unknown"
declare <16 x i32> @llvm.genx.svm.block.ld.unaligned.v16i32(i64)
declare void @llvm.genx.svm.block.st.v16i32(i64, <16 x i32>)
declare i32 @llvm.genx.group.id.x()

define internal spir_func <16 x i32> @triangle(<16 x i32> %x, i32 %n) #1 {
  %p = alloca <16 x i32>, align 64
  store <16 x i32> %x, <16 x i32>* %p
  %stop = icmp eq i32 %n, 0
  br i1 %stop, label %done, label %again
again:
  %m = sub i32 %n, 1
  %r = call spir_func <16 x i32> @triangle(<16 x i32> %x, i32 %m)
  %v = load <16 x i32>, <16 x i32>* %p
  %t = mul <16 x i32> %r, <i32 3, i32 3, i32 3, i32 3, i32 3, i32 3, i32 3, i32 3, i32 3, i32 3, i32 3, i32 3, i32 3, i32 3, i32 3, i32 3>
  %u = xor <16 x i32> %t, %v
  %s = add <16 x i32> %u, %v
  ret <16 x i32> %s
done:
  ret <16 x i32> zeroinitializer
}

define dllexport spir_kernel void @calls(i64 %in, i64 %out, i32 %n) #0 {
  %g = call i32 @llvm.genx.group.id.x()
  %g64 = zext i32 %g to i64
  %off = shl i64 %g64, 6
  %pi = add i64 %in, %off
  %po = add i64 %out, %off
  %x = call <16 x i32> @llvm.genx.svm.block.ld.unaligned.v16i32(i64 %pi)
  %y = call spir_func <16 x i32> @triangle(<16 x i32> %x, i32 %n)
  call void @llvm.genx.svm.block.st.v16i32(i64 %po, <16 x i32> %y)
  ret void
}
attributes #0 = { noinline nounwind "CMGenxMain" "oclrt"="1" }
attributes #1 = { noinline nounwind "CMStackCall" }
!genx.kernels = !{!0}
!0 = !{void (i64, i64, i32)* @calls, !"calls", !1, i32 0, !2, !3, !4, i32 0}
!1 = !{i32 0, i32 0, i32 0}
!2 = !{i32 72, i32 80, i32 88}
!3 = !{i32 0, i32 0, i32 0}
!4 = !{!"svmptr_t", !"svmptr_t", !""}
!spirv.Source = !{!10}
!opencl.spir.version = !{!10}
!opencl.ocl.version = !{!11}
!10 = !{i32 0, i32 0}
!11 = !{i32 1, i32 0}
