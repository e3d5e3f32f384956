/* envisa
about = "Every format of signed integers, nearest texels, mirrored, with border, repeated and clamped"
devices = ["skl", "tgllp", "dg2"]
why_devices = "the compiler offers no images on pvc"
sizes = { W = 16, H = 8 }
global = ["W", "H"]
local = [8, 4]
features = ["image-2d", "sampler", "nearest", "mirror", "border", "repeat", "clamp", "i8", "i16", "i32"]
known = [
  { output = "out", elements = 1536, why = "PoCL reads the alpha of CL_R images of integers as 0; OpenCL has 1 for channels that are not stored. Oclgrind and Intel's CPU runtime give envisa's result" },
]
args = [
  { name = "i0", image = "2d:W,H:rgba:i8", value = "rand:i8x4:W*H:1" },
  { name = "i1", image = "2d:W,H:rgba:i16", value = "rand:i16x4:W*H:2" },
  { name = "i2", image = "2d:W,H:rgba:i32", value = "rand:i32x4:W*H:3" },
  { name = "i3", image = "2d:W,H:r:i8", value = "rand:i8:W*H:4" },
  { name = "i4", image = "2d:W,H:r:i16", value = "rand:i16:W*H:5" },
  { name = "i5", image = "2d:W,H:r:i32", value = "rand:i32:W*H:6" },
  { name = "out", value = "zeros:i32x4:W*H*24", check = "exact", why = "integers" },
]
*/
constant sampler_t S0 = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_MIRRORED_REPEAT | CLK_FILTER_NEAREST;
constant sampler_t S1 = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
constant sampler_t S2 = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_NEAREST;
constant sampler_t S3 = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

kernel void formats_int(read_only image2d_t i0, read_only image2d_t i1, read_only image2d_t i2, read_only image2d_t i3, read_only image2d_t i4, read_only image2d_t i5,
    global int4 *out)
{
    int x = get_global_id(0), y = get_global_id(1), n = get_global_size(0) * get_global_size(1);
    out += y * get_global_size(0) + x;
    float2 at = (float2)(2.21875f * x - 12.296875f, 1.84375f * y - 5.359375f) / (float2)(16, 8);
    out[0 * n] = read_imagei(i0, S0, at);
    out[1 * n] = read_imagei(i0, S1, at);
    out[2 * n] = read_imagei(i0, S2, at);
    out[3 * n] = read_imagei(i0, S3, at);
    out[4 * n] = read_imagei(i1, S0, at);
    out[5 * n] = read_imagei(i1, S1, at);
    out[6 * n] = read_imagei(i1, S2, at);
    out[7 * n] = read_imagei(i1, S3, at);
    out[8 * n] = read_imagei(i2, S0, at);
    out[9 * n] = read_imagei(i2, S1, at);
    out[10 * n] = read_imagei(i2, S2, at);
    out[11 * n] = read_imagei(i2, S3, at);
    out[12 * n] = read_imagei(i3, S0, at);
    out[13 * n] = read_imagei(i3, S1, at);
    out[14 * n] = read_imagei(i3, S2, at);
    out[15 * n] = read_imagei(i3, S3, at);
    out[16 * n] = read_imagei(i4, S0, at);
    out[17 * n] = read_imagei(i4, S1, at);
    out[18 * n] = read_imagei(i4, S2, at);
    out[19 * n] = read_imagei(i4, S3, at);
    out[20 * n] = read_imagei(i5, S0, at);
    out[21 * n] = read_imagei(i5, S1, at);
    out[22 * n] = read_imagei(i5, S2, at);
    out[23 * n] = read_imagei(i5, S3, at);
}
