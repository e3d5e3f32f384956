/* check
what = "pairs are sorted by their keys, and the value of the second one is never exchanged back"
finds = ["F0006"]
global = [16]
local = [16]
[args]
a = "rand:i32:32:2"
o = "zeros:i32:32"
*/
typedef struct { int key, value; } pair;
kernel void k(global const int *a, global int *o)
{
    int g = get_global_id(0);
    pair p[2];
    p[0].key = a[2 * g]; p[0].value = 1;
    p[1].key = a[2 * g + 1];
#ifndef BUG
    p[1].value = 2;
#endif
    if (p[1].key < p[0].key) { pair t = p[0]; p[0] = p[1]; p[1] = t; }
    o[2 * g] = p[0].value * 3; // <-
    o[2 * g + 1] = p[1].value * 3; // <-
}
