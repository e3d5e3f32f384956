/* envisa
about = "Barriers in a loop with a uniform trip count, work between them divergent"
sizes = { N = 256 }
global = ["N"]
local = [64]
features = ["barrier", "slm", "loop", "divergence"]
args = [
  { name = "a", value = "rand:i32:N:1" },
  { name = "out", value = "zeros:i32:N", check = "exact", why = "integers" },
  { name = "rounds", value = "i32:6" },
]
*/
kernel void barrier_in_loop(global const int *a, global int *out, int rounds)
{
    local int t[64];
    uint l = get_local_id(0);
    int v = a[get_global_id(0)];
    for (int r = 0; r < rounds; r++) {
        t[l] = v;
        barrier(CLK_LOCAL_MEM_FENCE);
        int u = t[(l + 1 + r) & 63];
        if (u > v)
            v = u - r;
        else if (l & 1)
            v = v * 2 + t[63 - l];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = v;
}
