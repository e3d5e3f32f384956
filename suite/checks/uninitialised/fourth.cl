/* check
what = "the last component of a vector of four was never set"
finds = ["F0006", "F0002"]
global = [64]
local = [64]
missed.skl = "the fourth component of a vector in a buffer of scalars is taken for the padding of a vector of three"
missed.tgllp = "the fourth component of a vector in a buffer of scalars is taken for the padding of a vector of three"
missed.dg2 = "the fourth component of a vector in a buffer of scalars is taken for the padding of a vector of three"
missed.pvc = "the fourth component of a vector in a buffer of scalars is taken for the padding of a vector of three"
[args]
a = "rand:f32:256:4"
o = "zeros:f32:256"
*/
kernel void k(global const float *a, global float *o)
{
    int i = get_global_id(0);
    float4 v, w = vload4(i, a);
    v.xyz = w.yzw;
#ifndef BUG
    v.w = w.x;
#endif
    vstore4(v, i, o); // <-
}
