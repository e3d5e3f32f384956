//! Messages: raw sends of any bits, decoded, checked and executed on a small device.

use envisa::isa::Platform;
use envisa::{
    Addressing, ChannelOrder, ChannelType, Config, Device, Engine, ImageDesc, ImageFormat, ImageShape,
};
use envisa::{Error, Launch, Module, Outcome, Sampler, Source};

/// Bytes before the payload: platform, execution size, function, three lengths, flags (no mask, checked, the payload
/// is addresses in the buffer), engine, image (with samples, with levels) and sampler, descriptor, extended descriptor.
pub const HEADER: usize = 16;
/// Registers of a source and of the result.
const REGISTERS: usize = 16;
/// Bytes of the buffer and the image.
const BYTES: u64 = 1 << 12;

/// A message: platform, channels, function, registers of both sources and the result, descriptor, extended descriptor.
type Seed = (Platform, u8, u8, [u8; 3], u32, u32);

/// Messages that the seeds are: of the data caches, the load/store cache and the sampler.
pub const SEEDS: [Seed; 18] = [
    (Platform::Skl, 16, 0xa, [1, 0, 2], 0x0228_0303, 0x0),
    (Platform::Skl, 16, 0xa, [1, 2, 0], 0x020a_0303, 0x80),
    (Platform::Skl, 8, 0xa, [1, 0, 1], 0x0211_0003, 0x0),
    (Platform::Skl, 16, 0xa, [2, 0, 2], 0x0421_0903, 0x0),
    (Platform::Tgllp, 8, 0xa, [1, 1, 0], 0x0203_0403, 0x40),
    (Platform::Dg2, 1, 0xa, [1, 0, 0], 0x0219_e000, 0x0),
    (Platform::Tgllp, 16, 0xc, [1, 0, 2], 0x022d_03ff, 0x0),
    (Platform::Skl, 16, 0xc, [2, 0, 6], 0x0460_5803, 0x0),
    (Platform::Tgllp, 16, 0xc, [2, 2, 2], 0x0420_a703, 0x80),
    (Platform::Skl, 8, 0xc, [2, 1, 1], 0x0414_a7ff, 0x40),
    (Platform::Dg2, 16, 0xf, [4, 0, 2], 0x0820_0580, 0x0),
    (Platform::Dg2, 16, 0xf, [4, 0, 8], 0x0880_3580, 0x0),
    (Platform::Pvc, 16, 0xf, [2, 0, 1], 0x0410_0580, 0x0),
    (Platform::Dg2, 16, 0xf, [2, 0, 2], 0x6420_0900, 0x0300_0000),
    (Platform::Dg2, 1, 0xf, [1, 2, 0], 0x0200_c784, 0x80),
    (Platform::Dg2, 16, 0xf, [4, 2, 2], 0x0820_058c, 0x80),
    (Platform::Dg2, 8, 0xf, [1, 0, 0], 0x0210_011f, 0x0),
    (Platform::Dg2, 16, 0x2, [4, 0, 8], 0x0882_7000, 0x0),
];

/// A seed as the target's bytes.
pub fn seed(k: usize) -> Vec<u8> {
    let (platform, channels, function, [n0, n1, nd], descriptor, extended) = SEEDS[k % SEEDS.len()];
    let platform = Platform::ALL.iter().position(|p| *p == platform).expect("all are in ALL");
    let flat = function == 0xf || descriptor & 0xff == 0xff;
    let (flags, choice) = (u8::from(flat) << 2, (k / SEEDS.len()) as u8);
    let mut out = vec![platform as u8, channels.ilog2() as u8, function, n0, n1, nd, flags, choice];
    out.extend(descriptor.to_le_bytes());
    out.extend(extended.to_le_bytes());
    out.extend((0..64u32).flat_map(|i| (i * 4).to_le_bytes()));
    out
}

/// The kernel: the payload is an input, the message is sent, what it returns is there.
fn text(input: &[u8; HEADER], platform: Platform) -> String {
    let [_, size, function, n0, n1, nd, mask, _, rest @ ..] = *input;
    let word = |at: usize| u32::from_le_bytes([rest[at], rest[at + 1], rest[at + 2], rest[at + 3]]);
    let channels = 1 << (size % 6);
    let simd = if channels <= 8 { 8 } else { channels };
    let elements = REGISTERS * platform.grf_bytes() as usize / 4;
    let name = |n: u8, name: &str| if n == 0 { "%null.0".to_owned() } else { format!("{name}.0") };
    let of = |n: u8| n % (REGISTERS as u8 + 1);
    format!(
        ".version 4.1\n.kernel \"message\"\n.decl A v_type=G type=ud num_elts={elements} align=GRF\n\
         .decl B v_type=G type=ud num_elts={elements} align=GRF\n\
         .decl D v_type=G type=ud num_elts={elements} align=GRF\n\
         .decl S v_type=S num_elts=1\n.decl T6 v_type=T num_elts=1\n.decl T7 v_type=T num_elts=1\n\
         .input A offset=64 size={bytes}\n.input T6 offset=32 size=4\n.input T7 offset=36 size=4\n\
         .input S offset=40 size=4\n.kernel_attr SimdSize={simd}\n\
         mov (M1_NM,{all}) B(0,0)<1> A(0,0)<1;1,0>\n\
         raw_sends.{function}.{}.{}.{} (M1{},{channels}) 0x{:x}:ud 0x{:x}:ud {} {} {}\nret (M1_NM,1)\n",
        of(n0),
        of(n1),
        of(nd),
        if mask & 1 == 0 { "" } else { "_NM" },
        word(4),
        word(0),
        name(of(n0), "A"),
        name(of(n1), "B"),
        name(of(nd), "D"),
        bytes = elements * 4,
        all = platform.grf_bytes() / 4,
        function = function % 16,
    )
}

/// Whatever a message's bits are: it is executed, or an error says why not. The machine's memory is the launch's.
pub fn message(input: &[u8]) {
    match outcome(input) {
        Some(Ok(outcome)) => {
            if let Some(fault) = outcome.fault {
                assert!(!fault.to_string().is_empty());
            }
        }
        Some(Err(e)) => assert!(!e.to_string().is_empty()),
        None => {}
    }
}

/// Sends a message; `None` if the input is too short or the module is not accepted.
pub fn outcome(input: &[u8]) -> Option<Result<Outcome, Error>> {
    let (header, payload) = input.split_first_chunk::<HEADER>()?;
    let platform = Platform::ALL[header[0] as usize % Platform::ALL.len()];
    let engine = if header[7] & 1 == 0 { Engine::Native } else { Engine::Interpreter };
    let device = Device::new(Config::new(platform).memory(1 << 20).threads(1).engine(engine));
    let text = text(header, platform);
    let Ok(module) = Module::load(&device, "message.visaasm", Source::Text(text.as_bytes())) else {
        return None;
    };
    let kernel = module.kernel("message").expect("the kernel is in the module");
    let buffer = device.buffer("buffer", BYTES).expect("a buffer fits");
    let texels = device.buffer("texels", BYTES).expect("an image's buffer fits");
    let shape = [ImageShape::D2, ImageShape::D3, ImageShape::D2Array][header[7] as usize / 2 % 3];
    let depth = if shape == ImageShape::D2 { 1 } else { 4 };
    let format = ImageFormat::new(ChannelOrder::Rgba, ChannelType::Unorm8).expect("a format of OpenCL");
    let (several, flat) = (header[7] & 0x10 != 0, shape != ImageShape::D3);
    let samples = if several && flat { 4 } else { 1 };
    let levels = if header[7] & 0x20 != 0 && samples == 1 { 3 } else { 1 };
    let desc = ImageDesc { samples, levels, ..ImageDesc::packed(shape, [8, 8, depth], format) };
    let image = device.image(&desc, &texels).expect("an image of the buffer's size");
    let mut values = payload.to_vec();
    values.resize(REGISTERS * platform.grf_bytes() as usize, 0);
    if header[6] & 4 != 0 {
        for address in values.as_chunks_mut::<8>().0 {
            let offset = u64::from_le_bytes(*address) & (BYTES - 1);
            *address = (buffer.address() + offset).to_le_bytes();
        }
    }
    let launch = Launch::threads(&[1], 1)
        .arg("A", values)
        .arg("T6", &buffer)
        .arg("T7", &image)
        .arg("S", Sampler::new(Addressing::ClampToEdge, header[7] & 0x40 != 0, header[7] & 0x80 != 0))
        .local_memory(BYTES)
        .check(header[6] & 2 != 0)
        .limit(1000);
    Some(device.run(&kernel, &launch))
}
