/* check
what = "a value is stored after its key was made visible, while others look it up"
finds = ["F0004", "F0003"]
global = [64]
local = [32]
[args]
a = "iota:i32:64"
keys = "zeros:i32:32"
values = "zeros:i32:32"
o = "zeros:i32:64"
*/
kernel void k(global const int *a, volatile global int *keys, global int *values, global int *o)
{
    int i = get_global_id(0), key = a[i] % 16 + 1;
#ifdef BUG
    if (atomic_cmpxchg(&keys[key], 0, key) == 0)
        values[key] = a[i]; // <-
    o[i] = values[key]; // <-
#else
    if (atomic_cmpxchg(&keys[key], 0, key) == 0)
        values[key] = a[i];
    o[i] = key;
#endif
}
