//! A [`Program`] as text, for people and for the tests of lowering.
//!
//! One line an instruction:
//!
//! ```text
//!    3  (P@64) mov.u32 (16 nm) C+64:ud<1> = A:ud<1;1,0>, #5:ud   ; $2 converged
//! ```
//!
//! Operands are places in the register file, written as a variable's name and the bytes from its first one;
//! places of no variable are `@offset`. Immediates stand as their values.

use std::fmt::{self, Display, Formatter};

use envisa_isa::{Combine, Modifier, Type, predefined};

use crate::messages::{Atomic, Block, Message, Simt, Space};
use crate::program::{Dst, ExecType, Function, Inst, Op, Pred, Program, RegOffset, Src, Strides};

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "program \"{}\" for {}, simd {}, {} bytes of registers{}",
            self.name,
            self.platform.name(),
            self.simd,
            self.registers.bytes,
            if self.has_barrier { ", with barriers" } else { "" }
        )?;
        for i in &self.inputs {
            writeln!(
                f,
                "input {} {:?} {} bytes from {} to @{}",
                i.name, i.class, i.bytes, i.image, i.offset
            )?;
        }
        for (index, function) in self.functions.iter().enumerate() {
            writeln!(f, "function {index} \"{}\"", function.name)?;
            for pc in function.entry..function.end {
                writeln!(f, "{pc:>5}  {}", self.line(pc as usize))?;
            }
        }
        Ok(())
    }
}

impl Program {
    /// An instruction as its line says it, without its number; empty past the last one.
    pub fn line(&self, pc: usize) -> String {
        let Some(inst) = self.code.get(pc) else { return String::new() };
        let names = self.functions.get(inst.function as usize).or(self.functions.first());
        Line { program: self, function: names, inst }.to_string()
    }
}

/// An instruction, and where its names are.
struct Line<'a> {
    program: &'a Program,
    function: Option<&'a Function>,
    inst: &'a Inst,
}

/// A place in the register file.
struct Place<'a>(&'a Line<'a>, RegOffset);

impl Display for Place<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Place(line, at) = self;
        let owner = line.function.and_then(|o| {
            o.vars
                .iter()
                .find(|v| (v.offset..v.offset + v.bytes.max(1)).contains(at))
                .map(|v| (v, at - v.offset))
        });
        match owner {
            Some((v, 0)) => f.write_str(&v.name),
            Some((v, within)) => write!(f, "{}+{within}", v.name),
            None => match line.predefined(*at) {
                Some(name) => f.write_str(name),
                None => write!(f, "@{at}"),
            },
        }
    }
}

fn exec_name(exec: ExecType) -> &'static str {
    match exec {
        ExecType::None => "",
        ExecType::I32 => ".i32",
        ExecType::U32 => ".u32",
        ExecType::I64 => ".i64",
        ExecType::U64 => ".u64",
        ExecType::F32 => ".f32",
        ExecType::F64 => ".f64",
        ExecType::F16 => ".f16",
        ExecType::Bf16 => ".bf16",
        ExecType::Odd => ".f64odd",
        ExecType::Wide => ".wide",
    }
}

fn modifier(m: Modifier) -> &'static str {
    match m {
        Modifier::None | Modifier::Sat => "",
        Modifier::Neg => "(-)",
        Modifier::Abs => "(abs)",
        Modifier::NegAbs => "(-abs)",
        Modifier::Not => "(~)",
    }
}

/// The value of an immediate of this type.
fn value(ty: Type, bits: u64) -> String {
    match ty {
        Type::F => format!("{:?}", f32::from_bits(bits as u32)),
        Type::Df => format!("{:?}", f64::from_bits(bits)),
        Type::B => (bits as i8).to_string(),
        Type::W => (bits as i16).to_string(),
        Type::D => (bits as i32).to_string(),
        Type::Q => (bits as i64).to_string(),
        Type::Hf | Type::Bf => format!("{bits:#x}"),
        _ => bits.to_string(),
    }
}

struct Region(Strides);

impl Display for Region {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Strides { vertical, width_log2, horizontal } = self.0;
        // Of rows of one element the distance within them means nothing.
        let horizontal = if width_log2 == 0 { 0 } else { horizontal };
        write!(f, "<{vertical};{},{horizontal}>", 1u32 << width_log2.min(31))
    }
}

impl Line<'_> {
    /// The predefined variable that starts here.
    fn predefined(&self, at: RegOffset) -> Option<&'static str> {
        let homes = &self.program.registers.predefined;
        // 0 is where constants start: of what has no home.
        homes.iter().zip(&predefined::VARS).find(|(home, _)| at != 0 && **home == at).map(|(_, v)| v.name)
    }

    fn at(&self, offset: RegOffset) -> Place<'_> {
        Place(self, offset)
    }

    fn pred(&self, p: Pred) -> String {
        let combine = match p.combine {
            Combine::None => "",
            Combine::Any => ".any",
            Combine::All => ".all",
        };
        format!("({}P@{}{combine}) ", if p.invert { "!" } else { "" }, p.offset)
    }

    fn src(&self, s: &Src) -> String {
        match *s {
            Src::None => String::new(),
            Src::Reg { offset, ty, strides, modifier: m, constant, .. } => {
                let bytes =
                    self.program.registers.constants.get(offset as usize..(offset + ty.size()) as usize);
                match bytes {
                    Some(bytes) if constant && strides == Strides::SCALAR => {
                        let mut bits = [0; 8];
                        bits[..bytes.len()].copy_from_slice(bytes);
                        format!("{}#{}:{}", modifier(m), value(ty, u64::from_le_bytes(bits)), ty.name())
                    }
                    _ => format!("{}{}:{}{}", modifier(m), self.at(offset), ty.name(), Region(strides)),
                }
            }
            Src::Indirect { address, bytes, per_address_log2, ty, strides, modifier: m } => format!(
                "{}[@{address}{bytes:+} each {}]:{}{}",
                modifier(m),
                1u32 << per_address_log2.min(31),
                ty.name(),
                Region(strides)
            ),
            Src::Pred { offset, invert } => format!("{}P@{offset}", if invert { "!" } else { "" }),
        }
    }

    fn dst(&self, d: &Dst) -> String {
        let sat = |sat: bool| if sat { " sat" } else { "" };
        match *d {
            Dst::None => String::new(),
            Dst::Reg { offset, ty, stride, sat: s } => {
                format!("{}:{}<{stride}>{}", self.at(offset), ty.name(), sat(s))
            }
            Dst::Indirect { address, bytes, ty, stride, sat: s, .. } => {
                format!("[@{address}{bytes:+}]:{}<{stride}>{}", ty.name(), sat(s))
            }
            Dst::Pred { offset } => format!("P@{offset}"),
        }
    }

    fn space(&self, space: &Space) -> String {
        match space {
            Space::Flat => "flat".into(),
            Space::Slm => "slm".into(),
            Space::Bti(s) => format!("bti({})", self.src(s)),
            Space::Bindless(s) => format!("bss({})", self.src(s)),
            Space::Table(bti) => format!("bti({bti:#x})"),
            Space::Handle(handle) => format!("bss({handle:#x})"),
            Space::GeneralState => "general".into(),
            Space::Scratch(s) => format!("scratch({})", self.src(s)),
            Space::Arguments => "arguments".into(),
        }
    }

    fn register(&self, at: Option<RegOffset>) -> String {
        at.map_or("%null".into(), |at| self.at(at).to_string())
    }

    fn simt(&self, s: &Simt) -> String {
        let stride = match &s.stride {
            Src::None => String::new(),
            stride => format!(" stride {}", self.src(stride)),
        };
        let base = match &s.base {
            Src::None => String::new(),
            base => format!("{} + ", self.src(base)),
        };
        format!(
            "{} {}[({base}{}:a{}){}{:+}]{stride} {} {} elements {:#x} of {} bytes in {}",
            if s.write { "store" } else { "load" },
            self.space(&s.space),
            self.at(s.address),
            8 * s.address_bytes,
            if s.scale == 1 { String::new() } else { format!(" * {}", s.scale) },
            s.offset,
            if s.write { "from" } else { "to" },
            self.register(s.data),
            s.elements,
            s.element,
            s.slot
        )
    }

    fn block(&self, b: &Block) -> String {
        format!(
            "{} {}[{}{}{:+}] {} {} {} bytes{}",
            if b.write { "store" } else { "load" },
            self.space(&b.space),
            self.src(&b.address),
            if b.scale == 1 { String::new() } else { format!(" * {}", b.scale) },
            b.offset,
            if b.write { "from" } else { "to" },
            self.register(b.data),
            b.bytes,
            if b.masked { " masked" } else { "" }
        )
    }

    fn atomic(&self, a: &Atomic) -> String {
        format!(
            "atomic {} {:#x} {}[{}:a{}{:+}] {} = {}, {} of {} bytes",
            if a.lsc { "lsc" } else { "legacy" },
            a.code,
            self.space(&a.space),
            self.at(a.address),
            8 * a.address_bytes,
            a.offset,
            self.register(a.dst),
            self.register(a.src[0]),
            self.register(a.src[1]),
            a.element
        )
    }

    fn message(&self, m: &Message) -> String {
        match m {
            Message::Simt(s) => self.simt(s),
            Message::Status(s) => format!("status {}", self.simt(s)),
            Message::Block(b) => self.block(b),
            Message::Atomic(a) => self.atomic(a),
            // Rarer ones as they are.
            other => format!("{other:?}"),
        }
    }

    /// What stands in `aux`, where it means something.
    fn aux(&self) -> Option<String> {
        let aux = self.inst.aux;
        let index = aux as usize;
        let p = self.program;
        Some(match self.inst.op {
            Op::Cmp => {
                ["eq", "ne", "gt", "ge", "lt", "le"].get(index).map_or(aux.to_string(), |r| (*r).into())
            }
            Op::Bfn | Op::PredLogic => format!("table {aux:#04x}"),
            Op::Rol | Op::Ror => format!("{aux} bits"),
            Op::Dpas | Op::Dpasw => format!("shape {aux:#010x}"),
            Op::Goto | Op::Call => format!("to {aux}"),
            Op::Fcall => format!("function {aux}"),
            Op::Faddr => format!("\"{}\"", p.symbols.get(index)?),
            Op::SwitchJmp => format!("table {:?}", p.tables.get(index)?),
            Op::SplitBarrier | Op::NamedBarrier => if aux == 0 { "wait" } else { "signal" }.into(),
            Op::ChannelEnables => if aux == 0 { "mask" } else { "time" }.into(),
            Op::Message => self.message(p.messages.get(index)?),
            Op::Unsupported => {
                let u = p.unsupported.get(index)?;
                format!("{}: {}", u.name, u.reason)
            }
            _ => return None,
        })
    }
}

impl Display for Line<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let i = self.inst;
        if i.pred.offset != 0 {
            f.write_str(&self.pred(i.pred))?;
        }
        write!(f, "{}{} ({}", format!("{:?}", i.op).to_lowercase(), exec_name(i.exec), i.channels)?;
        if i.first != 0 {
            write!(f, " from {}", i.first)?;
        }
        f.write_str(if i.no_mask { " nm)" } else { ")" })?;
        let dst = self.dst(&i.dst);
        if !dst.is_empty() {
            write!(f, " {dst}")?;
        }
        if i.dst2 != 0 {
            write!(f, ", {}", self.at(i.dst2))?;
        }
        let sources: Vec<String> = i.src.iter().map(|s| self.src(s)).filter(|s| !s.is_empty()).collect();
        if !sources.is_empty() {
            write!(f, " = {}", sources.join(", "))?;
        }
        if let Some(aux) = self.aux() {
            write!(f, " {aux}")?;
        }
        write!(f, "   ; ${}", i.source)?;
        let facts = [
            (i.facts.converged, "converged"),
            (i.facts.uniform, "uniform"),
            (i.facts.fuses_with_next, "fuses"),
        ];
        facts.iter().filter(|(is, _)| *is).try_for_each(|(_, what)| write!(f, " {what}"))
    }
}
