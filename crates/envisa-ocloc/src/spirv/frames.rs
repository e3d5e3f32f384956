//! Frames for a debugger: SPIR-V in which every function calls one that does nothing.
//!
//! Without optimisation the compiler keeps variables in private memory. Debug information names their place relative to the
//! frame pointer, which only functions with calls have; in others it names native registers that hold addresses. So every
//! function gets a call. (The format: SPIR-V specification, 2.3 and 2.4.)

use super::{Instruction, Rewriting, literal};

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

/// Of functions that are not to be inlined.
const DONT_INLINE: u32 = 2;
/// The added function's name.
const NAME: &str = "envisa.frame";

/// Where the call goes in a function that begins at this instruction: behind its variables; `None` of a declaration.
pub(super) fn behind_variables(all: &[Instruction], function: usize) -> Option<usize> {
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
    let mut module = Rewriting::of(spirv)?;
    let all = module.all.clone();
    let operands = |i: &Instruction| module.operands(i).to_vec();
    let void = all.iter().find(|i| i.op == op::TYPE_VOID).map(operands)?;
    let [void] = void[..] else { return None };
    let is_plain =
        |i: &&Instruction| i.op == op::TYPE_FUNCTION && module.operands(i).get(1..) == Some(&[void]);
    let plain = all.iter().find(is_plain).map(|i| module.operands(i)[0]);
    let first = all.iter().find(|i| i.op == op::FUNCTION)?.at;
    let [frame, kind, label] = [module.id(), module.id(), module.id()];
    if let Some(name) = all.iter().find(|i| i.op == op::NAME) {
        let operands: Vec<u32> = std::iter::once(frame).chain(literal(NAME)).collect();
        module.put(name.at, op::NAME, &operands);
    }
    let kind = plain.unwrap_or_else(|| {
        module.put(first, op::TYPE_FUNCTION, &[kind, void]);
        kind
    });
    for (i, _) in all.iter().enumerate().filter(|(_, i)| i.op == op::FUNCTION) {
        if let Some(at) = behind_variables(&all, i) {
            let id = module.id();
            module.put(at, op::FUNCTION_CALL, &[void, id, frame]);
        }
    }
    let end = module.words.len();
    module.put(end, op::FUNCTION, &[void, frame, DONT_INLINE, kind]);
    module.put(end, op::LABEL, &[label]);
    module.put(end, op::RETURN, &[]);
    module.put(end, op::FUNCTION_END, &[]);
    module.finish()
}

#[cfg(test)]
mod tests {
    use super::super::{BOUND, MAGIC, instruction};
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
