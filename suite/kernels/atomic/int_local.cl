/* envisa
about = "32-bit atomics on local memory"
sizes = { N = 128 }
global = ["N"]
local = [64]
features = ["atomic-local", "slm", "barrier", "i32"]
args = [
  { name = "in", value = "rand:i32:N:1" },
  { name = "out", value = "zeros:i32:N/64*8", check = "exact", why = "commutative integer operations" },
]
*/
kernel void int_local(global const int *in, global int *out)
{
    local volatile int t[8];
    uint l = get_local_id(0);
    int v = in[get_global_id(0)];
    if (l < 8)
        t[l] = l == 5 ? -1 : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&t[0], v);
    atomic_min(&t[1], v);
    atomic_max(&t[2], v);
    atomic_or(&t[3], 1 << (v & 31));
    atomic_xor(&t[4], v);
    atomic_and(&t[5], v | 0xff);
    if (v > 0)
        atomic_inc(&t[6]);
    atomic_add(&t[7], (int)l);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 8)
        out[get_group_id(0) * 8 + l] = t[l];
}
