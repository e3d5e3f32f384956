/* envisa
about = "Blocks of an image moved by whole sub-groups (cl_intel_media_block_io)"
devices = ["skl", "tgllp", "dg2"]
why_devices = "the compiler offers no images on pvc"
sizes = { W = 64, H = 16 }
global = ["W", "H/4"]
local = [8, 1]
features = ["image-2d", "media-block", "sub-group", "u32"]
args = [
  { name = "img", image = "2d:W,H:r:u32", value = "rand:u32:W*H:1" },
  { name = "dst", image = "2d:W,H:r:u32", value = "zeros:u32:W*H", check = "exact", why = "moves and whole numbers" },
]
*/
#ifdef PEER
kernel void media_block(read_only image2d_t img, write_only image2d_t dst)
{
    int x = get_global_id(0), y = get_global_id(1) * 4;
    for (int r = 0; r < 4; r++)
        write_imageui(dst, (int2)(x, y + r), read_imageui(img, (int2)(x, y + 3 - r)) + (uint4)(r));
}
#else
uint4 __attribute__((overloadable)) intel_sub_group_media_block_read_ui4(int2 offset, int width, int height, read_only image2d_t image);
void __attribute__((overloadable)) intel_sub_group_media_block_write_ui4(int2 offset, int width, int height, uint4 pixels, write_only image2d_t image);
kernel __attribute__((intel_reqd_sub_group_size(8)))
void media_block(read_only image2d_t img, write_only image2d_t dst)
{
    int x = get_group_id(0) * 8, y = get_global_id(1) * 4;
    /* The x offset counts bytes. */
    uint4 v = intel_sub_group_media_block_read_ui4((int2)(x * 4, y), 8, 4, img);
    intel_sub_group_media_block_write_ui4((int2)(x * 4, y), 8, 4, v.wzyx + (uint4)(0, 1, 2, 3), dst);
}
#endif
