/* envisa
about = "uint division by the absolute value of an int"
sizes = { N = 256 }
global = ["N"]
local = [64]
features = ["i32", "u32", "divide", "source-modifier"]
known = [
  { devices = ["skl", "tgllp"], output = "out", elements = 130, why = "the compiler folds abs() into the division as `div dst:ud x:ud (abs)y:ud`; an unsigned source is its own absolute value in envisa, so negative divisors divide as large numbers. The reference finalizer keeps the two apart as well (it never moves an (abs) from a signed to an unsigned operand); what hardware does has not been measured" },
]
args = [
  { name = "a", value = "rand:u32:N:1" },
  { name = "b", value = "rand:i32:N:2:-40000..40000" },
  { name = "out", value = "zeros:u32:N", check = "exact", why = "integers" },
]
*/
kernel void abs_unsigned(global const uint *a, global const int *b, global uint *out)
{
    size_t i = get_global_id(0);
    int y = b[i] == 0 ? 3 : b[i];
    out[i] = a[i] / (uint)abs(y);
}
