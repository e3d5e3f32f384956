//! Images and samplers of all kinds, at coordinates of all kinds: native code finds the texels that the interpreter
//! finds, mixes them to the same bits, and writes the same bytes.

use std::fmt::Write as _;

use crate::kernels::only_kernel;
use crate::random::Random;
use envisa::isa::Platform;
use envisa::{
    Addressing, ArgKey, ChannelOrder, ChannelType, Config, Device, Engine, ImageDesc, ImageFormat,
    ImageShape, Launch, Outcome, Sampler,
};

/// Groups of one thread: what a message finds at its first execution is known at the next one.
const GROUPS: u32 = 12;
/// Messages of a program.
const MESSAGES: u32 = 3;
/// One of so many kinds of images with a sampler is tried: code that is not optimised takes its time.
const SHARE: u32 = if cfg!(debug_assertions) { 8 } else { 1 };

impl Random {
    /// A coordinate of a direction of so many texels.
    fn coordinate(&mut self, size: u32, normalized: bool) -> f32 {
        let odd =
            [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30, -1e30, -0.0, 1e-40, -1e-10, 16_777_217.0];
        let size = size as f32;
        let place = match self.below(8) {
            0 => return self.one_of(&odd),
            // On the borders of texels and in their middles, and next to those.
            1 | 2 => (self.below(4 * size as u32 + 8) as f32 - 4.0) / 2.0,
            3 => (self.below(1 << 20) as f32 - (1 << 19) as f32) / 64.0,
            _ => self.below(1 << 20) as f32 / (1 << 20) as f32 * size,
        };
        let x = if normalized { place / size } else { place };
        f32::from_bits(x.to_bits().wrapping_add(self.below(5)).wrapping_sub(2))
    }
}

struct Case {
    text: String,
    simd: u32,
    desc: ImageDesc,
    sampler: Sampler,
    /// What the buffer holds at first: coordinates, and room for texels.
    content: Vec<u8>,
    texels: Vec<u8>,
    /// The image that is written.
    out: ImageDesc,
    /// Colours are those of sRGB, which native code leaves to the interpreter.
    srgb: bool,
}

/// All kinds of texels.
fn formats() -> Vec<ImageFormat> {
    let orders: Vec<_> = (0x10b0..0x10c8).filter_map(ChannelOrder::from_cl).collect();
    let types = (0x10d0..0x10e8).filter_map(ChannelType::from_cl);
    types.flat_map(|ty| orders.iter().filter_map(move |o| ImageFormat::new(*o, ty))).collect()
}

const SHAPES: [ImageShape; 5] =
    [ImageShape::D1, ImageShape::D1Array, ImageShape::D2, ImageShape::D2Array, ImageShape::D3];

/// An image of a shape with sizes up to so many.
fn desc(r: &mut Random, shape: ImageShape, most: u32, format: ImageFormat) -> ImageDesc {
    let mut size = [1 + r.below(most), 1 + r.below(most), 1 + r.below(most)];
    match shape {
        ImageShape::D1 => (size[1], size[2]) = (1, 1),
        ImageShape::D1Array => size[1] = 1,
        ImageShape::D2 => size[2] = 1,
        _ => {}
    }
    let mut desc = ImageDesc::packed(shape, size, format);
    if r.below(2) == 0 {
        desc.row_pitch = desc.row_bytes() as u32 + 4 * r.below(4);
        if desc.row_bytes().is_multiple_of(4) {
            desc.slice_pitch = u64::from(desc.row_pitch) * u64::from(size[1]) + 4 * u64::from(r.below(3));
        }
    }
    desc
}

/// The coordinates that messages give for a shape.
fn coordinates(shape: ImageShape) -> usize {
    match shape {
        ImageShape::D1 => 1,
        ImageShape::D1Array | ImageShape::D2 => 2,
        _ => 3,
    }
}

/// Bytes of texels: any, or numbers that are not NaN.
fn texels(r: &mut Random, bytes: usize) -> Vec<u8> {
    let mask = r.one_of(&[0xff, 0xff, 0x3b]);
    (0..bytes).map(|_| r.next() as u8 & mask).collect()
}

/// Declarations, and what a thread begins with.
fn head(simd: u32) -> String {
    let mut text = String::from(".version 3.6\n.kernel \"texels\"\n.kernel_attr Target=\"cm\"\n");
    let _ = writeln!(text, ".kernel_attr SimdSize={simd}");
    for (name, ty, n) in [
        ("Lane", "uw", 32),
        ("At", "ud", simd),
        ("U", "f", simd),
        ("V", "f", simd),
        ("R", "f", simd),
        ("X", "d", simd),
        ("Y", "d", simd),
        ("Z", "d", simd),
        ("W", "f", simd),
        ("D", "f", 4 * simd),
    ] {
        let _ = writeln!(text, ".decl {name} v_type=G type={ty} num_elts={n} align=wordx32");
    }
    for name in ["U", "V", "R"] {
        let _ = writeln!(text, ".decl {name}n v_type=G type=d num_elts={simd} alias=<{name}, 0>");
    }
    text.push_str(".decl First v_type=G type=ud num_elts=1 align=dword\n");
    let _ = writeln!(text, ".decl P1 v_type=P num_elts={simd}");
    text.push_str(
        ".decl T6 v_type=T num_elts=1\n.decl T7 v_type=T num_elts=1\n.decl S0 v_type=S num_elts=1\n",
    );
    text.push_str(".decl T8 v_type=T num_elts=1\n.input T6 offset=96 size=4\n");
    text.push_str(".function \"texels_main\"\nor (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x4c0:ud\n");
    text.push_str(
        "mov (M1, 8) Lane(0,0)<1> 0x76543210:v\nadd (M1, 8) Lane(0,8)<1> Lane(0,0)<1;1,0> 0x8:uw\n",
    );
    text.push_str("add (M1_NM, 16) Lane(1,0)<1> Lane(0,0)<1;1,0> 0x10:uw\n");
    text
}

/// What groups are given: for each message three rows of coordinates, and room for four of texels.
fn content(r: &mut Random, desc: &ImageDesc, simd: u32, normalized: bool) -> Vec<u8> {
    let mut content = Vec::new();
    let size = [desc.width, desc.height, desc.depth];
    for message in (0..GROUPS).flat_map(|_| 0..MESSAGES) {
        // All channels side by side, as most have them, or anywhere.
        let rows = r.below(3) == 0;
        for (axis, size) in size.into_iter().enumerate() {
            // Layers are never normalised, and the second coordinate of a row is its layer.
            let (size, counts) = match (desc.shape, axis) {
                (ImageShape::D1Array, 1) => (desc.depth, true),
                (ImageShape::D2Array, 2) => (size, true),
                _ => (size, !normalized),
            };
            let first = r.coordinate(size, !counts);
            let step = if counts { 0.7 } else { 0.7 / size as f32 };
            for k in 0..simd {
                let bits = if message + 1 == MESSAGES {
                    // Numbers of texels, mostly inside.
                    match r.below(12) {
                        0 => r.next() as u32,
                        1 => r.below(3).wrapping_sub(1).wrapping_add(size),
                        _ => r.below(size),
                    }
                } else if rows {
                    (first + k as f32 * step).to_bits()
                } else {
                    r.coordinate(size, !counts).to_bits()
                };
                content.extend(bits.to_le_bytes());
            }
        }
        content.extend((0..16 * simd).map(|_| 0));
    }
    content
}

fn case(seed: u64, format: ImageFormat, shape: ImageShape, sampler: Sampler) -> Case {
    let mut r = Random(seed);
    let simd = r.one_of(&[8, 16, 16, 32]);
    let most = r.one_of(&[2, 5, 20]);
    let desc = desc(&mut r, shape, most, format);
    let all = formats();
    let other = r.one_of(&all);
    let out_shape = r.one_of(&SHAPES);
    let mut out = ImageDesc::packed(out_shape, [19, 13, 3], other);
    match out_shape {
        ImageShape::D1 => (out.height, out.depth) = (1, 1),
        ImageShape::D1Array => out.height = 1,
        ImageShape::D2 => out.depth = 1,
        _ => {}
    }

    let mut text = head(simd);
    let m = format!("(M1, {simd})");
    // What a group reads and writes: for each message three rows of coordinates, and four of texels.
    let row = 4 * simd;
    let bytes = MESSAGES * 7 * row;
    let _ = writeln!(text, "mul (M1_NM, 1) First(0,0)<1> %r0(0,1)<0;1,0> {bytes:#x}:ud");
    let channels = ["RGBA", "R", "GA", "RGBA"];
    for message in 0..MESSAGES {
        let _ = writeln!(text, "shl {m} At(0,0)<1> Lane(0,0)<1;1,0> 0x2:ud");
        let _ = writeln!(text, "add {m} At(0,0)<1> At(0,0)<1;1,0> First(0,0)<0;1,0>");
        for name in ["U", "V", "R"] {
            for (m, at) in parts(simd, 16) {
                let _ = writeln!(text, "gather4_scaled.R {m} T6 0x0:ud At.{at} {name}.{at}");
            }
            let _ = writeln!(text, "add {m} At(0,0)<1> At(0,0)<1;1,0> {row:#x}:ud");
        }
        for k in 0..4 {
            let _ = writeln!(text, "mov {m} D({},0)<1> {:#x}:f", k * simd / 8, 0x3f80_0000 + k);
        }
        let predicate = r.below(3) == 0;
        if predicate {
            let _ = writeln!(text, "cmp.lt {m} P1 V(0,0)<1;1,0> 0x3f000000:f");
        }
        let p = if predicate { "(P1) " } else { "" };
        let channels = r.one_of(&channels);
        // The last message names texels by their numbers.
        let numbers = message + 1 == MESSAGES;
        let op = r.one_of(if numbers {
            &["load_lz", "load_lz", "gather4_typed"]
        } else {
            &["sample_lz", "sample_3d", "sample_lz"]
        });
        text.push_str("movs (M1_NM, 1) T7(0) 0x7:ud\nmovs (M1_NM, 1) S0(0) 0x0:ud\n");
        for (m, at) in parts(simd, if op == "gather4_typed" { 8 } else { 16 }) {
            let given = coordinates(shape);
            let names = if numbers { ["Un", "Vn", "Rn"] } else { ["U", "V", "R"] };
            // Registers of a part's answer, one channel after the other.
            let answer = 4 * at;
            let _ = match op {
                "gather4_typed" => {
                    let at = |n: usize, name: &str| {
                        if n < given { format!("{name}.{at}") } else { "%null.0".into() }
                    };
                    let (u, v, w) = (at(0, "Un"), at(1, "Vn"), at(2, "Rn"));
                    writeln!(text, "{p}gather4_typed.{channels} {m} T7 {u} {v} {w} %null.0 D.{answer}")
                }
                _ => {
                    let at: Vec<_> = names[..given].iter().map(|name| format!("{name}.{at}")).collect();
                    let sampler = if numbers { "" } else { "S0 " };
                    writeln!(text, "{p}{op}.{channels} {m} 0x0:uw {sampler}T7 D.{answer} {}", at.join(" "))
                }
            };
        }
        // Channel by channel, whatever the parts were.
        let part = if op == "gather4_typed" { 8 } else { simd.min(16) };
        for c in 0..4 {
            for k in 0..simd / part {
                let (to, from) = (k * part / 8, (4 * k + c) * part / 8);
                let _ = writeln!(text, "mov (M1_NM, {part}) W({to},0)<1> D({from},0)<1;1,0>");
            }
            for (m, at) in parts(simd, 16) {
                let _ = writeln!(text, "scatter4_scaled.R {m} T6 0x0:ud At.{at} W.{at}");
            }
            let _ = writeln!(text, "add {m} At(0,0)<1> At(0,0)<1;1,0> {row:#x}:ud");
        }
        let _ = writeln!(text, "add (M1_NM, 1) First(0,0)<1> First(0,0)<0;1,0> {:#x}:ud", 7 * row);
        if r.below(3) != 0 {
            // Places in a row, and others; outside of the image now and then.
            stores(&mut r, &out, simd, p, &mut text);
        }
    }
    let _ = writeln!(text, "ret (M1, 1)");
    let content = content(&mut r, &desc, simd, sampler.normalized);
    let texels = texels(&mut r, desc.bytes() as usize);
    let srgb = format.is_srgb() || out.format.is_srgb();
    Case { text, simd, desc, sampler, content, texels, out, srgb }
}

/// The parts of messages that have `most` channels at most: their masks, and where their lanes are in a row.
fn parts(simd: u32, most: u32) -> impl Iterator<Item = (String, u32)> {
    let n = simd.min(most);
    (0..simd / n).map(move |k| (format!("(M{}, {n})", 1 + k * n / 4), 4 * n * k))
}

/// Texels that are stored: at places in a row, and others; outside of the image now and then.
fn stores(r: &mut Random, out: &ImageDesc, simd: u32, p: &str, text: &mut String) {
    let m = format!("(M1, {simd})");
    let _ = writeln!(text, "mov {m} X(0,0)<1> Lane(0,0)<1;1,0>");
    let step = r.one_of(&[1, 1, 2, 3]);
    let _ = writeln!(text, "mul {m} X(0,0)<1> X(0,0)<1;1,0> {step:#x}:d");
    let _ = writeln!(text, "add {m} X(0,0)<1> X(0,0)<1;1,0> %r0(0,1)<0;1,0>");
    if r.below(4) != 0 {
        let _ = writeln!(text, "and {m} X(0,0)<1> X(0,0)<1;1,0> 0xf:d");
    }
    let most = if r.below(4) == 0 { 14 } else { 3 };
    let (y, z) = (r.below(most), r.below(3));
    let _ = writeln!(text, "mov {m} Y(0,0)<1> {y:#x}:d");
    let _ = writeln!(text, "mov {m} Z(0,0)<1> {z:#x}:d");
    let numbers = out.format.channel_type().is_int() || r.below(2) == 0;
    if !numbers {
        let _ = writeln!(text, "mul {m} D(0,0)<1> D(0,0)<1;1,0> 0x3f90a3d7:f");
        let _ = writeln!(text, "add {m} D(1,0)<1> D(1,0)<1;1,0> 0xbf000000:f");
    }
    text.push_str("movs (M1_NM, 1) T8(0) 0x8:ud\n");
    for (m, at) in parts(simd, 8) {
        let given = coordinates(out.shape);
        let at_of = |n: usize, name: &str| if n < given { format!("{name}.{at}") } else { "%null.0".into() };
        let (x, y, z) = (at_of(0, "X"), at_of(1, "Y"), at_of(2, "Z"));
        let _ = writeln!(text, "{p}scatter4_typed.RGBA {m} T8 {x} {y} {z} %null.0 D.{}", 4 * at);
    }
}

/// What the buffer and the written image hold in the end; what native code left to the interpreter, in lines.
fn run(c: &Case, engine: Engine, statistics: bool) -> (Vec<u8>, Vec<u8>, Option<Vec<String>>) {
    let (outcome, buffer, written) = launch(c, engine, statistics);
    assert!(outcome.fault.is_none(), "{:?}\n{}", outcome.fault, c.text);
    let left = outcome.statistics.and_then(|s| s.native);
    let left = left.map(|n| n.left.iter().map(|l| format!("{l:?}")).collect());
    (buffer, written, left)
}

fn launch(c: &Case, engine: Engine, statistics: bool) -> (Outcome, Vec<u8>, Vec<u8>) {
    let device = Device::new(Config::new(Platform::Skl).memory(1 << 22).threads(1));
    let kernel = only_kernel(&device, &c.text);
    let buffer = device.buffer_from("a", &c.content).expect("there is memory");
    let texels = device.buffer_from("texels", &c.texels).expect("there is memory");
    let written = device.buffer("written", c.out.bytes()).expect("there is memory");
    let image = device.image(&c.desc, &texels).expect("an image");
    let out = device.image(&c.out, &written).expect("an image");
    let launch = Launch::threads(&[GROUPS, 1, 1], 1)
        .engine(engine)
        .statistics(statistics)
        .arg("T6", &buffer)
        .arg(ArgKey::Surface(7), &image)
        .arg(ArgKey::Surface(8), &out)
        .arg(ArgKey::Sampler(0), c.sampler);
    let outcome = device.run(&kernel, &launch).expect("it is launched");
    (outcome, buffer.to_vec(), written.to_vec())
}

fn hold(seed: u64, c: &Case) {
    let want = run(c, Engine::Unoptimized, false);
    // Whoever watches is told of each texel by itself.
    let watched = run(c, Engine::Unoptimized, true);
    let got = run(c, Engine::Native, false);
    let about =
        || format!("case {seed}: {:?} {:?} SIMD{} to {:?}\n{}", c.desc, c.sampler, c.simd, c.out, c.text);
    for (what, other) in [("watched", &watched), ("native", &got)] {
        if let Some(k) = (0..want.0.len()).find(|k| want.0[*k] != other.0[*k]) {
            let k = k & !3;
            let f = |b: &[u8]| u32::from_le_bytes([b[k], b[k + 1], b[k + 2], b[k + 3]]);
            let (is, should) = (f(&other.0), f(&want.0));
            let [a, b] = [is, should].map(f32::from_bits);
            panic!("{what}: dword {k:#x} is {is:#x}, {a:e}, not {should:#x}, {b:e}; {}", about());
        }
        let byte = (0..want.1.len()).find(|k| want.1[*k] != other.1[*k]);
        assert!(byte.is_none(), "{what}: byte {byte:?} of the written image; {}", about());
    }
    let left = run(c, Engine::Native, true).2;
    if cfg!(target_arch = "x86_64") && !c.srgb {
        assert_eq!(left, Some(Vec::new()), "left to the interpreter; {}", about());
    }
}

/// Whether a launch may have such an image and sampler.
fn sampled(format: ImageFormat, sampler: Sampler) -> bool {
    let wraps = matches!(sampler.addressing, Addressing::Repeat | Addressing::MirroredRepeat);
    !(sampler.linear && format.channel_type().is_int()) && (sampler.normalized || !wraps)
}

fn samplers() -> Vec<Sampler> {
    let flags = [(false, false), (false, true), (true, false), (true, true)];
    let all = Addressing::ALL.into_iter();
    all.flat_map(|a| flags.map(|(linear, normalized)| Sampler::new(a, linear, normalized))).collect()
}

#[test]
fn the_same_texels_from_both() {
    // Each format with each sampler; shapes and all else as they come.
    let mut seed = 0;
    let mut r = Random(7);
    for format in formats() {
        for sampler in samplers().into_iter().filter(|s| sampled(format, *s)) {
            seed += 1;
            if SHARE > 1 && r.below(SHARE) != 0 {
                continue;
            }
            let shape = r.one_of(&SHAPES);
            hold(seed, &case(seed, format, shape, sampler));
        }
    }
}

#[test]
fn every_shape_with_every_sampler() {
    let mut seed = 1 << 32;
    let of = |o, t| ImageFormat::new(o, t).expect("a format");
    use {ChannelOrder as O, ChannelType as T};
    for format in [of(O::Rgba, T::Unorm8), of(O::R, T::Unorm8), of(O::Rgba, T::Float), of(O::Rg, T::Half)] {
        for shape in SHAPES {
            for sampler in samplers().into_iter().filter(|s| sampled(format, *s)) {
                seed += 1;
                hold(seed, &case(seed, format, shape, sampler));
            }
        }
    }
}

/// Rectangles of bytes, inside of images and over their edges.
fn rectangles(seed: u64) -> Case {
    let mut r = Random(seed);
    let (order, ty) = r.one_of(&[
        (ChannelOrder::R, ChannelType::Uint32),
        (ChannelOrder::Rgba, ChannelType::Unorm8),
        (ChannelOrder::R, ChannelType::Uint8),
        (ChannelOrder::Rgba, ChannelType::Float),
    ]);
    let format = ImageFormat::new(order, ty).expect("a format");
    let texel = format.texel_bytes() as u32;
    let width = 16 / texel + r.below(200 / texel);
    let mut desc = ImageDesc::packed(ImageShape::D2, [width.next_multiple_of(4), 1 + r.below(30), 1], format);
    if r.below(2) == 0 {
        desc.row_pitch = desc.row_bytes() as u32 + 4 * r.below(4);
    }
    let mut text = String::from(".version 3.6\n.kernel \"texels\"\n.kernel_attr Target=\"cm\"\n");
    text.push_str(".kernel_attr SimdSize=16\n.decl D v_type=G type=ud num_elts=64 align=wordx32\n");
    text.push_str(".decl X v_type=G type=d num_elts=1 align=dword\n");
    text.push_str(".decl Y v_type=G type=d num_elts=1 align=dword\n");
    text.push_str(
        ".decl T6 v_type=T num_elts=1\n.decl T7 v_type=T num_elts=1\n.decl T8 v_type=T num_elts=1\n",
    );
    text.push_str(".input T6 offset=96 size=4\n.function \"texels_main\"\n");
    let (from, to) = (desc.row_bytes() as u32 / 4, desc.height + 4);
    for _ in 0..MESSAGES {
        let width = r.one_of(&[4, 8, 12, 16, 32, 48, 64]);
        let most = 256 / u32::next_power_of_two(width);
        let height = 1 + r.below(most.min(8));
        // Somewhere else in each group.
        for (name, n, scale) in [("X", from, 4), ("Y", to, 1)] {
            let (a, b) = (1 + r.below(40), r.below(n));
            let n = n.next_power_of_two() - 1;
            let _ = writeln!(text, "mul (M1_NM, 1) {name}(0,0)<1> %r0(0,1)<0;1,0> {a:#x}:d");
            let _ = writeln!(text, "add (M1_NM, 1) {name}(0,0)<1> {name}(0,0)<0;1,0> {b:#x}:d");
            let _ = writeln!(text, "and (M1_NM, 1) {name}(0,0)<1> {name}(0,0)<0;1,0> {n:#x}:d");
            let before = r.one_of(&[0, 0, 2]);
            let _ = writeln!(text, "add (M1_NM, 1) {name}(0,0)<1> {name}(0,0)<0;1,0> -{before}:d");
            let _ = writeln!(text, "mul (M1_NM, 1) {name}(0,0)<1> {name}(0,0)<0;1,0> {scale}:d");
        }
        let block = format!("({width},{height})");
        let at = "X(0,0)<0;1,0> Y(0,0)<0;1,0> D.0";
        text.push_str("movs (M1_NM, 1) T7(0) 0x7:ud\nmovs (M1_NM, 1) T8(0) 0x8:ud\n");
        let _ = writeln!(text, "media_ld.nomod {block} T7 0 {at}");
        for k in 0..8 {
            let _ = writeln!(text, "add (M1_NM, 8) D({k},0)<1> D({k},0)<1;1,0> 0x10203:ud");
        }
        let _ = writeln!(text, "media_st.nomod {block} T8 0 {at}");
    }
    let _ = writeln!(text, "ret (M1, 1)");
    let texels = (0..desc.bytes()).map(|_| r.next() as u8).collect();
    let sampler = Sampler::new(Addressing::None, false, false);
    Case { text, simd: 16, desc, sampler, content: vec![0; 64], texels, out: desc, srgb: false }
}

#[test]
fn the_same_rectangles_from_both() {
    for seed in 0..100 {
        hold(seed, &rectangles(seed));
    }
}

/// A rectangle may be written at whole dwords only: the same thread faults, after the same writes.
#[test]
fn the_same_fault_from_both() {
    let c = rectangles(0);
    let head = c.text.split_once("_main\"\n").expect("a function").0;
    let text = format!(
        "{head}_main\"\nmul (M1_NM, 1) X(0,0)<1> %r0(0,1)<0;1,0> 0x4:d
shr (M1_NM, 1) Y(0,0)<1> %r0(0,1)<0;1,0> 0x3:d
add (M1_NM, 1) X(0,0)<1> X(0,0)<0;1,0> Y(0,0)<0;1,0>
mov (M1_NM, 1) Y(0,0)<1> 0x0:d
movs (M1_NM, 1) T7(0) 0x7:ud
movs (M1_NM, 1) T8(0) 0x8:ud
media_ld.nomod (4,1) T7 0 X(0,0)<0;1,0> Y(0,0)<0;1,0> D.0
media_st.nomod (4,1) T8 0 X(0,0)<0;1,0> Y(0,0)<0;1,0> D.0
ret (M1, 1)\n"
    );
    let format = ImageFormat::new(ChannelOrder::R, ChannelType::Uint32).expect("a format");
    let desc = ImageDesc::packed(ImageShape::D2, [20, 2, 1], format);
    let c = Case { text, desc, out: desc, texels: (0..160).collect(), ..c };
    let [want, got] = [Engine::Unoptimized, Engine::Native].map(|engine| {
        let (outcome, _, written) = launch(&c, engine, false);
        (format!("{:?}", outcome.fault.expect("the ninth group's thread is not aligned")), written)
    });
    assert_eq!(want, got);
    assert!(want.1[..32].iter().copied().eq(0..32) && want.1[32..].iter().all(|x| *x == 0), "{want:?}");
}
