//! Binary to text to binary, for generated modules of every version that the reader knows.
//!
//! Versions before 4.1 are written here, by what the reference reader does: our writer knows 4.1 and 4.2.

use envisa::binary::{ReadOptions, WriteOptions, read_with, write};
use envisa::diag::{Files, TextOptions, render_text};
use envisa::isa::desc::{Enc, SlotKind, SlotName};
use envisa::isa::{
    AttrRange, Exec, Inst, Module, Object, ObjectKind, Op, Operand, Platform, SimpleVar, StateClass, Type,
};
use envisa::text::{ParseOptions, PrintOptions, parse, print};
use envisa_smith::generate::{Options, module};

/// Little-endian bytes in the making, of a version.
struct Bytes {
    version: (u8, u8),
    out: Vec<u8>,
}

impl Bytes {
    fn new(version: (u8, u8)) -> Bytes {
        Bytes { version, out: Vec::new() }
    }

    fn uint(&mut self, n: u64, width: usize) {
        self.out.extend(&n.to_le_bytes()[..width]);
    }

    /// An index of a variable or string.
    fn id(&mut self, n: u32) {
        let width = if self.version >= (3, 4) { 4 } else { 2 };
        self.uint(n.into(), width);
    }

    /// The mask's code; 3.0 has nine, and a default for M1.
    fn mask(&self, mask: u8) -> Option<u8> {
        match (self.version, mask) {
            ((3, 0), 0) => Some(9),
            ((3, 0), 9..) => None,
            _ => Some(mask),
        }
    }

    fn exec(&mut self, e: Exec) -> Option<()> {
        let mask = self.mask(e.mask.0)?;
        self.uint((e.log2 | mask << 4).into(), 1);
        Some(())
    }

    fn operand(&mut self, kind: &SlotKind, op: Operand) -> Option<()> {
        match op {
            Operand::Exec(e) => self.exec(e)?,
            Operand::Pred(p) => self.uint(p.word().into(), 2),
            Operand::Raw { var, offset } => {
                self.id(var);
                self.uint(offset.into(), 2);
            }
            Operand::Surface(n) | Operand::Sampler(n) => self.uint(n.into(), 1),
            Operand::Label(n) => self.uint(n.into(), 2),
            Operand::General { var, row, col, region, modifier } => {
                self.uint((modifier as u64) << 3, 1);
                self.id(var);
                self.uint(row as u64 | (col as u64) << 8 | (region.0 as u64) << 16, 4);
            }
            // From 4.2 on.
            Operand::Handle { .. } => return None,
            // Registers of 32 bytes; which only ADDR_ADD has, of elements that divide the offset.
            Operand::AddressOf { .. } => return None,
            Operand::Address { id, offset, width_log2, modifier } => {
                self.uint(1 | (modifier as u64) << 3, 1);
                self.uint(id as u64 | (offset as u64) << 16 | (width_log2 as u64) << 24, 4);
            }
            Operand::Predicate(p) => self.uint(2 | (p.word() as u64) << 8, 3),
            Operand::Indirect { addr, offset, byte_offset, ty, region, modifier } => {
                self.uint(3 | (modifier as u64) << 3, 1);
                self.uint(addr as u64 | (offset as u64) << 16 | (byte_offset as u16 as u64) << 24, 5);
                self.uint(ty as u64 | (region.0 as u64) << 8, 3);
            }
            Operand::Imm { ty, bits } => {
                self.uint(5 | (ty as u64) << 8, 2);
                self.uint(bits, if matches!(ty, Type::Df | Type::Q | Type::Uq) { 8 } else { 4 });
            }
            Operand::State { class, id, offset } => {
                let class = (class == StateClass::Sampler) as u64;
                self.uint(6 | class << 8 | (id as u64) << 16 | (offset as u64) << 32, 5);
            }
            Operand::Str(n) => match kind {
                SlotKind::Str { width: 4 } => self.id(n),
                SlotKind::Str { width } => self.uint(n.into(), *width as usize),
                _ => return None,
            },
            Operand::Int(n) => match kind {
                SlotKind::Field { width, enc: Enc::ExecLike(_) } => {
                    let mask = self.mask((n >> 4) as u8)?;
                    self.uint((n & 15 | (mask as u32) << 4).into(), *width as usize);
                }
                SlotKind::Field { width, .. }
                | SlotKind::Packed { width, .. }
                | SlotKind::Count { width, .. } => self.uint(n.into(), *width as usize),
                // Absent.
                _ => {}
            },
        }
        Some(())
    }

    /// `None`: this version cannot say it.
    fn inst(&mut self, o: &Object, inst: &Inst) -> Option<()> {
        let d = inst.desc();
        let v = self.version;
        let ops = o.ops(inst);
        self.uint(d.opcode.into(), 1);
        let sampler = matches!(d.opcode, 0x6d..=0x6f) && v < (4, 0);
        if let Some(sub) = d.sub {
            let flags = if sampler { ops[0].int()? } else { 0 };
            if sampler && (flags > 7 || sub > 31) {
                return None;
            }
            self.uint(sub as u64 | (flags as u64) << 5, 1);
        }
        if matches!(d.opcode, 0x4b | 0x4c) && v < (3, 2) {
            let of = |name: SlotName| d.slots.iter().position(|s| s.name == name).map(|i| ops[i]);
            let [Operand::Exec(e), Operand::Pred(p)] = ops[..2] else { return None };
            if e.log2 != 3 || p.id != 0 || of(SlotName::Lod) != Some(Operand::RAW_NULL) {
                return None;
            }
            let channels = d.slots.iter().zip(ops).find_map(|(s, o)| match s.kind {
                SlotKind::Field { enc: Enc::Channels, .. } => o.int(),
                _ => None,
            })?;
            self.uint((!channels as u8).into(), 1);
            self.exec(Exec { log2: 0, mask: e.mask })?;
            for (slot, op) in d.slots.iter().zip(ops).skip(2) {
                let channels = matches!(slot.kind, SlotKind::Field { enc: Enc::Channels, .. });
                if !channels && slot.name != SlotName::Lod {
                    self.operand(&slot.kind, *op)?;
                }
            }
            return Some(());
        }
        for (i, op) in ops.iter().enumerate() {
            let slot = &d.slots[i.min(d.slots.len() - 1)];
            if !slot.is_in(v) {
                continue;
            }
            let kind = match &slot.kind {
                SlotKind::If { kind, .. } if *op != Operand::Int(0) => kind,
                SlotKind::Many(kind) => kind,
                kind => kind,
            };
            match (d.opcode, kind) {
                (0x5b, _) if v < (3, 1) => {
                    (*op == Operand::Imm { ty: Type::Uw, bits: 0 }).then_some(())?;
                }
                (0x7a, _) if slot.name == SlotName::Ffid && v <= (3, 5) => {
                    (*op == Operand::Int(0)).then_some(())?
                }
                (0x7b, SlotKind::Field { width: 4, .. }) => self.id(op.int()?),
                (0x6d..=0x6f, SlotKind::Packed { .. }) if sampler && i == 0 => {}
                (0x6d..=0x6f, SlotKind::Vector(_)) if v < (3, 4) => match *op {
                    Operand::Imm { ty: Type::Uw, bits } => self.uint(bits, 2),
                    _ => return None,
                },
                _ => self.operand(kind, *op)?,
            }
        }
        Some(())
    }

    fn attrs(&mut self, o: &Object, range: AttrRange) {
        self.uint(range.len.into(), 1);
        for a in &o.var_attrs[range.start as usize..][..range.len as usize] {
            self.id(a.name);
            self.uint(a.value.len() as u64, 1);
            self.out.extend(&a.value);
        }
    }

    fn simple(&mut self, o: &Object, vars: &[SimpleVar], width: usize) {
        self.uint(vars.len() as u64, width);
        for v in vars {
            self.id(v.name);
            self.uint(v.elems.into(), 2);
            self.attrs(o, v.attrs);
        }
    }

    fn object(&mut self, o: &Object) -> Option<()> {
        self.id(o.strings.len() as u32);
        for s in o.strings.iter() {
            self.out.extend(s.as_bytes());
            self.out.push(0);
        }
        self.id(0);
        self.id(o.vars.len() as u32);
        for v in &o.vars {
            self.id(v.name);
            self.uint(v.ty as u64 | (v.align as u64) << 4, 1);
            self.uint(v.elems.into(), 2);
            self.id(v.alias);
            self.uint(v.alias_offset.into(), 2);
            self.uint(0, 1);
            self.attrs(o, v.attrs);
        }
        self.simple(o, &o.addresses, 2);
        self.simple(o, &o.predicates, 2);
        self.uint(o.labels.len() as u64, 2);
        for l in &o.labels {
            self.id(l.name);
            self.uint(l.kind as u64, 2);
        }
        self.simple(o, &o.samplers, 1);
        self.simple(o, &o.surfaces, 1);
        self.uint(0, 1);
        if o.kind == ObjectKind::Kernel {
            let width = if self.version >= (3, 5) { 4 } else { 1 };
            self.uint(o.inputs.len() as u64, width);
            for i in &o.inputs {
                self.uint(i.kind.into(), 1);
                self.id(i.id);
                self.uint(i.offset as u16 as u64 | (i.size as u64) << 16, 4);
            }
        }
        let mut code = Bytes::new(self.version);
        for inst in &o.insts {
            code.inst(o, inst)?;
        }
        self.uint(code.out.len() as u64, 4);
        let mut tail = Bytes::new(self.version);
        if o.kind == ObjectKind::Function {
            tail.uint(o.function_sizes.0.into(), 1);
            tail.uint(o.function_sizes.1.into(), 1);
        }
        tail.uint(o.attrs.len() as u64, 2);
        for a in &o.attrs {
            tail.id(a.name);
            tail.uint(a.value.len() as u64, 1);
            tail.out.extend(&a.value);
        }
        self.uint((self.out.len() + 4 + tail.out.len()) as u64, 4);
        self.out.extend(tail.out);
        self.out.extend(code.out);
        Some(())
    }
}

/// The file of a module in an older version.
fn old_file(m: &Module) -> Option<Vec<u8>> {
    let objects: Vec<Vec<u8>> = m
        .objects
        .iter()
        .map(|o| {
            let mut b = Bytes::new(m.version);
            b.object(o)?;
            Some(b.out)
        })
        .collect::<Option<_>>()?;
    let name_width = if m.version >= (3, 7) { 2 } else { 1 };
    // The header twice: its size is known after the first time.
    let mut size = 0;
    for _ in 0..2 {
        let mut b = Bytes::new(m.version);
        b.out.extend(b"CISA");
        b.out.extend([m.version.0, m.version.1]);
        let of = |kind| m.objects.iter().enumerate().filter(move |(_, o)| o.kind == kind);
        let at = |i: usize| size + objects[..i].iter().map(Vec::len).sum::<usize>();
        b.uint(of(ObjectKind::Kernel).count() as u64, 2);
        for (i, o) in of(ObjectKind::Kernel) {
            b.uint(o.name.len() as u64, name_width);
            b.out.extend(o.name.as_bytes());
            b.uint(at(i) as u64, 4);
            b.uint(objects[i].len() as u64, 4);
            // Where the inputs are; nobody looks before 4.0.
            b.uint(0, 4);
            b.uint(0, 4);
            b.uint(0, 1);
        }
        b.uint(0, 2);
        b.uint(of(ObjectKind::Function).count() as u64, 2);
        for (i, o) in of(ObjectKind::Function) {
            b.uint(0, 1);
            b.uint(o.name.len() as u64, name_width);
            b.out.extend(o.name.as_bytes());
            b.uint(at(i) as u64, 4);
            b.uint(objects[i].len() as u64, 4);
            b.uint(0, 4);
        }
        if b.out.len() == size {
            b.out.extend(objects.concat());
            return Some(b.out);
        }
        size = b.out.len();
    }
    None
}

/// Leaves out what an older version cannot say; gives how many instructions that were.
fn leave_out(m: &mut Module) -> usize {
    let version = m.version;
    let mut left = 0;
    for o in &mut m.objects {
        let all = std::mem::take(&mut o.insts);
        let (keep, out) = all.into_iter().partition(|i| Bytes::new(version).inst(o, i).is_some());
        let out: Vec<Inst> = out;
        o.insts = keep;
        left += out.len();
    }
    left
}

fn generated(seed: u64, version: (u8, u8)) -> Module {
    let of = if version < (4, 2) { (4, 1) } else { version };
    let functions = seed as usize % 2;
    let mut m =
        module(seed, &Options { version: of, insts: 60, functions, kernels: 2, ..Options::default() });
    m.version = version;
    m
}

/// To text and back: the module as it was, though of a version that text has.
fn through_text(m: &Module, what: &str) -> Module {
    let text = print(m, &PrintOptions::default()).unwrap_or_else(|e| panic!("{what}: {e}"));
    let mut files = Files::new();
    let file = files.add_text(what, text.as_str());
    let r = parse(&text, file, &ParseOptions::default());
    assert!(r.complete, "{}", render_text(&files, &r.diagnostics, &TextOptions::default()));
    r.module
}

#[test]
fn current_versions() {
    for version in [(4, 1), (4, 2)] {
        for seed in 0..40 {
            let what = format!("{version:?}, seed {seed}");
            let bytes =
                write(&generated(seed, version), &WriteOptions::default()).expect("it can be written");
            let m = read_with(&bytes, &ReadOptions::for_platform(Platform::Skl))
                .unwrap_or_else(|e| panic!("{what}: {e}"));
            let again = through_text(&m, &what);
            assert_eq!(write(&again, &WriteOptions::default()).expect("it can be written"), bytes, "{what}");
        }
    }
}

#[test]
fn older_versions() {
    let versions = [(3, 0), (3, 1), (3, 2), (3, 3), (3, 4), (3, 5), (3, 6), (3, 7)];
    for version in versions {
        let mut kept = std::collections::BTreeSet::new();
        for seed in 0..30 {
            let what = format!("{version:?}, seed {seed}");
            let mut m = generated(seed, version);
            let all = m.objects.iter().map(|o| o.insts.len()).sum::<usize>();
            let out = leave_out(&mut m);
            assert!(out * 3 < all, "{what}: {out} of {all} instructions left out");
            kept.extend(m.objects.iter().flat_map(|o| o.insts.iter().map(|i| i.op)));
            let bytes = old_file(&m).expect("what it cannot say is left out");
            let read_back = read_with(&bytes, &ReadOptions::for_platform(Platform::Skl))
                .unwrap_or_else(|e| panic!("{what}: {e}"));
            assert_eq!(m.first_difference(&read_back), None, "{what}");
            // What is written next is of 4.1, and means the same.
            let whole = write(&read_back, &WriteOptions::default()).expect("it can be written");
            let again = through_text(&read_back, &what);
            assert_eq!(write(&again, &WriteOptions::default()).expect("it can be written"), whole, "{what}");
        }
        let rows = Op::ALL.iter().filter(|op| op.desc().versions.contains((4, 1))).count();
        assert!(kept.len() * 10 > rows * 9, "{version:?}: {} of {rows} instructions", kept.len());
    }
    // 4.0 has the layout of 4.1.
    for seed in 0..10 {
        let mut m = generated(seed, (4, 1));
        let mut bytes = write(&m, &WriteOptions::default()).expect("it can be written");
        bytes[5] = 0;
        m.version = (4, 0);
        let again = read_with(&bytes, &ReadOptions::for_platform(Platform::Skl)).expect("it can be read");
        assert_eq!(m.first_difference(&again), None, "seed {seed}");
    }
}
