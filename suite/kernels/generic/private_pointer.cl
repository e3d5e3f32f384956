/* envisa
about = "to_global and to_private of pointers to all three address spaces"
sizes = { N = 64 }
global = ["N"]
local = [32]
features = ["generic-pointer", "slm", "private-array"]
known = [
  { output = "out", elements = 20, why = "this compiler gives private pointers no tag: it adds an offset to the private base, and to_global then finds a global pointer, to_private none. The text shows it (no instruction sets the tag 001); OpenCL wants the opposite" },
]
args = [
  { name = "buf", value = "zeros:i32:N" },
  { name = "out", value = "zeros:i32:N", check = "exact", why = "integers" },
]
*/
#ifdef PEER
kernel void private_pointer(global int *buf, global int *out)
{
    uint i = get_global_id(0);
    out[i] = 1 << (get_local_id(0) % 3);
}
#else
kernel void private_pointer(global int *buf, global int *out)
{
    local int t[32];
    int p[2];
    uint i = get_global_id(0), l = get_local_id(0);
    p[0] = buf[i];
    p[1] = 2;
    t[l] = buf[i];
    int *q = l % 3 == 0 ? (int *)(buf + i) : l % 3 == 1 ? (int *)&t[l] : &p[buf[i] & 1];
    int r = 0;
    if (to_global(q))
        r |= 1;
    if (to_local(q))
        r |= 2;
    if (to_private(q))
        r |= 4;
    out[i] = r + *q;
}
#endif
