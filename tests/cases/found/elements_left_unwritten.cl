// The compiler of 2022 leaves elements of vectors unwritten where it takes two shifts for a rotation, shifts for a swap of bytes, and
// a negation without optimisation: its mistakes, of which a warning tells (W0824). `rotate` is right.
// NEEDS: ocloc
// RUN: envisa run %s --device dg2 --kernel rotated_by_shifts --global 4 --arg out=zeros:u32:16 --arg in=iota:u32:16
// RUN: envisa run %s --device dg2 --kernel rotated_by_a_variable --global 4 --arg out=zeros:u32:16 --arg in=iota:u32:16 --arg by=iota:u32:16
// RUN: envisa run %s --device dg2 --kernel bytes_swapped --global 4 --arg out=zeros:u32:16 --arg in=iota:u32:16
// RUN: envisa run %s --device dg2 --kernel zeros_counted --global 4 --arg out=zeros:u32:16 --arg in=iota:u32:16
// RUN: envisa run %s --device dg2 --kernel negated --options=-cl-opt-disable --global 4 --arg out=zeros:f32:16 --arg in=iota:f32:16
// RUN: envisa run %s --device dg2 --kernel rotated --global 4 --arg out=zeros:u32:16 --arg in=iota:u32:16 --print out:16
kernel void rotated(global uint4 *out, global const uint4 *in)
{
    size_t i = get_global_id(0);
    out[i] = rotate(in[i], (uint4)4);
}

kernel void rotated_by_shifts(global uint4 *out, global const uint4 *in)
{
    size_t i = get_global_id(0);
    uint4 v = in[i];
    out[i] = (v << 4) | (v >> 28);
}

kernel void rotated_by_a_variable(global uint4 *out, global const uint4 *in, global const uint4 *by)
{
    size_t i = get_global_id(0);
    uint4 v = in[i], n = by[i];
    out[i] = (v >> (n & 31)) | (v << (-n & 31));
}

kernel void bytes_swapped(global uint4 *out, global const uint4 *in)
{
    size_t i = get_global_id(0);
    uint4 v = in[i];
    out[i] = ((v & 0xff) << 24) | ((v & 0xff00) << 8) | ((v >> 8) & 0xff00) | (v >> 24);
}

kernel void zeros_counted(global uint4 *out, global const uint4 *in)
{
    size_t i = get_global_id(0);
    uint4 v = in[i];
    out[i] = popcount(~v & (v - 1));
}

kernel void negated(global float4 *out, global const float4 *in)
{
    size_t i = get_global_id(0);
    out[i] = -in[i];
}
