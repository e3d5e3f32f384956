/* envisa
about = "Radix-8 butterflies on a private array with an index that is the same for all channels"
sizes = { N = 4096 }
global = ["N"]
local = [64]
features = ["f32", "private-array", "loop"]
args = [
  { name = "in", value = "rand:f32:8*N:9" },
  { name = "out", value = "zeros:f32:8*N", check = "exact", why = "sums in a fixed order" },
  { name = "n", value = "i32:N" },
  { name = "size", value = "i32:8" },
]
*/
kernel void private_array(global const float *in, global float *out, int n, int size)
{
    float v[8];
    size_t i = get_global_id(0);
    for (int k = 0; k < size; k++)
        v[k] = in[k * n + i];
    for (int step = size / 2; step > 0; step /= 2)
        for (int k = 0; k < size; k++)
            if ((k & step) == 0) {
                float a = v[k], b = v[k + step];
                v[k] = a + b;
                v[k + step] = a - b;
            }
    for (int k = 0; k < size; k++)
        out[k * n + i] = v[k];
}
