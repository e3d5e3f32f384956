/* envisa
about = "Copy of bytes, one a channel"
sizes = { N = 65536 }
global = ["N"]
local = [64]
features = ["u8"]
args = [
  { name = "in", value = "rand:u8:N:9" },
  { name = "out", value = "zeros:u8:N", check = "exact", why = "copies" },
]
*/
kernel void copy_uchar(global const uchar *in, global uchar *out)
{
    size_t i = get_global_id(0);
    out[i] = in[i];
}
