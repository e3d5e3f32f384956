/* check
what = "a local float at an odd address"
finds = ["F0010", "F0024"]
hints = true
global = [64]
local = [64]
[args]
a = "iota:f32:64"
t = "local:260"
*/
#ifdef BUG
#define AT(i) (4 * (i) + 2)
#else
#define AT(i) (4 * (i))
#endif
kernel void k(global float *a, local uchar *t)
{
    int i = get_local_id(0);
    *(local float *)(t + AT(i)) = a[i]; // <-
    barrier(CLK_LOCAL_MEM_FENCE);
    a[i] = *(local float *)(t + AT(63 - i)) + 1; // <-
}
