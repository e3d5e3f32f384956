/* check
what = "a column too many: the element is the next row's first"
finds = ["F0005"]
global = [16]
local = [16]
[args]
o = "zeros:i32:16"
n = "16"
*/
kernel void k(global int *o, int n)
{
    local int t[16][16];
    int i = get_local_id(0);
    for (int j = 0; j < 16; j++) t[i][j] = i + j;
    barrier(CLK_LOCAL_MEM_FENCE);
    int sum = 0;
#ifdef BUG
    for (int j = 0; j <= n; j++) sum += t[i & 7][j]; // <-
#else
    for (int j = 0; j < n; j++) sum += t[i & 7][j];
#endif
    o[i] = sum;
}
