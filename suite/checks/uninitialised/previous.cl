/* check
what = "the first element is compared with one before it"
finds = ["F0006", "F0002"]
global = [32]
local = [32]
[args]
a = "rand:i32:256:4"
o = "zeros:i32:32"
*/
kernel void k(global const int *a, global int *o)
{
    int i = get_global_id(0), runs = 0, before;
    for (int n = 0; n < 8; n++) {
        int x = a[8 * i + n] & 1;
#ifdef BUG
        if (x != before) runs++; // <-
#else
        if (n == 0 || x != before) runs++;
#endif
        before = x;
    }
    o[i] = runs; // <-
}
