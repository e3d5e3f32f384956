/* envisa
about = "64 steps of xorshift32 per work-item"
sizes = { N = 512 }
bench = { N = 4194304 }
slow = { N = 32768 }
global = ["N"]
local = [128]
cost = { bytes = "N*8" }
features = ["i32", "shift", "loop"]
args = [
  { name = "state", value = "rand:u32:N:1", check = "exact", why = "integers" },
]
*/
kernel void xorshift(global uint *state)
{
    size_t i = get_global_id(0);
    uint x = state[i] | 1u;
    for (int n = 0; n < 64; n++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    state[i] = x;
}
