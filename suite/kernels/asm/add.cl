/* envisa
about = "Inline vISA assembly: an addition and a shift, of 16 lanes"
sizes = { N = 64 }
global = ["N"]
local = [32]
features = ["inline-assembly", "sub-group"]
args = [
  { name = "a", value = "rand:i32:N:1" },
  { name = "b", value = "rand:i32:N:2" },
  { name = "out", value = "zeros:i32:N", check = "exact", why = "integers" },
]
*/
#ifdef PEER
kernel void add(global const int *a, global const int *b, global int *out)
{
    size_t i = get_global_id(0);
    out[i] = (a[i] + b[i]) << 2;
}
#else
kernel __attribute__((intel_reqd_sub_group_size(16)))
void add(global const int *a, global const int *b, global int *out)
{
    size_t i = get_global_id(0);
    int x = a[i], y = b[i], s, r;
    __asm__("add (M1, 16) %0(0,0)<1> %1(0,0)<1;1,0> %2(0,0)<1;1,0>" : "=rw"(s) : "rw"(x), "rw"(y));
    __asm__("shl (M1, 16) %0(0,0)<1> %1(0,0)<1;1,0> 2:ud" : "=rw"(r) : "rw"(s));
    out[i] = r;
}
#endif
