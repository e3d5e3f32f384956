//! Edits of all places of a name at once: what declares it goes with what uses it.

use crate::edits::Edit;
use crate::source::{Source, is_assignment};
use crate::tokens::Kind;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Words behind which a name is used, not declared.
const NO_TYPES: [&str; 6] = ["return", "else", "goto", "case", "sizeof", "do"];

/// A name that a text declares.
struct Name<'a> {
    word: &'a str,
    /// Tokens that declare it.
    declared: Vec<usize>,
    /// Tokens that use it.
    used: Vec<usize>,
}

/// Names that are declared behind a type: variables, members, parameters, functions, types.
fn declared_names<'a>(s: &Source<'a>) -> Vec<Name<'a>> {
    let mut all: BTreeMap<&str, Name<'_>> = BTreeMap::new();
    for i in (0..s.all.len()).filter(|i| s.kind(*i) == Some(Kind::Word)) {
        let name = Name { word: s.word(i), declared: Vec::new(), used: Vec::new() };
        let name = all.entry(s.word(i)).or_insert(name);
        if is_declaration_name(s, i) { name.declared.push(i) } else { name.used.push(i) }
    }
    all.into_values().filter(|n| !n.declared.is_empty()).collect()
}

/// Does a type stand before a word, and what belongs to a declaration behind it?
fn is_declaration_name(s: &Source<'_>, i: usize) -> bool {
    let Some(before) = i.checked_sub(1) else { return false };
    let is_type = |k: usize| s.kind(k) == Some(Kind::Word) && !NO_TYPES.contains(&s.word(k));
    let stars = (0..i).rev().take_while(|k| s.word(*k) == "*").count();
    let typed = match s.word(before) {
        "}" => s.word(i + 1) == ";",
        // `a * b` is none of them; `uint *a` and `f(uint *a)` are.
        "*" => i > stars && is_type(before - stars) && !is_operand(s, before - stars),
        _ => is_type(before),
    };
    typed && matches!(s.word(i + 1), "=" | ";" | "[" | "," | ")" | "(")
}

/// Does a text use names that only the whole one declares?
pub fn lacks_declarations(text: &str, whole: &str) -> bool {
    let (s, whole) = (Source::new(text), Source::new(whole));
    let own: BTreeSet<&str> = declared_names(&s).into_iter().map(|n| n.word).collect();
    declared_names(&whole)
        .iter()
        .any(|n| !own.contains(n.word) && (0..s.all.len()).any(|i| s.word(i) == n.word))
}

/// Is a word in the place of a value: behind an operator?
fn is_operand(s: &Source<'_>, i: usize) -> bool {
    i > 0 && s.kind(i - 1) == Some(Kind::Mark) && !matches!(s.word(i - 1), ";" | "," | ":")
}

/// Where a word is a value: with what it is called by, indexed by, or a member of.
fn value_at(s: &Source<'_>, i: usize) -> Range<usize> {
    let mut start = s.operand_start(i);
    let mut end = s.operand_end(i);
    while start > 0 && matches!(s.word(start - 1), "&" | "*" | "-" | "~" | "!") && is_prefix(s, start - 1) {
        start -= 1;
    }
    while matches!(s.word(end), "++" | "--") {
        end += 1;
    }
    start..end
}

/// Does a sign belong to what is behind it only?
fn is_prefix(s: &Source<'_>, i: usize) -> bool {
    i.checked_sub(1)
        .is_none_or(|b| matches!(s.kind(b), Some(Kind::Mark | Kind::Open)) || s.word(b) == "return")
}

/// The brackets around a token.
fn enclosing_brackets(s: &Source<'_>, i: usize) -> Option<usize> {
    (0..i).rev().find(|open| s.close(*open).is_some_and(|close| close > i))
}

/// The smallest statement or outermost declaration around each token.
fn statement_of(s: &Source<'_>) -> Vec<Range<usize>> {
    let mut all = vec![0..0; s.all.len()];
    // Inner ones stand behind those around them.
    for range in s.outermost().into_iter().chain(s.statements()) {
        all[range.clone()].fill(range);
    }
    all
}

/// Leaves names out, each with what assigns to it; where its value is used stands `0`.
pub fn use_removal_edits(text: &str) -> Vec<Edit> {
    let s = Source::new(text);
    let statements = statement_of(&s);
    declared_names(&s).iter().filter_map(|name| without_name(&s, &statements, name)).collect()
}

fn without_name(s: &Source<'_>, statements: &[Range<usize>], name: &Name<'_>) -> Option<Edit> {
    let mut places = Vec::new();
    for i in &name.declared {
        let range = statements[*i].clone();
        let own_brackets =
            enclosing_brackets(s, *i).filter(|open| range.contains(open) && s.word(*open) == "(");
        if let Some(open) = own_brackets {
            // A parameter, and its arguments wherever the function is called.
            let list = s.list(open);
            let index = list.iter().position(|e| e.contains(i))?;
            let function = s.word(open.checked_sub(1)?);
            let calls = (0..s.all.len()).filter(|k| s.word(*k) == function && s.word(k + 1) == "(");
            let arguments = calls.filter_map(|k| Some(s.with_comma(k + 1, s.list(k + 1).get(index)?)));
            places.extend(arguments.filter(|a| !a.is_empty()).map(|a| (s.piece(a), String::new())));
            continue;
        }
        // One of several in a declaration; what remains may be without a type, and is then refused.
        let separate =
            |k: &usize| s.word(*k) == "," && enclosing_brackets(s, *k) == enclosing_brackets(s, *i);
        let commas: Vec<usize> = range.clone().filter(separate).collect();
        let before = commas.iter().rev().find(|c| **c < *i);
        let behind = commas.iter().find(|c| **c > *i);
        let piece = match (before, behind) {
            (Some(before), behind) => *before..behind.copied().unwrap_or(range.end - 1),
            (None, Some(behind)) => *i..behind + 1,
            (None, None) => range,
        };
        places.push((s.piece(piece), String::new()));
    }
    for i in &name.used {
        let range = statements[*i].clone();
        let value = value_at(s, *i);
        let assigned = (value.end..range.end).find(|k| is_assignment(s.word(*k)));
        let to_it = value.start == range.start && (assigned.is_some() || value.end + 1 == range.end);
        // In place of a type it stands first.
        let as_type = *i == range.start && s.kind(i + 1) == Some(Kind::Word);
        let (piece, instead) = if to_it || as_type { (range, "") } else { (value, "0") };
        places.push((s.piece(piece), instead.to_owned()));
    }
    (!places.is_empty()).then_some(Edit { places })
}

/// Puts what names stand for in the places where they are used: values of variables that are never changed, and what functions and macros
/// of one expression give.
pub fn inlining_edits(text: &str) -> Vec<Edit> {
    let s = Source::new(text);
    let statements = statement_of(&s);
    let names = declared_names(&s);
    let variables = names.iter().filter_map(|name| variable(&s, &statements, name));
    let functions = names.iter().filter_map(|name| function(&s, name));
    let macros = (0..s.all.len()).filter_map(|i| macro_inlining_edit(&s, i));
    variables.chain(functions).chain(macros).collect()
}

/// A variable that is declared by a statement of its own, with a value.
fn variable(s: &Source<'_>, statements: &[Range<usize>], name: &Name<'_>) -> Option<Edit> {
    let [at] = name.declared[..] else { return None };
    let range = statements[at].clone();
    if s.word(at + 1) != "=" || s.around(at + 2) != (at + 2..range.end - 1) {
        return None;
    }
    let value = at + 2..range.end - 1;
    let text = parenthesized(s, value);
    let mut places = vec![(s.piece(range), String::new())];
    for i in &name.used {
        let end = value_at(s, *i).end;
        if is_assignment(s.word(end)) || s.word(i.checked_sub(1)?) == "&" && is_prefix(s, i - 1) {
            return None;
        }
        places.push((s.piece(*i..i + 1), text.clone()));
    }
    Some(Edit { places })
}

/// An expression that may stand anywhere.
fn parenthesized(s: &Source<'_>, tokens: Range<usize>) -> String {
    let text = s.text_of(tokens.clone());
    let whole =
        s.operand_end(tokens.start) == tokens.end && !matches!(s.kind(tokens.start), Some(Kind::Mark));
    // Behind a cast, an index would be one of what is cast.
    if whole && s.word(tokens.start) != "(" { text.into() } else { format!("({text})") }
}

/// A function of a single `return`.
fn function(s: &Source<'_>, name: &Name<'_>) -> Option<Edit> {
    let [at] = name.declared[..] else { return None };
    let (open, body) = (at + 1, s.close(at + 1)? + 1);
    let end = s.close(body)?;
    let whole = s.outermost().into_iter().find(|range| range.contains(&at))?;
    if s.word(body) != "{" || s.word(body + 1) != "return" || s.statement_end(body + 1) != end {
        return None;
    }
    let parameters: Vec<&str> = s.list(open).iter().map(|p| s.word(p.end - 1)).collect();
    let value = s.text_of(body + 2..end - 1);
    call_inlining_edit(s, &name.used, whole, &parameters, value)
}

/// A macro with parameters.
fn macro_inlining_edit(s: &Source<'_>, directive: usize) -> Option<Edit> {
    let definition = s.word(directive).strip_prefix("#define ")?;
    let (name, rest) = definition.split_once('(')?;
    let (parameters, value) = rest.split_once(')')?;
    let parameters: Vec<&str> = parameters.split(',').map(str::trim).collect();
    let used: Vec<usize> = (0..s.all.len()).filter(|i| s.word(*i) == name).collect();
    if value.contains('#') || value.contains('\\') {
        return None;
    }
    call_inlining_edit(s, &used, directive..directive + 1, &parameters, value.trim())
}

/// Puts a value in the place of each call, and leaves out what is called.
fn call_inlining_edit(
    s: &Source<'_>,
    calls: &[usize],
    whole: Range<usize>,
    parameters: &[&str],
    value: &str,
) -> Option<Edit> {
    let mut places = vec![(s.piece(whole), String::new())];
    for call in calls {
        let arguments = s.list(call + 1);
        if s.word(call + 1) != "(" || arguments.len() != parameters.len() {
            return None;
        }
        let arguments: Vec<String> =
            arguments.iter().map(|a| format!("({})", s.text_of(a.clone()))).collect();
        let inner = Source::new(value);
        let given = (0..inner.all.len()).filter_map(|i| {
            let index = parameters.iter().position(|p| *p == inner.word(i))?;
            Some(Edit::replace(inner.piece(i..i + 1), arguments[index].clone()))
        });
        let text = crate::edits::apply(value, &given.collect::<Vec<_>>())?;
        places.push((s.piece(*call..s.close(call + 1)? + 1), format!("({text})")));
    }
    Some(Edit { places })
}

const SCALARS: [&str; 11] =
    ["uchar", "ushort", "uint", "ulong", "char", "short", "int", "long", "float", "half", "double"];

/// A word's type, if it ends with one: what stands before it, the scalar type, and how many elements a vector has.
fn type_in(word: &str) -> Option<(&str, &'static str, &str)> {
    let base = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let scalar = SCALARS.into_iter().find(|t| base.ends_with(t))?;
    let before = &base[..base.len() - scalar.len()];
    let width = &word[base.len()..];
    let known = ["", "2", "3", "4", "8", "16"].contains(&width) && ["", "as_", "convert_"].contains(&before);
    known.then_some((before, scalar, width))
}

/// Puts scalars and narrower vectors in the place of vectors, of one type and of all; and `int` in the place of other types.
pub fn type_edits(text: &str) -> Vec<Edit> {
    let s = Source::new(text);
    let words: Vec<(usize, (&str, &'static str, &str))> =
        (0..s.all.len()).filter_map(|i| Some((i, type_in(s.word(i))?))).collect();
    let kinds: BTreeSet<(&str, &str)> =
        words.iter().map(|(_, (_, scalar, width))| (*scalar, *width)).collect();
    let swizzles = || {
        let dots = (1..s.all.len()).filter(|i| s.word(i - 1) == "." && is_swizzle(s.word(*i)));
        dots.map(|i| (s.piece(i - 1..i + 1), String::new())).collect::<Vec<_>>()
    };
    let changed = |of: &dyn Fn(&str, &str) -> bool, to: &dyn Fn(&str, &str) -> String| {
        let of = words.iter().filter(|(_, (_, scalar, width))| of(scalar, width));
        let places = of.map(|(i, (before, scalar, width))| {
            (s.piece(*i..i + 1), format!("{before}{}", to(scalar, width)))
        });
        Edit { places: places.collect() }
    };
    let mut out = Vec::new();
    let is_vector = |_: &str, width: &str| !width.is_empty();
    let scalars = |scalar: &str, _: &str| scalar.to_owned();
    if kinds.iter().any(|(_, width)| !width.is_empty()) {
        out.push(changed(&is_vector, &scalars).and(Edit { places: swizzles() }));
        for width in ["16", "8", "4", "3"] {
            let same = |_: &str, w: &str| w == width;
            for to in ["", "2", "3", "4", "8"] {
                out.push(changed(&same, &|scalar, _| format!("{scalar}{to}")));
            }
        }
    }
    for (scalar, width) in &kinds {
        let same = |s: &str, w: &str| (s, w) == (*scalar, *width);
        for to in ["int", "uint", "char"].map(|t| format!("{t}{width}")) {
            out.push(changed(&same, &|_, _| to.clone()));
        }
        if !width.is_empty() {
            out.push(changed(&same, &scalars));
            out.push(changed(&same, &scalars).and(Edit { places: swizzles() }));
        }
    }
    out.retain(|e| !e.places.is_empty());
    out
}

/// Puts the only member of a structure in the place of the structure.
pub fn only_members(text: &str) -> Vec<Edit> {
    let s = Source::new(text);
    s.outermost().into_iter().filter_map(|range| only_member(&s, range)).collect()
}

/// Of `typedef struct { T m; } S;`: `S` becomes `T`, `a.m` becomes `a`, and `p->m` becomes `(*p)`.
fn only_member(s: &Source<'_>, whole: Range<usize>) -> Option<Edit> {
    let open = whole.clone().find(|i| s.word(*i) == "{")?;
    let close = s.close(open)?;
    let is_structure = (whole.start..open).any(|i| matches!(s.word(i), "struct" | "union"));
    let named = if s.word(whole.start) == "typedef" { close + 1 } else { open.checked_sub(1)? };
    // A last `;` may have been left out.
    let member = (open + 1..close).rev().find(|i| s.word(*i) != ";")?;
    let ty = open + 1..member;
    let plain = ty.clone().all(|i| s.kind(i) == Some(Kind::Word)) && !ty.is_empty();
    if !is_structure || !plain || s.kind(named) != Some(Kind::Word) || s.kind(member) != Some(Kind::Word) {
        return None;
    }
    let mut places = vec![(s.piece(whole.clone()), String::new())];
    for i in (0..s.all.len()).filter(|i| !whole.contains(i)) {
        let before = i.checked_sub(1).map_or("", |before| s.word(before));
        if s.word(i) == s.word(named) {
            let start = if matches!(before, "struct" | "union") { i - 1 } else { i };
            places.push((s.piece(start..i + 1), s.text_of(ty.clone()).to_owned()));
        } else if s.word(i) == s.word(member) && before == "." {
            places.push((s.piece(i - 1..i + 1), String::new()));
        } else if s.word(i) == s.word(member) && before == "->" {
            let pointer = s.operand_start(i.checked_sub(2)?)..i - 1;
            let value = format!("(*{})", s.text_of(pointer.clone()));
            places.push((s.piece(pointer.start..i + 1), value));
        }
    }
    Some(Edit { places })
}

fn is_swizzle(word: &str) -> bool {
    let numbered =
        word.strip_prefix('s').is_some_and(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_hexdigit()));
    numbered || !word.is_empty() && word.bytes().all(|b| b"xyzw".contains(&b))
}

/// Shorter names.
pub fn shorter_name_edits(text: &str) -> Vec<Edit> {
    let s = Source::new(text);
    let words: BTreeSet<&str> = (0..s.all.len()).map(|i| s.word(i)).collect();
    let mut free = ('a'..='z').map(String::from).filter(|n| !words.contains(n.as_str()));
    let long = declared_names(&s).into_iter().filter(|name| name.word.len() > 1);
    // As many as there are letters.
    let named = long.zip(std::iter::from_fn(|| free.next()));
    named
        .map(|(name, to)| {
            let all = name.declared.iter().chain(&name.used);
            Edit { places: all.map(|i| (s.piece(*i..i + 1), to.clone())).collect() }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edits::apply;

    fn texts(text: &str, edits: fn(&str) -> Vec<Edit>) -> Vec<String> {
        edits(text).into_iter().filter_map(|e| apply(text, &[e])).collect()
    }

    #[test]
    fn a_parameter_goes_with_its_arguments_and_a_variable_with_what_assigns_to_it() {
        let text = "int f(int a, int b) { return a + b; } kernel void k(global int *o) { int v = 1; v += 2; o[0] = f(v, 3); }";
        let left = texts(text, use_removal_edits);
        assert!(
            left.iter().any(|t| t.contains("f(int a)") && t.contains("f(v)") && t.contains("a + 0")),
            "{left:#?}"
        );
        assert!(
            left.iter().any(|t| !t.contains('v') || t.contains("f(0, 3)") && !t.contains("v +=")),
            "{left:#?}"
        );
        assert!(left.iter().any(|t| !t.contains("int f") && t.contains("o[0] = 0;")), "{left:#?}");
    }

    #[test]
    fn what_names_stand_for_is_put_in_their_places() {
        let text = "#define M(x) g(x)\nint f(int a) { return a * a; } kernel void k(global int *o) { int v = o[1]; o[0] = f(v + M(2)); }";
        let left = texts(text, inlining_edits);
        assert!(left.iter().any(|t| t.contains("f(o[1] + M(2))") && !t.contains("int v")), "{left:#?}");
        assert!(
            left.iter().any(|t| t.contains("((v + M(2)) * (v + M(2)))") && !t.contains("int f")),
            "{left:#?}"
        );
        assert!(left.iter().any(|t| t.contains("(g((2)))") && !t.contains("#define")), "{left:#?}");
        // What is changed, or pointed to, is not the value that it had at first.
        let changed = "void k(void) { int v = 1; int w = 2; v = 3; f(&w, v); }";
        assert_eq!(texts(changed, inlining_edits), Vec::<String>::new());
    }

    #[test]
    fn vectors_become_scalars_everywhere() {
        let left = texts("uint4 a = convert_uint4(b); c = a.s1;", type_edits);
        assert!(left.contains(&"uint a = convert_uint(b); c = a;".to_owned()), "{left:#?}");
        assert!(left.contains(&"uint2 a = convert_uint2(b); c = a.s1;".to_owned()), "{left:#?}");
    }

    #[test]
    fn the_only_member_stands_for_its_structure() {
        let text = "typedef struct{short3 d}S; void k(void) { S f, *p = &f; f.d = 0; p->d = f.d.s1; }";
        let left = texts(text, only_members);
        assert_eq!(left, [" void k(void) { short3 f, *p = &f; f = 0; (*p) = f.s1; }"]);
        let text = "struct S { int a; }; void k(struct S s) { g(s.a); }";
        assert_eq!(texts(text, only_members), [" void k(int s) { g(s); }"]);
        assert!(texts("struct S { int a; int b; }; struct T { int c[2]; };", only_members).is_empty());
    }

    #[test]
    fn a_text_lacks_what_only_the_whole_one_declares() {
        let whole = "int f(int a) { return a; } void k(int n) { int v = n; g(v + f(n)); }";
        assert!(lacks_declarations("void k(int n) { g(v + f(n)); }", whole));
        assert!(!lacks_declarations("void k(int n) { int v = n; g(v); }", whole));
    }
}
