/* check
what = "a neighbour's structure is copied whole while it is being changed"
finds = ["F0004"]
global = [32]
local = [32]
[args]
p = "iota:f32:128"
o = "zeros:f32:128"
*/
typedef struct { float x, y, z, w; } particle;
kernel void k(global particle *p, global particle *o)
{
    int i = get_global_id(0);
    particle q = p[(i + 1) % 32]; // <-
#ifdef BUG
    p[i].y += 1; // <-
#endif
    o[i] = q;
}
