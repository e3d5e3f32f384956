//! Rules on LSC messages.

use crate::Rule;

pub(crate) const LSC: &[Rule] = &[];
