/* check
what = "four floats of a local array are read as a vector from an address that is a multiple of 4"
finds = ["F0024"]
says = "t[]"
global = [32]
local = [32]
[args]
a = "rand:f32:32"
o = "zeros:f32x4:32"
*/
kernel void k(global const float *a, global float4 *o)
{
    local float t[36] __attribute__((aligned(16)));
    int i = get_local_id(0);
    t[i] = a[i];
    if (i < 4)
        t[32 + i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef BUG
    o[i] = *(local float4 *)&t[i]; // <-
#else
    o[i] = *(local float4 *)&t[i & ~3] + vload4(0, &t[i]);
#endif
}
