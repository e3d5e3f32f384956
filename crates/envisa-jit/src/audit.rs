//! A second look at generated code, by its bytes: what memory each instruction names.

use std::collections::HashMap;
use std::ops::Range;

use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Instruction, OpKind, Register};

use crate::emit::streams::{ROWS, TILE};
use envisa_codegen::layout::{SITE, at as place};

/// How large what the code is given is, in bytes.
pub(crate) struct Sizes {
    pub registers: u32,
    pub context: u32,
    pub sites: u32,
    /// Of a thread's payload.
    pub payload: u32,
    /// Of the record of a thread that takes turns.
    pub record: u32,
    /// Where in the context what is loaded ahead is.
    pub ahead: Range<u32>,
    /// Where in the context the ends of variables are that addresses name.
    pub ends: Range<u32>,
}

/// Where the code is taken to begin.
const START: u64 = 1 << 32;

/// Holds every memory operand against where it may lie: the register file, the context, the sites, the stack, or
/// what a site's pointer leads to, which is loaded just before.
///
/// # Errors
/// The first instruction that names other memory.
pub(crate) fn audit(code: &[u8], sizes: &Sizes) -> Result<(), String> {
    let mut aimed = false;
    let mut payload = false;
    // Places that are called or jumped to from above, and whether all who do have a site's pointer.
    let mut reached: HashMap<u64, bool> = HashMap::new();
    let mut goes_on = true;
    let mut decoder = Decoder::with_ip(64, code, START, DecoderOptions::NONE);
    let mut i = Instruction::default();
    while decoder.can_decode() {
        decoder.decode_out(&mut i);
        if i.is_invalid() {
            return Err(format!("at {:#x}: no instruction", i.ip()));
        }
        if let Some(all) = reached.get(&i.ip()) {
            aimed = *all && (aimed || !goes_on);
        }
        // What is computed like an address is not touched.
        let sum = i.code() == Code::Lea_r32_m;
        let memory = !sum
            && [i.op0_kind(), i.op1_kind(), i.op2_kind(), i.op3_kind(), i.op4_kind()]
                .contains(&OpKind::Memory);
        if memory {
            let (base, index) = (i.memory_base(), i.memory_index());
            let at = i.memory_displacement64() as i64;
            let end = at + i.memory_size().size() as i64;
            let ahead = |most: u32| {
                at >= i64::from(sizes.ahead.start) && end + i64::from(most) <= i64::from(sizes.ahead.end)
            };
            let inside = |bytes: u32| index == Register::None && at >= 0 && end <= i64::from(bytes);
            // Elements found through address registers, which were held against the variables' ends.
            let found = matches!(
                i.code(),
                Code::EVEX_Vpgatherdd_zmm_k1_vm32z
                    | Code::EVEX_Vpgatherdd_ymm_k1_vm32y
                    | Code::EVEX_Vpgatherdd_xmm_k1_vm32x
                    | Code::EVEX_Vpgatherdq_zmm_k1_vm32y
                    | Code::VEX_Vpgatherdq_ymm_vm32x_ymm
                    | Code::VEX_Vpgatherdd_ymm_vm32y_ymm
                    | Code::VEX_Vpgatherdd_xmm_vm32x_xmm
            );
            let fine = match base {
                // The same of one element, or of a row.
                Register::RBX if index == Register::RDI => {
                    i.memory_index_scale() == 1 && at >= 0 && end <= i64::from(sizes.registers)
                }
                // An element of such a row that is made, by the number of a lane.
                Register::RBX if index == Register::R9 => {
                    let step = i64::from(i.memory_index_scale());
                    at >= 0 && at + 16 * step <= i64::from(sizes.registers) && end <= at + step
                }
                Register::RBX if found => at >= 0 && at <= i64::from(sizes.registers),
                Register::RBX => inside(sizes.registers),
                // By the number of a lane: dwords, below 32, and quads, below sixteen, of the two arrays that have such.
                Register::RBP if index == Register::R9 && at < i64::from(place::WAITS) => {
                    let step = i64::from(i.memory_index_scale());
                    let arrays = [place::LANES, place::LANES + 128, place::LANES + 256].map(i64::from);
                    let of = if step == 8 { &arrays[1..] } else { &arrays[..] };
                    matches!(step, 4 | 8) && of.contains(&at) && end == at + step
                }
                // By the number of a row, and where of the two tiles four rows begin.
                Register::RBP if index == Register::R9 && i.memory_index_scale() == 4 => {
                    ahead(4 * (ROWS - 4))
                }
                Register::RBP if index == Register::R10 && i.memory_index_scale() == 4 => {
                    ahead(TILE + 4 * (ROWS - 4))
                }
                // By the number of a chunk of addresses.
                Register::RBP if (index == Register::RSI || found) && at == i64::from(sizes.ends.start) => {
                    i.memory_index_scale() == 4 && !sizes.ends.is_empty() && end == at + 4
                }
                Register::RBP if index == Register::RSI && i.memory_index_scale() == 1 => {
                    ahead(2 * TILE - 4 * ROWS)
                }
                Register::RBP => inside(sizes.context),
                Register::R12 => inside(sizes.sites),
                Register::R13 => inside(sizes.record),
                // An address in the code.
                Register::RIP => {
                    i.code() == Code::Lea_r64_m && (START..START + code.len() as u64).contains(&(at as u64))
                }
                Register::RSP => index == Register::None,
                Register::RSI => payload && inside(sizes.payload) && i.op0_kind() == OpKind::Register,
                // What is fetched ahead is not touched.
                Register::RCX if matches!(i.code(), Code::Prefetcht0_m8 | Code::Prefetcht1_m8) => aimed,
                _ if i.code() == Code::Prefetchw_m8 => true,
                Register::RCX => aimed && index != Register::None && (0..=1024).contains(&at),
                _ => false,
            };
            if !fine {
                return Err(format!("at {:#x}: {i}", i.ip()));
            }
        }
        let flow = i.flow_control();
        // Nothing jumps between the load of this one and its uses either.
        let first = match i.op0_kind() {
            OpKind::Register if i.op0_register() <= Register::R15 => i.op0_register().full_register(),
            _ => Register::None,
        };
        if first == Register::RSI {
            payload = i.code() == Code::Mov_r64_rm64
                && i.memory_base() == Register::RBP
                && i.memory_displacement64() as u32 == place::PAYLOAD;
        } else if flow != FlowControl::Next {
            payload = false;
        }
        if i.op0_kind() == OpKind::NearBranch64 && i.near_branch64() > i.ip() {
            *reached.entry(i.near_branch64()).or_insert(true) &= aimed;
        }
        goes_on = !matches!(flow, FlowControl::Return | FlowControl::UnconditionalBranch);
        // The pointer is good from where it is loaded to where the register is written again.
        if first == Register::RCX {
            aimed = i.memory_base() == Register::R12
                && i.memory_displacement64() as u32 % SITE == envisa_codegen::layout::site::POINTER;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `mov rcx, [r12 + POINTER]`
    fn aim() -> Vec<u8> {
        let at = envisa_codegen::layout::site::POINTER;
        [&[0x49, 0x8b, 0x8c, 0x24], &at.to_le_bytes()[..]].concat()
    }

    /// `jne` over so many bytes
    fn jump(over: usize) -> Vec<u8> {
        [&[0x0f, 0x85], &(over as u32).to_le_bytes()[..]].concat()
    }

    /// `xor ecx, ecx`
    const CLEAR: [u8; 2] = [0x31, 0xc9];
    /// `mov [rcx + rax], edx`
    const STORE: [u8; 3] = [0x89, 0x14, 0x01];
    const RETURN: [u8; 1] = [0xc3];

    fn passes(parts: &[&[u8]]) -> bool {
        let (ahead, ends) = (0..0, 0..0);
        let sizes = Sizes { registers: 64, context: 64, sites: 4096, payload: 64, record: 64, ahead, ends };
        audit(&parts.concat(), &sizes).is_ok()
    }

    #[test]
    fn code_put_aside_has_the_pointer_of_those_who_jump_there() {
        assert!(passes(&[&aim(), &STORE, &RETURN]));
        assert!(!passes(&[&CLEAR, &STORE, &RETURN]));
        // Between the jump and its target the pointer is lost, for those who do not jump.
        assert!(passes(&[&aim(), &jump(3), &CLEAR, &RETURN, &STORE, &RETURN]));
        // Who jumps has none.
        assert!(!passes(&[&jump(11), &aim(), &CLEAR, &RETURN, &STORE, &RETURN]));
        // Who does not jump comes there without one, too.
        assert!(!passes(&[&aim(), &jump(2), &CLEAR, &STORE, &RETURN]));
        // One of two who jump has none.
        assert!(!passes(&[&jump(14), &aim(), &jump(0), &jump(0), &STORE, &RETURN]));
    }
}
