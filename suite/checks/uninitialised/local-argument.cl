/* check
what = "a local argument summed that nothing wrote"
finds = ["F0006", "F0002"]
says = "local argument t at byte"
global = [64]
local = [64]
[args]
a = "zeros:f32:64"
t = "local:256"
*/
kernel void k(global float *a, local float *t)
{
    int i = get_local_id(0);
#ifndef BUG
    t[i] = 1;
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 3; k++) {
        t[i] += i; // <-
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    a[i] = t[i];
}
