//! `envisa explain`: describes an instruction from its row of the table, a code, or a rule.

use crate::cmd::{Done, Exit, Failure};
use crate::io;
use envisa::diag::nearest;
use envisa::isa::desc::*;
use envisa::isa::{InstDesc, Op, Platforms, Type, TypeSet};
use serde_json::{Value as Json, json};
use std::fmt::Write;

const EXAMPLES: &str = "\
Examples:
  envisa explain                                  one line for each instruction
  envisa explain svm_gather                       by mnemonic
  envisa explain 0x3a                             by opcode, with all its sub-opcodes
  envisa explain 0x4e.03 --json
  envisa explain F0001                            what the code of an error, warning or fault means";

/// Explain an instruction: its bytes, fields, semantics, types, platforms and text form.
///
/// Also explains the codes of errors, warnings and faults, and the rules of `check`. Without an argument, lists every
/// instruction.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// An instruction or a code (`F0001`, `V0206`). Name an instruction by its mnemonic (`svm_gather`), by its name in the
    /// specification (`SCATTER_SCALED`), or by its opcode, with a sub-opcode if it has one (`0x3a`, `0x4e.03`).
    instruction: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: Args) -> Done {
    let Some(query) = args.instruction else {
        io::print(&if args.json { list_json() } else { list() })?;
        return Ok(Exit::Fine);
    };
    let found = find(&query);
    if found.is_empty() {
        return match code_or_rule_page(&query) {
            Some(_) if args.json => {
                Err(Failure(format!("{query} is no instruction, and only these are explained as JSON")))
            }
            Some(page) => {
                io::print(&page)?;
                Ok(Exit::Fine)
            }
            None => Err(Failure(unknown_query_message(&query))),
        };
    }
    let mut out = String::new();
    if args.json {
        let rows: Vec<Json> = found.iter().map(|op| to_json(op.desc())).collect();
        out = serde_json::to_string_pretty(&rows).expect("plain JSON") + "\n";
    } else {
        for (i, op) in found.iter().enumerate() {
            if i > 0 {
                out.push_str(&format!("\n{}\n\n", "─".repeat(72)));
            }
            page(op.desc(), &mut out);
        }
    }
    io::print(&out)?;
    Ok(Exit::Fine)
}

/// Rows that a query names.
fn find(query: &str) -> Vec<Op> {
    let q = query.trim().to_ascii_lowercase();
    if q.is_empty() {
        return Vec::new();
    }
    if let Some(hex) = q.strip_prefix("0x") {
        let (op, sub) = match hex.split_once('.') {
            Some((op, sub)) => (op, u8::from_str_radix(sub.trim_start_matches("0x"), 16).ok()),
            None => (hex, None),
        };
        let Ok(opcode) = u8::from_str_radix(op, 16) else { return Vec::new() };
        let sub_given = hex.contains('.');
        return ops_where(|d| d.opcode == opcode && (!sub_given || d.sub == sub && sub.is_some()));
    }
    // A mnemonic may stand for several rows, one of them of the same name.
    let by_name = ops_where(|d| d.name.eq_ignore_ascii_case(&q) || d.forms.iter().any(|f| f.head == q));
    if !by_name.is_empty() {
        return by_name;
    }
    // `lsc_load.ugm`, `barrier ` and the like: what stands before the first dot or blank.
    let head = q.split(['.', ' ']).next().unwrap_or("");
    ops_where(|d| d.forms.iter().any(|f| f.head == head) || d.page.eq_ignore_ascii_case(&q))
}

fn ops_where(test: impl Fn(&InstDesc) -> bool) -> Vec<Op> {
    Op::ALL.iter().copied().filter(|op| test(op.desc())).collect()
}

/// The page of a diagnostic's code, or of a rule of the verifier.
fn code_or_rule_page(query: &str) -> Option<String> {
    let code = query.trim().to_ascii_uppercase();
    if let Some(rule) = envisa::verify::rule::find(query.trim()).or_else(|| envisa::verify::rule::find(&code))
    {
        return Some(crate::cmd::check::explain_rule(rule));
    }
    let info = envisa::text::find_code(&code).or_else(|| envisa::diag::code(&code))?;
    let kind = match info.code.as_bytes().first() {
        Some(b'W') => "warning",
        Some(b'F') => "told of a run",
        _ => "error",
    };
    let width = envisa::diag::TextOptions::default().width.min(100);
    Some(format!("{} {} ({kind})\n\n{}\n", info.code, info.title, wrap_paragraph(info.text, width)))
}

/// A paragraph in lines of at most so many characters.
fn wrap_paragraph(text: &str, width: usize) -> String {
    let (mut out, mut column) = (String::new(), 0);
    for word in text.split_whitespace() {
        let n = word.chars().count();
        if column > 0 && column + 1 + n > width {
            out.push('\n');
            column = 0;
        }
        if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += n;
    }
    out
}

fn unknown_query_message(query: &str) -> String {
    let is_code = |q: &str| q.len() == 5 && q.starts_with(['E', 'W', 'F', 'V', 'e', 'w', 'f', 'v']);
    if is_code(query) && query[1..].bytes().all(|b| b.is_ascii_digit()) {
        return format!("there is no code `{query}`");
    }
    let mnemonics = Op::ALL.iter().flat_map(|op| op.desc().forms.iter().map(|f| f.head));
    let names = Op::ALL.iter().map(|op| op.desc().name);
    match nearest(query, mnemonics).or_else(|| nearest(query, names)) {
        Some(name) => format!("no instruction is called `{query}`; did you mean `{name}`?"),
        None => format!("no instruction is called `{query}`; `envisa explain` lists all"),
    }
}

fn list() -> String {
    let mut out = String::new();
    for op in Op::ALL {
        let d = op.desc();
        let _ = writeln!(out, "{:<9} {:<26} {}", format_opcode(d), d.name, d.brief);
    }
    let _ = writeln!(out, "\n{} instructions; `envisa explain NAME` shows more.", Op::ALL.len());
    out
}

fn list_json() -> String {
    let rows: Vec<Json> = Op::ALL.iter().map(|op| to_json(op.desc())).collect();
    serde_json::to_string_pretty(&rows).expect("plain JSON") + "\n"
}

/// `0x4e.03`.
fn format_opcode(d: &InstDesc) -> String {
    match d.sub {
        Some(sub) => format!("0x{:02x}.{sub:02x}", d.opcode),
        None => format!("0x{:02x}", d.opcode),
    }
}

fn page(d: &InstDesc, out: &mut String) {
    let _ = writeln!(out, "{} = {}", d.name, format_opcode(d));
    let _ = writeln!(out, "{}\n", d.brief);

    let _ = writeln!(out, "Binary format");
    let mut cells = vec![format!("0x{:02x} opcode", d.opcode)];
    if let Some(sub) = d.sub {
        cells.push(format!("0x{sub:02x} sub-opcode"));
    }
    let (now, later): (Vec<&Slot>, Vec<&Slot>) = d.slots.iter().partition(|s| s.is_in((4, 1)));
    cells.extend(now.iter().map(|s| format!("{}: {}", s.name, width(&s.kind))));
    cells.extend(
        later.iter().map(|s| format!("from {}.{} {}: {}", s.since.0, s.since.1, s.name, width(&s.kind))),
    );
    let _ = writeln!(out, "  {}\n", cells.join(" | "));

    if d.slots.iter().any(|s| !matches!(s.kind, SlotKind::Exec | SlotKind::Pred)) {
        let _ = writeln!(out, "Operands and fields");
    }
    for slot in d.slots {
        describe(slot, out);
    }

    if !d.semantics.is_empty() {
        let _ = writeln!(out, "\nSemantics");
        for line in d.semantics.lines() {
            let _ = writeln!(out, "  {line}");
        }
    }
    if !d.forms.is_empty() {
        let _ = writeln!(out, "\nText");
        for form in d.forms {
            let _ = writeln!(out, "  {}", template_as_syntax(d, form));
            let _ = writeln!(out, "  {}", example_line(d, form));
        }
    }
    let _ = writeln!(out, "\nProperties");
    if d.exec_slot().is_some() {
        let sizes: Vec<String> =
            (0..6).filter(|l| d.exec_sizes >> l & 1 == 1).map(|l| (1 << l).to_string()).collect();
        let _ = writeln!(out, "  execution sizes   {}", sizes.join(" "));
    }
    let _ = writeln!(out, "  predication       {}", if d.pred_slot().is_some() { "yes" } else { "no" });
    let saturation = match d.modifiers.saturation {
        Saturation::No => "no",
        Saturation::Yes => "yes",
        Saturation::FloatOnly => "floating point only",
    };
    let _ = writeln!(out, "  saturation        {saturation}");
    let source = match d.modifiers.source {
        SourceModifiers::No => "none",
        SourceModifiers::Arithmetic => "(-) (abs) (-abs)",
        SourceModifiers::Logic => "(~)",
    };
    let _ = writeln!(out, "  source modifiers  {source}");
    let _ = writeln!(out, "  platforms         {}", format_platforms(d.platforms));
    if !matches!(d.effect, Effect::None) {
        let _ = writeln!(out, "  effect            {}", effect_name(d.effect));
    }
    if let Some(text) = out_of_bounds(d.out_of_bounds) {
        let _ = writeln!(out, "  out of bounds     {text}");
    }
    if let Some(versions) = format_versions(d) {
        let _ = writeln!(out, "  format versions   {versions}");
    }
    for map in d.type_maps {
        let on = if map.platforms == Platforms::ALL {
            String::new()
        } else {
            format!("   ({})", format_platforms(map.platforms))
        };
        let _ =
            writeln!(out, "  types             {} <- {}{on}", format_types(map.dst), format_types(map.src));
    }
    if !d.page.is_empty() {
        let _ = writeln!(out, "  page              {}", d.page);
    }
    if !d.note.is_empty() {
        let _ = writeln!(out, "\nNote: {}", d.note);
    }
}

fn describe(slot: &Slot, out: &mut String) {
    if matches!(slot.kind, SlotKind::Exec | SlotKind::Pred) {
        return;
    }
    let mut line = format!("  {:<16}", slot.name);
    match slot.role {
        Role::Read => line.push_str("read     "),
        Role::Write => line.push_str("written  "),
        Role::ReadWrite => line.push_str("read and written  "),
        Role::Field => line.push_str("field    "),
    }
    line.push_str(slot.doc);
    if !slot.is_in((4, 1)) {
        let _ = write!(line, " (from {}.{} on)", slot.since.0, slot.since.1);
    }
    if slot.types != TypeSet::NONE && slot.types != TypeSet::ANY {
        let _ = write!(line, " [{}]", format_types(slot.types));
    }
    out.push_str(line.trim_end());
    out.push('\n');
    match slot.kind {
        SlotKind::Field { enc, .. } => push_encoding(enc, "", out),
        SlotKind::Packed { parts, .. } => {
            for part in parts {
                let bits = if part.bits == 1 {
                    format!("bit {}", part.lo)
                } else {
                    format!("bits {}..{}", part.lo + part.bits - 1, part.lo)
                };
                let _ = writeln!(out, "      {} ({bits})", part.name);
                push_encoding(part.enc, "  ", out);
            }
        }
        SlotKind::Vector(classes) => {
            let _ = writeln!(out, "      {}", class_names(classes).join(", "));
        }
        SlotKind::Surface { allowed } => {
            let shape = match allowed.shape {
                SurfaceShape::Buffer => "a buffer",
                SurfaceShape::Typed => "a 1D, 2D or 3D surface",
                SurfaceShape::Media => "a 2D media surface",
                SurfaceShape::Any => "any surface",
            };
            let _ = writeln!(
                out,
                "      {shape}; T0 (SLM): {}; T5 (stateless): {}",
                format_platforms(allowed.slm),
                format_platforms(allowed.stateless)
            );
            address_of_state(allowed.address, out);
        }
        SlotKind::Sampler { address } => address_of_state(address, out),
        _ => {}
    }
}

fn push_encoding(enc: Enc, indent: &str, out: &mut String) {
    match enc {
        Enc::Values(values) | Enc::ExecLike(values) => {
            for v in values {
                let mut line = format!("      {indent}{:<5} {}", format!("0x{:x}", v.code), v.text);
                if v.platforms != Platforms::ALL {
                    let _ = write!(line, "   ({})", format_platforms(v.platforms));
                }
                if !v.doc.is_empty() {
                    let _ = write!(line, "   {}", v.doc);
                }
                let _ = writeln!(out, "{line}");
            }
        }
        Enc::Channels => {
            let _ = writeln!(out, "      {indent}bit 0 R, bit 1 G, bit 2 B, bit 3 A");
        }
        Enc::Number { max } | Enc::Hex { max } | Enc::HexDigits { max } => {
            let _ = writeln!(out, "      {indent}0 to {max}");
        }
        Enc::Ignored(_) | Enc::Signed => {}
    }
}

fn address_of_state(on: Platforms, out: &mut String) {
    if on != Platforms::NONE {
        let (major, minor) = envisa::isa::HANDLES_SINCE;
        let _ = writeln!(
            out,
            "      or the address of its state in a register, `V5`, `(V5, 3)` with an index, from {major}.{minor} on: {}",
            format_platforms(on)
        );
    }
}

fn width(kind: &SlotKind) -> String {
    match kind {
        SlotKind::Exec => "ub".into(),
        SlotKind::Pred => "uw".into(),
        SlotKind::Vector(_) => "vector".into(),
        SlotKind::Raw { .. } => "raw".into(),
        SlotKind::Surface { .. } | SlotKind::Sampler { .. } => "ub".into(),
        SlotKind::Label(_) => "uw".into(),
        SlotKind::Str { width }
        | SlotKind::Field { width, .. }
        | SlotKind::Packed { width, .. }
        | SlotKind::Count { width, .. } => match width {
            1 => "ub".into(),
            2 => "uw".into(),
            _ => "ud".into(),
        },
        SlotKind::Many(kind) => format!("{} …", width_of(kind)),
        SlotKind::If { bit, kind, .. } => format!("{} (if flag {bit})", width_of(kind)),
    }
}

fn width_of(kind: &SlotKind) -> String {
    width(kind)
}

fn class_names(classes: Classes) -> Vec<&'static str> {
    [
        (Classes::GENERAL, "general"),
        (Classes::INDIRECT, "indirect"),
        (Classes::IMM, "immediate"),
        (Classes::ADDRESS, "address"),
        (Classes::PREDICATE, "predicate"),
        (Classes::ADDRESS_OF, "address-of"),
        (Classes::STATE, "state"),
    ]
    .into_iter()
    .filter(|(c, _)| classes.has(*c))
    .map(|(_, n)| n)
    .collect()
}

fn format_types(set: TypeSet) -> String {
    if set == TypeSet::ANY {
        return "any".into();
    }
    set.iter().map(|t| t.name()).collect::<Vec<_>>().join(" ")
}

fn format_platforms(set: Platforms) -> String {
    if set == Platforms::ALL {
        return "all".into();
    }
    if set == Platforms::NONE {
        return "none".into();
    }
    set.iter().map(|p| p.name()).collect::<Vec<_>>().join(" ")
}

/// Format versions of the binary that have the instruction, if not all do.
fn format_versions(d: &InstDesc) -> Option<String> {
    let v = d.versions;
    if v == Versions::ALL {
        None
    } else if v.from == (0, 0) {
        Some(format!("up to {}.{}", v.to.0, v.to.1))
    } else {
        Some(format!("from {}.{}", v.from.0, v.from.1))
    }
}

fn effect_name(e: Effect) -> &'static str {
    match e {
        Effect::None => "none",
        Effect::Read => "reads memory",
        Effect::Write => "writes memory",
        Effect::Atomic => "reads and writes memory atomically",
        Effect::Sample => "samples an image",
        Effect::Fence => "orders memory accesses",
        Effect::Barrier => "waits for other threads",
        Effect::Message => "sends a message that its descriptor defines",
    }
}

fn out_of_bounds(o: OutOfBounds) -> Option<&'static str> {
    Some(match o {
        OutOfBounds::Unspecified => return None,
        OutOfBounds::ReadsZero => "reads give zero",
        OutOfBounds::WriteDropped => "writes are dropped",
        OutOfBounds::ReadsAlphaOne => "reads give ones in the alpha channel, zeros in the others",
        OutOfBounds::AtomicDropped => "nothing is written, zero is returned",
        OutOfBounds::Fault => "addresses are virtual: a fault",
    })
}

/// A template as people write syntax: `[(P)] scatter.<elt_size> <exec> …`.
fn template_as_syntax(d: &InstDesc, form: &Form) -> String {
    let text = fill_template(d, form, |what| match what {
        "pred" => "[(<P>)]".into(),
        other => format!("<{}>", other.trim_start_matches('@').trim_end_matches("...")),
    });
    // Flags name the field that they set, which nobody writes.
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once('?') {
        out.push_str(before);
        rest = after.trim_start_matches(|c| c != ']');
    }
    out + rest
}

/// A line of code that fits the template.
fn example_line(d: &InstDesc, form: &Form) -> String {
    let mut reg = 32;
    let text = fill_template(d, form, |what| sample_operand(d, what, &mut reg));
    // Optional suffixes are left out.
    let mut out = String::new();
    let mut depth = 0;
    let bytes: Vec<char> = text.chars().collect();
    let mut i = 0;
    while i < bytes.len() {
        if bytes[i] == '[' && bytes.get(i + 1) == Some(&'.') {
            depth += 1;
        } else if bytes[i] == ']' && depth > 0 {
            depth -= 1;
        } else if depth == 0 {
            out.push(bytes[i]);
        }
        i += 1;
    }
    // Operands that are left out leave no blanks behind.
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Replaces each `{…}` of the template.
fn fill_template(_d: &InstDesc, form: &Form, mut with: impl FnMut(&str) -> String) -> String {
    let mut out = String::new();
    let mut rest = form.template;
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        let Some(close) = rest[open..].find('}') else { break };
        out.push_str(&with(&rest[open + 1..open + close]));
        rest = &rest[open + close + 1..];
    }
    out.push_str(rest);
    out
}

/// Does its data have a set of channels rather than a number of elements?
fn is_quad(d: &InstDesc) -> bool {
    d.slot_index(SlotName::ChMask)
        .is_some_and(|i| matches!(d.slots[i].kind, SlotKind::Field { enc: Enc::Hex { .. }, .. }))
}

fn sample_operand(d: &InstDesc, what: &str, reg: &mut u32) -> String {
    let mut next = || {
        *reg += 1;
        *reg
    };
    if let Some(composite) = what.strip_prefix('@').and_then(Composite::from_name) {
        return match composite {
            // The quads say which channels they move.
            Composite::LscData if is_quad(d) => format!("V{}:d32.xyzw", next()),
            Composite::LscData => format!("V{}:d32", next()),
            Composite::LscData2d => format!("V{}:d16.16x8nn", next()),
            Composite::LscAddr => format!("flat[V{}]:a64", next()),
            Composite::LscData2dTyped => format!("V{}:8x4", next()),
            Composite::LscAddr2d => format!("flat[V{},0xff,0x7f,0xff,0x0,0x0]", next()),
            Composite::LscAddrPlain => format!("flat[V{}]:a64", next()),
            Composite::LscSurface => "bti(0x6)".to_owned(),
            Composite::LscTypedAddr2d => "bti(0x6)[0x0,0x0]".to_owned(),
            Composite::LscAddrStrided => format!("flat[V{},4]:a64", next()),
            Composite::LscTypedAddr => format!("bti(0x6)[V{}]:a32", next()),
            Composite::Paired if !d.versions.contains((4, 1)) => "%null.0".into(),
            Composite::LscCache | Composite::FenceFlags | Composite::RtMode | Composite::Paired => {
                String::new()
            }
            Composite::SendgSfid => "ugm".into(),
            Composite::Desc64 => "0x1234".into(),
            Composite::LifetimeVar => format!("V{}", next()),
        };
    }
    if what == "pred" {
        return String::new();
    }
    let name = what.trim_end_matches("...");
    let field_name = FieldName::parse(name);
    let slot = field_name.and_then(|f| Some((d.slots.iter().find(|s| s.name == f.slot)?, f.part)));
    let Some((slot, part_name)) = slot else { return name.to_owned() };
    let exec = |d: &InstDesc| {
        let log2 = if d.exec_sizes & 16 != 0 { 4 } else { 31 - (d.exec_sizes.max(1) as u32).leading_zeros() };
        format!("(M1, {})", 1 << log2)
    };
    let field = |enc: Enc| match enc {
        Enc::Values(values) => values.first().map_or("0".to_owned(), |v| v.text.to_owned()),
        Enc::ExecLike(values) => format!("(M1, {})", values.first().map_or("8", |v| v.text)),
        Enc::Channels => "RGBA".to_owned(),
        Enc::HexDigits { .. } => "0".to_owned(),
        Enc::Hex { .. } => "0x0".to_owned(),
        _ => "0".to_owned(),
    };
    let kind = match slot.kind {
        SlotKind::Many(kind) => *kind,
        kind => kind,
    };
    match kind {
        SlotKind::Exec => exec(d),
        SlotKind::Pred => String::new(),
        SlotKind::Vector(classes) => {
            let n = next();
            if !classes.has(Classes::GENERAL) && classes.has(Classes::ADDRESS) {
                "A0(0)<8>".into()
            } else if !classes.has(Classes::GENERAL) && classes.has(Classes::PREDICATE) {
                "P1".into()
            } else if classes.has(Classes::IMM) && slot.types == TypeSet::of(&[Type::Ud]) {
                "0x10:ud".into()
            } else if d.family == Family::Systolic {
                // A place, without a region.
                format!("V{n}(0,0)")
            } else if matches!(slot.role, Role::Write) {
                format!("V{n}(0,0)<1>")
            } else {
                format!("V{n}(0,0)<1;1,0>")
            }
        }
        SlotKind::Raw { .. } => format!("V{}.0", next()),
        SlotKind::Surface { .. } => "T6".into(),
        SlotKind::Sampler { .. } => "S0".into(),
        SlotKind::Label(LabelKind::Subroutine | LabelKind::Any) => "sub".into(),
        SlotKind::Label(_) => "BB_1".into(),
        SlotKind::Str { .. } => "\"name\"".into(),
        SlotKind::Field { enc, .. } => field(enc),
        SlotKind::Packed { parts, .. } => {
            parts.iter().find(|p| Some(p.name) == part_name).map_or("0".to_owned(), |p| field(p.enc))
        }
        SlotKind::Count { .. } | SlotKind::Many(_) => "1".into(),
        // The flag is clear in an example.
        SlotKind::If { .. } => String::new(),
    }
}

fn to_json(d: &InstDesc) -> Json {
    let names = |set: Platforms| set.iter().map(|p| p.name()).collect::<Vec<_>>();
    let type_names = |set: TypeSet| set.iter().map(|t| t.name()).collect::<Vec<_>>();
    let enc_json = |enc: Enc| match enc {
        Enc::Values(values) | Enc::ExecLike(values) => json!(
            values
                .iter()
                .map(|v| json!({"code": v.code, "text": v.text, "platforms": names(v.platforms)}))
                .collect::<Vec<_>>()
        ),
        Enc::Channels => json!("rgba mask"),
        Enc::Number { max } | Enc::Hex { max } | Enc::HexDigits { max } => json!({"max": max}),
        Enc::Ignored(default) => json!({"ignored": default}),
        Enc::Signed => json!("signed"),
    };
    let slots: Vec<Json> = d
        .slots
        .iter()
        .map(|s| {
            let mut slot = json!({
                "name": s.name.as_str(),
                "encoding": width(&s.kind),
                "role": format!("{:?}", s.role).to_ascii_lowercase(),
                "doc": s.doc,
                "types": type_names(s.types),
            });
            match s.kind {
                SlotKind::Field { enc, .. } => slot["values"] = enc_json(enc),
                SlotKind::Packed { parts, .. } => {
                    slot["parts"] = json!(
                        parts
                            .iter()
                            .map(|p| json!({"name": p.name.as_str(), "lo": p.lo, "bits": p.bits, "values": enc_json(p.enc)}))
                            .collect::<Vec<_>>()
                    );
                }
                SlotKind::Vector(classes) => slot["classes"] = json!(class_names(classes)),
                _ => {}
            }
            slot
        })
        .collect();
    json!({
        "name": d.name,
        "opcode": d.opcode,
        "sub_opcode": d.sub,
        "family": format!("{:?}", d.family),
        "brief": d.brief,
        "semantics": d.semantics,
        "note": d.note,
        "page": d.page,
        "platforms": names(d.platforms),
        "exec_sizes": (0..6).filter(|l| d.exec_sizes >> l & 1 == 1).map(|l| 1 << l).collect::<Vec<u32>>(),
        "out_of_bounds": out_of_bounds(d.out_of_bounds),
        "effect": effect_name(d.effect),
        "examples": d.forms.iter().map(|f| example_line(d, f)).collect::<Vec<_>>(),
        "mnemonics": d.forms.iter().map(|f| f.head).collect::<Vec<_>>(),
        "format_versions": format_versions(d),
        "text": d.forms.iter().map(|f| template_as_syntax(d, f)).collect::<Vec<_>>(),
        "type_maps": d.type_maps.iter().map(|m| json!({
            "platforms": names(m.platforms), "dst": type_names(m.dst), "src": type_names(m.src)
        })).collect::<Vec<_>>(),
        "slots": slots,
    })
}
