//! Generated code as people read it.

use std::fmt::Write as _;

use envisa_lower::{Inst, Program};
use iced_x86::{Decoder, DecoderOptions, Formatter, IntelFormatter};

use crate::emit::Compiled;

/// Tells of an instruction of a function, by the function's name, what its program does not say: the line of the source
/// that it was compiled from, and its text.
pub type Tell<'a> = &'a dyn Fn(&str, &Inst) -> (Option<String>, Option<String>);

/// The x86 of a program, with the program's instructions before theirs, and before these the lines of the source where
/// they change.
pub(crate) fn listing(p: &Program, c: &Compiled, tell: Tell<'_>) -> String {
    let mut out = String::new();
    let mut marks = c.code.marks.iter().peekable();
    let mut format = IntelFormatter::new();
    let mut text = String::new();
    let mut shown = None;
    let _ = writeln!(
        out,
        "; {} instructions, {} bytes, made in {}",
        p.code().len(),
        c.code.bytes.len(),
        c.passes
    );
    for i in &mut Decoder::new(64, &c.code.bytes, DecoderOptions::NONE) {
        while let Some((_, pc)) = marks.next_if(|(at, _)| u64::from(*at) <= i.ip()) {
            let inst = &p.code()[*pc as usize];
            let function = p.functions().get(usize::from(inst.function)).map_or("", |f| &f.name);
            let (source, written) = tell(function, inst);
            if source != shown {
                if let Some(line) = &source {
                    let _ = writeln!(out, "; {line}");
                }
                shown = source;
            }
            let _ =
                write!(out, "; ${} {:?} ({}, M{})", inst.source, inst.op, inst.channels, inst.first / 4 + 1);
            if let Some(written) = written {
                let _ = write!(out, "  {written}");
            }
            if let Some((_, why)) = c.slow.iter().find(|s| s.0 == *pc) {
                let _ = write!(out, " by the interpreter: {why}");
            }
            out.push('\n');
            // What else it was made of.
            for u in p.upper(*pc) {
                let _ = write!(out, "; and ${}", u.source);
                if let (_, Some(written)) = tell(function, &Inst { source: u.source, span: u.span, ..*inst })
                {
                    let _ = write!(out, "  {written}");
                }
                out.push('\n');
            }
        }
        text.clear();
        format.format(&i, &mut text);
        let _ = writeln!(out, "{:6x}  {text}", i.ip());
    }
    out
}
