// A sum in a register of what is in memory: its place is right in the first kernel, and nothing wrote it in the second one.
// NEEDS: ocloc
// RUN: envisa run %s --device dg2 --check --kernel gemv --global 16 --local 16 --arg A=iota:f32:256 --arg x=iota:f32:16 --arg y=zeros:f32:16 --arg n=16
// RUN: envisa run %s --device dg2 --check --kernel acc --global 32 --local 32 --arg p=local:128 --arg o=zeros:f32:32
__kernel void gemv(__global const float *A, __global const float *x, __global float *restrict y, int n)
{
    int i = get_global_id(0);

    if (i < n)
    {
        for (int j = 0; j < n; j++)
            y[i] += A[i * n + j] * x[j];
    }
}
__kernel void acc(__local float *p, __global float *o)
{
    int l = get_local_id(0);

    for (int i = 0; i < 100; i++)
        p[l] = p[l] + 1.0f;

    barrier(CLK_LOCAL_MEM_FENCE);
    o[l] = p[l];
}
