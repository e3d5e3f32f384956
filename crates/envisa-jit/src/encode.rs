//! The list of x86 instructions as bytes.
//!
//! (The encoder crate's own way to encode blocks, which can do more, takes many times as long.)

use iced_x86::{Code, IcedError, Instruction, OpKind, Register};

use crate::encoding_forms::{MOST, Writer};

/// How far a short branch goes, less the bytes of the branch itself.
const NEAR: i64 = 124;
/// Bytes of a short branch.
const SHORT: u32 = 2;
/// How often branches are looked for that others have come near by.
const ROUNDS: u32 = 4;

/// Does an instruction name a label: that of a branch, or of code that it takes the address of?
fn label(i: &Instruction) -> Option<u64> {
    if i.op0_kind() == OpKind::NearBranch64 {
        Some(i.near_branch64())
    } else if i.memory_base() == Register::RIP {
        Some(i.memory_displacement64())
    } else {
        None
    }
}

/// An instruction that names a label.
struct Aimed {
    /// Which it is, and which it names.
    from: u32,
    to: u32,
    /// How many of these are before what it names.
    before: u32,
    /// Its bytes, if it is long.
    long: u8,
    short: bool,
}

/// Bytes of what names a label, unless it is a short branch.
fn label_bytes(i: &Instruction) -> Option<u8> {
    match i.code() {
        Code::Jmp_rel32_64 | Code::Call_rel32_64 => Some(5),
        Code::Lea_r64_m => Some(7),
        _ if i.is_jcc_near() => Some(6),
        _ => None,
    }
}

/// Writes what names a label: from where it is to what it names.
fn write_aimed(i: &Instruction, a: &Aimed, from: u32, to: u32, out: &mut Vec<u8>) {
    let by = |n: u32| to.wrapping_sub(from.wrapping_add(n));
    // The codes of conditions are in the order of the CPU's, from 1 on.
    let condition = (i.condition_code() as u8).wrapping_sub(1) & 15;
    if a.short {
        let code = if i.code() == Code::Jmp_rel32_64 { 0xeb } else { 0x70 | condition };
        return out.extend_from_slice(&[code, by(SHORT) as u8]);
    }
    match i.code() {
        Code::Jmp_rel32_64 => out.push(0xe9),
        Code::Call_rel32_64 => out.push(0xe8),
        Code::Lea_r64_m => {
            let r = i.op0_register() as u8 - Register::RAX as u8;
            out.extend_from_slice(&[0x48 | r >> 3 << 2, 0x8d, (r & 7) << 3 | 5]);
        }
        _ => out.extend_from_slice(&[0x0f, 0x80 | condition]),
    }
    out.extend_from_slice(&by(a.long.into()).to_le_bytes());
}

/// The bytes of instructions, and where each begins; those without a code have none. Labels are numbers from 1 on: that of an instruction is its
/// address, which is 0 where it has none.
///
/// # Errors
/// What cannot be encoded.
pub(crate) fn encode(code: &[Instruction]) -> Result<(Vec<u8>, Vec<u32>), String> {
    let told = |e: IcedError| e.to_string();
    // By label: the instruction, and how many that name labels are before it.
    let mut at_label: Vec<(u32, u32)> = Vec::new();
    // All of it as if every branch were a long one; what names a label is left out.
    let mut writer = Writer::new().map_err(told)?;
    let mut bytes = vec![0; MOST * (code.len() + 1)];
    let mut at: Vec<u32> = Vec::with_capacity(code.len() + 1);
    let mut aims: Vec<Aimed> = Vec::new();
    let (mut end, mut written) = (0, 0);
    for (k, i) in code.iter().enumerate() {
        at.push(end);
        if i.ip() != 0 {
            let l = i.ip() as usize;
            if at_label.len() <= l {
                at_label.resize(l + 1, (u32::MAX, 0));
            }
            at_label[l] = (k as u32, aims.len() as u32);
        }
        if i.code() == Code::INVALID {
            continue;
        }
        if let Some(l) = label(i) {
            let long = label_bytes(i).ok_or("a branch of a rare kind")?;
            let to = u32::try_from(l).map_err(|_| "a label that is bound nowhere")?;
            aims.push(Aimed { from: k as u32, to, before: 0, long, short: false });
            end += u32::from(long);
        } else {
            let room = bytes[written..].first_chunk_mut().ok_or("more bytes than instructions have")?;
            let n = writer.write(i, room).map_err(told)?;
            written += n;
            end += n as u32;
        }
    }
    at.push(end);
    for a in &mut aims {
        let (to, before) = at_label.get(a.to as usize).copied().unwrap_or((u32::MAX, 0));
        if to == u32::MAX {
            return Err("a label that is bound nowhere".into());
        }
        (a.to, a.before) = (to, before);
    }
    // What branches before each one save: distances only shrink, what is near now stays so, and may bring others near.
    let mut saved: Vec<u32> = vec![0; aims.len() + 1];
    let mut now = saved.clone();
    for _ in 0..ROUNDS {
        let mut found = false;
        for (k, a) in aims.iter_mut().enumerate() {
            let place = |of: u32, before: usize| i64::from(at[of as usize] - saved[before]);
            if !a.short && matches!(a.long, 5 | 6) && code[a.from as usize].code() != Code::Call_rel32_64 {
                a.short = (place(a.to, a.before as usize) - place(a.from, k)).abs() <= NEAR;
                found |= a.short;
            }
            now[k + 1] = now[k] + if a.short { u32::from(a.long) - SHORT } else { 0 };
        }
        if !found {
            break;
        }
        saved.copy_from_slice(&now);
    }
    // What names a label is written between what does not.
    let mut out = Vec::with_capacity((end - saved[aims.len()]) as usize);
    let (mut from, mut first) = (0, 0);
    for (k, a) in aims.iter().enumerate() {
        let n = (at[a.from as usize] - first) as usize;
        out.extend_from_slice(&bytes[from..from + n]);
        from += n;
        first = at[a.from as usize + 1];
        let place = at[a.from as usize] - saved[k];
        let to = at[a.to as usize] - saved[a.before as usize];
        write_aimed(&code[a.from as usize], a, place, to, &mut out);
    }
    out.extend_from_slice(&bytes[from..written]);
    at.pop();
    let mut ends = aims.iter().map(|a| a.from as usize + 1).chain([at.len()]);
    let mut from = ends.next().unwrap_or(0);
    for (end, less) in ends.zip(&saved[1..]) {
        at[from..end].iter_mut().for_each(|a| *a -= less);
        from = end;
    }
    Ok((out, at))
}

#[cfg(test)]
mod tests {
    use iced_x86::{Decoder, DecoderOptions, MemoryOperand};

    use super::*;

    /// Branches forwards and backwards, near and far, and an address of code: each names what it named.
    #[test]
    fn labels_are_where_they_were() {
        let mut code = Vec::new();
        for k in 0..3000u64 {
            let to = 1 + (k * 7919 % 300) * 10;
            let to = if k % 3 == 0 { 1 + k / 10 * 10 } else { to };
            let mut i = match k % 10 {
                3 => Instruction::with_branch(Code::Jne_rel32_64, to),
                5 => Instruction::with_branch(Code::Jmp_rel32_64, to),
                7 => Instruction::with_branch(Code::Call_rel32_64, to),
                9 => Instruction::with2(
                    Code::Lea_r64_m,
                    Register::RAX,
                    MemoryOperand::with_base_displ(Register::RIP, to as i64),
                ),
                _ => Instruction::with2(Code::Add_rm32_imm32, Register::ECX, k as u32 | 1 << 20),
            }
            .expect("it is encodable");
            i.set_ip(if k % 10 == 0 { k + 1 } else { 0 });
            code.push(i);
        }
        let (bytes, at) = encode(&code).expect("all labels are bound");
        let mut short = 0;
        let mut end = 0;
        for (k, d) in Decoder::new(64, &bytes, DecoderOptions::NONE).iter().enumerate() {
            assert_eq!(d.ip(), u64::from(at[k]), "instruction {k}");
            end = d.next_ip();
            let Some(l) = label(&code[k]) else {
                assert_eq!((d.code(), d.immediate32()), (code[k].code(), code[k].immediate32()));
                continue;
            };
            let to = if d.is_ip_rel_memory_operand() { d.ip_rel_memory_address() } else { d.near_branch64() };
            assert_eq!(to, u64::from(at[l as usize - 1]), "what instruction {k} names");
            short += usize::from(d.len() == SHORT as usize);
        }
        assert_eq!((end as usize, at.len()), (bytes.len(), code.len()));
        assert!((100..300).contains(&short), "{short} branches are short");
    }

    #[test]
    fn a_label_that_is_bound_nowhere() {
        let i = Instruction::with_branch(Code::Jmp_rel32_64, 5).expect("it is encodable");
        assert!(encode(&[i]).is_err());
    }
}
