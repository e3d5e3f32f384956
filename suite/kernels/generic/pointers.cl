/* envisa
about = "Generic pointers to global, local and private memory, chosen by lane"
options = ""
sizes = { N = 128 }
global = ["N"]
local = [32]
features = ["generic-pointer", "slm", "private-array", "barrier"]
args = [
  { name = "in", value = "rand:i32:N:1" },
  { name = "out", value = "zeros:i32:N", check = "exact", why = "integers" },
]
*/
#ifdef PEER
kernel void pointers(global const int *in, global int *out)
{
    local int t[32];
    uint i = get_global_id(0), l = get_local_id(0);
    int p[4] = { in[i] + 1, in[i] + 2, in[i] + 3, in[i] + 4 };
    t[l] = in[i] * 5;
    barrier(CLK_LOCAL_MEM_FENCE);
    int s = 0;
    for (int k = 0; k < 4; k++) {
        int v = (l % 3 == 0) ? in[(i & ~31u) + k] : (l % 3 == 1) ? t[(l + k) & 31] : p[(l + k) & 3];
        s = s * 3 + v;
    }
    out[i] = s;
}
#else
static int get(const int *p, uint k, uint mask) { return p[k & mask]; }
kernel void pointers(global const int *in, global int *out)
{
    local int t[32];
    uint i = get_global_id(0), l = get_local_id(0);
    int p[4] = { in[i] + 1, in[i] + 2, in[i] + 3, in[i] + 4 };
    t[l] = in[i] * 5;
    barrier(CLK_LOCAL_MEM_FENCE);
    const int *q = (l % 3 == 0) ? (const int *)(in + (i & ~31u)) : (l % 3 == 1) ? (const int *)t : (const int *)p;
    uint first = l % 3 == 0 ? 0 : l, mask = l % 3 == 2 ? 3 : 31;
    int s = 0;
    for (uint k = 0; k < 4; k++)
        s = s * 3 + get(q, first + k, mask);
    out[i] = s;
}
#endif
