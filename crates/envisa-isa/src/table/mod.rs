//! The instruction table: one row an instruction, in the numbering of the specification.

mod common;
mod control;
mod dataport;
mod integer;
mod logic;
mod lsc;
mod math;
mod moves;
mod svm;
mod sync;

use crate::InstDesc;

macro_rules! ops {
    ($($variant:ident = $row:path,)*) => {
        /// An instruction: a row of the table. A `match` without a wildcard treats every row.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u16)]
        #[allow(missing_docs)]
        pub enum Op { $($variant,)* }

        /// All rows, in table order.
        pub static TABLE: &[&InstDesc] = &[$(&$row,)*];

        impl Op {
            /// Every instruction, in table order.
            pub const ALL: &[Op] = &[$(Op::$variant,)*];
        }
    };
}

ops! {
    Add = integer::ADD,
    Avg = integer::AVG,
    Div = integer::DIV,
    Dp2 = integer::DP2,
    Dp3 = integer::DP3,
    Dp4 = integer::DP4,
    Dph = integer::DPH,
    Exp = math::EXP,
    Frc = integer::FRC,
    Line = integer::LINE,
    Log = math::LOG,
    Mad = integer::MAD,
    Mulh = integer::MULH,
    Lrp = integer::LRP,
    Mod = integer::MOD,
    Mul = integer::MUL,
    Pow = math::POW,
    Rndd = integer::RNDD,
    Rndu = integer::RNDU,
    Rnde = integer::RNDE,
    Rndz = integer::RNDZ,
    Sad2 = integer::SAD2,
    Sin = math::SIN,
    Cos = math::COS,
    Sqrt = math::SQRT,
    Rsqrt = math::RSQRT,
    Inv = math::INV,
    Lzd = integer::LZD,
    And = logic::AND,
    Or = logic::OR,
    Xor = logic::XOR,
    Not = logic::NOT,
    Shl = logic::SHL,
    Shr = logic::SHR,
    Asr = logic::ASR,
    Cbit = logic::CBIT,
    AddrAdd = moves::ADDR_ADD,
    Mov = moves::MOV,
    Sel = moves::SEL,
    Setp = moves::SETP,
    Cmp = moves::CMP,
    Movs = moves::MOVS,
    Fbl = logic::FBL,
    Fbh = logic::FBH,
    Subroutine = control::SUBROUTINE,
    Label = control::LABEL,
    Jmp = control::JMP,
    Call = control::CALL,
    Ret = control::RET,
    OwordLd = dataport::OWORD_LD,
    OwordSt = dataport::OWORD_ST,
    MediaLd = dataport::MEDIA_LD,
    MediaSt = dataport::MEDIA_ST,
    Gather = dataport::GATHER,
    Scatter = dataport::SCATTER,
    OwordLdUnaligned = dataport::OWORD_LD_UNALIGNED,
    Min = moves::MIN,
    Max = moves::MAX,
    Bfe = logic::BFE,
    Bfi = logic::BFI,
    Bfrev = logic::BFREV,
    Addc = integer::ADDC,
    Subb = integer::SUBB,
    Gather4Typed = dataport::GATHER4_TYPED,
    Scatter4Typed = dataport::SCATTER4_TYPED,
    SvmBlockLd = svm::SVM_BLOCK_LD,
    SvmBlockSt = svm::SVM_BLOCK_ST,
    SvmGather = svm::SVM_GATHER,
    SvmScatter = svm::SVM_SCATTER,
    SvmAtomic = svm::SVM_ATOMIC,
    SvmGather4Scaled = svm::SVM_GATHER4_SCALED,
    SvmScatter4Scaled = svm::SVM_SCATTER4_SCALED,
    Ifcall = control::IFCALL,
    Ifcall42 = control::IFCALL_42,
    Faddr = control::FADDR,
    File = sync::FILE,
    Loc = sync::LOC,
    Barrier = sync::BARRIER,
    SamplerCacheFlush = sync::SAMPLER_CACHE_FLUSH,
    Wait = sync::WAIT,
    Fence = sync::FENCE,
    Yield = sync::YIELD,
    Nbarrier = sync::NBARRIER,
    Nbarrier42 = sync::NBARRIER_42,
    Fcall = control::FCALL,
    Fret = control::FRET,
    Switchjmp = control::SWITCHJMP,
    Sad2add = integer::SAD2ADD,
    Plane = integer::PLANE,
    Goto = control::GOTO,
    TypedAtomic = dataport::TYPED_ATOMIC,
    Gather4Scaled = dataport::GATHER4_SCALED,
    Scatter4Scaled = dataport::SCATTER4_SCALED,
    GatherScaled = dataport::GATHER_SCALED,
    ScatterScaled = dataport::SCATTER_SCALED,
    Lifetime = sync::LIFETIME,
    Sbarrier = sync::SBARRIER,
    DwordAtomic = dataport::DWORD_ATOMIC,
    Sqrtm = math::SQRTM,
    Divm = math::DIVM,
    Rol = logic::ROL,
    Ror = logic::ROR,
    Dp4a = integer::DP4A,
    Add3 = integer::ADD3,
    Bfn = logic::BFN,
    QwGather = dataport::QW_GATHER,
    QwScatter = dataport::QW_SCATTER,
    LscLoad = lsc::LSC_LOAD,
    LscLoadStrided = lsc::LSC_LOAD_STRIDED,
    LscLoadQuad = lsc::LSC_LOAD_QUAD,
    LscLoadBlock2d = lsc::LSC_LOAD_BLOCK2D,
    LscStore = lsc::LSC_STORE,
    LscStoreStrided = lsc::LSC_STORE_STRIDED,
    LscStoreQuad = lsc::LSC_STORE_QUAD,
    LscStoreBlock2d = lsc::LSC_STORE_BLOCK2D,
    LscAtomicIinc = lsc::LSC_ATOMIC_IINC,
    LscAtomicIdec = lsc::LSC_ATOMIC_IDEC,
    LscAtomicLoad = lsc::LSC_ATOMIC_LOAD,
    LscAtomicStore = lsc::LSC_ATOMIC_STORE,
    LscAtomicIadd = lsc::LSC_ATOMIC_IADD,
    LscAtomicIsub = lsc::LSC_ATOMIC_ISUB,
    LscAtomicSmin = lsc::LSC_ATOMIC_SMIN,
    LscAtomicSmax = lsc::LSC_ATOMIC_SMAX,
    LscAtomicUmin = lsc::LSC_ATOMIC_UMIN,
    LscAtomicUmax = lsc::LSC_ATOMIC_UMAX,
    LscAtomicIcas = lsc::LSC_ATOMIC_ICAS,
    LscAtomicFadd = lsc::LSC_ATOMIC_FADD,
    LscAtomicFsub = lsc::LSC_ATOMIC_FSUB,
    LscAtomicFmin = lsc::LSC_ATOMIC_FMIN,
    LscAtomicFmax = lsc::LSC_ATOMIC_FMAX,
    LscAtomicFcas = lsc::LSC_ATOMIC_FCAS,
    LscAtomicAnd = lsc::LSC_ATOMIC_AND,
    LscAtomicOr = lsc::LSC_ATOMIC_OR,
    LscAtomicXor = lsc::LSC_ATOMIC_XOR,
    LscLoadStatus = lsc::LSC_LOAD_STATUS,
    LscStoreUncompressed = lsc::LSC_STORE_UNCOMPRESSED,
    LscCcsUpdate = lsc::LSC_CCS_UPDATE,
    LscAtomicBfadd = lsc::LSC_ATOMIC_BFADD,
    LscAtomicBfsub = lsc::LSC_ATOMIC_BFSUB,
    LscAtomicBfmin = lsc::LSC_ATOMIC_BFMIN,
    LscAtomicBfmax = lsc::LSC_ATOMIC_BFMAX,
    LscAtomicBfcas = lsc::LSC_ATOMIC_BFCAS,
    LscTypedLoadQuad = lsc::LSC_TYPED_LOAD_QUAD,
    LscTypedStoreQuad = lsc::LSC_TYPED_STORE_QUAD,
    LscTypedAtomicIinc = lsc::LSC_TYPED_ATOMIC_IINC,
    LscTypedAtomicIdec = lsc::LSC_TYPED_ATOMIC_IDEC,
    LscTypedAtomicLoad = lsc::LSC_TYPED_ATOMIC_LOAD,
    LscTypedAtomicStore = lsc::LSC_TYPED_ATOMIC_STORE,
    LscTypedAtomicIadd = lsc::LSC_TYPED_ATOMIC_IADD,
    LscTypedAtomicIsub = lsc::LSC_TYPED_ATOMIC_ISUB,
    LscTypedAtomicSmin = lsc::LSC_TYPED_ATOMIC_SMIN,
    LscTypedAtomicSmax = lsc::LSC_TYPED_ATOMIC_SMAX,
    LscTypedAtomicUmin = lsc::LSC_TYPED_ATOMIC_UMIN,
    LscTypedAtomicUmax = lsc::LSC_TYPED_ATOMIC_UMAX,
    LscTypedAtomicIcas = lsc::LSC_TYPED_ATOMIC_ICAS,
    LscTypedAtomicFadd = lsc::LSC_TYPED_ATOMIC_FADD,
    LscTypedAtomicFsub = lsc::LSC_TYPED_ATOMIC_FSUB,
    LscTypedAtomicFmin = lsc::LSC_TYPED_ATOMIC_FMIN,
    LscTypedAtomicFmax = lsc::LSC_TYPED_ATOMIC_FMAX,
    LscTypedAtomicFcas = lsc::LSC_TYPED_ATOMIC_FCAS,
    LscTypedAtomicAnd = lsc::LSC_TYPED_ATOMIC_AND,
    LscTypedAtomicOr = lsc::LSC_TYPED_ATOMIC_OR,
    LscTypedAtomicXor = lsc::LSC_TYPED_ATOMIC_XOR,
    LscTypedLoadStatus = lsc::LSC_TYPED_LOAD_STATUS,
    LscTypedStoreUncompressed = lsc::LSC_TYPED_STORE_UNCOMPRESSED,
    LscTypedCcsUpdate = lsc::LSC_TYPED_CCS_UPDATE,
    LscTypedReadStateInfo = lsc::LSC_TYPED_READ_STATE_INFO,
    LscTypedLoadQuadMsrt = lsc::LSC_TYPED_LOAD_QUAD_MSRT,
    LscTypedStoreQuadMsrt = lsc::LSC_TYPED_STORE_QUAD_MSRT,
    LscFence = lsc::LSC_FENCE,
    Madw = integer::MADW,
    Add3o = integer::ADD3O,
}

impl Op {
    /// The row.
    pub fn desc(self) -> &'static InstDesc {
        TABLE[self as usize]
    }

    /// The row for an opcode (and sub-opcode byte, for families) in a format version.
    ///
    /// Where several rows share an opcode (`min` and `max`), the first; the reader refines by its
    /// forms' fixed fields.
    pub fn from_binary(opcode: u8, sub: Option<u8>, version: (u8, u8)) -> Option<Op> {
        Op::ALL.iter().copied().find(|op| {
            let d = op.desc();
            d.opcode == opcode && d.sub == sub && d.versions.contains(version)
        })
    }

    /// Does this opcode byte have a sub-opcode byte after it?
    pub fn has_sub(opcode: u8) -> bool {
        TABLE.iter().any(|d| d.opcode == opcode && d.sub.is_some())
    }
}
