/* check
what = "work-items leave a loop around a barrier as soon as their own value has converged"
finds = ["F0007", "F0018"]
global = [64]
local = [64]
[args]
a = "rand:f32:64:5"
o = "zeros:f32:64"
*/
kernel void k(global const float *a, global float *o)
{
    local float t[64];
    local int going;
    int i = get_local_id(0);
    float x = a[i];
    for (int n = 0; n < 20; n++) {
        t[i] = x;
        if (i == 0) going = 0;
        barrier(CLK_LOCAL_MEM_FENCE); // <-
        float y = 0.5f * (t[i] + t[(i + 1) & 63]);
        float d = fabs(y - x);
        x = y;
        if (d > 0.05f) atomic_or(&going, 1);
        barrier(CLK_LOCAL_MEM_FENCE); // <-
#ifdef BUG
        if (d <= 0.05f) break; // <-
#else
        int on = going;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (!on) break;
#endif
    }
    o[i] = x;
}
