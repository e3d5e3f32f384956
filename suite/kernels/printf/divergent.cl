/* envisa
about = "printf from divergent code and loops"
sizes = { N = 16 }
global = ["N"]
local = [16]
printf = "lines"
features = ["printf", "divergence", "loop"]
wrong_peers = [
  { peer = "intel", why = "Intel's CPU runtime returns the number of characters; OpenCL C says 0 for success (6.12.13)" },
]
args = [
  { name = "out", value = "zeros:i32:N", check = "exact", why = "printf returns 0 when it succeeds" },
]
*/
kernel void divergent(global int *out)
{
    int i = get_global_id(0);
    int r = 5;
    if (i % 3 == 1) {
        for (int k = 0; k < i % 4; k++)
            r = printf("lane %d round %d\n", i, k);
    }
    out[i] = r;
}
