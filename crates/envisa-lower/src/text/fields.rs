//! The fields of messages in text: each family's list is walked to print it, and to read it.

use envisa_isa::operation::{Parameter, Sampling};

use super::Names;
use crate::messages::*;
use crate::program::{RegOffset, Src};

/// What is done with the fields of a message, one after another. A field that has its usual value (the first of a
/// list of names, 0, none) is not in text.
pub trait Fields {
    /// What goes wrong.
    type Error;
    /// In text if it is true.
    fn visit_flag(&mut self, key: &'static str, value: &mut bool) -> Result<(), Self::Error>;
    /// A number other than `usual`.
    fn number<T: Number>(&mut self, key: &'static str, value: &mut T, usual: T) -> Result<(), Self::Error>;
    /// A place in the register file.
    fn place(&mut self, key: &'static str, value: &mut RegOffset) -> Result<(), Self::Error>;
    /// A register, if it is not `%null`.
    fn register(&mut self, key: &'static str, value: &mut Option<RegOffset>) -> Result<(), Self::Error>;
    /// A scalar.
    fn scalar(&mut self, key: &'static str, value: &mut Src) -> Result<(), Self::Error>;
    /// A memory.
    fn space(&mut self, value: &mut Space) -> Result<(), Self::Error>;
    /// One of several, always in text, without a key.
    fn word<T: Copy + PartialEq>(&mut self, value: &mut T, names: Names<T>) -> Result<(), Self::Error>;
    /// One of several.
    fn one_of<T: Copy + PartialEq>(
        &mut self,
        key: &'static str,
        value: &mut T,
        names: Names<T>,
    ) -> Result<(), Self::Error>;
}

/// Integers of fields.
pub trait Number: Copy + PartialEq {
    fn wide(self) -> i128;
    fn from_wide(wide: i128) -> Option<Self>;
}

macro_rules! numbers {
    ($($t:ty)*) => {$(
        impl Number for $t {
            fn wide(self) -> i128 {
                self.into()
            }

            fn from_wide(wide: i128) -> Option<Self> {
                wide.try_into().ok()
            }
        }
    )*};
}
numbers! { u8 u32 u64 i32 i64 }

/// The kinds of [`Extend`].
#[derive(Clone, Copy, PartialEq)]
enum Extension {
    None,
    Zero,
    Sign,
    Sum,
    Joined,
}

const EXTENSIONS: Names<Extension> = &[
    ("none", Extension::None),
    ("zero", Extension::Zero),
    ("sign", Extension::Sign),
    ("sum", Extension::Sum),
    ("joined", Extension::Joined),
];
const SLOTS: Names<TexelSlot> =
    &[("dword", TexelSlot::Dword), ("word", TexelSlot::Word), ("half", TexelSlot::Half)];
const OUTSIDE: Names<Outside> =
    &[("zero", Outside::Zero), ("alpha-one", Outside::AlphaOne), ("border", Outside::Border)];
const SAMPLINGS: Names<Sampling> = &[
    ("filter", Sampling::Filter),
    ("base", Sampling::Base),
    ("gather", Sampling::Gather),
    ("lod", Sampling::LevelOfDetail),
];
const PARAMETERS: Names<Parameter> = &[
    ("u", Parameter::U),
    ("v", Parameter::V),
    ("r", Parameter::R),
    ("array-index", Parameter::ArrayIndex),
    ("bias", Parameter::Bias),
    ("lod", Parameter::Lod),
    ("min-lod", Parameter::MinLod),
    ("reference", Parameter::Reference),
    ("gradient", Parameter::Gradient),
    ("offset-u", Parameter::OffsetU),
    ("offset-v", Parameter::OffsetV),
    ("offsets", Parameter::Offsets),
    ("level-offsets", Parameter::LevelOffsets),
    ("wide-offsets", Parameter::WideOffsets),
    ("level-wide-offsets", Parameter::LevelWideOffsets),
];

/// The families, each by its name and a message of it whose fields have their usual values.
pub fn blank(family: &str, platform: envisa_isa::Platform) -> Option<Message> {
    Some(match family {
        "simt" => Message::Simt(Simt::default()),
        "status" => Message::Status(Simt::default()),
        "block" => Message::Block(usual_block()),
        "atomic" => Message::Atomic(usual_atomic()),
        "typed" => Message::Typed(usual_typed()),
        "typed-status" => Message::TypedStatus(usual_typed()),
        "typed-atomic" => Message::TypedAtomic(TypedAtomic {
            space: Space::Flat,
            coordinates: usual_coordinates(),
            code: 0,
            lsc: false,
            element: 4,
            slot: 4,
            src: [None; 2],
            dst: None,
        }),
        "media" => Message::Media(usual_media()),
        "block2d" => Message::Block2d(usual_block2d()),
        "sample" => Message::Sample(usual_sample()),
        "info" => Message::Info(Info {
            space: Space::Flat,
            samples: false,
            channels: 15,
            lod: None,
            data: None,
            component_stride: 0,
        }),
        "pixels" => Message::Pixels(Pixels {
            space: Space::Flat,
            header: 0,
            colours: [None; 4],
            half: false,
            mask: None,
        }),
        "urb" => Message::Urb(Urb {
            handles: 0,
            offset: 0,
            offsets: None,
            masks: None,
            rows: 0,
            stride: 0,
            data: None,
        }),
        "raw" => Message::Raw(Raw {
            function: None,
            descriptor: Src::None,
            extended: Src::None,
            extended_field: 0,
            shape: RawShape { payloads: [(None, 0); 2], response: (None, 0), channels: 1, platform },
        }),
        _ => return None,
    })
}

fn usual_block() -> Block {
    Block {
        space: Space::Flat,
        write: false,
        address: Src::None,
        scale: 1,
        offset: 0,
        origin: Src::None,
        wraps: false,
        align: 1,
        bytes: 0,
        data: None,
        masked: false,
    }
}

fn usual_atomic() -> Atomic {
    Atomic {
        space: Space::Flat,
        code: 0,
        lsc: false,
        element: 4,
        slot: 4,
        address: 0,
        address_bytes: 8,
        extend: Extend::None,
        base: Src::None,
        scale: 1,
        offset: 0,
        origin: Src::None,
        src: [None; 2],
        dst: None,
    }
}

fn usual_media() -> Media {
    Media {
        space: Space::Flat,
        write: false,
        width: 0,
        height: 0,
        pitch: 0,
        x: Src::None,
        y: Src::None,
        lines: (0, 1),
        align: 1,
        zero_outside: false,
        data: None,
    }
}

fn usual_block2d() -> Block2d {
    Block2d {
        write: false,
        base: Src::None,
        surface_width: Src::None,
        surface_height: Src::None,
        surface_pitch: Src::None,
        x: Src::None,
        y: Src::None,
        offsets: (0, 0),
        element: 4,
        blocks: 1,
        width: 0,
        height: 0,
        transpose: false,
        vnni: false,
        data: None,
        row_pitch: 0,
        block_pitch: 0,
    }
}

fn usual_sample() -> Sample {
    Sample {
        space: Space::Flat,
        state: SamplerState::Index(Src::None),
        what: Sampling::Filter,
        parameters: Vec::new(),
        offsets: Src::None,
        gathered: 0,
        channels: 15,
        slot: TexelSlot::Dword,
        data: None,
        component_stride: 0,
        null_mask: false,
    }
}

fn usual_typed() -> Typed {
    Typed {
        space: Space::Flat,
        write: false,
        coordinates: usual_coordinates(),
        channels: 15,
        slot: TexelSlot::Dword,
        data: None,
        component_stride: 0,
        outside: Outside::Zero,
        null_mask: false,
        sample: None,
        clamp: false,
    }
}

fn usual_coordinates() -> Coordinates {
    Coordinates { at: [None; 4], bytes: 4, offsets: Src::None }
}

/// The name of a message's family.
pub fn family(m: &Message) -> &'static str {
    match m {
        Message::Simt(_) => "simt",
        Message::Status(_) => "status",
        Message::Block(_) => "block",
        Message::Atomic(_) => "atomic",
        Message::Typed(_) => "typed",
        Message::TypedStatus(_) => "typed-status",
        Message::TypedAtomic(_) => "typed-atomic",
        Message::Media(_) => "media",
        Message::Block2d(_) => "block2d",
        Message::Sample(_) => "sample",
        Message::Info(_) => "info",
        Message::Pixels(_) => "pixels",
        Message::Urb(_) => "urb",
        Message::Raw(_) => "raw",
    }
}

/// Walks the fields of a message.
pub fn walk<F: Fields>(m: &mut Message, f: &mut F) -> Result<(), F::Error> {
    match m {
        Message::Simt(s) | Message::Status(s) => visit_simt_fields(s, f),
        Message::Block(b) => block(b, f),
        Message::Atomic(a) => atomic(a, f),
        Message::Typed(t) | Message::TypedStatus(t) => visit_typed_fields(t, f),
        Message::TypedAtomic(a) => typed_atomic(a, f),
        Message::Media(m) => visit_media_fields(m, f),
        Message::Block2d(b) => visit_block2d_fields(b, f),
        Message::Sample(s) => visit_sample_fields(s, f),
        Message::Info(i) => visit_info_fields(i, f),
        Message::Pixels(p) => visit_pixel_fields(p, f),
        Message::Urb(u) => visit_urb_fields(u, f),
        Message::Raw(r) => visit_raw_fields(r, f),
    }
}

fn visit_extend_fields<F: Fields>(e: &mut Extend, f: &mut F) -> Result<(), F::Error> {
    let (mut kind, mut of) = match *e {
        Extend::None => (Extension::None, Default::default()),
        Extend::Zero => (Extension::Zero, Default::default()),
        Extend::Sign => (Extension::Sign, Default::default()),
        Extend::Sum(of) => (Extension::Sum, of),
        Extend::Joined(one) => (Extension::Joined, [one, Default::default()]),
    };
    f.one_of("extend", &mut kind, EXTENSIONS)?;
    let [a, b] = &mut of;
    if matches!(kind, Extension::Sum | Extension::Joined) {
        f.place("of", &mut a.at)?;
        f.register("upper", &mut a.upper)?;
        f.visit_flag("signed", &mut a.signed)?;
        f.visit_flag("same", &mut a.scalar)?;
    }
    if kind == Extension::Sum {
        f.place("and", &mut b.at)?;
        f.register("upper-too", &mut b.upper)?;
        f.visit_flag("signed-too", &mut b.signed)?;
        f.visit_flag("same-too", &mut b.scalar)?;
    }
    *e = match kind {
        Extension::None => Extend::None,
        Extension::Zero => Extend::Zero,
        Extension::Sign => Extend::Sign,
        Extension::Sum => Extend::Sum(of),
        Extension::Joined => Extend::Joined(of[0]),
    };
    Ok(())
}

fn visit_simt_fields<F: Fields>(s: &mut Simt, f: &mut F) -> Result<(), F::Error> {
    f.visit_flag("store", &mut s.write)?;
    f.space(&mut s.space)?;
    f.place("address", &mut s.address)?;
    f.number("address-bytes", &mut s.address_bytes, 8)?;
    visit_extend_fields(&mut s.extend, f)?;
    f.scalar("stride", &mut s.stride)?;
    f.scalar("base", &mut s.base)?;
    f.number("scale", &mut s.scale, 1)?;
    f.number("offset", &mut s.offset, 0)?;
    f.scalar("origin", &mut s.origin)?;
    f.register("data", &mut s.data)?;
    f.number("elements", &mut s.elements, 1)?;
    f.number("bytes", &mut s.element, 4)?;
    f.number("slot", &mut s.slot, 4)?;
    f.visit_flag("upper", &mut s.upper)?;
    f.number("component-stride", &mut s.component_stride, 0)?;
    f.number("align", &mut s.align, 1)
}

fn block<F: Fields>(b: &mut Block, f: &mut F) -> Result<(), F::Error> {
    f.visit_flag("store", &mut b.write)?;
    f.space(&mut b.space)?;
    f.scalar("address", &mut b.address)?;
    f.number("scale", &mut b.scale, 1)?;
    f.number("offset", &mut b.offset, 0)?;
    f.scalar("origin", &mut b.origin)?;
    f.visit_flag("wraps", &mut b.wraps)?;
    f.register("data", &mut b.data)?;
    f.number("bytes", &mut b.bytes, 0)?;
    f.number("align", &mut b.align, 1)?;
    f.visit_flag("masked", &mut b.masked)
}

fn atomic<F: Fields>(a: &mut Atomic, f: &mut F) -> Result<(), F::Error> {
    f.visit_flag("lsc", &mut a.lsc)?;
    f.number("code", &mut a.code, 0)?;
    f.space(&mut a.space)?;
    f.place("address", &mut a.address)?;
    f.number("address-bytes", &mut a.address_bytes, 8)?;
    visit_extend_fields(&mut a.extend, f)?;
    f.scalar("base", &mut a.base)?;
    f.number("scale", &mut a.scale, 1)?;
    f.number("offset", &mut a.offset, 0)?;
    f.scalar("origin", &mut a.origin)?;
    f.register("dst", &mut a.dst)?;
    f.register("src0", &mut a.src[0])?;
    f.register("src1", &mut a.src[1])?;
    f.number("bytes", &mut a.element, 4)?;
    f.number("slot", &mut a.slot, 4)
}

fn visit_coordinate_fields<F: Fields>(c: &mut Coordinates, f: &mut F) -> Result<(), F::Error> {
    for (key, at) in ["u", "v", "r", "lod"].into_iter().zip(&mut c.at) {
        f.register(key, at)?;
    }
    f.number("coordinate-bytes", &mut c.bytes, 4)?;
    f.scalar("offsets", &mut c.offsets)
}

fn visit_typed_fields<F: Fields>(t: &mut Typed, f: &mut F) -> Result<(), F::Error> {
    f.visit_flag("store", &mut t.write)?;
    f.space(&mut t.space)?;
    visit_coordinate_fields(&mut t.coordinates, f)?;
    f.register("data", &mut t.data)?;
    f.number("channels", &mut t.channels, 15)?;
    f.one_of("slot", &mut t.slot, SLOTS)?;
    f.number("component-stride", &mut t.component_stride, 0)?;
    f.one_of("outside", &mut t.outside, OUTSIDE)?;
    f.visit_flag("null-mask", &mut t.null_mask)?;
    f.register("sample", &mut t.sample)?;
    f.visit_flag("clamp", &mut t.clamp)
}

fn typed_atomic<F: Fields>(a: &mut TypedAtomic, f: &mut F) -> Result<(), F::Error> {
    f.visit_flag("lsc", &mut a.lsc)?;
    f.number("code", &mut a.code, 0)?;
    f.space(&mut a.space)?;
    visit_coordinate_fields(&mut a.coordinates, f)?;
    f.register("dst", &mut a.dst)?;
    f.register("src0", &mut a.src[0])?;
    f.register("src1", &mut a.src[1])?;
    f.number("bytes", &mut a.element, 4)?;
    f.number("slot", &mut a.slot, 4)
}

fn visit_media_fields<F: Fields>(m: &mut Media, f: &mut F) -> Result<(), F::Error> {
    f.visit_flag("store", &mut m.write)?;
    f.space(&mut m.space)?;
    f.scalar("x", &mut m.x)?;
    f.scalar("y", &mut m.y)?;
    f.number("width", &mut m.width, 0)?;
    f.number("height", &mut m.height, 0)?;
    f.number("pitch", &mut m.pitch, 0)?;
    f.number("first-line", &mut m.lines.0, 0)?;
    f.number("line-step", &mut m.lines.1, 1)?;
    f.number("align", &mut m.align, 1)?;
    f.visit_flag("zero-outside", &mut m.zero_outside)?;
    f.register("data", &mut m.data)
}

fn visit_block2d_fields<F: Fields>(b: &mut Block2d, f: &mut F) -> Result<(), F::Error> {
    f.visit_flag("store", &mut b.write)?;
    f.scalar("base", &mut b.base)?;
    f.scalar("surface-width", &mut b.surface_width)?;
    f.scalar("surface-height", &mut b.surface_height)?;
    f.scalar("surface-pitch", &mut b.surface_pitch)?;
    f.scalar("x", &mut b.x)?;
    f.scalar("y", &mut b.y)?;
    f.number("x-offset", &mut b.offsets.0, 0)?;
    f.number("y-offset", &mut b.offsets.1, 0)?;
    f.number("bytes", &mut b.element, 4)?;
    f.number("blocks", &mut b.blocks, 1)?;
    f.number("width", &mut b.width, 0)?;
    f.number("height", &mut b.height, 0)?;
    f.visit_flag("transpose", &mut b.transpose)?;
    f.visit_flag("vnni", &mut b.vnni)?;
    f.register("data", &mut b.data)?;
    f.number("row-pitch", &mut b.row_pitch, 0)?;
    f.number("block-pitch", &mut b.block_pitch, 0)
}

fn visit_sample_fields<F: Fields>(s: &mut Sample, f: &mut F) -> Result<(), F::Error> {
    f.one_of("what", &mut s.what, SAMPLINGS)?;
    f.space(&mut s.space)?;
    let (mut bindless, mut state) = match &s.state {
        SamplerState::Index(s) => (false, *s),
        SamplerState::Handle(s) => (true, *s),
    };
    f.visit_flag("bindless", &mut bindless)?;
    f.scalar("sampler", &mut state)?;
    s.state = if bindless { SamplerState::Handle(state) } else { SamplerState::Index(state) };
    // A program's messages have few ([`Message::is_inside`]).
    let mut count = s.parameters.len().min(usize::from(u8::MAX)) as u8;
    f.number("parameters", &mut count, 0)?;
    let blank = SampleParameter { what: Parameter::U, at: None, bytes: 4 };
    s.parameters.resize(usize::from(count), blank);
    for p in &mut s.parameters {
        f.word(&mut p.what, PARAMETERS)?;
        f.register("at", &mut p.at)?;
        f.number("parameter-bytes", &mut p.bytes, 4)?;
    }
    f.scalar("offsets", &mut s.offsets)?;
    f.number("gathered", &mut s.gathered, 0)?;
    f.register("data", &mut s.data)?;
    f.number("channels", &mut s.channels, 15)?;
    f.one_of("slot", &mut s.slot, SLOTS)?;
    f.number("component-stride", &mut s.component_stride, 0)?;
    f.visit_flag("null-mask", &mut s.null_mask)
}

fn visit_info_fields<F: Fields>(i: &mut Info, f: &mut F) -> Result<(), F::Error> {
    f.visit_flag("samples", &mut i.samples)?;
    f.space(&mut i.space)?;
    f.register("lod", &mut i.lod)?;
    f.register("data", &mut i.data)?;
    f.number("channels", &mut i.channels, 15)?;
    f.number("component-stride", &mut i.component_stride, 0)
}

fn visit_raw_fields<F: Fields>(r: &mut Raw, f: &mut F) -> Result<(), F::Error> {
    // A function's number has four bits.
    let mut function = r.function.map_or(-1, i32::from);
    f.number("function", &mut function, -1)?;
    r.function = u8::try_from(function).ok();
    f.scalar("descriptor", &mut r.descriptor)?;
    f.scalar("extended", &mut r.extended)?;
    f.number("extended-field", &mut r.extended_field, 0)?;
    let [first, second] = &mut r.shape.payloads;
    for (key, size, (at, bytes)) in [
        ("payload", "payload-bytes", first),
        ("second-payload", "second-payload-bytes", second),
        ("response", "response-bytes", &mut r.shape.response),
    ] {
        f.register(key, at)?;
        f.number(size, bytes, 0)?;
    }
    f.number("channels", &mut r.shape.channels, 1)
}

fn visit_pixel_fields<F: Fields>(p: &mut Pixels, f: &mut F) -> Result<(), F::Error> {
    f.space(&mut p.space)?;
    f.place("header", &mut p.header)?;
    f.visit_flag("half", &mut p.half)?;
    f.register("mask", &mut p.mask)?;
    for (key, colour) in ["red", "green", "blue", "alpha"].into_iter().zip(&mut p.colours) {
        f.register(key, colour)?;
    }
    Ok(())
}

fn visit_urb_fields<F: Fields>(u: &mut Urb, f: &mut F) -> Result<(), F::Error> {
    f.place("handles", &mut u.handles)?;
    f.number("offset", &mut u.offset, 0)?;
    f.register("offsets", &mut u.offsets)?;
    f.register("masks", &mut u.masks)?;
    f.number("rows", &mut u.rows, 0)?;
    f.number("stride", &mut u.stride, 0)?;
    f.register("data", &mut u.data)
}
