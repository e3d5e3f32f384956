/* envisa
about = "dot, cross, length, distance, normalize, mix, step, smoothstep"
sizes = { N = 128 }
global = ["N"]
local = [32]
features = ["f32x4", "builtin", "sqrt", "rsqrt"]
args = [
  { name = "a", value = "rand:f32x4:N:1" },
  { name = "b", value = "rand:f32x4:N:2" },
  { name = "out", value = "zeros:f32x4:N*3", check = "rel 2e-6 abs 1e-6", why = "sums of four products may be contracted and ordered freely; values are at most 4" },
]
*/
kernel void geometric(global const float4 *a, global const float4 *b, global float4 *out)
{
    size_t i = get_global_id(0);
    float4 x = a[i], y = b[i];
    out[i * 3] = cross(x, y);
    out[i * 3 + 1] = (float4)(dot(x, y), length(x), distance(x, y), 0.0f) + normalize(y);
    out[i * 3 + 2] = mix(x, y, 0.25f) + step(x, y) + smoothstep(-1.0f, 1.0f, x);
}
