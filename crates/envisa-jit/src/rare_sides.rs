//! Sides of branches that are rarely come to.
//!
//! Library functions have a short way for the numbers that programs mostly give them and a long one for all others: the
//! sine of what is large is reduced by hundreds of instructions. What only computes, and is long beside something short, is
//! taken to be rare, so that it does not take the registers of what runs each time. Loops and what accesses memory are what
//! a program is for: beside them, it is the short side that is rare.

use std::ops::Range;

use envisa_lower::{Inst, Op, Pc};

/// Fewest instructions of a rare side.
const LONG: u32 = 96;
/// How many times as long as the other side it is, at least.
const TIMES: u32 = 4;

/// The instructions of rare sides, in the order of the branches: those within others too.
pub(crate) fn rare_sides(code: &[Inst]) -> Vec<Range<Pc>> {
    let forward = |pc: Pc| code.get(pc as usize).filter(|i| i.op == Op::Goto && i.aux > pc);
    let sides = |pc: Pc| {
        let other = forward(pc).filter(|i| i.pred.offset != 0)?.aux;
        // The first side ends by a branch over the other one.
        let end = other.checked_sub(1).filter(|last| *last > pc).and_then(forward)?;
        (end.pred.offset == 0).then_some([pc + 1..other, other..end.aux])
    };
    let length = |r: &Range<Pc>| r.end - r.start;
    let rare = |[a, b]: [Range<Pc>; 2]| {
        let [short, long] = if length(&a) < length(&b) { [a, b] } else { [b, a] };
        let computes = |pc: Pc| {
            let i = &code[pc as usize];
            i.op != Op::Message && (i.op != Op::Goto || i.aux > pc)
        };
        let far = length(&long) >= LONG && length(&long) >= TIMES * length(&short);
        (far && long.clone().all(computes)).then_some(long)
    };
    (0..code.len() as Pc).filter_map(sides).filter_map(rare).collect()
}

/// By instruction, and for the end of the code: how many before it are on no rare side.
pub(crate) fn count_usual(code: &[Inst]) -> Vec<u32> {
    let mut begun = vec![0i32; code.len() + 1];
    for r in rare_sides(code) {
        begun[r.start as usize] += 1;
        begun[(r.end as usize).min(code.len())] -= 1;
    }
    let (mut inside, mut count) = (0, 0);
    begun
        .iter()
        .map(|b| {
            let before = count;
            inside += b;
            count += u32::from(inside == 0);
            before
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use envisa_lower::{Dst, ExecType, Pred, Src};

    use super::*;

    /// Any instruction that is no branch.
    fn other() -> Inst {
        Inst {
            op: Op::Nop,
            channels: 32,
            first: 0,
            no_mask: false,
            pred: Pred::default(),
            exec: ExecType::None,
            dst: Dst::None,
            src: [Src::None; 4],
            aux: 0,
            dst2: 0,
            span: Default::default(),
            source: 0,
            function: 0,
            depth: 0,
            facts: Default::default(),
        }
    }

    fn goto(to: Pc, predicate: u32) -> Inst {
        Inst { op: Op::Goto, aux: to, pred: Pred { offset: predicate, ..Pred::default() }, ..other() }
    }

    #[test]
    fn the_long_side_of_two_is_rare() {
        // `if` of 4 instructions, with the branch over the `else`, which has 100.
        let mut code = vec![other(); 120];
        code[1] = goto(6, 64);
        code[5] = goto(106, 0);
        assert_eq!(rare_sides(&code), vec![6..106]);
        let usual = count_usual(&code);
        assert_eq!((usual[6], usual[50], usual[106], usual[107]), (6, 6, 6, 7));
        // The other way round.
        code[1] = goto(102, 64);
        code[5] = other();
        code[101] = goto(110, 0);
        assert_eq!(rare_sides(&code), vec![2..102]);
    }

    #[test]
    fn sides_alike_are_not_rare() {
        let mut code = vec![other(); 300];
        code[1] = goto(102, 64);
        code[101] = goto(202, 0);
        assert_eq!(rare_sides(&code), []);
        // Nor is what has no other side.
        code[101] = other();
        assert_eq!(rare_sides(&code), []);
    }

    #[test]
    fn loops_and_messages_are_not_rare() {
        let mut code = vec![other(); 120];
        code[1] = goto(6, 64);
        code[5] = goto(106, 0);
        code[90] = goto(30, 64);
        assert_eq!(rare_sides(&code), []);
        code[90] = Inst { op: Op::Message, ..other() };
        assert_eq!(rare_sides(&code), []);
    }
}
