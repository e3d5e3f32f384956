//! Which variables lie where in private memory, as kernels that were compiled for checks tell it.

use envisa_machine::check_reports::{NAME_WORDS, name_from_words};

/// Variables of the threads of a group: by thread, in the order of their addresses, none over another.
#[derive(Clone, Debug, Default)]
pub(super) struct PrivateNames(Vec<Vec<Variable>>);

/// Every work-item tells of its own: what the name is in letters matters only once something is found.
#[derive(Clone, Copy, Debug)]
struct Variable {
    at: u64,
    bytes: u64,
    /// Bytes of an element, or 0.
    element: u64,
    name: [u64; NAME_WORDS],
}

impl Variable {
    fn end(&self) -> u64 {
        self.at.saturating_add(self.bytes)
    }
}

impl PrivateNames {
    /// Nothing is known of a new group.
    pub fn clear(&mut self) {
        self.0.iter_mut().for_each(Vec::clear);
    }

    /// A work-item's variable begins here. What was told of these bytes before is over: functions share memory.
    pub fn add(&mut self, thread: u32, at: u64, (bytes, element): (u64, u64), name: [u64; NAME_WORDS]) {
        let new = Variable { at, bytes, element, name };
        let thread = thread as usize;
        if self.0.len() <= thread {
            self.0.resize_with(thread + 1, Vec::new);
        }
        let all = &mut self.0[thread];
        let from = all.partition_point(|v| v.end() <= at && v.at != at);
        let to = from + all[from..].partition_point(|v| v.at < new.end() || v.at == at);
        all.splice(from..to, [new]);
    }

    /// What the byte at an address of a thread's is called.
    pub fn at(&self, thread: u32, at: u64) -> Option<String> {
        let all = self.0.get(thread as usize)?;
        let v = &all[all.partition_point(|v| v.at <= at).checked_sub(1)?];
        let offset = at - v.at;
        if offset >= v.bytes {
            return None;
        }
        let name = name_from_words(&v.name);
        Some(match v.element {
            n if n == v.bytes => format!("private variable {name}"),
            0 => format!("private variable {name} at byte {offset:#x}"),
            n => format!("private variable {name} at byte {offset:#x} ({name}[{}])", offset / n),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use envisa_machine::check_reports::name_words;

    #[test]
    fn bytes_have_the_name_of_the_last_variable_there() {
        let mut names = PrivateNames::default();
        names.add(1, 100, (4, 4), name_words("sum"));
        names.add(1, 104, (16, 4), name_words("v"));
        names.add(1, 120, (12, 0), name_words("s"));
        let at = |names: &PrivateNames, thread, at| names.at(thread, at);
        assert_eq!(at(&names, 1, 103).as_deref(), Some("private variable sum"));
        assert_eq!(at(&names, 1, 113).as_deref(), Some("private variable v at byte 0x9 (v[2])"));
        assert_eq!(at(&names, 1, 124).as_deref(), Some("private variable s at byte 0x4"));
        assert_eq!((at(&names, 1, 99), at(&names, 1, 132), at(&names, 0, 100)), (None, None, None));
        // Below all of a thread's are those of the thread before it.
        assert_eq!(at(&names, 2, 50), None);
        // Another function's, over the end of one and the start of another.
        names.add(1, 112, (16, 16), name_words("w"));
        assert_eq!(at(&names, 1, 112).as_deref(), Some("private variable w"));
        assert_eq!((at(&names, 1, 104), at(&names, 1, 130)), (None, None));
        assert!(at(&names, 1, 100).is_some());
        names.clear();
        assert_eq!(at(&names, 1, 100), None);
    }
}
