/* check
what = "a function reads a long by a pointer into records of twelve bytes"
finds = ["F0024", "F0010"]
global = [16]
local = [16]
[args]
a = "zeros:u8:192"
o = "zeros:i64:16"
*/
long value(global const long *p) { return *p; } // <-
kernel void k(global const uchar *a, global long *o)
{
    int i = get_global_id(0);
#ifdef BUG
    o[i] = value((global const long *)(a + 12 * i + 4));
#else
    o[i] = a[12 * i + 4] | a[12 * i + 5] << 8;
#endif
}
