/* check
what = "the largest of a row that has no elements"
finds = ["F0002", "F0006"]
global = [8]
local = [8]
[args]
rows = "i32:0,2,4,4,6,8,10,12,14"
values = "iota:f32:16"
o = "zeros:f32:8"
*/
kernel void k(global const int *rows, global const float *values, global float *o)
{
    int i = get_global_id(0);
    float best;
#ifndef BUG
    best = 0;
#endif
    for (int j = rows[i]; j < rows[i + 1]; j++)
        if (j == rows[i] || values[j] > best) best = values[j];
    o[i] = best * 0.5f; // <-
}
