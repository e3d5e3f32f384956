// A private array that no register holds: each work-item's own, in scratch memory.
kernel void scratch(global const uint *in, global uint *out)
{
    size_t i = get_global_id(0);
    uchar own[64];
    #pragma unroll 1
    for (int k = 0; k < 64; k++)
        own[(k * 13) & 63] = in[i] >> (k & 15);
    uint sum = 0;
    #pragma unroll 1
    for (int k = 0; k < 64; k++)
        sum = sum * 3 + own[(in[i] + k) & 63];
    out[i] = sum;
}
