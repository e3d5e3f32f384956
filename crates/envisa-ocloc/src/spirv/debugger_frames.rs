//! Frames for a debugger: SPIR-V in which every function calls one that does nothing, and copies what it is given by value.
//!
//! Without optimisation the compiler keeps variables in private memory. Debug information names their place relative to the
//! frame pointer, which only functions with calls have; in others it names native registers that hold addresses. So every
//! function gets a call.
//!
//! A structure that is passed by value is a pointer to the caller's here (`FuncParamAttr ByVal`). Without optimisation the
//! compiler makes no copy of it: the function would change its caller's variable, and the structure has no place of its own.
//! So the parameter gets another id, and the old one is that of a variable into which it is copied.
//! (The format: SPIR-V specification, 2.3 and 2.4.)

use super::{Instruction, Rewriting, string_operands};
use std::collections::BTreeMap;

mod op {
    pub const NAME: u32 = 5;
    pub const LINE: u32 = 8;
    pub const EXT_INST: u32 = 12;
    pub const TYPE_VOID: u32 = 19;
    pub const TYPE_FUNCTION: u32 = 33;
    pub const FUNCTION: u32 = 54;
    pub const FUNCTION_PARAMETER: u32 = 55;
    pub const FUNCTION_END: u32 = 56;
    pub const FUNCTION_CALL: u32 = 57;
    pub const VARIABLE: u32 = 59;
    pub const TYPE_POINTER: u32 = 32;
    pub const LOAD: u32 = 61;
    pub const STORE: u32 = 62;
    pub const DECORATE: u32 = 71;
    pub const LABEL: u32 = 248;
    pub const RETURN: u32 = 253;
    pub const NO_LINE: u32 = 317;
}

/// A decoration of parameters, and the one of those that are passed by value (3.20, 3.19).
const FUNC_PARAM_ATTR: u32 = 38;
const BY_VALUE: u32 = 2;
/// The storage class of a function's variables (3.7).
const IN_FUNCTION: u32 = 7;
/// Of functions that are not to be inlined.
const DONT_INLINE: u32 = 2;
/// The added function's name.
const NAME: &str = "envisa.frame";

/// Where the call goes in a function that begins at this instruction: behind its variables; `None` of a declaration.
pub(super) fn after_variables(all: &[Instruction], function: usize) -> Option<usize> {
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

/// The module with such calls; `None` if it is not a module of little-endian SPIR-V, or has no functions.
pub fn with_frame_calls(spirv: &[u8]) -> Option<Vec<u8>> {
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
        let operands: Vec<u32> = std::iter::once(frame).chain(string_operands(NAME)).collect();
        module.put(name.at, op::NAME, &operands);
    }
    let kind = plain.unwrap_or_else(|| {
        module.put(first, op::TYPE_FUNCTION, &[kind, void]);
        kind
    });
    let by_value = with_own_ids(&mut module, &all);
    for (i, _) in all.iter().enumerate().filter(|(_, i)| i.op == op::FUNCTION) {
        copy_parameters(&mut module, &all, i, &by_value);
        if let Some(at) = after_variables(&all, i) {
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

/// Parameters that are passed by value get other ids, and so do their decorations: the new id by the old one.
fn with_own_ids(module: &mut Rewriting, all: &[Instruction]) -> BTreeMap<u32, u32> {
    let attributes = |i: &&Instruction| i.op == op::DECORATE && i.end - i.at > 3;
    let all: Vec<&Instruction> = all.iter().filter(attributes).collect();
    let mut new = BTreeMap::new();
    for i in &all {
        if let [old, FUNC_PARAM_ATTR, BY_VALUE] = *module.operands(i) {
            new.entry(old).or_insert_with(|| module.id());
        }
    }
    for i in &all {
        if let [old, FUNC_PARAM_ATTR, ..] = *module.operands(i)
            && let Some(id) = new.get(&old)
        {
            module.words[i.at + 1] = *id;
        }
    }
    new
}

/// Copies what a function is given by value into variables that have the parameters' old ids.
fn copy_parameters(module: &mut Rewriting, all: &[Instruction], function: usize, new: &BTreeMap<u32, u32>) {
    let Some(at) = after_variables(all, function) else { return };
    let body = &all[function + 1..];
    let Some(label) = body.iter().find(|i| i.op == op::LABEL) else { return };
    for i in body.iter().take_while(|i| i.op == op::FUNCTION_PARAMETER) {
        let [ty, old] = *module.operands(i) else { continue };
        if let Some(id) = new.get(&old) {
            let pointer = all.iter().find(|i| i.op == op::TYPE_POINTER && module.operands(i)[..1] == [ty]);
            let Some(&[_, _, of]) = pointer.map(|i| module.operands(i)) else { continue };
            let value = module.id();
            module.words[i.at + 2] = *id;
            module.put(label.end, op::VARIABLE, &[ty, old, IN_FUNCTION]);
            module.put(at, op::LOAD, &[of, value, *id]);
            module.put(at, op::STORE, &[old, value]);
        }
    }
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
        let new = with_frame_calls(&module(&old)).expect("a module");
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
    fn what_is_given_by_value_is_copied() {
        let pointer = instruction(op::TYPE_POINTER, &[3, IN_FUNCTION, 8]);
        let types = [instruction(op::TYPE_VOID, &[1]), pointer, instruction(op::TYPE_FUNCTION, &[2, 1])];
        let with = |attribute: u32, parameter: u32, inner: &[Vec<u32>], rest: &[Vec<u32>]| {
            let mut words = instruction(op::DECORATE, &[attribute, FUNC_PARAM_ATTR, BY_VALUE]);
            words.extend(types.concat());
            words.extend(instruction(op::FUNCTION, &[1, 4, 0, 2]));
            words.extend(instruction(op::FUNCTION_PARAMETER, &[3, parameter]));
            words.extend(instruction(op::LABEL, &[6]));
            words.extend(inner.concat());
            words.extend(instruction(op::RETURN, &[]));
            words.extend(instruction(op::FUNCTION_END, &[]));
            words.extend(rest.concat());
            module(&[words])
        };
        let variable = instruction(op::VARIABLE, &[3, 7, IN_FUNCTION]);
        let old = with(5, 5, std::slice::from_ref(&variable), &[]);
        let own = instruction(op::VARIABLE, &[3, 5, IN_FUNCTION]);
        let copied = [instruction(op::LOAD, &[8, 14, 13]), instruction(op::STORE, &[5, 14])].concat();
        let call = instruction(op::FUNCTION_CALL, &[1, 15, 10]);
        let frame = [
            instruction(op::FUNCTION, &[1, 10, DONT_INLINE, 2]),
            instruction(op::LABEL, &[12]),
            instruction(op::RETURN, &[]),
            instruction(op::FUNCTION_END, &[]),
        ];
        let mut expected = with(13, 13, &[own, variable, copied, call], &frame);
        expected[4 * BOUND] = 16;
        assert_eq!(with_frame_calls(&old), Some(expected));
    }

    #[test]
    fn what_is_no_module_is_left_alone() {
        let all = module(&[instruction(op::TYPE_VOID, &[1]), function(4, &[])]);
        for n in 0..all.len() {
            let _ = with_frame_calls(&all[..n]);
            let mut changed = all.clone();
            changed[n] ^= 0xff;
            let _ = with_frame_calls(&changed);
        }
        assert_eq!(with_frame_calls(b"no module at all"), None);
        assert_eq!(with_frame_calls(&module(&[])), None);
    }
}
