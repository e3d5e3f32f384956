//! Vector instructions by width: the encodings of AVX-512 for 128, 256 and 512 bits.

use iced_x86::Code;

/// Bytes of a vector: index into an [`Op`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Width {
    X,
    Y,
    Z,
}

impl Width {
    /// Of this many bytes, 16 at least.
    pub fn of(bytes: u32) -> Width {
        match bytes {
            0..=16 => Width::X,
            17..=32 => Width::Y,
            _ => Width::Z,
        }
    }
}

/// An instruction for vectors of 16, 32 and 64 bytes.
pub(crate) type Op = [Code; 3];

/// A dword of a general register in all lanes.
pub(crate) const SPREAD: Op = [
    Code::EVEX_Vpbroadcastd_xmm_k1z_r32,
    Code::EVEX_Vpbroadcastd_ymm_k1z_r32,
    Code::EVEX_Vpbroadcastd_zmm_k1z_r32,
];

macro_rules! ops {
    ($($name:ident: $x:ident $y:ident $z:ident;)*) => {
        $(pub(crate) const $name: Op = [Code::$x, Code::$y, Code::$z];)*

        /// Widths of the first two operands, by [`Code`]: see [`operand`].
        static WIDTHS: [u8; CODES] = {
            let mut all = [0; CODES];
            $(
                all[Code::$x as usize] = operand_widths(stringify!($x));
                all[Code::$y as usize] = operand_widths(stringify!($y));
                all[Code::$z as usize] = operand_widths(stringify!($z));
            )*
            all
        };

        /// Which instruction it is, whatever its width.
        #[allow(clippy::upper_case_acronyms)]
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum Name {
            $($name,)*
        }

        /// By [`Code`]: the name, and the width's index in an [`Op`].
        static NAMES: [Option<(Name, u8)>; CODES] = {
            let mut all = [None; CODES];
            $(
                all[Code::$x as usize] = Some((Name::$name, 0));
                all[Code::$y as usize] = Some((Name::$name, 1));
                all[Code::$z as usize] = Some((Name::$name, 2));
            )*
            all
        };
    };
}

/// The name of an encoding, and its width's index in an [`Op`]; of those that have one width only, the widest.
pub(crate) fn name(c: Code) -> Option<(Name, usize)> {
    NAMES[c as usize].map(|(name, w)| (name, usize::from(w)))
}

/// More than x86 has encodings.
const CODES: usize = 5000;

/// The width that a code's name gives one of its first two operands, 0 and 1; none where that is no vector.
pub(crate) fn operand(c: Code, k: u32) -> Option<Width> {
    match WIDTHS[c as usize] >> (4 * k) & 15 {
        1 => Some(Width::X),
        2 => Some(Width::Y),
        3 => Some(Width::Z),
        _ => None,
    }
}

/// Widths of the first two operands that a name tells, four bits each: `EVEX_Vpmovdb_xmmm128_k1z_zmm` stores a
/// vector of 64 bytes to one of 16. (The encoder crate's own description of its codes takes milliseconds to build.)
const fn operand_widths(name: &str) -> u8 {
    let name = name.as_bytes();
    let (mut all, mut found, mut part, mut at) = (0, 0, 0, 0);
    while at < name.len() {
        let mut end = at;
        while end < name.len() && name[end] != b'_' {
            end += 1;
        }
        // Parts 0 and 1 are encoding and mnemonic; `k1` and `k1z` are the mask, no operand.
        let mask = end - at >= 2 && name[at] == b'k' && name[at + 1] == b'1';
        if part >= 2 && !mask && found < 2 {
            // `zmm`, `zmmm512b32`; `vm32z` by its last letter.
            let vector = end - at >= 3 && name[at + 1] == b'm' && name[at + 2] == b'm';
            let indexed = end - at == 5 && name[at] == b'v' && name[at + 1] == b'm';
            let letter = if vector {
                name[at]
            } else if indexed {
                name[end - 1]
            } else {
                0
            };
            let width = match letter {
                b'x' => 1,
                b'y' => 2,
                b'z' => 3,
                _ => 0,
            };
            all |= width << (4 * found);
            found += 1;
        }
        part += 1;
        at = end + 1;
    }
    all
}

ops! {
    VSCALEFPS: EVEX_Vscalefps_xmm_k1z_xmm_xmmm128b32 EVEX_Vscalefps_ymm_k1z_ymm_ymmm256b32 EVEX_Vscalefps_zmm_k1z_zmm_zmmm512b32_er;
    VPDPBUSD: EVEX_Vpdpbusd_xmm_k1z_xmm_xmmm128b32 EVEX_Vpdpbusd_ymm_k1z_ymm_ymmm256b32 EVEX_Vpdpbusd_zmm_k1z_zmm_zmmm512b32;
    VPSHUFB: EVEX_Vpshufb_xmm_k1z_xmm_xmmm128 EVEX_Vpshufb_ymm_k1z_ymm_ymmm256 EVEX_Vpshufb_zmm_k1z_zmm_zmmm512;
    VPMOVM2B: EVEX_Vpmovm2b_xmm_kr EVEX_Vpmovm2b_ymm_kr EVEX_Vpmovm2b_zmm_kr;
    VPMOVM2W: EVEX_Vpmovm2w_xmm_kr EVEX_Vpmovm2w_ymm_kr EVEX_Vpmovm2w_zmm_kr;
    VPMOVM2D: EVEX_Vpmovm2d_xmm_kr EVEX_Vpmovm2d_ymm_kr EVEX_Vpmovm2d_zmm_kr;
    VPMOVM2Q: EVEX_Vpmovm2q_xmm_kr EVEX_Vpmovm2q_ymm_kr EVEX_Vpmovm2q_zmm_kr;
    VPERMD: EVEX_Vpermd_zmm_k1z_zmm_zmmm512b32 EVEX_Vpermd_zmm_k1z_zmm_zmmm512b32 EVEX_Vpermd_zmm_k1z_zmm_zmmm512b32;
    VADDPS: EVEX_Vaddps_xmm_k1z_xmm_xmmm128b32 EVEX_Vaddps_ymm_k1z_ymm_ymmm256b32 EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er;
    VSUBPS: EVEX_Vsubps_xmm_k1z_xmm_xmmm128b32 EVEX_Vsubps_ymm_k1z_ymm_ymmm256b32 EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er;
    VMULPS: EVEX_Vmulps_xmm_k1z_xmm_xmmm128b32 EVEX_Vmulps_ymm_k1z_ymm_ymmm256b32 EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er;
    VDIVPS: EVEX_Vdivps_xmm_k1z_xmm_xmmm128b32 EVEX_Vdivps_ymm_k1z_ymm_ymmm256b32 EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er;
    VMINPS: EVEX_Vminps_xmm_k1z_xmm_xmmm128b32 EVEX_Vminps_ymm_k1z_ymm_ymmm256b32 EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae;
    VMAXPS: EVEX_Vmaxps_xmm_k1z_xmm_xmmm128b32 EVEX_Vmaxps_ymm_k1z_ymm_ymmm256b32 EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae;
    VANDPS: EVEX_Vandps_xmm_k1z_xmm_xmmm128b32 EVEX_Vandps_ymm_k1z_ymm_ymmm256b32 EVEX_Vandps_zmm_k1z_zmm_zmmm512b32;
    VADDPD: EVEX_Vaddpd_xmm_k1z_xmm_xmmm128b64 EVEX_Vaddpd_ymm_k1z_ymm_ymmm256b64 EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er;
    VSUBPD: EVEX_Vsubpd_xmm_k1z_xmm_xmmm128b64 EVEX_Vsubpd_ymm_k1z_ymm_ymmm256b64 EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er;
    VMULPD: EVEX_Vmulpd_xmm_k1z_xmm_xmmm128b64 EVEX_Vmulpd_ymm_k1z_ymm_ymmm256b64 EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er;
    VDIVPD: EVEX_Vdivpd_xmm_k1z_xmm_xmmm128b64 EVEX_Vdivpd_ymm_k1z_ymm_ymmm256b64 EVEX_Vdivpd_zmm_k1z_zmm_zmmm512b64_er;
    VMINPD: EVEX_Vminpd_xmm_k1z_xmm_xmmm128b64 EVEX_Vminpd_ymm_k1z_ymm_ymmm256b64 EVEX_Vminpd_zmm_k1z_zmm_zmmm512b64_sae;
    VMAXPD: EVEX_Vmaxpd_xmm_k1z_xmm_xmmm128b64 EVEX_Vmaxpd_ymm_k1z_ymm_ymmm256b64 EVEX_Vmaxpd_zmm_k1z_zmm_zmmm512b64_sae;
    VCVTPD2PS: EVEX_Vcvtpd2ps_xmm_k1z_xmmm128b64 EVEX_Vcvtpd2ps_xmm_k1z_ymmm256b64 EVEX_Vcvtpd2ps_ymm_k1z_zmmm512b64_er;
    VPADDD: EVEX_Vpaddd_xmm_k1z_xmm_xmmm128b32 EVEX_Vpaddd_ymm_k1z_ymm_ymmm256b32 EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32;
    VPSUBD: EVEX_Vpsubd_xmm_k1z_xmm_xmmm128b32 EVEX_Vpsubd_ymm_k1z_ymm_ymmm256b32 EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32;
    VPMULLD: EVEX_Vpmulld_xmm_k1z_xmm_xmmm128b32 EVEX_Vpmulld_ymm_k1z_ymm_ymmm256b32 EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32;
    VPMINSD: EVEX_Vpminsd_xmm_k1z_xmm_xmmm128b32 EVEX_Vpminsd_ymm_k1z_ymm_ymmm256b32 EVEX_Vpminsd_zmm_k1z_zmm_zmmm512b32;
    VPMAXSD: EVEX_Vpmaxsd_xmm_k1z_xmm_xmmm128b32 EVEX_Vpmaxsd_ymm_k1z_ymm_ymmm256b32 EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32;
    VPMINUD: EVEX_Vpminud_xmm_k1z_xmm_xmmm128b32 EVEX_Vpminud_ymm_k1z_ymm_ymmm256b32 EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32;
    VPMAXUD: EVEX_Vpmaxud_xmm_k1z_xmm_xmmm128b32 EVEX_Vpmaxud_ymm_k1z_ymm_ymmm256b32 EVEX_Vpmaxud_zmm_k1z_zmm_zmmm512b32;
    VPANDD: EVEX_Vpandd_xmm_k1z_xmm_xmmm128b32 EVEX_Vpandd_ymm_k1z_ymm_ymmm256b32 EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32;
    VPORD: EVEX_Vpord_xmm_k1z_xmm_xmmm128b32 EVEX_Vpord_ymm_k1z_ymm_ymmm256b32 EVEX_Vpord_zmm_k1z_zmm_zmmm512b32;
    VPXORD: EVEX_Vpxord_xmm_k1z_xmm_xmmm128b32 EVEX_Vpxord_ymm_k1z_ymm_ymmm256b32 EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32;
    VPANDND: EVEX_Vpandnd_xmm_k1z_xmm_xmmm128b32 EVEX_Vpandnd_ymm_k1z_ymm_ymmm256b32 EVEX_Vpandnd_zmm_k1z_zmm_zmmm512b32;
    VPADDQ: EVEX_Vpaddq_xmm_k1z_xmm_xmmm128b64 EVEX_Vpaddq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64;
    VPSUBQ: EVEX_Vpsubq_xmm_k1z_xmm_xmmm128b64 EVEX_Vpsubq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpsubq_zmm_k1z_zmm_zmmm512b64;
    VPMULLQ: EVEX_Vpmullq_xmm_k1z_xmm_xmmm128b64 EVEX_Vpmullq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpmullq_zmm_k1z_zmm_zmmm512b64;
    VPMINUB: EVEX_Vpminub_xmm_k1z_xmm_xmmm128 EVEX_Vpminub_ymm_k1z_ymm_ymmm256 EVEX_Vpminub_zmm_k1z_zmm_zmmm512;
    VPMAXUB: EVEX_Vpmaxub_xmm_k1z_xmm_xmmm128 EVEX_Vpmaxub_ymm_k1z_ymm_ymmm256 EVEX_Vpmaxub_zmm_k1z_zmm_zmmm512;
    VPMINSB: EVEX_Vpminsb_xmm_k1z_xmm_xmmm128 EVEX_Vpminsb_ymm_k1z_ymm_ymmm256 EVEX_Vpminsb_zmm_k1z_zmm_zmmm512;
    VPMAXSB: EVEX_Vpmaxsb_xmm_k1z_xmm_xmmm128 EVEX_Vpmaxsb_ymm_k1z_ymm_ymmm256 EVEX_Vpmaxsb_zmm_k1z_zmm_zmmm512;
    VPADDW: EVEX_Vpaddw_xmm_k1z_xmm_xmmm128 EVEX_Vpaddw_ymm_k1z_ymm_ymmm256 EVEX_Vpaddw_zmm_k1z_zmm_zmmm512;
    VPSUBW: EVEX_Vpsubw_xmm_k1z_xmm_xmmm128 EVEX_Vpsubw_ymm_k1z_ymm_ymmm256 EVEX_Vpsubw_zmm_k1z_zmm_zmmm512;
    VPADDB: EVEX_Vpaddb_xmm_k1z_xmm_xmmm128 EVEX_Vpaddb_ymm_k1z_ymm_ymmm256 EVEX_Vpaddb_zmm_k1z_zmm_zmmm512;
    VPSUBB: EVEX_Vpsubb_xmm_k1z_xmm_xmmm128 EVEX_Vpsubb_ymm_k1z_ymm_ymmm256 EVEX_Vpsubb_zmm_k1z_zmm_zmmm512;
    VPMULLW: EVEX_Vpmullw_xmm_k1z_xmm_xmmm128 EVEX_Vpmullw_ymm_k1z_ymm_ymmm256 EVEX_Vpmullw_zmm_k1z_zmm_zmmm512;
    VPSUBSW: EVEX_Vpsubsw_xmm_k1z_xmm_xmmm128 EVEX_Vpsubsw_ymm_k1z_ymm_ymmm256 EVEX_Vpsubsw_zmm_k1z_zmm_zmmm512;
    VPSUBUSW: EVEX_Vpsubusw_xmm_k1z_xmm_xmmm128 EVEX_Vpsubusw_ymm_k1z_ymm_ymmm256 EVEX_Vpsubusw_zmm_k1z_zmm_zmmm512;
    VPSUBUSB: EVEX_Vpsubusb_xmm_k1z_xmm_xmmm128 EVEX_Vpsubusb_ymm_k1z_ymm_ymmm256 EVEX_Vpsubusb_zmm_k1z_zmm_zmmm512;
    VPMINUW: EVEX_Vpminuw_xmm_k1z_xmm_xmmm128 EVEX_Vpminuw_ymm_k1z_ymm_ymmm256 EVEX_Vpminuw_zmm_k1z_zmm_zmmm512;
    VPMAXUW: EVEX_Vpmaxuw_xmm_k1z_xmm_xmmm128 EVEX_Vpmaxuw_ymm_k1z_ymm_ymmm256 EVEX_Vpmaxuw_zmm_k1z_zmm_zmmm512;
    VPMINSW: EVEX_Vpminsw_xmm_k1z_xmm_xmmm128 EVEX_Vpminsw_ymm_k1z_ymm_ymmm256 EVEX_Vpminsw_zmm_k1z_zmm_zmmm512;
    VPMAXSW: EVEX_Vpmaxsw_xmm_k1z_xmm_xmmm128 EVEX_Vpmaxsw_ymm_k1z_ymm_ymmm256 EVEX_Vpmaxsw_zmm_k1z_zmm_zmmm512;
    VPMINSQ: EVEX_Vpminsq_xmm_k1z_xmm_xmmm128b64 EVEX_Vpminsq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpminsq_zmm_k1z_zmm_zmmm512b64;
    VPMAXSQ: EVEX_Vpmaxsq_xmm_k1z_xmm_xmmm128b64 EVEX_Vpmaxsq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpmaxsq_zmm_k1z_zmm_zmmm512b64;
    VPMINUQ: EVEX_Vpminuq_xmm_k1z_xmm_xmmm128b64 EVEX_Vpminuq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpminuq_zmm_k1z_zmm_zmmm512b64;
    VPMAXUQ: EVEX_Vpmaxuq_xmm_k1z_xmm_xmmm128b64 EVEX_Vpmaxuq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpmaxuq_zmm_k1z_zmm_zmmm512b64;
    VPANDQ: EVEX_Vpandq_xmm_k1z_xmm_xmmm128b64 EVEX_Vpandq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64;
    VPORQ: EVEX_Vporq_xmm_k1z_xmm_xmmm128b64 EVEX_Vporq_ymm_k1z_ymm_ymmm256b64 EVEX_Vporq_zmm_k1z_zmm_zmmm512b64;
    VPXORQ: EVEX_Vpxorq_xmm_k1z_xmm_xmmm128b64 EVEX_Vpxorq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpxorq_zmm_k1z_zmm_zmmm512b64;
    VPSLLVD: EVEX_Vpsllvd_xmm_k1z_xmm_xmmm128b32 EVEX_Vpsllvd_ymm_k1z_ymm_ymmm256b32 EVEX_Vpsllvd_zmm_k1z_zmm_zmmm512b32;
    VPSRLVD: EVEX_Vpsrlvd_xmm_k1z_xmm_xmmm128b32 EVEX_Vpsrlvd_ymm_k1z_ymm_ymmm256b32 EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32;
    VPSRAVD: EVEX_Vpsravd_xmm_k1z_xmm_xmmm128b32 EVEX_Vpsravd_ymm_k1z_ymm_ymmm256b32 EVEX_Vpsravd_zmm_k1z_zmm_zmmm512b32;
    VPSLLVQ: EVEX_Vpsllvq_xmm_k1z_xmm_xmmm128b64 EVEX_Vpsllvq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpsllvq_zmm_k1z_zmm_zmmm512b64;
    VPSRLVQ: EVEX_Vpsrlvq_xmm_k1z_xmm_xmmm128b64 EVEX_Vpsrlvq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpsrlvq_zmm_k1z_zmm_zmmm512b64;
    VPSRAVQ: EVEX_Vpsravq_xmm_k1z_xmm_xmmm128b64 EVEX_Vpsravq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpsravq_zmm_k1z_zmm_zmmm512b64;
    VPROLVD: EVEX_Vprolvd_xmm_k1z_xmm_xmmm128b32 EVEX_Vprolvd_ymm_k1z_ymm_ymmm256b32 EVEX_Vprolvd_zmm_k1z_zmm_zmmm512b32;
    VPRORVD: EVEX_Vprorvd_xmm_k1z_xmm_xmmm128b32 EVEX_Vprorvd_ymm_k1z_ymm_ymmm256b32 EVEX_Vprorvd_zmm_k1z_zmm_zmmm512b32;
    VPROLVQ: EVEX_Vprolvq_xmm_k1z_xmm_xmmm128b64 EVEX_Vprolvq_ymm_k1z_ymm_ymmm256b64 EVEX_Vprolvq_zmm_k1z_zmm_zmmm512b64;
    VPRORVQ: EVEX_Vprorvq_xmm_k1z_xmm_xmmm128b64 EVEX_Vprorvq_ymm_k1z_ymm_ymmm256b64 EVEX_Vprorvq_zmm_k1z_zmm_zmmm512b64;
    VPUNPCKLDQ: EVEX_Vpunpckldq_xmm_k1z_xmm_xmmm128b32 EVEX_Vpunpckldq_ymm_k1z_ymm_ymmm256b32 EVEX_Vpunpckldq_zmm_k1z_zmm_zmmm512b32;
    VPUNPCKHDQ: EVEX_Vpunpckhdq_xmm_k1z_xmm_xmmm128b32 EVEX_Vpunpckhdq_ymm_k1z_ymm_ymmm256b32 EVEX_Vpunpckhdq_zmm_k1z_zmm_zmmm512b32;
    VPUNPCKLQDQ: EVEX_Vpunpcklqdq_xmm_k1z_xmm_xmmm128b64 EVEX_Vpunpcklqdq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpunpcklqdq_zmm_k1z_zmm_zmmm512b64;
    VPUNPCKHQDQ: EVEX_Vpunpckhqdq_xmm_k1z_xmm_xmmm128b64 EVEX_Vpunpckhqdq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpunpckhqdq_zmm_k1z_zmm_zmmm512b64;
    VPMULUDQ: EVEX_Vpmuludq_xmm_k1z_xmm_xmmm128b64 EVEX_Vpmuludq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpmuludq_zmm_k1z_zmm_zmmm512b64;
    VPMULDQ: EVEX_Vpmuldq_xmm_k1z_xmm_xmmm128b64 EVEX_Vpmuldq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpmuldq_zmm_k1z_zmm_zmmm512b64;
    VPBLENDMD: EVEX_Vpblendmd_xmm_k1z_xmm_xmmm128b32 EVEX_Vpblendmd_ymm_k1z_ymm_ymmm256b32 EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32;
    VPBLENDMQ: EVEX_Vpblendmq_xmm_k1z_xmm_xmmm128b64 EVEX_Vpblendmq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpblendmq_zmm_k1z_zmm_zmmm512b64;
    VPBLENDMW: EVEX_Vpblendmw_xmm_k1z_xmm_xmmm128 EVEX_Vpblendmw_ymm_k1z_ymm_ymmm256 EVEX_Vpblendmw_zmm_k1z_zmm_zmmm512;
    VPBLENDMB: EVEX_Vpblendmb_xmm_k1z_xmm_xmmm128 EVEX_Vpblendmb_ymm_k1z_ymm_ymmm256 EVEX_Vpblendmb_zmm_k1z_zmm_zmmm512;
    VFMADD132PS: EVEX_Vfmadd132ps_xmm_k1z_xmm_xmmm128b32 EVEX_Vfmadd132ps_ymm_k1z_ymm_ymmm256b32 EVEX_Vfmadd132ps_zmm_k1z_zmm_zmmm512b32_er;
    VFMADD213PS: EVEX_Vfmadd213ps_xmm_k1z_xmm_xmmm128b32 EVEX_Vfmadd213ps_ymm_k1z_ymm_ymmm256b32 EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er;
    VFMADD231PS: EVEX_Vfmadd231ps_xmm_k1z_xmm_xmmm128b32 EVEX_Vfmadd231ps_ymm_k1z_ymm_ymmm256b32 EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er;
    VFMSUB132PS: EVEX_Vfmsub132ps_xmm_k1z_xmm_xmmm128b32 EVEX_Vfmsub132ps_ymm_k1z_ymm_ymmm256b32 EVEX_Vfmsub132ps_zmm_k1z_zmm_zmmm512b32_er;
    VFMSUB213PS: EVEX_Vfmsub213ps_xmm_k1z_xmm_xmmm128b32 EVEX_Vfmsub213ps_ymm_k1z_ymm_ymmm256b32 EVEX_Vfmsub213ps_zmm_k1z_zmm_zmmm512b32_er;
    VFMSUB231PS: EVEX_Vfmsub231ps_xmm_k1z_xmm_xmmm128b32 EVEX_Vfmsub231ps_ymm_k1z_ymm_ymmm256b32 EVEX_Vfmsub231ps_zmm_k1z_zmm_zmmm512b32_er;
    VFNMADD132PS: EVEX_Vfnmadd132ps_xmm_k1z_xmm_xmmm128b32 EVEX_Vfnmadd132ps_ymm_k1z_ymm_ymmm256b32 EVEX_Vfnmadd132ps_zmm_k1z_zmm_zmmm512b32_er;
    VFNMADD213PS: EVEX_Vfnmadd213ps_xmm_k1z_xmm_xmmm128b32 EVEX_Vfnmadd213ps_ymm_k1z_ymm_ymmm256b32 EVEX_Vfnmadd213ps_zmm_k1z_zmm_zmmm512b32_er;
    VFNMADD231PS: EVEX_Vfnmadd231ps_xmm_k1z_xmm_xmmm128b32 EVEX_Vfnmadd231ps_ymm_k1z_ymm_ymmm256b32 EVEX_Vfnmadd231ps_zmm_k1z_zmm_zmmm512b32_er;
    VFNMSUB132PS: EVEX_Vfnmsub132ps_xmm_k1z_xmm_xmmm128b32 EVEX_Vfnmsub132ps_ymm_k1z_ymm_ymmm256b32 EVEX_Vfnmsub132ps_zmm_k1z_zmm_zmmm512b32_er;
    VFNMSUB213PS: EVEX_Vfnmsub213ps_xmm_k1z_xmm_xmmm128b32 EVEX_Vfnmsub213ps_ymm_k1z_ymm_ymmm256b32 EVEX_Vfnmsub213ps_zmm_k1z_zmm_zmmm512b32_er;
    VFNMSUB231PS: EVEX_Vfnmsub231ps_xmm_k1z_xmm_xmmm128b32 EVEX_Vfnmsub231ps_ymm_k1z_ymm_ymmm256b32 EVEX_Vfnmsub231ps_zmm_k1z_zmm_zmmm512b32_er;
    VFMADD132PD: EVEX_Vfmadd132pd_xmm_k1z_xmm_xmmm128b64 EVEX_Vfmadd132pd_ymm_k1z_ymm_ymmm256b64 EVEX_Vfmadd132pd_zmm_k1z_zmm_zmmm512b64_er;
    VFMADD213PD: EVEX_Vfmadd213pd_xmm_k1z_xmm_xmmm128b64 EVEX_Vfmadd213pd_ymm_k1z_ymm_ymmm256b64 EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er;
    VFMADD231PD: EVEX_Vfmadd231pd_xmm_k1z_xmm_xmmm128b64 EVEX_Vfmadd231pd_ymm_k1z_ymm_ymmm256b64 EVEX_Vfmadd231pd_zmm_k1z_zmm_zmmm512b64_er;
    VFMSUB132PD: EVEX_Vfmsub132pd_xmm_k1z_xmm_xmmm128b64 EVEX_Vfmsub132pd_ymm_k1z_ymm_ymmm256b64 EVEX_Vfmsub132pd_zmm_k1z_zmm_zmmm512b64_er;
    VFMSUB213PD: EVEX_Vfmsub213pd_xmm_k1z_xmm_xmmm128b64 EVEX_Vfmsub213pd_ymm_k1z_ymm_ymmm256b64 EVEX_Vfmsub213pd_zmm_k1z_zmm_zmmm512b64_er;
    VFMSUB231PD: EVEX_Vfmsub231pd_xmm_k1z_xmm_xmmm128b64 EVEX_Vfmsub231pd_ymm_k1z_ymm_ymmm256b64 EVEX_Vfmsub231pd_zmm_k1z_zmm_zmmm512b64_er;
    VFNMADD132PD: EVEX_Vfnmadd132pd_xmm_k1z_xmm_xmmm128b64 EVEX_Vfnmadd132pd_ymm_k1z_ymm_ymmm256b64 EVEX_Vfnmadd132pd_zmm_k1z_zmm_zmmm512b64_er;
    VFNMADD213PD: EVEX_Vfnmadd213pd_xmm_k1z_xmm_xmmm128b64 EVEX_Vfnmadd213pd_ymm_k1z_ymm_ymmm256b64 EVEX_Vfnmadd213pd_zmm_k1z_zmm_zmmm512b64_er;
    VFNMADD231PD: EVEX_Vfnmadd231pd_xmm_k1z_xmm_xmmm128b64 EVEX_Vfnmadd231pd_ymm_k1z_ymm_ymmm256b64 EVEX_Vfnmadd231pd_zmm_k1z_zmm_zmmm512b64_er;
    VFNMSUB132PD: EVEX_Vfnmsub132pd_xmm_k1z_xmm_xmmm128b64 EVEX_Vfnmsub132pd_ymm_k1z_ymm_ymmm256b64 EVEX_Vfnmsub132pd_zmm_k1z_zmm_zmmm512b64_er;
    VFNMSUB213PD: EVEX_Vfnmsub213pd_xmm_k1z_xmm_xmmm128b64 EVEX_Vfnmsub213pd_ymm_k1z_ymm_ymmm256b64 EVEX_Vfnmsub213pd_zmm_k1z_zmm_zmmm512b64_er;
    VFNMSUB231PD: EVEX_Vfnmsub231pd_xmm_k1z_xmm_xmmm128b64 EVEX_Vfnmsub231pd_ymm_k1z_ymm_ymmm256b64 EVEX_Vfnmsub231pd_zmm_k1z_zmm_zmmm512b64_er;
    VPERMT2D: EVEX_Vpermt2d_xmm_k1z_xmm_xmmm128b32 EVEX_Vpermt2d_ymm_k1z_ymm_ymmm256b32 EVEX_Vpermt2d_zmm_k1z_zmm_zmmm512b32;
    VPERMI2D: EVEX_Vpermi2d_xmm_k1z_xmm_xmmm128b32 EVEX_Vpermi2d_ymm_k1z_ymm_ymmm256b32 EVEX_Vpermi2d_zmm_k1z_zmm_zmmm512b32;
    VSQRTPS: EVEX_Vsqrtps_xmm_k1z_xmmm128b32 EVEX_Vsqrtps_ymm_k1z_ymmm256b32 EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er;
    VSQRTPD: EVEX_Vsqrtpd_xmm_k1z_xmmm128b64 EVEX_Vsqrtpd_ymm_k1z_ymmm256b64 EVEX_Vsqrtpd_zmm_k1z_zmmm512b64_er;
    VCVTDQ2PS: EVEX_Vcvtdq2ps_xmm_k1z_xmmm128b32 EVEX_Vcvtdq2ps_ymm_k1z_ymmm256b32 EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er;
    VCVTUDQ2PS: EVEX_Vcvtudq2ps_xmm_k1z_xmmm128b32 EVEX_Vcvtudq2ps_ymm_k1z_ymmm256b32 EVEX_Vcvtudq2ps_zmm_k1z_zmmm512b32_er;
    VCVTTPS2DQ: EVEX_Vcvttps2dq_xmm_k1z_xmmm128b32 EVEX_Vcvttps2dq_ymm_k1z_ymmm256b32 EVEX_Vcvttps2dq_zmm_k1z_zmmm512b32_sae;
    VCVTTPS2UDQ: EVEX_Vcvttps2udq_xmm_k1z_xmmm128b32 EVEX_Vcvttps2udq_ymm_k1z_ymmm256b32 EVEX_Vcvttps2udq_zmm_k1z_zmmm512b32_sae;
    VPABSB: EVEX_Vpabsb_xmm_k1z_xmmm128 EVEX_Vpabsb_ymm_k1z_ymmm256 EVEX_Vpabsb_zmm_k1z_zmmm512;
    VPABSW: EVEX_Vpabsw_xmm_k1z_xmmm128 EVEX_Vpabsw_ymm_k1z_ymmm256 EVEX_Vpabsw_zmm_k1z_zmmm512;
    VPABSD: EVEX_Vpabsd_xmm_k1z_xmmm128b32 EVEX_Vpabsd_ymm_k1z_ymmm256b32 EVEX_Vpabsd_zmm_k1z_zmmm512b32;
    VPABSQ: EVEX_Vpabsq_xmm_k1z_xmmm128b64 EVEX_Vpabsq_ymm_k1z_ymmm256b64 EVEX_Vpabsq_zmm_k1z_zmmm512b64;
    VPLZCNTD: EVEX_Vplzcntd_xmm_k1z_xmmm128b32 EVEX_Vplzcntd_ymm_k1z_ymmm256b32 EVEX_Vplzcntd_zmm_k1z_zmmm512b32;
    VPOPCNTD: EVEX_Vpopcntd_xmm_k1z_xmmm128b32 EVEX_Vpopcntd_ymm_k1z_ymmm256b32 EVEX_Vpopcntd_zmm_k1z_zmmm512b32;
    VPMOVSXBW: EVEX_Vpmovsxbw_xmm_k1z_xmmm64 EVEX_Vpmovsxbw_ymm_k1z_xmmm128 EVEX_Vpmovsxbw_zmm_k1z_ymmm256;
    VPMOVZXBW: EVEX_Vpmovzxbw_xmm_k1z_xmmm64 EVEX_Vpmovzxbw_ymm_k1z_xmmm128 EVEX_Vpmovzxbw_zmm_k1z_ymmm256;
    VPMOVSXBD: EVEX_Vpmovsxbd_xmm_k1z_xmmm32 EVEX_Vpmovsxbd_ymm_k1z_xmmm64 EVEX_Vpmovsxbd_zmm_k1z_xmmm128;
    VPMOVZXBD: EVEX_Vpmovzxbd_xmm_k1z_xmmm32 EVEX_Vpmovzxbd_ymm_k1z_xmmm64 EVEX_Vpmovzxbd_zmm_k1z_xmmm128;
    VPMOVSXWD: EVEX_Vpmovsxwd_xmm_k1z_xmmm64 EVEX_Vpmovsxwd_ymm_k1z_xmmm128 EVEX_Vpmovsxwd_zmm_k1z_ymmm256;
    VPMOVZXWD: EVEX_Vpmovzxwd_xmm_k1z_xmmm64 EVEX_Vpmovzxwd_ymm_k1z_xmmm128 EVEX_Vpmovzxwd_zmm_k1z_ymmm256;
    VPMOVSXDQ: EVEX_Vpmovsxdq_xmm_k1z_xmmm64 EVEX_Vpmovsxdq_ymm_k1z_xmmm128 EVEX_Vpmovsxdq_zmm_k1z_ymmm256;
    VPMOVZXDQ: EVEX_Vpmovzxdq_xmm_k1z_xmmm64 EVEX_Vpmovzxdq_ymm_k1z_xmmm128 EVEX_Vpmovzxdq_zmm_k1z_ymmm256;
    VCVTPH2PS: EVEX_Vcvtph2ps_xmm_k1z_xmmm64 EVEX_Vcvtph2ps_ymm_k1z_xmmm128 EVEX_Vcvtph2ps_zmm_k1z_ymmm256_sae;
    VCVTPS2PD: EVEX_Vcvtps2pd_xmm_k1z_xmmm64b32 EVEX_Vcvtps2pd_ymm_k1z_xmmm128b32 EVEX_Vcvtps2pd_zmm_k1z_ymmm256b32_sae;
    VCVTDQ2PD: EVEX_Vcvtdq2pd_xmm_k1z_xmmm64b32 EVEX_Vcvtdq2pd_ymm_k1z_xmmm128b32 EVEX_Vcvtdq2pd_zmm_k1z_ymmm256b32_er;
    VCVTUDQ2PD: EVEX_Vcvtudq2pd_xmm_k1z_xmmm64b32 EVEX_Vcvtudq2pd_ymm_k1z_xmmm128b32 EVEX_Vcvtudq2pd_zmm_k1z_ymmm256b32_er;
    VBROADCASTSS: EVEX_Vbroadcastss_xmm_k1z_xmmm32 EVEX_Vbroadcastss_ymm_k1z_xmmm32 EVEX_Vbroadcastss_zmm_k1z_xmmm32;
    VPBROADCASTB: EVEX_Vpbroadcastb_xmm_k1z_xmmm8 EVEX_Vpbroadcastb_ymm_k1z_xmmm8 EVEX_Vpbroadcastb_zmm_k1z_xmmm8;
    VPBROADCASTW: EVEX_Vpbroadcastw_xmm_k1z_xmmm16 EVEX_Vpbroadcastw_ymm_k1z_xmmm16 EVEX_Vpbroadcastw_zmm_k1z_xmmm16;
    VPBROADCASTD: EVEX_Vpbroadcastd_xmm_k1z_xmmm32 EVEX_Vpbroadcastd_ymm_k1z_xmmm32 EVEX_Vpbroadcastd_zmm_k1z_xmmm32;
    VPBROADCASTQ: EVEX_Vpbroadcastq_xmm_k1z_xmmm64 EVEX_Vpbroadcastq_ymm_k1z_xmmm64 EVEX_Vpbroadcastq_zmm_k1z_xmmm64;
    VRSQRT14PS: EVEX_Vrsqrt14ps_xmm_k1z_xmmm128b32 EVEX_Vrsqrt14ps_ymm_k1z_ymmm256b32 EVEX_Vrsqrt14ps_zmm_k1z_zmmm512b32;
    VMOVDQU8: EVEX_Vmovdqu8_xmm_k1z_xmmm128 EVEX_Vmovdqu8_ymm_k1z_ymmm256 EVEX_Vmovdqu8_zmm_k1z_zmmm512;
    VMOVDQU16: EVEX_Vmovdqu16_xmm_k1z_xmmm128 EVEX_Vmovdqu16_ymm_k1z_ymmm256 EVEX_Vmovdqu16_zmm_k1z_zmmm512;
    VMOVDQU32: EVEX_Vmovdqu32_xmm_k1z_xmmm128 EVEX_Vmovdqu32_ymm_k1z_ymmm256 EVEX_Vmovdqu32_zmm_k1z_zmmm512;
    VMOVDQU64: EVEX_Vmovdqu64_xmm_k1z_xmmm128 EVEX_Vmovdqu64_ymm_k1z_ymmm256 EVEX_Vmovdqu64_zmm_k1z_zmmm512;
    VCVTQQ2PD: EVEX_Vcvtqq2pd_xmm_k1z_xmmm128b64 EVEX_Vcvtqq2pd_ymm_k1z_ymmm256b64 EVEX_Vcvtqq2pd_zmm_k1z_zmmm512b64_er;
    VCVTUQQ2PD: EVEX_Vcvtuqq2pd_xmm_k1z_xmmm128b64 EVEX_Vcvtuqq2pd_ymm_k1z_ymmm256b64 EVEX_Vcvtuqq2pd_zmm_k1z_zmmm512b64_er;
    VCVTTPD2QQ: EVEX_Vcvttpd2qq_xmm_k1z_xmmm128b64 EVEX_Vcvttpd2qq_ymm_k1z_ymmm256b64 EVEX_Vcvttpd2qq_zmm_k1z_zmmm512b64_sae;
    VCVTTPD2UQQ: EVEX_Vcvttpd2uqq_xmm_k1z_xmmm128b64 EVEX_Vcvttpd2uqq_ymm_k1z_ymmm256b64 EVEX_Vcvttpd2uqq_zmm_k1z_zmmm512b64_sae;
    VPTERNLOGD: EVEX_Vpternlogd_xmm_k1z_xmm_xmmm128b32_imm8 EVEX_Vpternlogd_ymm_k1z_ymm_ymmm256b32_imm8 EVEX_Vpternlogd_zmm_k1z_zmm_zmmm512b32_imm8;
    VPTERNLOGQ: EVEX_Vpternlogq_xmm_k1z_xmm_xmmm128b64_imm8 EVEX_Vpternlogq_ymm_k1z_ymm_ymmm256b64_imm8 EVEX_Vpternlogq_zmm_k1z_zmm_zmmm512b64_imm8;
    VPSLLD: EVEX_Vpslld_xmm_k1z_xmmm128b32_imm8 EVEX_Vpslld_ymm_k1z_ymmm256b32_imm8 EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8;
    VPSRLD: EVEX_Vpsrld_xmm_k1z_xmmm128b32_imm8 EVEX_Vpsrld_ymm_k1z_ymmm256b32_imm8 EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8;
    VPSRAD: EVEX_Vpsrad_xmm_k1z_xmmm128b32_imm8 EVEX_Vpsrad_ymm_k1z_ymmm256b32_imm8 EVEX_Vpsrad_zmm_k1z_zmmm512b32_imm8;
    VPSLLW: EVEX_Vpsllw_xmm_k1z_xmmm128_imm8 EVEX_Vpsllw_ymm_k1z_ymmm256_imm8 EVEX_Vpsllw_zmm_k1z_zmmm512_imm8;
    VPSRLW: EVEX_Vpsrlw_xmm_k1z_xmmm128_imm8 EVEX_Vpsrlw_ymm_k1z_ymmm256_imm8 EVEX_Vpsrlw_zmm_k1z_zmmm512_imm8;
    VPSRAW: EVEX_Vpsraw_xmm_k1z_xmmm128_imm8 EVEX_Vpsraw_ymm_k1z_ymmm256_imm8 EVEX_Vpsraw_zmm_k1z_zmmm512_imm8;
    VPSLLQ: EVEX_Vpsllq_xmm_k1z_xmmm128b64_imm8 EVEX_Vpsllq_ymm_k1z_ymmm256b64_imm8 EVEX_Vpsllq_zmm_k1z_zmmm512b64_imm8;
    VPSRLQ: EVEX_Vpsrlq_xmm_k1z_xmmm128b64_imm8 EVEX_Vpsrlq_ymm_k1z_ymmm256b64_imm8 EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8;
    VPSRAQ: EVEX_Vpsraq_xmm_k1z_xmmm128b64_imm8 EVEX_Vpsraq_ymm_k1z_ymmm256b64_imm8 EVEX_Vpsraq_zmm_k1z_zmmm512b64_imm8;
    VPSHLDD: EVEX_Vpshldd_xmm_k1z_xmm_xmmm128b32_imm8 EVEX_Vpshldd_ymm_k1z_ymm_ymmm256b32_imm8 EVEX_Vpshldd_zmm_k1z_zmm_zmmm512b32_imm8;
    VPROLD: EVEX_Vprold_xmm_k1z_xmmm128b32_imm8 EVEX_Vprold_ymm_k1z_ymmm256b32_imm8 EVEX_Vprold_zmm_k1z_zmmm512b32_imm8;
    VPRORD: EVEX_Vprord_xmm_k1z_xmmm128b32_imm8 EVEX_Vprord_ymm_k1z_ymmm256b32_imm8 EVEX_Vprord_zmm_k1z_zmmm512b32_imm8;
    VPROLQ: EVEX_Vprolq_xmm_k1z_xmmm128b64_imm8 EVEX_Vprolq_ymm_k1z_ymmm256b64_imm8 EVEX_Vprolq_zmm_k1z_zmmm512b64_imm8;
    VPRORQ: EVEX_Vprorq_xmm_k1z_xmmm128b64_imm8 EVEX_Vprorq_ymm_k1z_ymmm256b64_imm8 EVEX_Vprorq_zmm_k1z_zmmm512b64_imm8;
    VREDUCEPS: EVEX_Vreduceps_xmm_k1z_xmmm128b32_imm8 EVEX_Vreduceps_ymm_k1z_ymmm256b32_imm8 EVEX_Vreduceps_zmm_k1z_zmmm512b32_imm8_sae;
    VFPCLASSPS: EVEX_Vfpclassps_kr_k1_xmmm128b32_imm8 EVEX_Vfpclassps_kr_k1_ymmm256b32_imm8 EVEX_Vfpclassps_kr_k1_zmmm512b32_imm8;
    VRNDSCALEPS: EVEX_Vrndscaleps_xmm_k1z_xmmm128b32_imm8 EVEX_Vrndscaleps_ymm_k1z_ymmm256b32_imm8 EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae;
    VRNDSCALEPD: EVEX_Vrndscalepd_xmm_k1z_xmmm128b64_imm8 EVEX_Vrndscalepd_ymm_k1z_ymmm256b64_imm8 EVEX_Vrndscalepd_zmm_k1z_zmmm512b64_imm8_sae;
    VCMPPS: EVEX_Vcmpps_kr_k1_xmm_xmmm128b32_imm8 EVEX_Vcmpps_kr_k1_ymm_ymmm256b32_imm8 EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae;
    VCMPPD: EVEX_Vcmppd_kr_k1_xmm_xmmm128b64_imm8 EVEX_Vcmppd_kr_k1_ymm_ymmm256b64_imm8 EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae;
    VPCMPB: EVEX_Vpcmpb_kr_k1_xmm_xmmm128_imm8 EVEX_Vpcmpb_kr_k1_ymm_ymmm256_imm8 EVEX_Vpcmpb_kr_k1_zmm_zmmm512_imm8;
    VPCMPUB: EVEX_Vpcmpub_kr_k1_xmm_xmmm128_imm8 EVEX_Vpcmpub_kr_k1_ymm_ymmm256_imm8 EVEX_Vpcmpub_kr_k1_zmm_zmmm512_imm8;
    VPCMPW: EVEX_Vpcmpw_kr_k1_xmm_xmmm128_imm8 EVEX_Vpcmpw_kr_k1_ymm_ymmm256_imm8 EVEX_Vpcmpw_kr_k1_zmm_zmmm512_imm8;
    VPCMPUW: EVEX_Vpcmpuw_kr_k1_xmm_xmmm128_imm8 EVEX_Vpcmpuw_kr_k1_ymm_ymmm256_imm8 EVEX_Vpcmpuw_kr_k1_zmm_zmmm512_imm8;
    VPCMPD: EVEX_Vpcmpd_kr_k1_xmm_xmmm128b32_imm8 EVEX_Vpcmpd_kr_k1_ymm_ymmm256b32_imm8 EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8;
    VPCMPUD: EVEX_Vpcmpud_kr_k1_xmm_xmmm128b32_imm8 EVEX_Vpcmpud_kr_k1_ymm_ymmm256b32_imm8 EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8;
    VPCMPQ: EVEX_Vpcmpq_kr_k1_xmm_xmmm128b64_imm8 EVEX_Vpcmpq_kr_k1_ymm_ymmm256b64_imm8 EVEX_Vpcmpq_kr_k1_zmm_zmmm512b64_imm8;
    VPCMPUQ: EVEX_Vpcmpuq_kr_k1_xmm_xmmm128b64_imm8 EVEX_Vpcmpuq_kr_k1_ymm_ymmm256b64_imm8 EVEX_Vpcmpuq_kr_k1_zmm_zmmm512b64_imm8;
    VPGATHERDD: EVEX_Vpgatherdd_xmm_k1_vm32x EVEX_Vpgatherdd_ymm_k1_vm32y EVEX_Vpgatherdd_zmm_k1_vm32z;
    VPGATHERDQ: EVEX_Vpgatherdq_xmm_k1_vm32x EVEX_Vpgatherdq_ymm_k1_vm32x EVEX_Vpgatherdq_zmm_k1_vm32y;
    VPGATHERQD: EVEX_Vpgatherqd_xmm_k1_vm64x EVEX_Vpgatherqd_xmm_k1_vm64y EVEX_Vpgatherqd_ymm_k1_vm64z;
    VPGATHERQQ: EVEX_Vpgatherqq_xmm_k1_vm64x EVEX_Vpgatherqq_ymm_k1_vm64y EVEX_Vpgatherqq_zmm_k1_vm64z;
    VPSCATTERDD: EVEX_Vpscatterdd_vm32x_k1_xmm EVEX_Vpscatterdd_vm32y_k1_ymm EVEX_Vpscatterdd_vm32z_k1_zmm;
    VPSCATTERDQ: EVEX_Vpscatterdq_vm32x_k1_xmm EVEX_Vpscatterdq_vm32x_k1_ymm EVEX_Vpscatterdq_vm32y_k1_zmm;
    VPSCATTERQD: EVEX_Vpscatterqd_vm64x_k1_xmm EVEX_Vpscatterqd_vm64y_k1_xmm EVEX_Vpscatterqd_vm64z_k1_ymm;
    VPSCATTERQQ: EVEX_Vpscatterqq_vm64x_k1_xmm EVEX_Vpscatterqq_vm64y_k1_ymm EVEX_Vpscatterqq_vm64z_k1_zmm;
    STORE8: EVEX_Vmovdqu8_xmmm128_k1z_xmm EVEX_Vmovdqu8_ymmm256_k1z_ymm EVEX_Vmovdqu8_zmmm512_k1z_zmm;
    STORE32: EVEX_Vmovdqu32_xmmm128_k1z_xmm EVEX_Vmovdqu32_ymmm256_k1z_ymm EVEX_Vmovdqu32_zmmm512_k1z_zmm;
    STORE64: EVEX_Vmovdqu64_xmmm128_k1z_xmm EVEX_Vmovdqu64_ymmm256_k1z_ymm EVEX_Vmovdqu64_zmmm512_k1z_zmm;
    VPMOVWB: EVEX_Vpmovwb_xmmm64_k1z_xmm EVEX_Vpmovwb_xmmm128_k1z_ymm EVEX_Vpmovwb_ymmm256_k1z_zmm;
    VPMOVDW: EVEX_Vpmovdw_xmmm64_k1z_xmm EVEX_Vpmovdw_xmmm128_k1z_ymm EVEX_Vpmovdw_ymmm256_k1z_zmm;
    VPEXPANDD: EVEX_Vpexpandd_xmm_k1z_xmmm128 EVEX_Vpexpandd_ymm_k1z_ymmm256 EVEX_Vpexpandd_zmm_k1z_zmmm512;
    VPEXPANDQ: EVEX_Vpexpandq_xmm_k1z_xmmm128 EVEX_Vpexpandq_ymm_k1z_ymmm256 EVEX_Vpexpandq_zmm_k1z_zmmm512;
    VPCOMPRESSD: EVEX_Vpcompressd_xmmm128_k1z_xmm EVEX_Vpcompressd_ymmm256_k1z_ymm EVEX_Vpcompressd_zmmm512_k1z_zmm;
    VPMOVDB: EVEX_Vpmovdb_xmmm32_k1z_xmm EVEX_Vpmovdb_xmmm64_k1z_ymm EVEX_Vpmovdb_xmmm128_k1z_zmm;
    VPMOVQD: EVEX_Vpmovqd_xmmm64_k1z_xmm EVEX_Vpmovqd_xmmm128_k1z_ymm EVEX_Vpmovqd_ymmm256_k1z_zmm;
    VCVTPS2PH: EVEX_Vcvtps2ph_xmmm64_k1z_xmm_imm8 EVEX_Vcvtps2ph_xmmm128_k1z_ymm_imm8 EVEX_Vcvtps2ph_ymmm256_k1z_zmm_imm8_sae;
    VPMOVQW: EVEX_Vpmovqw_xmmm32_k1z_xmm EVEX_Vpmovqw_xmmm64_k1z_ymm EVEX_Vpmovqw_xmmm128_k1z_zmm;
    VPMOVQB: EVEX_Vpmovqb_xmmm16_k1z_xmm EVEX_Vpmovqb_xmmm32_k1z_ymm EVEX_Vpmovqb_xmmm64_k1z_zmm;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The crate that encodes describes every code that has a width here as its name does.
    #[test]
    fn names_tell_what_operands_are() {
        use iced_x86::OpCodeOperandKind as O;
        let mut seen = 0;
        for c in Code::values().filter(|c| WIDTHS[*c as usize] != 0) {
            seen += 1;
            let described = |k| match c.op_code().op_kind(k) {
                O::xmm_reg | O::xmm_rm | O::xmm_or_mem | O::xmm_vvvv | O::mem_vsib32x | O::mem_vsib64x => {
                    Some(Width::X)
                }
                O::ymm_reg | O::ymm_rm | O::ymm_or_mem | O::ymm_vvvv | O::mem_vsib32y | O::mem_vsib64y => {
                    Some(Width::Y)
                }
                O::zmm_reg | O::zmm_rm | O::zmm_or_mem | O::zmm_vvvv | O::mem_vsib32z | O::mem_vsib64z => {
                    Some(Width::Z)
                }
                _ => None,
            };
            assert_eq!([operand(c, 0), operand(c, 1)], [described(0), described(1)], "{c:?}");
        }
        assert!(seen > 300, "{seen}");
    }
}
