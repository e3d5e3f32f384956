/* check
what = "a slot of a hash table by a remainder of a signed number that overflowed"
finds = ["F0001", "F0005"]
global = [64]
local = [64]
[args]
a = "iota:i32:64"
table = "zeros:i32:61"
*/
kernel void k(global const int *a, global int *table)
{
    int x = a[get_global_id(0)];
#ifdef BUG
    int hash = 17;
#else
    uint hash = 17;
#endif
    for (int n = 0; n < 6; n++) hash = hash * 31 + ((x >> n) & 15);
    hash ^= hash >> 13;
    hash *= 0x5bd1e995;
    atomic_inc(table + hash % 61); // <-
}
