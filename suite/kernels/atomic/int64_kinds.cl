/* envisa
about = "64-bit atomics of every kind, in global memory"
sizes = { N = 96 }
global = ["N"]
local = [32]
features = ["atomic-global", "i64"]
args = [
  { name = "in", value = "rand:u64:N:1" },
  { name = "acc", buffer = "u64x8:0,0,18446744073709551615,0,18446744073709551615,0,0,5", check = "exact", why = "integers; every operation gives the same in any order" },
]
*/
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#ifdef PEER
/* The peers are asked for nothing but compare-and-exchange. */
#define EACH(p, e) do { ulong old, seen = *(p); do { old = seen; seen = atom_cmpxchg(p, old, (e)); } while (seen != old); } while (0)
kernel void int64_kinds(global const ulong *in, volatile global ulong *acc)
{
    ulong v = in[get_global_id(0)];
    EACH(acc, old + v);
    EACH(acc + 1, old - v);
    EACH(acc + 2, min(old, v));
    EACH(acc + 3, max(old, v));
    EACH(acc + 4, old & (v | 0xff));
    EACH(acc + 5, old | (v & 0xff00ff));
    EACH(acc + 6, old ^ v);
    EACH(acc + 7, old + 1);
}
#else
kernel void int64_kinds(global const ulong *in, volatile global ulong *acc)
{
    ulong v = in[get_global_id(0)];
    atom_add(acc, v);
    atom_sub(acc + 1, v);
    atom_min(acc + 2, v);
    atom_max(acc + 3, v);
    atom_and(acc + 4, v | 0xff);
    atom_or(acc + 5, v & 0xff00ff);
    atom_xor(acc + 6, v);
    atom_inc(acc + 7);
}
#endif
