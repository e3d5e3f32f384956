//! Indices of 64 bits: see `optimize::wide_indices`.

use super::*;
use crate::Addend;

/// Two indices that are extended one by one are added up as they are.
#[test]
fn sums_of_extended_indices_are_made_in_32_bits() {
    let mut code = addresses();
    code.truncate(1);
    code.push(inst(Op::Mov, ExecType::I64, to(v(5), Type::Q), vector(v(6), Type::Ud), Src::None));
    code.push(inst(Op::Add, ExecType::I64, to(v(2), Type::Q), vector(v(1), Type::Q), vector(v(5), Type::Q)));
    code.extend([message(0), message(1), ret()]);
    let messages = vec![access(false, v(2), v(7)), access(false, v(2), v(8))];
    let p = improved(&program(code, messages));
    assert_eq!(p.code.iter().map(|i| i.op).collect::<Vec<_>>(), [Op::Add, Op::Message, Op::Message, Op::Ret]);
    let of = [(0, true), (6, false)].map(|(k, signed)| Addend { at: v(k), signed, ..Addend::default() });
    for k in 0..2 {
        let s = simt(&p, k);
        assert_eq!((s.address_bytes, s.extend), (4, Extend::Sum(of)));
        assert_eq!(p.code[0].dst, to(s.address, Type::D));
    }
}

/// `q2` of the dwords `d0` and `d1`, as devices make products of 64 bits.
fn joined() -> Vec<Inst> {
    let half = |to: u32, from: u32| {
        let dst = Dst::Reg { offset: to, ty: Type::D, stride: 2, sat: false };
        inst(Op::Mov, ExecType::I32, dst, vector(from, Type::D), Src::None)
    };
    vec![half(v(2), v(0)), half(v(2) + 4, v(1))]
}

/// An index of 64 bits that was put together of two dwords is its lower half, if the message knows the upper one. A pointer
/// is left as it is.
#[test]
fn indices_of_two_dwords_are_their_lower_halves() {
    let mut code = joined();
    code.extend_from_slice(&addresses()[1..]);
    // What it was put together in is used again before the message.
    code.push(inst(Op::Mov, ExecType::I64, to(v(2), Type::Q), scalar(TWO, Type::Q), Src::None));
    code.extend([message(0), ret()]);
    code[2].src[0] = vector(v(2), Type::Q);
    code[2].dst = to(v(6), Type::Q);
    code[3].src[0] = vector(v(6), Type::Q);
    let p = improved(&program(code, vec![access(true, v(4), v(5))]));
    assert_eq!(p.code.iter().map(|i| i.op).collect::<Vec<_>>(), [Op::Message, Op::Ret]);
    let s = simt(&p, 0);
    let one = Addend { at: v(0), upper: Some(v(1)), ..Addend::default() };
    assert_eq!((s.address, s.address_bytes, s.extend), (v(0), 4, Extend::Joined(one)));
    assert_eq!((s.scale, s.offset, s.origin), (4, 16, scalar(BASE, Type::Q)));
    let mut code = joined();
    code.extend([message(0), ret()]);
    let p = improved(&program(code, vec![access(true, v(2), v(5))]));
    assert_eq!((simt(&p, 0).address, simt(&p, 0).address_bytes), (v(2), 8));
}

/// `(q2 + other + words) << 2 + base`, at which two messages load.
fn three_indices(other: [Inst; 2]) -> Vec<Inst> {
    let quads = |op: Op, dst: u32, a: Src, b: Src| inst(op, ExecType::I64, to(dst, Type::Q), a, b);
    let mut code = joined();
    code.extend(other);
    code.extend([
        quads(Op::Mov, v(5), vector(v(6), Type::Uw), Src::None),
        quads(Op::Add, v(8), vector(v(7), Type::Q), vector(v(5), Type::Q)),
        quads(Op::Shl, v(4), vector(v(8), Type::Q), scalar(TWO, Type::Q)),
        quads(Op::Add, v(11), vector(v(4), Type::Q), scalar(BASE, Type::Q)),
    ]);
    code.extend([message(0), message(1), ret()]);
    code
}

/// Of three indices, two are added up in 64 bits; the third one, which was extended from words, is extended from dwords.
#[test]
fn a_third_index_is_added_in_64_bits() {
    let quads = |op: Op, dst: u32, a: Src, b: Src| inst(op, ExecType::I64, to(dst, Type::Q), a, b);
    let code = three_indices([
        quads(Op::Mov, v(9), vector(v(10), Type::Ud), Src::None),
        quads(Op::Add, v(7), vector(v(2), Type::Q), vector(v(9), Type::Q)),
    ]);
    let p = improved(&program(code, vec![access(false, v(11), v(12)), access(false, v(11), v(13))]));
    let ops: Vec<Op> = p.code.iter().map(|i| i.op).collect();
    let [.., Op::Mov, Op::Addc, Op::Add, Op::Add, Op::Message, Op::Message, Op::Ret] = ops[..] else {
        panic!("{ops:?}")
    };
    let [word, addc, add, sum] = &p.code[ops.len() - 7..ops.len() - 3] else { panic!("{ops:?}") };
    let [at, upper, third] = [addc, add, word].map(|i| match i.dst {
        Dst::Reg { offset, .. } => offset,
        _ => panic!("{i:?}"),
    });
    assert_eq!(word.src[0], vector(v(6), Type::Uw));
    assert_eq!(addc.src[..2], [vector(v(0), Type::Ud), vector(v(10), Type::Ud)]);
    assert_eq!(add.src[..2], [vector(v(1), Type::D), vector(addc.dst2, Type::D)]);
    let of =
        [Addend { at, upper: Some(upper), ..Addend::default() }, Addend { at: third, ..Addend::default() }];
    for k in 0..2 {
        let s = simt(&p, k);
        assert_eq!((s.address_bytes, s.extend, s.scale), (4, Extend::Sum(of), 4));
        assert_eq!(sum.dst, to(s.address, Type::D));
    }
}

/// Of three indices, a scalar that no loop changes is added to the origin, shifted as the indices are.
#[test]
fn a_fixed_scalar_among_three_indices_is_part_of_the_origin() {
    let quads = |op: Op, dst: u32, a: Src, b: Src| inst(op, ExecType::I64, to(dst, Type::Q), a, b);
    let copied = quads(Op::Mov, v(9), scalar(v(10), Type::Q), Src::None);
    let code = three_indices([
        Inst { channels: 1, no_mask: true, ..copied },
        quads(Op::Add, v(7), vector(v(2), Type::Q), scalar(v(9), Type::Q)),
    ]);
    let p = improved(&program(code, vec![access(false, v(11), v(12)), access(false, v(11), v(13))]));
    let found = |op: Op, a: Src| p.code.iter().find(|i| i.op == op && i.src[0] == a);
    let shifted = found(Op::Shl, scalar(v(10), Type::Q)).unwrap_or_else(|| panic!("{:?}", p.code));
    let Dst::Reg { offset, .. } = shifted.dst else { panic!("{shifted:?}") };
    let added = found(Op::Add, scalar(BASE, Type::Q)).unwrap_or_else(|| panic!("{:?}", p.code));
    assert_eq!((added.src[1], added.channels, added.no_mask), (scalar(offset, Type::Uq), 1, true));
    let Dst::Reg { offset: origin, .. } = added.dst else { panic!("{added:?}") };
    assert!(matches!(simt(&p, 0).extend, Extend::Sum([a, b]) if !a.scalar && !b.scalar));
    assert_eq!((simt(&p, 0).origin, simt(&p, 0).scale), (scalar(origin, Type::Uq), 4));
}

/// A scalar that is subtracted is so from the origin.
#[test]
fn a_subtracted_scalar_is_part_of_the_origin() {
    let mut code = addresses();
    let mut row = scalar(v(9), Type::Q);
    if let Src::Reg { modifier, .. } = &mut row {
        *modifier = Modifier::Neg;
    }
    code.push(inst(Op::Add, ExecType::I64, to(v(10), Type::Q), vector(v(4), Type::Q), row));
    code.extend([message(0), ret()]);
    let p = improved(&program(code, vec![access(true, v(10), v(5))]));
    let subtracted = p.code.iter().find(|i| i.src[1] == row).unwrap_or_else(|| panic!("{:?}", p.code));
    assert_eq!((subtracted.src[0], subtracted.channels), (scalar(BASE, Type::Q), 1));
    let Dst::Reg { offset: origin, .. } = subtracted.dst else { panic!("{subtracted:?}") };
    let s = simt(&p, 0);
    assert_eq!((s.address_bytes, s.origin), (4, scalar(origin, Type::Uq)));
}

/// A scalar that a loop changes is part of the index, not of the origin, by which it is known where a message may go.
#[test]
fn what_a_loop_adds_is_part_of_the_index() {
    let single = |i: Inst| Inst { channels: 1, no_mask: true, ..i };
    let quad = |op: Op, dst: u32, a: u32, b: u32| {
        single(inst(op, ExecType::I64, to(dst, Type::Q), scalar(a, Type::Q), scalar(b, Type::Q)))
    };
    let mut code = addresses();
    code.truncate(3);
    let start = code.len() as Pc;
    code.extend([
        join(),
        quad(Op::Shl, v(10), v(9), TWO),
        inst(Op::Add, ExecType::I64, to(v(4), Type::Q), vector(v(3), Type::Q), scalar(v(10), Type::Q)),
        message(0),
        quad(Op::Add, v(9), v(9), SIXTEEN),
        goto(start, true),
        join(),
        ret(),
    ]);
    let p = improved(&program(code, vec![access(true, v(4), v(5))]));
    let s = simt(&p, 0);
    let of = [
        Addend { at: v(0), signed: true, ..Addend::default() },
        Addend { at: v(9), upper: Some(v(9) + 4), scalar: true, ..Addend::default() },
    ];
    assert_eq!((s.address_bytes, s.extend), (4, Extend::Sum(of)));
    assert_eq!((s.scale, s.offset, s.origin), (4, 0, scalar(BASE, Type::Q)));
    let sum = p.code.iter().find(|i| i.dst == to(s.address, Type::D)).expect("the sum is made");
    assert_eq!(sum.src[..2], [vector(v(0), Type::D), scalar(v(9), Type::D)]);
}
