//! Code as people read it.

use std::fmt::Write as _;

use iced_x86::{Formatter, Instruction, IntelFormatter, OpKind};

use crate::Compiled;

/// The instructions of the function itself, without what is around them, labels by number.
pub(crate) fn listing(c: &Compiled) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "; spilled {} bytes, help {}", c.spilled, c.help.len());
    for (pc, why) in &c.left {
        let _ = writeln!(out, "; {pc} is left to the machine: {why}");
    }
    let mut format = IntelFormatter::new();
    let options = format.options_mut();
    options.set_space_after_operand_separator(true);
    options.set_hex_prefix("0x");
    options.set_hex_suffix("");
    for i in &c.code[c.body.clone()] {
        if i.ip() != 0 {
            let _ = writeln!(out, "L{}:", i.ip());
        }
        let _ = writeln!(out, "    {}", format_instruction(&mut format, i));
    }
    out
}

fn format_instruction(format: &mut IntelFormatter, i: &Instruction) -> String {
    let mut text = String::new();
    if i.op0_kind() == OpKind::NearBranch64 {
        format.format_mnemonic(i, &mut text);
        let to = match i.near_branch64() {
            crate::emit::label::DONE => "done".to_owned(),
            crate::emit::label::CALL => "machine".to_owned(),
            crate::emit::label::EXPIRE => "expire".to_owned(),
            crate::emit::label::BARRIER => "barrier".to_owned(),
            l => format!("L{l}"),
        };
        return format!("{text} {to}");
    }
    format.format(i, &mut text);
    text
}
