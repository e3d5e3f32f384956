/* check
what = "an array of four is filled as a union by three numbers and used as a vector"
finds = ["F0006"]
global = [32]
local = [32]
[args]
a = "iota:i32:96"
o = "zeros:i32:32"
*/
union four { int e[4]; int4 v; };
kernel void k(global const int *a, global int *o)
{
    int g = get_global_id(0);
    union four u;
#ifdef BUG
    for (int j = 0; j < 3; j++) u.e[j] = a[3 * g + j];
#else
    u.v = 0;
    for (int j = 0; j < 3; j++) u.e[j] = a[3 * g + j];
#endif
    int4 v = u.v * u.v; // <-
    o[g] = v.x + v.y + v.z + v.w; // <-
}
