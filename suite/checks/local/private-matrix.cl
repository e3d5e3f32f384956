/* check
what = "a column past a private matrix"
finds = ["F0005"]
global = [16]
local = [16]
[args]
a = "iota:f32:160"
o = "zeros:f32:16"
n = "4"
*/
kernel void k(global const float *a, global float *o, int n)
{
    float m[3][3];
    int i = get_global_id(0);
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 3; x++)
            m[y][x] = a[i * 9 + y * 3 + x];
    float trace = 0;
#ifdef BUG
    for (int j = 0; j < n; j++) trace += m[1][j]; // <-
#else
    for (int j = 0; j < n - 1; j++) trace += m[1][j];
#endif
    o[i] = trace;
}
