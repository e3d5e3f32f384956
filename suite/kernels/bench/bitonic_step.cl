/* envisa
about = "One compare-exchange step of a bitonic sort"
sizes = { N = 1024 }
bench = { N = 4194304 }
slow = { N = 524288 }
global = ["N/2"]
local = [128]
cost = { bytes = "N*8" }
features = ["i32", "divergence", "shift"]
args = [
  { name = "data", value = "rand:u32:N:1", check = "exact", why = "integers" },
  { name = "stage", value = "u32:5" },
  { name = "pass", value = "u32:2" },
]
*/
kernel void bitonic_step(global uint *data, uint stage, uint pass)
{
    uint t = get_global_id(0);
    uint dist = 1u << (stage - pass);
    uint lo = (t & (dist - 1)) | ((t & ~(dist - 1)) << 1);
    uint hi = lo + dist;
    uint a = data[lo], b = data[hi];
    int up = ((t >> stage) & 1) == 0;
    if ((a > b) == up) {
        data[lo] = b;
        data[hi] = a;
    }
}
