// What the compiler of 2022 makes of ordinary kernels: nothing in it is to be warned of.
// NEEDS: ocloc
// RUN: envisa build %s --device skl -o %t/skl.zebin
// RUN: envisa check %t/skl.zebin
// RUN: envisa build %s --device dg2 -o %t/dg2.zebin
// RUN: envisa check %t/dg2.zebin
typedef struct { float3 at; char kind; short2 cell; } Item;

kernel void moved(global Item *items, global const float *by, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    Item it = items[i];
    it.at += (float3)(by[0], by[1], by[2]);
    it.cell = convert_short2(it.at.xy);
    items[i] = it;
}

kernel void sums(global const uchar *in, global uint *out, local uint *part)
{
    uint l = get_local_id(0);
    part[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = get_local_size(0) / 2; s > 0; s /= 2) {
        if (l < s)
            part[l] += part[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        atomic_add(out, part[0]);
}

kernel void sorted(global int *a, int n)
{
    int own[8];
    int g = get_global_id(0);
    for (int k = 0; k < 8; k++)
        own[k] = a[g * 8 + k];
    for (int k = 1; k < n; k++) {
        int x = own[k], j = k;
        while (j > 0 && own[j - 1] > x) {
            own[j] = own[j - 1];
            j--;
        }
        own[j] = x;
    }
    for (int k = 0; k < 8; k++)
        a[g * 8 + k] = own[k];
}

kernel void waves(global float4 *out, float t)
{
    int x = get_global_id(0), y = get_global_id(1);
    float r = native_sqrt((float)(x * x + y * y));
    float4 c = (float4)(sin(r + t), cos(r - t), exp(-r), 1.0f);
    switch (x & 3) {
    case 0: c = c.wzyx; break;
    case 1: c *= 0.5f; break;
    case 2: c = fmax(c, 0.0f); break;
    }
    out[y * get_global_size(0) + x] = c;
}
