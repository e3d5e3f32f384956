//! A second look at generated code, by its bytes: what memory each instruction names.

use std::ops::Range;

use envisa_machine::local_shadow;
use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Instruction, OpKind, Register};

use crate::context_layout::{SITE, at as place};
use crate::emit::row_streams::{ROWS, TILE};

/// How large what the code is given is, in bytes.
pub(crate) struct Sizes {
    pub registers: u32,
    pub context: u32,
    pub sites: u32,
    /// Of a thread's payload.
    pub payload: u32,
    /// Of the record of a thread that takes turns, or where registers are spilled; and whether there is one.
    pub record: u32,
    pub together: bool,
    /// Where in the context what is loaded ahead is.
    pub ahead: Range<u32>,
    /// Where in the context the ends of variables are that addresses name.
    pub ends: Range<u32>,
}

/// Where the code is taken to begin.
const START: u64 = 1 << 32;

/// What is known where an instruction begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Known {
    /// `rcx` is a site's pointer.
    aimed: bool,
    /// `rsi` is the payload.
    payload: bool,
    /// `rsi` is the shadow of shared local memory.
    shadow: bool,
}

/// Nothing.
const NOTHING: Known = Known { aimed: false, payload: false, shadow: false };

/// Holds every memory operand against where it may lie: the register file, the context, the sites, the stack, or
/// what a site's pointer leads to, which is loaded on all ways to there.
///
/// # Errors
/// The first instruction that names other memory.
pub(crate) fn audit(code: &[u8], sizes: &Sizes) -> Result<(), String> {
    let all: Vec<Instruction> = Decoder::with_ip(64, code, START, DecoderOptions::NONE).into_iter().collect();
    if let Some(i) = all.iter().find(|i| i.is_invalid()) {
        return Err(format!("at {:#x}: no instruction", i.ip()));
    }
    for (i, known) in all.iter().zip(known_before(&all)) {
        // What is computed like an address is not touched.
        let memory = i.code() != Code::Lea_r32_m
            && [i.op0_kind(), i.op1_kind(), i.op2_kind(), i.op3_kind(), i.op4_kind()]
                .contains(&OpKind::Memory);
        if memory && !is_operand_safe(i, known, sizes, code.len()) {
            return Err(format!("at {:#x}: {i}", i.ip()));
        }
    }
    Ok(())
}

/// What is known before each instruction, whichever way leads there. (Nothing, where no way is seen: whoever comes there
/// comes from outside.)
fn known_before(all: &[Instruction]) -> Vec<Known> {
    let at = |ip: u64| all.binary_search_by_key(&ip, Instruction::ip).ok();
    let mut before: Vec<Option<Known>> = vec![None; all.len()];
    // Addresses in the code are where others go on.
    let taken = all.iter().filter(|i| i.code() == Code::Lea_r64_m && i.memory_base() == Register::RIP);
    let mut work: Vec<(usize, Known)> =
        taken.filter_map(|i| at(i.memory_displacement64())).map(|k| (k, NOTHING)).collect();
    for entry in 0..all.len() {
        if before[entry].is_none() {
            work.push((entry, NOTHING));
        }
        while let Some((k, comes)) = work.pop() {
            let old = before[k];
            let met = old.map_or(comes, |o| Known {
                aimed: o.aimed && comes.aimed,
                payload: o.payload && comes.payload,
                shadow: o.shadow && comes.shadow,
            });
            if old == Some(met) {
                continue;
            }
            before[k] = Some(met);
            let (i, after) = (&all[k], known_after(&all[k], met));
            if i.op0_kind() == OpKind::NearBranch64
                && let Some(to) = at(i.near_branch64())
            {
                work.push((to, after));
            }
            let ends = matches!(
                i.flow_control(),
                FlowControl::Return
                    | FlowControl::UnconditionalBranch
                    | FlowControl::IndirectBranch
                    | FlowControl::Exception
            );
            if !ends && k + 1 < all.len() {
                work.push((k + 1, after));
            }
        }
    }
    before.into_iter().map(|k| k.unwrap_or(NOTHING)).collect()
}

/// What is known after an instruction.
fn known_after(i: &Instruction, mut known: Known) -> Known {
    let from = |base: Register| i.code() == Code::Mov_r64_rm64 && i.memory_base() == base;
    let first = match i.op0_kind() {
        OpKind::Register if i.op0_register() <= Register::R15 => i.op0_register().full_register(),
        _ => Register::None,
    };
    // Nothing jumps between the load of this one and its uses either.
    if first == Register::RSI {
        let field = i.memory_displacement64() as u32;
        known.payload = from(Register::RBP) && field == place::PAYLOAD;
        known.shadow = from(Register::RBP) && field == place::SHADOW;
    } else if i.flow_control() != FlowControl::Next {
        known.payload = false;
    }
    // The pointer is good from where it is loaded to where the register is written again.
    if first == Register::RCX {
        known.aimed = i.memory_base() == Register::R12
            && i.memory_displacement64() as u32 % SITE == crate::context_layout::site::POINTER;
    }
    known
}

/// Does a memory operand lie where it may?
fn is_operand_safe(i: &Instruction, known: Known, sizes: &Sizes, code: usize) -> bool {
    let Known { aimed, payload, shadow } = known;
    let (base, index) = (i.memory_base(), i.memory_index());
    let at = i.memory_displacement64() as i64;
    let end = at + i.memory_size().size() as i64;
    let ahead =
        |most: u32| at >= i64::from(sizes.ahead.start) && end + i64::from(most) <= i64::from(sizes.ahead.end);
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
    match base {
        // The same of one element, or of a row.
        Register::RBX if matches!(index, Register::RDI | Register::RSI | Register::RAX) => {
            let place = i.memory_index_scale() == 1 && at >= 0 && end <= i64::from(sizes.registers);
            place && (index == Register::RDI || !may_write(i))
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
        Register::RBP if index == Register::R9 && i.memory_index_scale() == 4 => ahead(4 * (ROWS - 4)),
        Register::RBP if index == Register::R10 && i.memory_index_scale() == 4 => {
            ahead(TILE + 4 * (ROWS - 4))
        }
        // By the number of a chunk of addresses.
        Register::RBP if (index == Register::RSI || found) && at == i64::from(sizes.ends.start) => {
            i.memory_index_scale() == 4 && !sizes.ends.is_empty() && end == at + 4
        }
        // By the number of a column of two tiles, or of a cache of rows.
        Register::RBP if index == Register::RSI && i.memory_index_scale() == 1 => ahead(2 * TILE - 4 * ROWS),
        Register::RBP => inside(sizes.context),
        Register::R12 => inside(sizes.sites),
        Register::R13 if sizes.together => inside(sizes.record),
        // The payload, which stays as it is.
        Register::R13 => inside(sizes.payload) && !may_write(i),
        // An address in the code.
        Register::RIP => i.code() == Code::Lea_r64_m && (START..START + code as u64).contains(&(at as u64)),
        Register::RSP => index == Register::None,
        // By an offset that was held against the bytes of local memory that a message may access; a row may end behind.
        Register::RSI if shadow => {
            index != Register::None
                && (0..3).any(|part| (0..=64).contains(&(at - i64::from(part * local_shadow::BYTES))))
        }
        Register::RSI => payload && inside(sizes.payload) && i.op0_kind() == OpKind::Register,
        // What is fetched ahead is not touched.
        Register::RCX if matches!(i.code(), Code::Prefetcht0_m8 | Code::Prefetcht1_m8) => aimed,
        _ if i.code() == Code::Prefetchw_m8 => true,
        Register::RCX => aimed && index != Register::None && (0..=1024).contains(&at),
        _ => false,
    }
}

/// May an instruction write its memory operand?
fn may_write(i: &Instruction) -> bool {
    use Code::*;
    let compares = matches!(
        i.code(),
        Cmp_rm32_imm32
            | Cmp_rm32_imm8
            | Cmp_rm64_imm32
            | Cmp_rm32_r32
            | Cmp_rm64_r64
            | Test_rm32_imm32
            | Test_rm32_r32
    );
    i.op0_kind() == OpKind::Memory && !compares
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `mov rcx, [r12 + POINTER]`
    fn aim() -> Vec<u8> {
        let at = crate::context_layout::site::POINTER;
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
        let sizes = Sizes {
            registers: 64,
            context: 64,
            sites: 4096,
            payload: 64,
            record: 64,
            together: true,
            ahead,
            ends,
        };
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
        // One who jumps back has none.
        assert!(passes(&[&aim(), &STORE, &[0xeb, 0xfb], &RETURN]));
        assert!(!passes(&[&aim(), &STORE, &CLEAR, &[0xeb, 0xf9], &RETURN]));
        // What only somebody below jumps to has what that one has.
        assert!(passes(&[&[0xeb, 0x04], &STORE, &RETURN, &aim(), &[0xeb, 0xf2]]));
        // One of two who jump has none.
        assert!(!passes(&[&jump(14), &aim(), &jump(0), &jump(0), &STORE, &RETURN]));
    }
}
