/* envisa
about = "y = a * x + y in double precision"
devices = ["skl", "pvc"]
why_devices = "tgllp and dg2 have no double-precision unit; the compiler rejects double there"
sizes = { N = 1000 }
bench = { N = 4194304 }
slow = { N = 524288 }
global = ["N"]
local = [50]
bench_local = [256]
cost = { bytes = "N*24", flops = "N*2" }
bound = "memory, and what a thread costs beside it: it moves 768 bytes, for which it starts, checks where they are and ends"
features = ["f64", "fma"]
args = [
  { name = "x", value = "rand:f64:N:1" },
  { name = "y", value = "rand:f64:N:2", check = "exact", why = "one explicit fma" },
  { name = "a", value = "f64:1.5" },
]
*/
kernel void axpy_double(global const double *x, global double *y, double a)
{
    size_t i = get_global_id(0);
    y[i] = fma(a, x[i], y[i]);
}
