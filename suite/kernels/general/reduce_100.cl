/* envisa
about = "Sum of each group of 100 work-items in local memory: the last thread lacks channels"
sizes = { N = 25600 }
global = ["N"]
local = [100]
features = ["i32", "slm", "barrier"]
args = [
  { name = "in", value = "rand:i32:N:9" },
  { name = "out", value = "zeros:i32:N/100", check = "exact", why = "integers" },
]
*/
kernel void reduce_100(global const int *in, global int *out)
{
    local int part[128];
    int l = get_local_id(0);
    part[l] = in[get_global_id(0)];
    if (l < 28)
        part[100 + l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 64; k > 0; k >>= 1) {
        if (l < k)
            part[l] += part[l + k];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        out[get_group_id(0)] = part[0];
}
