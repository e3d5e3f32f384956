// A range has as many dimensions as the kernel looks at; what is only read is no output.
// NEEDS: ocloc
// RUN: envisa init %s --device dg2 --kernel row
// RUN: envisa init %s --device dg2 --kernel transpose
// RUN: envisa init %s --device pvc --kernel planes
// RUN: envisa init %s --device dg2 --kernel groups
kernel void row(global const float *in, global float *out) { out[get_global_id(0)] = in[get_global_id(0)]; }
kernel void transpose(global const float *in, global float *out, int width) {
    int x = get_global_id(0), y = get_global_id(1);
    out[y * width + x] = in[x * width + y];
}
kernel void planes(global float *out) { out[get_global_id(0) + 64 * get_global_id(2)] = 1; }
kernel void groups(global int *out) { out[get_group_id(1)] = get_group_id(0); }
