/* check
what = "bytes of local memory are read as a number, the last two of which were never loaded"
finds = ["F0006"]
says = "local variable b"
global = [16]
local = [16]
[args]
a = "rand:u8:64"
o = "zeros:u32:16"
*/
#ifdef BUG
#define END 62
#else
#define END 64
#endif
kernel void k(global const uchar *a, global uint *o)
{
    local uchar b[64];
    int t = get_local_id(0);
    for (int i = t; i < END; i += 16)
        b[i] = a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    o[t] = ((local uint *)b)[t]; // <-
}
