//! Reads programs back from text.

use std::collections::HashMap;

use envisa_isa::{Platform, Span, Type};

use super::cursor::{Cursor, ReadError, Result};
use super::fields::{self, Fields, Number};
use super::names::{Constants, PlaceNames, bits, is_name_char, predefined_offset};
use super::print::ROW;
use super::{COMBINATIONS, EXEC_TYPES, INPUTS, MODIFIERS, Names, RELATIONS, op_name};
use crate::messages::Space;
use crate::program::*;
use crate::{LineEntry, Program};

/// Bytes of constants that any text may have; more only for more text, so that little text makes no large program.
const FREE_CONSTANTS: usize = 64 << 10;
/// Bytes of constants for each byte of text: an instruction has a few immediates, for which lowering reserves room.
const CONSTANTS_PER_BYTE: usize = 64;

impl Program {
    /// Reads a program that was printed. What was printed again then is the same text. Blank lines are left out.
    ///
    /// # Errors
    /// The first line that is not as it should be, and what is expected there; or what is wrong with the whole.
    pub fn read(text: &str) -> std::result::Result<Program, ReadError> {
        let mut lines = Lines { text: text.lines().enumerate(), next: None, last: 0 };
        let (mut p, number) = read_header(&mut lines, text.len())?;
        let mut reader = Reader {
            constants: Constants::new(&p.registers.constants),
            ops: Op::ALL.iter().map(|op| (op_name(*op), *op)).collect(),
            symbols: HashMap::new(),
        };
        while let Some(line) = lines.next() {
            function(line, &mut lines, &mut reader, &mut p)?;
        }
        if p.functions.is_empty() {
            return Err(Cursor::new("", number).error("the program has no function"));
        }
        Program::new(p).map_err(ReadError::Damaged)
    }
}

/// The lines of a text, blank ones left out.
struct Lines<'a> {
    text: std::iter::Enumerate<std::str::Lines<'a>>,
    next: Option<Cursor<'a>>,
    last: usize,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<Cursor<'a>> {
        if let Some(line) = self.next.take() {
            return Some(line);
        }
        for (i, line) in self.text.by_ref() {
            self.last = i + 1;
            let mut line = Cursor::new(line, i + 1);
            line.skip_blanks();
            if !line.at_end() {
                return Some(line);
            }
        }
        None
    }

    /// The next line if it starts like this, behind that.
    fn next_with(&mut self, start: &str) -> Option<Cursor<'a>> {
        let mut line = self.next()?;
        if line.take(start) {
            return Some(line);
        }
        self.next = Some(line);
        None
    }

    /// The next line, which has to start like this, behind that.
    fn expect(&mut self, start: &str) -> Result<Cursor<'a>> {
        let mut line = self.next().unwrap_or(Cursor::new("", self.last + 1));
        line.expect(start)?;
        Ok(line)
    }
}

/// What comes before the functions, and the number of its last line.
fn read_header(lines: &mut Lines, len: usize) -> Result<(ProgramParts, usize)> {
    let mut l = lines.expect("program ")?;
    let name = l.string()?;
    l.expect(" for ")?;
    let before = l.clone();
    let platform = l.word();
    let platform = Platform::from_name(platform).ok_or_else(|| before.expected("a platform"))?;
    l.expect(", simd ")?;
    let simd = l.unsigned()?;
    l.expect(", ")?;
    let mut registers = Registers { bytes: l.unsigned()?, ..Registers::default() };
    l.expect(" bytes of registers")?;
    let has_barrier = l.take(", with barriers");
    l.end()?;
    registers.constants =
        read_constants(lines, FREE_CONSTANTS.saturating_add(len.saturating_mul(CONSTANTS_PER_BYTE)))?;

    let mut l = lines.expect("locals from")?;
    registers.locals_start = l.offset()?;
    l.end()?;
    registers.fresh = read_ranges(lines.expect("cleared")?)?;
    let mut l = lines.expect("predefined")?;
    let mut homes = Vec::new();
    while homes.len() < registers.predefined.len() {
        let home = l.offset()?;
        l.expect("*")?;
        let count: u8 = l.unsigned()?;
        homes.extend(std::iter::repeat_n(home, count.max(1).into()));
    }
    registers.predefined =
        homes.try_into().map_err(|h: Vec<_>| l.error(format!("{} predefined variables", h.len())))?;
    l.end()?;
    let mut l = lines.expect("addresses from")?;
    registers.address_base = l.offset()?;
    while l.take(" ") {
        let start = l.unsigned()?;
        l.expect("..")?;
        let end = l.unsigned()?;
        l.expect("*")?;
        let count: u16 = l.unsigned()?;
        let homes = registers.address_homes.len() + usize::from(count);
        // As many as there are 64-byte chunks that 16 bits can name.
        if homes > 1 << 10 {
            return Err(l.error(format!("{homes} homes of register addresses")));
        }
        registers.address_homes.resize(homes, (start, end));
    }
    l.end()?;
    let mut p = ProgramParts {
        name,
        platform,
        grf_bytes: platform.grf_bytes(),
        simd,
        registers,
        has_barrier,
        ..ProgramParts::default()
    };
    if let Some(mut l) = lines.next_with("private ") {
        let bytes = l.unsigned()?;
        l.expect(" bytes from ")?;
        p.private = Some(PrivateMemory { bytes, image: l.unsigned()? });
        l.end()?;
    }
    while let Some(mut l) = lines.next_with("input ") {
        let name = l.string()?;
        l.expect(" ")?;
        let class = one_of(&mut l, INPUTS, "a class of inputs")?;
        l.expect(" ")?;
        let bytes = l.unsigned()?;
        l.expect(" bytes from ")?;
        let image = l.unsigned()?;
        l.expect(" to")?;
        let offset = l.offset()?;
        l.end()?;
        p.inputs.push(InputSlot { name, class, offset, image, bytes });
    }
    while let Some(mut l) = lines.next_with("file ") {
        p.source_files.push(l.string()?);
        l.end()?;
    }
    Ok((p, lines.last))
}

fn read_constants(lines: &mut Lines, most: usize) -> Result<Vec<u8>> {
    let mut l = lines.expect("constants ")?;
    let count: u32 = l.unsigned()?;
    let count = count as usize;
    if count > most {
        return Err(l.error(format!("{count} bytes of constants: a text of this length has at most {most}")));
    }
    l.expect(" bytes")?;
    l.end()?;
    let mut bytes = vec![0; count];
    while let Some(mut l) = lines.next_with("@") {
        let at: u32 = l.unsigned()?;
        l.expect(" ")?;
        let hex = l.take_while(|c| c.is_ascii_hexdigit());
        if hex.is_empty() || hex.len() > 2 * ROW || !hex.len().is_multiple_of(2) {
            return Err(l.error(format!("a row has 1 to {ROW} bytes of two digits each")));
        }
        let row = bytes.get_mut(at as usize..).and_then(|from| from.get_mut(..hex.len() / 2));
        let row = row.ok_or_else(|| l.error(format!("the row passes the {count} bytes of constants")))?;
        for (byte, digits) in row.iter_mut().zip(hex.as_bytes().chunks(2)) {
            let digits = std::str::from_utf8(digits).unwrap_or_default();
            *byte = u8::from_str_radix(digits, 16).map_err(|_| l.expected("a row of bytes"))?;
        }
        l.end()?;
    }
    Ok(bytes)
}

fn read_ranges(mut l: Cursor) -> Result<Vec<std::ops::Range<RegOffset>>> {
    let mut out = Vec::new();
    while l.take(" ") {
        let start = l.offset()?;
        l.expect("..")?;
        out.push(start..l.offset()?);
    }
    l.end()?;
    Ok(out)
}

fn one_of<T: Copy>(l: &mut Cursor, names: Names<T>, what: &str) -> Result<T> {
    let before = l.clone();
    let word = l.word();
    let found = names.iter().find(|(name, _)| *name == word && !word.is_empty());
    found.map(|(_, value)| *value).ok_or_else(|| before.expected(what))
}

/// What is the same for all instructions.
struct Reader {
    constants: Constants,
    ops: HashMap<String, Op>,
    /// Symbols by their names.
    symbols: HashMap<String, u32>,
}

/// A function, from its first line on.
fn function(mut l: Cursor, lines: &mut Lines, reader: &mut Reader, p: &mut ProgramParts) -> Result<()> {
    let index = p.functions.len();
    let Ok(number) = u16::try_from(index) else { return Err(l.error("more than 65536 functions")) };
    l.expect("function ")?;
    let told: usize = l.unsigned()?;
    if told != index {
        return Err(l.error(format!("function {index} is expected")));
    }
    let name = l.string()?;
    l.end()?;
    let locals = lines.next_with("locals").map_or(Ok(Vec::new()), read_ranges)?;
    let entry = p.code.len() as Pc;
    let mut f = Function { name, entry, end: entry, locals, vars: Vec::new(), lines: Vec::new() };
    while let Some(mut l) = lines.next_with("var ") {
        let id = l.unsigned()?;
        let name = l.string()?;
        let offset = l.offset()?;
        l.expect(" declared ")?;
        let declared = l.unsigned()?;
        l.expect(" of ")?;
        let bytes = l.unsigned()?;
        l.end()?;
        f.vars.push(VarHome { id, name, offset, declared, bytes });
    }
    while let Some(mut l) = lines.next_with("line ") {
        let line = l.unsigned()?;
        l.expect(" file ")?;
        let file = l.unsigned()?;
        l.expect(" from ")?;
        let instruction = l.unsigned()?;
        if f.lines.last().is_some_and(|before| before.instruction >= instruction) {
            return Err(l.error("lines stand in the order of their instructions"));
        }
        l.end()?;
        f.lines.push(LineEntry { instruction, file, line });
    }
    let names = PlaceNames::new(&p.registers, Some(&f));
    while let Some(line) = lines.next() {
        if line.starts_with("function ") {
            lines.next = Some(line);
            break;
        }
        let mut line = InstReader { line, reader, names: &names, p, channels: 1, op: Op::Nop };
        let inst = line.inst(number)?;
        p.code.push(inst);
    }
    f.end = p.code.len() as Pc;
    p.functions.push(f);
    Ok(())
}

/// A line of an instruction.
struct InstReader<'a, 'b> {
    line: Cursor<'a>,
    reader: &'b mut Reader,
    names: &'b PlaceNames<'b>,
    p: &'b mut ProgramParts,
    channels: u32,
    op: Op,
}

impl InstReader<'_, '_> {
    fn inst(&mut self, function: u16) -> Result<Inst> {
        let before = self.line.clone();
        let pc: usize = self.line.unsigned()?;
        if pc != self.p.code.len() {
            return Err(before.error(format!("instruction {} is expected", self.p.code.len())));
        }
        self.line.skip_blanks();
        let pred = self.read_predicate()?;
        let before = self.line.clone();
        let word = self.line.word();
        self.op = *self.reader.ops.get(word).ok_or_else(|| before.expected("an operation"))?;
        let exec = match self.line.take(".") {
            true => one_of(&mut self.line, EXEC_TYPES, "a type to compute in")?,
            false => ExecType::None,
        };
        self.line.expect(" (")?;
        let before = self.line.clone();
        let channels: u8 = self.line.unsigned()?;
        if !matches!(channels, 1 | 2 | 4 | 8 | 16 | 32) {
            return Err(before.error("1, 2, 4, 8, 16 or 32 channels are expected"));
        }
        self.channels = channels.into();
        let first = if self.line.take(" from ") { self.line.unsigned()? } else { 0 };
        let no_mask = self.line.take(" nm");
        self.line.expect(")")?;
        let dst = self.read_destination()?;
        let dst2 = if self.line.take(", ") { self.place()? } else { 0 };
        let mut src = [Src::None; 4];
        if self.line.take(" = ") {
            for (k, s) in src.iter_mut().enumerate() {
                if k > 0 && !self.line.take(", ") {
                    break;
                }
                *s = self.read_source()?;
            }
        }
        let aux = self.read_aux()?;
        self.line.skip_blanks();
        self.line.expect("; $")?;
        let source = self.line.unsigned()?;
        let depth = if self.line.take(" depth ") { self.line.unsigned()? } else { 0 };
        let l = &mut self.line;
        let facts = Facts {
            converged: l.take_word("converged"),
            uniform: l.take_word("uniform"),
            fuses_with_next: l.take_word("fuses"),
            writes_only_next: l.take_word("only-next"),
            auxiliary: l.take_word("auxiliary"),
        };
        self.line.clone().end()?;
        let (op, span) = (self.op, Span::NONE);
        Ok(Inst {
            op,
            channels,
            first,
            no_mask,
            pred,
            exec,
            dst,
            src,
            aux,
            dst2,
            span,
            source,
            function,
            depth,
            facts,
        })
    }

    fn read_predicate(&mut self) -> Result<Pred> {
        if !self.line.take("(") {
            return Ok(Pred::default());
        }
        let invert = self.line.take("!");
        self.line.expect("P")?;
        let offset = self.line.offset()?;
        let combine = match self.line.take(".") {
            true => one_of(&mut self.line, COMBINATIONS, "`any` or `all`")?,
            false => Default::default(),
        };
        self.line.expect(") ")?;
        Ok(Pred { offset, combine, invert })
    }

    /// A place in the register file, by a name or by its offset.
    fn place(&mut self) -> Result<RegOffset> {
        if self.line.starts_with("@") {
            return self.line.offset();
        }
        let before = self.line.clone();
        if self.line.take("%") {
            let name = format!("%{}", self.line.take_while(is_name_char));
            return predefined_offset(&self.p.registers, &name)
                .ok_or_else(|| before.error(format!("there is no predefined variable `{name}`")));
        }
        let name = self.line.take_while(is_name_char);
        if name.is_empty() {
            return Err(before.expected("a variable or an `@` and an offset"));
        }
        let start = self.names.offset(name);
        let start = start.ok_or_else(|| before.error(format!("there is no variable `{name}`")))?;
        let within: u32 = if self.line.take("+") { self.line.unsigned()? } else { 0 };
        start.checked_add(within).ok_or_else(|| before.error("the place is beyond all registers"))
    }

    fn read_type(&mut self) -> Result<Type> {
        self.line.expect(":")?;
        let before = self.line.clone();
        let word = self.line.take_while(|c| c.is_ascii_lowercase());
        Type::from_name(word).ok_or_else(|| before.expected("a type"))
    }

    /// log2 of a number of channels.
    fn read_log2(&mut self) -> Result<u8> {
        let before = self.line.clone();
        let n: u32 = self.line.unsigned()?;
        match n.is_power_of_two() && n <= 32 {
            true => Ok(n.trailing_zeros() as u8),
            false => Err(before.error("1, 2, 4, 8, 16 or 32 is expected")),
        }
    }

    fn read_strides(&mut self) -> Result<Strides> {
        self.line.expect("<")?;
        let vertical = self.line.unsigned()?;
        self.line.expect(";")?;
        let width_log2 = self.read_log2()?;
        self.line.expect(",")?;
        let horizontal = self.line.unsigned()?;
        self.line.expect(">")?;
        Ok(Strides { vertical, width_log2, horizontal })
    }

    /// `[@64+4 each 8]`, from behind the bracket.
    fn read_indirect(&mut self) -> Result<(RegOffset, i16, u8)> {
        let address = self.line.offset()?;
        let bytes = self.line.signed()?;
        self.line.expect(" each ")?;
        let per_address_log2 = self.read_log2()?;
        self.line.expect("]")?;
        Ok((address, bytes, per_address_log2))
    }

    fn read_destination(&mut self) -> Result<Dst> {
        let before = self.line.clone();
        if !self.line.take(" ") {
            return Ok(Dst::None);
        }
        if self.line.take("P@") {
            return Ok(Dst::Pred { offset: self.line.unsigned()? });
        }
        if self.line.take("[") {
            let (address, bytes, per_address_log2) = self.read_indirect()?;
            let (ty, stride, sat) = self.element()?;
            return Ok(Dst::Indirect { address, bytes, per_address_log2, ty, stride, sat });
        }
        // A name is a variable's if its type or its bytes follow; else it belongs to what comes after the operands.
        let mut ahead = self.line.clone();
        let name = ahead.take_while(|c| is_name_char(c) || matches!(c, '%' | '@'));
        if name.is_empty() || !(ahead.starts_with(":") || ahead.starts_with("+")) {
            self.line = before;
            return Ok(Dst::None);
        }
        let offset = self.place()?;
        let (ty, stride, sat) = self.element()?;
        Ok(Dst::Reg { offset, ty, stride, sat })
    }

    /// Type, stride and saturation of a destination.
    fn element(&mut self) -> Result<(Type, u8, bool)> {
        let ty = self.read_type()?;
        self.line.expect("<")?;
        let stride = self.line.unsigned()?;
        self.line.expect(">")?;
        Ok((ty, stride, self.line.take(" sat")))
    }

    fn read_source(&mut self) -> Result<Src> {
        if self.line.take("_") {
            return Ok(Src::None);
        }
        let invert = self.line.take("!");
        if invert || self.line.starts_with("P@") {
            self.line.expect("P@")?;
            return Ok(Src::Pred { offset: self.line.unsigned()?, invert });
        }
        let named = MODIFIERS.iter().skip(1).find(|(name, _)| self.line.take(name));
        let modifier = named.map_or(Modifier::None, |(_, m)| *m);
        if self.line.take("[") {
            let (address, bytes, per_address_log2) = self.read_indirect()?;
            let (ty, strides) = (self.read_type()?, self.read_strides()?);
            return Ok(Src::Indirect { address, bytes, per_address_log2, ty, strides, modifier });
        }
        let constant = self.line.take("#");
        let (offset, ty, strides) = match constant && !self.line.starts_with("@") {
            true => {
                let (offset, ty) = self.immediate()?;
                (offset, ty, Strides::SCALAR)
            }
            false => (self.place()?, self.read_type()?, self.read_strides()?),
        };
        let shape = self.op.shape(strides, self.channels);
        Ok(Src::Reg { offset, ty, strides, shape, modifier, constant })
    }

    /// The value of an immediate, which one of the constants has.
    fn immediate(&mut self) -> Result<(RegOffset, Type)> {
        let before = self.line.clone();
        let value = self.line.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.'));
        let at = if self.line.starts_with("@") { Some(self.line.offset()?) } else { None };
        let ty = self.read_type()?;
        let wanted = immediate_bits(value, ty)
            .ok_or_else(|| before.error(format!("`{value}` is no value of type {}", ty.name())))?;
        let found = match at {
            Some(at) => {
                let there = bits(&self.p.registers.constants, at, ty.size());
                Some(at).filter(|_| there == Some(wanted))
            }
            None => self.reader.constants.place(wanted, ty.size()),
        };
        let found =
            found.ok_or_else(|| before.error(format!("no constant has the value `{value}` there")))?;
        Ok((found, ty))
    }

    fn message(&mut self) -> Result<u32> {
        self.line.expect(" ")?;
        let before = self.line.clone();
        let word = self.line.word();
        let blank = fields::blank(word, self.p.platform);
        let mut message = blank.ok_or_else(|| before.expected("a family of messages"))?;
        // Scalars are of one channel, whatever the instruction has.
        let channels = std::mem::replace(&mut self.channels, 1);
        fields::walk(&mut message, self)?;
        self.channels = channels;
        self.p.messages.push(message);
        Ok(self.p.messages.len() as u32 - 1)
    }

    fn read_targets(&mut self) -> Result<u32> {
        let table = self.read_numbers(" targets [")?;
        self.p.tables.push(table);
        Ok(self.p.tables.len() as u32 - 1)
    }

    fn read_picks(&mut self) -> Result<u32> {
        let before = self.line.clone();
        let all = self.read_numbers(" which [")?;
        let which: Option<Vec<u8>> = all.into_iter().map(|n| u8::try_from(n).ok()).collect();
        self.p.picks.push(which.ok_or_else(|| before.error("numbers of dwords are less than 256"))?);
        Ok(self.p.picks.len() as u32 - 1)
    }

    /// Numbers up to the bracket that ends them.
    fn read_numbers(&mut self, begin: &str) -> Result<Vec<u32>> {
        self.line.expect(begin)?;
        let mut all = Vec::new();
        while !self.line.take("]") {
            if !all.is_empty() {
                self.line.expect(", ")?;
            }
            all.push(self.line.unsigned()?);
        }
        Ok(all)
    }

    fn read_symbol(&mut self) -> Result<u32> {
        self.line.expect(" symbol")?;
        let name = self.line.string()?;
        let next = self.p.symbols.len() as u32;
        Ok(*self.reader.symbols.entry(name).or_insert_with_key(|name| {
            self.p.symbols.push(name.clone());
            next
        }))
    }

    fn read_reason(&mut self) -> Result<u32> {
        self.line.expect(" ")?;
        let before = self.line.clone();
        let word = self.line.take_while(|c| c != ' ');
        let desc = envisa_isa::TABLE.iter().find(|d| d.name == word);
        let name = desc.ok_or_else(|| before.expected("the name of an instruction"))?.name;
        let reason = self.line.string()?;
        self.p.unsupported.push(Unsupported { name, reason });
        Ok(self.p.unsupported.len() as u32 - 1)
    }

    /// One of the words, which are 0, 1, … in `aux`, or a number.
    fn word_or_aux(&mut self, words: &[&str]) -> Result<u32> {
        let found = words.iter().position(|w| self.line.take_word(w));
        found.map_or_else(|| self.plain_aux(), |i| Ok(i as u32))
    }

    fn plain_aux(&mut self) -> Result<u32> {
        if self.line.take(" aux ") { self.line.unsigned() } else { Ok(0) }
    }

    fn read_keyed(&mut self, key: &str) -> Result<u32> {
        self.line.expect(key)?;
        self.line.unsigned()
    }

    fn read_aux(&mut self) -> Result<u32> {
        match self.op {
            Op::Cmp => self.word_or_aux(&RELATIONS),
            Op::Bfn | Op::PredLogic => self.read_keyed(" table "),
            Op::Rol | Op::Ror => self.read_keyed(" bits "),
            Op::FunnelShift => self.read_keyed(" by "),
            Op::Dpas | Op::Dpasw | Op::Bdpas => self.read_keyed(" shape "),
            Op::Goto | Op::Call => self.read_keyed(" to "),
            Op::Fcall => self.read_keyed(" function "),
            Op::Faddr => self.read_symbol(),
            Op::Pick => self.read_picks(),
            Op::SwitchJmp => self.read_targets(),
            Op::SplitBarrier | Op::NamedBarrier => self.word_or_aux(&["wait", "signal"]),
            Op::ChannelEnables => self.word_or_aux(&["mask", "time"]),
            Op::Message => self.message(),
            Op::Unsupported => self.read_reason(),
            _ => self.plain_aux(),
        }
    }

    /// Is the next field this one? Then its value comes next.
    fn key(&mut self, key: &str) -> bool {
        let mut ahead = self.line.clone();
        let is = ahead.take(" ") && ahead.take(key) && ahead.take("=");
        if is {
            self.line = ahead;
        }
        is
    }
}

/// The bits of a value in text.
fn immediate_bits(value: &str, ty: Type) -> Option<u64> {
    let mask = if ty.size() == 8 { u64::MAX } else { (1 << (8 * ty.size())) - 1 };
    if let Some(hex) = value.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok().filter(|bits| *bits <= mask);
    }
    match ty {
        Type::F => value.parse::<f32>().ok().filter(|x| !x.is_nan()).map(|x| x.to_bits().into()),
        Type::Df => value.parse::<f64>().ok().filter(|x| !x.is_nan()).map(f64::to_bits),
        _ if ty.is_signed() => {
            let half = i128::from(mask >> 1);
            let x: i128 = value.parse().ok().filter(|x| (-half - 1..=half).contains(x))?;
            Some(x as u64 & mask)
        }
        _ => value.parse().ok().filter(|bits| *bits <= mask),
    }
}

impl Fields for InstReader<'_, '_> {
    type Error = ReadError;

    fn visit_flag(&mut self, key: &'static str, value: &mut bool) -> Result<()> {
        *value = self.line.take_word(key);
        Ok(())
    }

    fn number<T: Number>(&mut self, key: &'static str, value: &mut T, _: T) -> Result<()> {
        if self.key(key) {
            let before = self.line.clone();
            let wide: i128 = self.line.signed()?;
            *value = T::from_wide(wide).ok_or_else(|| before.error(format!("{wide} does not fit here")))?;
        }
        Ok(())
    }

    fn place(&mut self, key: &'static str, value: &mut RegOffset) -> Result<()> {
        if !self.key(key) {
            return Err(self.line.expected(&format!("`{key}=`")));
        }
        *value = InstReader::place(self)?;
        Ok(())
    }

    fn register(&mut self, key: &'static str, value: &mut Option<RegOffset>) -> Result<()> {
        if self.key(key) {
            *value = Some(InstReader::place(self)?);
        }
        Ok(())
    }

    fn scalar(&mut self, key: &'static str, value: &mut Src) -> Result<()> {
        if self.key(key) {
            *value = self.read_source()?;
        }
        Ok(())
    }

    fn space(&mut self, value: &mut Space) -> Result<()> {
        self.line.expect(" ")?;
        let before = self.line.clone();
        let word = self.line.word();
        *value = match word {
            "flat" => Space::Flat,
            "slm" => Space::Slm,
            "general" => Space::GeneralState,
            "arguments" => Space::Arguments,
            "bti" | "bss" | "scratch" | "counter" | "bss-counter" | "table" | "handle" => {
                self.line.expect("(")?;
                let space = match word {
                    "bti" => Space::Bti(self.read_source()?),
                    "bss" => Space::Bindless(self.read_source()?),
                    "scratch" => Space::Scratch(self.read_source()?),
                    "counter" => Space::Counter(self.read_source()?),
                    "bss-counter" => Space::HandleCounter(self.read_source()?),
                    "table" => Space::Table(self.line.unsigned()?),
                    _ => Space::Handle(self.line.unsigned()?),
                };
                self.line.expect(")")?;
                space
            }
            _ => return Err(before.expected("a memory")),
        };
        Ok(())
    }

    fn word<T: Copy + PartialEq>(&mut self, value: &mut T, names: Names<T>) -> Result<()> {
        self.line.expect(" ")?;
        *value = one_of(&mut self.line, names, "one of the field's values")?;
        Ok(())
    }

    fn one_of<T: Copy + PartialEq>(
        &mut self,
        key: &'static str,
        value: &mut T,
        names: Names<T>,
    ) -> Result<()> {
        if self.key(key) {
            *value = one_of(&mut self.line, names, "one of the field's values")?;
        }
        Ok(())
    }
}
