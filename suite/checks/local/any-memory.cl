/* check
what = "a helper is handed local or private memory by a condition, and runs over the private one"
finds = ["F0005", "F0006"]
options = "-cl-std=CL2.0"
global = [32]
local = [32]
[args]
a = "iota:f32:32"
o = "zeros:f32:32"
n = "8"
*/
float sum(const float *p, int n)
{
    float s = 0;
    for (int j = 0; j < n; j++) s += p[j]; // <-
    return s;
}
kernel void k(global const float *a, global float *o, int n)
{
    local float t[32];
    float own[4];
    int i = get_local_id(0);
    t[i] = a[i];
    for (int j = 0; j < 4; j++) own[j] = a[i] * j;
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef BUG
    o[i] = i & 1 ? sum(t, n) : sum(own, n); // <-
#else
    o[i] = i & 1 ? sum(t, n) : sum(own, n / 2);
#endif
}
