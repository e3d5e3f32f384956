//! Prints programs.

use std::convert::Infallible;
use std::fmt::{self, Display, Formatter, Write};

use envisa_isa::{Combine, Type};

use super::fields::{self, Fields, Number};
use super::names::{Constants, PlaceNames, bits};
use super::{COMBINATIONS, EXEC_TYPES, INPUTS, MODIFIERS, Names, RELATIONS, name_of, op_name};
use crate::Program;
use crate::messages::{Message, Space};
use crate::program::*;

/// Bytes of constants on a line.
pub const ROW: usize = 32;

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        print_header(self.parts(), f)?;
        let constants = Constants::new(&self.registers().constants);
        for (index, function) in self.functions().iter().enumerate() {
            writeln!(f, "function {index} {:?}", function.name)?;
            let locals: Vec<_> = function.locals.iter().filter(|l| !l.is_empty()).collect();
            if !locals.is_empty() {
                f.write_str("  locals")?;
                locals.into_iter().try_for_each(|l| write!(f, " @{}..@{}", l.start, l.end))?;
                writeln!(f)?;
            }
            for v in &function.vars {
                writeln!(
                    f,
                    "  var {} {:?} @{} declared {} of {}",
                    v.id, v.name, v.offset, v.declared, v.bytes
                )?;
            }
            for l in &function.lines {
                writeln!(f, "  line {} file {} from {}", l.line, l.file, l.instruction)?;
            }
            let names = PlaceNames::new(self.registers(), Some(function));
            for pc in function.entry..function.end {
                let inst = &self.code()[pc as usize];
                let line = Line { program: self.parts(), names: &names, constants: Some(&constants), inst };
                writeln!(f, "{pc:>5}  {line}")?;
            }
        }
        Ok(())
    }
}

fn print_header(p: &ProgramParts, f: &mut Formatter<'_>) -> fmt::Result {
    let r = &p.registers;
    writeln!(
        f,
        "program {:?} for {}, simd {}, {} bytes of registers{}",
        p.name,
        p.platform.name(),
        p.simd,
        r.bytes,
        if p.has_barrier { ", with barriers" } else { "" }
    )?;
    writeln!(f, "constants {} bytes", r.constants.len())?;
    for (i, row) in r.constants.chunks(ROW).enumerate() {
        if row.iter().any(|b| *b != 0) {
            let hex: String = row.iter().map(|b| format!("{b:02x}")).collect();
            writeln!(f, "  @{} {hex}", i * ROW)?;
        }
    }
    writeln!(f, "locals from @{}", r.locals_start)?;
    f.write_str("cleared")?;
    r.fresh.iter().try_for_each(|c| write!(f, " @{}..@{}", c.start, c.end))?;
    f.write_str("\npredefined")?;
    for run in r.predefined.chunk_by(|a, b| a == b) {
        write!(f, " @{}*{}", run[0], run.len())?;
    }
    write!(f, "\naddresses from @{}", r.address_base)?;
    for run in r.address_homes.chunk_by(|a, b| a == b) {
        write!(f, " {}..{}*{}", run[0].0, run[0].1, run.len())?;
    }
    writeln!(f)?;
    if let Some(private) = &p.private {
        writeln!(f, "private {} bytes from {}", private.bytes, private.image)?;
    }
    for i in &p.inputs {
        let class = name_of(INPUTS, &i.class);
        writeln!(f, "input {:?} {class} {} bytes from {} to @{}", i.name, i.bytes, i.image, i.offset)?;
    }
    p.source_files.iter().try_for_each(|name| writeln!(f, "file {name:?}"))
}

impl Program {
    /// An instruction as its line says it, without its number; empty past the last one.
    pub fn line(&self, pc: usize) -> String {
        let Some(inst) = self.code().get(pc) else { return String::new() };
        let names = PlaceNames::new(self.registers(), self.functions().get(inst.function as usize));
        Line { program: self.parts(), names: &names, constants: None, inst }.to_string()
    }
}

/// An instruction, and the names it is written with.
struct Line<'a> {
    program: &'a ProgramParts,
    names: &'a PlaceNames<'a>,
    /// `None`: an immediate's place is not said even where others have its value.
    constants: Option<&'a Constants>,
    inst: &'a Inst,
}

/// The value of an immediate of this type.
fn value(ty: Type, bits: u64) -> String {
    let (single, double) = (f32::from_bits(bits as u32), f64::from_bits(bits));
    match ty {
        // Of NaN text keeps the bits.
        Type::F if !single.is_nan() => format!("{single:?}"),
        Type::Df if !double.is_nan() => format!("{double:?}"),
        Type::B => (bits as i8).to_string(),
        Type::W => (bits as i16).to_string(),
        Type::D => (bits as i32).to_string(),
        Type::Q => (bits as i64).to_string(),
        Type::Ub | Type::Uw | Type::Ud | Type::Uq => bits.to_string(),
        _ => format!("{bits:#x}"),
    }
}

struct Region(Strides);

impl Display for Region {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Strides { vertical, width_log2, horizontal } = self.0;
        write!(f, "<{vertical};{},{horizontal}>", 1u32 << width_log2.min(31))
    }
}

impl Line<'_> {
    fn place(&self, at: RegOffset) -> String {
        match self.names.name(at) {
            Some((name, 0)) => name.to_owned(),
            Some((name, within)) => format!("{name}+{within}"),
            None => format!("@{at}"),
        }
    }

    fn register(&self, at: RegOffset) -> String {
        match self.place(at) {
            // That is no register.
            place if place == "%null" => format!("@{at}"),
            place => place,
        }
    }

    fn format_predicate(&self, p: Pred) -> String {
        let combine = name_of(COMBINATIONS, &p.combine);
        let dot = if p.combine == Combine::None { "" } else { "." };
        format!("({}P@{}{dot}{combine}) ", if p.invert { "!" } else { "" }, p.offset)
    }

    fn format_source(&self, s: &Src) -> String {
        match *s {
            Src::None => "_".into(),
            Src::Reg { offset, ty, strides, modifier, constant, .. } => {
                let modifier = name_of(MODIFIERS, &modifier);
                if constant
                    && strides == Strides::SCALAR
                    && let Some(bits) = bits(&self.program.registers.constants, offset, ty.size())
                {
                    let first = self.constants.is_none_or(|c| c.place(bits, ty.size()) == Some(offset));
                    let at = if first { String::new() } else { format!("@{offset}") };
                    return format!("{modifier}#{}{at}:{}", value(ty, bits), ty.name());
                }
                let place = if constant { format!("#@{offset}") } else { self.place(offset) };
                format!("{modifier}{place}:{}{}", ty.name(), Region(strides))
            }
            Src::Indirect { address, bytes, per_address_log2, ty, strides, modifier } => format!(
                "{}[@{address}{bytes:+} each {}]:{}{}",
                name_of(MODIFIERS, &modifier),
                1u32 << per_address_log2.min(31),
                ty.name(),
                Region(strides)
            ),
            Src::Pred { offset, invert } => format!("{}P@{offset}", if invert { "!" } else { "" }),
        }
    }

    fn format_destination(&self, d: &Dst) -> String {
        let sat = |sat: bool| if sat { " sat" } else { "" };
        match *d {
            Dst::None => String::new(),
            Dst::Reg { offset, ty, stride, sat: s } => {
                format!(" {}:{}<{stride}>{}", self.place(offset), ty.name(), sat(s))
            }
            Dst::Indirect { address, bytes, per_address_log2, ty, stride, sat: s } => format!(
                " [@{address}{bytes:+} each {}]:{}<{stride}>{}",
                1u32 << per_address_log2.min(31),
                ty.name(),
                sat(s)
            ),
            Dst::Pred { offset } => format!(" P@{offset}"),
        }
    }

    fn message(&self, m: &Message) -> String {
        let mut out = FieldWriter { line: self, out: fields::family(m).to_owned() };
        let Ok(()) = fields::walk(&mut m.clone(), &mut out);
        out.out
    }

    /// What stands in `aux`, where it means something.
    fn format_aux(&self) -> Option<String> {
        let aux = self.inst.aux;
        let index = aux as usize;
        let p = self.program;
        Some(match self.inst.op {
            Op::Cmp if index < RELATIONS.len() => RELATIONS[index].into(),
            Op::Bfn | Op::PredLogic => format!("table {aux:#04x}"),
            Op::Rol | Op::Ror => format!("bits {aux}"),
            Op::FunnelShift => format!("by {aux}"),
            Op::Dpas | Op::Dpasw | Op::Bdpas => format!("shape {aux:#010x}"),
            Op::Goto | Op::Call => format!("to {aux}"),
            Op::Fcall => format!("function {aux}"),
            Op::Faddr => format!("symbol {:?}", p.symbols.get(index)?),
            Op::Pick => format!("which {:?}", p.picks.get(index)?),
            Op::SwitchJmp => format!("targets {:?}", p.tables.get(index)?),
            Op::SplitBarrier | Op::NamedBarrier if aux < 2 => if aux == 0 { "wait" } else { "signal" }.into(),
            Op::ChannelEnables if aux < 2 => if aux == 0 { "mask" } else { "time" }.into(),
            Op::Message => self.message(p.messages.get(index)?),
            Op::Unsupported => {
                let u = p.unsupported.get(index)?;
                format!("{} {:?}", u.name, u.reason)
            }
            _ if aux != 0 => format!("aux {aux}"),
            _ => return None,
        })
    }
}

impl Display for Line<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let i = self.inst;
        if i.pred != Pred::default() {
            f.write_str(&self.format_predicate(i.pred))?;
        }
        let exec = name_of(EXEC_TYPES, &i.exec);
        let dot = if i.exec == ExecType::None { "" } else { "." };
        write!(f, "{}{dot}{exec} ({}", op_name(i.op), i.channels)?;
        if i.first != 0 {
            write!(f, " from {}", i.first)?;
        }
        f.write_str(if i.no_mask { " nm)" } else { ")" })?;
        f.write_str(&self.format_destination(&i.dst))?;
        if i.dst2 != 0 {
            write!(f, ", {}", self.place(i.dst2))?;
        }
        let given = i.src.iter().rposition(|s| *s != Src::None).map_or(0, |last| last + 1);
        for (k, s) in i.src[..given].iter().enumerate() {
            write!(f, "{} {}", if k == 0 { " =" } else { "," }, self.format_source(s))?;
        }
        if let Some(aux) = self.format_aux() {
            write!(f, " {aux}")?;
        }
        write!(f, "   ; ${}", i.source)?;
        if i.depth != 0 {
            write!(f, " depth {}", i.depth)?;
        }
        super::named_facts(i.facts)
            .into_iter()
            .filter(|(_, is)| *is)
            .try_for_each(|(what, _)| write!(f, " {what}"))
    }
}

/// Writes a message's fields.
struct FieldWriter<'a> {
    line: &'a Line<'a>,
    out: String,
}

impl FieldWriter<'_> {
    fn write_field(&mut self, key: &str, value: impl Display) -> Result<(), Infallible> {
        // A `String` takes all that is written to it.
        let _ = write!(self.out, " {key}={value}");
        Ok(())
    }
}

impl Fields for FieldWriter<'_> {
    type Error = Infallible;

    fn visit_flag(&mut self, key: &'static str, value: &mut bool) -> Result<(), Infallible> {
        if *value {
            self.out.push(' ');
            self.out.push_str(key);
        }
        Ok(())
    }

    fn number<T: Number>(&mut self, key: &'static str, value: &mut T, usual: T) -> Result<(), Infallible> {
        if *value == usual { Ok(()) } else { self.write_field(key, value.wide()) }
    }

    fn place(&mut self, key: &'static str, value: &mut RegOffset) -> Result<(), Infallible> {
        self.write_field(key, self.line.place(*value))
    }

    fn register(&mut self, key: &'static str, value: &mut Option<RegOffset>) -> Result<(), Infallible> {
        match value {
            Some(at) => self.write_field(key, self.line.register(*at)),
            None => Ok(()),
        }
    }

    fn scalar(&mut self, key: &'static str, value: &mut Src) -> Result<(), Infallible> {
        match value {
            Src::None => Ok(()),
            s => self.write_field(key, self.line.format_source(s)),
        }
    }

    fn space(&mut self, value: &mut Space) -> Result<(), Infallible> {
        let text = match value {
            Space::Flat => "flat".into(),
            Space::Slm => "slm".into(),
            Space::Bti(s) => format!("bti({})", self.line.format_source(s)),
            Space::Bindless(s) => format!("bss({})", self.line.format_source(s)),
            Space::Table(index) => format!("table({index})"),
            Space::Handle(handle) => format!("handle({handle})"),
            Space::GeneralState => "general".into(),
            Space::Scratch(s) => format!("scratch({})", self.line.format_source(s)),
            Space::Arguments => "arguments".into(),
            Space::Counter(s) => format!("counter({})", self.line.format_source(s)),
            Space::HandleCounter(s) => format!("bss-counter({})", self.line.format_source(s)),
        };
        self.out.push(' ');
        self.out.push_str(&text);
        Ok(())
    }

    fn word<T: Copy + PartialEq>(&mut self, value: &mut T, names: Names<T>) -> Result<(), Infallible> {
        self.out.push(' ');
        self.out.push_str(name_of(names, value));
        Ok(())
    }

    fn one_of<T: Copy + PartialEq>(
        &mut self,
        key: &'static str,
        value: &mut T,
        names: Names<T>,
    ) -> Result<(), Infallible> {
        if *value == names[0].1 { Ok(()) } else { self.write_field(key, name_of(names, value)) }
    }
}
