/* envisa
about = "Sum of 16-bit integers"
sizes = { N = 65536 }
global = ["N"]
local = [64]
features = ["i16"]
args = [
  { name = "a", value = "rand:i16:N:9" },
  { name = "b", value = "rand:i16:N:10" },
  { name = "out", value = "zeros:i16:N", check = "exact", why = "integers" },
]
*/
kernel void add_short(global const short *a, global const short *b, global short *out)
{
    size_t i = get_global_id(0);
    out[i] = a[i] + b[i];
}
