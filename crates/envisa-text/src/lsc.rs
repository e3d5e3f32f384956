//! Composites: operands of LSC and other messages that are written together but stored apart.

use crate::inst::Ops;
use crate::parser::{P, Parser};
use crate::template::Compiled;

impl<'s> Parser<'s> {
    /// Reads the composite of this name.
    pub fn composite(&mut self, form: &'static Compiled, name: &'static str, ops: &mut Ops) -> P<()> {
        let _ = (form, name, ops);
        Err(self.expected("nothing"))
    }
}

/// How a composite reads, for people.
pub(crate) fn describe(name: &str) -> &str {
    name
}
