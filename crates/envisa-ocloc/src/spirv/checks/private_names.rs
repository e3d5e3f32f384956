//! Which variable is where in private memory: at the start of its function each of the source that may be used before it has a
//! value tells its address and its name, for what is found of its bytes.
//!
//! Structures with bytes between their members do not: a variable that tells its address is kept in memory, with these bytes, which
//! nobody sets, and copies of the whole would be said to use what nothing has written.

use envisa_zebin::check_reports::{self, Kind, ReportHeader, ReportedAccess};

use super::super::debugger_frames::after_variables;
use super::types::{Shape, Type};
use super::{Checking, FUNCTION, op};

const VARIABLE: u32 = 59;

impl Checking {
    /// The variables of the function whose first instruction is the n-th tell where they are.
    pub(super) fn private_names(&mut self, n: usize) {
        let Some(at) = after_variables(&self.module.all, n) else { return };
        let body = self.module.all[n..].iter().take_while(|i| i.op != op::FUNCTION_END);
        let variables: Vec<u32> = body
            .filter_map(|i| match (i.op, self.module.operands(i)) {
                (VARIABLE, [_, id, FUNCTION, ..]) => Some(*id),
                _ => None,
            })
            .filter(|id| self.variables.is_of_source(*id) && !self.variables.is_always_assigned(*id))
            .collect();
        for variable in variables {
            let pointee = self.types.pointer(variable).map(|(_, to)| to).filter(|to| !self.has_gaps(*to));
            let ty = pointee.and_then(|to| self.types.get(to));
            let Some(ty) = ty.filter(|t| !matches!(t.shape, Shape::Other)) else { continue };
            let Some(name) = self.types.name(variable).map(str::to_owned) else { continue };
            let (kind, bytes, element) = (Kind::Variable, ty.bytes, self.element_bytes(ty));
            self.report_variable_place(at, variable, (kind, bytes, element), &name);
        }
    }

    /// Bytes of an element of an array, or of the whole if it has no parts; `None` if its elements have parts.
    pub(super) fn element_bytes(&self, ty: &Type) -> Option<u64> {
        match ty.shape {
            Shape::Number | Shape::Pointer(..) => Some(ty.bytes),
            Shape::Array(of, _) => {
                let of = self.types.get(of);
                of.filter(|t| !matches!(t.shape, Shape::Array(..) | Shape::Struct(_))).map(|t| t.bytes)
            }
            _ => None,
        }
    }

    /// A variable tells where it is, its bytes and those of an element, and its name.
    pub(super) fn report_variable_place(
        &mut self,
        at: usize,
        variable: u32,
        (kind, bytes, element): (Kind, u64, Option<u64>),
        name: &str,
    ) {
        let what = ReportHeader {
            kind,
            does: ReportedAccess::Reads,
            bytes: element.and_then(|n| u16::try_from(n).ok()).unwrap_or(0),
            bound: u32::try_from(bytes).unwrap_or(u32::MAX),
        };
        let address = self.make(at, op::CONVERT_PTR_TO_U, &[variable]);
        let name = check_reports::name_words(name).map(|word| self.constant(word));
        let (none, what) = (self.constant(0), self.constant(what.pack()));
        self.call_with(at, [address, none, what], &name);
    }

    /// Has a type bytes that belong to no member?
    fn has_gaps(&self, id: u32) -> bool {
        let Some(ty) = self.types.get(id) else { return true };
        match &ty.shape {
            Shape::Struct(members) => {
                let mut end = 0;
                let apart = members.iter().any(|(of, at)| {
                    let from = std::mem::replace(&mut end, at + self.types.get(*of).map_or(0, |t| t.bytes));
                    from != *at || self.has_gaps(*of)
                });
                apart || end != ty.bytes || self.ends_in_padding(id, members)
            }
            Shape::Array(of, _) => self.has_gaps(*of),
            _ => false,
        }
    }

    /// Is a structure's last member bytes that the compiler added, so that the next structure is aligned? The source has no name for it.
    fn ends_in_padding(&self, id: u32, members: &[(u32, u64)]) -> bool {
        let Some(((last, _), before)) = members.split_last() else { return false };
        let bytes = match self.types.get(*last).map(|t| &t.shape) {
            Some(Shape::Array(of, _)) => self.types.get(*of).is_some_and(|t| t.bytes == 1),
            _ => false,
        };
        let named = |member: usize| self.types.has_member_name(id, member);
        bytes && !named(before.len()) && (0..before.len()).any(named)
    }
}
