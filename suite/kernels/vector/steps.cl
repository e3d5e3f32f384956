/* envisa
about = "elements at a step: whole vectors of every width, dense and with gaps, and neighbours of a channel's own"
sizes = { N = 96, W = 23 }
global = ["N"]
local = [48]
features = ["u8x3", "u16x3", "u32x8", "u64x3", "strides"]
args = [
  { name = "a", value = "rand:u8:N*64+64:1" },
  { name = "b", value = "zeros:u8:N*64+64", check = "exact", why = "moves and sums of integers" },
  { name = "which", value = "i32:W" },
]
*/
#define VECTOR(k, T, n) \
    case k: vstore##n(vload##n(i, (global const T *)a + 1), i, (global T *)b + 2); break;
#define ALL(k, T) VECTOR(k, T, 2) VECTOR(k + 1, T, 3) VECTOR(k + 2, T, 4) VECTOR(k + 3, T, 8)

kernel void steps(global const uchar *a, global uchar *b, int which)
{
    size_t i = get_global_id(0);
    global const uint *p = (global const uint *)a;
    global const ushort *h = (global const ushort *)a;
    global uint *q = (global uint *)b;
    switch (which) {
    ALL(0, uchar)
    ALL(4, ushort)
    ALL(8, uint)
    ALL(12, ulong)
    // Neighbours, which overlap from channel to channel.
    case 16: q[i] = p[i] + 3 * p[i + 1] + 5 * p[i + 2]; break;
    case 17: q[i] = p[i] + 3 * p[i + 1] + 5 * p[i + 2] + 7 * p[i + 3]; break;
    case 18: q[i] = h[i] + 3 * h[i + 1] + 5 * h[i + 2] + 7 * h[i + 3]; break;
    case 19: q[i] = a[i] + 3 * a[i + 1] + 5 * a[i + 2] + 7 * a[i + 3]; break;
    // Steps of more than what is moved.
    case 20: q[i] = p[2 * i + 1]; break;
    case 21: q[i] = p[3 * i] + 3 * p[3 * i + 2]; break;
    case 22: q[i] = p[8 * i + 1] + 3 * p[8 * i + 2] + 5 * p[8 * i + 5]; break;
    // Some channels do not.
    default:
        if (i % 5 != 2)
            vstore4(vload4(i, p) + vload4(i, p + 2), i, q);
        else
            vstore3(vload3(i, p), 0, q + 4 * i);
    }
}
