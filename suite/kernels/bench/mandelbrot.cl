/* envisa
about = "Escape-time counts over a rectangle of the complex plane"
sizes = { W = 64, H = 48, ITER = 100 }
bench = { W = 1024, H = 1024, ITER = 256 }
slow = { W = 256, H = 128, ITER = 256 }
global = ["W", "H"]
local = [16, 4]
cost = { bytes = "W*H*4" }
features = ["f32", "loop", "divergence", "break", "2d-range"]
args = [
  { name = "out", value = "zeros:u32:W*H", check = "exact", why = "counts; every operation is exact to the bit, not contracted" },
  { name = "w", value = "u32:W" },
  { name = "h", value = "u32:H" },
  { name = "dx", value = "f32:0.046875" },
  { name = "dy", value = "f32:0.0625" },
  { name = "limit", value = "u32:ITER" },
]
*/
#pragma OPENCL FP_CONTRACT OFF
kernel void mandelbrot(global uint *out, uint w, uint h, float dx, float dy, uint limit)
{
    uint px = get_global_id(0), py = get_global_id(1);
    float cx = (float)px * (3.0f / (float)w) - 2.0f + dx;
    float cy = (float)py * dy * (48.0f / (float)h) - 1.5f;
    float x = 0.0f, y = 0.0f;
    uint n = 0;
    while (n < limit) {
        float xx = x * x, yy = y * y;
        if (xx + yy > 4.0f)
            break;
        y = 2.0f * x * y + cy;
        x = xx - yy + cx;
        n++;
    }
    out[py * w + px] = n;
}
