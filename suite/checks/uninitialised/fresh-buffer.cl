/* check
what = "a buffer that the host never wrote"
finds = ["F0006", "F0002"]
global = [64]
local = [64]
[args]
s = "fresh:f32:64"
a = "zeros:f32:64"
*/
kernel void k(global float *s, global float *a)
{
    int i = get_global_id(0);
#ifndef BUG
    s[i] = 0;
#endif
    a[i] = s[i] + i; // <-
}
