/* check
what = "an index past the end of a local array, into the next one"
finds = ["F0005", "F0025"]
hints = true
options = "-g"
global = [32]
local = [32]
[args]
a = "iota:i32:32"
*/
kernel void k(global int *a)
{
    local int first[16];
    local int second[24];
    int i = get_local_id(0);
    if (i < 16) first[i] = a[i];
    if (i < 24) second[i] = 2 * a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef BUG
    int x = first[i]; // <-
#else
    int x = first[i & 15];
#endif
    a[i] = x + second[i % 24];
}
