/* envisa
about = "256-bin histogram straight by global atomics"
sizes = { N = 2048 }
bench = { N = 4194304 }
slow = { N = 524288 }
global = ["N"]
local = [256]
cost = { bytes = "N" }
bound = "locked additions, one channel after another, of two threads to the same lines"
features = ["i32", "atomic-global"]
args = [
  { name = "in", value = "rand:u8:N:4" },
  { name = "bins", value = "zeros:u32:256", check = "exact", why = "integer counts do not depend on order" },
]
*/
kernel void histogram_global(global const uchar *in, global volatile uint *bins)
{
    atomic_inc(&bins[in[get_global_id(0)]]);
}
