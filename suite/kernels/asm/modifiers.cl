/* envisa
about = "Inline vISA assembly: saturation, negation, comparison into a predicate, selection"
sizes = { N = 64 }
global = ["N"]
local = [32]
features = ["inline-assembly", "saturation", "modifiers", "predicate", "f32"]
args = [
  { name = "a", value = "rand:f32:N:1:-2..2" },
  { name = "b", value = "rand:f32:N:2:-2..2" },
  { name = "out", value = "zeros:f32:N", check = "exact", why = "sum and difference, correctly rounded" },
]
*/
#pragma OPENCL FP_CONTRACT OFF
#ifdef PEER
kernel void modifiers(global const float *a, global const float *b, global float *out)
{
    size_t i = get_global_id(0);
    float s = clamp(a[i] + b[i], 0.0f, 1.0f), d = a[i] - b[i];
    out[i] = a[i] < b[i] ? s : d;
}
#else
kernel __attribute__((intel_reqd_sub_group_size(16)))
void modifiers(global const float *a, global const float *b, global float *out)
{
    size_t i = get_global_id(0);
    float x = a[i], y = b[i], r;
    __asm__("{\n"
            ".decl SUM v_type=G type=f num_elts=16 align=GRF\n"
            ".decl DIF v_type=G type=f num_elts=16 align=GRF\n"
            ".decl PP v_type=P num_elts=16\n"
            "add.sat (M1, 16) SUM(0,0)<1> %1(0,0)<1;1,0> %2(0,0)<1;1,0>\n"
            "add (M1, 16) DIF(0,0)<1> %1(0,0)<1;1,0> (-)%2(0,0)<1;1,0>\n"
            "cmp.lt (M1, 16) PP %1(0,0)<1;1,0> %2(0,0)<1;1,0>\n"
            "(PP) sel (M1, 16) %0(0,0)<1> SUM(0,0)<1;1,0> DIF(0,0)<1;1,0>\n"
            "}\n"
            : "=rw"(r) : "rw"(x), "rw"(y));
    out[i] = r;
}
#endif
