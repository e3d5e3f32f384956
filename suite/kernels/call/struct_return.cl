/* envisa
about = "Stack calls that take and return structs by value"
options = "-cl-opt-disable"
sizes = { N = 64 }
global = ["N"]
local = [32]
features = ["stack-call", "struct"]
args = [
  { name = "a", value = "rand:i32x2:N:1:-1000..1000" },
  { name = "out", value = "zeros:i32x2:N", check = "exact", why = "integers" },
]
*/
typedef struct { int re, im; } cplx;
cplx mul(cplx a, cplx b)
{
    cplx r;
    r.re = a.re * b.re - a.im * b.im;
    r.im = a.re * b.im + a.im * b.re;
    return r;
}
kernel void struct_return(global const cplx *a, global cplx *out)
{
    int i = get_global_id(0);
    cplx x = a[i];
    for (int k = 0; k < (i & 3); k++)
        x = mul(x, a[i]);
    out[i] = x;
}
