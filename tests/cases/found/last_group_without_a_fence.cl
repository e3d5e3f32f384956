// The last group adds up what others stored: without fences nothing orders it.
// NEEDS: ocloc
// RUN: envisa run %s --device dg2 --jobs 1 --check --options=-DBUG --kernel total --global 256 --local 64 --arg a=iota:f32:256 --arg part=zeros:f32:4 --arg done=zeros:u32:1 --arg o=zeros:f32:1
// CODE: envisa run %s --device dg2 --jobs 1 --check --kernel total --global 256 --local 64 --arg a=iota:f32:256 --arg part=zeros:f32:4 --arg done=zeros:u32:1 --arg o=zeros:f32:1
__kernel void total(__global const float *a, __global float *part, __global uint *done, __global float *o) {
    __local float t[64]; __local uint last;
    int l = get_local_id(0);
    t[l] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 32; s > 0; s >>= 1) { if (l < s) t[l] += t[l + s]; barrier(CLK_LOCAL_MEM_FENCE); }
    if (l == 0) {
        part[get_group_id(0)] = t[0];
#ifndef BUG
        mem_fence(CLK_GLOBAL_MEM_FENCE);
#endif
        last = atomic_inc(done) == get_num_groups(0) - 1;
#ifndef BUG
        mem_fence(CLK_GLOBAL_MEM_FENCE);
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (last && l == 0) { float s = 0; for (uint i = 0; i < get_num_groups(0); i++) s += part[i]; *o = s; }
}
