/* check
what = "only what is printed depends on the race"
finds = ["F0004", "F0003"]
global = [32]
local = [32]
[args]
a = "iota:i32:32"
*/
kernel void k(global const int *a)
{
    local int last;
    int i = get_local_id(0);
    if (i == 31)
        last = a[i]; // <-
#ifndef BUG
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    if (i == 0)
        printf("%d\n", last); // <-
}
