/* envisa
about = "Calls through function pointers: each work-item takes its own of four functions"
internal_options = "-cl-ext=+__cl_clang_function_pointers"
sizes = { N = 256 }
global = ["N"]
local = [32]
features = ["stack-call", "indirect-call", "divergence"]
args = [
  { name = "which", value = "rand:u32:N:1:0..4" },
  { name = "a", value = "rand:i32:N:2:0..1000" },
  { name = "out", value = "zeros:i32:N", check = "exact", why = "integers" },
]
*/
/* OpenCL C has no function pointers; the compiler knows Clang's extension for them, the peers do not. */
__attribute__((noinline)) int twice(int x) { return 2 * x; }
__attribute__((noinline)) int square(int x) { return x * x; }
__attribute__((noinline)) int triangle(int x)
{
    int s = 0;
    for (int i = 1; i <= x; i++)
        s += i;
    return s;
}
__attribute__((noinline)) int digits(int x)
{
    int s = 0;
    for (; x > 0; x /= 10)
        s += x % 10;
    return s;
}
#ifdef PEER
static int call(uint which, int x)
{
    switch (which) {
    case 0: return twice(x);
    case 1: return square(x);
    case 2: return triangle(x);
    default: return digits(x);
    }
}
#else
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable
typedef int (*unary)(int);
static int call(uint which, int x)
{
    unary f = which == 0 ? twice : which == 1 ? square : which == 2 ? triangle : digits;
    return f(x);
}
#endif
kernel void indirect(global const uint *which, global const int *a, global int *out)
{
    size_t i = get_global_id(0);
    int once = call(which[i], a[i]);
    out[i] = call((which[i] + 1) % 4, once & 1023);
}
