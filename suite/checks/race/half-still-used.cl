/* check
what = "of a double buffer the half is loaded that is still used"
finds = ["F0004"]
global = [32]
local = [32]
[args]
a = "iota:f32:256"
o = "zeros:f32:32"
*/
kernel void k(global const float *a, global float *o)
{
    local float tile[2][32];
    int l = get_local_id(0);
    float sum = 0;
    tile[0][l] = a[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int n = 1; n <= 8; n++) {
#ifdef BUG
        int into = (n + 1) & 1;
#else
        int into = n & 1;
#endif
        if (n < 8) tile[into][l] = a[n * 32 + l]; // <-
        for (int j = 0; j < 32; j++) sum += tile[(n - 1) & 1][j] * (j + l); // <-
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    o[l] = sum;
}
