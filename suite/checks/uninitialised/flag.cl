/* check
what = "a flag that only one branch of a loop sets decides what is stored"
finds = ["F0006", "F0002"]
global = [32]
local = [16]
[args]
a = "rand:i32:256:8"
o = "zeros:i32:32"
*/
kernel void k(global const int *a, global int *o)
{
    int i = get_global_id(0);
    bool found;
#ifndef BUG
    found = false;
#endif
    for (int j = 0; j < 8; j++)
        if (a[i * 8 + j] > 1 << 30) found = true;
    if (found) // <-
        o[i] = 1;
    else
        o[i] = -1;
}
