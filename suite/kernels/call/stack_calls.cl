/* envisa
about = "Stack calls with pointers to the caller's variables, unoptimised"
options = "-cl-opt-disable"
sizes = { N = 64 }
global = ["N"]
local = [32]
features = ["stack-call", "private-pointer"]
args = [
  { name = "a", value = "rand:i32:N:1" },
  { name = "out", value = "zeros:i32:N", check = "exact", why = "integers" },
]
*/
int step1(int x, int y) { return x * 3 - y; }
void bump(int *p, int by) { *p += by; }
int work(int x)
{
    int t = step1(x, 7);
    bump(&t, x & 15);
    return t;
}
kernel void stack_calls(global const int *a, global int *out)
{
    int i = get_global_id(0);
    int v = a[i];
    if (v > 0)
        v = work(v);
    else
        bump(&v, -i);
    out[i] = v;
}
