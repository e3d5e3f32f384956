/* check
what = "the starts of rows lack that behind the last row"
finds = ["F0005", "F0001"]
global = [16]
local = [16]
[args]
start = "iota:i32:16"
v = "iota:f32:64"
o = "zeros:f32:16"
*/
kernel void k(global const int *start, global const float *v, global float *o)
{
    int i = get_global_id(0);
    float s = 0;
#ifdef BUG
    int end = start[i + 1]; // <-
#else
    int end = i + 1 < 16 ? start[i + 1] : 64;
#endif
    for (int j = start[i]; j < end && j < 64; j++) s += v[j];
    o[i] = s;
}
