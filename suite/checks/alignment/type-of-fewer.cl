/* check
what = "a float4 read at an address that is a multiple of 4, beside a type of its own that may be read there"
finds = ["F0010", "F0024"]
global = [32]
local = [32]
[args]
a = "rand:f32:40"
o = "zeros:f32x4:32"
*/
typedef float4 anywhere __attribute__((aligned(4)));
kernel void k(global const float *a, global float4 *o)
{
    local float t[36];
    int i = get_local_id(0);
    t[i] = a[i];
    if (i < 4)
        t[32 + i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    float4 right = *(local anywhere *)&t[i] + *(global const anywhere *)&a[i + 1];
#ifdef BUG
    o[i] = right + *(global const float4 *)(a + i); // <-
#else
    o[i] = right + *(global const anywhere *)(a + i);
#endif
}
