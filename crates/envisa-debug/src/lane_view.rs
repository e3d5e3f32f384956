//! Frames, variables, registers and memory as a lane sees them.

use crate::eval::{LaneValues, Value};
use crate::lines::Line;
use crate::session::Session;
use crate::symbols::Variable;
use crate::types::{Base, Type, TypeId, Types};
use crate::variable_location::{self, NOT_KEPT};
use envisa::Given;
use envisa::isa::predefined::var;
use envisa::lower::{Op, VarHome};
use envisa::machine::group::log::Place;
use std::rc::Rc;

/// A frame of the stack.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The instruction that it stands at: the next one, or the call.
    pub pc: u32,
    /// Its function's name.
    pub function: String,
    /// Its line.
    pub line: Option<Line>,
    /// The frame pointer, if it is set up.
    pub fp: Option<u64>,
    /// It is one of a function that was inlined: its variables are those of the frame below.
    pub inlined: bool,
}

/// Addresses of generic pointers have what they point to in bits 61 to 63.
const GENERIC: u64 = 61;

impl Session<'_, '_> {
    /// The bytes of a predefined register.
    fn predefined(&self, thread: usize, id: u32, offset: u32) -> u64 {
        let at = self.program().registers().predefined[id as usize];
        self.paused.threads().get(thread).map_or(0, |t| t.regs.peek::<u64>(at + offset))
    }

    /// Where a function's code writes the frame pointer, by program counter.
    fn frame_writes(&self, pc: u32) -> Rc<[u32]> {
        let program = self.program();
        let function = program.code().get(pc as usize).map_or(0, |i| i.function);
        if let Some(known) = self.frame_writes.borrow().get(&function) {
            return Rc::clone(known);
        }
        let writes: Rc<[u32]> = self.find_frame_writes(function).into();
        self.frame_writes.borrow_mut().insert(function, Rc::clone(&writes));
        writes
    }

    fn find_frame_writes(&self, function: u16) -> Vec<u32> {
        let program = self.program();
        let Some(f) = program.functions().get(usize::from(function)) else { return Vec::new() };
        let fp = program.registers().predefined[var::FP as usize];
        let mut writes = Vec::new();
        for pc in f.entry..f.end {
            let Some(inst) = program.code().get(pc as usize) else { break };
            let mut hit = false;
            inst.writes(program.parts(), &mut |t| {
                hit |= t.range(inst.channels.into()).is_some_and(|r| r.start < fp + 8 && fp < r.end);
            });
            if hit {
                writes.push(pc);
            }
        }
        writes
    }

    /// Is the frame of the function that an instruction is in set up there?
    fn framed(&self, pc: u32) -> bool {
        let writes = self.frame_writes(pc);
        let Some(first) = writes.first() else { return false };
        let code = self.program().code();
        // After it was put back, straight to the return.
        let straight = |from: u32| {
            (from..pc).all(|pc| {
                !matches!(code[pc as usize].op, Op::Goto | Op::Join | Op::Fret | Op::Ret | Op::Fcall)
            })
        };
        pc > *first && !writes[1..].iter().any(|w| *w < pc && straight(*w))
    }

    /// The frames of a thread, innermost first.
    pub fn frames(&self, thread: usize) -> Vec<Frame> {
        let program = self.program();
        let Some(t) = self.paused.threads().get(thread) else { return Vec::new() };
        let mut fp = Some(self.predefined(thread, var::FP, 0));
        let mut frames = Vec::new();
        let pcs = std::iter::once(t.pc).chain(t.calls());
        for pc in pcs.take(MAX_FRAMES) {
            let Some(inst) = program.code().get(pc as usize) else { continue };
            let function = program.functions().get(usize::from(inst.function));
            let framed = self.framed(pc);
            let line = self.lines.of(pc);
            if let Some(place) = self.stage.place(pc).filter(|p| !p.inlined.is_empty()) {
                self.inlined(&mut frames, pc, &place, line);
            } else {
                let function = function.map(|f| f.name.clone()).unwrap_or_default();
                frames.push(Frame { pc, function, line, fp: fp.filter(|_| framed), inlined: false });
            }
            // The caller's is kept where this one points to.
            if framed {
                fp = fp.and_then(|fp| {
                    let mut bytes = [0; 8];
                    self.paused.read(Place::Flat(fp), &mut bytes).then(|| u64::from_le_bytes(bytes))
                });
            }
        }
        frames
    }

    fn inlined(&self, frames: &mut Vec<Frame>, pc: u32, place: &envisa::Place, line: Option<Line>) {
        let mut line = line;
        for i in &place.inlined {
            let function = i.function.clone();
            frames.push(Frame { pc, function, line, fp: None, inlined: true });
            line = i.from.first().and_then(|l| Some(Line { file: self.lines.file(&l.file)?, line: l.line }));
        }
        frames.push(Frame { pc, function: place.function.clone(), line, fp: None, inlined: false });
    }

    /// The variables that can be seen in a frame, the innermost of each name.
    pub fn variables(&self, frame: &Frame) -> Vec<Variable> {
        let Some(f) = self.symbols.functions.get(&frame.function) else { return Vec::new() };
        let mut seen: Vec<(u32, &Variable)> = Vec::new();
        for v in &f.variables {
            let range = frame.line.and_then(|l| {
                let braces = self.lines.files.get(l.file)?.braces.as_ref()?;
                Some((l.line, braces.seen(&v.name, v.line)?))
            });
            let size = match range {
                Some((line, range)) if !range.contains(&line) => continue,
                Some((_, range)) => range.end() - range.start(),
                None => u32::MAX,
            };
            match seen.iter_mut().find(|(_, s)| s.name == v.name) {
                Some(other) => {
                    if size < other.0 || size == other.0 && v.place.is_some() && other.1.place.is_none() {
                        *other = (size, v);
                    }
                }
                None => seen.push((size, v)),
            }
        }
        seen.into_iter().map(|(_, v)| v.clone()).collect()
    }

    /// The value of a variable for a lane.
    ///
    /// # Errors
    /// Why there is none.
    pub fn value_of(&self, v: &Variable, frame: &Frame, lane: u32, types: &Types) -> Result<Value, String> {
        let bytes = types.bytes(v.ty);
        if let Some(constant) = &v.constant {
            let mut bytes_of = constant.clone();
            bytes_of.resize(bytes as usize, 0);
            return Ok(Value { ty: v.ty, bytes: bytes_of, place: None });
        }
        let at = v.place.as_ref().ok_or_else(|| NOT_KEPT.to_owned());
        let at =
            at.and_then(|p| variable_location::place(p, &variable_location::Frame { fp: frame.fp, lane }));
        match at {
            Ok(at) => self.read_value(v.ty, at, types),
            Err(why) => self.argument(v, frame, types).unwrap_or(Err(why)),
        }
    }

    fn read_value(&self, ty: TypeId, at: Place, types: &Types) -> Result<Value, String> {
        let bytes = types.bytes(ty);
        if bytes == 0 || bytes > 1 << 20 {
            return Err(format!("a value of type {} cannot be read", types.name(ty)));
        }
        Ok(Value { ty, bytes: self.read(at, bytes)?, place: Some(at) })
    }

    /// A parameter of the kernel, as the launch gave it.
    fn argument(&self, v: &Variable, frame: &Frame, types: &Types) -> Option<Result<Value, String>> {
        let kernel = self.program().functions().first().is_some_and(|f| f.name == frame.function)
            || frame.function == self.stage.kernel().name();
        if !v.parameter || !kernel {
            return None;
        }
        let given = self.stage.given();
        let i = self.stage.kernel().arguments().iter().position(|a| a.name == v.name)?;
        let bytes = match given.get(i)?.as_ref()? {
            Given::Buffer { address, .. } => address.to_le_bytes().to_vec(),
            Given::Local { offset, .. } => (offset | 0x0a << 56).to_le_bytes().to_vec(),
            Given::Value(bytes) => bytes.clone(),
            _ => return None,
        };
        let mut bytes = bytes;
        bytes.resize(types.bytes(v.ty).min(1 << 16) as usize, 0);
        Some(Ok(Value { ty: v.ty, bytes, place: None }))
    }

    /// Bytes of memory, at most so many.
    ///
    /// # Errors
    /// There are none.
    pub fn read(&self, place: Place, bytes: u64) -> Result<Vec<u8>, String> {
        let n = usize::try_from(bytes).ok().filter(|n| *n <= 1 << 24).ok_or("too many bytes")?;
        let mut to = vec![0; n];
        if self.paused.read(place, &mut to) {
            return Ok(to);
        }
        Err(match place.kind_and_offset() {
            (1, at) => format!("no memory is at {at:#x}"),
            (2, at) => {
                format!("shared local memory has {} bytes, not one at {at}", self.paused.local_bytes())
            }
            (_, at) => format!("nothing is at {at:#x}"),
        })
    }

    /// Where a pointer points to.
    pub fn pointed(&self, address: u64) -> Place {
        match address >> GENERIC {
            // Local, and private.
            2 => return Place::Local(address & (u64::MAX >> 8)),
            1 => return Place::Flat(address & !(7 << GENERIC)),
            _ => {}
        }
        let place = variable_location::of_address(address);
        let near = address < self.paused.local_bytes() as u64;
        if near && !self.paused.read(place, &mut [0]) { Place::Local(address) } else { place }
    }

    /// The ids of a lane's work-item: global and local; `None` of code that has no work-items.
    pub fn item(&self, thread: usize, lane: u32) -> Option<([u64; 3], [u32; 3])> {
        let kernel = self.stage.kernel();
        if !kernel.is_compiled() || thread >= self.paused.threads().len() || lane >= 32 {
            return None;
        }
        let class = self.paused.class();
        let simd = kernel.attributes().simd.max(1);
        let number = thread as u32 * simd + if simd == 1 { 0 } else { lane };
        let local = self.stage.local_id(number, class.local);
        let (size, first) = (self.stage.view().prepared.local, self.stage.first_id());
        let group = self.paused.group().id;
        let global = std::array::from_fn(|d| {
            u64::from(group[d]) * u64::from(size[d]) + u64::from(local[d]) + first[d]
        });
        Some((global, local))
    }

    /// The vISA variables of the function that a frame is in.
    pub fn registers(&self, frame: &Frame) -> &[VarHome] {
        let program = self.program();
        let function = program.code().get(frame.pc as usize).map_or(0, |i| i.function);
        program.functions().get(usize::from(function)).map_or(&[], |f| &f.vars)
    }

    /// The value of a vISA variable: an array of its elements.
    pub fn register(&self, thread: usize, home: &VarHome, types: &mut Types) -> Option<Value> {
        use envisa::isa::Type as T;
        let declared = self.declared.get(&home.name).copied();
        let (name, base) = match (home.id, declared) {
            (var::FP | var::SP, _) | (_, Some(T::Uq)) => ("ulong", Base::Unsigned(8)),
            (_, Some(T::Q)) => ("long", Base::Signed(8)),
            (_, Some(T::D)) => ("int", Base::Signed(4)),
            (_, Some(T::F)) => ("float", Base::Float(4)),
            (_, Some(T::Df)) => ("double", Base::Float(8)),
            (_, Some(T::Hf)) => ("half", Base::Float(2)),
            (_, Some(T::W)) => ("short", Base::Signed(2)),
            (_, Some(T::Uw)) => ("ushort", Base::Unsigned(2)),
            (_, Some(T::B)) => ("char", Base::Signed(1)),
            (_, Some(T::Ub)) => ("uchar", Base::Unsigned(1)),
            _ => ("uint", Base::Unsigned(4)),
        };
        let bytes = self.paused.threads().get(thread)?.regs.slice(home.offset, home.declared).to_vec();
        let of = types.number(name, base);
        let n = bytes.len() as u64 / base.bytes();
        let ty = if n == 1 { of } else { types.add(Type::Array(of, n)) };
        Some(Value { ty, bytes, place: Some(Place::Register(home.offset)) })
    }
}

/// Most frames that are told.
const MAX_FRAMES: usize = 256;

/// A lane of a frame.
pub struct LaneFrame<'s, 'a, 'b> {
    /// The session.
    pub session: &'s Session<'a, 'b>,
    /// The thread.
    pub thread: usize,
    /// Its lane.
    pub lane: u32,
    /// The frame.
    pub frame: &'s Frame,
}

impl LaneValues for LaneFrame<'_, '_, '_> {
    fn name(&self, name: &str, types: &mut Types) -> Option<Result<Value, String>> {
        let s = self.session;
        if let Some(v) = s.variables(self.frame).iter().find(|v| v.name == name) {
            return Some(s.value_of(v, self.frame, self.lane, types));
        }
        let elsewhere = s.symbols.functions.get(&self.frame.function).and_then(|f| {
            let lines: Vec<String> =
                f.variables.iter().filter(|v| v.name == name).map(|v| v.line.to_string()).collect();
            (!lines.is_empty())
                .then(|| format!("`{name}` cannot be seen here: it is declared at line {}", lines.join(", ")))
        });
        if let Some(why) = elsewhere {
            return Some(Err(why));
        }
        if let Some(home) = s.registers(self.frame).iter().find(|v| v.name == name) {
            return s.register(self.thread, home, types).map(Ok);
        }
        let number = |n: u64, types: &mut Types| {
            let ty = types.number("ulong", Base::Unsigned(8));
            Some(Ok(Value { ty, bytes: n.to_le_bytes().to_vec(), place: None }))
        };
        match name {
            "$lane" => return number(self.lane.into(), types),
            "$thread" => return number(self.thread as u64, types),
            "$pc" => return number(self.frame.pc.into(), types),
            "$clock" => return number(s.paused.clock(), types),
            "$mask" => return number(s.paused.threads().get(self.thread)?.mask.into(), types),
            _ => {}
        }
        // An argument that the debug information has not.
        let i = s.stage.kernel().arguments().iter().position(|a| a.name == name)?;
        let pointer = |address: u64, types: &mut Types| {
            let of = s.stage.kernel().arguments()[i].type_name.trim_end_matches('*').to_owned();
            let to = types.named(&of).unwrap_or(types.unknown());
            let ty = types.add(Type::Pointer(to, None));
            Some(Ok(Value { ty, bytes: address.to_le_bytes().to_vec(), place: None }))
        };
        match s.stage.given().get(i)?.as_ref()? {
            Given::Buffer { address, .. } => pointer(*address, types),
            Given::Value(bytes) => {
                let ty = types.named(&s.stage.kernel().arguments()[i].type_name)?;
                let mut bytes = bytes.clone();
                bytes.resize(types.bytes(ty) as usize, 0);
                Some(Ok(Value { ty, bytes, place: None }))
            }
            Given::Local { offset, .. } => pointer(offset | 0x0a << 56, types),
            _ => None,
        }
    }

    fn builtin(&self, name: &str, argument: u64) -> Option<u64> {
        let s = self.session;
        let d = usize::try_from(argument).unwrap_or(3);
        let prepared = s.stage.view().prepared;
        let one = |x: u64| Some(if d < 3 { x } else { 1 });
        let at = d.min(2);
        let zero = |x: u64| Some(if d < 3 { x } else { 0 });
        match name {
            "get_group_id" => return zero(s.paused.group().id[at].into()),
            "get_num_groups" => return one(prepared.groups[at].into()),
            "get_local_size" => return one(s.paused.class().local[at].into()),
            "get_enqueued_local_size" => return one(prepared.local[at].into()),
            "get_global_size" => return one(s.stage.global_size()[at]),
            "get_global_offset" => return zero(s.stage.first_id()[at]),
            "get_sub_group_local_id" => return Some(self.lane.into()),
            "get_sub_group_id" => return Some(self.thread as u64),
            "get_sub_group_size" | "get_max_sub_group_size" => {
                return Some(s.stage.kernel().attributes().simd.into());
            }
            _ => {}
        }
        let (global, local) = s.item(self.thread, self.lane)?;
        match name {
            "get_global_id" => zero(global[at]),
            "get_local_id" => zero(local[at].into()),
            _ => None,
        }
    }

    fn read(&self, place: Place, bytes: u64) -> Result<Vec<u8>, String> {
        match place {
            Place::Register(at) => {
                let t = self.session.paused.threads().get(self.thread).ok_or("no such thread")?;
                Ok(t.regs.slice(at, bytes as u32).to_vec())
            }
            memory => self.session.read(memory, bytes),
        }
    }

    fn pointed(&self, address: u64) -> Place {
        self.session.pointed(address)
    }

    fn pointer(&self, place: Place) -> Option<u64> {
        match place {
            Place::Flat(at) => Some(at),
            Place::Local(at) => Some(at | 0x0a << 56),
            Place::Register(_) | Place::Window(_) => None,
        }
    }
}
