/* check
what = "one work-item sums what others have not stored yet"
finds = ["F0004"]
global = [256]
local = [256]
[args]
x = "rand:i32:256:9"
y = "zeros:i32:256"
*/
kernel void k(global const int *x, global int *y)
{
    local int s[256];
    int i = get_local_id(0);
    s[i] = x[i] & 15; // <-
#ifndef BUG
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    // Several elements at once, by one work-item: the channels that move them are none of the others.
    if (i == 0)
        for (int n = 1; n < 256; ++n)
            s[n] += s[n - 1]; // <-
    barrier(CLK_LOCAL_MEM_FENCE);
    y[i] = s[i];
}
