/* check
what = "the last work-item of a sub-group asks for its right neighbour"
finds = ["F0005"]
global = [64]
local = [64]
[args]
a = "rand:f32:64:1"
o = "zeros:f32:64"
*/
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const float *a, global float *o)
{
    int i = get_global_id(0);
    uint lane = get_sub_group_local_id();
    float x = a[i];
#ifdef BUG
    o[i] = x - intel_sub_group_shuffle(x, lane + 1); // <-
#else
    o[i] = x - intel_sub_group_shuffle(x, min(lane + 1, get_sub_group_size() - 1));
#endif
}
