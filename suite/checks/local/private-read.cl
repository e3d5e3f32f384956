/* check
what = "a private array read through a pointer that was moved behind its end"
finds = ["F0005"]
global = [32]
local = [32]
[args]
a = "iota:i32:32"
o = "zeros:i32:32"
*/
kernel void k(global const int *a, global int *o)
{
    int before[4], v[4], behind[4];
    int g = get_global_id(0);
    for (int i = 0; i < 4; i++) before[i] = v[i] = behind[i] = a[(g + i) & 31];
    before[a[g] & 3] = 1;
    behind[a[g] & 3] = 2;
    int *p = v + (a[g] & 3);
#ifdef BUG
    int x = p[1]; // <-
#else
    int x = p[0];
#endif
    o[g] = x + before[(a[g] + 1) & 3] + behind[(a[g] + 2) & 3];
}
