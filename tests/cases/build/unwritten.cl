// NEEDS: ocloc
// A compiler that forgets to compute something: a rotation of a vector, written with two shifts, of whose elements the
// packaged one rotates the first (OpenCL C 3.0, 6.3.j: operators work on vectors element by element).
// RUN: envisa build %s --device dg2 -o %t/wrong.zebin
// RUN: envisa check %t/wrong.zebin
// RUN: envisa run %t/wrong.zebin --global 8 --local 8 --arg in=iota:u32:32 --arg out=zeros:u32:32 --print out:8
// RUN: envisa diff %s --b '--options -cl-opt-disable' -- --device dg2 --global 8 --local 8 --arg in=iota:u32:32 --arg out=zeros:u32:32
kernel void rotated(global const uint4 *in, global uint4 *out)
{
    size_t i = get_global_id(0);
    uint4 v = in[i];
    out[i] = (v << 4) | (v >> 28);
}
