//! Where instructions and memory are, for reports.

use std::ops::Range;
use std::sync::{Arc, RwLock};

use envisa_isa::Span;
use envisa_isa::predefined::var;
use envisa_lower::{Inst, Message, Op, Program, Simt, Space, Touched, fence};
use envisa_machine::thread::{Access, AccessKind, LocalRegion, Machine};

use super::element_names::Elements;
use super::finding::{Call, LaunchFacts};
use super::hints::{self, Hint};
use super::id_sums::Operands;
use super::memory_content::ContentPlace;
use super::pointer_flows::Flows;
use super::proven_reads::Proof;
use super::races_in_group::SLM;
use super::register_steps::Steps;
use super::texel_names::ImagePlace;
use super::written_registers::Written;

/// What the checks know of a program, whatever it is launched with.
#[derive(Debug, Default)]
pub struct ProgramFacts {
    /// `(instruction in its function, function, place in the source)`.
    at: Vec<(u32, u16, Span)>,
    functions: Vec<String>,
    /// What instructions are looked at for hints.
    hints: Vec<Hint>,
    /// Registers that some instruction reads; `None`: any may be.
    used: Option<Written>,
    /// Of each instruction: does something depend on all that it accesses?
    all_wanted: Vec<bool>,
    /// What instructions read and write.
    pub(super) steps: Steps,
    /// Where all that is read is written.
    pub(super) proof: Proof,
    /// What stores may change.
    pub(super) flows: Flows,
    /// What addresses are computed from.
    pub(super) operands: Operands,
    /// Nothing that is known of it is made use of.
    pub(super) at_length: bool,
    /// Groups can tell others by atomics that they are done.
    hands_over: bool,
    /// Registers that a thread starts with, and those of which nobody reads anything unwritten.
    pub(super) initial: Written,
}

impl ProgramFacts {
    /// Looks at a program; with `looking`, what is proven of it is not made use of, and all is looked at while it runs:
    /// the same is found, later.
    pub fn of(p: &Program, looking: bool) -> ProgramFacts {
        let mut initial = initial(p);
        let proof = if looking { Proof::none(p) } else { Proof::of(p, &initial) };
        initial.add_others(&proof.open);
        let mut facts = ProgramFacts {
            at: p.code().iter().map(|i| (i.source, i.function, i.span)).collect(),
            functions: p.functions().iter().map(|f| f.name.clone()).collect(),
            hints: hints::of(p),
            used: used(p),
            all_wanted: Vec::new(),
            at_length: looking,
            hands_over: hands_over(p),
            steps: Steps::of(p),
            flows: if looking { Flows::default() } else { Flows::of(p) },
            operands: if looking { Operands::default() } else { Operands::of(p) },
            proof,
            initial,
        };
        facts.all_wanted = p.code().iter().map(|i| facts.wants_all(i, p)).collect();
        facts
    }

    /// Can groups tell others by atomics that they are done? One worker has to run all of them then, so that it is known
    /// who came first.
    pub fn hands_over(&self) -> bool {
        self.hands_over
    }

    /// Does something depend on all elements that an instruction accesses?
    fn wants_all(&self, i: &Inst, p: &Program) -> bool {
        let Some(Message::Simt(s)) = p.messages().get(i.aux as usize).filter(|_| i.op == Op::Message) else {
            return true;
        };
        s.write || (0..s.elements.count_ones()).all(|part| self.wants(s, part))
    }

    /// Does something depend on an element of the channels of a load?
    fn wants(&self, s: &Simt, part: u32) -> bool {
        let (Some(data), Some(used)) = (s.data, &self.used) else { return true };
        s.elements.count_ones() < 2 || used.any(data + part * s.component_stride, s.component_stride.max(1))
    }
}

/// Are there atomics that give a group a value of what others can access, and fences that are for more than a group?
fn hands_over(p: &Program) -> bool {
    let given = |m: &Message| match m {
        Message::Atomic(a) => a.dst.is_some() && a.space != Space::Slm,
        _ => false,
    };
    let wide = |i: &Inst| i.op == Op::Fence && i.aux & fence::GLOBAL != 0 && i.aux & fence::GROUP == 0;
    p.messages().iter().any(given) && p.code().iter().any(wide)
}

/// Parts of an allocation: their places and names.
type Parts = Vec<(Range<u64>, String)>;

/// The bits of a pointer into shared local memory that are an offset: compilers set one above them, so that it is not null.
pub(super) const LOCAL_OFFSET: u64 = (1 << 28) - 1;

/// Where instructions and memory are.
#[derive(Debug, Default)]
pub(super) struct Sites {
    /// Of the program.
    pub program: Arc<ProgramFacts>,
    /// Groups in x and y.
    groups: [u32; 2],
    /// First address, bytes and name of allocations.
    memory: Vec<(u64, u64, String)>,
    /// The kernel's own variables in shared local memory, by their place.
    pub local_variables: Vec<(Range<u64>, String)>,
    /// The arguments in shared local memory, by their place.
    local_arguments: Vec<(Range<u64>, String)>,
    /// Arrays and buffers whose elements are known.
    elements: Vec<Elements>,
    /// The program's variables, by their addresses.
    variables: Vec<(Range<u64>, String)>,
    /// The images that the kernel is given.
    images: Vec<ImagePlace>,
    /// Allocations of which the kernel may access parts alone: their places, and those of the parts.
    shared_parts: Vec<(Range<u64>, Parts)>,
    /// Variables in shared local memory of which the kernel tells itself.
    told_local: RwLock<Vec<Elements>>,
}

impl Sites {
    /// The kernel tells where a variable of its own in shared local memory begins, its bytes, those of an element, and its
    /// name with all dimensions but the first: `tile[16]`.
    pub fn name_local_variable(&self, at: u64, (bytes, element): (u64, u64), text: &str) {
        let range = at & LOCAL_OFFSET..(at & LOCAL_OFFSET).saturating_add(bytes);
        if self.told_local.read().is_ok_and(|all| all.iter().any(|e| e.range == range)) {
            return;
        }
        let mut parts = text.split(['[', ']']).filter(|part| !part.is_empty());
        let name = parts.next().unwrap_or_default().to_owned();
        let inner: Vec<u64> = parts.filter_map(|n| n.parse().ok()).collect();
        let inside = inner.iter().product::<u64>().saturating_mul(element).max(1);
        let first = Some(bytes / inside).filter(|n| *n > 1 || !inner.is_empty());
        let dimensions = first.into_iter().chain(inner).collect();
        if let Ok(mut all) = self.told_local.write() {
            all.push(Elements { local: true, range, name, bytes: element.max(1), dimensions });
        }
    }

    pub fn of(m: &Machine<'_>, facts: &LaunchFacts) -> Sites {
        let (local_arguments, arrays): (Vec<_>, Vec<_>) = local_arguments(m.env.local_regions, facts).unzip();
        Sites {
            local_arguments,
            program: Arc::clone(&facts.program),
            groups: [m.env.groups[0], m.env.groups[1]],
            memory: m
                .env
                .memory
                .iter()
                .map(|a| (a.base, a.block.len() as u64, m.env.names.of(a).to_owned()))
                .collect(),
            local_variables: facts.local_variables.clone(),
            elements: facts.elements.iter().cloned().chain(arrays.into_iter().flatten()).collect(),
            variables: facts.variables.clone(),
            images: facts.images.clone(),
            shared_parts: shared_parts(m, facts),
            told_local: RwLock::default(),
        }
    }

    /// As [`Sites::is_result_used`], of all that an instruction accesses.
    #[inline]
    pub fn are_all_results_used(&self, pc: u32) -> bool {
        self.program.all_wanted.get(pc as usize).copied().unwrap_or(false)
    }

    /// Does anything depend on what an access reads? Compilers read three elements where the first and the third are
    /// wanted.
    pub fn is_result_used(&self, message: &Message, a: &Access, part: u32) -> bool {
        match message {
            Message::Simt(s) if a.kind == AccessKind::Read => self.program.wants(s, part),
            _ => true,
        }
    }

    /// Has no thread started?
    pub fn is_unknown(&self) -> bool {
        self.program.at.is_empty()
    }

    pub fn number(&self, [x, y, z]: [u32; 3]) -> u64 {
        let [w, h] = self.groups.map(u64::from);
        (u64::from(z) * h + u64::from(y)) * w + u64::from(x)
    }

    pub fn id(&self, number: u64) -> [u32; 3] {
        let [w, h] = self.groups.map(|n| u64::from(n.max(1)));
        [(number % w) as u32, (number / w % h) as u32, (number / (w * h)) as u32]
    }

    /// The kernel's own variable at an offset in shared local memory.
    pub fn local_variable(&self, at: u64) -> Option<&(Range<u64>, String)> {
        self.local_variables.iter().find(|(range, _)| range.contains(&at))
    }

    /// The program's variable at an address.
    fn variable(&self, at: u64) -> Option<&(Range<u64>, String)> {
        self.variables.iter().find(|(range, _)| range.contains(&at))
    }

    /// Are there allocations of which the kernel may access parts alone?
    pub fn has_shared_parts(&self) -> bool {
        !self.shared_parts.is_empty()
    }

    /// Bytes beside all parts of their allocation that the kernel may access: the part that is nearest, its name, and how
    /// many bytes of it the first of them is behind its start.
    pub fn beside_parts(&self, at: u64, bytes: u64) -> Option<(&Range<u64>, &str, i64)> {
        let (_, parts) = self.shared_parts.iter().find(|(r, _)| r.contains(&at))?;
        let end = at.saturating_add(bytes);
        if parts.iter().any(|(r, _)| r.start <= at && end <= r.end) {
            return None;
        }
        let apart = |r: &Range<u64>| if at < r.start { r.start - at } else { at.saturating_sub(r.end - 1) };
        let (range, name) = parts.iter().min_by_key(|(r, _)| apart(r))?;
        Some((range, name, at.wrapping_sub(range.start) as i64))
    }

    /// What an instruction is looked at for.
    pub fn hint(&self, pc: u32) -> Hint {
        self.program.hints.get(pc as usize).copied().unwrap_or(Hint::None)
    }

    /// A call at a program counter.
    pub fn call(&self, pc: u32) -> Call {
        let (instruction, function, span) = self.at(pc);
        Call { instruction, function, span }
    }

    /// Instruction, function and place of a program counter.
    pub fn at(&self, pc: u32) -> (u32, String, Span) {
        let Some((source, function, span)) = self.program.at.get(pc as usize) else {
            return (0, String::new(), Span::NONE);
        };
        (*source, self.program.functions.get(*function as usize).cloned().unwrap_or_default(), *span)
    }

    /// What reports call bytes whose content is followed.
    pub fn memory_place(&self, m: &Machine<'_>, home: ContentPlace) -> String {
        match home {
            ContentPlace::Local(at) => self.place(SLM | at),
            ContentPlace::Thread(at)
                if m.env.private.is_some_and(|(base, bytes)| at.wrapping_sub(base) < bytes) =>
            {
                "private memory".to_owned()
            }
            ContentPlace::Thread(_) => "the thread's scratch".to_owned(),
            ContentPlace::Fresh(at) => self.place(at),
        }
    }

    /// The element at so many bytes behind the start of an array or a buffer, in parentheses; nothing if its size is
    /// not known.
    pub fn element(&self, local: bool, start: u64, offset: i64) -> String {
        let all = &mut self.elements.iter().filter(|e| e.local == local);
        all.find(|e| e.range.start == start).map_or(String::new(), |e| format!(" ({})", e.at(offset)))
    }

    /// What tells the variable or buffer that has a place apart from others; empty if it is not known.
    pub fn object(&self, key: u64) -> String {
        let at = key & !SLM;
        if key & SLM != 0 {
            let told = self.told_local.read();
            let told = told.as_ref().ok().and_then(|all| all.iter().find(|e| e.range.contains(&at)));
            let known = self.local_variable(at).map(|v| v.0.start);
            let argument = self.local_arguments.iter().find(|(r, _)| r.contains(&at)).map(|v| v.0.start);
            let start = known.or(argument).or(told.map(|e| e.range.start));
            return start.map_or(String::new(), |at| format!("local {at:#x}"));
        }
        if let Some((range, _)) = self.variable(key) {
            return format!("{:#x}", range.start);
        }
        let i = self.memory.partition_point(|a| a.0 <= key);
        let found = i.checked_sub(1).and_then(|i| self.memory.get(i));
        found.filter(|a| key - a.0 < a.1).map_or(String::new(), |a| format!("{:#x}", a.0))
    }

    pub fn place(&self, key: u64) -> String {
        let (local, at) = (key & SLM != 0, key & !SLM);
        // One buffer may be several arguments, of several types.
        let all = self.elements.iter().filter(|e| e.local == local && e.range.contains(&at));
        let named: Vec<String> = all.map(|e| e.at((at - e.range.start) as i64)).collect();
        let element = if named.is_empty() { String::new() } else { format!(" ({})", named.join(", ")) };
        format!("{}{element}", self.texel(key).unwrap_or_else(|| self.bytes_of(key)))
    }

    /// The texel of an image that has these bytes.
    fn texel(&self, key: u64) -> Option<String> {
        let mut images = self.images.iter().filter(|i| key & SLM == 0 && i.range().contains(&key));
        images.find_map(|i| i.texel(key))
    }

    fn bytes_of(&self, key: u64) -> String {
        if key & SLM != 0 {
            let at = key & !SLM;
            if let Some((range, name)) = self.local_variable(at) {
                return format!("local variable {name} at byte {:#x}", at - range.start);
            }
            if let Some((range, name)) = self.local_arguments.iter().find(|(range, _)| range.contains(&at)) {
                return format!("local argument {name} at byte {:#x}", at - range.start);
            }
            let told = self.told_local.read();
            let found = told.as_ref().ok().and_then(|all| all.iter().find(|e| e.range.contains(&at)));
            return match found {
                Some(e) => {
                    let offset = at - e.range.start;
                    let element = e.at(offset as i64);
                    format!("local variable {} at byte {offset:#x} ({element})", e.name)
                }
                None => format!("shared local memory at {at:#x}"),
            };
        }
        if let Some((range, name)) = self.variable(key) {
            return format!("program variable {name} at byte {:#x}", key - range.start);
        }
        let i = self.memory.partition_point(|a| a.0 <= key);
        match i.checked_sub(1).and_then(|i| self.memory.get(i)) {
            Some((base, bytes, name)) if key - base < *bytes => format!("{name} at byte {:#x}", key - base),
            _ => format!("{key:#x}"),
        }
    }
}

/// The allocations of which the kernel is given no more than parts, with these.
fn shared_parts(m: &Machine<'_>, facts: &LaunchFacts) -> Vec<(Range<u64>, Parts)> {
    let of = |range: &Range<u64>| {
        let inside = |r: &Range<u64>| range.start <= r.start && r.end <= range.end && r.start < r.end;
        let parts: Parts = facts.parts.iter().filter(|(r, _)| inside(r)).cloned().collect();
        let mut ranges: Vec<&Range<u64>> = parts.iter().map(|(r, _)| r).collect();
        ranges.sort_by_key(|r| r.start);
        let covered = ranges.iter().fold(range.start, |to, r| if r.start <= to { to.max(r.end) } else { to });
        let open =
            parts.is_empty() || covered >= range.end || facts.whole.iter().any(|at| range.contains(at));
        (!open).then_some(parts)
    };
    let all = m.env.memory.iter().filter(|a| !a.private);
    let ranges = all.map(|a| a.base..a.base.saturating_add(a.block.len() as u64));
    ranges.filter_map(|range| of(&range).map(|parts| (range, parts))).collect()
}

/// The arguments in shared local memory with their places, and as arrays if their elements are known.
fn local_arguments(
    regions: &[LocalRegion],
    facts: &LaunchFacts,
) -> impl Iterator<Item = ((Range<u64>, String), Option<Elements>)> {
    regions.iter().filter_map(|r| {
        let i = r.argument? as usize;
        let name = facts.arguments.get(i).filter(|n| !n.is_empty())?;
        let range = r.start..r.start.saturating_add(r.bytes);
        let array = facts.pointed.get(i).copied().flatten().map(|bytes| Elements {
            local: true,
            range: range.clone(),
            name: name.clone(),
            bytes,
            dimensions: vec![r.bytes / bytes.max(1)],
        });
        Some(((range, name.clone()), array))
    })
}

/// The registers that the instructions of a program read.
fn used(p: &Program) -> Option<Written> {
    let mut used = Written::default();
    used.clear(p.registers().bytes);
    let mut any = false;
    for i in p.code() {
        let n = u32::from(i.channels);
        i.reads(p.parts(), &mut |t| match (t, t.range(n)) {
            (Touched::Whole { offset, bytes }, _) => used.set(offset, bytes),
            (_, Some(r)) => used.set(r.start, r.end - r.start),
            _ => any = true,
        });
    }
    (!any).then_some(used)
}

/// The registers that have content when a thread starts.
fn initial(p: &Program) -> Written {
    let mut written = Written::default();
    written.clear(p.registers().bytes);
    // Immediates, predicates, addresses, states and predefined variables; then the inputs.
    written.set(0, p.registers().address_base);
    let unwritten = [var::ARG, var::RETVAL, var::SP, var::FP, var::IMPL_ARG_BUF_PTR, var::LOCAL_ID_BUF_PTR];
    for id in (0..=var::MSG0).filter(|id| !unwritten.contains(id)) {
        written.set(p.registers().predefined[id as usize], 64);
    }
    for i in p.inputs() {
        written.set(i.offset, i.bytes);
    }
    written
}
