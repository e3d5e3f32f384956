/* envisa
about = "Layers of an image array, in reverse order"
devices = ["skl", "tgllp", "dg2"]
why_devices = "the compiler offers no images on pvc"
sizes = { W = 16, H = 8, L = 5 }
global = ["W", "H", "L"]
local = [8, 4, 1]
features = ["image-array", "image-read", "image-write", "u16"]
args = [
  { name = "img", image = "2darray:W,H,L:rgba:u16", value = "rand:u16x4:W*H*L:1" },
  { name = "dst", image = "2darray:W,H,L:rgba:u16", value = "zeros:u16x4:W*H*L", check = "exact", why = "integers" },
]
*/
kernel void array(read_only image2d_array_t img, write_only image2d_array_t dst)
{
    int x = get_global_id(0), y = get_global_id(1), l = get_global_id(2);
    int n = get_image_array_size(img);
    uint4 v = read_imageui(img, (int4)(x, y, n - 1 - l, 0));
    write_imageui(dst, (int4)(x, y, l, 0), v.yxwz + (uint4)(l, 0, 0, n));
}
