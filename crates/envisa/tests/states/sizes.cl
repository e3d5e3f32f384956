// What images say of themselves.
kernel void sizes(read_only image2d_array_t a, read_only image3d_t b, global uint4 *out)
{
    int4 d = get_image_dim(b);
    out[0] = (uint4)(get_image_width(a), get_image_height(a), get_image_array_size(a), 7);
    out[1] = (uint4)(d.x, d.y, d.z, 7);
}
