//! Asynchronous copies: where they begin and end, and which of them are waited for.
//!
//! In compiled code a copy is a loop, a wait a barrier, and an event nothing. So events become numbers, each copy has one of
//! its own unless it is given one, and calls and waits report them (OpGroupAsyncCopy, OpGroupWaitEvents: SPIR-V
//! specification, 3.42.21).

use std::collections::BTreeSet;

use envisa_zebin::check_reports::{ALL_EVENTS, Kind, ReportHeader, ReportedAccess};

use super::super::{Instruction, Rewriting};
use super::pointer_path::Path;
use super::{Checking, op};

mod own {
    pub const LINE: u32 = 8;
    pub const EXT_INST: u32 = 12;
    pub const TYPE_INT: u32 = 21;
    pub const TYPE_EVENT: u32 = 34;
    pub const CONSTANT: u32 = 43;
    pub const CONSTANT_NULL: u32 = 46;
    pub const PTR_ACCESS_CHAIN: u32 = 67;
    pub const I_SUB: u32 = 130;
    pub const SELECT: u32 = 169;
    pub const I_NOT_EQUAL: u32 = 171;
    pub const GROUP_ASYNC_COPY: u32 = 259;
    pub const GROUP_WAIT_EVENTS: u32 = 260;
    pub const NO_LINE: u32 = 317;
}

/// Memory semantics (3.25): sequentially consistent, of local memory and of buffers.
const SEMANTICS: u32 = 0x310;
/// More events of one wait are not told one by one.
const MOST_EVENTS: i64 = 16;

pub(super) struct Copies {
    /// The type of what are numbers now; the one that events are of; and one that is none.
    number: u32,
    event: u32,
    none: u32,
    semantics: Option<u32>,
    /// Copies so far.
    count: u32,
    in_kernel: bool,
}

impl Copies {
    /// Makes numbers of a module's events; `None` if it has none.
    pub fn of(checking: &mut Checking) -> Option<Copies> {
        let module = &mut checking.module;
        let declared = *module.all.iter().find(|i| i.op == own::TYPE_EVENT)?;
        let number = *module.operands(&declared).first()?;
        let (event, none) = (module.id(), module.id());
        module.words[declared.at + 1] = event;
        module.put(declared.end, own::TYPE_INT, &[number, 64, 0]);
        module.put(checking.first, own::CONSTANT_NULL, &[event, none]);
        Some(Copies { number, event, none, semantics: None, count: 0, in_kernel: false })
    }

    pub fn instruction(&mut self, checking: &mut Checking, i: &Instruction) {
        let operands = checking.module.operands(i).to_vec();
        match (i.op, &operands[..]) {
            (op::FUNCTION, [_, id, ..]) => self.in_kernel = checking.kernels.contains(id),
            (op::RETURN, _) if self.in_kernel => checking.note(i.at, unnamed_report(Kind::Ends)),
            (own::GROUP_ASYNC_COPY, [_, result, _, to, from, elements, stride, event]) => {
                self.copy(checking, i, (*result, *event), [*to, *from, *elements, *stride]);
            }
            (own::GROUP_WAIT_EVENTS, [scope, count, events]) => {
                self.wait(checking, i, *scope, (*count, *events));
            }
            _ => {}
        }
    }

    fn copy(
        &mut self,
        checking: &mut Checking,
        i: &Instruction,
        (result, event): (u32, u32),
        [to, from, elements, stride]: [u32; 4],
    ) {
        let at = i.at;
        let bytes =
            checking.types.pointer(to).and_then(|(_, t)| checking.types.get(t)).map_or(0, |t| t.bytes);
        for (pointer, does) in [(to, ReportedAccess::Writes), (from, ReportedAccess::Reads)] {
            self.bounds(checking, at, (pointer, does), (elements, bytes));
        }
        self.count += 1;
        let mut arguments = Vec::new();
        for pointer in [to, from] {
            arguments.push(checking.make(at, op::CONVERT_PTR_TO_U, &[pointer]));
        }
        for number in [elements, stride] {
            arguments.push(checking.long(at, number));
        }
        checking.report(
            at,
            event,
            ReportHeader { bound: self.count, ..unnamed_report(Kind::Copies) },
            &arguments,
        );
        let module = &mut checking.module;
        (module.words[at + 1], module.words[at + 2]) = (self.event, module.id());
        module.words[i.end - 1] = self.none;
        checking.note(i.end, unnamed_report(Kind::Copied));
        let (is_event, number, zero) =
            (checking.bool_type(), checking.constant(self.count.into()), checking.constant(0));
        let given = checking.module.id();
        checking.module.put(i.end, own::I_NOT_EQUAL, &[is_event, given, event, zero]);
        checking.module.put(i.end, own::SELECT, &[self.number, result, given, event, number]);
    }

    /// Holds the elements of a copy against the variable that they are in, which it has side by side.
    fn bounds(
        &self,
        checking: &mut Checking,
        at: usize,
        (pointer, does): (u32, ReportedAccess),
        (elements, bytes): (u32, u64),
    ) {
        let path = Path::of(&checking.module, &checking.types, &checking.variables, pointer);
        let Some((path, whole)) = path.and_then(|p| p.object.map(|whole| (p, whole))) else { return };
        let (is_any, zero, one) = (checking.bool_type(), checking.constant(0), checking.constant(1));
        let elements = checking.long(at, elements);
        let any = checking.module.id();
        checking.module.put(at, own::I_NOT_EQUAL, &[is_any, any, elements, zero]);
        let last = checking.make(at, own::SELECT, &[any, one, zero]);
        let last = checking.make(at, own::I_SUB, &[elements, last]);
        let each = checking.constant(bytes);
        let mut last = checking.make(at, op::I_MUL, &[last, each]);
        if let Some(offset) = checking.offset(at, &path.steps) {
            last = checking.make(at, op::I_ADD, &[offset, last]);
        }
        let what = ReportHeader {
            kind: Kind::Offset,
            does,
            bytes: u16::try_from(bytes).unwrap_or(u16::MAX),
            bound: u32::try_from(whole).unwrap_or(u32::MAX),
        };
        checking.call(at, last, (whole + 1).saturating_sub(bytes), what, &path.text);
    }

    fn wait(&mut self, checking: &mut Checking, i: &Instruction, scope: u32, (count, events): (u32, u32)) {
        let at = i.at;
        match checking.types.constant(count) {
            Some(count @ 0..=MOST_EVENTS) => {
                for n in 0..count {
                    let mut event = events;
                    if let Some(ty) = checking.types.type_of(events).filter(|_| n > 0) {
                        let n = checking.constant(n as u64);
                        event = checking.module.id();
                        checking.module.put(at, own::PTR_ACCESS_CHAIN, &[ty, event, events, n]);
                    }
                    let value = checking.module.id();
                    checking.module.put(at, op::LOAD, &[self.number, value, event]);
                    checking.report(at, value, unnamed_report(Kind::Waits), &[]);
                }
            }
            _ => {
                let all = checking.constant(ALL_EVENTS);
                checking.report(at, all, unnamed_report(Kind::Waits), &[]);
            }
        }
        let semantics = self.semantics.or_else(|| {
            let id = checking.module.id();
            let ty = checking.types.type_of(scope)?;
            checking.module.put(checking.first, own::CONSTANT, &[ty, id, SEMANTICS]);
            Some(id)
        });
        self.semantics = semantics;
        if let Some(semantics) = semantics {
            // Of as many words.
            let words = &mut checking.module.words;
            words[at] = words[at] & 0xffff_0000 | op::CONTROL_BARRIER;
            (words[at + 2], words[at + 3]) = (scope, semantics);
        }
    }
}

/// The functions that kernels are. Entry points often do no more than call the kernel, and the compiler takes that instead.
pub(super) fn kernel_functions(module: &Rewriting) -> BTreeSet<u32> {
    let entries = module.all.iter().filter(|i| i.op == op::ENTRY_POINT);
    let entries = entries.filter_map(|i| module.operands(i).get(1).copied());
    let called = |entry: u32| {
        let is = |i: &Instruction| i.op == op::FUNCTION && module.operands(i).get(1) == Some(&entry);
        let body = &module.all[module.all.iter().position(is)? + 1..];
        let code = body.iter().filter(|i| !matches!(i.op, own::LINE | own::EXT_INST | own::NO_LINE));
        let mut code = code.skip_while(|i| matches!(i.op, op::FUNCTION_PARAMETER | op::LABEL));
        let call = code.next().filter(|i| i.op == op::FUNCTION_CALL)?;
        code.next().filter(|i| i.op == op::RETURN)?;
        module.operands(call).get(2).copied()
    };
    entries.map(|entry| called(entry).unwrap_or(entry)).collect()
}

fn unnamed_report(kind: Kind) -> ReportHeader {
    ReportHeader { kind, does: ReportedAccess::Reads, bytes: 0, bound: 0 }
}
