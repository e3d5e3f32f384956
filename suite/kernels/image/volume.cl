/* envisa
about = "Reads of a 3D image"
devices = ["skl", "tgllp", "dg2"]
why_devices = "the compiler offers no images on pvc"
sizes = { W = 8, H = 8, D = 4 }
global = ["W", "H", "D"]
local = [4, 4, 2]
features = ["image-3d", "image-read", "f32", "3d-range"]
args = [
  { name = "img", image = "3d:W,H,D:rgba:f32", value = "rand:f32x4:W*H*D:1" },
  { name = "out", value = "zeros:f32x4:W*H*D", check = "exact", why = "moves only" },
]
*/
kernel void volume(read_only image3d_t img, global float4 *out)
{
    int4 p = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
    int w = get_image_width(img), h = get_image_height(img), d = get_image_depth(img);
    out[(p.z * h + p.y) * w + p.x] = read_imagef(img, (int4)(w - 1 - p.x, p.y, d - 1 - p.z, 0));
}
