// Addresses have 16 bits, and the compiler's copies of an array exceed what they can name: copies that are not wanted at the
// same time share a place.
// NEEDS: ocloc
// RUN: envisa run %s --device dg2 --kernel unrolled --global 32 --local 32 --arg out=zeros:i32:32 --arg in=iota:i32:97 --arg n=97 --print out:32 --engine interp
// RUN: envisa run %s --device dg2 --kernel unrolled --global 32 --local 32 --arg out=zeros:i32:32 --arg in=iota:i32:97 --arg n=97 --print out:32
kernel void unrolled(global int *out, global const int *in, int n)
{
    int p[17];
    int g = get_global_id(0);
    for (int i = 0; i < 17; i++)
        p[i] = in[(g + i * 3) % n];
    int s = 0;
    for (int i = 0; i < 40; i++) {
        int k = (uint)(p[i % 17] + i) % 17u;
        int t = p[k];
        p[k] = p[(k + 5) % 17] + s;
        s = s * 3 + t;
        if ((s & 15) == 3)
            p[s & 7] = i;
    }
    short q[9];
    for (int i = 0; i < 9; i++)
        q[i] = p[i] >> 3;
    for (int i = 0; i < 9; i++)
        s += q[(uint)s % 9u] * i;
    out[g] = s;
}

// A called function in the module changes how the compiler keeps the arrays of all kernels.
__attribute__((noinline)) int steps(int a, int b)
{
    if (a < 0)
        return b;
    int r = 0;
    while (a > 0) {
        r += a ^ b;
        a -= (b & 3) + 1;
    }
    return r;
}
kernel void calls(global int *out, global const int *in, int n)
{
    int g = get_global_id(0);
    int x = in[g % n];
    for (int i = 0; i < 9; i++)
        x = x & 4 ? steps(x & 31, i) : x * 3 + 1;
    out[g] = x;
}
