/* check
what = "a structure with padding is copied, which is no mistake, and of its pair of halves one is stored that nothing has set"
finds = ["F0006"]
says = "private variable h"
global = [32]
local = [32]
[args]
a = "rand:f32:32"
o = "zeros:f16x2:32"
s = "zeros:u8:384"
*/
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef struct {
    uchar tag;
    float v;
    short n;
} item;

kernel void k(global const float *a, global half2 *o, global item *s)
{
    int i = get_global_id(0);
    item t;
    t.tag = 1;
    t.v = a[i];
    t.n = 2;
    s[i] = t;
    half2 h;
    h.x = (half)a[i];
#ifndef BUG
    h.y = 0;
#endif
    o[i] = h; // <-
}
