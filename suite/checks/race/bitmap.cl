/* check
what = "bits of a word are set by plain operations"
finds = ["F0004", "F0003"]
global = [128]
local = [64]
[args]
a = "iota:i32:128"
o = "zeros:u32:4"
*/
kernel void k(global const int *a, volatile global uint *o)
{
    int i = get_global_id(0);
    if (a[i] % 3 == 0)
#ifdef BUG
        o[i / 32] |= 1u << (i % 32); // <-
#else
        atomic_or(&o[i / 32], 1u << (i % 32));
#endif
}
