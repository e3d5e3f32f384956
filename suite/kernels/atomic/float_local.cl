/* envisa
about = "A float sum and maximum in local memory by compare-and-exchange, of whole numbers"
sizes = { N = 128 }
global = ["N"]
local = [64]
features = ["atomic-local", "cmpxchg", "f32", "slm", "barrier"]
args = [
  { name = "in", value = "rand:i32:N:1:0..100" },
  { name = "out", value = "zeros:f32:N/64*2", check = "exact", why = "sums of whole numbers below 2^24 are exact in any order" },
]
*/
static void add(volatile local uint *p, float v)
{
    uint seen = *p, old;
    do {
        old = seen;
        seen = atomic_cmpxchg(p, old, as_uint(as_float(old) + v));
    } while (seen != old);
}
kernel void float_local(global const int *in, global float *out)
{
    local uint sum, most;
    if (get_local_id(0) == 0) {
        sum = 0;
        most = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float v = (float)in[get_global_id(0)];
    add(&sum, v);
    /* Floats that are not negative are ordered as their bits are. */
    atomic_max(&most, as_uint(v));
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        out[get_group_id(0) * 2] = as_float(sum);
        out[get_group_id(0) * 2 + 1] = as_float(most);
    }
}
