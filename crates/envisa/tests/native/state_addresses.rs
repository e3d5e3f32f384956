//! Kernels of `tests/states`, whose images, samplers and scratch memory are addresses of states in registers, against
//! what their sources say.

use envisa::isa::Platform;
use envisa::{
    Addressing, Buffer, ChannelOrder, ChannelType, Config, Device, Engine, ImageDesc, ImageFormat,
    ImageShape, Kernel, Launch, Module, Sampler, Source,
};

/// A kernel on every engine.
fn everywhere(kernel: &str, run: impl Fn(&Device, &Kernel, &str)) {
    let path = format!("{}/tests/states/cri/{kernel}.zebin", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(path).expect("a zebin");
    for engine in [Engine::Unoptimized, Engine::Native] {
        let device = Device::new(Config::new(Platform::Xe3p).memory(1 << 26).threads(2).engine(engine));
        let module = Module::load(&device, kernel, Source::Zebin(&bytes)).expect("it loads");
        let kernel = module.kernel(kernel).expect("the kernel");
        run(&device, &kernel, &format!("{engine:?}"));
    }
}

fn buffer(device: &Device, values: &[u32]) -> Buffer {
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    device.buffer_from("buffer", &bytes).expect("memory")
}

fn values(buffer: &Buffer) -> Vec<u32> {
    buffer.to_vec().chunks(4).map(|b| u32::from_le_bytes(b.try_into().expect("four bytes"))).collect()
}

fn launch(device: &Device, kernel: &Kernel, launch: &Launch, what: &str) {
    let outcome = device.run(kernel, launch).unwrap_or_else(|e| panic!("{what}: {e:?}"));
    assert!(outcome.fault.is_none(), "{what}: {:?}", outcome.fault);
}

fn format() -> ImageFormat {
    ImageFormat::new(ChannelOrder::Rgba, ChannelType::Uint32).expect("a format")
}

#[test]
fn an_image_through_a_sampler_into_another() {
    let (w, h) = (13i32, 9i32);
    let texels: Vec<u32> = (0..4 * (w * h) as u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
    everywhere("shift", |device, kernel, what| {
        let desc = ImageDesc::packed(ImageShape::D2, [w as u32, h as u32, 1], format());
        for addressing in [Addressing::Clamp, Addressing::ClampToEdge] {
            let to = buffer(device, &vec![7; texels.len()]);
            let how = Launch::range(&[w as u64, h as u64], &[w as u64, 1])
                .arg(0, device.image(&desc, &buffer(device, &texels)).expect("an image"))
                .arg(1, Sampler::new(addressing, false, false))
                .arg(2, device.image(&desc, &to).expect("an image"))
                .arg(3, -2i32)
                .arg(4, 3i32);
            launch(device, kernel, &how, what);
            let of = |i: usize| {
                let (x, y) = (i as i32 / 4 % w - 2, i as i32 / 4 / w + 3);
                let inside = (0..w).contains(&x) && (0..h).contains(&y);
                let (x, y) = (x.clamp(0, w - 1), y.clamp(0, h - 1));
                let texel = texels[(4 * (y * w + x)) as usize + i % 4];
                if inside || addressing == Addressing::ClampToEdge { texel.wrapping_add(1) } else { 1 }
            };
            let want: Vec<u32> = (0..texels.len()).map(of).collect();
            assert_eq!(values(&to), want, "{what}, {addressing:?}");
        }
    });
}

#[test]
fn sizes_of_images() {
    everywhere("sizes", |device, kernel, what| {
        let out = buffer(device, &[0; 8]);
        let texels = buffer(device, &[0; 4 * 5 * 6 * 7]);
        let image = |shape| {
            let desc = ImageDesc::packed(shape, [5, 6, 7], format());
            device.image(&desc, &texels).expect("an image")
        };
        let how = Launch::range(&[1], &[1]).arg(0, image(ImageShape::D2Array)).arg(1, image(ImageShape::D3));
        launch(device, kernel, &how.arg(2, out.clone()), what);
        assert_eq!(values(&out), [5, 6, 7, 7, 5, 6, 7, 7], "{what}");
    });
}

#[test]
fn private_arrays_in_scratch_memory() {
    let x: Vec<u32> = (0..200u32).map(|i| i.wrapping_mul(0x9e37_79b9).rotate_left(9)).collect();
    let of = |x: &u32| {
        let mut own = [0u32; 64];
        for k in 0..64 {
            own[k * 13 % 64] = x >> (k & 15) & 0xff;
        }
        (0..64).fold(0u32, |sum, k| sum.wrapping_mul(3).wrapping_add(own[(*x as usize + k) % 64]))
    };
    everywhere("scratch", |device, kernel, what| {
        let out = buffer(device, &vec![0; x.len()]);
        let how = Launch::range(&[200], &[50]).arg(0, buffer(device, &x)).arg(1, out.clone());
        launch(device, kernel, &how, what);
        assert_eq!(values(&out), x.iter().map(of).collect::<Vec<_>>(), "{what}");
    });
}
