//! OpenCL C: declarations, statements, blocks, expressions, tokens.

use crate::edits::Edit;
use crate::name_edits;
use crate::source::{Source, is_assignment};
use crate::token_pairs;
use crate::tokens::Kind;
use crate::{Language, Pass};

/// Sources in OpenCL C, and in C.
pub struct OpenClC;

impl Language for OpenClC {
    fn passes(&self) -> &[Pass] {
        const MOST: usize = usize::MAX;
        const PASSES: [Pass; 17] = [
            Pass { name: "leave out declarations", edits: declarations, most: MOST },
            Pass { name: "leave out statements", edits: statements, most: MOST },
            Pass { name: "keep one branch of directives", edits: conditionals, most: 1 },
            Pass { name: "keep bodies only", edits: bodies, most: 1 },
            Pass { name: "make values zero", edits: values, most: MOST },
            Pass { name: "leave out names", edits: name_edits::use_removal_edits, most: 1 },
            Pass { name: "keep one operand", edits: operands, most: 1 },
            Pass {
                name: "put what names stand for in their places",
                edits: name_edits::inlining_edits,
                most: 1,
            },
            Pass { name: "leave out casts", edits: cast_edits, most: MOST },
            Pass { name: "keep one element of vectors", edits: vector_elements, most: 1 },
            Pass { name: "make types narrow", edits: name_edits::type_edits, most: 1 },
            Pass { name: "put members in the place of structures", edits: name_edits::only_members, most: 1 },
            Pass { name: "leave out list elements", edits: elements, most: 4 },
            Pass { name: "make numbers simple", edits: numbers, most: MOST },
            Pass { name: "leave out tokens", edits: single_tokens, most: 1 },
            Pass { name: "leave out space and comments", edits: space, most: MOST },
            Pass { name: "make names short", edits: name_edits::shorter_name_edits, most: 1 },
        ];
        &PASSES
    }

    fn is_hopeless(&self, text: &str, whole: &str) -> bool {
        name_edits::lacks_declarations(text, whole)
            || token_pairs::are_wrong(&Source::new(text)) && !token_pairs::are_wrong(&Source::new(whole))
    }
}

/// Things at the outermost level: to a `;` or the end of a block.
fn declarations(text: &str) -> Vec<Edit> {
    let s = Source::new(text);
    s.outermost().into_iter().map(|range| s.leave_out(range)).collect()
}

/// Statements of every block, outer ones first.
fn statements(text: &str) -> Vec<Edit> {
    let s = Source::new(text);
    s.statements().into_iter().map(|range| s.leave_out(range)).collect()
}

/// `#if` to `#endif` by one of its branches.
fn conditionals(text: &str) -> Vec<Edit> {
    let s = Source::new(text);
    let mut out = Vec::new();
    // Directives of each group that is open, with their places.
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for i in (0..s.all.len()).filter(|i| s.kind(*i) == Some(Kind::Directive)) {
        let name = s.word(i).trim_start_matches('#').trim_start();
        if name.starts_with("if") {
            groups.push(vec![i]);
        } else if name.starts_with("el") {
            groups.iter_mut().last().into_iter().for_each(|g| g.push(i));
        } else if name.starts_with("endif")
            && let Some(mut group) = groups.pop()
        {
            group.push(i);
            let whole = s.piece(group[0]..i + 1);
            for branch in group.windows(2) {
                out.push(Edit::replace(whole.clone(), s.text_of(branch[0] + 1..branch[1])));
            }
            out.push(Edit::leave_out(whole));
        }
    }
    out
}

/// `if (c) body else other` by `body`, `for (…) body` by `body`, `{ body }` by `body`.
fn bodies(text: &str) -> Vec<Edit> {
    let s = Source::new(text);
    let mut out = Vec::new();
    for i in 0..s.all.len() {
        let body = match s.word(i) {
            "if" | "for" | "while" | "switch" => s.close(i + 1).map(|p| p + 1),
            "else" | "do" => Some(i + 1),
            "{" => Some(i),
            _ => None,
        };
        let Some(body) = body.filter(|b| *b < s.all.len()) else { continue };
        let end = s.statement_end(body);
        let inner = if s.word(body) == "{" { body + 1..end.saturating_sub(1) } else { body..end };
        if inner.start >= inner.end || end <= i {
            continue;
        }
        // What stands behind a loop that begins with its body is a part of it.
        let whole = match s.word(i) {
            "do" => i..s.statement_end(end),
            "if" if s.word(end) == "else" => i..s.statement_end(end + 1),
            _ => i..end,
        };
        out.push(Edit::replace(s.piece(whole), s.text_of(inner)));
    }
    out
}

/// Elements between commas, with one of the commas.
fn elements(text: &str) -> Vec<Edit> {
    let s = Source::new(text);
    let lists = (0..s.all.len()).map(|open| (open, s.list(open)));
    let all = lists.flat_map(|(open, list)| list.into_iter().map(move |e| (open, e)));
    all.map(|(open, e)| s.with_comma(open, &e)).filter(|e| !e.is_empty()).map(|e| s.leave_out(e)).collect()
}

/// `(T)x` by `x`.
fn cast_edits(text: &str) -> Vec<Edit> {
    let s = Source::new(text);
    (0..s.all.len()).filter_map(|open| Some(s.leave_out(open..s.cast_end(open)?))).collect()
}

/// `(int4)(a, b, c, d)` by `(int4)(a)`, and by each of the other elements.
fn vector_elements(text: &str) -> Vec<Edit> {
    let s = Source::new(text);
    let mut out = Vec::new();
    for open in (0..s.all.len()).filter_map(|cast| s.cast_end(cast)).filter(|open| s.word(*open) == "(") {
        let (list, all) = (s.list(open), s.close(open).map(|close| open + 1..close));
        if let (Some(all), true) = (all, list.len() > 1) {
            out.extend(list.into_iter().map(|e| Edit::replace(s.piece(all.clone()), s.text_of(e))));
        }
    }
    out
}

/// What is assigned, by `0`: what it was computed from is then no longer needed.
fn values(text: &str) -> Vec<Edit> {
    let s = Source::new(text);
    let mut out = Vec::new();
    for start in (0..s.all.len()).filter(|i| is_assignment(s.word(*i))).map(|i| i + 1) {
        let mut end = start;
        while end < s.all.len() && s.kind(end) != Some(Kind::Close) && !matches!(s.word(end), ";" | ",") {
            end = s.close(end).unwrap_or(end) + 1;
        }
        if end > start + 1 {
            out.push(Edit::replace(s.piece(start..end), "0"));
        }
    }
    out
}

/// `a + b` by `a` or by `b`; `c ? a : b` by each; `(…)` by what is inside, and by `0`; calls by an argument, and by `0`.
fn operands(text: &str) -> Vec<Edit> {
    const BINARY: [&str; 18] =
        ["+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "&&", "||", "<", ">", "<=", ">=", "==", "!="];
    let s = Source::new(text);
    let mut out = Vec::new();
    for i in 0..s.all.len() {
        let is = s.word(i);
        if let (true, Some(close)) = (matches!(is, "(" | "["), s.close(i)) {
            bracket_edits(&s, i, close, &mut out);
        }
        if BINARY.contains(&is) && i > 0 {
            let (left, right) = (s.operand_start(i - 1), s.operand_end(i + 1));
            out.push(s.leave_out(left..i + 1));
            if right > i + 1 {
                out.push(s.leave_out(i..right));
            }
        }
        if is == "?" {
            let (condition, first) = (s.around(i), s.around(i + 1));
            if s.word(first.end) == ":" {
                let other = s.around(first.end + 1);
                out.push(s.leave_out(condition.start..i + 1).and(s.leave_out(first.end..other.end)));
                out.push(s.leave_out(condition.start..first.end + 1));
                out.push(s.leave_out(i..other.end));
            }
        }
    }
    out
}

/// Edits of what is in brackets.
fn bracket_edits(s: &Source<'_>, open: usize, close: usize, out: &mut Vec<Edit>) {
    let called = open > 0 && s.kind(open - 1) == Some(Kind::Word);
    let whole = if called && s.word(open) == "(" { open - 1..close + 1 } else { open..close + 1 };
    if close > open + 1 {
        out.push(Edit::replace(s.piece(open + 1..close), "0"));
        if s.word(open) == "(" {
            out.push(Edit::replace(s.piece(open..close + 1), s.text_of(open + 1..close)));
        }
    }
    if called && s.word(open) == "(" {
        out.push(Edit::replace(s.piece(whole.clone()), "0"));
        for argument in s.list(open) {
            out.push(Edit::replace(s.piece(whole.clone()), format!("({})", s.text_of(argument))));
        }
    }
}

/// Numbers by 0 and 1, and without what tells their type.
fn numbers(text: &str) -> Vec<Edit> {
    let s = Source::new(text);
    let mut out = Vec::new();
    for token in s.all.iter().filter(|t| t.kind == Kind::Literal && t.byte.is_ascii_digit()) {
        let (piece, is) = (token.piece.clone(), &text[token.piece.clone()]);
        if is.len() > 1 {
            out.push(Edit::replace(piece.clone(), "0"));
            out.push(Edit::replace(piece.clone(), "1"));
            let digits = is.trim_end_matches(['u', 'l', 'U', 'L']);
            out.push(Edit::replace(piece, digits));
        } else if is != "0" {
            out.push(Edit::replace(piece, "0"));
        }
    }
    out
}

/// Each token, each pair of brackets, and each label with its colon.
fn single_tokens(text: &str) -> Vec<Edit> {
    let s = Source::new(text);
    let single = (0..s.all.len()).filter(|i| s.all[*i].partner.is_none());
    let pairs = (0..s.all.len()).filter_map(|i| Some((i, s.close(i)?)));
    let pairs = pairs.map(|(open, close)| s.leave_out(open..open + 1).and(s.leave_out(close..close + 1)));
    let begins = |i: usize| i.checked_sub(1).is_none_or(|k| matches!(s.word(k), ";" | "{" | "}" | ")" | ":"));
    let labels =
        (0..s.all.len()).filter(|i| s.kind(*i) == Some(Kind::Word) && s.word(i + 1) == ":" && begins(*i));
    let labels = labels.map(|i| s.leave_out(i..i + 2));
    single.map(|i| s.leave_out(i..i + 1)).chain(pairs).chain(labels).collect()
}

/// What stands between tokens, down to nothing, or to one blank or line feed.
fn space(text: &str) -> Vec<Edit> {
    let s = Source::new(text);
    let mut edges = vec![0];
    edges.extend(s.all.iter().flat_map(|t| [t.piece.start, t.piece.end]));
    edges.push(text.len());
    let mut out = Vec::new();
    for (i, gap) in edges.chunks(2).map(|e| e[0]..e[1]).enumerate() {
        let kinds = [i.checked_sub(1), Some(i)].map(|t| t.and_then(|t| s.kind(t)));
        let joins = |k: Option<Kind>| matches!(k, Some(Kind::Word | Kind::Literal));
        let marks = kinds == [Some(Kind::Mark); 2];
        let keep = match &text[gap.clone()] {
            between if between.contains('\n') => "\n",
            // Two marks may be one that is longer.
            _ if kinds.iter().all(|k| joins(*k)) || marks => " ",
            _ => "",
        };
        if gap.len() > keep.len() {
            out.push(Edit::replace(gap, keep));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edits::apply;

    fn texts(text: &str, edits: fn(&str) -> Vec<Edit>) -> Vec<String> {
        edits(text).into_iter().filter_map(|e| apply(text, &[e])).collect()
    }

    #[test]
    fn a_cast_is_left_out_and_what_is_none_stays() {
        let text = "a = (int)(ulong)b + f(c) - (d) + (int4)(1, 2) * (global uint *)p; if (x) y = 1;";
        let left = texts(text, cast_edits);
        assert_eq!(left.len(), 4, "{left:#?}");
        assert!(left.contains(&text.replacen("(int)", "", 1)), "{left:#?}");
        assert!(left.contains(&text.replacen("(ulong)", "", 1)), "{left:#?}");
        assert!(left.contains(&text.replacen("(global uint *)", "", 1)), "{left:#?}");
    }

    #[test]
    fn a_vector_has_one_of_its_elements() {
        let left = texts("v = (int3)(a, f(b, 1), c);", vector_elements);
        assert_eq!(left, ["v = (int3)(a);", "v = (int3)(f(b, 1));", "v = (int3)(c);"]);
    }

    #[test]
    fn a_label_goes_with_its_colon() {
        let left = texts("{ end: x = c ? a : b; }", single_tokens);
        assert!(left.contains(&"{  x = c ? a : b; }".to_owned()), "{left:#?}");
    }
}
