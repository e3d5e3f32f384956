/* envisa
about = "The device's own dot product of four bytes with accumulation"
devices = ["tgllp", "dg2", "pvc"]
why_devices = "dp4a exists from XeLP on"
sizes = { N = 128 }
global = ["N"]
local = [32]
features = ["dot-product", "dp4a", "i8"]
args = [
  { name = "a", value = "rand:i32:N:1" },
  { name = "b", value = "rand:i32:N:2" },
  { name = "out", value = "zeros:i32x4:N", check = "exact", why = "integers" },
]
*/
#ifdef PEER
static int dp(int acc, int4 x, int4 y) { return acc + x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w; }
#define S(v) convert_int4(as_char4(v))
#define U(v) convert_int4(as_uchar4(v))
#define DSS(c, a, b) dp(c, S(a), S(b))
#define DUU(c, a, b) dp(c, U(a), U(b))
#define DSU(c, a, b) dp(c, S(a), U(b))
#define DUS(c, a, b) dp(c, U(a), S(b))
#elif __clang_major__ > 14
// Newer compilers' functions are told whether they saturate.
int __builtin_IB_dp4a_ss(int c, int a, int b, bool saturated);
int __builtin_IB_dp4a_uu(int c, int a, int b, bool saturated);
int __builtin_IB_dp4a_su(int c, int a, int b, bool saturated);
int __builtin_IB_dp4a_us(int c, int a, int b, bool saturated);
#define DSS(c, a, b) __builtin_IB_dp4a_ss(c, a, b, false)
#define DUU(c, a, b) __builtin_IB_dp4a_uu(c, a, b, false)
#define DSU(c, a, b) __builtin_IB_dp4a_su(c, a, b, false)
#define DUS(c, a, b) __builtin_IB_dp4a_us(c, a, b, false)
#else
int __builtin_IB_dp4a_ss(int c, int a, int b);
int __builtin_IB_dp4a_uu(int c, int a, int b);
int __builtin_IB_dp4a_su(int c, int a, int b);
int __builtin_IB_dp4a_us(int c, int a, int b);
#define DSS(c, a, b) __builtin_IB_dp4a_ss(c, a, b)
#define DUU(c, a, b) __builtin_IB_dp4a_uu(c, a, b)
#define DSU(c, a, b) __builtin_IB_dp4a_su(c, a, b)
#define DUS(c, a, b) __builtin_IB_dp4a_us(c, a, b)
#endif
kernel void dp4a(global const int *a, global const int *b, global int4 *out)
{
    size_t i = get_global_id(0);
    int x = a[i], y = b[i], c = (int)i * 7 - 100;
    out[i] = (int4)(DSS(c, x, y), DUU(c, x, y), DSU(c, x, y), DUS(c, x, y));
}
