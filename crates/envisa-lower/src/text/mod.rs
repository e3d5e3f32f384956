//! A [`Program`] as text, for people and for the tests of lowering: printed, and read back the same.
//!
//! What is known of the whole comes first: the register file, then inputs. Then come the functions, each with its
//! variables and a line for each instruction:
//!
//! ```text
//! program "k" for PVC, simd 16, 8192 bytes of registers
//! constants 192 bytes
//!   @64 05000000
//! locals from @4096
//! …
//! function 0 "k"
//!   var 32 "A" @512 declared 64 of 64
//!     3  (P@64) mov.i32 (16 nm) C+64:ud<1> = A:ud<1;1,0>, #5:ud   ; $2 converged
//! ```
//!
//! Operands are places in the register file, written as a variable's name and the bytes from its first one;
//! places of no variable are `@offset`. Immediates stand as their values, with their places where the value does
//! not tell which of the constants is meant. A message is the name of its family and its fields, of which those are left out that have their
//! usual value.
//!
//! Text has everything but the places of the vISA source ([`Inst::span`](crate::Inst::span)).

mod cursor;
mod fields;
mod names;
mod print;
mod read;

pub use cursor::ReadError;

use envisa_isa::{Combine, Modifier};

use crate::program::{ExecType, Facts, InputClass, Op};

/// A value's name among those of its kind, each with the value it stands for.
type Names<T> = &'static [(&'static str, T)];

const EXEC_TYPES: Names<ExecType> = &[
    ("", ExecType::None),
    ("i32", ExecType::I32),
    ("u32", ExecType::U32),
    ("i64", ExecType::I64),
    ("u64", ExecType::U64),
    ("f32", ExecType::F32),
    ("f64", ExecType::F64),
    ("f16", ExecType::F16),
    ("bf16", ExecType::Bf16),
    ("f64odd", ExecType::Odd),
    ("wide", ExecType::Wide),
];

const MODIFIERS: Names<Modifier> = &[
    ("", Modifier::None),
    ("(-)", Modifier::Neg),
    ("(abs)", Modifier::Abs),
    ("(-abs)", Modifier::NegAbs),
    ("(~)", Modifier::Not),
    ("(sat)", Modifier::Sat),
];

const COMBINATIONS: Names<Combine> = &[("", Combine::None), ("any", Combine::Any), ("all", Combine::All)];

const INPUTS: Names<InputClass> =
    &[("general", InputClass::General), ("surface", InputClass::Surface), ("sampler", InputClass::Sampler)];

/// Relations of `cmp`, by [`Inst::aux`](crate::Inst::aux).
const RELATIONS: [&str; 6] = ["eq", "ne", "gt", "ge", "lt", "le"];

fn name_of<T: PartialEq>(names: &[(&'static str, T)], value: &T) -> &'static str {
    names.iter().find(|(_, v)| v == value).map_or("?", |(name, _)| name)
}

/// As text spells an operation.
fn op_name(op: Op) -> String {
    format!("{op:?}").to_lowercase()
}

/// The names of facts, and which of them hold.
fn named_facts(f: Facts) -> [(&'static str, bool); 5] {
    [
        ("converged", f.converged),
        ("uniform", f.uniform),
        ("fuses", f.fuses_with_next),
        ("only-next", f.writes_only_next),
        ("auxiliary", f.auxiliary),
    ]
}
