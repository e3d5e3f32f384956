/* check
what = "a switch without a default leaves its result unset"
finds = ["F0002", "F0006"]
global = [32]
local = [32]
[args]
a = "iota:i32:32"
o = "zeros:f32:32"
*/
kernel void k(global const int *a, global float *o)
{
    int i = get_global_id(0);
    float f;
    switch (a[i] % 5) {
    case 0: f = 1.5f; break;
    case 1: f = a[i] * 2.0f; break;
    case 2: f = sqrt((float)a[i]); break;
    case 3: f = -1; break;
#ifndef BUG
    default: f = 0;
#endif
    }
    o[i] = f * 3; // <-
}
