/* check
what = "the nearest of several, of which none is nearer than infinity"
finds = ["F0006", "F0002"]
global = [64]
local = [64]
[args]
a = "rand:f32:64:4"
b = "rand:f32:8:5"
o = "zeros:i32:64"
*/
kernel void k(global const float *a, global const float *b, global int *o)
{
    int i = get_global_id(0);
#ifdef BUG
    int best;
#else
    int best = -1;
#endif
    float x = i == 7 ? NAN : a[i], m = INFINITY;
    for (int n = 0; n < 8; n++) {
        float d = fabs(x - b[n]);
        if (d < m) { m = d; best = n; }
    }
    o[i] = best; // <-
}
