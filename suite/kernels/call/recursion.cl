/* envisa
about = "Recursion: a factorial modulo a prime and a tree recursion, depth differing by lane"
sizes = { N = 64 }
global = ["N"]
local = [32]
features = ["stack-call", "recursion", "divergence"]
wrong_peers = [
  { peer = "intel", why = "its compiler overflows its own stack while it vectorises the peers' iterative form (pass vplan-vec)" },
]
args = [
  { name = "out", value = "zeros:u32x2:N", check = "exact", why = "integers" },
]
*/
#ifdef PEER
static uint fact(uint n)
{
    uint r = 1;
    for (uint k = 2; k <= n; k++)
        r = (r * k) % 65521u;
    return r;
}
static uint tree(uint n)
{
    uint a = 0, b = 1;
    for (uint k = 0; k < n; k++) {
        uint c = a + b;
        a = b;
        b = c;
    }
    return a;
}
#else
uint fact(uint n);
uint tree(uint n);
uint fact(uint n) { return n < 2 ? 1u : (fact(n - 1) * n) % 65521u; }
uint tree(uint n) { return n < 2 ? n : tree(n - 1) + tree(n - 2); }
#endif
kernel void recursion(global uint2 *out)
{
    uint i = get_global_id(0);
    out[i] = (uint2)(fact(i % 23), tree(i % 9));
}
