/* check
what = "a loop by fours takes one four more than there is"
finds = ["F0005", "F0001"]
global = [8]
local = [8]
[args]
a = "iota:f32:30"
o = "zeros:f32:8"
n = "30"
*/
kernel void k(global const float *a, global float *o, int n)
{
    float4 s = 0;
    int i = get_global_id(0);
#ifdef BUG
    int fours = (n + 3) / 4;
#else
    int fours = n / 4;
#endif
    for (int j = i; j < fours; j += 8) s += vload4(j, a); // <-
    float r = s.x + s.y + s.z + s.w;
    if (i == 0) for (int j = n / 4 * 4; j < n; j++) r += a[j];
    o[i] = r;
}
