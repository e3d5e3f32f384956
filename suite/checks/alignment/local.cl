/* check
what = "a local float at an odd address"
finds = ["F0010"]
global = [64]
local = [64]
missed.skl = "its accesses need no alignment, and packed vectors are accessed in the same way"
missed.tgllp = "its accesses need no alignment, and packed vectors are accessed in the same way"
missed.dg2 = "its accesses need no alignment, and packed vectors are accessed in the same way"
missed.pvc = "its accesses need no alignment, and packed vectors are accessed in the same way"
[args]
a = "iota:f32:64"
t = "local:260"
*/
kernel void k(global float *a, local uchar *t)
{
    int i = get_local_id(0);
#ifdef BUG
    *(local float *)(t + 4 * i + 2) = a[i]; // <-
    a[i] = *(local float *)(t + 4 * i + 2) + 1;
#else
    *(local float *)(t + 4 * i) = a[i];
    a[i] = *(local float *)(t + 4 * i) + 1;
#endif
}
