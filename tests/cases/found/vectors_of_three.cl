// The fourth lane of a vector of three has no value, and nobody uses it: nothing is to be told.
// NEEDS: ocloc
// CODE: envisa run %s --device dg2 --check --kernel scale --global 16 --local 16 --arg o=zeros:f32x4:16 --arg a=iota:f32x4:16
// CODE: envisa run %s --device dg2 --check --kernel build --global 16 --local 16 --arg o=zeros:f32x4:16 --arg a=iota:f32:48
// CODE: envisa run %s --device dg2 --check --kernel loc --global 64 --local 64 --arg o=zeros:f32:64 --arg a=iota:f32:64
// CODE: envisa run %s --device dg2 --check --kernel crossed --global 16 --local 16 --arg o=zeros:f32x4:16 --arg a=iota:f32x4:16
// CODE: envisa run %s --device dg2 --check --kernel st --global 16 --local 16 --arg o=zeros:f32x4:32 --arg a=iota:f32:16
// CODE: envisa run %s --device dg2 --check --kernel v3 --global 16 --local 16 --arg o=zeros:f32:48 --arg a=iota:f32:16
__kernel void scale(__global float3 *o, __global const float3 *a) { size_t i = get_global_id(0); o[i] = a[i] * 2.0f; }
__kernel void build(__global float3 *o, __global const float *a) { size_t i = get_global_id(0); o[i] = (float3)(a[3*i], a[3*i+1], a[3*i+2]); }
__kernel void loc(__global float *o, __global const float *a) { __local float3 t[64]; size_t i = get_local_id(0); t[i] = (float3)(a[i], 1.0f, 2.0f); barrier(CLK_LOCAL_MEM_FENCE); o[i] = t[63-i].x + t[63-i].z; }
__kernel void crossed(__global float3 *o, __global const float3 *a) { size_t i = get_global_id(0); o[i] = normalize(cross(a[i], (float3)(0,0,1))); }
typedef struct { float3 p; float m; } P;
// Clang ends this structure with bytes that no member has.
__kernel void st(__global P *o, __global const float *a) { size_t i = get_global_id(0); P x; x.p = (float3)(a[i], a[i], 1.f); x.m = 2.f; o[i] = x; }
__kernel void v3(__global float *o, __global const float *a) { size_t i = get_global_id(0); vstore3((float3)(a[i],1,2), i, o); }
