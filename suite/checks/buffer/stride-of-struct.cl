/* check
what = "a buffer of packed structures is read as one with padding"
finds = ["F0001", "F0005"]
global = [16]
local = [16]
[args]
p = "zeros:u8:144"
o = "zeros:i32:16"
*/
#ifdef BUG
typedef struct { uchar tag; int a, b; } item;
#else
typedef struct __attribute__((packed)) { uchar tag; int a, b; } item;
#endif
kernel void k(global const uchar *p, global int *o)
{
    int i = get_global_id(0);
    global const item *all = (global const item *)p;
    o[i] = all[i].b; // <-
}
