/* envisa
about = "Sum of each group by a tree in local memory, then one sum per group"
sizes = { N = 1024 }
bench = { N = 4194304 }
slow = { N = 262144 }
global = ["N"]
local = [128]
cost = { bytes = "N*4" }
features = ["i32", "slm", "barrier", "divergence"]
args = [
  { name = "in", value = "rand:u32:N:1" },
  { name = "out", value = "zeros:u32:N/128", check = "exact", why = "integer sums" },
  { name = "tmp", value = "local:128*4" },
]
*/
kernel void reduction(global const uint *in, global uint *out, local uint *tmp)
{
    uint l = get_local_id(0);
    tmp[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = get_local_size(0) / 2; s > 0; s >>= 1) {
        if (l < s)
            tmp[l] += tmp[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        out[get_group_id(0)] = tmp[0];
}
