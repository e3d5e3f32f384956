// A device without images: one line says so, in place of reads of registers that only the accesses would have written, which the
// compiler leaves out there.
// NEEDS: ocloc
// RUN: envisa build %s --device pvc -o %t/blur.zebin
// RUN: envisa build %s --device dg2 -o %t/blur.zebin
kernel void blur(read_only image2d_t in, sampler_t nearest, global float4 *out, int width) {
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    out[at.y * width + at.x] = read_imagef(in, nearest, (float2)(at.x + 0.5f, at.y));
}
