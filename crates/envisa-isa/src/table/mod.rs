//! The instruction table: one row an instruction, in the numbering of the specification.

mod additions;
mod common;
mod control;
mod dataport;
mod integer;
mod logic;
mod lookup;
mod lsc;
mod math;
mod media;
mod moves;
mod raw;
mod sampler;
mod svm;
mod sync;
mod systolic;

pub use lookup::{RESERVED, reserved};

use crate::InstDesc;
use crate::desc::{Bytes, Slot};

#[cfg(test)]
mod tests;

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
    Dpasw = systolic::DPASW,
    Fcvt = additions::FCVT,
    Srnd = additions::SRND,
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
    Sample = sampler::SAMPLE,
    SampleUnorm = sampler::SAMPLE_UNORM,
    Load = sampler::LOAD,
    Avs = sampler::AVS,
    VaConvolve2d = media::VA_CONVOLVE_2D,
    VaMinmax = media::VA_MINMAX,
    VaMinmaxfilter = media::VA_MINMAXFILTER,
    VaErode = media::VA_ERODE,
    VaDilate = media::VA_DILATE,
    VaBoolcentroid = media::VA_BOOLCENTROID,
    VaCentroid = media::VA_CENTROID,
    Min = moves::MIN,
    Max = moves::MAX,
    Bfe = logic::BFE,
    Bfi = logic::BFI,
    Bfrev = logic::BFREV,
    Addc = integer::ADDC,
    Subb = integer::SUBB,
    Gather4Typed = dataport::GATHER4_TYPED,
    Scatter4Typed = dataport::SCATTER4_TYPED,
    VaConvolve1dV = media::VA_CONVOLVE_1D_V,
    VaConvolve1dH = media::VA_CONVOLVE_1D_H,
    VaConvolve1pixel = media::VA_CONVOLVE_1PIXEL,
    VaFloodfill = media::VA_FLOODFILL,
    VaLbpcreation = media::VA_LBPCREATION,
    VaLbpcorrelation = media::VA_LBPCORRELATION,
    VaCorrelationsearch = media::VA_CORRELATIONSEARCH,
    VaHdcConvolve2d = media::VA_HDC_CONVOLVE_2D,
    VaHdcMinmaxfilter = media::VA_HDC_MINMAXFILTER,
    VaHdcErode = media::VA_HDC_ERODE,
    VaHdcDilate = media::VA_HDC_DILATE,
    VaHdcLbpcorrelation = media::VA_HDC_LBPCORRELATION,
    VaHdcLbpcreation = media::VA_HDC_LBPCREATION,
    VaHdcConvolve1dH = media::VA_HDC_CONVOLVE_1D_H,
    VaHdcConvolve1dV = media::VA_HDC_CONVOLVE_1D_V,
    VaHdcConvolve1pixel = media::VA_HDC_CONVOLVE_1PIXEL,
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
    VmeIme = media::VME_IME,
    VmeSic = media::VME_SIC,
    VmeFbr = media::VME_FBR,
    VmeIdm = media::VME_IDM,
    Barrier = sync::BARRIER,
    SamplerCacheFlush = sync::SAMPLER_CACHE_FLUSH,
    Wait = sync::WAIT,
    Fence = sync::FENCE,
    RawSend = raw::RAW_SEND,
    Yield = sync::YIELD,
    Nbarrier = sync::NBARRIER,
    Nbarrier42 = sync::NBARRIER_42,
    Fcall = control::FCALL,
    Fret = control::FRET,
    Switchjmp = control::SWITCHJMP,
    Sad2add = integer::SAD2ADD,
    Plane = integer::PLANE,
    Goto = control::GOTO,
    Sample3d = sampler::SAMPLE_3D,
    Sample3dB = sampler::SAMPLE_3D_B,
    Sample3dL = sampler::SAMPLE_3D_L,
    Sample3dC = sampler::SAMPLE_3D_C,
    Sample3dD = sampler::SAMPLE_3D_D,
    Sample3dBC = sampler::SAMPLE_3D_B_C,
    Sample3dLC = sampler::SAMPLE_3D_L_C,
    Sample3dLod = sampler::SAMPLE_3D_LOD,
    Sample3dKillpix = sampler::SAMPLE_3D_KILLPIX,
    Sample3dDCMlod = sampler::SAMPLE_3D_D_C_MLOD,
    Sample3dMlod = sampler::SAMPLE_3D_MLOD,
    Sample3dCMlod = sampler::SAMPLE_3D_C_MLOD,
    Sample3dDC = sampler::SAMPLE_3D_D_C,
    Sample3dLz = sampler::SAMPLE_3D_LZ,
    Sample3dCLz = sampler::SAMPLE_3D_C_LZ,
    Sample3dPo = sampler::SAMPLE_3D_PO,
    Sample3dPoB = sampler::SAMPLE_3D_PO_B,
    Sample3dPoL = sampler::SAMPLE_3D_PO_L,
    Sample3dPoC = sampler::SAMPLE_3D_PO_C,
    Sample3dPoD = sampler::SAMPLE_3D_PO_D,
    Sample3dPoLC = sampler::SAMPLE_3D_PO_L_C,
    Sample3dPoLz = sampler::SAMPLE_3D_PO_LZ,
    Sample3dPoCLz = sampler::SAMPLE_3D_PO_C_LZ,
    Sample3dPoBC = sampler::SAMPLE_3D_PO_B_C,
    Sample3dPoDC = sampler::SAMPLE_3D_PO_D_C,
    Load3d = sampler::LOAD_3D,
    Load3dLz = sampler::LOAD_3D_LZ,
    Load3dL = sampler::LOAD_3D_L,
    Load3d2dmsW = sampler::LOAD_3D_2DMS_W,
    Load3dMcs = sampler::LOAD_3D_MCS,
    Sample43d = sampler::SAMPLE4_3D,
    Sample43dL = sampler::SAMPLE4_3D_L,
    Sample43dB = sampler::SAMPLE4_3D_B,
    Sample43dI = sampler::SAMPLE4_3D_I,
    Sample43dC = sampler::SAMPLE4_3D_C,
    Sample43dPo = sampler::SAMPLE4_3D_PO,
    Sample43dPoC = sampler::SAMPLE4_3D_PO_C,
    Sample43dIC = sampler::SAMPLE4_3D_I_C,
    Sample43dLC = sampler::SAMPLE4_3D_L_C,
    Sample43dPoPacked = sampler::SAMPLE4_3D_PO_PACKED,
    Sample43dPoPackedL = sampler::SAMPLE4_3D_PO_PACKED_L,
    Sample43dPoPackedB = sampler::SAMPLE4_3D_PO_PACKED_B,
    Sample43dPoPackedI = sampler::SAMPLE4_3D_PO_PACKED_I,
    Sample43dPoPackedC = sampler::SAMPLE4_3D_PO_PACKED_C,
    Sample43dPoPackedIC = sampler::SAMPLE4_3D_PO_PACKED_I_C,
    Sample43dPoPackedLC = sampler::SAMPLE4_3D_PO_PACKED_L_C,
    Resinfo = sampler::RESINFO,
    Sampleinfo = sampler::SAMPLEINFO,
    RtWrite = sampler::RT_WRITE,
    UrbWrite = sampler::URB_WRITE,
    TypedAtomic = dataport::TYPED_ATOMIC,
    Gather4Scaled = dataport::GATHER4_SCALED,
    Scatter4Scaled = dataport::SCATTER4_SCALED,
    GatherScaled = dataport::GATHER_SCALED,
    ScatterScaled = dataport::SCATTER_SCALED,
    RawSends = raw::RAW_SENDS,
    Lifetime = sync::LIFETIME,
    Sbarrier = sync::SBARRIER,
    DwordAtomic = dataport::DWORD_ATOMIC,
    Sqrtm = math::SQRTM,
    Divm = math::DIVM,
    Rol = logic::ROL,
    Ror = logic::ROR,
    Dp4a = integer::DP4A,
    Dpas = systolic::DPAS,
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
    LscApndctrAtomicAdd = lsc::LSC_APNDCTR_ATOMIC_ADD,
    LscApndctrAtomicSub = lsc::LSC_APNDCTR_ATOMIC_SUB,
    LscApndctrAtomicStore = lsc::LSC_APNDCTR_ATOMIC_STORE,
    LscExtendedCacheCtrl = lsc::LSC_EXTENDED_CACHE_CTRL,
    LscLoadQuadStatus = lsc::LSC_LOAD_QUAD_STATUS,
    LscTypedLoadQuad = lsc::LSC_TYPED_LOAD_QUAD,
    LscTypedLoadBlock2d = lsc::LSC_TYPED_LOAD_BLOCK2D,
    LscTypedStoreQuad = lsc::LSC_TYPED_STORE_QUAD,
    LscTypedStoreBlock2d = lsc::LSC_TYPED_STORE_BLOCK2D,
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
    LscTypedLoadQuadStatus = lsc::LSC_TYPED_LOAD_QUAD_STATUS,
    LscFence = lsc::LSC_FENCE,
    RtRead = sampler::RT_READ,
    Madw = integer::MADW,
    Add3o = integer::ADD3O,
    RawSendg = raw::RAW_SENDG,
    Breakpoint = additions::BREAKPOINT,
    ShflIdx4 = additions::SHFL_IDX4,
    Tanh = additions::TANH,
    Sigm = additions::SIGM,
    Lfsr = additions::LFSR,
    Bdpas = systolic::BDPAS,
    Dnscl = additions::DNSCL,
    Invm = additions::INVM,
    Rsqtm = additions::RSQTM,
}

/// Do all slots that are raw registers say so?
const fn says_what_it_touches(slots: &[Slot]) -> bool {
    let mut i = 0;
    while i < slots.len() {
        if matches!(slots[i].bytes, Bytes::Undefined) {
            return false;
        }
        i += 1;
    }
    true
}

// A row that does not say what it does and what it touches, or whose effect on memory is another than its
// operation's, does not compile.
const _: () = {
    let mut i = 0;
    while i < TABLE.len() {
        let row = TABLE[i];
        match row.operation {
            None => panic!("a row of the table has no operation"),
            Some(operation) => {
                assert!(
                    operation.has_effect(row.effect),
                    "the effect of a row of the table is not that of its operation"
                );
                assert!(
                    !operation.is_executed() || says_what_it_touches(row.slots),
                    "a row of the table does not say how many bytes of a register operand are touched"
                );
            }
        }
        i += 1;
    }
};

impl Op {
    /// The row.
    pub fn desc(self) -> &'static InstDesc {
        TABLE[self as usize]
    }
}
