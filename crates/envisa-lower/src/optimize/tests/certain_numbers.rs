//! Instructions with a source that is a certain number: see `optimize::certain_numbers`.

use super::*;

fn compute(op: Op, dst: u32, a: Src, b: Src) -> Inst {
    inst(op, ExecType::I32, to(dst, Type::D), a, b)
}

fn dwords(k: u32) -> Src {
    vector(v(k), Type::D)
}

/// An immediate, at one of its places.
fn number(offset: u32) -> Src {
    let Src::Reg { strides, shape, modifier, .. } = scalar(offset, Type::D) else { unreachable!() };
    Src::Reg { offset, ty: Type::D, strides, shape, modifier, constant: true }
}

/// What the instructions of a block become.
fn simplified(code: Vec<Inst>) -> Vec<(Op, [Src; 3])> {
    let n = code.len();
    let mut p = program([code, vec![ret()]].concat(), Vec::new());
    let blocks = Blocks::new(&p);
    crate::optimize::certain_numbers::simplify(&mut p, &blocks);
    p.code[..n].iter().map(|i| (i.op, [i.src[0], i.src[1], i.src[2]])).collect()
}

const NONE: Src = Src::None;
/// Zero, and another number.
const ZERO: u32 = 0;

#[test]
fn sums_with_zero_are_copies() {
    let zero = number(ZERO);
    assert_eq!(
        simplified(vec![compute(Op::Add, v(3), dwords(1), zero)]),
        [(Op::Mov, [dwords(1), NONE, NONE])]
    );
    let mut three = compute(Op::Add3, v(3), dwords(1), zero);
    three.src[2] = dwords(2);
    assert_eq!(simplified(vec![three]), [(Op::Add, [dwords(1), dwords(2), NONE])]);
    three.src[2] = zero;
    assert_eq!(simplified(vec![three]), [(Op::Mov, [dwords(1), NONE, NONE])]);
    let other = compute(Op::Add, v(3), dwords(1), number(TWO));
    assert_eq!(simplified(vec![other]), [(Op::Add, [dwords(1), number(TWO), NONE])]);
}

/// A product with 0 is 0 for those who read it, until it is written over, and in its own block.
#[test]
fn products_with_zero_are_none() {
    let (zero, plain) = (number(ZERO), |k| compute(Op::Add, v(4), dwords(k), dwords(3)));
    let product = compute(Op::Mul, v(3), dwords(1), zero);
    let both = simplified(vec![product, plain(2)]);
    assert_eq!(both, [(Op::Mov, [zero, NONE, NONE]), (Op::Mov, [dwords(2), NONE, NONE])]);
    let written = simplified(vec![product, compute(Op::Mov, v(3), dwords(5), NONE), plain(2)]);
    assert_eq!(written[2], (Op::Add, [dwords(2), dwords(3), NONE]));
    let elsewhere = simplified(vec![product, goto(2, true), join(), plain(2)]);
    assert_eq!(elsewhere[3], (Op::Add, [dwords(2), dwords(3), NONE]));
    // Channels that did not multiply have something else.
    let others = simplified(vec![product, Inst { no_mask: true, ..plain(2) }]);
    assert_eq!(others[1], (Op::Add, [dwords(2), dwords(3), NONE]));
}
