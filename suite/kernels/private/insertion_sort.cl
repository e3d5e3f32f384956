/* envisa
about = "Insertion sort of eight values in private memory"
sizes = { N = 32 }
global = ["N"]
local = [32]
features = ["private-array", "divergence", "loop", "f32"]
args = [
  { name = "data", value = "rand:f32:N*8:1", check = "exact", why = "moves and comparisons" },
]
*/
kernel void insertion_sort(global float *data)
{
    size_t i = get_global_id(0) * 8;
    float t[8];
    #pragma unroll 1
    for (int k = 0; k < 8; k++)
        t[k] = data[i + k];
    #pragma unroll 1
    for (int k = 1; k < 8; k++) {
        float v = t[k];
        int j = k - 1;
        #pragma unroll 1
        while (j >= 0 && t[j] > v) {
            t[j + 1] = t[j];
            j--;
        }
        t[j + 1] = v;
    }
    #pragma unroll 1
    for (int k = 0; k < 8; k++)
        data[i + k] = t[k];
}
