/* envisa
about = "A float sum by compare-and-exchange on its bits, of whole numbers"
sizes = { N = 128 }
global = ["N"]
local = [32]
features = ["atomic-global", "cmpxchg", "f32"]
args = [
  { name = "in", value = "rand:i32:N:1:0..100" },
  { name = "acc", value = "zeros:f32:2", check = "exact", why = "sums of whole numbers below 2^24 are exact in any order" },
]
*/
kernel void float_add(global const int *in, volatile global float *acc)
{
    float v = (float)in[get_global_id(0)];
    volatile global uint *p = (volatile global uint *)acc;
    uint seen = *p, old;
    do {
        old = seen;
        seen = atomic_cmpxchg(p, old, as_uint(as_float(old) + v));
    } while (seen != old);
}
