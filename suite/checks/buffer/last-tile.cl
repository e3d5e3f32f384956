/* check
what = "the last tile of a product is loaded beyond the end of a row where k is no multiple of it"
finds = ["F0006", "F0005", "F0001"]
global = [8, 8]
local = [8, 8]
[args]
a = "rand:f32:96:1"
b = "rand:f32:96:2"
c = "zeros:f32:64"
n = "12"
*/
kernel void k(global const float *a, global const float *b, global float *c, int n)
{
    local float s[8][8], t[8][8];
    int x = get_local_id(0), y = get_local_id(1);
    float sum = 0;
    for (int k = 0; k < n; k += 8) {
#ifdef BUG
        s[y][x] = a[y * n + k + x]; // <-
        t[y][x] = b[(k + y) * 8 + x]; // <-
#else
        s[y][x] = k + x < n ? a[y * n + k + x] : 0;
        t[y][x] = k + y < n ? b[(k + y) * 8 + x] : 0;
#endif
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < 8; j++) sum += s[y][j] * t[j][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[y * 8 + x] = sum;
}
