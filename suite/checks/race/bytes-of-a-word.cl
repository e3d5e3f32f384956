/* check
what = "neighbours change bytes of one word by whole words"
finds = ["F0004"]
global = [64]
local = [64]
[args]
a = "zeros:u32:16"
*/
kernel void k(global uint *a)
{
    int i = get_global_id(0);
#ifdef BUG
    a[i / 4] |= 1u << (8 * (i & 3)); // <-
#else
    ((global uchar *)a)[i] = 1;
#endif
}
