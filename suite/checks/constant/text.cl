/* check
what = "a digit above nine of a text of ten"
finds = ["F0005", "F0001"]
global = [16]
local = [16]
[args]
a = "iota:i32:16"
o = "zeros:u8:16"
*/
constant char digits[] = "0123456789";
kernel void k(global const int *a, global uchar *o)
{
    int i = get_global_id(0);
#ifdef BUG
    o[i] = digits[a[i]]; // <-
#else
    o[i] = digits[a[i] % 10];
#endif
}
