/* check
what = "a bitonic sort whose inner steps are not apart"
finds = ["F0004"]
global = [128]
local = [128]
[args]
a = "rand:i32:128:1"
*/
kernel void k(global int *a)
{
    local int s[128];
    uint i = get_local_id(0);
    s[i] = a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 2; k <= 128; k <<= 1) {
        for (uint j = k >> 1; j > 0; j >>= 1) {
            uint l = i ^ j;
            if (l > i) {
                int x = s[i], y = s[l]; // <-
                bool up = (i & k) == 0;
                if ((x > y) == up) {
                    s[i] = y; // <-
                    s[l] = x; // <-
                }
            }
#ifndef BUG
            barrier(CLK_LOCAL_MEM_FENCE);
#endif
        }
#ifdef BUG
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }
    a[i] = s[i];
}
