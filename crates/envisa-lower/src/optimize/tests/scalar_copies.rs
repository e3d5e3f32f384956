//! Copies of scalars: see `optimize::scalar_copies`.

use super::*;

/// What is executed once, whichever channels are active.
fn once(channels: u8, of: Inst) -> Inst {
    Inst { channels, no_mask: true, ..of }
}

fn copy(channels: u8, dst: u32, from: Src) -> Inst {
    once(channels, inst(Op::Mov, ExecType::I32, to(dst, Type::Ud), from, Src::None))
}

/// Both halves of an address, copied together, and each of them to a register of its own.
fn halves() -> Vec<Inst> {
    vec![
        copy(2, v(1), vector(v(0), Type::Ud)),
        copy(1, v(2), scalar(v(1), Type::Ud)),
        copy(1, v(3), scalar(v(1) + 4, Type::Ud)),
    ]
}

fn sum(k: u32, of: u32) -> Inst {
    inst(Op::Add, ExecType::I32, to(v(k), Type::Ud), vector(v(8), Type::Ud), scalar(of, Type::Ud))
}

/// What the sums read that are stored.
fn read(code: Vec<Inst>) -> Vec<u32> {
    let code = [code, vec![message(0), message(1), ret()]].concat();
    let p = improved(&program(code, vec![access(true, v(9), v(5)), access(true, v(9), v(6))]));
    let of = |i: &Inst| match i.src[1] {
        Src::Reg { offset, .. } if i.op == Op::Add => Some(offset),
        _ => None,
    };
    p.code.iter().filter_map(of).collect()
}

#[test]
fn halves_are_read_where_they_were_first() {
    let code = [halves(), vec![sum(5, v(2)), sum(6, v(3))]].concat();
    assert_eq!(read(code), [v(0), v(0) + 4]);
}

/// One that is written in between is another then.
#[test]
fn what_is_written_in_between_is_read_where_it_was_copied_to() {
    let write = copy(1, v(0) + 4, scalar(TWO, Type::Ud));
    let code = [halves(), vec![write, sum(5, v(2)), sum(6, v(3))]].concat();
    assert_eq!(read(code), [v(0), v(3)]);
    // Where a branch leads, it may be another one that was copied.
    let code = [halves(), vec![goto(5, true), sum(5, v(2)), join(), sum(5, v(2)), sum(6, v(3))]].concat();
    assert_eq!(read(code), [v(2), v(2), v(3)]);
}
