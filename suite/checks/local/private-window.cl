/* check
what = "a window of the last values is shifted one too far"
finds = ["F0005", "F0006", "F0002"]
global = [64]
local = [64]
[args]
a = "rand:f32:80:1"
o = "zeros:f32:64"
*/
kernel void k(global const float *a, global float *o)
{
    int i = get_global_id(0);
    float w[5];
    for (int n = 0; n < 5; n++) w[n] = a[i + n];
    for (int n = 5; n < 16; n++) {
#ifdef BUG
        for (int j = 0; j < 5; j++) w[j] = w[j + 1]; // <-
#else
        for (int j = 0; j < 4; j++) w[j] = w[j + 1];
#endif
        w[4] = a[i + n];
    }
    o[i] = w[0] + w[1] * w[2] + w[3] - w[4];
}
