//! What debug information calls variables of functions and members of structures: SPIR-V's own names of variables have numbers
//! behind them where several are called the same, and members often have none (OpenCL.DebugInfo.100).

use std::collections::{BTreeMap, BTreeSet};

use super::super::{Rewriting, text};

mod op {
    pub const STRING: u32 = 7;
    pub const EXT_INST_IMPORT: u32 = 11;
    pub const EXT_INST: u32 = 12;
}

const TYPEDEF: u32 = 7;
const TYPE_COMPOSITE: u32 = 10;
const TYPE_MEMBER: u32 = 11;
const LOCAL_VARIABLE: u32 = 26;
const DECLARE: u32 = 28;

/// Names, as the source has them.
#[derive(Default)]
pub(super) struct DebugNames {
    /// Of variables of functions, by the variable.
    pub variables: BTreeMap<u32, String>,
    /// Of members of structures: by the structure's name, the constant that their first bit is.
    structures: BTreeMap<String, Vec<(u32, String)>>,
}

impl DebugNames {
    pub fn of(module: &Rewriting) -> DebugNames {
        let mut names = DebugNames::default();
        let (mut sets, mut strings) = (BTreeSet::new(), BTreeMap::new());
        let (mut variables, mut members, mut composites) =
            (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut called: Vec<(String, u32)> = Vec::new();
        for i in &module.all {
            let (id, what, rest) = match (i.op, module.operands(i)) {
                (op::EXT_INST_IMPORT, [id, name @ ..]) if text(name).contains("DebugInfo") => {
                    sets.insert(*id);
                    continue;
                }
                (op::STRING, [id, words @ ..]) => {
                    strings.insert(*id, text(words));
                    continue;
                }
                (op::EXT_INST, [_, id, set, what, rest @ ..]) if sets.contains(set) => (*id, *what, rest),
                _ => continue,
            };
            let string = |id: &u32| strings.get(id).filter(|s| !s.is_empty()).cloned();
            match (what, rest) {
                (LOCAL_VARIABLE, [name, ..]) => {
                    variables.insert(id, string(name));
                }
                (DECLARE, [of, variable, ..]) => {
                    if let Some(Some(name)) = variables.get(of) {
                        names.variables.entry(*variable).or_insert_with(|| name.clone());
                    }
                }
                (TYPE_MEMBER, [name, _, _, _, _, _, offset, ..]) => {
                    members.insert(id, (*offset, string(name)));
                }
                (TYPE_COMPOSITE, [name, _, _, _, _, _, _, _, _, all @ ..]) => {
                    composites.insert(id, all.to_vec());
                    called.extend(string(name).map(|name| (name, id)));
                }
                (TYPEDEF, [name, of, ..]) => called.extend(string(name).map(|name| (name, *of))),
                _ => {}
            }
        }
        for (name, composite) in called {
            let all = composites.get(&composite).into_iter().flatten();
            let all = all.filter_map(|m| members.get(m)).filter_map(|(at, name)| Some((*at, name.clone()?)));
            let all: Vec<(u32, String)> = all.collect();
            if !all.is_empty() {
                names.structures.entry(name).or_insert(all);
            }
        }
        names
    }

    /// The members of a structure that the module calls so (`struct.point`, `struct.point.3`): constants and names.
    pub fn members(&self, structure: &str) -> &[(u32, String)] {
        let name = structure.trim_start_matches("struct.");
        let plain = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('.');
        let found = self.structures.get(name).or_else(|| self.structures.get(plain));
        found.map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{MAGIC, instruction, string_operands};
    use super::*;

    #[test]
    fn names_are_those_of_the_source() {
        let with_text = |op: u32, id: u32, text: &str| {
            let operands: Vec<u32> = std::iter::once(id).chain(string_operands(text)).collect();
            instruction(op, &operands)
        };
        let told = |id: u32, what: u32, rest: &[u32]| {
            let operands: Vec<u32> = [1, id, 2, what].iter().chain(rest).copied().collect();
            instruction(op::EXT_INST, &operands)
        };
        let body = [
            with_text(op::EXT_INST_IMPORT, 2, "OpenCL.DebugInfo.100"),
            with_text(op::STRING, 3, "point"),
            with_text(op::STRING, 4, "x"),
            with_text(op::STRING, 5, ""),
            with_text(op::STRING, 6, "i"),
            told(20, TYPE_MEMBER, &[4, 9, 9, 1, 0, 21, 30, 31, 0]),
            // A structure without a name of its own, and one of that name.
            told(21, TYPE_COMPOSITE, &[5, 1, 9, 1, 0, 9, 5, 31, 0, 20]),
            told(22, TYPEDEF, &[3, 21, 9, 0, 0, 9]),
            told(23, LOCAL_VARIABLE, &[6, 9, 9, 2, 0, 9, 0]),
            told(24, DECLARE, &[23, 40, 41]),
        ];
        let mut words = vec![MAGIC, 0x1_0400, 0, 100, 0];
        words.extend(body.concat());
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let names = DebugNames::of(&Rewriting::of(&bytes).expect("a module"));
        assert_eq!(names.variables, BTreeMap::from([(40, "i".to_owned())]));
        assert_eq!(names.members("struct.point"), [(30, "x".to_owned())]);
        assert_eq!((names.members("struct.point.2").len(), names.members("struct.other").len()), (1, 0));
    }
}
