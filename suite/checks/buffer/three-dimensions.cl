/* check
what = "a volume indexed with the wrong depth"
finds = ["F0005", "F0001"]
global = [8, 8, 8]
local = [8, 8, 1]
[args]
v = "zeros:f32:512"
*/
kernel void k(global float *v)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
#ifdef BUG
    v[(z * 8 + y) * 9 + x] = x; // <-
#else
    v[(z * 8 + y) * 8 + x] = x;
#endif
}
