//! Random descriptors, registers and addresses: whatever they are, a message ends in a fault or does what it
//! told, inside the memory it was given. Debug builds check every register access, too.

use envisa_isa::operation::{Parameter, Sampling};
use envisa_isa::{Modifier, Platform, Type};
use envisa_lower::{
    Atomic, Block as Consecutive, Block2d, Coordinates, Extend, Info, Media, Message, Outside, Pixels, Raw,
    RawShape, Sample, SampleParameter, SamplerState, Simt, Space, Src, TexelSlot, Typed, TypedAtomic, Urb,
};
use envisa_sem::sampler::{Addressing, Compare, Reduction};

use super::*;
use crate::dispatch::Sampler;
use crate::memory::{Image, ImageShape};
use crate::messages::{AccessKind, AccessSpace};

/// Offsets of registers: mostly inside, around the end, anywhere.
fn register(rng: &mut Rng) -> u32 {
    match rng.below(16) {
        0 => FILE - rng.below(300) as u32,
        1 => rng.next() as u32,
        _ => rng.below(FILE as u64 - 4096) as u32,
    }
}

fn maybe(rng: &mut Rng) -> Option<u32> {
    (rng.below(8) != 0).then(|| register(rng))
}

fn source(rng: &mut Rng) -> Src {
    use Type::*;
    let ty = [Ud, D, Uq, Q, Uw, W, Ub, B, F][rng.below(9) as usize];
    let modifier = [Modifier::None, Modifier::Neg, Modifier::Abs, Modifier::Not][rng.below(4) as usize];
    match rng.below(12) {
        0 => Src::None,
        1 => Src::Pred { offset: register(rng), invert: false },
        2 => Src::Indirect {
            address: register(rng),
            bytes: rng.next() as i16,
            per_address_log2: 0,
            ty,
            strides: envisa_lower::Strides::SCALAR,
            modifier,
        },
        _ => match scalar(register(rng), ty) {
            Src::Reg { offset, ty, strides, shape, constant, .. } => {
                Src::Reg { offset, ty, strides, shape, modifier, constant }
            }
            other => other,
        },
    }
}

fn space(rng: &mut Rng) -> Space {
    let handle = if rng.below(3) == 0 { source(rng) } else { ud(HANDLE) };
    match rng.below(9) {
        8 => [Space::Counter(handle), Space::HandleCounter(handle)][rng.below(2) as usize],
        0 | 1 => Space::Flat,
        2 => Space::Slm,
        3 => Space::Bti(handle),
        4 => Space::Bindless(handle),
        5 => Space::GeneralState,
        6 => Space::Scratch(handle),
        _ => Space::Arguments,
    }
}

fn size(rng: &mut Rng) -> u8 {
    [1, 2, 4, 8, 8, 4, 4, 3, 0][rng.below(9) as usize]
}

/// A stride or a length: mostly what a message has.
fn length(rng: &mut Rng) -> u32 {
    match rng.below(12) {
        0 => 0,
        1 => rng.next() as u32,
        2 => rng.below(100) as u32,
        _ => 32 << rng.below(4),
    }
}

fn coordinates(rng: &mut Rng) -> Coordinates {
    Coordinates {
        at: std::array::from_fn(|_| maybe(rng)),
        bytes: size(rng),
        offsets: if rng.below(2) == 0 { Src::None } else { source(rng) },
    }
}

fn typed(rng: &mut Rng) -> Typed {
    Typed {
        space: space(rng),
        write: rng.below(2) == 0,
        coordinates: coordinates(rng),
        channels: rng.below(20) as u8,
        slot: [TexelSlot::Dword, TexelSlot::Word, TexelSlot::Half][rng.below(3) as usize],
        data: maybe(rng),
        component_stride: length(rng),
        outside: [Outside::Zero, Outside::AlphaOne, Outside::Border][rng.below(3) as usize],
        null_mask: rng.below(4) == 0,
        sample: if rng.below(2) == 0 { None } else { maybe(rng) },
        clamp: rng.below(2) == 0,
    }
}

fn simt(rng: &mut Rng) -> Simt {
    let element = size(rng);
    let any = Simt {
        space: space(rng),
        write: rng.below(2) == 0,
        address: register(rng),
        address_bytes: size(rng),
        extend: Extend::None,
        origin: Src::None,
        stride: if rng.below(4) == 0 { source(rng) } else { Src::None },
        base: if rng.below(2) == 0 { source(rng) } else { Src::None },
        scale: [1, 1, 2, 4, 0, u32::MAX, rng.next() as u32][rng.below(7) as usize],
        offset: [0, 0, 16, -16, rng.next() as i64][rng.below(5) as usize],
        align: [1, 1, 4, 8, 0, 3][rng.below(6) as usize],
        element,
        slot: if rng.below(2) == 0 { element.max(4) } else { size(rng) },
        upper: rng.below(6) == 0,
        elements: [1, 1, 3, 7, 15, 5, 0xff, rng.next(), 0, u64::MAX][rng.below(10) as usize],
        data: maybe(rng),
        component_stride: length(rng),
    };
    match rng.below(6) {
        0 => Simt { elements: 3, element: 4, slot: 8, component_stride: 4, upper: false, ..any },
        _ => any,
    }
}

fn sample(rng: &mut Rng) -> Sample {
    use Parameter::*;
    const ALL: [Parameter; 15] = [
        U,
        V,
        R,
        ArrayIndex,
        Bias,
        Lod,
        MinLod,
        Reference,
        Gradient,
        OffsetU,
        OffsetV,
        Offsets,
        LevelOffsets,
        WideOffsets,
        LevelWideOffsets,
    ];
    let mut parameters = Vec::new();
    let mut names = vec![U, V, R, ArrayIndex];
    for _ in 0..rng.below(6) {
        names.push(ALL[rng.below(15) as usize]);
    }
    for what in names {
        let bytes = if rng.below(8) == 0 { size(rng) } else { [2, 4][rng.below(2) as usize] };
        parameters.push(SampleParameter { what, at: maybe(rng), bytes });
    }
    let state = if rng.below(8) == 0 { source(rng) } else { ud(SAMPLER) };
    Sample {
        space: if rng.below(3) == 0 { space(rng) } else { Space::Table(7) },
        state: if rng.below(4) == 0 { SamplerState::Handle(state) } else { SamplerState::Index(state) },
        what: [Sampling::Filter, Sampling::Base, Sampling::Gather, Sampling::LevelOfDetail]
            [rng.below(4) as usize],
        parameters,
        offsets: if rng.below(2) == 0 { Src::None } else { source(rng) },
        gathered: rng.below(6) as u8,
        channels: rng.below(20) as u8,
        slot: [TexelSlot::Dword, TexelSlot::Word, TexelSlot::Half][rng.below(3) as usize],
        data: maybe(rng),
        component_stride: length(rng),
        null_mask: rng.below(4) == 0,
    }
}

/// Where the index or handle of a sampler is, and descriptors of raw messages.
const SAMPLER: u32 = 136;
const DESCRIPTORS: u32 = 8000;

/// Functions and descriptors of messages that there are.
const KNOWN: [(u8, u32); 12] = [
    (0xa, 0x0228_0303),
    (0xa, 0x020a_0303),
    (0xc, 0x0460_5803),
    (0xc, 0x0402_5c02),
    (0xa, 0x0421_0902),
    (0xc, 0x0420_a702),
    (0xc, 0x0414_a7ff),
    (0xf, 0x0820_0580),
    (0xf, 0x0880_3580),
    (0xf, 0x0220_d580),
    (0xf, 0x0800_0584),
    (0xf, 0x0820_058c),
];

/// A raw message, whose descriptors are often those of one that there is.
fn raw(rng: &mut Rng) -> Raw {
    let function = KNOWN[rng.below(12) as usize].0;
    let operand = |rng: &mut Rng| (maybe(rng), 32 * rng.below(20) as u32);
    Raw {
        function: [Some(function), Some(rng.below(16) as u8), None][rng.below(3) as usize],
        descriptor: ud(DESCRIPTORS + 4 * rng.below(16) as u32),
        extended: if rng.below(4) == 0 { source(rng) } else { Src::None },
        extended_field: [0, rng.next() as u32][rng.below(2) as usize],
        shape: RawShape {
            payloads: [operand(rng), operand(rng)],
            response: operand(rng),
            channels: [1, 2, 4, 8, 16, 32][rng.below(6) as usize],
            platform: [Platform::Skl, Platform::Tgllp, Platform::Dg2, Platform::Pvc, Platform::Xe2]
                [rng.below(5) as usize],
        },
    }
}

/// Samplers of every kind, among them those that no message may use.
fn samplers(rng: &mut Rng) -> Vec<Option<Sampler>> {
    let mut all = Vec::new();
    for addressing in Addressing::ALL {
        for linear in [false, true] {
            for normalized in [false, true] {
                let mut s = Sampler::new(addressing, linear, normalized);
                s.compare = [None, Some(Compare::Less)][rng.below(2) as usize];
                s.reduction =
                    [Reduction::Average, Reduction::Minimum, Reduction::Maximum][rng.below(3) as usize];
                s.border = [None, Some([rng.next() as u32; 4])][rng.below(2) as usize];
                all.push([Some(s), Some(s), Some(s), None][rng.below(4) as usize]);
            }
        }
    }
    all
}

fn atomic(rng: &mut Rng) -> Atomic {
    Atomic {
        space: space(rng),
        code: rng.below(48) as u8,
        lsc: rng.below(2) == 0,
        element: size(rng),
        slot: size(rng),
        address: register(rng),
        address_bytes: size(rng),
        extend: Extend::None,
        origin: Src::None,
        base: if rng.below(2) == 0 { source(rng) } else { Src::None },
        scale: [1, 4, rng.next() as u32][rng.below(3) as usize],
        offset: [0, rng.next() as i64][rng.below(2) as usize],
        src: [maybe(rng), maybe(rng)],
        dst: maybe(rng),
    }
}

fn block2d(rng: &mut Rng) -> Block2d {
    let (width, height) = (1 + rng.below(18) as u32, 1 + rng.below(18) as u32);
    let transpose = rng.below(3) == 0;
    let row = if transpose { height } else { width }.next_power_of_two();
    Block2d {
        offsets: (0, 0),
        write: rng.below(2) == 0,
        base: source(rng),
        surface_width: source(rng),
        surface_height: source(rng),
        surface_pitch: source(rng),
        x: source(rng),
        y: source(rng),
        element: size(rng),
        blocks: 1 + rng.below(3) as u32,
        width,
        height,
        transpose,
        vnni: rng.below(3) == 0,
        data: maybe(rng),
        row_pitch: if rng.below(4) == 0 { length(rng) } else { row },
        block_pitch: if rng.below(4) == 0 { length(rng) } else { row * width.max(height) },
    }
}

fn message(rng: &mut Rng) -> Message {
    match rng.below(17) {
        15 => Message::Pixels(Pixels {
            space: if rng.below(3) == 0 { space(rng) } else { Space::Table(7) },
            header: register(rng),
            colours: std::array::from_fn(|_| maybe(rng)),
            half: rng.below(2) == 0,
            mask: if rng.below(2) == 0 { None } else { maybe(rng) },
        }),
        16 => Message::Urb(Urb {
            handles: register(rng),
            offset: [0, 3, rng.next() as u32][rng.below(3) as usize],
            offsets: if rng.below(2) == 0 { None } else { maybe(rng) },
            masks: if rng.below(2) == 0 { None } else { maybe(rng) },
            rows: rng.below(10) as u8,
            stride: length(rng),
            data: maybe(rng),
        }),
        12 | 13 => Message::Sample(sample(rng)),
        14 => Message::Raw(raw(rng)),
        0..=3 => Message::Simt(simt(rng)),
        4 => Message::Status(simt(rng)),
        5 => Message::Block(Consecutive {
            space: space(rng),
            write: rng.below(2) == 0,
            address: source(rng),
            scale: [1, 16, rng.next() as u32][rng.below(3) as usize],
            offset: [0, 16, rng.next() as i64][rng.below(3) as usize],
            origin: if rng.below(2) == 0 { source(rng) } else { Src::None },
            wraps: rng.below(2) == 0,
            align: [1, 4, 16, 0, 3][rng.below(5) as usize],
            bytes: length(rng),
            data: maybe(rng),
            masked: rng.below(2) == 0,
        }),
        6 => Message::Atomic(atomic(rng)),
        7 => Message::Typed(typed(rng)),
        8 => match rng.below(2) {
            0 => Message::TypedStatus(typed(rng)),
            _ => Message::TypedAtomic(TypedAtomic {
                space: space(rng),
                coordinates: coordinates(rng),
                code: rng.below(48) as u8,
                lsc: rng.below(2) == 0,
                element: size(rng),
                slot: size(rng),
                src: [maybe(rng), maybe(rng)],
                dst: maybe(rng),
            }),
        },
        9 => Message::Media(Media {
            space: space(rng),
            write: rng.below(2) == 0,
            width: rng.below(70) as u8,
            height: rng.below(70) as u8,
            pitch: rng.below(80) as u8,
            x: source(rng),
            y: source(rng),
            lines: (rng.below(3) as u8, rng.below(3) as u8),
            align: [1, 4, 0][rng.below(3) as usize],
            zero_outside: rng.below(2) == 0,
            data: maybe(rng),
        }),
        10 => Message::Block2d(block2d(rng)),
        _ => Message::Info(Info {
            space: space(rng),
            samples: rng.below(2) == 0,
            channels: rng.below(20) as u8,
            lod: maybe(rng),
            data: maybe(rng),
            component_stride: length(rng),
        }),
    }
}

/// Fills the file with addresses, offsets and small numbers, many of them of what there is.
fn registers(rig: &mut Rig, rng: &mut Rng) {
    let bases = [rig.base(0), rig.base(1)];
    for at in (0..FILE).step_by(8) {
        let near = bases[rng.below(2) as usize].wrapping_add(rng.below(2100)).wrapping_sub(50);
        let small = rng.below(600) | rng.below(600) << 32;
        let x = [near & !7, near, small & !0x3_0000_0003, small, rng.next(), u64::MAX - rng.below(64)];
        rig.regs.set(at, x[rng.below(6) as usize]);
    }
    let handle =
        [BTI, 7, 9, SurfaceTable::handle(BTI).unwrap_or(0), SurfaceTable::handle(7).unwrap_or(0), 0x40];
    rig.regs.set(HANDLE, handle[rng.below(6) as usize]);
    for k in 0..16 {
        let mut desc = KNOWN[rng.below(12) as usize].1;
        for _ in 0..rng.below(4) {
            desc ^= 1 << rng.below(32);
        }
        rig.regs.set(DESCRIPTORS + 4 * k, desc);
    }
    // Mostly one that there is.
    rig.regs
        .set(SAMPLER, [rng.below(24) as u32, Sampler::handle(rng.below(20) as u32)][rng.below(2) as usize]);
}

/// An image whose facts need not fit its allocation.
fn image(rig: &mut Rig, rng: &mut Rng) {
    use ImageShape::*;
    let shapes = [D1, D1Array, D2, D2Array, D3, Cube];
    let (order, ty, texel) =
        [(0x10b5, 0x10d2, 4), (0x10b0, 0x10dc, 4), (0x10b5, 0x10de, 16), (0x10b0, 0x10d2, 1)]
            [rng.below(4) as usize];
    let wild = rng.below(3) == 0;
    let mut some =
        |n: u64| if wild { rng.next() as u32 >> (rng.next() % 32) } else { 1 + rng.below(n) as u32 };
    let (width, height, depth) = (some(8), some(8), some(4));
    let row_pitch = some(32).saturating_add(width.saturating_mul(texel));
    let slice_pitch = some(64) as u64 + height as u64 * row_pitch as u64;
    let shape = shapes[rng.below(6) as usize];
    let channel_type = if rng.below(10) == 0 { rng.next() as u32 } else { ty };
    rig.surfaces.bind_surface(
        &rig.memory,
        7,
        Surface::Image(Image {
            shape,
            width,
            height,
            depth,
            samples: [1, 1, 4, rng.next() as u32][rng.below(4) as usize],
            levels: [1, 1, 3, rng.next() as u32][rng.below(4) as usize],
            row_pitch,
            slice_pitch,
            channel_order: order,
            channel_type,
            texel_bytes: if rng.below(10) == 0 { rng.below(20) as u32 } else { texel },
            start: [0, 0, 16, rng.next() >> 40][rng.below(4) as usize],
            allocation: rig.ids[1],
        }),
    );
}

/// All memory, one after another.
fn memory(rig: &mut Rig) -> Vec<u8> {
    let s = rig.state();
    [&s.allocations[0][..], &s.allocations[1], &s.slm, &s.window].concat()
}

/// Where in [`memory`] an access lies that is not a read; `None` if it told no place.
fn written(rig: &Rig, a: &Access) -> Option<std::ops::Range<usize>> {
    if a.kind == AccessKind::Read {
        return None;
    }
    let n = a.bytes as usize;
    match (a.space, a.place) {
        (AccessSpace::Slm, _) => Some(3000 + a.address as usize..3000 + a.address as usize + n),
        (AccessSpace::State, _) => Some(3512..3512 + 4096),
        (_, Some(place)) => {
            let i = (place >= rig.base(1)) as usize;
            let at = (place - rig.base(i)) as usize + 1000 * i;
            Some(at..at + n)
        }
        _ => None,
    }
}

#[test]
fn a_hundred_thousand_messages() {
    let mut rng = Rng(1);
    let mut rig = Rig::new(&mut rng);
    let (mut ran, mut faults, mut outside) = (0u32, 0u32, 0u32);
    let mut tries = 0u32;
    while ran < 100_000 {
        tries += 1;
        if tries % 16 == 1 {
            registers(&mut rig, &mut rng);
            image(&mut rig, &mut rng);
        }
        rig.grf = [32, 64][rng.below(2) as usize];
        rig.scratch = [0x400, 0, 0x1000, 0xffff_fc00, rng.next() as u32][rng.below(5) as usize];
        rig.implicit = [0x40, 0, 0xfff, rng.next() as u32][rng.below(4) as usize];
        let (m, channels) = (message(&mut rng), [1, 2, 4, 8, 16, 32, 32, 3][rng.below(8) as usize]);
        let mask = [u32::MAX, rng.next() as u32, 1, 0x5555_5555][rng.below(4) as usize];
        // What does not pass is not executed: the interpreter gives it another handler.
        if !m.is_inside(channels, rig.regs.len()) {
            continue;
        }
        ran += 1;
        let before = memory(&mut rig);
        let mut told: Vec<Access> = Vec::new();
        let samplers = samplers(&mut rng);
        let observed = rng.below(2) == 0;
        let result = {
            let ports = Ports {
                memory: &rig.memory.map(),
                slm: &rig.slm,
                window: &rig.window,
                surfaces: &rig.surfaces,
                samplers: &samplers,
                scratch: rig.scratch,
                scratch_bytes: [0x400, 0, u64::MAX][rng.below(3) as usize],
                implicit: rig.implicit,
                grf_bytes: rig.grf,
                layout: &rig.layout,
            };
            let mut site = Hint::default();
            if observed {
                execute(&m, &mut site, &mut rig.regs, mask, channels, &ports, &mut told)
            } else {
                execute(&m, &mut site, &mut rig.regs, mask, channels, &ports, &mut ())
            }
        };
        faults += result.is_err() as u32;
        outside += told.iter().filter(|a| a.outside).count().min(1) as u32;
        if observed {
            let after = memory(&mut rig);
            let mut open = vec![false; after.len()];
            for range in told.iter().filter_map(|a| written(&rig, a)) {
                let end = range.end.min(open.len());
                open[range.start.min(end)..end].fill(true);
            }
            for (i, (a, b)) in before.iter().zip(&after).enumerate() {
                assert!(a == b || open[i], "byte {i} changed, and nobody was told: {m:?} {told:?}");
            }
        }
    }
    // Enough of each, or the generator makes nothing of interest.
    assert!(
        tries < 4_000_000 && faults > 20_000 && ran - faults > 20_000 && outside > 2_000,
        "{tries} {ran} {faults} {outside}"
    );
}
