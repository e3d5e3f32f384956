/* check
what = "a local array of bytes is used as one of structures at an odd place"
finds = ["F0024", "F0010"]
global = [16]
local = [16]
[args]
o = "zeros:i32:16"
*/
kernel void k(global int *o)
{
    local uchar pool[160] __attribute__((aligned(8)));
    int i = get_local_id(0);
#ifdef BUG
    local int *p = (local int *)(pool + i * 9);
#else
    local int *p = (local int *)(pool + i * 8);
#endif
    *p = i; // <-
    o[i] = *p; // <-
}
