//! Functions of the math unit: the sequences of `envisa-sem`, each operation one instruction.

use envisa_sem::lanes::{Apply, Lanes as Sequence, Rounded};
use envisa_sem::lanes::{not_normal_by_integers, scale_by_products, split_by_bounds};
use envisa_sem::math::Function;
use envisa_sem::math::single::exp2_integral;

use super::*;
use crate::fast_maps::Map;

/// An operation of a sequence; operands by number.
#[derive(Clone, Copy, Debug)]
enum Node {
    Input(u8),
    Bits(u32),
    Two {
        op: crate::vector_encodings::Op,
        a: usize,
        b: usize,
        commutes: bool,
    },
    One {
        op: crate::vector_encodings::Op,
        a: usize,
    },
    /// `213` and `231` forms.
    Fma {
        ops: (crate::vector_encodings::Op, crate::vector_encodings::Op),
        a: usize,
        b: usize,
        c: usize,
    },
    Shift {
        op: crate::vector_encodings::Op,
        a: usize,
        by: u32,
    },
    /// Made of one by an immediate.
    Round {
        op: crate::vector_encodings::Op,
        a: usize,
    },
    /// Is it of one of these classes?
    Class {
        a: usize,
        classes: u32,
    },
    Compare {
        op: crate::vector_encodings::Op,
        a: usize,
        b: usize,
        how: u32,
    },
    Masks {
        code: Code,
        a: usize,
        b: usize,
    },
    Select {
        m: usize,
        a: usize,
        b: usize,
    },
    Table {
        table: usize,
        index: usize,
    },
    Copy {
        a: usize,
    },
    /// The block, which is put aside, is come to if some lane is in one of the masks.
    Skip {
        m: usize,
        other: usize,
    },
    /// `to = m ? from : to`.
    Assign {
        to: usize,
        m: usize,
        from: usize,
    },
    /// The end of the innermost block.
    End,
}

impl Node {
    fn operands(&self, tell: &mut dyn FnMut(usize)) {
        match *self {
            Node::Input(_) | Node::Bits(_) | Node::End => {}
            Node::Two { a, b, .. } | Node::Compare { a, b, .. } | Node::Masks { a, b, .. } => {
                tell(a);
                tell(b);
            }
            Node::One { a, .. }
            | Node::Shift { a, .. }
            | Node::Round { a, .. }
            | Node::Class { a, .. }
            | Node::Copy { a } => tell(a),
            Node::Fma { a, b, c, .. } => {
                tell(a);
                tell(b);
                tell(c);
            }
            Node::Select { m, a, b } => {
                tell(m);
                tell(a);
                tell(b);
            }
            Node::Table { index, .. } => tell(index),
            Node::Skip { m, other } => {
                tell(m);
                tell(other);
            }
            Node::Assign { to, m, from } => {
                tell(to);
                tell(m);
                tell(from);
            }
        }
    }

    fn is_mask(&self) -> bool {
        matches!(self, Node::Compare { .. } | Node::Class { .. } | Node::Masks { .. })
    }

    /// Operands whose register the result may have, if they are wanted no more: the best first.
    fn heirs(&self) -> [Option<usize>; 3] {
        match *self {
            Node::Fma { a, b, c, .. } => [Some(c), Some(a), Some(b)],
            Node::Copy { a } => [Some(a), None, None],
            _ => [None; 3],
        }
    }

    fn has_register(&self) -> bool {
        !matches!(self, Node::Input(_) | Node::Bits(_) | Node::Skip { .. } | Node::Assign { .. } | Node::End)
    }
}

/// Writes a sequence down.
#[derive(Default)]
struct Record {
    /// There are no instructions that scale, tell classes, and take integers away.
    plain: bool,
    nodes: Vec<Node>,
    bits: Map<u32, usize>,
    tables: Vec<[u32; 16]>,
}

impl Record {
    fn add(&mut self, n: Node) -> usize {
        self.nodes.push(n);
        self.nodes.len() - 1
    }
}

macro_rules! two {
    ($($name:ident $op:ident $commutes:literal;)*) => {$(
        fn $name(&mut self, a: usize, b: usize) -> usize {
            self.add(Node::Two { op: $op, a, b, commutes: $commutes })
        }
    )*};
}

macro_rules! compares {
    ($($name:ident $op:ident $how:literal;)*) => {$(
        fn $name(&mut self, a: usize, b: usize) -> usize {
            self.add(Node::Compare { op: $op, a, b, how: $how })
        }
    )*};
}

macro_rules! fused {
    ($($name:ident $by213:ident $by231:ident;)*) => {$(
        fn $name(&mut self, a: usize, b: usize, c: usize) -> usize {
            self.add(Node::Fma { ops: ($by213, $by231), a, b, c })
        }
    )*};
}

impl Sequence for Record {
    type V = usize;
    type M = usize;

    fn bits(&mut self, bits: u32) -> usize {
        if let Some(k) = self.bits.get(&bits) {
            return *k;
        }
        let k = self.add(Node::Bits(bits));
        self.bits.insert(bits, k);
        k
    }

    two! {
        add VADDPS true;
        sub VSUBPS false;
        mul VMULPS true;
        div VDIVPS false;
        min VMINPS false;
        max VMAXPS false;
        and VPANDD true;
        or VPORD true;
        xor VPXORD true;
        iadd VPADDD true;
        isub VPSUBD false;
    }
    fused! {
        fma VFMADD213PS VFMADD231PS;
        fnma VFNMADD213PS VFNMADD231PS;
        fms VFMSUB213PS VFMSUB231PS;
    }
    compares! {
        lt VCMPPS 0x11;
        eq VCMPPS 0;
        unordered VCMPPS 3;
        ilt VPCMPD 1;
        ieq VPCMPD 0;
        ult VPCMPUD 1;
    }

    fn rint(&mut self, a: usize) -> usize {
        self.add(Node::Round { op: VRNDSCALEPS, a })
    }
    fn not_normal(&mut self, a: usize) -> usize {
        if self.plain {
            return not_normal_by_integers(self, a);
        }
        self.add(Node::Class { a, classes: 0xff })
    }
    fn split(&mut self, a: usize) -> (usize, Rounded<usize>) {
        if self.plain {
            return split_by_bounds(self, a);
        }
        // As `envisa_sem::lanes::x86::Avx512` does it: what scales reads the single.
        let rest = self.add(Node::Round { op: VREDUCEPS, a });
        let n = self.sub(a, rest);
        (rest, Rounded { float: n, bits: n })
    }
    fn int_to_float(&mut self, a: usize) -> usize {
        self.add(Node::One { op: VCVTDQ2PS, a })
    }
    fn shl(&mut self, a: usize, by: u32) -> usize {
        self.add(Node::Shift { op: VPSLLD, a, by })
    }
    fn shr(&mut self, a: usize, by: u32) -> usize {
        self.add(Node::Shift { op: VPSRLD, a, by })
    }
    fn sar(&mut self, a: usize, by: u32) -> usize {
        self.add(Node::Shift { op: VPSRAD, a, by })
    }
    fn both(&mut self, a: usize, b: usize) -> usize {
        self.add(Node::Masks { code: Code::VEX_Kandw_kr_kr_kr, a, b })
    }
    fn either(&mut self, a: usize, b: usize) -> usize {
        self.add(Node::Masks { code: Code::VEX_Korw_kr_kr_kr, a, b })
    }
    fn select(&mut self, m: usize, a: usize, b: usize) -> usize {
        self.add(Node::Select { m, a, b })
    }
    fn table(&mut self, table: &[u32; 16], index: usize) -> usize {
        let k = match self.tables.iter().position(|t| t == table) {
            Some(k) => k,
            None => {
                self.tables.push(*table);
                self.tables.len() - 1
            }
        };
        self.add(Node::Table { table: k, index })
    }
    fn scale(&mut self, a: usize, n: Rounded<usize>) -> usize {
        if self.plain {
            return scale_by_products(self, a, n);
        }
        self.add(Node::Two { op: VSCALEFPS, a, b: n.float, commutes: false })
    }
    fn power_of_two(&mut self, a: usize) -> usize {
        let one = self.float(1.0);
        if self.plain {
            let (rest, n) = self.split(a);
            let one = Sequence::add(self, rest, one);
            return self.scale(one, n);
        }
        self.add(Node::Two { op: VSCALEFPS, a: one, b: a, commutes: false })
    }
    fn rarely<const N: usize>(
        &mut self,
        m: usize,
        usual: [usize; N],
        f: impl FnOnce(&mut Self) -> [usize; N],
    ) -> [usize; N] {
        let out = usual.map(|a| self.add(Node::Copy { a }));
        self.add(Node::Skip { m, other: m });
        let other = f(self);
        for (to, from) in out.into_iter().zip(other) {
            self.add(Node::Assign { to, m, from });
        }
        self.add(Node::End);
        out
    }
}

/// The function that an instruction is.
fn function(op: Op) -> Option<Function> {
    Some(match op {
        Op::Inv => Function::Inv,
        Op::Rsqrt => Function::Rsqrt,
        Op::Exp => Function::Exp,
        Op::Log => Function::Log,
        Op::Pow => Function::Pow,
        Op::Sin => Function::Sin,
        Op::Cos => Function::Cos,
        Op::Tanh => Function::Tanh,
        Op::Sigm => Function::Sigm,
        _ => return None,
    })
}

/// How far before an instruction it is looked for who rounds its source.
const FAR: Pc = 32;

/// Has an instruction of its own just rounded the first source to integral singles? So compilers make e^x, of powers of
/// two.
fn is_source_integral(p: &Program, flow: &Flow, cells: &Cells, pc: Pc) -> bool {
    let i = &p.code()[pc as usize];
    let Src::Reg { offset, ty: Type::F, shape: Shape::Contiguous, constant: false, .. } = i.src[0] else {
        return false;
    };
    let end = offset + 4 * u32::from(i.channels);
    let all: Option<Vec<CellId>> = (offset..end).step_by(4).map(|at| cells.at(at)).collect();
    let Some(all) = all else { return false };
    let ends = crate::deferred::block_ends(p, flow);
    for before in (pc.saturating_sub(FAR)..pc).rev() {
        if ends[before as usize] != ends[pc as usize] {
            return false;
        }
        let mut written = false;
        cells.accesses(p.parts(), before, &mut |a| written |= a.write && all.contains(&a.cell));
        if written {
            let by = &p.code()[before as usize];
            return matches!(by.op, Op::Rndd | Op::Rndu | Op::Rnde | Op::Rndz)
                && matches!(by.dst, Dst::Reg { offset: to, ty: Type::F, stride: 1, sat: false } if to == offset)
                && (by.exec, by.channels, by.first) == (ExecType::F32, i.channels, i.first)
                && by.pred.offset == 0
                && (by.no_mask || !i.no_mask);
        }
    }
    false
}

/// Where the values of a sequence are.
struct Places {
    /// By node: its register, of vectors or masks.
    of: Vec<Option<u8>>,
}

/// Gives nodes, which are made in an order, registers; `None` where there are too few.
fn place_nodes(
    nodes: &[Node],
    order: &[usize],
    results: &[usize],
    vectors: &[V],
    masks: &[K],
) -> Option<Places> {
    // By node: when it is read last.
    let mut last = vec![0; nodes.len()];
    for (at, k) in order.iter().enumerate() {
        nodes[*k].operands(&mut |o| last[o] = at);
    }
    results.iter().for_each(|r| last[*r] = order.len());
    let mut of = vec![None; nodes.len()];
    let (mut vectors, mut masks) = (vectors.to_vec(), masks.to_vec());
    for (at, k) in order.iter().enumerate() {
        let (k, n) = (*k, &nodes[*k]);
        let mut dead = Vec::new();
        n.operands(&mut |o| {
            if last[o] == at && !dead.contains(&o) {
                dead.push(o);
            }
        });
        let heir = n.heirs().into_iter().flatten().find(|o| dead.contains(o) && nodes[*o].has_register());
        if let Some(o) = heir {
            of[k] = of[o];
            dead.retain(|d| *d != o);
        } else if n.has_register() {
            let pool = if n.is_mask() { &mut masks } else { &mut vectors };
            of[k] = Some(pool.pop()?);
        }
        // What nobody reads is free at once.
        if n.has_register() && last[k] <= at {
            dead.push(k);
        }
        for o in dead {
            if let Some(r) = of[o].filter(|_| nodes[o].has_register()) {
                if nodes[o].is_mask() { masks.push(r) } else { vectors.push(r) }
            }
        }
    }
    Some(Places { of })
}

/// Two sequences, each of which ends in a block for what is rare, one beside the other, with one look at whether there is
/// any for either of them: the order that nodes are made in. `second`: where the second one begins.
fn interleave_sequences(nodes: &mut [Node], second: usize) -> Option<Vec<usize>> {
    let skip = |range: std::ops::Range<usize>| {
        let at = nodes[range.clone()].iter().position(|n| matches!(n, Node::Skip { .. }))? + range.start;
        let rest = &nodes[at + 1..range.end];
        let once = !rest.iter().any(|n| matches!(n, Node::Skip { .. }));
        (once && matches!(rest.last(), Some(Node::End))).then_some(at)
    };
    let (a, b) = (skip(0..second)?, skip(second..nodes.len())?);
    let (Node::Skip { m, .. }, Node::Skip { m: other, .. }) = (nodes[a], nodes[b]) else { return None };
    nodes[a] = Node::Skip { m, other };
    let usual = (0..a).chain(second..b);
    Some(usual.chain([a]).chain(a + 1..second - 1).chain(b + 1..nodes.len()).collect())
}

impl Emit<'_> {
    /// A function of the math unit in single precision.
    pub(super) fn math(&mut self, pc: Pc, i: &Inst, part: &Part, lanes: Lanes) -> Result<V, Unsupported> {
        let f = function(i.op).ok_or("an operation of singles")?;
        let x = self.source(i, 0, part, 1)?;
        let x = self.in_register(x, part, 1);
        let y = if f.is_binary() {
            let y = self.source(i, 1, part, 2)?;
            self.in_register(y, part, 2)
        } else {
            x
        };
        let mut r = Record { plain: self.level == Level::Avx2, ..Record::default() };
        let (a, b) = (r.add(Node::Input(x)), r.add(Node::Input(y)));
        let result = if f == Function::Exp && is_source_integral(self.p, self.flow, self.cells, pc) {
            exp2_integral(&mut r, a)
        } else {
            f.apply(&mut r, a, b)
        };
        let order: Vec<usize> = (0..r.nodes.len()).collect();
        // Registers 3 and 4 are for constants that have to be in one.
        let mut vectors: Vec<V> = (5..32).filter(|v| !self.alloc.busy(pc, *v)).collect();
        let taken: Vec<V> = (8..32).filter(|v| !vectors.contains(v) && *v != x && *v != y).collect();
        vectors.retain(|v| *v != x && *v != y);
        let used = match lanes {
            Lanes::Of(k) | Lanes::Zero(k) => k,
            Lanes::All => 0,
        };
        let free = |k: &K| *k != used && Some(*k) != self.held;
        let masks: Vec<K> = [3, 4, 5, 6, 7].into_iter().filter(free).collect();
        // Registers of cells are lent where there are too few.
        let mut lent = 0;
        let places = loop {
            let mut all: Vec<V> = taken[..lent].to_vec();
            all.extend(&vectors);
            match place_nodes(&r.nodes, &order, &[result], &all, &masks) {
                Some(p) => break p,
                None if lent < taken.len() => lent += 1,
                None => return Err("too many intermediate values"),
            }
        };
        let kept: Vec<V> = taken[..lent].to_vec();
        for v in &kept {
            self.a.store(STORE32, Width::Z, Mem::at(CTX, at::VECTORS + 64 * u32::from(*v)), *v, Lanes::All);
        }
        self.sequence(&r, &order, &places, part)?;
        let v = self.node(&r, &places, result, 0);
        let mut v = self.in_register(v, part, 0);
        if kept.contains(&v) {
            self.copy_reg(0, v, part.width);
            v = 0;
        }
        for v in &kept {
            let m = Mem::at(CTX, at::VECTORS + 64 * u32::from(*v));
            self.a.v2(VMOVDQU32, Width::Z, *v, Opd::Mem(m), Lanes::All);
        }
        Ok(v)
    }

    /// The same of both halves of a vector at once, the results in these registers, where that spares something: `false`,
    /// and nothing done, if it does not.
    pub(super) fn math_of_both(
        &mut self,
        pc: Pc,
        i: &Inst,
        parts: &[Part],
        to: [V; 2],
    ) -> Result<bool, Unsupported> {
        let Some(f) = function(i.op).filter(|f| !f.is_binary()) else { return Ok(false) };
        let mut x = [0; 2];
        for (x, (part, temporary)) in x.iter_mut().zip(parts.iter().zip([1, 2])) {
            let s = self.source(i, 0, part, temporary)?;
            *x = self.in_register(s, part, temporary);
        }
        let mut r = Record { plain: self.level == Level::Avx2, ..Record::default() };
        let a = r.add(Node::Input(x[0]));
        let first = f.apply(&mut r, a, a);
        let second = r.nodes.len();
        let b = r.add(Node::Input(x[1]));
        let results = [first, f.apply(&mut r, b, b)];
        let Some(order) = interleave_sequences(&mut r.nodes, second) else { return Ok(false) };
        // What the results will be in has nothing yet, if it has no source.
        let free = |v: &V| (!self.alloc.busy(pc, *v) || to.contains(v)) && !x.contains(v);
        let vectors: Vec<V> = (5..32).filter(free).collect();
        let masks: Vec<K> = [3, 4, 5, 6, 7].into_iter().filter(|k| Some(*k) != self.held).collect();
        let Some(places) = place_nodes(&r.nodes, &order, &results, &vectors, &masks) else {
            return Ok(false);
        };
        self.sequence(&r, &order, &places, &parts[0])?;
        let w = parts[0].width;
        let [Some(first), Some(mut second)] = results.map(|k| places.of[k]) else { return Ok(false) };
        if second == to[0] {
            self.copy_reg(0, second, w);
            second = 0;
        }
        self.copy_reg(to[0], first, w);
        self.copy_reg(to[1], second, w);
        Ok(true)
    }

    /// A value as an operand.
    fn node(&mut self, r: &Record, p: &Places, k: usize, _: V) -> Opd {
        match r.nodes[k] {
            Node::Input(v) => Opd::Reg(v),
            Node::Bits(bits) => Opd::Bcast(self.literal(bits)),
            _ => Opd::Reg(p.of[k].unwrap_or(0)),
        }
    }

    fn sequence(&mut self, r: &Record, order: &[usize], p: &Places, part: &Part) -> Result<(), Unsupported> {
        let w = part.width;
        let mut ends = Vec::new();
        for (k, n) in order.iter().map(|k| (*k, &r.nodes[*k])) {
            let to = p.of[k].unwrap_or(0);
            let mask = |m: usize| p.of[m].unwrap_or(0);
            match *n {
                Node::Input(_) | Node::Bits(_) => {}
                Node::Two { op, a, b, commutes } => {
                    let (a, b) = (self.node(r, p, a, 3), self.node(r, p, b, 4));
                    let (a, b) = if commutes && !matches!(a, Opd::Reg(_)) { (b, a) } else { (a, b) };
                    let a = self.in_register(a, part, 3);
                    self.a.v3(op, w, to, a, b, Lanes::All);
                }
                Node::One { op, a } => {
                    let a = self.node(r, p, a, 3);
                    self.a.v2(op, w, to, a, Lanes::All);
                }
                Node::Fma { ops, a, b, c } => {
                    self.fma(r, p, part, to, (ops, [a, b, c]));
                }
                Node::Shift { op, a, by } => {
                    let a = self.node(r, p, a, 3);
                    self.a.v2i(op, w, to, a, by, Lanes::All);
                }
                Node::Round { op, a } => {
                    let a = self.node(r, p, a, 3);
                    // To nearest even.
                    self.a.v2i(op, w, to, a, 8, Lanes::All);
                }
                Node::Class { a, classes } => {
                    let a = self.node(r, p, a, 3);
                    self.a.vclass(VFPCLASSPS, w, to, a, classes);
                }
                Node::Compare { op, a, b, how } => {
                    let (a, b) = (self.node(r, p, a, 3), self.node(r, p, b, 4));
                    // A constant comes second: not at most the second is more than it.
                    let turned = op == VPCMPD && how == 1 && !matches!(a, Opd::Reg(_));
                    let (a, b, how) = if turned { (b, a, 6) } else { (a, b, how) };
                    let a = self.in_register(a, part, 3);
                    self.a.vcmp(op, w, to, a, b, how, None);
                }
                Node::Masks { code, a, b } => self.a.kkk(code, to, mask(a), mask(b)),
                Node::Select { m, a, b } => {
                    let (a, b) = (self.node(r, p, a, 3), self.node(r, p, b, 4));
                    let b = self.in_register(b, part, 4);
                    self.a.v3(VPBLENDMD, w, to, b, a, Lanes::Of(mask(m)));
                }
                Node::Table { table, index } => {
                    let t = self.literals(r.tables[table]);
                    let index = self.node(r, p, index, 3);
                    let index = self.in_register(index, part, 3);
                    self.a.v3(VPERMD, Width::Z, to, index, Opd::Mem(t), Lanes::All);
                }
                Node::Copy { a } => {
                    let a = self.node(r, p, a, 3);
                    let a = self.in_register(a, part, 3);
                    self.copy_reg(to, a, w);
                }
                Node::Skip { m, other } => {
                    let l = self.a.label();
                    let [k, other] = [m, other].map(|m| mask_register(mask(m)));
                    if part.lanes == 16 {
                        self.a.rr(Code::VEX_Kortestw_kr_kr, k, other);
                    } else {
                        self.a.rr(Code::VEX_Kortestb_kr_kr, k, other);
                    }
                    let some = self.a.label();
                    self.a.jump(Code::Jne_rel32_64, some);
                    ends.push((l, self.a.begin_slow_path(self.now)));
                    self.a.bind(some);
                }
                Node::Assign { to, m, from } => {
                    let from = self.node(r, p, from, 3);
                    let from = self.in_register(from, part, 3);
                    let to = p.of[to].ok_or("a value without a place")?;
                    self.a.v2(VMOVDQU32, w, to, Opd::Reg(from), Lanes::Of(mask(m)));
                }
                Node::End => {
                    let (l, at) = ends.pop().ok_or("a block without a start")?;
                    self.a.jmp(l);
                    self.a.in_line(at);
                    self.a.bind(l);
                }
            }
        }
        Ok(())
    }

    /// `a * b + c`, in the form that copies least.
    fn fma(
        &mut self,
        r: &Record,
        p: &Places,
        part: &Part,
        to: V,
        (ops, [a, b, c]): ((crate::vector_encodings::Op, crate::vector_encodings::Op), [usize; 3]),
    ) {
        let w = part.width;
        let (oa, ob, oc) = (self.node(r, p, a, 3), self.node(r, p, b, 4), self.node(r, p, c, 3));
        // A factor that the result replaces comes first, then one in a register.
        let swap = ob == Opd::Reg(to) || (oa != Opd::Reg(to) && !matches!(oa, Opd::Reg(_)));
        let (oa, ob) = if swap { (ob, oa) } else { (oa, ob) };
        // Of two constants that which is a factor is loaded to where the result will be.
        if let (Opd::Reg(a), Opd::Bcast(b), Opd::Bcast(_)) = (oa, ob, oc)
            && a != to
        {
            self.a.v2(VPBROADCASTD, w, to, Opd::Mem(b), Lanes::All);
            self.a.v3(ops.0, w, to, a, oc, Lanes::All);
            return;
        }
        let oa = self.in_register(oa, part, 3);
        match oc {
            Opd::Reg(c) if c == to || oa != to => {
                self.copy_reg(to, c, w);
                self.a.v3(ops.1, w, to, oa, ob, Lanes::All);
            }
            oc => {
                self.copy_reg(to, oa, w);
                let ob = self.in_register(ob, part, 4);
                self.a.v3(ops.0, w, to, ob, oc, Lanes::All);
            }
        }
    }
}
