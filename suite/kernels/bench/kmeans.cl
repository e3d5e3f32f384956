/* envisa
about = "The nearest of K centres for each point, features one after the other"
sizes = { N = 512, F = 5, K = 7 }
bench = { N = 262144, F = 16, K = 12 }
slow = { N = 4096, F = 16, K = 6 }
global = ["N"]
local = [64]
cost = { bytes = "N*F*4+N*4", flops = "N*F*K*3" }
features = ["f32", "fma", "loop", "divergence"]
args = [
  { name = "points", value = "rand:f32:N*F:1" },
  { name = "centres", value = "rand:f32:K*F:2" },
  { name = "member", value = "zeros:u32:N", check = "exact", why = "distances by explicit fma in one order; the first of equal ones" },
  { name = "n", value = "u32:N" },
  { name = "features", value = "u32:F" },
  { name = "clusters", value = "u32:K" },
]
*/
#pragma OPENCL FP_CONTRACT OFF
kernel void kmeans(global const float *points, global const float *centres, global uint *member, uint n,
                   uint features, uint clusters)
{
    uint i = get_global_id(0), best = 0;
    float least = MAXFLOAT;
    for (uint c = 0; c < clusters; c++) {
        float sum = 0.0f;
        for (uint f = 0; f < features; f++) {
            float d = points[f * n + i] - centres[c * features + f];
            sum = fma(d, d, sum);
        }
        if (sum < least) {
            least = sum;
            best = c;
        }
    }
    member[i] = best;
}
