/* check
what = "an int at an odd address"
finds = ["F0010", "F0024"]
hints = true
global = [64]
local = [64]
[args]
a = "zeros:u8:260"
*/
kernel void k(global uchar *a)
{
    int i = get_global_id(0);
#ifdef BUG
    *(global int *)(a + 4 * i + 1) = i; // <-
#else
    *(global int *)(a + 4 * i) = i;
#endif
}
