/* envisa
about = "64-bit atomics"
sizes = { N = 128 }
global = ["N"]
local = [32]
features = ["atomic-global", "i64"]
args = [
  { name = "in", value = "rand:u64:N:1" },
  { name = "acc", value = "zeros:u64:8", check = "exact", why = "commutative integer operations" },
]
*/
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
kernel void int64(global const ulong *in, volatile global ulong *acc)
{
    ulong v = in[get_global_id(0)];
    atom_add(&acc[0], v);
    atom_max(&acc[1], v);
    atom_xor(&acc[2], v);
    atom_or(&acc[3], v & 0x0101010101010101UL);
    atom_inc(&acc[4]);
    ulong seen = acc[5], old;
    do {
        old = seen;
        seen = atom_cmpxchg(&acc[5], old, old + (v >> 9));
    } while (seen != old);
}
