/* envisa
about = "Compare-and-exchange loops: a saturating sum and a product modulo a prime"
sizes = { N = 128 }
global = ["N"]
local = [32]
features = ["atomic-global", "cmpxchg", "loop", "divergence"]
args = [
  { name = "in", value = "rand:u32:N:1:1..1000" },
  { name = "acc", value = "fill:u32:4:1", check = "exact", why = "the operations commute" },
]
*/
kernel void cmpxchg(global const uint *in, volatile global uint *acc)
{
    uint v = in[get_global_id(0)], old, seen;
    seen = acc[0];
    do {
        old = seen;
        seen = atomic_cmpxchg(&acc[0], old, add_sat(old, v * 100000u));
    } while (seen != old);
    seen = acc[1];
    do {
        old = seen;
        seen = atomic_cmpxchg(&acc[1], old, (uint)(((ulong)old * v) % 65521u));
    } while (seen != old);
}
