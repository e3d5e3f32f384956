// NEEDS: ocloc
// A compiler's two levels: contraction is told apart, a wrong result is followed to its statement.
// RUN: envisa diff %s --a '--options -cl-opt-disable' -- --device dg2 --global 64 --local 32 --arg a=rand:f32:64 --arg o=zeros:f32:64 --arg n=20
// RUN: envisa diff %s --a '--device skl' --b '--device dg2' -- --global 64 --local 32 --arg a=rand:f32:64 --arg o=zeros:f32:64 --arg n=20
// RUN: envisa diff %s --b '--options -DWRONG' -- --device dg2 --global 64 --local 32 --arg a=rand:f32:64 --arg o=zeros:f32:64 --arg n=20
kernel void k(global const float *a, global float *o, int n)
{
    int i = get_global_id(0);
    float s = 0.0f;
    for (int j = 0; j < n; j++)
        s += a[(i + j) & 63] * a[j] + 0.1f;
#ifdef WRONG
    if (i == 37)
        s += 0.001f;
#endif
    o[i] = s / 3.0f;
}
