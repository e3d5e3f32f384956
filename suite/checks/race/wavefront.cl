/* check
what = "diagonals of an alignment matrix in local memory follow each other without a barrier"
finds = ["F0004"]
global = [16]
local = [16]
[args]
a = "iota:i32:16"
b = "iota:i32:16"
o = "zeros:i32:1"
*/
kernel void k(global const int *a, global const int *b, global int *o)
{
    local int h[17][17];
    int l = get_local_id(0);
    h[0][l + 1] = -(l + 1);
    h[l + 1][0] = -(l + 1);
    if (l == 0) h[0][0] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 0; d < 31; d++) {
        int j = d - l;
        if (j >= 0 && j < 16) {
            int best = h[l][j] + (a[l] == b[j] ? 2 : -1); // <-
            best = max(best, h[l][j + 1] - 1); // <-
            best = max(best, h[l + 1][j] - 1); // <-
            h[l + 1][j + 1] = best; // <-
        }
#ifndef BUG
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }
    if (l == 15) o[0] = h[16][16];
}
