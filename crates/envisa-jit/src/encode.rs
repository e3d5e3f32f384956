//! The list of x86 instructions as bytes.
//!
//! (The encoder crate's own way to encode blocks, which can do more, takes four to ten times as long.)

use iced_x86::{Code, Encoder, IcedError, Instruction};

/// How far a short branch goes, less the bytes of the branch itself.
const NEAR: i64 = 124;
/// Bytes of a short branch.
const SHORT: u32 = 2;
/// How often branches are looked for that others have come near by.
const ROUNDS: u32 = 4;

/// Does an instruction name a label: that of a branch, or of code that it takes the address of?
fn label(i: &Instruction) -> Option<u64> {
    if i.is_jcc_short_or_near() || i.is_jmp_short_or_near() || i.is_call_near() {
        Some(i.near_branch64())
    } else if i.is_ip_rel_memory_operand() {
        Some(i.memory_displacement64())
    } else {
        None
    }
}

/// The same instruction, going to or naming a place in the code.
fn aimed(mut i: Instruction, to: u64) -> Instruction {
    if i.is_ip_rel_memory_operand() {
        i.set_memory_displacement64(to);
    } else {
        i.set_near_branch64(to);
    }
    i
}

/// An instruction that names a label.
struct Aimed {
    /// Which it is, and which it names.
    from: usize,
    to: usize,
    code: Code,
}

/// The bytes of instructions, and where each begins. Labels are numbers from 1 on: that of an instruction is its
/// address, which is 0 where it has none.
///
/// # Errors
/// What cannot be encoded.
pub(crate) fn encode(code: &[Instruction]) -> Result<(Vec<u8>, Vec<u32>), String> {
    let told = |e: IcedError| e.to_string();
    let mut at_label = Vec::new();
    for (k, i) in code.iter().enumerate().filter(|i| i.1.ip() != 0) {
        let l = i.ip() as usize;
        at_label.resize(at_label.len().max(l + 1), usize::MAX);
        at_label[l] = k;
    }
    // All of it as if every branch were a long one.
    let mut e = Encoder::try_with_capacity(64, 6 * code.len()).map_err(told)?;
    let mut at: Vec<u32> = Vec::with_capacity(code.len() + 1);
    let mut aims: Vec<Aimed> = Vec::new();
    let mut end = 0;
    for (k, i) in code.iter().enumerate() {
        at.push(end);
        end += match label(i) {
            None => e.encode(i, 0),
            Some(l) => {
                let to = at_label.get(l as usize).copied().filter(|to| *to != usize::MAX);
                aims.push(Aimed { from: k, to: to.ok_or("a label that is bound nowhere")?, code: i.code() });
                e.encode(&aimed(*i, 0), 0)
            }
        }
        .map_err(told)? as u32;
    }
    at.push(end);
    let long = e.take_buffer();
    // Distances only shrink: what is near now stays so, and may bring others near.
    let mut places = at.clone();
    for _ in 0..ROUNDS {
        let mut found = false;
        for a in &mut aims {
            let short = a.code.as_short_branch();
            let distance = i64::from(places[a.to]) - i64::from(places[a.from]);
            if short != a.code && distance.abs() <= NEAR {
                (a.code, found) = (short, true);
            }
        }
        if !found {
            break;
        }
        let (mut saved, mut next) = (0, aims.iter().peekable());
        for (k, place) in places.iter_mut().enumerate() {
            *place = at[k] - saved;
            if let Some(a) = next.next_if(|a| a.from == k)
                && a.code != code[k].code()
            {
                saved += at[k + 1] - at[k] - SHORT;
            }
        }
    }
    // What names a label is written anew between what does not.
    let mut aimed_bytes = Encoder::try_with_capacity(64, 16).map_err(told)?;
    let mut out = Vec::with_capacity(places[code.len()] as usize);
    let mut from = 0;
    for a in &aims {
        out.extend_from_slice(&long[from..at[a.from] as usize]);
        from = at[a.from + 1] as usize;
        let mut i = aimed(code[a.from], places[a.to].into());
        i.set_code(a.code);
        let place = places[a.from];
        aimed_bytes.encode(&i, place.into()).map_err(told)?;
        let mut bytes = aimed_bytes.take_buffer();
        out.append(&mut bytes);
        aimed_bytes.set_buffer(bytes);
    }
    out.extend_from_slice(&long[from..]);
    places.pop();
    Ok((out, places))
}

#[cfg(test)]
mod tests {
    use iced_x86::{Decoder, DecoderOptions, MemoryOperand, Register};

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
