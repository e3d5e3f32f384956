/* check
what = "a vector is filled by a pointer to its first component, one too few"
finds = ["F0002", "F0006"]
global = [32]
local = [32]
[args]
a = "iota:f32:128"
o = "zeros:f32:32"
n = "3"
*/
void load(float *p, global const float *a, int n)
{
    for (int j = 0; j < n; j++) p[j] = a[j];
}
kernel void k(global const float *a, global float *o, int n)
{
    int i = get_global_id(0);
    float4 v;
#ifdef BUG
    load((float *)&v, a + i * 4, n);
#else
    load((float *)&v, a + i * 4, n + 1);
#endif
    o[i] = v.x * v.w + v.y; // <-
}
