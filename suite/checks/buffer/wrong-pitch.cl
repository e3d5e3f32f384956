/* check
what = "rows of a picture by its height instead of its width"
finds = ["F0005", "F0001"]
global = [24, 16]
local = [8, 8]
[args]
p = "zeros:u8:384"
w = "24"
h = "16"
*/
kernel void k(global uchar *p, int w, int h)
{
    int x = get_global_id(0), y = get_global_id(1);
#ifdef BUG
    p[x * w + y] = x; // <-
#else
    p[y * w + x] = x;
#endif
}
