/* envisa
about = "Every format of floats that the device and PoCL have, filtered, mirrored, with border and repeated"
devices = ["skl", "tgllp", "dg2"]
why_devices = "the compiler offers no images on pvc"
sizes = { W = 16, H = 8 }
global = ["W", "H"]
local = [8, 4]
features = ["image-2d", "sampler", "linear", "mirror", "border", "repeat", "unorm8", "unorm16", "snorm8", "snorm16", "f16", "f32"]
known = [
  { output = "out", elements = 933, why = "PoCL gives the border of one-channel images an alpha of 0; OpenCL's table of border colours has 1 for CL_R. Oclgrind and Intel's CPU runtime give envisa's result" },
]
args = [
  { name = "i0", image = "2d:W,H:rgba:unorm8", value = "rand:u8x4:W*H:1" },
  { name = "i1", image = "2d:W,H:rgba:unorm16", value = "rand:u16x4:W*H:2" },
  { name = "i2", image = "2d:W,H:rgba:snorm8", value = "rand:i8x4:W*H:3" },
  { name = "i3", image = "2d:W,H:rgba:snorm16", value = "rand:i16x4:W*H:4" },
  { name = "i4", image = "2d:W,H:rgba:f16", value = "rand:f16x4:W*H:5:0..1" },
  { name = "i5", image = "2d:W,H:rgba:f32", value = "rand:f32x4:W*H:6:0..1" },
  { name = "i6", image = "2d:W,H:r:unorm8", value = "rand:u8:W*H:7" },
  { name = "i7", image = "2d:W,H:r:unorm16", value = "rand:u16:W*H:8" },
  { name = "i8", image = "2d:W,H:r:snorm8", value = "rand:i8:W*H:9" },
  { name = "i9", image = "2d:W,H:r:snorm16", value = "rand:i16:W*H:10" },
  { name = "i10", image = "2d:W,H:r:f16", value = "rand:f16:W*H:11:0..1" },
  { name = "i11", image = "2d:W,H:r:f32", value = "rand:f32:W*H:12:0..1" },
  { name = "i12", image = "2d:W,H:bgra:unorm8", value = "rand:u8x4:W*H:13" },
  { name = "i13", image = "2d:W,H:a:unorm8", value = "rand:u8:W*H:14" },
  { name = "out", value = "zeros:f32x4:W*H*42", check = "abs 1e-6", why = "texels of -1 to 1 with weights that are exact" },
]
*/
constant sampler_t S0 = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_MIRRORED_REPEAT | CLK_FILTER_LINEAR;
constant sampler_t S1 = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR;
constant sampler_t S2 = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_NEAREST;

kernel void formats_float(read_only image2d_t i0, read_only image2d_t i1, read_only image2d_t i2, read_only image2d_t i3, read_only image2d_t i4, read_only image2d_t i5, read_only image2d_t i6, read_only image2d_t i7, read_only image2d_t i8, read_only image2d_t i9, read_only image2d_t i10, read_only image2d_t i11, read_only image2d_t i12, read_only image2d_t i13,
    global float4 *out)
{
    int x = get_global_id(0), y = get_global_id(1), n = get_global_size(0) * get_global_size(1);
    out += y * get_global_size(0) + x;
    float2 at = (float2)(2.21875f * x - 12.296875f, 1.84375f * y - 5.359375f) / (float2)(16, 8);
    out[0 * n] = read_imagef(i0, S0, at);
    out[1 * n] = read_imagef(i0, S1, at);
    out[2 * n] = read_imagef(i0, S2, at);
    out[3 * n] = read_imagef(i1, S0, at);
    out[4 * n] = read_imagef(i1, S1, at);
    out[5 * n] = read_imagef(i1, S2, at);
    out[6 * n] = read_imagef(i2, S0, at);
    out[7 * n] = read_imagef(i2, S1, at);
    out[8 * n] = read_imagef(i2, S2, at);
    out[9 * n] = read_imagef(i3, S0, at);
    out[10 * n] = read_imagef(i3, S1, at);
    out[11 * n] = read_imagef(i3, S2, at);
    out[12 * n] = read_imagef(i4, S0, at);
    out[13 * n] = read_imagef(i4, S1, at);
    out[14 * n] = read_imagef(i4, S2, at);
    out[15 * n] = read_imagef(i5, S0, at);
    out[16 * n] = read_imagef(i5, S1, at);
    out[17 * n] = read_imagef(i5, S2, at);
    out[18 * n] = read_imagef(i6, S0, at);
    out[19 * n] = read_imagef(i6, S1, at);
    out[20 * n] = read_imagef(i6, S2, at);
    out[21 * n] = read_imagef(i7, S0, at);
    out[22 * n] = read_imagef(i7, S1, at);
    out[23 * n] = read_imagef(i7, S2, at);
    out[24 * n] = read_imagef(i8, S0, at);
    out[25 * n] = read_imagef(i8, S1, at);
    out[26 * n] = read_imagef(i8, S2, at);
    out[27 * n] = read_imagef(i9, S0, at);
    out[28 * n] = read_imagef(i9, S1, at);
    out[29 * n] = read_imagef(i9, S2, at);
    out[30 * n] = read_imagef(i10, S0, at);
    out[31 * n] = read_imagef(i10, S1, at);
    out[32 * n] = read_imagef(i10, S2, at);
    out[33 * n] = read_imagef(i11, S0, at);
    out[34 * n] = read_imagef(i11, S1, at);
    out[35 * n] = read_imagef(i11, S2, at);
    out[36 * n] = read_imagef(i12, S0, at);
    out[37 * n] = read_imagef(i12, S1, at);
    out[38 * n] = read_imagef(i12, S2, at);
    out[39 * n] = read_imagef(i13, S0, at);
    out[40 * n] = read_imagef(i13, S1, at);
    out[41 * n] = read_imagef(i13, S2, at);
}
