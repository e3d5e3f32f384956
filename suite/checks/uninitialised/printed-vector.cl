/* check
what = "a vector is printed of which one component was never set"
finds = ["F0006", "F0002"]
global = [16]
local = [16]
[args]
a = "iota:f32:16"
*/
kernel void k(global const float *a)
{
    int i = get_global_id(0);
    float4 v;
    v.xy = (float2)(a[i], a[i] + 1);
    v.w = 1;
#ifndef BUG
    v.z = 0;
#endif
    if (i == 3) printf("%v4f\n", v); // <-
}
