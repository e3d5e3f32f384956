//! Which operation a row of the table lowers to.

use crate::program::Op;

/// How a row is lowered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Channels compute: destination, sources.
    Alu(Op),
    /// The row is treated by name.
    Special,
    /// A memory message: see [`crate::messages`].
    Message,
    /// No effect on a program's results.
    Nop,
    /// Not executed, and why.
    Unsupported(&'static str),
}

/// The kind of a row, by its name; `None` for a name that is not known here (a test holds this against
/// the table).
pub(crate) fn kind(name: &str) -> Option<Kind> {
    use Kind::*;
    Some(match name {
        "ADD" => Alu(Op::Add),
        "ADD3" => Alu(Op::Add3),
        "ADD3O" => Alu(Op::Add3o),
        "ADDC" => Alu(Op::Addc),
        "SUBB" => Alu(Op::Subb),
        "MUL" => Alu(Op::Mul),
        "MULH" => Alu(Op::Mulh),
        "MAD" => Alu(Op::Mad),
        "MADW" => Alu(Op::Madw),
        "LRP" => Alu(Op::Lrp),
        "PLN" | "PLANE" => Alu(Op::Pln),
        "LINE" => Alu(Op::Line),
        "DP2" => Alu(Op::Dp2),
        "DP3" => Alu(Op::Dp3),
        "DP4" => Alu(Op::Dp4),
        "DPH" => Alu(Op::Dph),
        "DIV" => Alu(Op::Div),
        "MOD" => Alu(Op::Mod),
        "MIN" => Alu(Op::Min),
        "MAX" => Alu(Op::Max),
        "AVG" => Alu(Op::Avg),
        "SAD2" => Alu(Op::Sad2),
        "SAD2ADD" => Alu(Op::Sad2add),
        "DP4A" => Alu(Op::Dp4a),
        "INV" => Alu(Op::Inv),
        "RSQRT" => Alu(Op::Rsqrt),
        "SQRT" => Alu(Op::Sqrt),
        "EXP" => Alu(Op::Exp),
        "LOG" => Alu(Op::Log),
        "POW" => Alu(Op::Pow),
        "SIN" => Alu(Op::Sin),
        "COS" => Alu(Op::Cos),
        "TANH" => Alu(Op::Tanh),
        "SIGM" => Alu(Op::Sigm),
        "DIVM" => Alu(Op::Divm),
        "SQRTM" => Alu(Op::Sqrtm),
        "INVM" => Alu(Op::Invm),
        "RSQTM" => Alu(Op::Rsqtm),
        "FRC" => Alu(Op::Frc),
        "RNDD" => Alu(Op::Rndd),
        "RNDU" => Alu(Op::Rndu),
        "RNDE" => Alu(Op::Rnde),
        "RNDZ" => Alu(Op::Rndz),
        "SHL" => Alu(Op::Shl),
        "SHR" => Alu(Op::Shr),
        "ASR" => Alu(Op::Asr),
        "ROL" => Alu(Op::Rol),
        "ROR" => Alu(Op::Ror),
        "BFN" => Alu(Op::Bfn),
        "BFE" => Alu(Op::Bfe),
        "BFI" => Alu(Op::Bfi),
        "BFREV" => Alu(Op::Bfrev),
        "CBIT" => Alu(Op::Cbit),
        "FBH" => Alu(Op::Fbh),
        "FBL" => Alu(Op::Fbl),
        "LZD" => Alu(Op::Lzd),
        "SEL" => Alu(Op::Sel),
        "FCVT" => Alu(Op::Fcvt),
        "SRND" => Alu(Op::Srnd),
        "AND" | "OR" | "XOR" | "NOT" | "MOV" | "MOVS" | "CMP" | "SETP" | "ADDR_ADD" | "DPAS" | "DPASW"
        | "SUBROUTINE" | "LABEL" | "RET" | "GOTO" | "JMP" | "CALL" | "FCALL" | "IFCALL" | "FRET"
        | "FADDR" | "SWITCHJMP" | "SBARRIER" | "BARRIER" | "NBARRIER" | "NBARRIER_SIGNAL"
        | "NBARRIER_WAIT" => Special,
        "FILE"
        | "LOC"
        | "LIFETIME"
        | "YIELD"
        | "FENCE"
        | "LSC_FENCE"
        | "CACHE_FLUSH"
        | "LSC_EXTENDED_CACHE_CTRL"
        | "SAMPLER_CACHE_FLUSH"
        | "FENCE_GLOBAL"
        | "FENCE_LOCAL"
        | "FENCE_SW"
        | "BREAKPOINT" => Nop,
        "WAIT" => Unsupported("it waits for a notification from outside of the thread group"),
        "FCCALL" => Unsupported("composable functions are linked before execution"),
        n if n.starts_with("RAW_SEND") => Unsupported("a raw message's meaning is in its descriptor"),
        n if n.starts_with("VME") => Unsupported("video motion estimation has no public definition"),
        n if n.starts_with("AVS") => Unsupported("the adaptive video scaler has no public definition"),
        n if n == "VA" || n.starts_with("VA_") => {
            Unsupported("the video analytics unit has no public definition")
        }
        n if n.starts_with("RT_") => Unsupported("there is no render target"),
        n if n.starts_with("URB") => Unsupported("there is no unified return buffer"),
        n if n.starts_with("SAMPLE")
            || n.starts_with("3D_SAMPLE")
            || n.starts_with("LOAD")
            || n.starts_with("3D_LOAD")
            || n.starts_with("INFO")
            || n.starts_with("RESINFO")
            || n.starts_with("3D_INFO") =>
        {
            Message
        }
        n if n.starts_with("SVM")
            || n.starts_with("LSC")
            || n.starts_with("OWORD")
            || n.starts_with("QW_")
            || n.starts_with("MEDIA")
            || n.starts_with("GATHER")
            || n.starts_with("SCATTER")
            || n.ends_with("_ATOMIC")
            || n.starts_with("DWORD_ATOMIC")
            || n.starts_with("TYPED_ATOMIC") =>
        {
            Message
        }
        _ => return None,
    })
}
