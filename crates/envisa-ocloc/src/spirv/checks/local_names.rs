//! Which variable is where in local memory: at its start a kernel tells the addresses and the names of those that it uses, for
//! what is found of their bytes. The compiler's own tables leave some of them out.

use envisa_zebin::check_reports::Kind;

use super::super::debugger_frames::after_variables;
use super::types::Shape;
use super::{Checking, WORKGROUP, op};

const VARIABLE: u32 = 59;

impl Checking {
    /// The kernel whose first instruction is the n-th tells where its local variables are.
    pub(super) fn local_names(&mut self, n: usize) {
        let (Some(at), first) = (after_variables(&self.module.all, n), &self.module.all[n]) else { return };
        if !self.module.operands(first).get(1).is_some_and(|id| self.kernels.contains(id)) {
            return;
        }
        let is_local = |id: &u32| self.types.pointer(*id).is_some_and(|(class, _)| class == WORKGROUP);
        let declared = self.module.all.iter().take_while(|i| i.op != op::FUNCTION);
        let declared = declared.filter(|i| i.op == VARIABLE);
        let all: Vec<u32> =
            declared.filter_map(|i| self.module.operands(i).get(1).copied()).filter(is_local).collect();
        if all.is_empty() {
            return;
        }
        let body = self.module.all[n + 1..].iter().take_while(|i| i.op != op::FUNCTION_END);
        let used: Vec<u32> = body.flat_map(|i| self.module.operands(i).iter().copied()).collect();
        for variable in all.into_iter().filter(|id| used.contains(id)) {
            let ty = self.types.pointer(variable).and_then(|(_, to)| self.types.get(to));
            let Some(ty) = ty.filter(|t| !matches!(t.shape, Shape::Other)) else { continue };
            let Some(name) = self.types.name(variable) else { continue };
            // Of an array of arrays: the name, and all dimensions but the first.
            let (mut name, bytes, mut element) = (name.to_owned(), ty.bytes, ty);
            while let Shape::Array(of, _) = element.shape
                && let Some(inner) = self.types.get(of)
            {
                element = inner;
                if let Shape::Array(_, count) = element.shape {
                    name.push_str(&format!("[{count}]"));
                }
            }
            let element = Some(element.bytes);
            self.report_variable_place(at, variable, (Kind::LocalVariable, bytes, element), &name);
        }
    }
}
