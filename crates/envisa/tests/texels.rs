//! Images and samplers of all kinds, at coordinates of all kinds: native code finds the texels that the interpreter
//! finds, mixes them to the same bits, and writes the same bytes.

use std::fmt::Write as _;

use envisa::isa::Platform;
use envisa::{
    Addressing, ArgKey, ChannelOrder, ChannelType, Config, Device, Engine, ImageDesc, ImageFormat,
    ImageShape, Launch, Module, Sampler, Source,
};

/// Groups of one thread: what a message finds at its first execution is known at the next one.
const GROUPS: u32 = 12;
/// Messages of a program.
const MESSAGES: u32 = 3;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u32) -> u32 {
        (self.next() >> 32) as u32 % n
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u32) as usize]
    }

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
}

const RGBA8: (u32, u32) = (0x10b5, 0x10d2);
/// Kinds of texels: the first three have native code.
const FORMATS: [(u32, u32); 6] =
    [RGBA8, (0x10b6, 0x10d2), (0x10b0, 0x10d2), (0x10b2, 0x10d2), (0x10b5, 0x10dd), (0x10b0, 0x10de)];

fn case(seed: u64) -> Case {
    let mut r = Random(seed);
    let simd = r.one_of(&[8, 16, 16]);
    let format = FORMATS[if r.below(6) == 0 { 3 + r.below(3) } else { r.below(3) } as usize];
    let deep = r.below(2) == 0;
    let most = r.one_of(&[2, 5, 20]);
    let mut size = [1 + r.below(most), 1 + r.below(most), 1 + r.below(most)];
    let shape = if deep { ImageShape::D3 } else { ImageShape::D2 };
    if !deep {
        size[2] = 1;
    }
    let of = |(order, ty): (u32, u32)| {
        let (order, ty) = (ChannelOrder::from_cl(order), ChannelType::from_cl(ty));
        ImageFormat::new(order.expect("an order"), ty.expect("a type")).expect("a format")
    };
    let mut desc = ImageDesc::packed(shape, size, of(format));
    if r.below(2) == 0 {
        desc.row_pitch = desc.row_bytes() as u32 + 4 * r.below(4);
    }
    let addressing = r.one_of(&Addressing::ALL);
    let wraps = matches!(addressing, Addressing::Repeat | Addressing::MirroredRepeat);
    let normalized = wraps || r.below(2) == 0;
    let sampler = Sampler::new(addressing, r.below(4) != 0, normalized);
    let out = ImageDesc::packed(ImageShape::D2, [19, 13, 1], of(r.one_of(&FORMATS[..2])));

    let mut text = String::from(".version 3.6\n.kernel \"texels\"\n.kernel_attr Target=\"cm\"\n");
    let _ = writeln!(text, ".kernel_attr SimdSize={simd}");
    for (name, ty, n) in [
        ("Lane", "uw", 16),
        ("At", "ud", simd),
        ("U", "f", simd),
        ("V", "f", simd),
        ("R", "f", simd),
        ("X", "d", simd),
        ("Y", "d", simd),
        ("D", "f", 4 * simd),
    ] {
        let _ = writeln!(text, ".decl {name} v_type=G type={ty} num_elts={n} align=wordx32");
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
    let m = format!("(M1, {simd})");
    // What a group reads and writes: for each message three rows of coordinates, and four of texels.
    let row = 4 * simd;
    let bytes = MESSAGES * 7 * row;
    let _ = writeln!(text, "mul (M1_NM, 1) First(0,0)<1> %r0(0,1)<0;1,0> {bytes:#x}:ud");
    let channels = ["RGBA", "R", "GA", "RGBA"];
    for _ in 0..MESSAGES {
        let _ = writeln!(text, "shl {m} At(0,0)<1> Lane(0,0)<1;1,0> 0x2:ud");
        let _ = writeln!(text, "add {m} At(0,0)<1> At(0,0)<1;1,0> First(0,0)<0;1,0>");
        for name in ["U", "V", "R"] {
            let _ = writeln!(text, "gather4_scaled.R {m} T6 0x0:ud At.0 {name}.0");
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
        let third = if deep { " R.0" } else { "" };
        let channels = r.one_of(&channels);
        let op = r.one_of(&["sample_lz", "sample_3d"]);
        text.push_str("movs (M1_NM, 1) T7(0) 0x7:ud\nmovs (M1_NM, 1) S0(0) 0x0:ud\n");
        let _ = writeln!(text, "{p}{op}.{channels} {m} 0x0:uw S0 T7 D.0 U.0 V.0{third}");
        for k in 0..4 {
            let _ = writeln!(text, "mov {m} U(0,0)<1> D({},0)<1;1,0>", k * simd / 8);
            let _ = writeln!(text, "scatter4_scaled.R {m} T6 0x0:ud At.0 U.0");
            let _ = writeln!(text, "add {m} At(0,0)<1> At(0,0)<1;1,0> {row:#x}:ud");
        }
        let _ = writeln!(text, "add (M1_NM, 1) First(0,0)<1> First(0,0)<0;1,0> {:#x}:ud", 7 * row);
        if simd == 8 && r.below(3) != 0 {
            // Places in a row, and others; outside of the image now and then.
            let _ = writeln!(text, "mov {m} X(0,0)<1> Lane(0,0)<1;1,0>");
            let step = r.one_of(&[1, 1, 2, 3]);
            let _ = writeln!(text, "mul {m} X(0,0)<1> X(0,0)<1;1,0> {step:#x}:d");
            let _ = writeln!(text, "add {m} X(0,0)<1> X(0,0)<1;1,0> %r0(0,1)<0;1,0>");
            let y = r.below(13);
            let _ = writeln!(text, "mov {m} Y(0,0)<1> {y:#x}:d");
            let _ = writeln!(text, "mul {m} D(0,0)<1> D(0,0)<1;1,0> 0x3f90a3d7:f");
            let _ = writeln!(text, "add {m} D(1,0)<1> D(1,0)<1;1,0> 0xbf000000:f");
            text.push_str("movs (M1_NM, 1) T8(0) 0x8:ud\n");
            let _ = writeln!(text, "{p}scatter4_typed.RGBA {m} T8 X.0 Y.0 %null.0 %null.0 D.0");
        }
    }
    let _ = writeln!(text, "ret (M1, 1)");
    let mut content = Vec::new();
    for _ in 0..GROUPS * MESSAGES {
        // All channels side by side, as most have them, or anywhere.
        let rows = r.below(3) == 0;
        for size in size {
            let first = r.coordinate(size, normalized);
            let step = if normalized { 0.7 / size as f32 } else { 0.7 };
            for k in 0..simd {
                let x = if rows { first + k as f32 * step } else { r.coordinate(size, normalized) };
                content.extend(x.to_bits().to_le_bytes());
            }
        }
        content.extend((0..4 * row).map(|_| 0));
    }
    let texels =
        (0..desc.bytes()).map(|_| r.next() as u8 & if format.1 == 0x10d2 { 255 } else { 0x3b }).collect();
    Case { text, simd, desc, sampler, content, texels, out }
}

/// What the buffer and the written image hold in the end; what native code left to the interpreter, in lines.
fn run(c: &Case, engine: Engine, statistics: bool) -> (Vec<u8>, Vec<u8>, Option<usize>) {
    let device = Device::new(Config::new(Platform::Skl).memory(1 << 22).threads(1));
    let module = Module::load(&device, "texels", Source::Text(c.text.as_bytes()))
        .unwrap_or_else(|e| panic!("{e}\n{}", c.text));
    let kernel = module.kernel("texels").expect("it is there");
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
    assert!(outcome.fault.is_none(), "{:?}\n{}", outcome.fault, c.text);
    let native = outcome.statistics.and_then(|s| s.native).map(|n| n.left.len());
    (buffer.to_vec(), written.to_vec(), native)
}

#[test]
fn the_same_texels_from_both() {
    let mut whole = 0;
    for seed in 0..160 {
        let c = case(seed);
        let want = run(&c, Engine::Interpreter, false);
        // Whoever watches is told of each texel by itself.
        let watched = run(&c, Engine::Interpreter, true);
        let got = run(&c, Engine::Native, false);
        let about = || format!("case {seed}: {:?} {:?} SIMD{}\n{}", c.desc, c.sampler, c.simd, c.text);
        for (what, other) in [("watched", &watched), ("native", &got)] {
            if let Some(k) = (0..want.0.len()).find(|k| want.0[*k] != other.0[*k]) {
                let k = k & !3;
                let f = |b: &[u8]| f32::from_le_bytes([b[k], b[k + 1], b[k + 2], b[k + 3]]);
                panic!("{what}: byte {k} is {:e}, not {:e}; {}", f(&other.0), f(&want.0), about());
            }
            assert!(want.1 == other.1, "{what}: the written image; {}", about());
        }
        whole += usize::from(run(&c, Engine::Native, true).2 == Some(0));
    }
    assert!(whole > 100 || !cfg!(target_arch = "x86_64"), "{whole} have nothing but native code");
}
