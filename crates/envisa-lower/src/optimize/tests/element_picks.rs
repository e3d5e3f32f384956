//! Elements picked out of dwords: see `optimize::element_picks`.

use super::*;

/// Every so manieth element from here on.
fn every(step: u8, offset: u32, ty: Type) -> Src {
    let strides = Strides { vertical: step, width_log2: 0, horizontal: 0 };
    Src::Reg { offset, ty, strides, shape: strides.shape(16), modifier: Modifier::None, constant: false }
}

fn moved(dst: u32, ty: Type, from: Src) -> Inst {
    inst(Op::Mov, ExecType::I32, to(dst, ty), from, Src::None)
}

/// Words out of dwords, and the second bytes out of these.
fn picks() -> Vec<Inst> {
    vec![moved(v(1), Type::Uw, every(2, v(0), Type::Uw)), moved(v(2), Type::Ub, every(2, v(1) + 1, Type::Ub))]
}

/// What a move to dwords reads of the bytes that come last, behind the pass alone.
fn read(code: Vec<Inst>) -> Vec<(u32, u8)> {
    let last = moved(v(3), Type::D, every(1, v(2), Type::Ub));
    let mut p = program([code, vec![last, ret()]].concat(), Vec::new());
    let blocks = Blocks::new(&p);
    crate::optimize::element_picks::read_in_dwords(&mut p, &blocks);
    let of = |i: &Inst| match (i.dst, i.src[0]) {
        (Dst::Reg { ty: Type::D, .. }, Src::Reg { offset, strides, .. }) if i.op == Op::Mov => {
            Some((offset, strides.vertical))
        }
        _ => None,
    };
    p.code.iter().filter_map(of).collect()
}

#[test]
fn bytes_of_words_are_read_in_the_dwords() {
    assert_eq!(read(picks()), [(v(0) + 1, 4)]);
}

/// Dwords that are others by then, or may be.
#[test]
fn dwords_that_are_written_in_between_are_not_read() {
    let write = moved(v(0) + 32, Type::W, every(1, v(8), Type::W));
    assert_eq!(read([picks(), vec![write]].concat()), [(v(2), 1)]);
    let [words, bytes] = picks()[..] else { unreachable!() };
    assert_eq!(read(vec![words, write, bytes]), [(v(2), 1)]);
    assert_eq!(read([picks(), vec![goto(4, true), join()]].concat()), [(v(2), 1)]);
}

/// Channels that were off when the words were picked have others there.
#[test]
fn channels_that_were_off_are_not_read_in_the_dwords() {
    let [words, bytes] = picks()[..] else { unreachable!() };
    let upper = Inst { first: 16, ..words };
    assert_eq!(read(vec![upper, bytes]), [(v(2), 1)]);
    assert_eq!(read(vec![words, Inst { no_mask: true, ..bytes }]), [(v(2), 1)]);
}
