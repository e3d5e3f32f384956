/* envisa
about = "Every 32-bit atomic on global memory whose result does not depend on order"
sizes = { N = 256 }
global = ["N"]
local = [64]
features = ["atomic-global", "i32", "u32"]
args = [
  { name = "in", value = "rand:i32:N:1" },
  { name = "acc", buffer = "i32x16:0,0,0,2147483647,-2147483648,-1,0,0,-1,0,0,0,0,0,0,0", check = "exact", why = "commutative integer operations" },
]
*/
kernel void int_global(global const int *in, volatile global int *acc)
{
    int v = in[get_global_id(0)];
    atomic_add(&acc[0], v);
    atomic_sub(&acc[1], v >> 3);
    atomic_inc(&acc[2]);
    atomic_min(&acc[3], v);
    atomic_max(&acc[4], v);
    atomic_and(&acc[5], v | 0x10101010);
    atomic_or(&acc[6], v & 0x0f0f0f0f);
    atomic_xor(&acc[7], v);
    atomic_min((volatile global uint *)&acc[8], (uint)v);
    atomic_max((volatile global uint *)&acc[9], (uint)v);
    atomic_dec(&acc[10]);
    atomic_add(&acc[11 + (v & 3)], 1);
}
