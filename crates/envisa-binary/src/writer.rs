//! Writing format 4.1 and 4.2, in one pass over the module.

use crate::MAGIC;
use crate::error::WriteError;
use crate::opcodes::Opcodes;
use envisa_isa::desc::{HANDLE_FOLLOWS, Slot, SlotKind};
use envisa_isa::{
    Attr, AttrRange, Fault, HANDLES_SINCE, Inst, Limits, Modifier, Module, Object, ObjectKind, Operand,
    Platform, Region, SimpleVar, Span, Type, limits,
};

/// How to write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct WriteOptions {
    /// The platform whose register size splits the offset of `&V32[36]` into row and column. It plays no
    /// other role: bytes are the same for all platforms.
    pub platform: Platform,
}

impl Default for WriteOptions {
    /// For SKL: registers of 32 bytes.
    fn default() -> Self {
        WriteOptions { platform: Platform::Skl }
    }
}

impl WriteOptions {
    /// For a platform.
    pub fn for_platform(platform: Platform) -> WriteOptions {
        WriteOptions { platform }
    }
}

/// Writes a module as a CISA binary: kernels first, each followed by its native code, then functions.
///
/// The version written is 4.1, or the module's own from 4.2 on.
///
/// # Errors
/// What the format cannot hold: too many variables, a register offset that does not fit, an operand that
/// its slot cannot encode, a module that is not sound ([`Module::check_sound`]).
pub fn write(module: &Module, options: &WriteOptions) -> Result<Vec<u8>, WriteError> {
    let opcodes = Opcodes::of(module.version);
    Writer { options, opcodes, reference: false }.module(module)
}

/// Writes the module with the damage that the releases 1.0.12198.1 to 1.0.13064.3 of the reference tools
/// do: of each instruction the last operands are missing, as many as it has execution sizes and
/// predicates, and zeros at the end of the instructions make up for the bytes.
///
/// Nobody wants such a file; it serves to compare bytes with those tools.
///
/// # Errors
/// As [`write`].
pub fn write_as_reference(module: &Module, options: &WriteOptions) -> Result<Vec<u8>, WriteError> {
    let opcodes = Opcodes::of(module.version);
    Writer { options, opcodes, reference: true }.module(module)
}

struct Writer<'a> {
    options: &'a WriteOptions,
    opcodes: &'static Opcodes,
    reference: bool,
}

/// The file as it grows: zeros ahead of `pos`, so that operands are stored as whole words.
struct Sink {
    buf: Vec<u8>,
    pos: usize,
}

impl Sink {
    /// With room for about `bytes`; untouched pages of it cost nothing.
    fn with_room(bytes: usize) -> Sink {
        Sink { buf: vec![0; bytes], pos: 0 }
    }

    /// The first `len` (at most 16) bytes of a little-endian word.
    #[inline(always)]
    fn word(&mut self, word: u128, len: usize) {
        debug_assert!(len <= 16 && (len == 16 || word >> (8 * len) == 0));
        match self.buf.get_mut(self.pos..).and_then(|b| b.first_chunk_mut::<16>()) {
            Some(to) => *to = word.to_le_bytes(),
            None => self.grow_for(word),
        }
        self.pos += len;
    }

    #[cold]
    fn grow_for(&mut self, word: u128) {
        self.buf.resize(self.buf.len() * 2 + 64, 0);
        self.buf[self.pos..self.pos + 16].copy_from_slice(&word.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        let end = self.pos + bytes.len();
        if end > self.buf.len() {
            self.buf.resize(end * 2 + 64, 0);
        }
        self.buf[self.pos..end].copy_from_slice(bytes);
        self.pos = end;
    }

    fn u8(&mut self, n: u8) {
        self.word(n.into(), 1);
    }

    fn u16(&mut self, n: u16) {
        self.word(n.into(), 2);
    }

    fn u32(&mut self, n: u32) {
        self.word(n.into(), 4);
    }

    /// Zeros; gives where they begin.
    fn zeros(&mut self, len: usize) -> usize {
        let at = self.pos;
        self.pos += len;
        if self.pos > self.buf.len() {
            self.buf.resize(self.pos * 2 + 64, 0);
        }
        self.buf[at..self.pos].fill(0);
        at
    }

    /// Writes over what was written.
    fn put32(&mut self, at: usize, value: u32) {
        self.buf[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }

    fn finish(mut self) -> Vec<u8> {
        self.buf.truncate(self.pos);
        self.buf
    }
}

/// What is wrong, and with which part: completed to a [`WriteError`] on the way out.
struct Trouble {
    span: Span,
    message: String,
}

type Result0<T> = Result<T, Trouble>;

#[cold]
fn write_error<T>(span: Span, message: impl Into<String>) -> Result0<T> {
    Err(Trouble { span, message: message.into() })
}

/// Offsets of header fields that are known only once the objects are written.
struct Pending {
    object: usize,
    /// Where object offset, size (and input offset) are to be written.
    at: usize,
    /// Where the native records are.
    native: usize,
}

impl Writer<'_> {
    fn module(&self, module: &Module) -> Result<Vec<u8>, WriteError> {
        let version = if module.version < (4, 2) { (4, 1) } else { module.version };
        let mut sink = Sink::with_room(module.objects.iter().map(max_object_bytes).sum::<usize>() + 64);
        let out = &mut sink;
        out.bytes(&MAGIC);
        out.bytes(&[version.0, version.1]);
        let of = |kind| module.objects.iter().enumerate().filter(move |(_, o)| o.kind == kind);
        let mut pending = Vec::with_capacity(module.objects.len());

        let locate =
            |object: usize| move |t: Trouble| WriteError { object, span: t.span, message: t.message };
        let count = |kind, what: &str| -> Result<u16, WriteError> {
            let n = of(kind).count();
            u16::try_from(n).map_err(|_| WriteError {
                object: 0,
                span: Span::NONE,
                message: format!("{n} {what}, at most {} fit", limits::COUNTED_BY_TWO_BYTES),
            })
        };
        out.u16(count(ObjectKind::Kernel, "kernels")?);
        for (i, o) in of(ObjectKind::Kernel) {
            header_name(out, o).map_err(locate(i))?;
            let at = out.zeros(16);
            let records = o.native.len().max(1);
            let Ok(n) = u8::try_from(records) else {
                return Err(locate(i)(Trouble {
                    span: o.name_span,
                    message: format!("{records} native codes, at most {} fit", limits::COUNTED_BY_ONE_BYTE),
                }));
            };
            out.u8(n);
            let native = out.zeros(9 * records);
            pending.push(Pending { object: i, at, native });
        }
        out.u16(0);
        out.u16(count(ObjectKind::Function, "functions")?);
        for (i, o) in of(ObjectKind::Function) {
            out.u8(0);
            header_name(out, o).map_err(locate(i))?;
            pending.push(Pending { object: i, at: out.zeros(12), native: 0 });
        }

        for p in &pending {
            let object = &module.objects[p.object];
            let start = out.pos;
            let input = self.object(out, object, version).map_err(locate(p.object))?;
            let size = out.pos - start;
            for code in &object.native {
                out.bytes(&code.code);
            }
            if u32::try_from(out.pos).is_err() {
                return Err(locate(p.object)(Trouble {
                    span: object.name_span,
                    message: "the file would have 4 GiB or more; offsets have 32 bits".into(),
                }));
            }
            out.put32(p.at, start as u32);
            out.put32(p.at + 4, size as u32);
            if object.kind == ObjectKind::Kernel {
                out.put32(p.at + 8, input as u32);
                let mut offset = start + size;
                for (n, (platform, len)) in native_records(object).enumerate() {
                    let at = p.native + 9 * n;
                    out.buf[at] = platform;
                    out.put32(at + 1, offset as u32);
                    out.put32(at + 5, len as u32);
                    offset += len;
                }
            }
        }
        Ok(sink.finish())
    }

    /// Writes the object; gives the offset of the number of inputs.
    fn object(&self, out: &mut Sink, o: &Object, version: (u8, u8)) -> Result0<usize> {
        let start = out.pos;
        o.check_tables(version)
            .map_err(|(place, span, fault)| Trouble { span, message: format!("{place}: {fault}") })?;
        let limits = Limits::of(o, version);

        out.u32(check_count(o.strings.len(), "strings", MAX_LIST)?);
        for s in o.strings.iter() {
            if s.contains('\0') {
                return write_error(
                    o.name_span,
                    format!("the string {s:?} contains NUL, which ends a string"),
                );
            }
            out.bytes(s.as_bytes());
            out.u8(0);
        }
        out.u32(0);

        out.u32(check_count(o.vars.len(), "variables", MAX_LIST)?);
        for v in &o.vars {
            out.u32(v.name);
            out.u8(v.ty as u8 | (v.align as u8) << 4);
            out.u16(v.elems);
            out.u32(v.alias);
            out.u16(v.alias_offset);
            out.u8(0);
            var_attrs(out, o, v.attrs);
        }
        out.u16(check_count(o.addresses.len(), "address variables", limits::COUNTED_BY_TWO_BYTES)? as u16);
        simple_vars(out, o, &o.addresses);
        // The predicate's field in an instruction has 12 bits.
        out.u16(check_count(o.predicates.len(), "predicates", limits::PREDICATE_VARIABLES)? as u16);
        simple_vars(out, o, &o.predicates);
        out.u16(check_count(o.labels.len(), "labels", limits::LABELS)? as u16);
        for l in &o.labels {
            out.u32(l.name);
            out.u8(l.kind as u8);
            out.u8(0);
        }
        out.u8(check_count(o.samplers.len(), "samplers", limits::COUNTED_BY_ONE_BYTE)? as u8);
        simple_vars(out, o, &o.samplers);
        out.u8(check_count(o.surfaces.len(), "surfaces", limits::SURFACES)? as u8);
        simple_vars(out, o, &o.surfaces);
        out.u8(0);
        let input = out.pos;
        if o.kind == ObjectKind::Kernel {
            out.u32(check_count(o.inputs.len(), "inputs", MAX_LIST)?);
            for i in &o.inputs {
                out.u8(i.kind);
                out.u32(i.id);
                out.u16(i.offset as u16);
                out.u16(i.size);
            }
        } else if !o.inputs.is_empty() {
            return write_error(o.inputs[0].span, "a function has no inputs");
        }
        let size_at = out.zeros(8);
        if o.kind == ObjectKind::Function {
            out.u8(o.function_sizes.0);
            out.u8(o.function_sizes.1);
            if !o.native.is_empty() {
                return write_error(o.name_span, "a function's native code has no place in the file");
            }
        }
        out.u16(check_count(o.attrs.len(), "attributes", limits::OBJECT_ATTRIBUTES)? as u16);
        for a in &o.attrs {
            write_attribute(out, a);
        }

        let entry = out.pos;
        let mut dropped = 0usize;
        for (n, inst) in o.insts.iter().enumerate() {
            dropped += self.inst(out, o, &limits, inst, version).map_err(|t| {
                let name = inst.desc().name;
                Trouble { span: t.span, message: format!("instruction {n} ({name}): {}", t.message) }
            })?;
        }
        out.zeros(dropped);
        let size = out.pos - entry;
        out.put32(size_at, u32::try_from(size).unwrap_or(u32::MAX));
        out.put32(size_at + 4, u32::try_from(entry - start).unwrap_or(u32::MAX));
        Ok(input)
    }

    /// Writes an instruction; gives the number of bytes it lacks (in reference mode).
    #[inline]
    fn inst(
        &self,
        out: &mut Sink,
        o: &Object,
        limits: &Limits,
        inst: &Inst,
        version: (u8, u8),
    ) -> Result0<usize> {
        let desc = inst.desc();
        if !desc.versions.contains(version) {
            return write_error(inst.span, Fault::Version(version).to_string());
        }
        let first = inst.first as usize;
        let Some(operands) = o.operands.get(first..first + inst.len as usize) else {
            return write_error(inst.span, Fault::OperandRange.to_string());
        };
        // Where rows share an opcode, the fields must say which it is, or it would read back as another.
        if let Some(rows) = self.opcodes.shared(desc)
            && rows.choose(operands) != Some(inst.op)
        {
            return write_error(inst.span, format!("the fields are not those of {}", desc.name));
        }
        match desc.sub {
            None => out.word(desc.opcode.into(), 1),
            Some(sub) => out.word(desc.opcode as u128 | (sub as u128) << 8, 2),
        }
        let slots = desc.slots;
        let many = match slots.last() {
            Some(Slot { kind: SlotKind::Many(kind), .. }) => Some(*kind),
            _ => None,
        };
        let fixed = slots.len() - many.is_some() as usize;
        let Some((head, rest)) = operands.split_at_checked(fixed) else {
            let (found, expected) = (operands.len(), slots.len());
            return write_error(inst.span, Fault::OperandCount { found, expected }.to_string());
        };
        // In reference mode: where the operands begin of which the last `implicit` are dropped. A slot
        // under a clear flag does not count, having no bytes.
        let mut starts = self.reference.then(Vec::new);
        let mut implicit = 0;
        let mut count = 0;
        for (i, (slot, operand)) in slots.iter().zip(head).enumerate() {
            let mut kind = &slot.kind;
            if !slot.is_in(version) {
                if *operand != Operand::Int(0) {
                    return self.refuse(o, inst, i, Fault::Later(slot.since));
                }
                continue;
            }
            match kind {
                SlotKind::If { slot: flag, bit, kind: inner } => {
                    if head[*flag as usize].int().unwrap_or(0) >> bit & 1 == 0 {
                        if *operand != Operand::Int(0) {
                            return self.refuse(
                                o,
                                inst,
                                i,
                                Fault::Operand("absent, because its flag says so"),
                            );
                        }
                        continue;
                    }
                    kind = inner;
                }
                SlotKind::Count { .. } => count = operand.int().unwrap_or(0) as usize,
                _ => {}
            }
            if let Some(starts) = &mut starts {
                starts.push(out.pos);
                implicit += matches!(kind, SlotKind::Exec | SlotKind::Pred) as usize;
            }
            match encode(limits, kind, operand, version) {
                Some((word, len)) => out.word(word, len),
                None => self.special(out, o, limits, inst, i, kind, operand, version)?,
            }
        }
        if let Some(kind) = many {
            if rest.len() != count {
                let (found, expected) = (operands.len(), fixed.saturating_add(count));
                return write_error(inst.span, Fault::OperandCount { found, expected }.to_string());
            }
            for (i, operand) in rest.iter().enumerate() {
                if let Some(starts) = &mut starts {
                    starts.push(out.pos);
                }
                match encode(limits, kind, operand, version) {
                    Some((word, len)) => out.word(word, len),
                    None => self.special(out, o, limits, inst, fixed + i, kind, operand, version)?,
                }
            }
        } else if !rest.is_empty() {
            let (found, expected) = (operands.len(), fixed);
            return write_error(inst.span, Fault::OperandCount { found, expected }.to_string());
        }
        let Some(starts) = starts else { return Ok(0) };
        let keep = match starts.get(starts.len() - implicit.min(starts.len())) {
            Some(at) => *at,
            None => return Ok(0),
        };
        let dropped = out.pos - keep;
        out.pos = keep;
        Ok(dropped)
    }

    #[cold]
    fn refuse<T>(&self, o: &Object, inst: &Inst, i: usize, fault: impl std::fmt::Display) -> Result0<T> {
        let slots = inst.desc().slots;
        let name = slots[i.min(slots.len() - 1)].name;
        write_error(o.op_span(inst, i), format!("{name}: {fault}"))
    }

    /// What [`encode`] leaves: the address of a variable, and operands that are not sound.
    #[cold]
    #[allow(clippy::too_many_arguments)]
    fn special(
        &self,
        out: &mut Sink,
        o: &Object,
        limits: &Limits,
        inst: &Inst,
        i: usize,
        kind: &SlotKind,
        operand: &Operand,
        version: (u8, u8),
    ) -> Result0<()> {
        if let Err(fault) = limits.check(kind, operand) {
            return self.refuse(o, inst, i, fault);
        }
        if matches!(operand, Operand::Handle { .. }) {
            return self.refuse(o, inst, i, Fault::EarlyHandle);
        }
        if let Operand::Surface(HANDLE_FOLLOWS) | Operand::Sampler(HANDLE_FOLLOWS) = operand {
            let message =
                format!("{HANDLE_FOLLOWS} says that a register follows, it is not a number of a surface");
            return self.refuse(o, inst, i, message);
        }
        let Operand::AddressOf { var, offset } = *operand else {
            return self.refuse(o, inst, i, Fault::Operand(kind.wants()));
        };
        match self.row_and_column(o, var, offset) {
            Ok((row, col)) => {
                let region = Region::SCALAR;
                let general = Operand::General { var, row, col, region, modifier: Modifier::None };
                if let Some((word, len)) = encode(limits, kind, &general, version) {
                    out.word(word, len);
                }
                Ok(())
            }
            Err(message) => self.refuse(o, inst, i, message),
        }
    }

    /// Byte offset into a variable as the binary's row (registers) and column (elements).
    #[cold]
    fn row_and_column(&self, o: &Object, var: u32, offset: u16) -> Result<(u8, u8), String> {
        let grf = self.options.platform.grf_bytes();
        let size = o.var_shape(var, grf).map_or(1, |(ty, _)| ty.size());
        let (row, rest) = (offset as u32 / grf, offset as u32 % grf);
        if rest % size != 0 {
            return Err(format!(
                "the offset {offset} is not a multiple of the element's {size} bytes, and the binary counts elements"
            ));
        }
        match (u8::try_from(row), u8::try_from(rest / size)) {
            (Ok(row), Ok(col)) => Ok((row, col)),
            _ => Err(format!("the offset {offset} is over 255 registers")),
        }
    }
}

/// Platform and length of each native record; one empty record stands for none.
fn native_records(o: &Object) -> impl Iterator<Item = (u8, usize)> {
    let none = o.native.is_empty().then_some((0, 0));
    o.native.iter().map(|n| (n.platform, n.code.len())).chain(none)
}

/// The bytes of an operand in a slot, as a little-endian word and its length; `None` for what needs more:
/// the address of a variable, or an operand that is not sound there.
///
/// Every arm checks what [`Limits::check`] checks; that one then says what is wrong.
#[inline(always)]
fn encode(limits: &Limits, kind: &SlotKind, operand: &Operand, version: (u8, u8)) -> Option<(u128, usize)> {
    match kind {
        SlotKind::Vector(_) => match *operand {
            Operand::General { var, region, .. } => {
                if limits.has_var(var) && region.is_valid() {
                    encode_general(operand)
                } else {
                    None
                }
            }
            Operand::Imm { ty, bits } => {
                let word = 5 | (ty as u128) << 8 | (bits as u128) << 16;
                if matches!(ty, Type::Df | Type::Q | Type::Uq) {
                    return Some((word, 10));
                }
                (bits <= u32::MAX as u64).then_some((word, 6))
            }
            _ => encode_rare(limits, kind, operand, version),
        },
        SlotKind::Raw { .. } => match *operand {
            Operand::Raw { var, offset } => {
                limits.has_var(var).then_some((var as u128 | (offset as u128) << 32, 6))
            }
            _ => None,
        },
        SlotKind::Exec => match *operand {
            Operand::Exec(e) => (e.log2 <= 5 && e.mask.0 <= 15).then_some((e.byte().into(), 1)),
            _ => None,
        },
        SlotKind::Pred => match *operand {
            Operand::Pred(p) => {
                ((p.id as u32) < limits.predicates && p.id <= 0xfff).then_some((p.word().into(), 2))
            }
            _ => None,
        },
        SlotKind::Field { width, .. } | SlotKind::Packed { width, .. } | SlotKind::Count { width, .. } => {
            match *operand {
                Operand::Int(n) => {
                    let len = (*width).min(4) as usize;
                    ((n as u64) >> (8 * len) == 0).then_some((n.into(), len))
                }
                _ => None,
            }
        }
        _ => encode_rare(limits, kind, operand, version),
    }
}

#[inline(always)]
fn encode_general(operand: &Operand) -> Option<(u128, usize)> {
    let Operand::General { var, row, col, region, modifier } = *operand else { return None };
    let word = (modifier as u128) << 3
        | (var as u128) << 8
        | (row as u128) << 40
        | (col as u128) << 48
        | (region.0 as u128) << 56;
    Some((word, 9))
}

/// [`encode`] for the rarer kinds of operands.
fn encode_rare(
    limits: &Limits,
    kind: &SlotKind,
    operand: &Operand,
    version: (u8, u8),
) -> Option<(u128, usize)> {
    limits.check(kind, operand).ok()?;
    Some(match *operand {
        Operand::Handle { index, .. } if version >= HANDLES_SINCE => {
            let (general, len) = encode_general(&operand.handle()?)?;
            (HANDLE_FOLLOWS as u128 | general << 8 | (index as u128) << (8 * (len + 1)), len + 5)
        }
        Operand::Surface(HANDLE_FOLLOWS) | Operand::Sampler(HANDLE_FOLLOWS)
            if version >= HANDLES_SINCE && kind.takes_address() =>
        {
            return None;
        }
        Operand::Address { id, offset, width_log2, modifier } => {
            let tag = 1 | (modifier as u128) << 3;
            (tag | (id as u128) << 8 | (offset as u128) << 24 | (width_log2 as u128) << 32, 5)
        }
        Operand::Predicate(p) => (2 | (p.word() as u128) << 8, 3),
        Operand::Indirect { addr, offset, byte_offset, ty, region, modifier } => {
            let word = 3
                | (modifier as u128) << 3
                | (addr as u128) << 8
                | (offset as u128) << 24
                | (byte_offset as u16 as u128) << 32
                | (ty as u128) << 48
                | (region.0 as u128) << 56;
            (word, 9)
        }
        Operand::State { class, id, offset } => {
            (6 | (class as u128) << 8 | (id as u128) << 16 | (offset as u128) << 32, 5)
        }
        Operand::Surface(id) | Operand::Sampler(id) => (id.into(), 1),
        Operand::Label(id) => (id.into(), 2),
        Operand::Str(n) => match kind {
            SlotKind::Str { width } => (n.into(), (*width).min(4) as usize),
            _ => return None,
        },
        _ => return None,
    })
}

/// Bytes an object takes at most, its tables' lists aside estimated.
fn max_object_bytes(o: &Object) -> usize {
    let strings = o.strings.iter().map(|s| s.len() + 1).sum::<usize>();
    let vars = o.vars.len() + o.addresses.len() + o.predicates.len() + o.samplers.len() + o.surfaces.len();
    let lists = 16 * (vars + o.labels.len() + o.inputs.len() + o.attrs.len() + o.var_attrs.len());
    let native = o.native.iter().map(|n| n.code.len() + 9).sum::<usize>();
    strings + lists + native + 10 * o.operands.len() + 2 * o.insts.len() + 128 + o.name.len()
}

/// More than anybody has, and its sum with what is predefined fits 32 bits.
const MAX_LIST: usize = u32::MAX as usize - 64;

fn header_name(out: &mut Sink, o: &Object) -> Result0<()> {
    let Ok(len) = u16::try_from(o.name.len()) else {
        let most = limits::HEADER_NAME_BYTES;
        return write_error(o.name_span, format!("a name of {} bytes, at most {most} fit", o.name.len()));
    };
    out.u16(len);
    out.bytes(o.name.as_bytes());
    Ok(())
}

fn check_count(n: usize, what: &str, max: usize) -> Result0<u32> {
    if n > max {
        return write_error(Span::NONE, format!("{n} {what}, at most {max} fit"));
    }
    Ok(n as u32)
}

fn simple_vars(out: &mut Sink, o: &Object, vars: &[SimpleVar]) {
    for v in vars {
        out.u32(v.name);
        out.u16(v.elems);
        var_attrs(out, o, v.attrs);
    }
}

fn var_attrs(out: &mut Sink, o: &Object, range: AttrRange) {
    out.u8(range.len);
    let start = range.start as usize;
    for a in o.var_attrs.get(start..start + range.len as usize).unwrap_or_default() {
        write_attribute(out, a);
    }
}

/// Writes an attribute; its value's length is one byte, as the tables' check says.
fn write_attribute(out: &mut Sink, a: &Attr) {
    out.u32(a.name);
    out.u8(a.value.len() as u8);
    out.bytes(&a.value);
}
