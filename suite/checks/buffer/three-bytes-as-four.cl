/* check
what = "pixels of three bytes are read as four, and the last one leads out"
finds = ["F0005", "F0001"]
global = [16]
local = [16]
[args]
a = "iota:u8:48"
o = "zeros:f32:16"
*/
kernel void k(global const uchar *a, global float *o)
{
    int i = get_global_id(0);
#ifdef BUG
    uchar4 p = vload4(0, a + i * 3); // <-
    o[i] = (p.x + p.y + p.z) / 3.0f; // <-
#else
    uchar3 p = vload3(i, a);
    o[i] = (p.x + p.y + p.z) / 3.0f;
#endif
}
