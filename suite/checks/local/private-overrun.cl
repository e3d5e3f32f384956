/* check
what = "a private array written over its end"
finds = ["F0005", "F0002", "F0001"]
global = [64]
local = [64]
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
n = "9"
*/
kernel void k(global const int *a, global int *o, int n)
{
    int v[8], seen[8];
    int g = get_global_id(0), s = 0;
    for (int i = 0; i < 8; i++) {
        v[i] = a[(g + 5 * i) & 63];
        seen[i] = 0;
    }
#ifdef BUG
    for (int i = 0; i < n; i++) v[(a[g] + i) % n] ^= i; // <-
#else
    for (int i = 0; i < n; i++) v[(a[g] + i) & 7] ^= i;
#endif
    for (int i = 0; i < 8; i++) seen[v[i] & 7]++;
    for (int i = 0; i < 8; i++) s = 3 * s + v[i] + seen[(a[g] + i) & 7];
    o[g] = s;
}
