/* check
what = "the end of the last row is read of an array that has no entry for it"
finds = ["F0005", "F0001"]
global = [8]
local = [8]
[args]
rows = "i32:0,2,4,6,8,10,12,14"
values = "iota:f32:16"
o = "zeros:f32:8"
n = "8"
*/
kernel void k(global const int *rows, global const float *values, global float *o, int n)
{
    int i = get_global_id(0);
    float s = 0;
#ifdef BUG
    int end = rows[i + 1]; // <-
#else
    int end = i + 1 < n ? rows[i + 1] : 16;
#endif
    for (int j = rows[i]; j < end; j++) s += values[j];
    o[i] = s;
}
