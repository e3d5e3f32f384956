//! Generated code as people read it.

use std::fmt::Write as _;

use envisa_lower::Program;
use iced_x86::{Decoder, DecoderOptions, Formatter, IntelFormatter};

use crate::emit::Compiled;

/// The x86 of a program, with the program's instructions before theirs.
pub(crate) fn listing(p: &Program, c: &Compiled) -> String {
    let mut out = String::new();
    let mut marks = c.code.marks.iter().peekable();
    let mut format = IntelFormatter::new();
    let mut text = String::new();
    for i in &mut Decoder::new(64, &c.code.bytes, DecoderOptions::NONE) {
        while let Some((at, pc)) = marks.peek().filter(|(at, _)| u64::from(*at) <= i.ip()) {
            let inst = &p.code()[*pc as usize];
            let slow = c.slow.iter().find(|s| s.0 == *pc);
            let _ =
                write!(out, "; ${} {:?} ({}, M{})", inst.source, inst.op, inst.channels, inst.first / 4 + 1);
            match slow {
                Some((_, why)) => out.push_str(&format!(" by the interpreter: {why}\n")),
                None => out.push('\n'),
            }
            let _ = at;
            marks.next();
        }
        text.clear();
        format.format(&i, &mut text);
        let _ = writeln!(out, "{:6x}  {text}", i.ip());
    }
    out
}
