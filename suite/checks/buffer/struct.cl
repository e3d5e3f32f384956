/* check
what = "one structure too many"
finds = ["F0005", "F0001"]
global = [64]
local = [64]
[args]
p = "zeros:f32:192"
*/
typedef struct { float x, y, z; } P;
kernel void k(global P *p)
{
    int i = get_global_id(0);
#ifdef BUG
    p[i + 1].z = i; // <-
#else
    p[i].z = i;
#endif
}
