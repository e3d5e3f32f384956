/* check
what = "a component that was never set is selected"
finds = ["F0006", "F0002"]
global = [64]
local = [64]
[args]
a = "rand:f32:256:4"
m = "iota:i32:64"
o = "zeros:f32:256"
*/
kernel void k(global const float *a, global const int *m, global float *o)
{
    int i = get_global_id(0);
    float4 v, w = vload4(i, a);
    v.xy = w.zw;
#ifdef BUG
    int4 which = (int4)(-1, -1, m[i] == 5 ? -1 : 0, 0);
#else
    int4 which = (int4)(m[i] == 5 ? -1 : 0, -1, 0, 0);
#endif
    vstore4(select(w, v, which), i, o); // <-
}
