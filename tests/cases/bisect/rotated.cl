// NEEDS: ocloc
// Which option cures a kernel. With a test, and by results that are known to be right.
// RUN: envisa bisect %s --only none --good '--options -cl-opt-disable' -- --device dg2 --global 8 --local 8 --arg in=iota:u32:32 --arg out=zeros:u32:32 --print out:32
// RUN: envisa bisect %s --only none --test 'case "$ENVISA_BISECT_OPTIONS" in *-disable) exit 1;; *level*) exit 9;; esac'
// RUN: envisa bisect %s --only none --test 'exit 1'
// RUN: envisa bisect %s --library no-such.so --test 'exit 0'
kernel void rotated(global const uint4 *in, global uint4 *out)
{
    size_t i = get_global_id(0);
    uint4 v = in[i];
    out[i] = (v << 4) | (v >> 28);
}
