/* check
what = "an int at an odd address"
finds = ["F0010"]
global = [64]
local = [64]
missed.pvc = "its accesses need no alignment, and packed vectors are accessed in the same way"
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
