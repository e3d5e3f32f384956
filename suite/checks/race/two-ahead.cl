/* check
what = "a ring of two tiles is filled two ahead, with one barrier a step"
finds = ["F0004"]
global = [32]
local = [32]
[args]
a = "iota:f32:512"
o = "zeros:f32:32"
*/
#ifdef BUG
#define DEEP 2
#else
#define DEEP 3
#endif
kernel void k(global const float *a, global float *o)
{
    local float tile[DEEP][32];
    int l = get_local_id(0);
    float sum = 0;
    tile[0][l] = a[l];
    tile[1][l] = a[32 + l];
    for (int n = 0; n < 8; n++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        float left = tile[n % DEEP][(l + 31) % 32]; // <-
        tile[(n + 2) % DEEP][l] = a[(n + 2) * 32 + l]; // <-
        sum += left * tile[n % DEEP][(l + 1) % 32]; // <-
    }
    o[l] = sum;
}
