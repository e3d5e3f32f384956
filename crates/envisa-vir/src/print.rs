//! Functions as text.

use std::fmt::{self, Display, Formatter, Write};

use envisa_lower::{Extend, Op};
use envisa_sem::{FpMode, Modifier};

use crate::func::{Block, Elem, Func, InstId, Value};
use crate::inst::{
    Access, AccessKind, AccessShape, Arith, Escape, Home, Inst, Shuffle, Target, Terminator, Window,
};

/// The name of an operation in text.
pub fn op_name(op: Op) -> String {
    format!("{op:?}").to_lowercase()
}

/// A list with commas.
pub(crate) struct List<'a, T>(pub &'a [T]);

impl<T: Display> Display for List<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (k, v) in self.0.iter().enumerate() {
            write!(f, "{}{v}", if k == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl Display for Home {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.offset, self.value)
    }
}

impl Display for Target {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.block, List(&self.args))
    }
}

impl Display for Terminator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Terminator::Jump(t) => write!(f, "jump {t}"),
            Terminator::Branch { mask, then, other } => write!(f, "branch {mask}, {then}, {other}"),
            Terminator::Barrier { pc, reads, resume } => {
                write!(f, "barrier @{pc} [{}], {resume}", List(reads))
            }
            Terminator::Return => f.write_str("return"),
            Terminator::Trap(pc) => write!(f, "trap @{pc}"),
        }
    }
}

impl Display for Window {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Window::Flat => f.write_str("flat"),
            Window::Slm => f.write_str("slm"),
            Window::Surface(v) => write!(f, "surface({v})"),
            Window::Handle(v) => write!(f, "handle({v})"),
            Window::Scratch(v) => write!(f, "scratch({v})"),
            Window::State => f.write_str("state"),
            Window::Arguments => f.write_str("arguments"),
        }
    }
}

impl Display for AccessShape {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            AccessShape::Gather => f.write_str("gather"),
            AccessShape::Uniform => f.write_str("uniform"),
            AccessShape::Row => f.write_str("row"),
            AccessShape::Strided { step, elements } => write!(f, "strided({step}, {elements})"),
            AccessShape::Halves { step, elements } => write!(f, "halves({step}, {elements})"),
            AccessShape::Clamped => f.write_str("clamped"),
        }
    }
}

fn print_mode(f: &mut Formatter<'_>, mode: FpMode) -> fmt::Result {
    if mode.is_ieee() { Ok(()) } else { write!(f, " mode 0x{:x}", mode.0) }
}

pub(crate) fn modifier_name(m: Modifier) -> &'static str {
    match m {
        Modifier::None | Modifier::Sat => "plain",
        Modifier::Neg => "neg",
        Modifier::Abs => "abs",
        Modifier::NegAbs => "negabs",
        Modifier::Not => "not",
    }
}

fn print_arith(f: &mut Formatter<'_>, a: &Arith, args: &[Value]) -> fmt::Result {
    write!(f, "{}.{}{} ", op_name(a.op), a.number.name(), if a.odd { ".odd" } else { "" })?;
    for (k, v) in args.iter().enumerate() {
        let minus = if a.negate >> k & 1 != 0 { "-" } else { "" };
        write!(f, "{}{minus}{v}", if k == 0 { "" } else { ", " })?;
    }
    if a.aux != 0 {
        write!(f, " aux 0x{:x}", a.aux)?;
    }
    print_mode(f, a.mode)
}

fn print_shuffle(f: &mut Formatter<'_>, s: &Shuffle) -> fmt::Result {
    write!(f, "shuffle.{} {} [", s.unit, List(&s.args))?;
    // Runs of consecutive units as `from..to`.
    let mut k = 0;
    while k < s.units.len() {
        let from = s.units[k];
        let n = s.units[k..].iter().zip(from..).take_while(|(u, e)| **u == *e).count();
        let comma = if k == 0 { "" } else { ", " };
        match n {
            1 => write!(f, "{comma}{from}")?,
            _ => write!(f, "{comma}{from}..{}", from as usize + n)?,
        }
        k += n;
    }
    f.write_char(']')
}

fn print_access(f: &mut Formatter<'_>, a: &Access) -> fmt::Result {
    let kind = match a.kind {
        AccessKind::Load => "load",
        AccessKind::Store => "store",
        AccessKind::Atomic => "atomic",
    };
    let extend = match a.extend {
        Extend::None => "",
        Extend::Zero => "z",
        Extend::Sign => "s",
        Extend::Sum(_) => "sum",
        Extend::Joined(_) => "joined",
    };
    let block = if a.block { ".block" } else { "" };
    write!(f, "{kind}{block}.{}x{} {} {} @{}", a.element, a.lanes, a.window, a.shape, a.pc)?;
    write!(f, " mask {} address {}:{}{extend}", a.mask, a.address, a.bits)?;
    for (name, v) in [("stride", a.stride), ("base", a.base), ("origin", a.origin)] {
        if let Some(v) = v {
            write!(f, " {name} {v}")?;
        }
    }
    for (name, n, usual) in
        [("scale", i64::from(a.scale), 1), ("offset", a.offset, 0), ("align", i64::from(a.align), 1)]
    {
        if n != usual {
            write!(f, " {name} {n}")?;
        }
    }
    write!(f, " elements 0x{:x}{}", a.elements, if a.upper { " upper" } else { "" })?;
    if a.data.is_empty() { Ok(()) } else { write!(f, " data {}", List(&a.data)) }
}

fn print_escape(f: &mut Formatter<'_>, e: &Escape) -> fmt::Result {
    write!(f, "escape @{} {} [{}] [{}] \"{}\"", e.pc, e.exec, List(&e.reads), List(&e.writes), e.reason)
}

impl Display for Inst {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Inst::Const(bits) => write!(f, "const 0x{bits:x}"),
            Inst::Lanes(bits) => {
                f.write_str("lanes [")?;
                for (k, b) in bits.iter().enumerate() {
                    write!(f, "{}0x{b:x}", if k == 0 { "" } else { ", " })?;
                }
                f.write_char(']')
            }
            Inst::Input { offset, step } => write!(f, "input {offset} step {step}"),
            Inst::Dispatch => f.write_str("dispatch"),
            Inst::Arith { what, args } => print_arith(f, what, args),
            Inst::Exact { what, args } => {
                write!(f, "exact {}", op_name(what.op))?;
                for ((number, m), v) in what.from.iter().zip(args) {
                    write!(f, " {}.{} {v},", number.name(), modifier_name(*m))?;
                }
                write!(
                    f,
                    " to {}{} aux 0x{:x}",
                    what.to.name(),
                    if what.sat { ".sat" } else { "" },
                    what.aux
                )?;
                print_mode(f, what.mode)
            }
            Inst::Modify { modifier: m, number, arg } => {
                write!(f, "{}.{} {arg}", modifier_name(*m), number.name())
            }
            Inst::Cmp { relation, number, mode: m, args: [a, b] } => {
                write!(f, "cmp.{}.{} {a}, {b}", format!("{relation:?}").to_lowercase(), number.name())?;
                print_mode(f, *m)
            }
            Inst::Select { mask, args: [a, b] } => write!(f, "select {mask}, {a}, {b}"),
            Inst::Convert { from, to, sat, operand, mode: m, arg } => {
                let (sat, operand) = (if *sat { ".sat" } else { "" }, if *operand { ".operand" } else { "" });
                write!(f, "convert.{}.{}{sat}{operand} {arg}", from.name(), to.name())?;
                print_mode(f, *m)
            }
            Inst::Splat(v) => write!(f, "splat {v}"),
            Inst::Shuffle(s) => print_shuffle(f, s),
            Inst::Logic { op, args: [a, b] } => {
                write!(f, "mask.{} {a}, {b}", format!("{op:?}").to_lowercase())
            }
            Inst::Vote { all, arg } => write!(f, "{} {arg}", if *all { "all" } else { "any" }),
            Inst::ToBits(v) => write!(f, "tobits {v}"),
            Inst::FromBits(v) => write!(f, "frombits {v}"),
            Inst::Spend { pc, cost } => write!(f, "spend @{pc} {cost}"),
            Inst::Fence(pc) => write!(f, "fence @{pc}"),
            Inst::Mode(cr0) => write!(f, "mode 0x{cr0:x}"),
            Inst::Access(a) => print_access(f, a),
            Inst::Escape(e) => print_escape(f, e),
        }
    }
}

impl Func {
    fn write_inst(&self, f: &mut Formatter<'_>, i: InstId) -> fmt::Result {
        f.write_str("    ")?;
        for (k, v) in self.results(i).enumerate() {
            write!(f, "{}{v}:{}", if k == 0 { "" } else { ", " }, self.ty(v))?;
        }
        let d = self.inst(i);
        writeln!(f, "{}{}", if d.results == 0 { "" } else { " = " }, d.inst)
    }

    fn write_block(&self, f: &mut Formatter<'_>, b: Block) -> fmt::Result {
        let d = self.block(b);
        write!(f, "{b}(")?;
        for (k, v) in d.params.iter().enumerate() {
            write!(f, "{}{v}:{}", if k == 0 { "" } else { ", " }, self.ty(*v))?;
        }
        writeln!(f, "): @{}", d.pc)?;
        d.insts.iter().try_for_each(|i| self.write_inst(f, *i))?;
        writeln!(f, "    {}", d.end)
    }
}

/// `func "name" simd 32 {`, then each block as `b1(v3:i32x32): @7` (`@`: program counters) and a line an instruction:
/// `    v4:i32x32 = add.d v3, -v2`.
impl Display for Func {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "func {:?} simd {} registers {} {{", self.name, self.simd, self.register_bytes)?;
        self.blocks().try_for_each(|b| self.write_block(f, b))?;
        writeln!(f, "}}")
    }
}

impl Elem {
    /// The element of this name in text.
    pub fn from_name(name: &str) -> Option<Elem> {
        Elem::ALL.into_iter().find(|e| e.name() == name)
    }
}
