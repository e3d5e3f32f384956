/* envisa
about = "The native functions: the device's own approximations"
sizes = { N = 128 }
global = ["N"]
local = [32]
features = ["f32", "native", "exp", "log", "sin", "cos", "inv", "sqrt", "rsqrt", "pow"]
wrong_peers = [
  { peer = "intel", why = "no fault: OpenCL leaves the precision of native functions open, and Intel's CPU runtime takes coarser ones than the device, PoCL and Oclgrind, to about 2^-12; the bound here is the device's" },
]
args = [
  { name = "a", value = "rand:f32:N:1:0.5..4" },
  { name = "out", value = "zeros:f32:N*8", check = "rel 2e-5 abs 2e-6", why = "OpenCL leaves native precision open; Intel documents about 2^-17 relative, sin and cos absolute" },
]
*/
kernel void native(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    float x = a[i];
    global float *o = out + i * 8;
    o[0] = native_exp(x);
    o[1] = native_log(x + 1.0f);
    o[2] = native_sin(x);
    o[3] = native_cos(x * 0.25f);
    o[4] = native_recip(x);
    o[5] = native_sqrt(x);
    o[6] = native_rsqrt(x);
    o[7] = native_powr(x, 1.5f);
}
