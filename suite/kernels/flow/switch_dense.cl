/* envisa
about = "switch over dense cases with fall-through and default"
sizes = { N = 256 }
global = ["N"]
local = [64]
features = ["divergence", "switch"]
wrong_peers = [
  { peer = "oclgrind", why = "Clang makes `switch (x & 15)` one over a 4-bit integer, and Oclgrind does not clear the other bits when it cuts the value down: 16 & 15 takes none of the cases but the default" },
]
args = [
  { name = "a", value = "rand:i32:N:1" },
  { name = "out", value = "zeros:i32:N", check = "exact", why = "integers" },
]
*/
kernel void switch_dense(global const int *a, global int *out)
{
    size_t i = get_global_id(0);
    int x = a[i], r = 1;
    switch (x & 15) {
    case 0: r = x + 1; break;
    case 1: r = x * 3;
    case 2: r ^= 0x1234; break;
    case 3: r = a[(i * 7) & 255]; break;
    case 4: r = x / 5; break;
    case 5: r = x >> 3; break;
    case 6: r = ~x; break;
    case 7: r = x * x; break;
    case 8: return;
    case 9: r = 9;
    default: r -= x & 0xff;
    }
    out[i] = r;
}
