/* check
what = "a float that an int cannot hold"
finds = ["F0023"]
hints = true
global = [64]
local = [64]
[args]
a = "iota:f32:64"
b = "zeros:i32:64"
*/
kernel void k(global const float *a, global int *b)
{
    int i = get_global_id(0);
#ifdef BUG
    b[i] = (int)(a[i] * 1e8f); // <-
#else
    b[i] = convert_int_sat(a[i] * 1e8f);
#endif
}
