//! The shape of a row of the instruction table.
//!
//! A row says everything about one instruction once: its bytes (slots in binary order), its text
//! (a template that names the slots), its types, platforms and effects. Parser, printer, encoder,
//! decoder, verifier, `explain`, docs and generators all walk it.

pub use crate::name::{FieldName, PartName, SlotName};
pub use crate::operation::Effect;
use crate::operation::Operation;
use crate::{Platforms, TypeSet};

/// One instruction, or one sub-operation of a family.
#[derive(Debug)]
pub struct InstDesc {
    /// Upper-case name as the pages have it, with the sub-operation: `SVM_GATHER`, `ADD`, `LSC_LOAD`.
    pub name: &'static str,
    /// What it does: see [`InstDesc::operation`]. A row without one does not compile.
    pub operation: Option<Operation>,
    /// Opcode byte.
    pub opcode: u8,
    /// Sub-opcode, where it is a byte that follows the opcode.
    pub sub: Option<u8>,
    /// Group of the instruction.
    pub family: Family,
    /// Format versions this row describes.
    pub versions: Versions,
    /// Everything after opcode and sub-opcode, in binary order.
    pub slots: &'static [Slot],
    /// Spellings in text; the first is the canonical one where no `fixed` value distinguishes them.
    /// Empty for instructions that have no text form in the reference tools and got one here: see `note`.
    pub forms: &'static [Form],
    /// Legal combinations of destination and source types; empty where types play no role.
    pub type_maps: &'static [TypeMap],
    /// Legal numbers of channels as a bit set of log2 (bit 0: 1 channel … bit 5: 32).
    pub exec_sizes: u8,
    /// What of saturation and source modifiers is allowed.
    pub modifiers: ModifierRules,
    /// Platforms that have the instruction.
    pub platforms: Platforms,
    /// What it does to memory.
    pub effect: Effect,
    /// What an access outside the surface does.
    pub out_of_bounds: OutOfBounds,
    /// Parameters of a sampler message, in their order.
    pub parameters: &'static [MessageParameter],
    /// Page of the specification, without `.md`; empty if there is none.
    pub page: &'static str,
    /// One line of prose.
    pub brief: &'static str,
    /// Semantics, a few lines of pseudo-code in our own words; shown by `explain`.
    pub semantics: &'static str,
    /// Where page and practice differ, or what else one should know; may be empty.
    pub note: &'static str,
}

impl InstDesc {
    /// What it does.
    pub const fn operation(&self) -> Operation {
        match self.operation {
            Some(operation) => operation,
            None => panic!("every row of the table has an operation: that is checked when it is compiled"),
        }
    }

    /// Index of the slot of this name.
    #[inline]
    pub fn slot_index(&self, name: SlotName) -> Option<usize> {
        self.slots.iter().position(|s| s.name == name)
    }

    /// Index of the register of an LSC message that holds what is read or written.
    pub fn lsc_data_slot(&self) -> Option<usize> {
        self.slot_index(SlotName::Dst).or_else(|| self.slot_index(SlotName::Src1))
    }

    /// Index of the `Exec` slot, if it has one.
    #[inline]
    pub fn exec_slot(&self) -> Option<usize> {
        self.slots.iter().position(|s| matches!(s.kind, SlotKind::Exec))
    }

    /// Index of the `Pred` slot, if it has one.
    #[inline]
    pub fn pred_slot(&self) -> Option<usize> {
        self.slots.iter().position(|s| matches!(s.kind, SlotKind::Pred))
    }
}

/// Format versions a row is valid for, by `(major, minor)`, both inclusive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Versions {
    /// First.
    pub from: (u8, u8),
    /// Last.
    pub to: (u8, u8),
}

impl Versions {
    /// All versions.
    pub const ALL: Versions = Versions { from: (0, 0), to: (255, 255) };
    /// Up to 4.1, as the released tools write.
    pub const V41: Versions = Versions { from: (0, 0), to: (4, 1) };
    /// From 4.2, as the current pages describe.
    pub const V42: Versions = Versions { from: (4, 2), to: (255, 255) };

    /// Does it include `v`?
    pub fn contains(self, v: (u8, u8)) -> bool {
        self.from <= v && v <= self.to
    }
}

/// Group of an instruction, as the specification's chapter 6 groups them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Family {
    Arithmetic,
    Math,
    Logic,
    Move,
    Compare,
    Address,
    ControlFlow,
    Sync,
    DataPort,
    Svm,
    Lsc,
    Sampler,
    Systolic,
    RenderTarget,
    Vme,
    Raw,
    Misc,
}

/// A parameter of a sampler message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MessageParameter {
    /// As the page calls it.
    pub name: &'static str,
    /// It is an integer, or holds one, whatever the others are.
    pub integer: bool,
}

/// One operand or field, in binary order.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// Name, lower case, as templates and messages use it: `dst`, `src0`, `num_blocks`.
    pub name: SlotName,
    /// How it is encoded.
    pub kind: SlotKind,
    /// Read or written.
    pub role: Role,
    /// Types allowed for the elements; `NONE` where the slot has no type. Where `type_maps` speaks, `ANY`.
    pub types: TypeSet,
    /// Bytes of it that the instruction reads or writes.
    pub bytes: Bytes,
    /// One line on it; may be empty.
    pub doc: &'static str,
    /// The first format version that has it. Before, neither binary nor text hold it, and the operand is
    /// `Operand::Int(0)`.
    pub since: (u8, u8),
}

impl Slot {
    /// The slot, from this version on; of fields only, whose 0 says what older versions mean.
    pub const fn since(self, version: (u8, u8)) -> Slot {
        Slot { since: version, ..self }
    }

    /// Has a format version got it?
    pub const fn is_in(&self, version: (u8, u8)) -> bool {
        version.0 > self.since.0 || version.0 == self.since.0 && version.1 >= self.since.1
    }

    /// The slot, of which these bytes are read or written.
    pub const fn touches(self, bytes: Bytes) -> Slot {
        Slot { bytes, ..self }
    }
}

/// Bytes of a register operand that an instruction reads or writes, from the operand's first byte on and with
/// every channel active; names are those of fields, `slot.part` a part of a packed one. A field's number is what
/// its value reads as. [`crate::footprint::register_bytes`] evaluates it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bytes {
    /// It is not a register.
    None,
    /// Elements, by the operand's own region.
    Region,
    /// Nothing public says it; only what is not executed has such operands.
    Undefined,
    /// So many.
    Fixed(u32),
    /// A register.
    Register,
    /// The header of a render target message.
    Header,
    /// So many for each channel.
    PerChannel(u32),
    /// For each channel as many bits as the field says, at least a dword.
    PerChannelOf(FieldName),
    /// For each channel a word if the variable has 16-bit elements, else a dword: coordinates and colours.
    Coordinates,
    /// As many elements of so many bytes as the field says.
    Elements(FieldName, u32),
    /// As many as the field says.
    Field(FieldName),
    /// As many registers as the field says.
    Registers(FieldName),
    /// A row of dwords over all channels for each bit of the mask; rows start at registers.
    Rows {
        /// The field.
        mask: FieldName,
    },
    /// The same where a field says how many channels there are.
    OldRows {
        /// The field of the mask.
        mask: FieldName,
        /// The field of the number of channels.
        lanes: FieldName,
    },
    /// As many whole rows of dwords as the field says.
    RowsOf(FieldName),
    /// Blocks for each channel; those of a byte fill at least a dword together.
    Blocks {
        /// The field of their number.
        count: FieldName,
        /// The field of their bytes; else they have 8.
        size: Option<FieldName>,
    },
    /// A rectangle of `width` bytes and `height` rows, rows at powers of two of at least 4 bytes.
    Rectangle,
    /// Addresses of an LSC message: one, or one for each channel.
    LscAddresses,
    /// Data of an LSC message.
    LscData,
    /// A rectangle of an LSC message.
    LscBlock2d,
    /// A matrix of DPAS.
    Systolic(SystolicOperand),
    /// What a sampler returns: a row of elements for each of its channels.
    Sampled,
    /// Payload of VME's integer motion estimation.
    MotionPayload,
    /// Result of VME's integer motion estimation.
    MotionResult,
}

/// Matrices of DPAS.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SystolicOperand {
    /// Result and addend.
    Accumulator,
    /// Columns, a channel's each in dwords of its own.
    Weights,
    /// Rows.
    Activations {
        /// Two fused threads share them: the greater part.
        pair: bool,
    },
    /// A byte for each column and block of the weights.
    WeightScales,
    /// A byte for each row and block of the activations.
    ActivationScales,
}

/// The byte of a surface or sampler handle that says: the address of a state, in a register, follows. From 4.2 on,
/// where the slot takes one.
pub const HANDLE_FOLLOWS: u8 = 0xff;

/// How a slot is encoded.
#[derive(Clone, Copy, Debug)]
pub enum SlotKind {
    /// Execution size and mask: one byte.
    Exec,
    /// Predicate: one word.
    Pred,
    /// A vector operand of one of these classes: tag and body.
    Vector(Classes),
    /// A raw operand: 6 bytes. `%null` allowed or not is in the flag.
    Raw {
        /// `%null` is legal.
        nullable: bool,
    },
    /// A surface handle: one byte.
    Surface {
        /// Which predefined surfaces are legal.
        allowed: SurfaceRule,
    },
    /// A sampler handle: one byte.
    Sampler {
        /// Where it may be the address of a state, in a register: from 4.2 on.
        address: Platforms,
    },
    /// A label: one word.
    Label(LabelKind),
    /// A string index.
    Str {
        /// Bytes in the binary: 2 or 4.
        width: u8,
    },
    /// A plain field.
    Field {
        /// Bytes in the binary: 1, 2 or 4.
        width: u8,
        /// What its values mean.
        enc: Enc,
    },
    /// A field with several parts.
    Packed {
        /// Bytes in the binary: 1, 2 or 4.
        width: u8,
        /// Its parts.
        parts: &'static [Part],
    },
    /// A count byte (or wider field) of the variadic operands, which are the last slot, `Many`.
    Count {
        /// Bytes in the binary.
        width: u8,
        /// Least number.
        min: u8,
        /// Greatest number.
        max: u8,
    },
    /// As many of these as the preceding `Count` says; always the last slot.
    Many(&'static SlotKind),
    /// Present only where a bit of an earlier field is set (RT_WRITE). Where it is clear, the operand
    /// is `Operand::Int(0)`, and neither bytes nor text hold anything for it.
    If {
        /// Index of the slot that holds the field.
        slot: u8,
        /// The bit of it.
        bit: u8,
        /// What is there if the bit is set.
        kind: &'static SlotKind,
    },
}

/// A part of a packed field.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Name; templates refer to it as `{slot.part}`.
    pub name: PartName,
    /// Lowest bit.
    pub lo: u8,
    /// Number of bits.
    pub bits: u8,
    /// What its values mean.
    pub enc: Enc,
}

impl Part {
    /// The part's value in a packed field.
    pub const fn get(&self, packed: u32) -> u32 {
        packed >> self.lo & ((1u64 << self.bits) - 1) as u32
    }

    /// `packed` with the part set to `value`.
    pub const fn set(&self, packed: u32, value: u32) -> u32 {
        let mask = (((1u64 << self.bits) - 1) as u32) << self.lo;
        packed & !mask | value << self.lo & mask
    }
}

/// What the values of a field mean, and how they read in text.
#[derive(Clone, Copy, Debug)]
pub enum Enc {
    /// A number, printed in decimal, `0..=max`.
    Number {
        /// Greatest legal value.
        max: u32,
    },
    /// A number printed as `0x…`, `0..=max`.
    Hex {
        /// Greatest legal value.
        max: u32,
    },
    /// A number printed as hexadecimal digits without `0x` (`bfn.xd8`), `0..=max`.
    HexDigits {
        /// Greatest legal value.
        max: u32,
    },
    /// A signed number in two's complement of the field's width, decimal.
    Signed,
    /// One of these.
    Values(&'static [Value]),
    /// A set of R, G, B, A: bit 0 to 3; printed as letters.
    Channels,
    /// Ignored by the hardware; written as this, printed only when it differs (as an annotation).
    Ignored(u32),
    /// `size | mask << 4` with these size codes, printed like an execution size: `(M1, 8)`.
    ExecLike(&'static [Value]),
}

/// One legal value of a field.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    /// Code in the binary.
    pub code: u32,
    /// How it reads in text (`"8"`, `"add"`).
    pub text: &'static str,
    /// Platforms that have it.
    pub platforms: Platforms,
    /// A word on it; may be empty.
    pub doc: &'static str,
}

impl Value {
    /// Do the reference tools take it, though the page does not list it? Its word says so first.
    pub fn is_off_page(&self) -> bool {
        self.doc.starts_with("not on the page")
    }

    /// Is it another name of a value that the list has already? Its word says so first.
    pub fn is_other_name(&self) -> bool {
        self.doc.starts_with("4.2's name of")
    }
}

/// Operand classes a vector slot accepts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Classes(pub u16);

#[allow(missing_docs)]
impl Classes {
    pub const GENERAL: Classes = Classes(1);
    pub const INDIRECT: Classes = Classes(2);
    pub const IMM: Classes = Classes(4);
    pub const ADDRESS: Classes = Classes(8);
    pub const PREDICATE: Classes = Classes(16);
    pub const ADDRESS_OF: Classes = Classes(32);
    pub const STATE: Classes = Classes(64);
    /// general, indirect
    pub const GI: Classes = Classes(3);
    /// general, indirect, immediate
    pub const GII: Classes = Classes(7);

    pub const fn or(self, o: Classes) -> Classes {
        Classes(self.0 | o.0)
    }

    pub const fn has(self, o: Classes) -> bool {
        self.0 & o.0 == o.0
    }
}

/// Is a slot read or written?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Role {
    Read,
    Write,
    ReadWrite,
    /// A field: neither.
    Field,
}

/// Labels an instruction may name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum LabelKind {
    Block,
    Subroutine,
    Any,
}

/// Which predefined surfaces a message accepts (declared ones always).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SurfaceRule {
    /// Platforms on which `T0` (SLM) is legal.
    pub slm: Platforms,
    /// Platforms on which `T5` (stateless/scratch) is legal.
    pub stateless: Platforms,
    /// It must be a buffer, a typed image, or either.
    pub shape: SurfaceShape,
    /// Where it may be the address of a state, in a register: from 4.2 on.
    pub address: Platforms,
}

/// What kind of surface a message works on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum SurfaceShape {
    Buffer,
    Typed,
    Media,
    Any,
}

/// A spelling in text.
///
/// `template` is a small language, compiled once by the text room:
/// - `{x}` the slot `x`, printed as its kind says; `{x.part}` a part of a packed slot;
/// - `.{x}` a suffix joined to the mnemonic; `[.{x}]` the same, left out when it has its default (code 0);
/// - `[.name?x]` or `[.name?x.part]`: the literal suffix `.name`, present if the one-bit field is set;
/// - `[.name!]`: the literal suffix `.name`, which is read and says what holds without it;
/// - `{pred}` stands in front of the mnemonic and is printed as `(P1)`; every row with a `Pred` slot has it;
/// - `[.sat]` the saturation of `dst`;
/// - `({x})` a field in parentheses; other punctuation is itself; spaces separate tokens;
/// - `{x...}` the `Many` slot;
/// - `{@name}`: a composite of several slots, known to the text room by name:
///
/// | composite | text | slots |
/// | --- | --- | --- |
/// | `@lsc_cache` | `.ca.uc`, both optional; from 4.2 on `.ca.uc.uc` | `l1 l3 l2` |
/// | `@lsc_data` | `V32:d32x4t`, `V32:d32.xz` | the data register (`dst` if the row has one, else `src1`), `data_size data_order data_elems ch_mask` |
/// | `@lsc_data2d` | `V32:d16.2x16x8nt` | the data register, `data_size data_order blocks width height vnni` |
/// | `@lsc_addr` | `bti(0x4)[2*V34+0x10]:a32` | `addr_type surface imm_scale addr imm_offset addr_size surface_index` |
/// | `@lsc_addr_strided` | `flat[V34,8]:a64` | as `@lsc_addr`, and `stride` |
/// | `@lsc_addr2d` | `flat[V34,0xF,0xF,0xF,V35(0,0),0x0]` | `surface_base surface_width surface_height surface_pitch x y x_offset y_offset payload` |
/// | `@lsc_typed_addr` | `bti(0x6)[V32,V33]:a32` | `addr_type surface u v r lod addr_size u_offset v_offset r_offset surface_index` |
/// | `@lsc_typed_addr2d` | `bti(0x6)[V32(0,0),0x0]` | `addr_type surface x y` |
/// | `@lsc_data2d_typed` | `V32:64x2` | the data register, `width height` |
/// | `@lsc_addr_plain` | `flat[V34]:a64` | `addr_type addr addr_size` |
/// | `@lsc_surface` | `bti(0x6)` | `addr_type surface` |
/// | `@fence_flags` | `.EISCRL1`, any of them in this order, or nothing | parts of `mask` |
/// | `@lifetime_var` | `V33`, `A0`, `P1` | `properties.class variable` |
/// | `@sendg_sfid` | `0xe` or `ugm` | `sfid` |
/// | `@desc64` | `0x12345678` | `desc_lo desc_hi` |
/// | `@paired` | nothing; from 4.2 on `%null.0`, the paired surface, which no page has | none |
/// | `@rt_mode` | `.<A><O>…` or nothing | parts of `mode` |
///
/// In LSC operands a raw register may stand without `.0`. Slots named `unused_…` are `%null` and have no
/// text. Of the flat address model the surface is `0:ud`.
#[derive(Debug)]
pub struct Form {
    /// Mnemonic up to the first `.`, lower case.
    pub head: &'static str,
    /// The whole, including the head.
    pub template: &'static str,
    /// Slots (or parts, `slot.part`) that this spelling fixes. Of an `Exec` slot the value is its byte,
    /// of a `Raw` slot 0 is `%null`, of a vector slot it is an immediate of type `ud`.
    pub fixed: &'static [(FieldName, u32)],
    /// Slots without text of their own in this spelling that hold a copy of another: `(slot, of)`.
    pub copies: &'static [(SlotName, SlotName)],
}

macro_rules! composites {
    ($($variant:ident = $name:literal,)*) => {
        /// Operands and fields that text writes together; see [`Form`].
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[allow(missing_docs)]
        pub enum Composite { $($variant,)* }

        impl Composite {
            /// Every one.
            pub const ALL: &[Composite] = &[$(Composite::$variant,)*];

            /// Its name in templates.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Composite::$variant => $name,)*
                }
            }

            /// The one that templates call so.
            pub fn from_name(name: &str) -> Option<Composite> {
                match name {
                    $($name => Some(Composite::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

composites! {
    LscCache = "lsc_cache",
    LscData = "lsc_data",
    LscData2d = "lsc_data2d",
    LscData2dTyped = "lsc_data2d_typed",
    LscAddr = "lsc_addr",
    LscAddrStrided = "lsc_addr_strided",
    LscAddrPlain = "lsc_addr_plain",
    LscAddr2d = "lsc_addr2d",
    LscTypedAddr = "lsc_typed_addr",
    LscTypedAddr2d = "lsc_typed_addr2d",
    LscSurface = "lsc_surface",
    FenceFlags = "fence_flags",
    LifetimeVar = "lifetime_var",
    RtMode = "rt_mode",
    Paired = "paired",
    SendgSfid = "sendg_sfid",
    Desc64 = "desc64",
}

impl Composite {
    /// Is it suffixes of the mnemonic, all of which may be absent?
    pub const fn is_suffix(self) -> bool {
        matches!(self, Composite::LscCache | Composite::FenceFlags | Composite::RtMode | Composite::SendgSfid)
    }
}

/// A legal combination of types.
#[derive(Debug)]
pub struct TypeMap {
    /// Where it holds.
    pub platforms: Platforms,
    /// Destination types.
    pub dst: TypeSet,
    /// Source types.
    pub src: TypeSet,
}

/// Saturation and source modifiers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ModifierRules {
    /// `.sat` is legal.
    pub saturation: Saturation,
    /// Source modifiers.
    pub source: SourceModifiers,
}

/// Where `.sat` is legal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Saturation {
    No,
    Yes,
    /// With floating-point destinations only.
    FloatOnly,
}

/// Which source modifiers are legal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum SourceModifiers {
    No,
    /// `(-) (abs) (-abs)`.
    Arithmetic,
    /// `(~)`.
    Logic,
}

/// What an access outside the surface does, as the page says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum OutOfBounds {
    /// No memory access, or the page is silent.
    Unspecified,
    ReadsZero,
    WriteDropped,
    /// Reads: ones in alpha, zeros elsewhere.
    ReadsAlphaOne,
    /// Atomics: nothing is written, zero is returned.
    AtomicDropped,
    /// Addresses are virtual: a fault.
    Fault,
}
