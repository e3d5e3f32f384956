/* envisa
about = "float4: swizzles, dot product by fma, select"
sizes = { N = 128 }
global = ["N"]
local = [32]
features = ["f32x4", "swizzle", "select", "fma"]
args = [
  { name = "a", value = "rand:f32x4:N:1" },
  { name = "b", value = "rand:f32x4:N:2" },
  { name = "out", value = "zeros:f32x4:N", check = "exact", why = "explicit fma and single operations, not contracted" },
]
*/
#pragma OPENCL FP_CONTRACT OFF
kernel void float4_ops(global const float4 *a, global const float4 *b, global float4 *out)
{
    size_t i = get_global_id(0);
    float4 x = a[i], y = b[i];
    float d = fma(x.x, y.x, fma(x.y, y.y, fma(x.z, y.z, x.w * y.w)));
    float4 c = (float4)(x.yz, y.wx) + y.zzxx;
    out[i] = select(c, x * d, isless(x, y));
}
