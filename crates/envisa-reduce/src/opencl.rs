//! OpenCL C: declarations, statements, blocks, expressions, tokens.

use crate::edits::Edit;
use crate::tokens::{Kind, Token, tokens};
use crate::{Language, Pass};

/// Sources in OpenCL C, and in C.
pub struct OpenClC;

impl Language for OpenClC {
    fn passes(&self) -> &[Pass] {
        const PASSES: [Pass; 8] = [
            Pass { name: "leave out declarations", edits: declarations, most: usize::MAX },
            Pass { name: "leave out statements", edits: statements, most: usize::MAX },
            Pass { name: "keep bodies only", edits: bodies, most: 1 },
            Pass { name: "make values zero", edits: values, most: usize::MAX },
            Pass { name: "keep one operand", edits: operands, most: 1 },
            Pass { name: "leave out list elements", edits: elements, most: 4 },
            Pass { name: "leave out tokens", edits: single_tokens, most: 1 },
            Pass { name: "leave out space and comments", edits: space, most: usize::MAX },
        ];
        &PASSES
    }
}

/// Things at the outermost level: to a `;` or the end of a block.
fn declarations(text: &str) -> Vec<Edit> {
    let all = tokens(text);
    split(&all, 0, all.len()).into_iter().map(|(a, b)| leave_out(&all, a, b)).collect()
}

/// Statements of every block, outer ones first.
fn statements(text: &str) -> Vec<Edit> {
    let all = tokens(text);
    let mut out = Vec::new();
    for (open, token) in all.iter().enumerate() {
        if let (true, Some(close)) = (&text[token.piece.clone()] == "{", token.partner.filter(|p| *p > open))
        {
            out.extend(split(&all, open + 1, close).into_iter().map(|(a, b)| leave_out(&all, a, b)));
        }
    }
    out
}

/// `if (c) body else other` by `body`, `for (…) body` by `body`, `{ body }` by `body`.
fn bodies(text: &str) -> Vec<Edit> {
    let all = tokens(text);
    let word = |i: usize| all.get(i).map_or("", |t| &text[t.piece.clone()]);
    let mut out = Vec::new();
    for i in 0..all.len() {
        let body = match word(i) {
            "if" | "for" | "while" | "switch" => all.get(i + 1).and_then(|t| t.partner).map(|p| p + 1),
            "else" | "do" => Some(i + 1),
            "{" => Some(i),
            _ => None,
        };
        let Some(body) = body.filter(|b| *b >= i && *b < all.len()) else { continue };
        let end = statement_end(&all, text, body);
        let inner = if word(body) == "{" { body + 1..end.saturating_sub(1) } else { body..end };
        if inner.start >= inner.end || end <= i {
            continue;
        }
        let kept = all[inner.start].piece.start..all[inner.end - 1].piece.end;
        let whole = all[i].piece.start..all[end - 1].piece.end;
        out.push(Edit::replace(whole, &text[kept]));
    }
    out
}

/// Elements between commas, with one of the commas.
fn elements(text: &str) -> Vec<Edit> {
    let all = tokens(text);
    let mut out = Vec::new();
    for (open, token) in all.iter().enumerate() {
        let Some(close) = token.partner.filter(|p| *p > open + 1) else { continue };
        let mut commas = vec![open];
        let mut at = open + 1;
        while at < close {
            match all[at].partner.filter(|p| *p > at) {
                Some(partner) => at = partner,
                None if &text[all[at].piece.clone()] == "," => commas.push(at),
                None => {}
            }
            at += 1;
        }
        commas.push(close);
        for pair in commas.windows(2) {
            // The comma before it goes too; before the first, the one behind.
            let (start, end) = match (pair[0] == open, pair[1] == close) {
                (true, true) => (pair[0] + 1, pair[1]),
                (true, false) => (pair[0] + 1, pair[1] + 1),
                _ => (pair[0], pair[1]),
            };
            if start < end {
                out.push(leave_out(&all, start, end));
            }
        }
    }
    out
}

/// What is assigned, by `0`: what it was computed from is then no longer needed.
fn values(text: &str) -> Vec<Edit> {
    let all = tokens(text);
    let word = |i: usize| &text[all[i].piece.clone()];
    let assigns = |w: &str| w.ends_with('=') && !["==", "!=", "<=", ">="].contains(&w);
    let mut out = Vec::new();
    for start in (0..all.len()).filter(|i| assigns(word(*i))).map(|i| i + 1) {
        let mut end = start;
        while end < all.len() && all[end].kind != Kind::Close && !matches!(word(end), ";" | ",") {
            end = all[end].partner.filter(|p| *p > end).unwrap_or(end) + 1;
        }
        if end > start + 1 {
            out.push(Edit::replace(all[start].piece.start..all[end - 1].piece.end, "0"));
        }
    }
    out
}

/// `a + b` by `a` or by `b`; `(…)` by what is inside, and by `0`.
fn operands(text: &str) -> Vec<Edit> {
    const BINARY: [&str; 19] = [
        "+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "&&", "||", "<", ">", "<=", ">=", "==", "!=", "?",
    ];
    let all = tokens(text);
    let mut out = Vec::new();
    for (i, token) in all.iter().enumerate() {
        let is = &text[token.piece.clone()];
        if let (true, Some(close)) = (matches!(is, "(" | "["), token.partner.filter(|p| *p > i)) {
            let whole = token.piece.start..all[close].piece.end;
            if close > i + 1 {
                let inside = all[i + 1].piece.start..all[close - 1].piece.end;
                out.push(Edit::replace(inside.clone(), "0"));
                if is == "(" {
                    out.push(Edit::replace(whole, &text[inside]));
                }
            }
        }
        if BINARY.contains(&is) && i > 0 {
            let (left, right) = (operand_start(&all, i), operand_end(&all, i));
            if left < i {
                out.push(leave_out(&all, left, i + 1));
            }
            if right > i + 1 {
                out.push(leave_out(&all, i, right));
            }
        }
        if token.kind == Kind::Literal && is != "0" && is.starts_with(|c: char| c.is_ascii_digit()) {
            out.push(Edit::replace(token.piece.clone(), "0"));
        }
    }
    out
}

/// Each token, and each pair of brackets.
fn single_tokens(text: &str) -> Vec<Edit> {
    let all = tokens(text);
    let out = all.iter().enumerate().filter(|(_, t)| t.partner.is_none());
    out.map(|(i, _)| leave_out(&all, i, i + 1)).collect()
}

/// What stands between tokens, down to one blank or line feed.
fn space(text: &str) -> Vec<Edit> {
    let all = tokens(text);
    let mut edges = vec![0];
    edges.extend(all.iter().flat_map(|t| [t.piece.start, t.piece.end]));
    edges.push(text.len());
    let gaps = edges.chunks(2).map(|e| e[0]..e[1]).filter(|g| g.len() > 1);
    gaps.map(|g| {
        let keep = if text[g.clone()].contains('\n') { "\n" } else { " " };
        Edit::replace(g, keep)
    })
    .filter(|e| !e.piece.is_empty())
    .collect()
}

fn leave_out(all: &[Token], from: usize, to: usize) -> Edit {
    Edit::leave_out(all[from].piece.start..all[to - 1].piece.end)
}

/// Statements or declarations among tokens: each ends with a `;`, a directive, or the end of a block.
fn split(all: &[Token], from: usize, to: usize) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    let (mut start, mut at) = (from, from);
    while at < to {
        let token = &all[at];
        let ends = match token.partner.filter(|p| *p > at && *p < to) {
            Some(partner) => {
                at = partner;
                token.byte == b'{'
            }
            None => token.kind == Kind::Directive || token.byte == b';',
        };
        at += 1;
        // `struct { … } name;` and `do { … } while (c);` go on behind the block, by themselves no statement.
        if ends {
            out.push((start, at));
            start = at;
        }
    }
    if start < to {
        out.push((start, to));
    }
    out
}

/// One behind the last token of the statement that begins at `start`.
fn statement_end(all: &[Token], text: &str, start: usize) -> usize {
    let word = |i: usize| all.get(i).map_or("", |t| &text[t.piece.clone()]);
    let mut at = start;
    // `for (…) if (…) x;` is one statement.
    while at < all.len() {
        match all[at].partner.filter(|p| *p > at) {
            Some(partner) if word(at) == "{" => return partner + 1,
            Some(partner) => at = partner + 1,
            None if word(at) == ";" => return at + 1,
            None if word(at) == "}" => return at,
            None => at += 1,
        }
    }
    all.len()
}

/// Where the operand before an operator begins: a word, literal or brackets, with what is called or indexed.
fn operand_start(all: &[Token], operator: usize) -> usize {
    let mut at = operator;
    while at > 0 {
        let before = &all[at - 1];
        at = match (before.kind, before.partner) {
            (Kind::Close, Some(partner)) => partner,
            (Kind::Word | Kind::Literal, _) if at == operator || all[at].kind == Kind::Open => at - 1,
            _ => return at,
        };
        if all[at].kind == Kind::Word || all[at].kind == Kind::Literal {
            return at;
        }
    }
    at
}

/// One behind the operand after an operator.
fn operand_end(all: &[Token], operator: usize) -> usize {
    let mut at = operator + 1;
    while at < all.len() {
        let token = &all[at];
        match (token.kind, token.partner) {
            (Kind::Open, Some(partner)) if partner > at => at = partner + 1,
            (Kind::Word | Kind::Literal, _) if at == operator + 1 => at += 1,
            _ => return at,
        }
    }
    at
}
