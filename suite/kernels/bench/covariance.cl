/* envisa
about = "Covariances of centred columns: a row of the upper triangle per work-item, mirrored"
sizes = { M = 32, N = 20 }
bench = { M = 512, N = 512 }
slow = { M = 64, N = 256 }
global = ["M"]
local = [32]
cost = { bytes = "M*N*4+M*M*4", flops = "M*(M+1)*N" }
features = ["f32", "fma", "loop", "divergence", "scatter"]
args = [
  { name = "data", value = "rand:f32:M*N:1" },
  { name = "out", value = "zeros:f32:M*M", check = "exact", why = "every step is an explicit fma in one order" },
  { name = "m", value = "u32:M" },
  { name = "n", value = "u32:N" },
]
*/
kernel void covariance(global const float *data, global float *out, uint m, uint n)
{
    uint a = get_global_id(0);
    for (uint b = a; b < m; b++) {
        float s = 0.0f;
        for (uint i = 0; i < n; i++)
            s = fma(data[i * m + a], data[i * m + b], s);
        out[a * m + b] = s;
        out[b * m + a] = s;
    }
}
