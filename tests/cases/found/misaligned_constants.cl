// The compiler copies a constant structure of 4 byte alignment by svm_gather.8: multiples of 4 serve.
// NEEDS: ocloc
// RUN: envisa run %s --device dg2 --kernel copy_constant --global 8 --local 8 --arg out=zeros:i32:8 --arg i=1 --print out
// RUN: envisa run %s --device skl --kernel copy_constant --global 8 --local 8 --arg out=zeros:i32:8 --arg i=1 --print out
struct inner { uchar kind; short step; int value; ushort last; };
struct outer { uint head; int table[5]; int *at; int pair[2]; short small; struct inner parts[3]; ulong tail; };

kernel void copy_constant(global int *out, int i)
{
    struct outer first = {1, {2, 2, 2, 2, 2}, 0, {-1, -1}, 3, {{6, -3, 9, 5}, {6, -3, 9, 5}, {6, -3, 9, 5}}, 9};
    struct outer all = first;
    barrier(CLK_LOCAL_MEM_FENCE);
    all.at = &all.table[i % 5];
    all.parts[i % 3].value = i;
    *all.at = 7;
    int g = get_global_id(0);
    out[g] = all.parts[g % 3].value + all.parts[(g + i) % 3].last + all.table[g % 5];
}
