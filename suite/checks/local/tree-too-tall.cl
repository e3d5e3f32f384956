/* check
what = "rows of a product are summed by groups whose tree begins at 64 in groups of 32"
finds = ["F0005", "F0001", "F0006"]
global = [128]
local = [32]
[args]
m = "rand:f32:256:1"
v = "rand:f32:64:2"
y = "zeros:f32:4"
*/
kernel void k(global const float *m, global const float *v, global float *y)
{
    local float part[32];
    int l = get_local_id(0), r = get_group_id(0);
    part[l] = m[r * 64 + l] * v[l] + m[r * 64 + 32 + l] * v[32 + l];
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef BUG
    for (int s = 32; s > 0; s /= 2) {
#else
    for (int s = 16; s > 0; s /= 2) {
#endif
        if (l < s) part[l] += part[l + s]; // <-
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) y[r] = part[0];
}
