/* check
what = "a function returns two shorts, of which it sets the second only within a row"
finds = ["F0006"]
says = "private variable v"
global = [64]
local = [32]
[args]
a = "rand:i16:64"
o = "zeros:i16x2:64"
*/
short2 slopes(global const short *a, int i, int w)
{
    short2 v;
    v.x = i + 1 < 64 ? a[i + 1] - a[i] : 0;
#ifndef BUG
    v.y = 0;
#endif
    if (i + w < 64)
        v.y = a[i + w] - a[i];
    return v; // <-
}

void put(global short2 *o, int i, short2 v)
{
    o[i] = v; // <-
}

kernel void k(global const short *a, global short2 *o)
{
    int i = get_global_id(0);
    put(o, i, slopes(a, i, 8)); // <-
}
