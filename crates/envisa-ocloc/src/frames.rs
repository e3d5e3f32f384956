//! Frames for a debugger: SPIR-V in which every function calls one that does nothing.
//!
//! Without optimisation the compiler keeps variables in private memory. Debug information names their place relative to the
//! frame pointer, which only functions with calls have; in others it names native registers that hold addresses. So every
//! function gets a call. (The format: SPIR-V specification, 2.3 and 2.4.)

const MAGIC: u32 = 0x0723_0203;
/// Words of the header; the fourth is one more than the largest id.
const HEADER: usize = 5;
const BOUND: usize = 3;

mod op {
    pub const NAME: u32 = 5;
    pub const LINE: u32 = 8;
    pub const EXT_INST: u32 = 12;
    pub const TYPE_VOID: u32 = 19;
    pub const TYPE_FUNCTION: u32 = 33;
    pub const FUNCTION: u32 = 54;
    pub const FUNCTION_END: u32 = 56;
    pub const FUNCTION_CALL: u32 = 57;
    pub const VARIABLE: u32 = 59;
    pub const LABEL: u32 = 248;
    pub const RETURN: u32 = 253;
    pub const NO_LINE: u32 = 317;
}

/// The largest bound that consumers have to take.
const MOST_IDS: u32 = 4_194_303;

/// Of functions that are not to be inlined.
const DONT_INLINE: u32 = 2;
/// The added function's name.
const NAME: &str = "envisa.frame";

/// An instruction's place and opcode.
struct Instruction {
    at: usize,
    end: usize,
    op: u32,
}

/// The instructions behind the header; `None` if lengths do not fit.
fn instructions(words: &[u32]) -> Option<Vec<Instruction>> {
    let mut all = Vec::new();
    let mut at = HEADER;
    while at < words.len() {
        let length = (words[at] >> 16) as usize;
        if length == 0 || at + length > words.len() {
            return None;
        }
        all.push(Instruction { at, end: at + length, op: words[at] & 0xffff });
        at += length;
    }
    Some(all)
}

fn instruction(op: u32, operands: &[u32]) -> Vec<u32> {
    let mut words = vec![(operands.len() as u32 + 1) << 16 | op];
    words.extend_from_slice(operands);
    words
}

/// Where the call goes in a function that begins at this instruction: behind its variables; `None` of a declaration.
fn behind_variables(all: &[Instruction], function: usize) -> Option<usize> {
    let body = &all[function + 1..];
    let label = body.iter().take_while(|i| i.op != op::FUNCTION_END).position(|i| i.op == op::LABEL)?;
    let mut at = body[label].end;
    for i in &body[label + 1..] {
        match i.op {
            op::VARIABLE => at = i.end,
            op::LINE | op::NO_LINE | op::EXT_INST => {}
            _ => break,
        }
    }
    Some(at)
}

/// The module with such calls; `None` if it is no module of little-endian SPIR-V, or has no functions.
pub fn with_calls(spirv: &[u8]) -> Option<Vec<u8>> {
    if !spirv.len().is_multiple_of(4) {
        return None;
    }
    let words: Vec<u32> =
        spirv.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    if words.len() < HEADER || words[0] != MAGIC {
        return None;
    }
    let all = instructions(&words)?;
    let bound = words[BOUND];
    // The universal limit on the bound (2.17) leaves room for all ids that are added.
    if bound > MOST_IDS {
        return None;
    }
    let [frame, kind, label] = [bound, bound + 1, bound + 2];
    let void = all.iter().find(|i| i.op == op::TYPE_VOID && i.end - i.at == 2).map(|i| words[i.at + 1])?;
    let plain =
        all.iter().find(|i| i.op == op::TYPE_FUNCTION && i.end - i.at == 3 && words[i.at + 2] == void);
    let first = all.iter().position(|i| i.op == op::FUNCTION)?;
    // What is inserted, and in front of which word.
    let mut added: Vec<(usize, Vec<u32>)> = Vec::new();
    if let Some(name) = all.iter().find(|i| i.op == op::NAME) {
        let mut text = NAME.as_bytes().to_vec();
        text.resize((text.len() + 1).next_multiple_of(4), 0);
        let text = text.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let operands: Vec<u32> = std::iter::once(frame).chain(text).collect();
        added.push((name.at, instruction(op::NAME, &operands)));
    }
    let kind = match plain {
        Some(i) => words[i.at + 1],
        None => {
            added.push((all[first].at, instruction(op::TYPE_FUNCTION, &[kind, void])));
            kind
        }
    };
    let mut next = bound + 3;
    for (i, _) in all.iter().enumerate().filter(|(_, i)| i.op == op::FUNCTION) {
        if let Some(at) = behind_variables(&all, i) {
            added.push((at, instruction(op::FUNCTION_CALL, &[void, next, frame])));
            next += 1;
        }
    }
    let mut out = Vec::with_capacity(words.len() + 8 * added.len());
    let mut from = 0;
    for (at, new) in &added {
        out.extend_from_slice(&words[from..*at]);
        out.extend_from_slice(new);
        from = *at;
    }
    out.extend_from_slice(&words[from..]);
    out.extend(instruction(op::FUNCTION, &[void, frame, DONT_INLINE, kind]));
    out.extend(instruction(op::LABEL, &[label]));
    out.extend(instruction(op::RETURN, &[]));
    out.extend(instruction(op::FUNCTION_END, &[]));
    out[BOUND] = next;
    Some(out.iter().flat_map(|w| w.to_le_bytes()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(body: &[Vec<u32>]) -> Vec<u8> {
        let mut words = vec![MAGIC, 0x1_0000, 0, 10, 0];
        words.extend(body.iter().flatten());
        words.iter().flat_map(|w| w.to_le_bytes()).collect()
    }

    fn function(id: u32, inner: &[Vec<u32>]) -> Vec<u32> {
        let mut words = instruction(op::FUNCTION, &[1, id, 0, 2]);
        words.extend(instruction(op::LABEL, &[id + 1]));
        words.extend(inner.iter().flatten());
        words.extend(instruction(op::RETURN, &[]));
        words.extend(instruction(op::FUNCTION_END, &[]));
        words
    }

    #[test]
    fn every_function_calls_behind_its_variables() {
        let variable = instruction(op::VARIABLE, &[3, 7, 7]);
        let line = instruction(op::LINE, &[9, 1, 1]);
        let types = [instruction(op::TYPE_VOID, &[1]), instruction(op::TYPE_FUNCTION, &[2, 1, 3])];
        let old =
            [types.concat(), function(4, &[line.clone(), variable.clone(), line.clone()]), function(5, &[])];
        let new = with_calls(&module(&old)).expect("a module");
        let call = |id| instruction(op::FUNCTION_CALL, &[1, id, 10]);
        let kind = instruction(op::TYPE_FUNCTION, &[11, 1]);
        let mut frame = instruction(op::FUNCTION, &[1, 10, DONT_INLINE, 11]);
        frame.extend(instruction(op::LABEL, &[12]));
        frame.extend(instruction(op::RETURN, &[]));
        frame.extend(instruction(op::FUNCTION_END, &[]));
        let mut expected = module(&[
            types.concat(),
            kind,
            function(4, &[line.clone(), variable, call(13), line]),
            function(5, &[call(14)]),
            frame,
        ]);
        expected[4 * BOUND] = 15;
        assert_eq!(new, expected);
    }

    #[test]
    fn what_is_no_module_is_left_alone() {
        let all = module(&[instruction(op::TYPE_VOID, &[1]), function(4, &[])]);
        for n in 0..all.len() {
            let _ = with_calls(&all[..n]);
            let mut changed = all.clone();
            changed[n] ^= 0xff;
            let _ = with_calls(&changed);
        }
        assert_eq!(with_calls(b"no module at all"), None);
        assert_eq!(with_calls(&module(&[])), None);
    }
}
