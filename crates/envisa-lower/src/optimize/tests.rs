//! Small programs, built by hand.

use envisa_isa::Type;

use super::*;
use crate::{Block, Extend, Message, Simt, Space};

mod certain_numbers;
mod element_picks;
mod interleave;
mod scalar_copies;
mod split_channels;
mod wide_indices;

/// Registers: constants below 64, locals from 128 on.
fn program(code: Vec<Inst>, messages: Vec<Message>) -> ProgramParts {
    let constants: Vec<u8> = [[0u64; 2].as_slice(), &[2, 16, 0, 0, 0, 0]]
        .concat()
        .iter()
        .flat_map(|x: &u64| x.to_le_bytes())
        .collect();
    let end = code.len() as Pc;
    let registers = Registers {
        bytes: 8192,
        constants,
        locals_start: LOCALS,
        address_base: 64,
        address_homes: vec![(0, 64)],
        ..Registers::default()
    };
    let parts = ProgramParts { name: "k".into(), registers, messages, ..ProgramParts::default() };
    let mut p = parts.with_code(code);
    crate::flow::analyse_divergence(&mut p.code, &p.tables, 0, end, 32);
    p
}

const LOCALS: u32 = 256;
/// An input of 8 bytes.
const BASE: u32 = 128;
/// Predicate.
const P1: u32 = 192;
/// The constants 2 and 16, as quadwords.
const TWO: u32 = 16;
const SIXTEEN: u32 = 24;

/// Variable `i` of 256 bytes.
const fn v(i: u32) -> u32 {
    LOCALS + 256 * i
}

fn vector(offset: u32, ty: Type) -> Src {
    Src::Reg {
        offset,
        ty,
        strides: Strides::CONTIGUOUS,
        shape: Shape::Contiguous,
        modifier: Modifier::None,
        constant: false,
    }
}

fn scalar(offset: u32, ty: Type) -> Src {
    Src::Reg {
        offset,
        ty,
        strides: Strides::SCALAR,
        shape: Shape::Scalar,
        modifier: Modifier::None,
        constant: offset < 64,
    }
}

fn to(offset: u32, ty: Type) -> Dst {
    Dst::Reg { offset, ty, stride: 1, sat: false }
}

fn inst(op: Op, exec: ExecType, dst: Dst, a: Src, b: Src) -> Inst {
    Inst {
        op,
        channels: 32,
        first: 0,
        no_mask: false,
        pred: Pred::default(),
        exec,
        dst,
        src: [a, b, Src::None, Src::None],
        aux: 0,
        dst2: 0,
        span: Default::default(),
        source: 0,
        function: 0,
        depth: 0,
        facts: Facts::default(),
    }
}

fn message(aux: u32) -> Inst {
    Inst { aux, ..inst(Op::Message, ExecType::None, Dst::None, Src::None, Src::None) }
}

fn ret() -> Inst {
    Inst { channels: 1, ..inst(Op::Ret, ExecType::None, Dst::None, Src::None, Src::None) }
}

fn goto(aux: Pc, pred: bool) -> Inst {
    let pred = Pred { offset: if pred { P1 } else { 0 }, ..Pred::default() };
    Inst { aux, pred, ..inst(Op::Goto, ExecType::None, Dst::None, Src::None, Src::None) }
}

fn join() -> Inst {
    Inst { no_mask: true, ..inst(Op::Join, ExecType::None, Dst::None, Src::None, Src::None) }
}

/// A load or store of a dword a channel at 64-bit addresses.
fn access(write: bool, address: u32, data: u32) -> Message {
    Message::Simt(Simt { write, address, data: Some(data), component_stride: 128, ..Simt::default() })
}

/// `q1 = d0; q2 = q1 << 2; q3 = q2 + base; q4 = q3 + 16`.
fn addresses() -> Vec<Inst> {
    vec![
        inst(Op::Mov, ExecType::I32, to(v(1), Type::Q), vector(v(0), Type::D), Src::None),
        inst(Op::Shl, ExecType::I64, to(v(2), Type::Q), vector(v(1), Type::Q), scalar(TWO, Type::Q)),
        inst(Op::Add, ExecType::I64, to(v(3), Type::Q), vector(v(2), Type::Q), scalar(BASE, Type::Q)),
        inst(Op::Add, ExecType::I64, to(v(4), Type::Q), vector(v(3), Type::Q), scalar(SIXTEEN, Type::Q)),
    ]
}

fn simt(p: &ProgramParts, i: usize) -> &Simt {
    match &p.messages[i] {
        Message::Simt(s) => s,
        other => panic!("{other:?}"),
    }
}

#[test]
fn addresses_become_part_of_the_message() {
    let mut code = addresses();
    code.extend([message(0), ret()]);
    let p = improved(&program(code, vec![access(true, v(4), v(0))]));
    assert_eq!(p.code.iter().map(|i| i.op).collect::<Vec<_>>(), [Op::Message, Op::Ret]);
    let s = simt(&p, 0);
    assert_eq!((s.address, s.address_bytes, s.extend), (v(0), 4, Extend::Sign));
    assert_eq!((s.scale, s.offset, s.origin), (4, 16, scalar(BASE, Type::Q)));
}

#[test]
fn what_changed_in_between_is_not_folded() {
    let mut code = addresses();
    // The index moves on before the access.
    code.push(inst(Op::Add, ExecType::I32, to(v(0), Type::D), vector(v(0), Type::D), scalar(TWO, Type::D)));
    code.extend([message(0), ret()]);
    let p = improved(&program(code, vec![access(true, v(4), v(0))]));
    let s = simt(&p, 0);
    assert_eq!((s.address, s.address_bytes, s.scale), (v(1), 8, 4));
    assert_eq!(p.code[0].op, Op::Mov);
}

#[test]
fn a_predicated_definition_is_none() {
    let mut code = addresses();
    code[3].pred.offset = P1;
    code.extend([message(0), ret()]);
    let p = improved(&program(code, vec![access(true, v(4), v(0))]));
    assert_eq!((simt(&p, 0).address, p.code.len()), (v(4), 6));
}

#[test]
fn definitions_of_the_entry_block_hold_in_a_loop_unless_the_loop_has_its_own() {
    // entry: addresses; loop: load v5 from v4; (P1) goto loop.
    let mut code = addresses();
    code.extend([join(), message(0), goto(4, true), join(), ret()]);
    let messages = vec![access(false, v(4), v(5))];
    let p = improved(&program(code.clone(), messages.clone()));
    assert_eq!(simt(&p, 0).address, v(0));
    // The same where the loop moves the address on.
    let more = inst(Op::Add, ExecType::I64, to(v(4), Type::Q), vector(v(4), Type::Q), scalar(TWO, Type::Q));
    code.insert(6, more);
    code[7].aux = 4;
    let p = improved(&program(code, messages));
    assert_eq!((simt(&p, 0).address, simt(&p, 0).scale), (v(4), 1));
}

/// `surface = 16; message; surface = 2; message`, as compilers write it.
fn surfaces() -> (Vec<Inst>, Vec<Message>) {
    let set = |k| Inst {
        channels: 1,
        no_mask: true,
        ..inst(Op::Mov, ExecType::U32, to(v(9), Type::Ud), scalar(k, Type::Ud), Src::None)
    };
    let load = |data| {
        let Message::Simt(s) = access(false, v(0), data) else { unreachable!() };
        Message::Simt(Simt { address_bytes: 4, space: Space::Bti(scalar(v(9), Type::Ud)), ..s })
    };
    let code = vec![set(SIXTEEN), message(0), set(TWO), message(1), ret()];
    (code, vec![load(v(2)), load(v(3))])
}

fn bti(p: &ProgramParts, i: usize) -> Src {
    match simt(p, i).space {
        Space::Bti(s) => s,
        other => panic!("{other:?}"),
    }
}

#[test]
fn surfaces_become_part_of_the_message() {
    let (code, messages) = surfaces();
    let p = improved(&program(code, messages));
    assert_eq!([bti(&p, 0), bti(&p, 1)], [scalar(SIXTEEN, Type::Ud), scalar(TWO, Type::Ud)]);
    // Nobody reads the variable any more.
    assert_eq!(p.code.iter().map(|i| i.op).collect::<Vec<_>>(), [Op::Message, Op::Message, Op::Ret]);
}

#[test]
fn surfaces_that_are_not_certain_stay() {
    let variable = scalar(v(9), Type::Ud);
    type Change = fn(&mut Vec<Inst>);
    let changes: [Change; 6] = [
        |code| code[2].no_mask = false,
        |code| code[2].pred.offset = P1,
        |code| code[2].src[0] = scalar(BASE, Type::Ud),
        |code| code[2].dst = to(v(9), Type::Uw),
        // Another instruction comes to it.
        |code| code.insert(3, join()),
        // It is changed since.
        |code| {
            let (one, two) = (scalar(v(9), Type::Ud), scalar(TWO, Type::Ud));
            code.insert(
                3,
                Inst { channels: 1, ..inst(Op::Add, ExecType::U32, to(v(9), Type::Ud), one, two) },
            );
        },
    ];
    for (k, change) in changes.iter().enumerate() {
        let (mut code, messages) = surfaces();
        change(&mut code);
        if k == 4 {
            code.insert(0, goto(4, true));
        }
        let p = improved(&program(code, messages));
        assert_eq!(bti(&p, 1), variable, "{k}");
        assert!(k == 4 || bti(&p, 0) == scalar(SIXTEEN, Type::Ud), "{k}");
    }
}

#[test]
fn labels_stay_where_channels_can_wait() {
    let code = |split: bool| {
        let mut jump = goto(3, split);
        jump.channels = if split { 32 } else { 1 };
        jump.pred.offset = P1;
        vec![
            jump,
            inst(Op::Mov, ExecType::I32, to(v(0), Type::D), scalar(TWO, Type::D), Src::None),
            message(0),
            join(),
            ret(),
        ]
    };
    let ops = |split| {
        let p = improved(&program(code(split), vec![access(true, v(5), v(0))]));
        assert_eq!(p.code[0].aux, 3);
        p.code.iter().map(|i| i.op).collect::<Vec<_>>()
    };
    assert_eq!(ops(true), [Op::Goto, Op::Mov, Op::Message, Op::Join, Op::Ret]);
    assert_eq!(ops(false), [Op::Goto, Op::Mov, Op::Message, Op::Ret]);
}

#[test]
fn what_a_channel_may_read_before_it_writes_must_be_zero() {
    let mov = |d, s| inst(Op::Mov, ExecType::I32, to(d, Type::D), vector(s, Type::D), Src::None);
    let set = |d| inst(Op::Mov, ExecType::I32, to(d, Type::D), scalar(TWO, Type::D), Src::None);
    let fresh = |code: Vec<Inst>, at: u32| {
        let p = improved(&program(code, vec![access(true, v(0), v(9))]));
        p.registers.fresh.iter().any(|r| r.contains(&at))
    };
    // v9 is stored, so that all is wanted.
    // Written by all channels, then read.
    assert!(!fresh(vec![set(v(0)), set(v(1)), mov(v(9), v(1)), message(0), ret()], v(1)));
    // Never written.
    assert!(fresh(vec![set(v(0)), mov(v(9), v(1)), message(0), ret()], v(1)));
    // Written by some of the channels (those that do not jump), read by all.
    let some = |last: Inst| {
        vec![set(v(0)), goto(4, true), set(v(1)), last, join(), mov(v(9), v(1)), message(0), ret()]
    };
    assert!(fresh(some(set(v(2))), v(1)));
    // Read by the channels that wrote it.
    let own = vec![
        set(v(0)),
        set(v(9)),
        goto(6, true),
        set(v(1)),
        mov(v(9), v(1)),
        set(v(2)),
        join(),
        message(0),
        ret(),
    ];
    assert!(!fresh(own.clone(), v(1)));
    // Read by them, but of other channels' elements.
    let mut other = own.clone();
    other[4].src[0] = vector(v(1) + 4, Type::D);
    assert!(fresh(other, v(1)));
    // Or without a mask.
    let mut all = own;
    all[4].no_mask = true;
    assert!(fresh(all, v(1)));
    // A predicate says whether a copy writes, but of a selection only what.
    let by_predicate = |op| {
        let pred = Pred { offset: P1, ..Pred::default() };
        let one = Inst {
            op,
            pred,
            src: [vector(v(3), Type::D), vector(v(4), Type::D), Src::None, Src::None],
            ..set(v(1))
        };
        fresh(vec![set(v(0)), set(v(3)), set(v(4)), one, mov(v(9), v(1)), message(0), ret()], v(1))
    };
    assert_eq!([Op::Sel, Op::Mov].map(by_predicate), [false, true]);
}

#[test]
fn a_shift_count_is_its_low_bits() {
    // A count of −1 is one of 63, whatever is shifted after that.
    let minus_one = 32;
    let shl = |d, s, k| inst(Op::Shl, ExecType::I64, to(d, Type::Q), vector(s, Type::Q), scalar(k, Type::Q));
    let code = |first, second| vec![shl(v(2), v(0), first), shl(v(4), v(2), second), message(0), ret()];
    let run = |first, second| {
        let mut p = program(code(first, second), vec![access(true, v(4), v(8))]);
        p.registers.constants[minus_one as usize..][..8].copy_from_slice(&[0xff; 8]);
        // 64 + 2.
        p.registers.constants[40..48].copy_from_slice(&66u64.to_le_bytes());
        let p = improved(&p);
        (simt(&p, 0).address, simt(&p, 0).scale)
    };
    assert_eq!(run(TWO, TWO), (v(0), 16));
    assert_eq!(run(minus_one, TWO), (v(2), 4));
    assert_eq!(run(TWO, minus_one), (v(4), 1));
    assert_eq!(run(40, TWO), (v(0), 16));
}

#[test]
fn what_functions_share_is_not_what_it_was_before_a_call() {
    // f: an index is made of what functions share, another function is called, then the index is used.
    // Where that other function stands in the code tells nothing.
    const SHARED: u32 = 128;
    let from = |source| {
        vec![
            inst(Op::Shl, ExecType::I64, to(v(4), Type::Q), vector(source, Type::Q), scalar(TWO, Type::Q)),
            Inst { aux: 2, ..inst(Op::Fcall, ExecType::None, Dst::None, Src::None, Src::None) },
            message(0),
            ret(),
        ]
    };
    let other = |writes| {
        let mov = inst(Op::Mov, ExecType::I64, to(writes, Type::Q), scalar(TWO, Type::Q), Src::None);
        vec![mov, ret()]
    };
    let address = |source, writes, first: bool| {
        let (f, g) = (from(source), other(writes));
        let parts = if first { [g, f] } else { [f, g] };
        let split = parts[0].len() as Pc;
        let code = [vec![ret()], parts.concat()].concat();
        let end = code.len() as Pc;
        let mut p = program(code, vec![access(true, v(4), v(8))]);
        let locals = |of_f: bool| std::iter::once(if of_f { v(0)..v(6) } else { v(6)..v(12) }).collect();
        let function = |range: std::ops::Range<Pc>, of_f| Function {
            name: "f".into(),
            entry: range.start,
            end: range.end,
            locals: locals(of_f),
            vars: Vec::new(),
            lines: Vec::new(),
        };
        p.functions[0].end = 1;
        p.functions.push(function(1..1 + split, !first));
        p.functions.push(function(1 + split..end, first));
        for (pc, i) in p.code.iter_mut().enumerate() {
            i.function = if pc == 0 { 0 } else { 1 + (pc as Pc > split) as u16 };
            if i.op == Op::Fcall {
                i.aux = if first { 1 } else { 2 };
            }
        }
        p.registers.predefined = [64; 32];
        simt(&improved(&p), 0).address
    };
    for first in [true, false] {
        // Of the function's own variables.
        assert_eq!(address(v(0), v(6), first), v(0));
        // Of a shared one that the other writes, and of one that nobody does.
        assert_eq!(address(SHARED, SHARED, first), v(4));
        assert_eq!(address(SHARED, v(6), first), SHARED);
        // What every call changes.
        assert_eq!(address(64, v(6), first), v(4));
    }
}

/// `q1 = base + 16; q2 = q1; block at q2 + offset`.
fn block(offset: i64) -> ProgramParts {
    let one = |i: Inst| Inst { channels: 1, no_mask: true, ..i };
    let sum =
        inst(Op::Add, ExecType::I64, to(v(1), Type::Q), scalar(BASE, Type::Q), scalar(SIXTEEN, Type::Q));
    let copy = inst(Op::Mov, ExecType::I64, to(v(2), Type::Q), scalar(v(1), Type::Q), Src::None);
    let message = Message::Block(Block {
        space: Space::Flat,
        write: false,
        address: scalar(v(2), Type::Uq),
        scale: 1,
        offset,
        origin: Src::None,
        wraps: false,
        align: 4,
        bytes: 4,
        data: Some(v(3)),
        masked: true,
    });
    program(vec![one(sum), one(copy), one(self::message(0)), ret()], vec![message])
}

fn of_block(p: &ProgramParts) -> (i64, Src) {
    match &p.messages[0] {
        Message::Block(b) => (b.offset, b.address),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_added_becomes_part_of_a_block() {
    let p = improved(&block(4));
    assert_eq!(of_block(&p), (20, scalar(BASE, Type::Uq)));
    assert_eq!(p.code.iter().map(|i| i.op).collect::<Vec<_>>(), [Op::Message, Op::Ret]);
}

#[test]
fn blocks_keep_what_is_not_theirs_to_add() {
    // Sums that native code or the alignment do not allow, a factor, and sums of other widths.
    assert_eq!(of_block(&improved(&block(1 << 31))), (1 << 31, scalar(v(2), Type::Uq)));
    assert_eq!(of_block(&improved(&block(2))), (2, scalar(v(2), Type::Uq)));
    for change in [(|b| b.scale = 2) as fn(&mut Block), |b| b.wraps = true] {
        let mut p = block(4);
        let Message::Block(b) = &mut p.messages[0] else { unreachable!() };
        change(b);
        assert_eq!(of_block(&improved(&p)), (4, scalar(v(2), Type::Uq)));
    }
    // The base moves on before the block is read.
    let mut p = block(4);
    let more = Inst { dst: to(BASE, Type::Q), src: p.code[0].src, ..p.code[0] };
    p.code.insert(2, more);
    assert_eq!(of_block(&improved(&p)), (4, scalar(v(1), Type::Uq)));
}

/// `v0 = v1 + v1; v0 = v0 << 2; store to v0`, with something in between.
fn in_place(between: Vec<Inst>) -> Vec<Inst> {
    let uq = |at| vector(at, Type::Uq);
    let sum = inst(Op::Add, ExecType::U64, to(v(0), Type::Uq), uq(v(1)), uq(v(1)));
    let shift = inst(Op::Shl, ExecType::U64, to(v(0), Type::Uq), uq(v(0)), scalar(TWO, Type::Uq));
    [vec![sum], between, vec![shift, message(0), ret()]].concat()
}

/// Has the sum a register of its own?
fn is_apart(p: &ProgramParts) -> bool {
    let Dst::Reg { offset, .. } = p.code[0].dst else { panic!("a sum") };
    offset != v(0)
}

#[test]
fn what_is_overwritten_by_what_is_made_of_it_is_apart() {
    let address = vec![access(true, v(0), v(3))];
    let p = program(in_place(Vec::new()), address.clone());
    let better = improved(&p);
    assert!(is_apart(&better) && better.registers.bytes > p.registers.bytes);
    let Message::Simt(s) = &better.messages[0] else { panic!("a store") };
    // The shift is the message's, so that nobody reads its result.
    assert_eq!((better.code.len(), s.scale, to(s.address, Type::Uq)), (3, 4, better.code[0].dst));
    assert!(s.address >= p.registers.bytes - crate::registers::REGISTER_PADDING);
    // A choice by a predicate writes all channels, unless it is one for all.
    let chosen = |combine| {
        let mut code = in_place(Vec::new());
        code[1].op = Op::Sel;
        code[1].pred = Pred { offset: P1, combine, invert: false };
        improved(&program(code, vec![access(true, v(0), v(3))]))
    };
    assert!(is_apart(&chosen(envisa_isa::Combine::None)));
    assert!(!is_apart(&chosen(envisa_isa::Combine::Any)));
    // Others that read it, channel by channel, read it there.
    let also =
        inst(Op::Add, ExecType::U64, to(v(3), Type::Uq), vector(v(0), Type::Uq), vector(v(1), Type::Uq));
    let better = improved(&program(in_place(vec![also]), address));
    assert!(is_apart(&better));
    assert_eq!(better.code[1].src[0], vector(s.address, Type::Uq));
}

#[test]
fn what_others_see_stays_where_it_is() {
    let address = || vec![access(true, v(0), v(3)), access(true, v(0), v(1))];
    let copy = |from: Src| inst(Op::Mov, ExecType::U64, to(v(3), Type::Uq), from, Src::None);
    let part = |mut i: Inst| {
        (i.channels, i.first) = (16, 16);
        i
    };
    let reads = [
        ("a message", message(1)),
        ("one element for all", copy(scalar(v(0), Type::Uq))),
        ("elements of another size", copy(vector(v(0), Type::Ud))),
        ("other channels", part(copy(vector(v(0), Type::Uq)))),
        ("whatever the mask", Inst { no_mask: true, ..copy(vector(v(0), Type::Uq)) }),
        ("where channels may have left", join()),
        (
            "some of it written",
            part(inst(Op::Mov, ExecType::U64, to(v(0), Type::Uq), vector(v(1), Type::Uq), Src::None)),
        ),
    ];
    for (what, i) in reads {
        assert!(!is_apart(&improved(&program(in_place(vec![i]), address()))), "{what}");
    }
    let mut some = in_place(Vec::new());
    some[1].pred.offset = P1;
    assert!(!is_apart(&improved(&program(some, address()))), "channels that keep what they had");
    // As of `%cr0`: what comes between goes by it without reading it.
    let mut low = in_place(Vec::new());
    for i in &mut low[..2] {
        (i.channels, i.dst, i.src[0]) = (1, to(BASE, Type::Uq), scalar(BASE, Type::Uq));
    }
    assert_eq!(improved(&program(low, address())).code[0].dst, to(BASE, Type::Uq), "a predefined variable");
}

/// A message knows where it may go by its origin: one that is another in every round is no part of it.
#[test]
fn origins_that_change_from_round_to_round_are_not_folded() {
    let base = v(5);
    let sum = |origin| {
        inst(Op::Add, ExecType::I64, to(v(3), Type::Q), vector(v(2), Type::Q), scalar(origin, Type::Q))
    };
    let next = |to_next| Inst {
        channels: 1,
        no_mask: true,
        ..inst(
            Op::Add,
            ExecType::I64,
            to(to_next, Type::Q),
            scalar(to_next, Type::Q),
            scalar(SIXTEEN, Type::Q),
        )
    };
    // In a loop around it, the origin changes or another scalar does; or the origin does in a loop around that.
    let inner = |changes: u32| vec![sum(base), message(0), next(changes), goto(0, true)];
    let outer = [inner(v(6)), vec![next(base), goto(0, true), ret()]].concat();
    let cases = [
        ([inner(base), vec![ret()]].concat(), Src::None),
        ([inner(v(6)), vec![ret()]].concat(), scalar(base, Type::Q)),
        (outer, scalar(base, Type::Q)),
    ];
    for (code, origin) in cases {
        let p = improved(&program(code, vec![access(true, v(3), v(0))]));
        assert_eq!(simt(&p, 0).origin, origin, "{:?}", p.code);
    }
}

/// `(P1) goto 3; …; goto 5; join (3): …; join (5): …`: while the one side runs, the other's channels wait.
#[test]
fn channels_are_apart_on_both_sides_of_a_branch() {
    let mov = || inst(Op::Mov, ExecType::I32, to(v(1), Type::D), vector(v(0), Type::D), Src::None);
    let together = |code: Vec<Inst>| -> Vec<bool> {
        program(code, vec![]).code.iter().map(|i| i.facts.converged).collect()
    };
    let both = vec![goto(3, true), mov(), goto(5, false), join(), mov(), join(), mov(), ret()];
    assert_eq!(together(both), [true, false, false, false, false, true, true, true]);
    // The same jumps by all channels.
    let all = vec![goto(3, false), mov(), goto(5, false), join(), mov(), join(), mov(), ret()];
    assert_eq!(together(all), [true; 8]);
    // A loop that some leave early, to behind what follows it.
    let leave = vec![join(), goto(4, true), goto(0, true), mov(), join(), ret()];
    assert_eq!(together(leave), [false, false, false, false, true, true]);
    // A jump table that only some come to.
    let mut some = vec![goto(5, true), mov(), join(), mov(), join(), join(), mov(), join(), ret()];
    some[1] = Inst { channels: 1, ..inst(Op::SwitchJmp, ExecType::None, Dst::None, Src::None, Src::None) };
    let mut p = program(some, vec![]);
    p.tables = vec![vec![2, 4, 7]];
    crate::flow::analyse_divergence(&mut p.code, &p.tables, 0, 9, 32);
    let together: Vec<bool> = p.code.iter().map(|i| i.facts.converged).collect();
    assert_eq!(together, [true, false, false, false, false, false, false, true, true]);
}

/// Behind a branch: addresses are made for some channels, and used by some of these, in a loop or behind it.
#[test]
fn what_all_channels_have_run_before_holds_in_other_blocks() {
    let moved = |no_mask: bool| Inst {
        no_mask,
        ..inst(Op::Add, ExecType::I32, to(v(0), Type::D), vector(v(0), Type::D), scalar(TWO, Type::D))
    };
    let head = |index: Inst| {
        let mut code = vec![goto(11, true), index];
        code.extend(addresses());
        code
    };
    let index = |no_mask: bool| Inst {
        no_mask,
        ..inst(Op::Mov, ExecType::I32, to(v(0), Type::D), vector(v(6), Type::D), Src::None)
    };
    let messages = vec![access(false, v(4), v(5))];
    // Of the channels that made them, all that come to the loop.
    let mut code = head(index(false));
    code.extend([goto(11, true), join(), message(0), goto(7, true), join(), join(), ret()]);
    let p = improved(&program(code.clone(), messages.clone()));
    assert_eq!(simt(&p, 0).scale, 4, "{:?}", p.code);
    // The loop writes what the index is made of.
    let mut other = code.clone();
    other.insert(9, moved(false));
    for (at, to) in [(0, 12), (6, 12)] {
        other[at].aux = to;
    }
    let p = improved(&program(other, messages.clone()));
    assert_ne!((simt(&p, 0).address, simt(&p, 0).extend), (v(0), Extend::Sign), "{:?}", p.code);
    // It is made in the loop, for channels that wait behind it, too.
    let behind = |no_mask: bool| {
        let mut code = vec![join(), index(no_mask)];
        code.extend(addresses());
        code.extend([goto(0, true), join(), message(0), ret()]);
        let p = improved(&program(code, messages.clone()));
        (simt(&p, 0).address, simt(&p, 0).extend)
    };
    assert_eq!(behind(false), (v(0), Extend::Sign));
    assert_eq!(behind(true), (v(1), Extend::None));
}

/// A message adds one scalar of 64 bits to its addresses: of two, the sum.
#[test]
fn two_scalars_are_added_up_for_the_message() {
    let mut code = addresses();
    code[3].src[1] = scalar(v(9), Type::Q);
    code.extend([message(0), ret()]);
    let p = improved(&program(code, vec![access(true, v(4), v(0))]));
    assert_eq!(p.code.iter().map(|i| i.op).collect::<Vec<_>>(), [Op::Add, Op::Message, Op::Ret]);
    let s = simt(&p, 0);
    assert_eq!((s.address, s.address_bytes, s.extend, s.scale), (v(0), 4, Extend::Sign, 4));
    let Src::Reg { offset, ty: Type::Uq, .. } = s.origin else { panic!("{:?}", s.origin) };
    assert_eq!((p.code[0].dst, p.code[0].channels), (to(offset, Type::Uq), 1));
    assert_eq!(p.code[0].src[..2], [scalar(v(9), Type::Q), scalar(BASE, Type::Q)]);
}

/// Differences of what every round reads: each is made where it is multiplied, and the last ones, which end what they read, stay.
#[test]
fn results_that_are_read_once_move_to_where_they_are_read() {
    let difference = |to_: u32, of: u32| {
        inst(Op::Add, ExecType::F32, to(v(to_), Type::F), vector(v(of), Type::F), scalar(TWO, Type::F))
    };
    let square = |of: u32, sum: u32| {
        let mut i =
            inst(Op::Mad, ExecType::F32, to(v(sum), Type::F), vector(v(of), Type::F), vector(v(of), Type::F));
        i.src[2] = vector(v(sum), Type::F);
        i
    };
    let round = |sum: u32| {
        [difference(4 + sum, 0), difference(6 + sum, 1), square(4 + sum, sum), square(6 + sum, sum)]
    };
    let mut code: Vec<Inst> = [round(2), round(3)].concat();
    code.extend([message(0), message(1), ret()]);
    let messages = vec![access(true, v(12), v(2)), access(true, v(12), v(3))];
    let p = improved(&program(code, messages));
    let ops = |p: &ProgramParts, n: usize| p.code.iter().map(|i| i.op).take(n).collect::<Vec<_>>();
    let (a, m) = (Op::Add, Op::Mad);
    assert_eq!(ops(&p, 8), [a, m, a, m, a, a, m, m]);
    // Not past what changes an operand.
    let mut code: Vec<Inst> = [round(2), round(3)].concat();
    code.insert(2, difference(0, 1));
    code.extend([message(0), message(1), ret()]);
    let p = improved(&program(code, vec![access(true, v(12), v(2)), access(true, v(12), v(3))]));
    assert_eq!(ops(&p, 6), [a, a, m, a, m, a]);
}

/// `d = 2; v2 = v0 * d; d = v1; v3 = v0 * d`, the first one with what changes.
fn scaled(set: Inst) -> Vec<Src> {
    let product = |to_: u32| {
        inst(Op::Mul, ExecType::I32, to(v(to_), Type::D), vector(v(0), Type::D), scalar(v(9), Type::D))
    };
    let other = Inst {
        src: [scalar(v(1), Type::D), Src::None, Src::None, Src::None],
        ..set_to(scalar(TWO, Type::D))
    };
    let code = vec![set, product(2), other, product(3), message(0), message(1), ret()];
    let p = improved(&program(code, vec![access(true, v(12), v(2)), access(true, v(12), v(3))]));
    p.code.iter().filter(|i| i.op == Op::Mul).map(|i| i.src[1]).collect()
}

fn set_to(src: Src) -> Inst {
    Inst { channels: 1, no_mask: true, ..inst(Op::Mov, ExecType::I32, to(v(9), Type::D), src, Src::None) }
}

#[test]
fn a_scalar_that_was_set_to_a_constant_is_read_as_that() {
    // The other is a copy.
    let [register, copied] = [scalar(v(9), Type::D), scalar(v(1), Type::D)];
    assert_eq!(scaled(set_to(scalar(TWO, Type::D))), [scalar(TWO, Type::D), copied]);
    // Not where it may not have been set, and not where it is another number than the constant.
    let masked = Inst { no_mask: false, ..set_to(scalar(TWO, Type::D)) };
    let predicated = Inst { pred: Pred { offset: P1, ..Pred::default() }, ..set_to(scalar(TWO, Type::D)) };
    let converted = Inst { exec: ExecType::F32, dst: to(v(9), Type::F), ..set_to(scalar(TWO, Type::D)) };
    let small = Inst { exec: ExecType::F32, dst: to(v(9), Type::F), ..set_to(scalar(TWO, Type::F)) };
    for other in [masked, predicated, converted, small] {
        assert_eq!(scaled(other), [register, copied], "{other:?}");
    }
}
