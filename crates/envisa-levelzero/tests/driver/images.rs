//! Images and samplers.

use crate::ze::*;

const TEXT: &str = "
kernel void darken(read_only image2d_t from, write_only image2d_t to, sampler_t s) {
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float2 centre = (convert_float2(at) + 0.5f) / convert_float2(get_image_dim(from));
    write_imageui(to, at, read_imageui(from, s, centre) / 2);
}
";

#[test]
fn images_are_read_and_written() {
    let Some(d) = driver() else { return };
    let module = d.program(TEXT);
    // 8 by 4 texels of four bytes.
    let desc =
        |kind: u64, layout: u64| [0u64, 0, kind << 32, layout, 1 << 32, 2 | 3 << 32, 8, 4 | 1 << 32, 0];
    let image = |desc: [u64; 9]| d.make("zeImageCreate", &[d.context, d.device, of(&desc)]);
    let (from, to) = (image(desc(2, 4)), image(desc(2, 4)));
    let sampler = d.make("zeSamplerCreate", &[d.context, d.device, of(&[0u64, 0, 2, 1])]);
    let list = d.immediate(0);
    let texels: Vec<u8> = (0..128).collect();
    d.ok("zeCommandListAppendImageCopyFromMemory", &[list, from, of(&texels[..]), 0, 0, 0, 0]);
    let darken = d.kernel(module, "darken", 8);
    d.arg(darken, 0, from);
    d.arg(darken, 1, to);
    d.arg(darken, 2, sampler);
    let args = [list, darken, of(&[1u32, 4, 1]), 0, 0, 0];
    d.ok("zeCommandListAppendLaunchKernel", &args);
    let mut back = vec![0u8; 128];
    d.ok("zeCommandListAppendImageCopyToMemory", &[list, at(&mut back[..]), to, 0, 0, 0, 0]);
    d.ok("zeCommandListHostSynchronize", &[list, FOREVER]);
    assert_eq!(back, texels.iter().map(|t| t / 2).collect::<Vec<u8>>());
    // Two texels of the second row onto the last of the last row, and these alone out; where in the third dimension says
    // nothing, as there is none.
    let (part, corner) = ([1u32, 1, 0, 2, 1, 1], [6u32, 3, 1, 2, 1, 1]);
    d.ok("zeCommandListAppendImageCopyRegion", &[list, to, from, of(&corner), of(&part), 0, 0, 0]);
    d.ok("zeCommandListAppendImageCopyToMemory", &[list, at(&mut back[..]), to, of(&corner), 0, 0, 0]);
    d.ok("zeCommandListHostSynchronize", &[list, FOREVER]);
    assert_eq!(back[..8], texels[36..44]);
    let outside = [7u32, 0, 0, 2, 1, 1];
    let args = [list, at(&mut back[..]), to, of(&outside), 0, 0, 0];
    assert_eq!(d.call("zeCommandListAppendImageCopyToMemory", &args), SIZE);
    assert_eq!(d.call("zeKernelSetArgumentValue", &[darken, 0, 8, of(&sampler)]), INVALID);
    assert_eq!(d.call("zeKernelSetArgumentValue", &[darken, 0, 8, 0]), INVALID);
    let mut none = 0usize;
    let args = |desc: &[u64; 9]| [d.context, d.device, of(desc), of(&none)];
    assert_eq!(d.call("zeImageCreate", &args(&desc(2, 9))), 0x7800_000e);
    assert_eq!(d.call("zeImageCreate", &args(&desc(9, 4))), 0x7800_000c);
    let mut large = desc(2, 4);
    large[6] = 1 << 40;
    assert_eq!(d.call("zeImageCreate", &args(&large)), 0x7800_0009);
    none += 1;
    assert_eq!(none, 1, "nothing was made");
}
