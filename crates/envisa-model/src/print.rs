//! Programs as text.

use std::fmt::Write as _;

use crate::num::T;
use crate::program::*;

/// Bytes of one store of the registers' dump.
pub const STORE: usize = 128;

/// A program's text, and where its registers are.
#[derive(Clone, Debug)]
pub struct Text {
    /// The vISA assembly.
    pub text: String,
    /// What the input `IN` is given: all variables, each at [`Text::homes`], predicates behind.
    pub image: Vec<u8>,
    /// Where each of the kernel's variables is in the image, and in the dump.
    pub homes: Vec<usize>,
    /// Where each predicate is in the dump.
    pub preds: Vec<usize>,
    /// What the launch gives, in this order.
    pub inputs: Vec<Input>,
    /// Where in the payload of a launch the first of them is.
    pub first: usize,
}

/// An input of the kernel.
#[derive(Clone, Debug)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// Where it is in the payload.
    pub offset: usize,
    /// How large it is.
    pub bytes: usize,
    /// What it is.
    pub what: What,
}

/// What an input is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// [`Text::image`].
    Image,
    /// The addresses that the image is dumped to.
    Where,
    /// The address of the buffer.
    Base,
    /// The surface of the buffer.
    Surface,
    /// The first bytes of a variable.
    Var(usize),
    /// Those of its upper half.
    Upper(usize),
}

impl Text {
    /// How many stores dump the image: `WH` holds an address for each.
    pub fn stores(&self) -> usize {
        self.image.len() / STORE
    }
}

/// A text without what every program has: stores of the dump, registers that no line names.
pub fn brief(text: &str) -> String {
    let code = |l: &&str| {
        let words: Vec<&str> = l.split_whitespace().collect();
        match words.as_slice() {
            ["svm_block_st", ..] => false,
            // To the image and back.
            ["mov", ..] => !l.contains("DUMP") && !l.contains(" I"),
            _ => true,
        }
    };
    let kept: Vec<&str> = text.lines().filter(code).collect();
    let named = |name: &str| {
        let whole = |l: &str, at: usize| {
            let next = l[at + name.len()..].chars().next();
            next.is_none_or(|c| !c.is_ascii_alphanumeric())
        };
        kept.iter().map(|l| l.match_indices(name).filter(|(at, _)| whole(l, *at)).count()).sum::<usize>() > 1
    };
    let shown = |l: &&&str| match l.strip_prefix(".decl ").and_then(|l| l.split_whitespace().next()) {
        Some(name) => named(name),
        None => true,
    };
    kept.iter().filter(shown).fold(String::new(), |out, l| out + l + "\n")
}

/// A line at the end that dumps the registers to the addresses in `WH`.
fn dump_line(p: &Program, t: &Text) -> String {
    let mut out = String::new();
    for (k, at) in t.preds.iter().enumerate() {
        let (row, col) = (at / p.device.grf, at % p.device.grf / 4);
        writeln!(out, "    mov (M1_NM, 1) DUMP({row},{col})<1> P{}", k + 1).unwrap();
    }
    for k in 0..t.stores() {
        let (row, col) = (8 * k / p.device.grf, 8 * k % p.device.grf / 8);
        writeln!(out, "    svm_block_st (8) WH({row},{col})<0;1,0> IN.{}", k * STORE).unwrap();
    }
    out
}

struct Printer<'a> {
    p: &'a Program,
    /// Types of the object's variables.
    types: Vec<T>,
    /// Is the object a function?
    function: bool,
    out: String,
    labels: usize,
    /// Labels behind the enclosing blocks, the innermost last.
    ends: Vec<usize>,
    /// Runs of instructions that were printed by halves.
    runs: usize,
}

/// The name of a variable's home and an element's number there: halves have homes of their own.
fn home_and_element(p: &Program, name: &str, v: impl std::fmt::Display, element: usize) -> (String, usize) {
    match p.halves && element >= HALF {
        true => (format!("{name}H{v}"), element - HALF),
        false => (format!("{name}{v}"), element),
    }
}

/// An element of a variable: its row and column.
fn element_text(p: &Program, element: usize, size: usize) -> String {
    let byte = element * size;
    format!("({},{})", byte / p.device.grf, byte % p.device.grf / size)
}

/// Declares the kernel's variables and lays out what the launch gives.
fn declare_variables(p: &Program, t: &mut Text) -> String {
    let mut decl = String::new();
    for (k, v) in p.vars.iter().enumerate() {
        let at = t.image.len();
        let (n, ty) = (v.init.len(), v.ty.name());
        let name = if v.home == Home::Image { "R" } else { "I" };
        writeln!(decl, ".decl {name}{k} v_type=G type={ty} num_elts={n} align=wordx32 alias=<IN, {at}>")
            .unwrap();
        if v.home != Home::Image {
            let halves = p.halves && n > HALF;
            for name in ["R", "RH"].iter().take(1 + usize::from(halves)) {
                let n = if halves { HALF } else { n };
                writeln!(decl, ".decl {name}{k} v_type=G type={ty} num_elts={n} align=GRF").unwrap();
            }
            if v.ty.size() == 8 && !halves {
                writeln!(decl, ".decl D{k} v_type=G type=ud num_elts={} align=GRF alias=<R{k}, 0>", 2 * n)
                    .unwrap();
            }
        }
        t.homes.push(at);
        for x in &v.init {
            t.image.extend(&x.to_le_bytes()[..v.ty.size()]);
        }
        t.image.resize(t.image.len().next_multiple_of(64), 0);
    }
    for k in 0..p.preds.len() {
        writeln!(decl, ".decl P{} v_type=P num_elts=32", k + 1).unwrap();
        t.preds.push(t.image.len());
        t.image.extend([0; 4]);
    }
    t.image.resize(t.image.len().next_multiple_of(STORE), 0);
    let n = t.image.len();
    let mut text = String::from(".version 4.1\n.kernel \"k\"\n");
    writeln!(text, ".decl IN v_type=G type=ud num_elts={} align=wordx32", n / 4).unwrap();
    writeln!(text, ".decl DUMP v_type=G type=ud num_elts={} align=wordx32 alias=<IN, 0>", n / 4).unwrap();
    text += &decl;
    writeln!(text, ".decl WH v_type=G type=uq num_elts={} align=GRF", t.stores()).unwrap();
    text +=
        ".decl BASE v_type=G type=uq num_elts=1 align=GRF\n.decl FA v_type=G type=uq num_elts=1 align=GRF\n";
    text += ".decl T6 v_type=T num_elts=1\n";
    if p.shuffles {
        let n = p.simd;
        for (name, ty, n, alias) in [
            ("SN", "uw", n, ""),
            ("SL", "d", n, ""),
            ("SW", "uw", 2 * n, " alias=<SL, 0>"),
            ("SO", "uw", n, ""),
        ] {
            writeln!(text, ".decl {name} v_type=G type={ty} num_elts={n} align=GRF{alias}").unwrap();
        }
        text += ".decl SA v_type=A num_elts=16\n";
    }
    let row = p.local_id_bytes();
    for d in (0..3).filter(|_| p.local.is_some()) {
        let names = if p.halves { &["L", "LH"][..] } else { &["L"] };
        for (h, name) in names.iter().enumerate() {
            let bytes = row / names.len();
            writeln!(text, ".decl {name}{d} v_type=G type=uw num_elts={} align=GRF", bytes / 2).unwrap();
            let at = p.device.grf + d * row + h * bytes;
            writeln!(text, ".input {name}{d} offset={at} size={bytes}").unwrap();
        }
    }
    t.first = if p.local.is_some() { p.device.grf + 3 * row } else { 64 };
    let mut offset = t.first;
    let mut input = |name: String, bytes: usize, what: What| {
        offset = offset.next_multiple_of(64);
        t.inputs.push(Input { name, offset, bytes, what });
        offset += bytes;
    };
    input("IN".into(), n, What::Image);
    input("WH".into(), 8 * (n / STORE), What::Where);
    input("BASE".into(), 8, What::Base);
    input("T6".into(), 4, What::Surface);
    for (k, v) in p.vars.iter().enumerate() {
        if let Home::Given(bytes) = v.home {
            let lower = if p.halves { bytes.min(HALF * v.ty.size()) } else { bytes };
            input(format!("R{k}"), lower, What::Var(k));
            if bytes > lower {
                input(format!("RH{k}"), bytes - lower, What::Upper(k));
            }
        }
    }
    for i in &t.inputs {
        writeln!(text, ".input {} offset={} size={}", i.name, i.offset, i.bytes).unwrap();
    }
    text
}

/// Puts the numbers of the channels into `SN`, from where shuffles have them.
fn channel_numbers(p: &Program) -> String {
    if !p.shuffles {
        return String::new();
    }
    let mut out = String::from("    mov (M1_NM, 8) SN(0,0)<1> 0x76543210:uv\n");
    for n in [8, 16].into_iter().filter(|n| *n < p.simd) {
        let to = element_text(p, n, 2);
        writeln!(out, "    add (M1_NM, {n}) SN{to}<1> SN(0,0)<1;1,0> 0x{n:x}:uw").unwrap();
    }
    out
}

/// Moves the variables that are apart from the image there, or back.
fn image_moves(p: &Program, back: bool) -> String {
    let mut out = String::new();
    for (k, v) in p.vars.iter().enumerate() {
        if v.home == Home::Image || (!back && v.home != Home::Apart) {
            continue;
        }
        let (to, from) = if back { ("I", "R") } else { ("R", "I") };
        match v.init.len() {
            1 => writeln!(out, "    mov (M1_NM, 1) {to}{k}(0,0)<1> {from}{k}(0,0)<0;1,0>").unwrap(),
            n if p.halves && n > HALF => {
                for (m, element) in [("M1", 0), ("M5", HALF)] {
                    let (own, first) = home_and_element(p, "R", k, element);
                    let (own, image) =
                        (own + &element_text(p, first, v.ty.size()), element_text(p, element, v.ty.size()));
                    let image = format!("I{k}{image}");
                    let (to, from) = if back { (image, own) } else { (own, image) };
                    writeln!(out, "    mov ({m}, {HALF}) {to}<1> {from}<1;1,0>").unwrap();
                }
            }
            n => {
                // Shuffles look at what channels have that are off.
                let all = if p.shuffles && !back { "M1_NM" } else { "M1" };
                writeln!(out, "    mov ({all}, {n}) {to}{k}(0,0)<1> {from}{k}(0,0)<1;1,0>").unwrap();
            }
        }
    }
    out
}

/// The text of a program.
pub fn print(p: &Program) -> Text {
    let mut t = Text {
        text: String::new(),
        image: Vec::new(),
        homes: Vec::new(),
        preds: Vec::new(),
        inputs: Vec::new(),
        first: 0,
    };
    let mut text = declare_variables(p, &mut t);
    writeln!(text, ".kernel_attr SimdSize={}\n.kernel_attr Target=\"cm\"", p.simd).unwrap();
    if p.device.named_barriers() {
        text += ".kernel_attr NBarrierCnt=2\n";
    }
    let mut printer = Printer {
        p,
        types: p.vars.iter().map(|v| v.ty).collect(),
        function: false,
        out: text,
        labels: 0,
        ends: Vec::new(),
        runs: 0,
    };
    if p.cr0 != 0 {
        // As compilers do, or plainly: the register is zero before.
        match p.cr0 {
            0x4c0 => printer.out += "    or (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x4c0:ud\n",
            bits => writeln!(printer.out, "    mov (M1_NM, 1) %cr0(0,0)<1> 0x{bits:x}:ud").unwrap(),
        }
    }
    for (k, bits) in p.preds.iter().enumerate() {
        writeln!(printer.out, "    setp (M1_NM, {}) P{} 0x{bits:x}:ud", p.simd, k + 1).unwrap();
    }
    printer.out += &image_moves(p, false);
    printer.out += &channel_numbers(p);
    printer.block(&p.body);
    printer.out += &image_moves(p, true);
    printer.out += &dump_line(p, &t);
    writeln!(printer.out, "    ret (M1, {})", p.simd).unwrap();
    for (k, s) in p.subs.iter().enumerate() {
        writeln!(printer.out, ".function \"S{k}\"\nS{k}:").unwrap();
        printer.block(s);
        writeln!(printer.out, "    ret (M1, {})", p.simd).unwrap();
    }
    for k in &p.order {
        let f = &p.functions[*k];
        printer.types = f.vars.clone();
        printer.function = true;
        let out = &mut printer.out;
        writeln!(out, ".global_function \"f{k}\"").unwrap();
        for (i, ty) in f.vars.iter().enumerate() {
            writeln!(out, ".decl R{i} v_type=G type={} num_elts={ELEMENTS} align=GRF", ty.name()).unwrap();
        }
        *out += ".decl FA v_type=G type=uq num_elts=1 align=GRF\n";
        *out += ".kernel_attr Target=\"cm\"\n.kernel_attr ArgSize=8\n.kernel_attr RetValSize=4\n";
        printer.block(&f.body);
        writeln!(printer.out, "    fret (M1, {})", p.simd).unwrap();
    }
    t.text = printer.out;
    t
}

/// `add`, `cmp.lt`.
pub fn name(op: Op) -> String {
    match op {
        Op::Cmp(r) => format!("cmp.{}", ["eq", "ne", "gt", "ge", "lt", "le"][r as usize]),
        Op::Bfn(table) => format!("bfn.x{table:x}"),
        op => format!("{op:?}").to_lowercase(),
    }
}

impl Printer<'_> {
    fn label(&mut self) -> usize {
        self.labels += 1;
        self.labels
    }

    fn exec(e: Exec) -> String {
        format!("(M{}{}, {})", e.first / 4 + 1, if e.no_mask { "_NM" } else { "" }, e.n)
    }

    fn guard(g: Option<Guard>) -> String {
        g.map_or(String::new(), |g| {
            let form = ["", ".any", ".all"][g.combine as usize];
            format!("({}P{}{form}) ", if g.invert { "!" } else { "" }, g.pred + 1)
        })
    }

    fn place(&self, place: Place, element: usize) -> String {
        let ((name, element), ty) = match place {
            Place::Own(v) => (home_and_element(self.p, "R", v, element), self.types[v]),
            Place::Dwords(v) => ((format!("D{v}"), element), T::Ud),
            Place::Arg(k) => (("%arg".to_owned(), 32 * k + element), T::Ud),
            Place::Retval => (("%retval".to_owned(), element), T::Ud),
            Place::Id(d) => (home_and_element(self.p, "L", d, element), T::Uw),
        };
        name + &element_text(self.p, element, ty.size())
    }

    fn src(&self, s: &Src) -> String {
        match *s {
            Src::Region { place, element, region: (v, w, h), modifier } => {
                let m = match modifier {
                    Mod::None => "",
                    Mod::Neg => "(-)",
                    Mod::Abs => "(abs)",
                    Mod::NegAbs => "(-abs)",
                    Mod::Not => "(~)",
                };
                format!("{m}{}<{v};{w},{h}>", self.place(place, element))
            }
            Src::Imm { ty, bits } => match ty {
                T::B | T::W | T::D => format!("{}:{}", ty.int(bits), ty.name()),
                _ => format!("0x{bits:x}:{}", ty.name()),
            },
            Src::Base => "BASE(0,0)<0;1,0>".to_owned(),
            Src::Pred(k) => format!("P{}", k + 1),
            Src::Eight { signed, bits } => format!("0x{bits:x}:{}", if signed { "v" } else { "uv" }),
        }
    }

    fn line(&mut self, text: &str) {
        self.out.push_str("    ");
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn inst(&mut self, i: &Inst) {
        let mut line = Self::guard(i.guard) + &name(i.op);
        let dst = match i.dst {
            Dst::Elements { place, element, stride, sat } => {
                line += if sat { ".sat" } else { "" };
                format!("{}<{stride}>", self.place(place, element))
            }
            Dst::Pred(k) => format!("P{}", k + 1),
        };
        line += &format!(" {} {dst}", Self::exec(i.exec));
        if let Some((v, element)) = i.second {
            line += &format!(" {}<1>", self.place(Place::Own(v), element));
        }
        for s in &i.srcs {
            line += &format!(" {}", self.src(s));
        }
        self.line(&line);
    }

    fn access(&mut self, a: &Access) {
        if self.is_split(a.exec) {
            for h in [0, HALF] {
                let exec = Exec { n: HALF, first: h, ..a.exec };
                self.message(&Access { exec, ..a.clone() }, if h == 0 { "" } else { "H" });
            }
        } else {
            self.message(a, "");
        }
    }

    /// A message of whole variables, or of the half of them with this name.
    fn message(&mut self, a: &Access, half: &str) {
        let guard = Self::guard(a.guard);
        let exec = Self::exec(a.exec);
        let (address, data) = (format!("{half}{}", a.address), format!("{half}{}", a.data));
        let line = match (self.p.device.lsc, a.how) {
            (true, how) => {
                let add = match a.offset {
                    0 => String::new(),
                    x if x < 0 => format!("-0x{:x}", -x),
                    x => format!("+0x{x:x}"),
                };
                let place = match how {
                    // A function knows no surface of the kernel's; it names the index.
                    Addressing::Surface if self.function => format!("bti(0x5)[R{address}{add}]:a32"),
                    Addressing::Surface => format!("bti(T6)[R{address}{add}]:a32"),
                    Addressing::Flat => format!("flat[R{address}{add}]:a64"),
                    Addressing::Slm => format!("flat[R{address}{add}]:a32"),
                };
                let memory = if how == Addressing::Slm { "slm" } else { "ugm" };
                match a.write {
                    true => format!("{guard}lsc_store.{memory} {exec} {place} R{data}:d32"),
                    false => format!("{guard}lsc_load.{memory} {exec} R{data}:d32 {place}"),
                }
            }
            (false, Addressing::Surface | Addressing::Slm) => {
                let verb = if a.write { "scatter_scaled" } else { "gather_scaled" };
                let surface = if a.how == Addressing::Slm { "%slm" } else { "T6" };
                format!("{guard}{verb}.4 {exec} {surface} 0x{:x}:ud R{address}.0 R{data}.0", a.offset)
            }
            (false, Addressing::Flat) => {
                let verb = if a.write { "svm_scatter" } else { "svm_gather" };
                format!("{guard}{verb}.4.1 {exec} R{address}.0 R{data}.0")
            }
        };
        self.line(&line);
    }

    /// Where each channel looks, in dwords; the same in bytes, of words; these as addresses; and the move.
    fn shuffle(&mut self, s: &Shuffle) {
        let (e, exec) = (s.exec.first, Self::exec(s.exec));
        let at = |name: &str, size: usize| format!("{name}{}", element_text(self.p, e, size));
        let (lanes, bytes) = (at("SL", 4), at("SO", 2));
        let low = format!("SW{}<16;8,2>", element_text(self.p, 2 * e, 2));
        let numbers = format!("{}<1;1,0>", at("SN", 2));
        let own = |v: usize| format!("{}<1;1,0>", self.place(Place::Own(v), e));
        let made = match s.lanes {
            Lanes::Xor(x) => format!("xor {exec} {lanes}<1> {lanes}<1;1,0> 0x{x:x}:d"),
            Lanes::Further(n) => format!("add {exec} {lanes}<1> {lanes}<1;1,0> 0x{n:x}:d"),
            Lanes::Times(n) => format!("mul {exec} {lanes}<1> {lanes}<1;1,0> 0x{n:x}:d"),
            Lanes::Own(v) => format!("mov {exec} {lanes}<1> {}", own(v)),
        };
        let to = self.place(Place::Own(s.to), e);
        for line in [
            format!("mov {exec} {lanes}<1> {numbers}"),
            made,
            format!("and {exec} {lanes}<1> {lanes}<1;1,0> 0x{:x}:d", self.p.simd - 1),
            format!("shl {exec} {bytes}<1> {low} 0x2:uw"),
            format!("addr_add {exec} SA(0)<1> &R{}[0] {bytes}<1;1,0>", s.from),
            format!(
                "{}mov {exec} {to}<1> r[SA(0),0]<1,0>:{}",
                Self::guard(s.guard),
                self.types[s.from].name()
            ),
        ] {
            self.line(&line);
        }
    }

    /// Is one of so many channels printed by halves?
    fn is_split(&self, e: Exec) -> bool {
        self.p.halves && e.n > HALF
    }

    /// The half of an instruction that begins with this channel.
    fn inst_of(&mut self, i: &Inst, first: usize) {
        let mut i = i.clone();
        i.exec = Exec { n: HALF, first, ..i.exec };
        if let Dst::Elements { element, .. } = &mut i.dst {
            *element += first;
        }
        if let Some((_, element)) = &mut i.second {
            *element += first;
        }
        for s in &mut i.srcs {
            if let Src::Region { element, region: (1.., ..), .. } = s {
                *element += first;
            }
        }
        self.inst(&i);
    }

    /// Instructions of all channels: the halves of each side by side; those of some, or of all, behind each other.
    fn halves(&mut self, all: &[&Inst]) {
        self.runs += 1;
        let together = [1, 1, 2, 3, 5, 9][self.runs % 6];
        for some in all.chunks(together) {
            for first in [0, HALF] {
                some.iter().for_each(|i| self.inst_of(i, first));
            }
        }
    }

    fn block(&mut self, stmts: &[Stmt]) {
        let mut run = Vec::new();
        for s in stmts {
            match s {
                Stmt::Inst(i) if self.is_split(i.exec) => run.push(i),
                s => {
                    self.halves(&std::mem::take(&mut run));
                    self.stmt(s);
                }
            }
        }
        self.halves(&run);
    }

    fn stmt(&mut self, s: &Stmt) {
        let simd = self.p.simd;
        let not = |invert: bool| if invert { "!" } else { "" };
        match s {
            Stmt::Inst(i) => self.inst(i),
            Stmt::Access(a) => self.access(a),
            Stmt::Shuffle(s) => self.shuffle(s),
            Stmt::If { pred, invert, then, other } => {
                let (to, end) = (self.label(), self.label());
                self.ends.push(end);
                self.line(&format!("({}P{}) goto (M1, {simd}) L{to}", not(!invert), pred + 1));
                self.block(then);
                if !other.is_empty() {
                    self.line(&format!("goto (M1, {simd}) L{end}"));
                }
                self.out += &format!("L{to}:\n");
                self.block(other);
                self.ends.pop();
                self.out += &format!("L{end}:\n");
            }
            Stmt::Loop { counter, limit, pred, body } => {
                let (top, end) = (self.label(), self.label());
                self.ends.push(end);
                let (exec, own) = (Exec { n: simd, first: 0, no_mask: false }, |v: usize| Place::Own(v));
                let src = |v: usize| Src::Region {
                    place: own(v),
                    element: 0,
                    region: (1, 1, 0),
                    modifier: Mod::None,
                };
                let number = |bits| Src::Imm { ty: T::D, bits };
                let count = Dst::Elements { place: own(*counter), element: 0, stride: 1, sat: false };
                let plain =
                    |op, dst, srcs| Stmt::Inst(Inst { op, exec, guard: None, dst, second: None, srcs });
                self.block(&[plain(Op::Mov, count, vec![number(0)])]);
                self.out += &format!("L{top}:\n");
                self.block(body);
                self.block(&[
                    plain(Op::Add, count, vec![src(*counter), number(1)]),
                    plain(Op::Cmp(4), Dst::Pred(*pred), vec![src(*counter), src(*limit)]),
                ]);
                self.line(&format!("(P{}) goto (M1, {simd}) L{top}", pred + 1));
                self.ends.pop();
                self.out += &format!("L{end}:\n");
            }
            Stmt::Leave { pred, invert, blocks } => {
                let end = self.ends[self.ends.len() - blocks];
                self.line(&format!("({}P{}) goto (M1, {simd}) L{end}", not(*invert), pred + 1));
            }
            Stmt::Call { sub, guard } => {
                self.line(&format!("{}call (M1, {simd}) S{sub}", Self::guard(*guard)));
            }
            Stmt::Barrier(kind, half) => {
                let (signal, wait) = match kind {
                    Barrier::Whole => ("barrier".to_owned(), None),
                    Barrier::Split => ("sbarrier.signal".to_owned(), Some("sbarrier.wait")),
                    Barrier::Named => {
                        let threads = self.p.threads();
                        (format!("nbarrier.signal 0x1:ub 0x{threads:x}:ub"), Some("nbarrier.wait 0x1:ub"))
                    }
                };
                if *half != Half::Wait {
                    self.line(&signal);
                }
                wait.filter(|_| *half != Half::Signal).into_iter().for_each(|wait| self.line(wait));
            }
            Stmt::Mode(cr0) => self.line(&format!("mov (M1_NM, 1) %cr0(0,0)<1> 0x{cr0:x}:ud")),
            Stmt::Fcall { function, by_address } => {
                if *by_address {
                    self.line(&format!("faddr f{function} FA(0,0)<1>"));
                    self.line(&format!("ifcall (M1, {simd}) FA(0,0)<0;1,0> 8 4"));
                } else {
                    self.line(&format!("fcall (M1, {simd}) f{function} 8 4"));
                }
            }
        }
    }
}
