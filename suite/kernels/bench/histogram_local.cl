/* envisa
about = "256-bin histogram: local atomics, then one global add per bin and group"
sizes = { N = 2048 }
bench = { N = 4194304 }
slow = { N = 262144 }
global = ["N"]
local = [256]
cost = { bytes = "N" }
features = ["i32", "atomic-local", "atomic-global", "slm", "barrier"]
args = [
  { name = "in", value = "rand:u8:N:4" },
  { name = "bins", value = "zeros:u32:256", check = "exact", why = "integer counts do not depend on order" },
]
*/
kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void histogram_local(global const uchar *in, global volatile uint *bins)
{
    local volatile uint h[256];
    uint l = get_local_id(0);
    h[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&h[in[get_global_id(0)]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (h[l])
        atomic_add(&bins[l], h[l]);
}
