/* check
what = "a filter of twice the radius lacks its middle"
finds = ["F0005", "F0001"]
global = [64]
local = [32]
[args]
a = "rand:f32:64:1"
f = "rand:f32:4:2"
o = "zeros:f32:64"
r = "2"
*/
kernel void k(global const float *a, constant float *f, global float *o, int r)
{
    int i = get_global_id(0), n = get_global_size(0);
    float s = 0;
#ifdef BUG
    for (int j = -r; j <= r; j++) s += f[j + r] * a[clamp(i + j, 0, n - 1)]; // <-
#else
    for (int j = -r; j < r; j++) s += f[j + r] * a[clamp(i + j, 0, n - 1)];
#endif
    o[i] = s;
}
