/* check
what = "a private array that was only filled in part"
finds = ["F0006", "F0002"]
says = "(t["
global = [64]
local = [64]
[args]
a = "zeros:i32:64"
x = "rand:i32:64:9:0..31"
*/
kernel void k(global int *a, global const int *x)
{
    int t[32];
    int i = get_global_id(0);
#ifdef BUG
    for (int j = 0; j < 16; j++)
#else
    for (int j = 0; j < 32; j++)
#endif
        t[j ^ (x[i] & 15)] = j * i;
    a[i] = t[x[i]] + 1; // <-
}
