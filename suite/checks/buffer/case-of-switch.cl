/* check
what = "a case of a switch reads the row below the last one"
finds = ["F0001", "F0005"]
global = [8, 8]
local = [8, 8]
[args]
a = "iota:f32:64"
o = "zeros:f32:64"
*/
kernel void k(global const float *a, global float *o)
{
    int x = get_global_id(0), y = get_global_id(1);
    float v = a[y * 8 + x];
    switch (x & 3) {
    case 0: v += 1; break;
    case 1: if (y > 0) v += a[(y - 1) * 8 + x]; break;
#ifdef BUG
    case 2: if (y <= 7) v += a[(y + 1) * 8 + x]; break; // <-
#else
    case 2: if (y < 7) v += a[(y + 1) * 8 + x]; break;
#endif
    default: v *= 2;
    }
    o[y * 8 + x] = v;
}
