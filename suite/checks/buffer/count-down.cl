/* check
what = "a loop that counts an unsigned index below zero"
finds = ["F0005", "F0001", "F0016"]
global = [4]
local = [4]
[args]
a = "iota:i32:64"
o = "zeros:i32:4"
n = "9"
*/
kernel void k(global const int *a, global int *o, uint n)
{
    int s = 0;
#ifdef BUG
    for (uint j = n, c = 0; j >= 0 && c < 12; j--, c++) s += a[j]; // <-
#else
    for (uint j = n; j > 0; j--) s += a[j];
#endif
    o[get_global_id(0)] = s;
}
