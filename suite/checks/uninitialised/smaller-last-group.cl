/* check
what = "the last group is smaller, and takes itself for as large as the others"
finds = ["F0006", "F0002"]
global = [50]
local = [16]
options = "-cl-std=CL2.0"
[args]
a = "rand:f32:50:1"
o = "zeros:f32:4"
*/
kernel void k(global const float *a, global float *o)
{
    local float t[16];
    int i = get_local_id(0);
    t[i] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef BUG
    int n = get_enqueued_local_size(0);
#else
    int n = get_local_size(0);
#endif
    float s = 0;
    for (int j = 0; j < n; j++) s += t[j]; // <-
    if (i == 0) o[get_group_id(0)] = s; // <-
}
