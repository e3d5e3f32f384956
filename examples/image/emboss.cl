// Embosses a picture: each pixel is its difference from its neighbour up left, around a middle grey.
kernel void emboss(read_only image2d_t in, write_only image2d_t out)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    if (at.x >= get_image_width(out) || at.y >= get_image_height(out))
        return;
    int2 from = max(at - 1, 0);
    float3 d = read_imagef(in, at).xyz - read_imagef(in, from).xyz;
    float grey = clamp(0.5f + d.x + d.y + d.z, 0.0f, 1.0f);
    write_imagef(out, at, (float4)(grey, grey, grey, 1.0f));
}
