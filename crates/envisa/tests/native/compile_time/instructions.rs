//! Straight code, parts of vectors that other instructions cut, branches, messages, registers that are found by addresses, and
//! results that are read far away.

use std::fmt::Write as _;

pub const SHAPES: [&str; 7] =
    ["straight", "parts", "scattered", "read far away", "branches", "messages", "pointed"];

/// A program of so many statements of a shape.
pub fn program(shape: &str, n: usize) -> String {
    let mut t = String::from(
        ".version 3.6\n.kernel \"grows\"\n.kernel_attr Target=\"cm\"\n.kernel_attr SimdSize=16\n\
         .decl Lane v_type=G type=uw num_elts=16 align=wordx32\n\
         .decl Off v_type=G type=uq num_elts=16 align=wordx32\n\
         .decl Big v_type=G type=ud num_elts=256 align=wordx32\n\
         .decl Far v_type=A num_elts=16\n\
         .decl P v_type=P num_elts=16\n.decl A v_type=G type=uq num_elts=1 align=qword\n\
         .input A offset=64 size=8\n",
    );
    // Variables that all statements share, or of which each has its own.
    let own = if shape == "read far away" { n } else { 40 };
    for k in 0..own {
        let _ = writeln!(t, ".decl X{k} v_type=G type=ud num_elts=16 align=wordx32");
    }
    t += ".function \"grows_main\"\n\
          mov (M1_NM, 8) Lane(0,0)<1> 0x76543210:v\nadd (M1_NM, 8) Lane(0,8)<1> Lane(0,0)<1;1,0> 0x8:uw\n\
          shl (M1, 16) Off(0,0)<1> Lane(0,0)<1;1,0> 0x2:ud\nadd (M1, 16) Off(0,0)<1> Off(0,0)<1;1,0> A(0,0)<0;1,0>\n";
    for k in 0..40 {
        let _ = writeln!(t, "add (M1, 16) X{k}(0,0)<1> Lane(0,0)<1;1,0> {k:#x}:ud");
    }
    for k in 0..n {
        let [a, b, c] = [k % 40, (k * 7 + 1) % 40, (k * 11 + 3) % 40];
        match shape {
            "straight" => {
                let _ = writeln!(t, "add (M1, 16) X{a}(0,0)<1> X{b}(0,0)<1;1,0> X{c}(0,0)<1;1,0>");
            }
            "parts" if k % 3 == 2 => {
                let _ = writeln!(t, "shl (M1_NM, 4) X{a}(0,4)<1> X{b}(0,8)<1;1,0> 0x1:ud");
            }
            "parts" => {
                let _ = writeln!(t, "add (M1_NM, 4) X{a}(0,{})<1> X{b}(0,8)<1;1,0> X{a}(0,0)<1;1,0>", k % 13);
            }
            "scattered" => {
                if k % 16 == 0 {
                    let _ = writeln!(t, "addr_add (M1, 16) Far(0)<1> &Big Lane(0,0)<1;1,0>");
                }
                let (bit, lane) = (1 << (k % 16), k % 16);
                let _ = writeln!(t, "setp (M1_NM, 16) P {bit:#x}:ud");
                let _ = writeln!(t, "(P) mov (M1, 16) r[Far({lane}),0]<1>:ud X{b}(0,{lane})<0;1,0>");
            }
            "read far away" => {
                let from = if k < n / 2 { b } else { k - n / 2 };
                let _ = writeln!(t, "mul (M1, 16) X{k}(0,0)<1> X{from}(0,0)<1;1,0> X{c}(0,0)<1;1,0>");
            }
            "branches" => {
                let _ = writeln!(
                    t,
                    "cmp.lt (M1, 16) P X{a}(0,0)<1;1,0> X{b}(0,0)<1;1,0>\n(P) goto (M1, 16) l{k}"
                );
                let _ = writeln!(t, "add (M1, 16) X{a}(0,0)<1> X{b}(0,0)<1;1,0> {k:#x}:ud\nl{k}:");
            }
            "messages" if k % 2 == 0 => {
                let _ = writeln!(t, "lsc_load.ugm (M1, 16) X{a}:d32 flat[Off]:a64");
            }
            "messages" => {
                let _ = writeln!(t, "lsc_store.ugm (M1, 16) flat[Off]:a64 X{b}:d32");
            }
            _ => {
                let _ = writeln!(t, "addr_add (M1, 16) Far(0)<1> &Big Lane(0,0)<1;1,0>");
                let _ = writeln!(t, "mov (M1, 16) X{a}(0,0)<1> r[Far(0),{}]<1,0>:ud", 4 * (k % 32));
            }
        }
    }
    let _ = writeln!(t, "ret (M1, 16)");
    t
}
