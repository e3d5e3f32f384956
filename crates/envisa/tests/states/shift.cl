// Texels of an image, shifted, into another one: its sampler says what lies outside.
kernel void shift(read_only image2d_t from, sampler_t how, write_only image2d_t to, int x, int y)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imageui(to, at, read_imageui(from, how, at + (int2)(x, y)) + 1u);
}
