/* envisa
about = "European call and put prices by the closed formula"
sizes = { N = 512 }
bench = { N = 1048576 }
slow = { N = 262144 }
global = ["N"]
local = [64]
cost = { bytes = "N*20" }
bound = "exponentials, logarithms and roots, by sequences that give the same bits on all CPUs, and what they look up"
features = ["f32", "exp", "log", "sqrt", "erf", "divide"]
args = [
  { name = "price", value = "rand:f32:N:1:10..100" },
  { name = "strike", value = "rand:f32:N:2:10..100" },
  { name = "years", value = "rand:f32:N:3:0.25..10" },
  { name = "call", value = "zeros:f32:N", check = "abs 2e-4 rel 1e-5", why = "erf allows 16 ulp, exp and log 3, division 2.5 (OpenCL); prices up to 100 cancel in the difference" },
  { name = "put", value = "zeros:f32:N", check = "abs 2e-4 rel 1e-5", why = "as for call" },
  { name = "rate", value = "f32:0.02" },
  { name = "sigma", value = "f32:0.3" },
]
*/
#pragma OPENCL FP_CONTRACT OFF
static float cdf(float x) { return 0.5f + 0.5f * erf(x * 0.70710678118f); }
kernel void black_scholes(global const float *price, global const float *strike, global const float *years,
                          global float *call, global float *put, float rate, float sigma)
{
    size_t i = get_global_id(0);
    float s = price[i], k = strike[i], t = years[i];
    float v = sigma * sqrt(t);
    float d1 = (log(s / k) + (rate + 0.5f * sigma * sigma) * t) / v;
    float d2 = d1 - v;
    float disc = k * exp(-rate * t);
    call[i] = s * cdf(d1) - disc * cdf(d2);
    put[i] = disc * cdf(-d2) - s * cdf(-d1);
}
