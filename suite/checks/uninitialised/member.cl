/* check
what = "a member of a structure that was never written"
finds = ["F0002", "F0006"]
says = "private variable p"
global = [64]
local = [64]
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
*/
typedef struct { int x, y, z; } point;
int sum(const point *p)
{
    return p->x + p->y + p->z; // <-
}
kernel void k(global const int *a, global int *o)
{
    int i = get_global_id(0);
    point p;
    p.x = a[i];
    p.y = i;
#ifndef BUG
    p.z = 0;
#endif
    o[i] = sum(&p); // <-
}
