/* envisa
about = "break and continue in nested loops"
sizes = { N = 128 }
global = ["N"]
local = [32]
features = ["divergence", "loop", "break", "continue"]
args = [
  { name = "a", value = "rand:u32:N*16:1" },
  { name = "out", value = "zeros:u32:N", check = "exact", why = "integers" },
]
*/
kernel void break_continue(global const uint *a, global uint *out)
{
    size_t i = get_global_id(0);
    uint s = 0;
    for (uint k = 0; k < 16; k++) {
        uint v = a[i * 16 + k];
        if ((v & 3) == 0)
            continue;
        for (uint j = 0; j < (v & 15); j++) {
            if (((v >> j) & 0x11) == 0x11)
                break;
            if (j & 1)
                continue;
            s += j * k;
        }
        if ((v & 0x1f0) == 0x1f0)
            break;
        s ^= v;
    }
    out[i] = s;
}
