/* check
what = "one byte of a counter is cleared plainly while others add to the counter"
finds = ["F0004"]
global = [64]
local = [64]
[args]
c = "zeros:i32:2"
*/
kernel void k(global int *c)
{
    int i = get_global_id(0);
#ifdef BUG
    if (i == 5) ((global uchar *)c)[3] = 0; // <-
#else
    if (i == 5) ((global uchar *)c)[7] = 0;
#endif
    atomic_add(c, 1); // <-
}
