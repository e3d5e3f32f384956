/* check
what = "a kernel's structure says how many taps there are, and one more is taken"
finds = ["F0005", "F0001"]
global = [16]
local = [16]
[args]
taps = "rand:f32:5:1"
a = "iota:f32:20"
o = "zeros:f32:16"
n = "5"
*/
struct filter { int taps; float w[8]; };
float apply(struct filter f, global const float *a, int at)
{
    float s = 0;
#ifdef BUG
    for (int j = 0; j <= f.taps; j++) s += f.w[j & 7] * a[at + j]; // <-
#else
    for (int j = 0; j < f.taps; j++) s += f.w[j] * a[at + j];
#endif
    return s;
}
kernel void k(global const float *taps, global const float *a, global float *o, int n)
{
    struct filter f;
    f.taps = n;
    for (int j = 0; j < 8; j++) f.w[j] = j < n ? taps[j] : 0;
    o[get_global_id(0)] = apply(f, a, get_global_id(0));
}
