//! Comments that allow a rule in a place: `// envisa: allow(V0207, dead-write)`.

use envisa_isa::Span;

use crate::{Allowance, rule};

/// The allowances that a source text's comments make, and the identifiers in them that name no rule,
/// with their places.
///
/// A comment at the end of a line is about that line; on a line of its own, about the next line that
/// is not a comment; before `.kernel` or as `// envisa: allow-file(…)`, about the whole file.
pub fn parse_allow_comments(text: &str) -> (Vec<Allowance>, Vec<(Span, String)>) {
    let mut out = Vec::new();
    let mut unknown = Vec::new();
    let mut waiting: Vec<crate::Code> = Vec::new();
    let end_of_text = text.len() as u32;
    let mut at = 0usize;
    let mut kernel_seen = false;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let body = line.trim_end();
        let comment = body.find("//");
        let code = body[..comment.unwrap_or(body.len())].trim();
        kernel_seen |= code.starts_with(".kernel") || code.starts_with(".global_function");
        let mut here: Vec<(crate::Code, bool)> = Vec::new();
        if let Some(c) = comment
            && let Some(rest) = body[c + 2..].trim_start().strip_prefix("envisa:")
        {
            let rest = rest.trim_start();
            let (list, whole) = match (rest.strip_prefix("allow-file("), rest.strip_prefix("allow(")) {
                (Some(l), _) => (Some(l), true),
                (_, Some(l)) => (Some(l), !kernel_seen && code.is_empty()),
                _ => (None, false),
            };
            let list = list.and_then(|l| l.split_once(')')).map(|(l, _)| l);
            for id in list.unwrap_or("").split(',').map(str::trim).filter(|s| !s.is_empty()) {
                match rule::find(id) {
                    Some(r) => here.push((r.code, whole)),
                    None => {
                        let offset = id.as_ptr() as usize - text.as_ptr() as usize;
                        unknown.push((Span::new(offset as u32, (offset + id.len()) as u32), id.to_string()));
                    }
                }
            }
        }
        for (rule, whole) in here {
            if whole {
                out.push(Allowance { span: Span::new(0, end_of_text.saturating_add(1)), code: rule });
            } else if code.is_empty() {
                waiting.push(rule);
            } else {
                out.push(Allowance { span: Span::new(start as u32, at as u32), code: rule });
            }
        }
        if !code.is_empty() {
            for rule in waiting.drain(..) {
                out.push(Allowance { span: Span::new(start as u32, at as u32), code: rule });
            }
        }
    }
    (out, unknown)
}
