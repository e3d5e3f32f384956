// The compiler selects where the program branches: what nothing wrote is read and not used.
// NEEDS: ocloc
// RUN: envisa run %s --device dg2 --check --kernel k --global 64 --local 64 --arg a=iota:i32:64 --arg o=zeros:i32:64 --arg n=40
__kernel void k(__global const int *a, __global int *o, int n) {
    __local int t[64];
    int l = get_local_id(0);
    if (l < n) t[l] = a[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    int v = t[l];
    if (l >= 1) {
        int tmp = t[l - 1];
        if (l < n) v = tmp + v;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    t[l] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < n) o[l] = t[l];
}
