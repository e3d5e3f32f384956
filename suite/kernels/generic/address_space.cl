/* envisa
about = "to_local and loads through pointers to all three address spaces"
sizes = { N = 64 }
global = ["N"]
local = [32]
features = ["generic-pointer", "slm", "private-array"]
args = [
  { name = "buf", value = "zeros:i32:N" },
  { name = "out", value = "zeros:i32:N", check = "exact", why = "integers" },
]
*/
#ifdef PEER
kernel void address_space(global int *buf, global int *out)
{
    uint i = get_global_id(0);
    out[i] = get_local_id(0) % 3 == 1 ? 2 : 0;
}
#else
kernel void address_space(global int *buf, global int *out)
{
    local int t[32];
    int p[2];
    uint i = get_global_id(0), l = get_local_id(0);
    p[0] = buf[i];
    p[1] = 2;
    t[l] = buf[i];
    int *q = l % 3 == 0 ? (int *)(buf + i) : l % 3 == 1 ? (int *)&t[l] : &p[buf[i] & 1];
    int r = 0;
    if (to_local(q))
        r |= 2;
    out[i] = r + *q;
}
#endif
