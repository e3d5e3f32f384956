//! Reads functions from the text that [`Func`] prints.

use std::collections::HashMap;
use std::fmt;

use envisa_isa::Type as Number;
use envisa_lower::{Extend, Op};
use envisa_sem::{FpMode, Modifier, Relation};

use crate::func::{Block, Elem, Func, Origin, Type, Value};
use crate::inst::{
    Access, AccessKind, AccessShape, Arith, Escape, Exact, Home, Inst, Logic, Shuffle, Target, Terminator,
    Window,
};
use crate::print::op_name;

/// Why a text is not a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

impl std::error::Error for ReadError {}

type Read<T> = Result<T, String>;

/// A line's words and signs, one after the other.
struct Words<'a> {
    words: Vec<&'a str>,
    at: usize,
}

impl<'a> Words<'a> {
    fn new(line: &'a str) -> Words<'a> {
        let mut words = Vec::new();
        let mut rest = line.trim();
        while !rest.is_empty() {
            let n = if let Some(text) = rest.strip_prefix('"') {
                text.find('"').map_or(rest.len(), |n| n + 2)
            } else {
                match rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == '_')) {
                    Some(0) | None if rest.len() <= 1 => rest.len(),
                    Some(0) => 1,
                    Some(n) => n,
                    None => rest.len(),
                }
            };
            words.push(&rest[..n]);
            rest = rest[n..].trim_start();
        }
        Words { words, at: 0 }
    }

    fn peek(&self) -> &'a str {
        self.words.get(self.at).copied().unwrap_or("")
    }

    fn next(&mut self) -> &'a str {
        let word = self.peek();
        self.at += 1;
        word
    }

    fn take(&mut self, word: &str) -> bool {
        let is = self.peek() == word;
        self.at += usize::from(is);
        is
    }

    fn expect(&mut self, word: &str) -> Read<()> {
        if self.take(word) { Ok(()) } else { Err(format!("`{word}` is expected, not `{}`", self.peek())) }
    }

    fn number(&mut self) -> Read<u64> {
        let word = self.next();
        let parsed = match word.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16),
            None => word.parse(),
        };
        parsed.map_err(|_| format!("a number is expected, not `{word}`"))
    }

    fn signed(&mut self) -> Read<i64> {
        let minus = self.take("-");
        let n = self.number()? as i64;
        Ok(if minus { n.wrapping_neg() } else { n })
    }

    fn small<T: TryFrom<u64>>(&mut self) -> Read<T> {
        let n = self.number()?;
        T::try_from(n).map_err(|_| format!("{n} is too large"))
    }

    /// `@` and a program counter.
    fn pc(&mut self) -> Read<u32> {
        self.expect("@")?;
        self.small()
    }

    fn quoted(&mut self) -> Read<&'a str> {
        let word = self.next();
        let inner = word.strip_prefix('"').and_then(|w| w.strip_suffix('"'));
        inner.ok_or_else(|| format!("a text is expected, not `{word}`"))
    }

    fn end(&self) -> Read<()> {
        if self.at >= self.words.len() { Ok(()) } else { Err(format!("`{}` is not expected", self.peek())) }
    }

    /// What is between signs, with commas.
    fn list<T>(
        &mut self,
        open: &str,
        close: &str,
        mut each: impl FnMut(&mut Self) -> Read<T>,
    ) -> Read<Vec<T>> {
        self.expect(open)?;
        let mut out = Vec::new();
        while !self.take(close) {
            if !out.is_empty() {
                self.expect(",")?;
            }
            out.push(each(self)?);
        }
        Ok(out)
    }
}

fn parse_type(word: &str) -> Read<Type> {
    let wrong = || format!("`{word}` is not a type");
    let (elem, lanes) = word.split_once('x').ok_or_else(wrong)?;
    let lanes: u8 = lanes.parse().map_err(|_| wrong())?;
    if !lanes.is_power_of_two() || lanes > 32 {
        return Err(wrong());
    }
    Ok(Type { elem: Elem::from_name(elem).ok_or_else(wrong)?, lanes })
}

fn number(word: &str) -> Read<Number> {
    Number::from_name(word).ok_or_else(|| format!("`{word}` is not an element's type"))
}

fn parse_modifier(word: &str) -> Option<Modifier> {
    let all = [Modifier::None, Modifier::Neg, Modifier::Abs, Modifier::NegAbs, Modifier::Not];
    all.into_iter().find(|m| crate::print::modifier_name(*m) == word)
}

impl Func {
    /// Reads what printing a function gives; lines that begin with `//` say nothing. Values are numbered anew.
    ///
    /// # Errors
    /// The first line that is none of a function's. What the function says is not looked at: see
    /// [`verify`](crate::verify()).
    pub fn read(text: &str) -> Result<Func, ReadError> {
        let lines: Vec<(usize, &str)> =
            (1..).zip(text.lines()).filter(|l| !l.1.trim().is_empty() && !l.1.starts_with("//")).collect();
        let mut r = Reader { f: Func::new("", 0), values: HashMap::new() };
        let wrong = |line: usize| move |what: String| ReadError { line, what };
        let Some((first, rest)) = lines.split_first() else {
            return Err(wrong(1)("a function is expected".into()));
        };
        r.head(first.1).map_err(wrong(first.0))?;
        let count = rest.iter().filter(|l| is_block(l.1)).count();
        for _ in 1..count {
            r.f.add_block(0);
        }
        // Values first: they may be used before they are read.
        let mut block = 0;
        let mut made = Vec::new();
        for (line, text) in rest {
            if text.trim() == "}" {
                break;
            }
            if is_block(text) {
                r.block(block, text).map_err(wrong(*line))?;
                block += 1;
            } else if block == 0 {
                return Err(wrong(*line)("a block is expected".into()));
            } else {
                let types = r.results(text).map_err(wrong(*line))?;
                made.push((*line, *text, Block(block - 1), types));
            }
        }
        for (line, text, b, at) in made {
            r.line(text, b, at).map_err(wrong(line))?;
        }
        Ok(r.f)
    }
}

fn is_block(line: &str) -> bool {
    !line.starts_with(' ') && line.starts_with('b')
}

/// Where an instruction's words begin, and the instruction that was made for its results.
type Made = (usize, crate::func::InstId);

struct Reader {
    f: Func,
    values: HashMap<String, Value>,
}

impl Reader {
    fn head(&mut self, line: &str) -> Read<()> {
        let mut w = Words::new(line);
        w.expect("func")?;
        self.f.name = w.quoted()?.into();
        w.expect("simd")?;
        self.f.simd = w.small()?;
        w.expect("registers")?;
        self.f.register_bytes = w.small()?;
        w.expect("{")?;
        w.end()
    }

    /// A value and its type.
    fn typed<'a>(w: &mut Words<'a>) -> Read<(&'a str, Type)> {
        let name = w.next();
        w.expect(":")?;
        Ok((name, parse_type(w.next())?))
    }

    fn define(&mut self, name: &str, v: Value) -> Read<()> {
        match self.values.insert(name.to_owned(), v) {
            None => Ok(()),
            Some(_) => Err(format!("`{name}` is there twice")),
        }
    }

    fn block(&mut self, b: u32, line: &str) -> Read<()> {
        let mut w = Words::new(line);
        let name = w.next();
        if name != format!("b{b}") {
            return Err(format!("b{b} is expected, not `{name}`"));
        }
        for (name, ty) in w.list("(", ")", |w| Self::typed(w))? {
            let v = self.f.add_param(Block(b), ty);
            self.define(name, v)?;
        }
        w.expect(":")?;
        self.f.block_mut(Block(b)).pc = w.pc()?;
        w.end()
    }

    /// Makes an instruction's results; a line without `=` has none.
    fn results(&mut self, line: &str) -> Read<Made> {
        let mut w = Words::new(line);
        let mut types = Vec::new();
        if w.words.contains(&"=") {
            loop {
                types.push(Self::typed(&mut w)?);
                if w.take("=") {
                    break;
                }
                w.expect(",")?;
            }
        }
        let only: Vec<Type> = types.iter().map(|t| t.1).collect();
        let id = self.f.make(Inst::Const(0), &only, Origin::default());
        let values: Vec<Value> = self.f.results(id).collect();
        for ((name, _), v) in types.into_iter().zip(values) {
            self.define(name, v)?;
        }
        Ok((w.at, id))
    }

    fn value(&self, w: &mut Words<'_>) -> Read<Value> {
        let name = w.next();
        self.values.get(name).copied().ok_or_else(|| format!("`{name}` is not a value"))
    }

    /// Values with commas, as many as there are.
    fn values(&self, w: &mut Words<'_>) -> Read<Vec<Value>> {
        let mut out = vec![self.value(w)?];
        while w.take(",") {
            out.push(self.value(w)?);
        }
        Ok(out)
    }

    fn two(&self, w: &mut Words<'_>) -> Read<[Value; 2]> {
        self.values(w)?.try_into().map_err(|_| "two values are expected".into())
    }

    fn target(&self, w: &mut Words<'_>) -> Read<Target> {
        let name = w.next();
        let block = name.strip_prefix('b').and_then(|n| n.parse().ok()).map(Block);
        let block = block.filter(|b| b.index() < self.f.blocks().len());
        let args = w.list("(", ")", |w| self.value(w))?;
        Ok(Target { block: block.ok_or_else(|| format!("`{name}` is not a block"))?, args })
    }

    fn homes(&self, w: &mut Words<'_>) -> Read<Vec<Home>> {
        w.list("[", "]", |w| {
            let offset = w.small()?;
            w.expect(":")?;
            Ok(Home { offset, value: self.value(w)? })
        })
    }

    fn line(&mut self, line: &str, b: Block, (at, id): Made) -> Read<()> {
        let mut w = Words::new(line);
        w.at = at;
        let end = match w.peek() {
            "jump" => {
                w.next();
                Some(Terminator::Jump(self.target(&mut w)?))
            }
            "branch" => {
                w.next();
                let mask = self.value(&mut w)?;
                w.expect(",")?;
                let then = self.target(&mut w)?;
                w.expect(",")?;
                Some(Terminator::Branch { mask, then, other: self.target(&mut w)? })
            }
            "barrier" => {
                w.next();
                let (pc, reads) = (w.pc()?, self.homes(&mut w)?);
                w.expect(",")?;
                Some(Terminator::Barrier { pc, reads, resume: self.target(&mut w)? })
            }
            "return" => {
                w.next();
                Some(Terminator::Return)
            }
            "trap" => {
                w.next();
                Some(Terminator::Trap(w.pc()?))
            }
            _ => None,
        };
        if let Some(end) = end {
            self.f.block_mut(b).end = end;
            return w.end();
        }
        *self.f.inst_mut(id) = self.inst(&mut w)?;
        self.f.block_mut(b).insts.push(id);
        w.end()
    }

    fn inst(&self, w: &mut Words<'_>) -> Read<Inst> {
        let word = w.next();
        let mut parts = word.split('.');
        let (name, rest): (&str, Vec<&str>) = (parts.next().unwrap_or(""), parts.collect());
        Ok(match (name, &rest[..]) {
            ("const", []) => Inst::Const(w.number()?),
            ("lanes", []) => Inst::Lanes(w.list("[", "]", Words::number)?),
            ("input", []) => {
                let offset = w.small()?;
                w.expect("step")?;
                Inst::Input { offset, step: w.small()? }
            }
            ("dispatch", []) => Inst::Dispatch,
            ("splat", []) => Inst::Splat(self.value(w)?),
            ("tobits", []) => Inst::ToBits(self.value(w)?),
            ("frombits", []) => Inst::FromBits(self.value(w)?),
            ("any" | "all", []) => Inst::Vote { all: name == "all", arg: self.value(w)? },
            ("select", []) => {
                let v = self.values(w)?;
                let [mask, a, b] = v.try_into().map_err(|_| "three values are expected")?;
                Inst::Select { mask, args: [a, b] }
            }
            ("mask", [op]) => {
                let all =
                    [("and", Logic::And), ("or", Logic::Or), ("xor", Logic::Xor), ("andnot", Logic::AndNot)];
                let op = all
                    .iter()
                    .find(|l| l.0 == *op)
                    .ok_or_else(|| format!("`{op}` is not an operation on masks"))?
                    .1;
                Inst::Logic { op, args: self.two(w)? }
            }
            ("cmp", [relation, n]) => {
                let relation =
                    Relation::ALL.into_iter().find(|r| format!("{r:?}").eq_ignore_ascii_case(relation));
                let args = self.two(w)?;
                let relation = relation.ok_or("no such relation")?;
                Inst::Cmp { relation, number: number(n)?, mode: read_mode(w)?, args }
            }
            ("convert", [from, to, how @ ..]) => {
                let (sat, operand) = (how.contains(&"sat"), how.contains(&"operand"));
                let (from, to, arg) = (number(from)?, number(to)?, self.value(w)?);
                Inst::Convert { from, to, sat, operand, mode: read_mode(w)?, arg }
            }
            ("shuffle", [unit]) => self.shuffle(unit, w)?,
            ("exact", []) => self.exact(w)?,
            ("spend", []) => Inst::Spend { pc: w.pc()?, cost: w.small()? },
            ("fence", []) => Inst::Fence(w.pc()?),
            ("mode", []) => Inst::Mode(w.small()?),
            ("load" | "store" | "atomic", how) => self.access(name, how, w)?,
            ("escape", []) => {
                let (pc, exec) = (w.pc()?, self.value(w)?);
                let (reads, writes) = (self.homes(w)?, w.list("[", "]", Words::small)?);
                w.quoted()?;
                Inst::Escape(Box::new(Escape { pc, exec, reads, writes, reason: "read from text" }))
            }
            (name, [n])
                if parse_modifier(name).is_some()
                    && Op::ALL.iter().all(|o| op_name(*o) != name || *n == "not") =>
            {
                let modifier = parse_modifier(name).unwrap_or_default();
                Inst::Modify { modifier, number: number(n)?, arg: self.value(w)? }
            }
            (name, [n, odd @ ..]) => self.arith(name, n, odd == ["odd"], w)?,
            (name, []) => return Err(format!("`{name}` is not an instruction")),
        })
    }

    fn arith(&self, name: &str, n: &str, odd: bool, w: &mut Words<'_>) -> Read<Inst> {
        let op = Op::ALL.iter().find(|o| op_name(**o) == name && crate::operation_classes::arity(**o) > 0);
        let op = *op.ok_or_else(|| format!("`{name}` is not an operation"))?;
        let mut what = Arith { odd, ..Arith::new(op, number(n)?) };
        let mut args = Vec::new();
        loop {
            what.negate |= u8::from(w.take("-")) << args.len();
            args.push(self.value(w)?);
            if !w.take(",") {
                break;
            }
        }
        if w.take("aux") {
            what.aux = w.small()?;
        }
        what.mode = read_mode(w)?;
        Ok(Inst::Arith { what, args })
    }

    fn shuffle(&self, unit: &str, w: &mut Words<'_>) -> Read<Inst> {
        let unit = unit.parse().map_err(|_| "a unit is expected")?;
        let args = self.values(w)?;
        let runs = w.list("[", "]", |w| {
            let word = w.next();
            let parse = |s: &str| s.parse::<u16>().map_err(|_| format!("`{word}` is not a unit"));
            match word.split_once("..") {
                Some((from, to)) => Ok(parse(from)?..parse(to)?),
                None => parse(word).map(|u| u..u.saturating_add(1)),
            }
        })?;
        let units = runs.into_iter().flatten().take(256).collect();
        Ok(Inst::Shuffle(Box::new(Shuffle { args, unit, units })))
    }

    fn exact(&self, w: &mut Words<'_>) -> Read<Inst> {
        let name = w.next();
        let op = *Op::ALL
            .iter()
            .find(|o| op_name(**o) == name)
            .ok_or_else(|| format!("`{name}` is not an operation"))?;
        let (mut from, mut args) = (Vec::new(), Vec::new());
        while w.peek() != "to" {
            let word = w.next();
            let (n, m) = word.split_once('.').ok_or("an operand's type and modifier are expected")?;
            from.push((number(n)?, parse_modifier(m).ok_or("no such modifier")?));
            args.push(self.value(w)?);
            w.expect(",")?;
        }
        w.next();
        let word = w.next();
        let (to, sat) = match word.strip_suffix(".sat") {
            Some(to) => (to, true),
            None => (word, false),
        };
        w.expect("aux")?;
        let what = Exact { op, from, to: number(to)?, sat, aux: w.small()?, mode: read_mode(w)? };
        Ok(Inst::Exact { what: Box::new(what), args })
    }

    fn window(&self, w: &mut Words<'_>) -> Read<Window> {
        let name = w.next();
        let mut of = |make: fn(Value) -> Window| {
            w.expect("(")?;
            let v = self.value(w)?;
            w.expect(")")?;
            Ok(make(v))
        };
        match name {
            "flat" => Ok(Window::Flat),
            "slm" => Ok(Window::Slm),
            "state" => Ok(Window::State),
            "arguments" => Ok(Window::Arguments),
            "surface" => of(Window::Surface),
            "handle" => of(Window::Handle),
            "scratch" => of(Window::Scratch),
            _ => Err(format!("`{name}` is not memory")),
        }
    }

    fn shape(w: &mut Words<'_>) -> Read<AccessShape> {
        let name = w.next();
        let mut two = || -> Read<(i32, u8)> {
            w.expect("(")?;
            let step = i32::try_from(w.signed()?).map_err(|_| "a step is too large")?;
            w.expect(",")?;
            let elements = w.small()?;
            w.expect(")")?;
            Ok((step, elements))
        };
        Ok(match name {
            "gather" => AccessShape::Gather,
            "uniform" => AccessShape::Uniform,
            "row" => AccessShape::Row,
            "clamped" => AccessShape::Clamped,
            "strided" => {
                let (step, elements) = two()?;
                AccessShape::Strided { step, elements }
            }
            "halves" => {
                let (step, elements) = two()?;
                AccessShape::Halves { step, elements }
            }
            _ => return Err(format!("`{name}` is not a shape")),
        })
    }

    fn access(&self, name: &str, how: &[&str], w: &mut Words<'_>) -> Read<Inst> {
        let kind = match name {
            "load" => AccessKind::Load,
            "store" => AccessKind::Store,
            _ => AccessKind::Atomic,
        };
        let size = how.last().and_then(|s| s.split_once('x')).ok_or("a size is expected")?;
        let parse = |s: &str| s.parse::<u8>().map_err(|_| format!("`{s}` is not a size"));
        let (element, lanes) = (parse(size.0)?, parse(size.1)?);
        let (window, shape, pc) = (self.window(w)?, Self::shape(w)?, w.pc()?);
        w.expect("mask")?;
        let mask = self.value(w)?;
        w.expect("address")?;
        let address = self.value(w)?;
        w.expect(":")?;
        let (bits, extend) = match w.next() {
            "32" => (32, Extend::None),
            "64" => (64, Extend::None),
            "32z" => (32, Extend::Zero),
            "32s" => (32, Extend::Sign),
            "64z" => (64, Extend::Zero),
            "64s" => (64, Extend::Sign),
            other => return Err(format!("`{other}` is not a size of addresses")),
        };
        let mut scalar = |name: &str| if w.take(name) { self.value(w).map(Some) } else { Ok(None) };
        let (stride, base, origin) = (scalar("stride")?, scalar("base")?, scalar("origin")?);
        let scale = if w.take("scale") { w.small()? } else { 1 };
        let offset = if w.take("offset") { w.signed()? } else { 0 };
        let align = if w.take("align") { w.small()? } else { 1 };
        w.expect("elements")?;
        let (elements, upper) = (w.number()?, w.take("upper"));
        let data = if w.take("data") { self.values(w)? } else { Vec::new() };
        let block = how.contains(&"block");
        Ok(Inst::Access(Box::new(Access {
            pc,
            kind,
            window,
            lanes,
            block,
            mask,
            address,
            extend,
            bits,
            stride,
            base,
            scale,
            offset,
            origin,
            align,
            element,
            upper,
            elements,
            data,
            shape,
        })))
    }
}

/// `mode` and its number, or the usual one.
fn read_mode(w: &mut Words<'_>) -> Read<FpMode> {
    if w.take("mode") { w.small().map(FpMode) } else { Ok(FpMode::OPENCL) }
}
