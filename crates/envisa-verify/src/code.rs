//! Stable identifiers of rules.

use std::fmt;

/// The identifier of a rule: `V0101`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Code(pub u16);

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "V{:04}", self.0)
    }
}

#[allow(missing_docs)]
impl Code {
    pub const SHAPE: Code = Code(1);
    pub const DANGLING: Code = Code(2);
    pub const ALIAS_TARGET: Code = Code(3);
    pub const LABEL_MISSING: Code = Code(4);
    pub const LABEL_TWICE: Code = Code(5);
    pub const LABEL_KIND: Code = Code(6);
    pub const EXEC_CODE: Code = Code(7);
    pub const REGION_CODE: Code = Code(8);
    pub const FIELD_VALUE: Code = Code(9);
}
