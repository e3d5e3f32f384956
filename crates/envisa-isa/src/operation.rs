//! What instructions do, free of how they are encoded and spelt: the column of the table that lowering, engines
//! and checks go by.

/// Hands the operations that compute channel by channel to a macro: the one list of them.
///
/// An operation is added here, with a line that says what it computes; the row of the table names it
/// (`Operation::Compute`), and whoever treats operations with a `match` has to treat the new one.
#[macro_export]
macro_rules! computations {
    ($then:path) => {
        $then! {
            /// Sum.
            Add,
            /// Sum of three.
            Add3,
            /// Sum of three; the overflow bits go to a predicate.
            Add3o,
            /// Sum; the carry goes to a second destination.
            Addc,
            /// Difference; the borrow goes to a second destination.
            Subb,
            /// Product.
            Mul,
            /// High half of the product.
            Mulh,
            /// Product and sum.
            Mad,
            /// Product and sum in twice the width; the high half goes to a second destination.
            Madw,
            /// Linear interpolation.
            Lrp,
            /// Quotient.
            Div,
            /// Remainder.
            Mod,
            /// Lesser one.
            Min,
            /// Greater one.
            Max,
            /// Average, rounded up.
            Avg,
            /// Sum of absolute differences of two elements.
            Sad2,
            /// The same, added to a third source.
            Sad2add,
            /// Dot product of four bytes, added to a dword.
            Dp4a,
            /// Plane equation.
            Pln,
            /// Line equation.
            Line,
            /// Dot product of two elements of four.
            Dp2,
            /// Dot product of three elements of four.
            Dp3,
            /// Dot product of four elements.
            Dp4,
            /// Dot product of four elements, the first one's last being 1.
            Dph,
            /// Inverse.
            Inv,
            /// Inverse square root.
            Rsqrt,
            /// Square root.
            Sqrt,
            /// Power of two.
            Exp,
            /// Logarithm to base two.
            Log,
            /// Power.
            Pow,
            /// Sine.
            Sin,
            /// Cosine.
            Cos,
            /// Hyperbolic tangent.
            Tanh,
            /// Logistic function.
            Sigm,
            /// Quotient, correctly rounded.
            Divm,
            /// Square root, correctly rounded.
            Sqrtm,
            /// Start of a division; the early-out bits go to a predicate.
            Invm,
            /// Start of an inverse square root; the early-out bits go to a predicate.
            Rsqtm,
            /// Fraction.
            Frc,
            /// Rounds down.
            Rndd,
            /// Rounds up.
            Rndu,
            /// Rounds to the nearest, ties to even.
            Rnde,
            /// Rounds towards zero.
            Rndz,
            /// Bitwise and.
            And,
            /// Bitwise or.
            Or,
            /// Bitwise exclusive or.
            Xor,
            /// Bitwise complement.
            Not,
            /// Shift to the left.
            Shl,
            /// Shift to the right, filling with zeros.
            Shr,
            /// Shift to the right, filling with the sign.
            Asr,
            /// Rotation to the left.
            Rol,
            /// Rotation to the right.
            Ror,
            /// Boolean function by truth table.
            Bfn,
            /// Extracts a bit field.
            Bfe,
            /// Inserts a bit field.
            Bfi,
            /// Reverses bits.
            Bfrev,
            /// Counts ones.
            Cbit,
            /// First bit from the high side that differs from the sign, or that is one.
            Fbh,
            /// First one from the low side.
            Fbl,
            /// Counts leading zeros.
            Lzd,
            /// Chooses by predicate.
            Sel,
            /// Converts to or from a format that no variable has.
            Fcvt,
            /// Rounds stochastically.
            Srnd,
            /// Converts pairs of 16-bit floats to 4 bits, and packs them.
            Dnscl,
            /// Looks 4-bit indices up in a table that all channels share.
            ShflIdx4,
        }
    };
}

macro_rules! define {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// An operation that channels do each for itself, on sources and a destination.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Compute { $($(#[$doc])* $name,)* }

        impl Compute {
            /// All of them.
            pub const ALL: &[Compute] = &[$(Compute::$name,)*];
        }
    };
}
computations!(define);

/// What an instruction does to memory or other threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Effect {
    None,
    Read,
    Write,
    Atomic,
    Sample,
    Fence,
    Barrier,
    /// A message that its descriptor defines.
    Message,
}

/// What an instruction does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operation {
    /// Channels compute.
    Compute(Compute),
    /// Copies, converting types.
    Move,
    /// Adds to an address register, or to a variable's place.
    AddressAdd,
    /// Compares; the field says how.
    Compare,
    /// A variable's bits to a predicate.
    SetPredicate,
    /// Matrix multiply-add.
    Systolic {
        /// Two fused threads share the third operand.
        pair: bool,
        /// Blocks of both matrices have scales.
        scaled: bool,
    },
    /// Branches, calls, and the places they go to.
    Control(Control),
    /// Waits for, or signals to, other threads of the group.
    Barrier(Barrier),
    /// Orders memory accesses.
    Fence,
    /// Reads or writes memory.
    Message(Message),
    /// Changes no register and no memory: notes for tools, hints.
    Nothing,
    /// It is not executed, and why.
    Unsupported(Unsupported),
}

/// Control flow.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Control {
    /// A place that is branched to or called.
    Label,
    /// Channels go each by its predicate.
    Goto,
    /// All channels go.
    Jump,
    /// One of several places, by index.
    Switch,
    /// Calls a subroutine.
    Call,
    /// Returns from a subroutine, or ends the thread.
    Return,
    /// Calls a function by name.
    FunctionCall,
    /// Calls a function by address.
    IndirectCall,
    /// Returns from a function.
    FunctionReturn,
    /// Gives a function's address.
    FunctionAddress,
}

/// Barriers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Barrier {
    /// Signals and waits.
    Whole,
    /// Signals or waits, as the field says.
    Split,
    /// The same for one of several barriers, with the number of threads as operands.
    Named,
}

/// Does a message bring data to registers, or take it from them?
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Access {
    Load,
    Store,
}

impl Access {
    /// Is it a store?
    pub const fn is_store(self) -> bool {
        matches!(self, Access::Store)
    }
}

/// Memory messages.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Message {
    /// Consecutive owords of a surface, at an offset in units of this many bytes.
    Owords(Access, u32),
    /// A rectangle of bytes of an image.
    Media(Access),
    /// Elements at scattered places; size and mask of the execution are a field.
    Elements(Access),
    /// Up to four dwords at scattered places.
    Channels(Access),
    /// A few bytes at scattered places.
    Bytes(Access),
    /// Qwords at scattered places.
    Qwords(Access),
    /// Texels.
    Texels(Access),
    /// Reads, changes and writes elements of a surface.
    Atomic,
    /// Reads, changes and writes texels.
    TexelAtomic,
    /// Consecutive owords at a virtual address.
    SvmOwords(Access),
    /// Blocks at virtual addresses.
    SvmBlocks(Access),
    /// Up to four dwords at virtual addresses.
    SvmChannels(Access),
    /// Reads, changes and writes elements at virtual addresses.
    SvmAtomic,
    /// LSC: elements at addresses.
    Lsc(Access, LscShape),
    /// LSC: asks whether addresses have memory.
    LscStatus,
    /// LSC: rectangles of a flat surface.
    LscBlock2d(Access),
    /// LSC: reads, changes and writes; the sub-opcode says how.
    LscAtomic,
    /// LSC: texels, by a mask of channels.
    LscTexels(Access),
    /// LSC: samples of texels, by a mask of channels.
    LscSamples(Access),
    /// LSC: texels, by a number of channels.
    LscTexelsCounted,
    /// LSC: asks whether texels have memory.
    LscTexelStatus,
    /// LSC: the same, with a dword for each channel's answer.
    LscTexelStatuses,
    /// LSC: a rectangle of bytes of an image.
    LscMedia(Access),
    /// LSC: reads, changes and writes texels; the sub-opcode says how.
    LscTexelAtomic,
    /// Texels by way of the sampler unit.
    SamplerLoad(LoadParameters),
    /// Texels found and filtered by a sampler, and the parameters in their order.
    Sample(Sampling, &'static [Parameter]),
    /// Whatever the descriptors say; with one payload or two.
    Raw {
        /// Two payloads.
        split: bool,
    },
    /// Size of an image.
    ImageSize,
    /// Samples of an image.
    ImageSamples,
    /// LSC: reads, changes and writes the append counter of a surface.
    LscCounter,
    /// Pixels of a render target, whose places are in a header.
    Pixels,
    /// Vertices' data to the unified return buffer.
    Urb,
}

/// How the elements of an untyped LSC message lie.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LscShape {
    /// A number of elements at each address.
    Vector,
    /// One address and a distance from channel to channel.
    Strided,
    /// Elements of four, by a mask.
    Quad,
}

/// What a sampler makes of the texels it finds. With a reference among the parameters each texel's red is replaced
/// by the result of its comparison first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sampling {
    /// The texel that the sampler's filter makes of the first level of detail.
    Base,
    /// The texel that the sampler's filter makes.
    Filter,
    /// One channel of each of the four texels that a bilinear filter would take.
    Gather,
    /// The level of detail, clamped and not.
    LevelOfDetail,
}

/// A parameter of a sampler message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Parameter {
    /// First coordinate.
    U,
    /// Second coordinate; the layer of an array of 1D images.
    V,
    /// Third coordinate; the layer of an array of 2D images.
    R,
    /// Index of a cube in an array of cubes.
    ArrayIndex,
    /// Added to the level of detail.
    Bias,
    /// The level of detail.
    Lod,
    /// Least level of detail.
    MinLod,
    /// What red is compared with.
    Reference,
    /// A derivative of a coordinate, which only the level of detail depends on.
    Gradient,
    /// Offset of u in texels: the low 6 bits, signed.
    OffsetU,
    /// Offset of v in texels: the low 6 bits, signed.
    OffsetV,
    /// Offsets of u, v and r: signed nibbles from bit 11 down.
    Offsets,
    /// Bias or level of detail, whose low 12 bits are [`Parameter::Offsets`].
    LevelOffsets,
    /// Offsets of v and u: bits 11 to 6 and 5 to 0, signed.
    WideOffsets,
    /// Bias or level of detail, whose low 12 bits are [`Parameter::WideOffsets`].
    LevelWideOffsets,
}

/// Order of the parameters of a sampler load.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LoadParameters {
    /// u, v, level of detail, r.
    UvLodR,
    /// u, v, r.
    Uvr,
    /// Sample, two dwords or four words of compression control, u, v, r, level of detail.
    Samples,
}

/// Why an instruction is not executed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Unsupported {
    NoPage,
    Feedback,
    PackedIndex,
    PixelBlock,
    Multisampling,
    CompressionControl,
    SurfaceState,
    ResidencyOfQuads,
    RawMessage,
    MotionEstimation,
    VideoScaler,
    VideoAnalytics,
    RenderTarget,
    ThreadDependency,
}

impl Unsupported {
    /// The reason, as a clause.
    pub const fn reason(self) -> &'static str {
        match self {
            Unsupported::NoPage => "no page of the specification describes it",
            Unsupported::Feedback => {
                "which way its registers shift and what they feed back has no public description"
            }
            Unsupported::PackedIndex => {
                "how a coordinate and offsets share a parameter has no public description"
            }
            Unsupported::PixelBlock => "how its block of pixels lies in registers is not on its page",
            Unsupported::Multisampling => {
                "what it gives of an image without a control surface has no public description"
            }
            Unsupported::CompressionControl => "compression control has no public description",
            Unsupported::SurfaceState => "what a surface state holds is the hardware's own",
            Unsupported::ResidencyOfQuads => "what it returns beside the data has no public description",
            Unsupported::RawMessage => "a raw message's meaning is in its descriptor",
            Unsupported::MotionEstimation => "video motion estimation has no public definition",
            Unsupported::VideoScaler => "the adaptive video scaler has no public definition",
            Unsupported::VideoAnalytics => "the video analytics unit has no public definition",
            Unsupported::RenderTarget => "none of its operands says where its pixels are, and no page does",
            Unsupported::ThreadDependency => "it waits for a notification from outside of the thread group",
        }
    }
}

impl Message {
    /// What it does to memory.
    pub const fn effect(self) -> Effect {
        match self {
            Message::Owords(a, _)
            | Message::Media(a)
            | Message::Elements(a)
            | Message::Channels(a)
            | Message::Bytes(a)
            | Message::Qwords(a)
            | Message::Texels(a)
            | Message::SvmOwords(a)
            | Message::SvmBlocks(a)
            | Message::SvmChannels(a)
            | Message::Lsc(a, _)
            | Message::LscBlock2d(a)
            | Message::LscTexels(a)
            | Message::LscSamples(a)
            | Message::LscMedia(a) => match a {
                Access::Load => Effect::Read,
                Access::Store => Effect::Write,
            },
            Message::LscTexelsCounted => Effect::Write,
            Message::Raw { .. } | Message::Pixels | Message::Urb => Effect::Message,
            Message::LscStatus | Message::LscTexelStatus | Message::LscTexelStatuses => Effect::Read,
            Message::Atomic
            | Message::TexelAtomic
            | Message::SvmAtomic
            | Message::LscAtomic
            | Message::LscCounter
            | Message::LscTexelAtomic => Effect::Atomic,
            Message::SamplerLoad(_) | Message::Sample(..) | Message::ImageSize | Message::ImageSamples => {
                Effect::Sample
            }
        }
    }
}

impl Operation {
    /// Is it executed?
    pub const fn is_executed(self) -> bool {
        !matches!(self, Operation::Unsupported(_))
    }

    /// Can an instruction that does this have this effect?
    pub const fn has_effect(self, effect: Effect) -> bool {
        let own = match self {
            Operation::Compute(_)
            | Operation::Move
            | Operation::AddressAdd
            | Operation::Compare
            | Operation::SetPredicate
            | Operation::Systolic { .. }
            | Operation::Control(_)
            | Operation::Nothing => Effect::None,
            Operation::Barrier(_) => Effect::Barrier,
            Operation::Fence => Effect::Fence,
            Operation::Message(message) => message.effect(),
            // Nothing is said of what is not executed.
            Operation::Unsupported(_) => return true,
        };
        own as u8 == effect as u8
    }
}
