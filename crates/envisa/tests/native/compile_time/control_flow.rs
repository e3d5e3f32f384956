//! Loops one after another and in each other, joins far behind their branches, many instructions between barriers.

use std::fmt::Write as _;

pub const SHAPES: [&str; 6] =
    ["loops", "nested loops", "far joins", "barriers", "barriers in loops", "branches at barriers"];

/// A program of so many statements of a shape.
pub fn program(shape: &str, n: usize) -> String {
    const VARIABLES: usize = 64;
    let mut t = String::from(
        ".version 3.6\n.kernel \"grows\"\n.kernel_attr Target=\"cm\"\n.kernel_attr SimdSize=16\n\
         .decl T6 v_type=T num_elts=1\n.input T6 offset=32 size=4\n.decl P v_type=P num_elts=16\n",
    );
    for k in 0..VARIABLES {
        let _ = writeln!(t, ".decl X{k} v_type=G type=d num_elts=16 align=wordx32");
    }
    t += ".function \"grows_main\"\n";
    for k in 0..VARIABLES {
        let _ = writeln!(t, "mov (M1, 16) X{k}(0,0)<1> {k:#x}:d");
    }
    let sum = |k: usize| {
        let [a, b] = [k % VARIABLES, (k + 1) % VARIABLES];
        format!("add (M1, 16) X{a}(0,0)<1> X{a}(0,0)<1;1,0> X{b}(0,0)<1;1,0>\n")
    };
    let less = |k: usize| format!("cmp.lt (M1, 16) P X{}(0,0)<1;1,0> 0x3:d\n", k % VARIABLES);
    for k in 0..n {
        match shape {
            "loops" => {
                let _ = write!(t, "l{k}:\n{}{}(P) goto (M1, 16) l{k}\n", sum(k), less(k));
            }
            "nested loops" => {
                let _ = write!(t, "l{k}:\n{}", sum(k));
            }
            "far joins" => {
                let _ = write!(t, "{}(P) goto (M1, 16) l{k}\n{}", less(k), sum(k));
            }
            "barriers" => {
                let _ = write!(t, "{}{}", sum(k), if k % 50 == 0 { "barrier\n" } else { "" });
            }
            "barriers in loops" => {
                let _ = write!(t, "l{k}:\n{}barrier\n{}(P) goto (M1, 16) l{k}\n", sum(k), less(k));
            }
            _ => {
                let _ = write!(t, "{}(P) goto (M1, 16) l{k}\n{}l{k}:\nbarrier\n", less(k), sum(k));
            }
        }
    }
    for k in (0..n).rev() {
        match shape {
            "nested loops" => {
                let _ = writeln!(t, "{}(P) goto (M1, 16) l{k}", less(k));
            }
            "far joins" => {
                let _ = write!(t, "l{}:\n{}", n - 1 - k, sum(k));
            }
            _ => {}
        }
    }
    for k in 0..VARIABLES {
        let _ = writeln!(t, "oword_st (4) T6 {:#x}:ud X{k}.0", 4 * k);
    }
    t += "ret (M1, 16)\n";
    t
}
