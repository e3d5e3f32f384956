//! The encodings of AVX2 that the list has, and what their operands are.

use iced_x86::Code;

/// More than x86 has encodings.
const CODES: usize = 5000;

/// Marks, in the first operand's bits, an encoding that is listed.
const LISTED: u16 = 8;

macro_rules! encodings {
    ($($name:ident)*) => {
        /// By [`Code`]: see [`operands`].
        static OPERANDS: [u16; CODES] = {
            let mut all = [0; CODES];
            $(all[Code::$name as usize] = LISTED | operand_description(stringify!($name));)*
            all
        };

        #[cfg(test)]
        const ALL: &[Code] = &[$(Code::$name,)*];
    };
}

/// Of an encoding's operands, four bits each: 1 for one in a register of 16 bytes, 2 for one of 32; 4 more for those
/// that may be in memory instead.
pub(super) fn operands(code: Code) -> u32 {
    let found = OPERANDS[code as usize];
    debug_assert!(found & LISTED != 0, "{code:?} is not listed");
    u32::from(found & !LISTED)
}

/// What an encoding's name tells of its operands: `VEX_Vpmovzxwd_ymm_xmmm128`.
const fn operand_description(name: &str) -> u16 {
    let name = name.as_bytes();
    let (mut all, mut part, mut at) = (0, 0, 0);
    while at < name.len() {
        let mut end = at;
        while end < name.len() && name[end] != b'_' {
            end += 1;
        }
        // Parts 0 and 1 are encoding and mnemonic; `xmm`, `xmmm128`; `vm32y` by its last letter.
        if part >= 2 && part < 6 {
            let indexed = name[at] == b'v' && end - at == 5;
            let vector = end - at >= 3 && name[at + 1] == b'm' && name[at + 2] == b'm';
            let letter = if indexed {
                name[end - 1]
            } else if vector {
                name[at]
            } else {
                0
            };
            let width = match letter {
                b'x' => 1,
                b'y' => 2,
                _ => 0,
            };
            let either = if width != 0 && !indexed && end - at > 3 { 4 } else { 0 };
            all |= (width | either) << (4 * (part - 2));
        }
        part += 1;
        at = end + 1;
    }
    all
}

encodings! {
    VEX_Vaddpd_xmm_xmm_xmmm128
    VEX_Vaddpd_ymm_ymm_ymmm256
    VEX_Vaddps_xmm_xmm_xmmm128
    VEX_Vaddps_ymm_ymm_ymmm256
    VEX_Vpblendd_ymm_ymm_ymmm256_imm8
    VEX_Vblendvps_ymm_ymm_ymmm256_ymm
    VEX_Vcmppd_xmm_xmm_xmmm128_imm8
    VEX_Vcmppd_ymm_ymm_ymmm256_imm8
    VEX_Vcmpps_xmm_xmm_xmmm128_imm8
    VEX_Vcmpps_ymm_ymm_ymmm256_imm8
    VEX_Vcvtdq2pd_xmm_xmmm64
    VEX_Vcvtdq2pd_ymm_xmmm128
    VEX_Vcvtdq2ps_xmm_xmmm128
    VEX_Vcvtdq2ps_ymm_ymmm256
    VEX_Vcvtpd2ps_xmm_xmmm128
    VEX_Vcvtpd2ps_xmm_ymmm256
    VEX_Vcvtph2ps_xmm_xmmm64
    VEX_Vcvtph2ps_ymm_xmmm128
    VEX_Vcvtps2pd_xmm_xmmm64
    VEX_Vcvtps2pd_ymm_xmmm128
    VEX_Vcvtps2ph_xmmm128_ymm_imm8
    VEX_Vcvtps2ph_xmmm64_xmm_imm8
    VEX_Vcvttps2dq_xmm_xmmm128
    VEX_Vcvttps2dq_ymm_ymmm256
    VEX_Vdivpd_xmm_xmm_xmmm128
    VEX_Vdivpd_ymm_ymm_ymmm256
    VEX_Vdivps_xmm_xmm_xmmm128
    VEX_Vdivps_ymm_ymm_ymmm256
    VEX_Vextracti128_xmmm128_ymm_imm8
    VEX_Vfmadd132pd_xmm_xmm_xmmm128
    VEX_Vfmadd132pd_ymm_ymm_ymmm256
    VEX_Vfmadd132ps_xmm_xmm_xmmm128
    VEX_Vfmadd132ps_ymm_ymm_ymmm256
    VEX_Vfmadd213pd_xmm_xmm_xmmm128
    VEX_Vfmadd213pd_ymm_ymm_ymmm256
    VEX_Vfmadd213ps_xmm_xmm_xmmm128
    VEX_Vfmadd213ps_ymm_ymm_ymmm256
    VEX_Vfmadd231pd_xmm_xmm_xmmm128
    VEX_Vfmadd231pd_ymm_ymm_ymmm256
    VEX_Vfmadd231ps_xmm_xmm_xmmm128
    VEX_Vfmadd231ps_ymm_ymm_ymmm256
    VEX_Vfmsub132pd_xmm_xmm_xmmm128
    VEX_Vfmsub132pd_ymm_ymm_ymmm256
    VEX_Vfmsub132ps_xmm_xmm_xmmm128
    VEX_Vfmsub132ps_ymm_ymm_ymmm256
    VEX_Vfmsub213pd_xmm_xmm_xmmm128
    VEX_Vfmsub213pd_ymm_ymm_ymmm256
    VEX_Vfmsub213ps_xmm_xmm_xmmm128
    VEX_Vfmsub213ps_ymm_ymm_ymmm256
    VEX_Vfmsub231pd_xmm_xmm_xmmm128
    VEX_Vfmsub231pd_ymm_ymm_ymmm256
    VEX_Vfmsub231ps_xmm_xmm_xmmm128
    VEX_Vfmsub231ps_ymm_ymm_ymmm256
    VEX_Vfnmadd132pd_xmm_xmm_xmmm128
    VEX_Vfnmadd132pd_ymm_ymm_ymmm256
    VEX_Vfnmadd132ps_xmm_xmm_xmmm128
    VEX_Vfnmadd132ps_ymm_ymm_ymmm256
    VEX_Vfnmadd213pd_xmm_xmm_xmmm128
    VEX_Vfnmadd213pd_ymm_ymm_ymmm256
    VEX_Vfnmadd213ps_xmm_xmm_xmmm128
    VEX_Vfnmadd213ps_ymm_ymm_ymmm256
    VEX_Vfnmadd231pd_xmm_xmm_xmmm128
    VEX_Vfnmadd231pd_ymm_ymm_ymmm256
    VEX_Vfnmadd231ps_xmm_xmm_xmmm128
    VEX_Vfnmadd231ps_ymm_ymm_ymmm256
    VEX_Vfnmsub132pd_xmm_xmm_xmmm128
    VEX_Vfnmsub132pd_ymm_ymm_ymmm256
    VEX_Vfnmsub132ps_xmm_xmm_xmmm128
    VEX_Vfnmsub132ps_ymm_ymm_ymmm256
    VEX_Vfnmsub213pd_xmm_xmm_xmmm128
    VEX_Vfnmsub213pd_ymm_ymm_ymmm256
    VEX_Vfnmsub213ps_xmm_xmm_xmmm128
    VEX_Vfnmsub213ps_ymm_ymm_ymmm256
    VEX_Vfnmsub231pd_xmm_xmm_xmmm128
    VEX_Vfnmsub231pd_ymm_ymm_ymmm256
    VEX_Vfnmsub231ps_xmm_xmm_xmmm128
    VEX_Vfnmsub231ps_ymm_ymm_ymmm256
    VEX_Vinserti128_ymm_ymm_xmmm128_imm8
    VEX_Vmaxpd_xmm_xmm_xmmm128
    VEX_Vmaxpd_ymm_ymm_ymmm256
    VEX_Vmaxps_xmm_xmm_xmmm128
    VEX_Vmaxps_ymm_ymm_ymmm256
    VEX_Vminpd_xmm_xmm_xmmm128
    VEX_Vminpd_ymm_ymm_ymmm256
    VEX_Vminps_xmm_xmm_xmmm128
    VEX_Vminps_ymm_ymm_ymmm256
    VEX_Vmovaps_ymm_ymmm256
    VEX_Vmovd_rm32_xmm
    VEX_Vmovd_xmm_rm32
    VEX_Vmovmskps_r32_ymm
    VEX_Vmovq_rm64_xmm
    VEX_Vmovq_xmm_rm64
    VEX_Vmovq_xmm_xmmm64
    VEX_Vmovq_xmmm64_xmm
    VEX_Vmovups_xmm_xmmm128
    VEX_Vmovups_xmmm128_xmm
    VEX_Vmovups_ymm_ymmm256
    VEX_Vmovups_ymmm256_ymm
    VEX_Vmulpd_xmm_xmm_xmmm128
    VEX_Vmulpd_ymm_ymm_ymmm256
    VEX_Vmulps_xmm_xmm_xmmm128
    VEX_Vmulps_ymm_ymm_ymmm256
    VEX_Vpabsd_xmm_xmmm128
    VEX_Vpabsd_ymm_ymmm256
    VEX_Vpabsb_xmm_xmmm128
    VEX_Vpabsb_ymm_ymmm256
    VEX_Vpabsw_xmm_xmmm128
    VEX_Vpabsw_ymm_ymmm256
    VEX_Vpackusdw_xmm_xmm_xmmm128
    VEX_Vpackusdw_ymm_ymm_ymmm256
    VEX_Vpackuswb_xmm_xmm_xmmm128
    VEX_Vpaddd_xmm_xmm_xmmm128
    VEX_Vpaddd_ymm_ymm_ymmm256
    VEX_Vpaddq_xmm_xmm_xmmm128
    VEX_Vpaddq_ymm_ymm_ymmm256
    VEX_Vpand_xmm_xmm_xmmm128
    VEX_Vpand_ymm_ymm_ymmm256
    VEX_Vpandn_ymm_ymm_ymmm256
    VEX_Vpbroadcastb_ymm_xmmm8
    VEX_Vpbroadcastd_ymm_xmmm32
    VEX_Vpbroadcastq_ymm_xmmm64
    VEX_Vpbroadcastw_ymm_xmmm16
    VEX_Vpcmpeqb_ymm_ymm_ymmm256
    VEX_Vpcmpeqw_ymm_ymm_ymmm256
    VEX_Vpcmpgtb_ymm_ymm_ymmm256
    VEX_Vpcmpgtw_ymm_ymm_ymmm256
    VEX_Vpcmpeqd_ymm_ymm_ymmm256
    VEX_Vpcmpeqq_ymm_ymm_ymmm256
    VEX_Vpcmpgtd_ymm_ymm_ymmm256
    VEX_Vpcmpgtq_ymm_ymm_ymmm256
    VEX_Vperm2i128_ymm_ymm_ymmm256_imm8
    VEX_Vpermd_ymm_ymm_ymmm256
    VEX_Vpermq_ymm_ymmm256_imm8
    VEX_Vpgatherdd_xmm_vm32x_xmm
    VEX_Vpgatherdd_ymm_vm32y_ymm
    VEX_Vpgatherdq_ymm_vm32x_ymm
    VEX_Vpmaddwd_ymm_ymm_ymmm256
    VEX_Vpmaskmovd_m128_xmm_xmm
    VEX_Vpmaskmovd_m256_ymm_ymm
    VEX_Vpmaskmovd_xmm_xmm_m128
    VEX_Vpmaskmovd_ymm_ymm_m256
    VEX_Vpmaskmovq_m128_xmm_xmm
    VEX_Vpmaskmovq_m256_ymm_ymm
    VEX_Vpmaskmovq_xmm_xmm_m128
    VEX_Vpmaskmovq_ymm_ymm_m256
    VEX_Vpmaxsd_xmm_xmm_xmmm128
    VEX_Vpmaxsd_ymm_ymm_ymmm256
    VEX_Vpmaxud_xmm_xmm_xmmm128
    VEX_Vpmaxud_ymm_ymm_ymmm256
    VEX_Vpminsd_xmm_xmm_xmmm128
    VEX_Vpminsd_ymm_ymm_ymmm256
    VEX_Vpminud_xmm_xmm_xmmm128
    VEX_Vpminud_ymm_ymm_ymmm256
    VEX_Vpmovsxbd_xmm_xmmm32
    VEX_Vpmovsxbd_ymm_xmmm64
    VEX_Vpmovsxdq_xmm_xmmm64
    VEX_Vpmovsxdq_ymm_xmmm128
    VEX_Vpmovsxwd_xmm_xmmm64
    VEX_Vpmovsxwd_ymm_xmmm128
    VEX_Vpmovzxbd_xmm_xmmm32
    VEX_Vpmovzxbd_ymm_xmmm64
    VEX_Vpmovzxdq_xmm_xmmm64
    VEX_Vpmovzxdq_ymm_xmmm128
    VEX_Vpmovzxwd_xmm_xmmm64
    VEX_Vpmovzxwd_ymm_xmmm128
    VEX_Vpmuldq_xmm_xmm_xmmm128
    VEX_Vpmuldq_ymm_ymm_ymmm256
    VEX_Vpmulld_xmm_xmm_xmmm128
    VEX_Vpmulld_ymm_ymm_ymmm256
    VEX_Vpmuludq_xmm_xmm_xmmm128
    VEX_Vpmuludq_ymm_ymm_ymmm256
    VEX_Vpor_xmm_xmm_xmmm128
    VEX_Vpor_ymm_ymm_ymmm256
    VEX_Vpshufb_xmm_xmm_xmmm128
    VEX_Vpshufb_ymm_ymm_ymmm256
    VEX_Vpshufd_xmm_xmmm128_imm8
    VEX_Vpshufd_ymm_ymmm256_imm8
    VEX_Vpslld_xmm_xmm_imm8
    VEX_Vpslld_ymm_ymm_imm8
    VEX_Vpsllq_xmm_xmm_imm8
    VEX_Vpsllq_ymm_ymm_imm8
    VEX_Vpsllvd_xmm_xmm_xmmm128
    VEX_Vpsllvd_ymm_ymm_ymmm256
    VEX_Vpsllvq_xmm_xmm_xmmm128
    VEX_Vpsllvq_ymm_ymm_ymmm256
    VEX_Vpsllw_ymm_ymm_imm8
    VEX_Vpsrad_xmm_xmm_imm8
    VEX_Vpsrad_ymm_ymm_imm8
    VEX_Vpsravd_xmm_xmm_xmmm128
    VEX_Vpsravd_ymm_ymm_ymmm256
    VEX_Vpsraw_ymm_ymm_imm8
    VEX_Vpsrld_xmm_xmm_imm8
    VEX_Vpsrld_ymm_ymm_imm8
    VEX_Vpsrldq_xmm_xmm_imm8
    VEX_Vpsubw_xmm_xmm_xmmm128
    VEX_Vpsubw_ymm_ymm_ymmm256
    VEX_Vpaddb_xmm_xmm_xmmm128
    VEX_Vpaddb_ymm_ymm_ymmm256
    VEX_Vpsubb_xmm_xmm_xmmm128
    VEX_Vpsubb_ymm_ymm_ymmm256
    VEX_Vpmullw_xmm_xmm_xmmm128
    VEX_Vpmullw_ymm_ymm_ymmm256
    VEX_Vpsubsw_xmm_xmm_xmmm128
    VEX_Vpsubsw_ymm_ymm_ymmm256
    VEX_Vpsubusw_xmm_xmm_xmmm128
    VEX_Vpsubusw_ymm_ymm_ymmm256
    VEX_Vpsubusb_xmm_xmm_xmmm128
    VEX_Vpsubusb_ymm_ymm_ymmm256
    VEX_Vpsllw_xmm_xmm_imm8
    VEX_Vpsrlw_xmm_xmm_imm8
    VEX_Vpsraw_xmm_xmm_imm8
    VEX_Vpsrlq_xmm_xmm_imm8
    VEX_Vpsrlq_ymm_ymm_imm8
    VEX_Vpsrlvd_xmm_xmm_xmmm128
    VEX_Vpsrlvd_ymm_ymm_ymmm256
    VEX_Vpsrlvq_xmm_xmm_xmmm128
    VEX_Vpsrlvq_ymm_ymm_ymmm256
    VEX_Vpsrlw_ymm_ymm_imm8
    VEX_Vpsubd_xmm_xmm_xmmm128
    VEX_Vpsubd_ymm_ymm_ymmm256
    VEX_Vpsubq_xmm_xmm_xmmm128
    VEX_Vpsubq_ymm_ymm_ymmm256
    VEX_Vptest_ymm_ymmm256
    VEX_Vpunpckhdq_ymm_ymm_ymmm256
    VEX_Vpackuswb_ymm_ymm_ymmm256
    VEX_Vpmovzxbw_ymm_xmmm128
    VEX_Vpmovzxbw_xmm_xmmm64
    VEX_Vpmovsxbw_ymm_xmmm128
    VEX_Vpmovsxbw_xmm_xmmm64
    VEX_Vpmaxsw_ymm_ymm_ymmm256
    VEX_Vpmaxsw_xmm_xmm_xmmm128
    VEX_Vpminsw_ymm_ymm_ymmm256
    VEX_Vpminsw_xmm_xmm_xmmm128
    VEX_Vpmaxuw_ymm_ymm_ymmm256
    VEX_Vpmaxuw_xmm_xmm_xmmm128
    VEX_Vpminuw_ymm_ymm_ymmm256
    VEX_Vpaddw_xmm_xmm_xmmm128
    VEX_Vpaddw_ymm_ymm_ymmm256
    VEX_Vpminuw_xmm_xmm_xmmm128
    VEX_Vpmaxsb_ymm_ymm_ymmm256
    VEX_Vpmaxsb_xmm_xmm_xmmm128
    VEX_Vpminsb_ymm_ymm_ymmm256
    VEX_Vpminsb_xmm_xmm_xmmm128
    VEX_Vpmaxub_ymm_ymm_ymmm256
    VEX_Vpmaxub_xmm_xmm_xmmm128
    VEX_Vpminub_ymm_ymm_ymmm256
    VEX_Vpminub_xmm_xmm_xmmm128
    VEX_Vpunpcklqdq_ymm_ymm_ymmm256
    VEX_Vpunpcklqdq_xmm_xmm_xmmm128
    VEX_Vpunpckldq_xmm_xmm_xmmm128
    VEX_Vpunpckhqdq_ymm_ymm_ymmm256
    VEX_Vpunpckhqdq_xmm_xmm_xmmm128
    VEX_Vpunpckhdq_xmm_xmm_xmmm128
    VEX_Vpunpckldq_ymm_ymm_ymmm256
    VEX_Vpxor_xmm_xmm_xmmm128
    VEX_Vpxor_ymm_ymm_ymmm256
    VEX_Vroundpd_xmm_xmmm128_imm8
    VEX_Vroundpd_ymm_ymmm256_imm8
    VEX_Vroundps_xmm_xmmm128_imm8
    VEX_Vroundps_ymm_ymmm256_imm8
    VEX_Vshufps_xmm_xmm_xmmm128_imm8
    VEX_Vshufps_ymm_ymm_ymmm256_imm8
    VEX_Vsqrtpd_xmm_xmmm128
    VEX_Vsqrtpd_ymm_ymmm256
    VEX_Vsqrtps_xmm_xmmm128
    VEX_Vsqrtps_ymm_ymmm256
    VEX_Vsubpd_xmm_xmm_xmmm128
    VEX_Vsubpd_ymm_ymm_ymmm256
    VEX_Vsubps_xmm_xmm_xmmm128
    VEX_Vsubps_ymm_ymm_ymmm256
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use iced_x86::OpCodeOperandKind as O;

    use super::*;

    /// The crate that encodes describes encodings as their names do.
    #[test]
    fn names_tell_what_operands_are() {
        for &c in ALL {
            let info = c.op_code();
            for k in 0..info.op_count().min(4) {
                let (width, either) = match info.op_kind(k) {
                    O::xmm_reg
                    | O::xmm_rm
                    | O::xmm_vvvv
                    | O::xmm_is4
                    | O::xmm_is5
                    | O::mem_vsib32x
                    | O::mem_vsib64x => (1, 0),
                    O::ymm_reg
                    | O::ymm_rm
                    | O::ymm_vvvv
                    | O::ymm_is4
                    | O::ymm_is5
                    | O::mem_vsib32y
                    | O::mem_vsib64y => (2, 0),
                    O::xmm_or_mem => (1, 4),
                    O::ymm_or_mem => (2, 4),
                    _ => (0, 0),
                };
                assert_eq!(operands(c) >> (4 * k) & 15, width | either, "{c:?} {k}");
            }
        }
    }

    /// Names of encodings in a folder's sources that begin like this.
    fn named(folder: &std::path::Path, prefix: &str) -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        for entry in std::fs::read_dir(folder).expect("the sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                all.append(&mut named(&path, prefix));
                continue;
            }
            let text = std::fs::read_to_string(path).expect("a source");
            let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
            all.extend(words.filter(|w| w.starts_with(prefix) && *w != prefix).map(String::from));
        }
        all
    }

    fn sources() -> std::path::PathBuf {
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
    }

    /// What this room's sources name is listed.
    #[test]
    fn all_are_listed() {
        let all = named(&sources().join("narrow"), "VEX_V");
        let missing: Vec<_> = all.iter().filter(|n| !ALL.iter().any(|c| format!("{c:?}") == **n)).collect();
        assert!(missing.is_empty(), "{missing:?} are not listed");
        assert!(all.len() > 100, "{}", all.len());
    }

    /// Encodings of one width that the emitter writes have a way here, but those that it writes for AVX-512 alone.
    #[test]
    fn what_the_emitter_writes_is_narrowed() {
        const OF_AVX512: [&str; 2] = ["EVEX_Vpextrq_rm64_xmm_imm8", "EVEX_Vpermq_zmm_k1z_zmm_zmmm512b64"];
        let (written, known) =
            (named(&sources().join("emit"), "EVEX_V"), named(&sources().join("narrow"), "EVEX_V"));
        let listed = |n: &str| {
            Code::values().any(|c| format!("{c:?}") == n && crate::vector_encodings::name(c).is_some())
        };
        let missing: Vec<_> = written
            .iter()
            .filter(|n| !known.contains(*n) && !OF_AVX512.contains(&n.as_str()) && !listed(n))
            .collect();
        assert!(missing.is_empty(), "{missing:?} have no way with AVX2");
        assert!(written.len() > 10, "{}", written.len());
    }
}
