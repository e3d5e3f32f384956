//! Writing format 4.1 and 4.2, in one pass over the module.

use crate::MAGIC;
use crate::error::WriteError;
use envisa_isa::desc::{Slot, SlotKind};
use envisa_isa::{
    Attr, AttrRange, Fault, Inst, Limits, Module, Object, ObjectKind, Operand, Platform, SimpleVar, Span,
    Type,
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
    Writer { options, reference: false }.module(module)
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
    Writer { options, reference: true }.module(module)
}

struct Writer<'a> {
    options: &'a WriteOptions,
    reference: bool,
}

/// What is wrong, and with which part: completed to a [`WriteError`] on the way out.
struct Trouble {
    span: Span,
    message: String,
}

type Result0<T> = Result<T, Trouble>;

#[cold]
fn trouble<T>(span: Span, message: impl Into<String>) -> Result0<T> {
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
        let operands: usize = module.objects.iter().map(|o| o.operands.len() + o.insts.len()).sum();
        let mut out = Vec::with_capacity(1024 + operands * 5);
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&[version.0, version.1]);
        let of = |kind| module.objects.iter().enumerate().filter(move |(_, o)| o.kind == kind);
        let mut pending = Vec::with_capacity(module.objects.len());

        let locate =
            |object: usize| move |t: Trouble| WriteError { object, span: t.span, message: t.message };
        let count = |kind, what: &str| -> Result<u16, WriteError> {
            let n = of(kind).count();
            u16::try_from(n).map_err(|_| WriteError {
                object: 0,
                span: Span::NONE,
                message: format!("{n} {what}, at most 65535 fit"),
            })
        };
        out.extend_from_slice(&count(ObjectKind::Kernel, "kernels")?.to_le_bytes());
        for (i, o) in of(ObjectKind::Kernel) {
            header_name(&mut out, o).map_err(locate(i))?;
            let at = out.len();
            out.extend_from_slice(&[0; 16]);
            let records = o.native.len().max(1);
            let Ok(n) = u8::try_from(records) else {
                return Err(locate(i)(Trouble {
                    span: o.name_span,
                    message: format!("{records} native codes, at most 255 fit"),
                }));
            };
            out.push(n);
            let native = out.len();
            out.resize(native + 9 * records, 0);
            pending.push(Pending { object: i, at, native });
        }
        out.extend_from_slice(&[0; 2]);
        out.extend_from_slice(&count(ObjectKind::Function, "functions")?.to_le_bytes());
        for (i, o) in of(ObjectKind::Function) {
            out.push(0);
            header_name(&mut out, o).map_err(locate(i))?;
            pending.push(Pending { object: i, at: out.len(), native: 0 });
            out.extend_from_slice(&[0; 12]);
        }

        for p in &pending {
            let object = &module.objects[p.object];
            let start = out.len();
            let input = self.object(&mut out, object, version).map_err(locate(p.object))?;
            let size = out.len() - start;
            for code in &object.native {
                out.extend_from_slice(&code.code);
            }
            if u32::try_from(out.len()).is_err() {
                return Err(locate(p.object)(Trouble {
                    span: object.name_span,
                    message: "the file would have 4 GiB or more; offsets have 32 bits".into(),
                }));
            }
            put32(&mut out, p.at, start as u32);
            put32(&mut out, p.at + 4, size as u32);
            if object.kind == ObjectKind::Kernel {
                put32(&mut out, p.at + 8, input as u32);
                let mut offset = start + size;
                for (n, (platform, len)) in native_records(object).enumerate() {
                    let at = p.native + 9 * n;
                    out[at] = platform;
                    put32(&mut out, at + 1, offset as u32);
                    put32(&mut out, at + 5, len as u32);
                    offset += len;
                }
            }
        }
        Ok(out)
    }

    /// Writes the object; gives the offset of the number of inputs.
    fn object(&self, out: &mut Vec<u8>, o: &Object, version: (u8, u8)) -> Result0<usize> {
        let start = out.len();
        o.check_tables()
            .map_err(|(place, span, fault)| Trouble { span, message: format!("{place}: {fault}") })?;
        let limits = Limits::of(o);

        count32(out, o.strings.len(), "strings")?;
        for s in o.strings.iter() {
            if s.contains('\0') {
                return trouble(o.name_span, format!("the string {s:?} contains NUL, which ends a string"));
            }
            out.extend_from_slice(s.as_bytes());
            out.push(0);
        }
        out.extend_from_slice(&0u32.to_le_bytes());

        count32(out, o.vars.len(), "variables")?;
        for v in &o.vars {
            out.extend_from_slice(&v.name.to_le_bytes());
            out.push(v.ty as u8 | (v.align as u8) << 4);
            out.extend_from_slice(&v.elems.to_le_bytes());
            out.extend_from_slice(&v.alias.to_le_bytes());
            out.extend_from_slice(&v.alias_offset.to_le_bytes());
            out.push(0);
            var_attrs(out, o, v.attrs);
        }
        count16(out, o.addresses.len(), "address variables", 65_535)?;
        simple_vars(out, o, &o.addresses);
        // The predicate's field in an instruction has 12 bits.
        count16(out, o.predicates.len(), "predicates", 4095)?;
        simple_vars(out, o, &o.predicates);
        count16(out, o.labels.len(), "labels", 65_535)?;
        for l in &o.labels {
            out.extend_from_slice(&l.name.to_le_bytes());
            out.extend_from_slice(&[l.kind as u8, 0]);
        }
        count8(out, o.samplers.len(), "samplers", 255)?;
        simple_vars(out, o, &o.samplers);
        count8(out, o.surfaces.len(), "surfaces", 250)?;
        simple_vars(out, o, &o.surfaces);
        out.push(0);
        let input = out.len();
        if o.kind == ObjectKind::Kernel {
            count32(out, o.inputs.len(), "inputs")?;
            for i in &o.inputs {
                out.push(i.kind);
                out.extend_from_slice(&i.id.to_le_bytes());
                out.extend_from_slice(&i.offset.to_le_bytes());
                out.extend_from_slice(&i.size.to_le_bytes());
            }
        } else if !o.inputs.is_empty() {
            return trouble(o.inputs[0].span, "a function has no inputs");
        }
        let size_at = out.len();
        out.extend_from_slice(&[0; 8]);
        if o.kind == ObjectKind::Function {
            out.extend_from_slice(&[o.function_sizes.0, o.function_sizes.1]);
            if !o.native.is_empty() {
                return trouble(o.name_span, "a function's native code has no place in the file");
            }
        }
        count16(out, o.attrs.len(), "attributes", 65_535)?;
        for a in &o.attrs {
            attr(out, a);
        }

        let entry = out.len();
        let mut dropped = 0usize;
        for (n, inst) in o.insts.iter().enumerate() {
            dropped += self.inst(out, o, &limits, inst, version).map_err(|t| {
                let name = inst.desc().name;
                Trouble { span: t.span, message: format!("instruction {n} ({name}): {}", t.message) }
            })?;
        }
        out.resize(out.len() + dropped, 0);
        let size = out.len() - entry;
        put32(out, size_at, u32::try_from(size).unwrap_or(u32::MAX));
        put32(out, size_at + 4, u32::try_from(entry - start).unwrap_or(u32::MAX));
        Ok(input)
    }

    /// Writes an instruction; gives the number of bytes it lacks (in reference mode).
    #[inline]
    fn inst(
        &self,
        out: &mut Vec<u8>,
        o: &Object,
        limits: &Limits,
        inst: &Inst,
        version: (u8, u8),
    ) -> Result0<usize> {
        let desc = inst.desc();
        if !desc.versions.contains(version) {
            return trouble(inst.span, Fault::Version(version).to_string());
        }
        let first = inst.first as usize;
        let Some(operands) = o.operands.get(first..first + inst.len as usize) else {
            return trouble(inst.span, Fault::OperandRange.to_string());
        };
        out.push(desc.opcode);
        if let Some(sub) = desc.sub {
            out.push(sub);
        }
        let slots = desc.slots;
        let fixed = match slots.last() {
            Some(Slot { kind: SlotKind::Many(_), .. }) => slots.len() - 1,
            _ => slots.len(),
        };
        // In reference mode: where the operands begin of which the last `implicit` are dropped. A slot
        // under a clear flag does not count, having no bytes.
        let mut starts = self.reference.then(Vec::new);
        let mut implicit = 0;
        let mut count = 0;
        for (i, slot) in slots[..fixed].iter().enumerate() {
            let Some(operand) = operands.get(i) else {
                let (found, expected) = (operands.len(), slots.len());
                return trouble(inst.span, Fault::OperandCount { found, expected }.to_string());
            };
            let mut kind = &slot.kind;
            if let SlotKind::If { slot: flag, bit, kind: inner } = kind {
                if operands[*flag as usize].int().unwrap_or(0) >> bit & 1 == 0 {
                    if *operand != Operand::Int(0) {
                        return self.refuse(o, inst, i, Fault::Operand("absent, as its flag says"));
                    }
                    continue;
                }
                kind = inner;
            }
            if let Some(starts) = &mut starts {
                starts.push(out.len());
                implicit += matches!(kind, SlotKind::Exec | SlotKind::Pred) as usize;
            }
            if let Err(fault) = limits.check(kind, operand) {
                return self.refuse(o, inst, i, fault);
            }
            if let (SlotKind::Count { .. }, Operand::Int(n)) = (kind, operand) {
                count = *n as usize;
            }
            self.operand(out, o, inst, i, kind, operand)?;
        }
        let rest = &operands[fixed..];
        if rest.len() != count && (fixed < slots.len() || !rest.is_empty()) {
            let (found, expected) = (operands.len(), fixed.saturating_add(count));
            return trouble(inst.span, Fault::OperandCount { found, expected }.to_string());
        }
        if let Some(Slot { kind: SlotKind::Many(kind), .. }) = slots.last() {
            for (i, operand) in rest.iter().enumerate() {
                if let Some(starts) = &mut starts {
                    starts.push(out.len());
                }
                if let Err(fault) = limits.check(kind, operand) {
                    return self.refuse(o, inst, fixed + i, fault);
                }
                self.operand(out, o, inst, fixed + i, kind, operand)?;
            }
        }
        let Some(starts) = starts else { return Ok(0) };
        let keep = match starts.get(starts.len() - implicit.min(starts.len())) {
            Some(at) => *at,
            None => return Ok(0),
        };
        let dropped = out.len() - keep;
        out.truncate(keep);
        Ok(dropped)
    }

    #[cold]
    fn refuse<T>(&self, o: &Object, inst: &Inst, i: usize, fault: impl std::fmt::Display) -> Result0<T> {
        let slots = inst.desc().slots;
        let name = slots[i.min(slots.len() - 1)].name;
        trouble(o.op_span(inst, i), format!("{name}: {fault}"))
    }

    /// Writes an operand that is sound for its slot.
    #[inline]
    fn operand(
        &self,
        out: &mut Vec<u8>,
        o: &Object,
        inst: &Inst,
        i: usize,
        kind: &SlotKind,
        operand: &Operand,
    ) -> Result0<()> {
        match *operand {
            Operand::General { var, row, col, region, modifier } => {
                let v = var.to_le_bytes();
                let r = region.0.to_le_bytes();
                let tag = (modifier as u8) << 3;
                out.extend_from_slice(&[tag, v[0], v[1], v[2], v[3], row, col, r[0], r[1]]);
            }
            Operand::Raw { var, offset } => {
                let v = var.to_le_bytes();
                let n = offset.to_le_bytes();
                out.extend_from_slice(&[v[0], v[1], v[2], v[3], n[0], n[1]]);
            }
            Operand::Exec(e) => out.push(e.byte()),
            Operand::Pred(p) => out.extend_from_slice(&p.word().to_le_bytes()),
            Operand::Imm { ty, bits } => {
                let b = bits.to_le_bytes();
                if matches!(ty, Type::Df | Type::Q | Type::Uq) {
                    out.extend_from_slice(&[5, ty as u8, b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]);
                } else {
                    out.extend_from_slice(&[5, ty as u8, b[0], b[1], b[2], b[3]]);
                }
            }
            Operand::Address { id, offset, width_log2, modifier } => {
                let v = id.to_le_bytes();
                out.extend_from_slice(&[1 | (modifier as u8) << 3, v[0], v[1], offset, width_log2]);
            }
            Operand::Predicate(p) => {
                let w = p.word().to_le_bytes();
                out.extend_from_slice(&[2, w[0], w[1]]);
            }
            Operand::Indirect { addr, offset, byte_offset, ty, region, modifier } => {
                let v = addr.to_le_bytes();
                let n = byte_offset.to_le_bytes();
                let r = region.0.to_le_bytes();
                let tag = 3 | (modifier as u8) << 3;
                out.extend_from_slice(&[tag, v[0], v[1], offset, n[0], n[1], ty as u8, r[0], r[1]]);
            }
            Operand::AddressOf { var, offset } => {
                let (row, col) = match self.row_and_column(o, var, offset) {
                    Ok(place) => place,
                    Err(message) => return self.refuse(o, inst, i, message),
                };
                let v = var.to_le_bytes();
                let r = envisa_isa::Region::SCALAR.0.to_le_bytes();
                out.extend_from_slice(&[0, v[0], v[1], v[2], v[3], row, col, r[0], r[1]]);
            }
            Operand::State { class, id, offset } => {
                let v = id.to_le_bytes();
                out.extend_from_slice(&[6, class as u8, v[0], v[1], offset]);
            }
            Operand::Surface(id) | Operand::Sampler(id) => out.push(id),
            Operand::Label(id) => out.extend_from_slice(&id.to_le_bytes()),
            Operand::Str(n) | Operand::Int(n) => {
                let width = match kind {
                    SlotKind::Str { width }
                    | SlotKind::Field { width, .. }
                    | SlotKind::Packed { width, .. }
                    | SlotKind::Count { width, .. } => *width,
                    _ => 4,
                };
                out.extend_from_slice(&n.to_le_bytes()[..width.min(4) as usize]);
            }
        }
        Ok(())
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

fn header_name(out: &mut Vec<u8>, o: &Object) -> Result0<()> {
    let Ok(len) = u16::try_from(o.name.len()) else {
        return trouble(o.name_span, format!("a name of {} bytes, at most 65535 fit", o.name.len()));
    };
    out.extend_from_slice(&len.to_le_bytes());
    out.extend_from_slice(o.name.as_bytes());
    Ok(())
}

fn put32(out: &mut [u8], at: usize, value: u32) {
    out[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

fn checked(n: usize, what: &str, max: usize) -> Result0<u32> {
    if n > max {
        return trouble(Span::NONE, format!("{n} {what}, at most {max} fit"));
    }
    Ok(n as u32)
}

fn count32(out: &mut Vec<u8>, n: usize, what: &str) -> Result0<()> {
    out.extend_from_slice(&checked(n, what, u32::MAX as usize - 64)?.to_le_bytes());
    Ok(())
}

fn count16(out: &mut Vec<u8>, n: usize, what: &str, max: usize) -> Result0<()> {
    out.extend_from_slice(&(checked(n, what, max)? as u16).to_le_bytes());
    Ok(())
}

fn count8(out: &mut Vec<u8>, n: usize, what: &str, max: usize) -> Result0<()> {
    out.push(checked(n, what, max)? as u8);
    Ok(())
}

fn simple_vars(out: &mut Vec<u8>, o: &Object, vars: &[SimpleVar]) {
    for v in vars {
        out.extend_from_slice(&v.name.to_le_bytes());
        out.extend_from_slice(&v.elems.to_le_bytes());
        var_attrs(out, o, v.attrs);
    }
}

fn var_attrs(out: &mut Vec<u8>, o: &Object, range: AttrRange) {
    out.push(range.len);
    let start = range.start as usize;
    for a in o.var_attrs.get(start..start + range.len as usize).unwrap_or_default() {
        attr(out, a);
    }
}

/// Writes an attribute; its value has at most 255 bytes, as the tables' check says.
fn attr(out: &mut Vec<u8>, a: &Attr) {
    out.extend_from_slice(&a.name.to_le_bytes());
    out.push(a.value.len() as u8);
    out.extend_from_slice(&a.value);
}
