/* check
what = "records behind a header of six bytes are read through a pointer to structures"
finds = ["F0024", "F0010"]
global = [8]
local = [8]
[args]
a = "iota:u8:70"
o = "zeros:u32:8"
*/
typedef struct { uint id; ushort kind, flags; } record;
kernel void k(global const uchar *a, global uint *o)
{
    int i = get_global_id(0);
#ifdef BUG
    global const record *r = (global const record *)(a + 6);
    o[i] = r[i].id; // <-
#else
    global const uchar *r = a + 6 + i * 8;
    o[i] = r[0] | r[1] << 8 | r[2] << 16 | (uint)r[3] << 24;
#endif
}
