//! Tokens that cannot stand side by side in C: texts with such need no compiler to be refused.

use crate::source::{Source, is_assignment};
use crate::tokens::Kind;

/// Words that are no values.
const KEYWORDS: [&str; 7] = ["return", "else", "do", "case", "goto", "typedef", "sizeof"];
/// Operators that stand between two values, besides assignments.
const BETWEEN: [&str; 16] =
    ["/", "%", "<", ">", "<=", ">=", "==", "!=", "<<", ">>", "&&", "||", "|", "^", "?", "->"];

/// Has a text tokens side by side that cannot stand so?
pub fn are_wrong(s: &Source<'_>) -> bool {
    (1..s.all.len()).any(|i| !is_possible(s, i))
}

/// Can a token stand behind the one before it?
fn is_possible(s: &Source<'_>, i: usize) -> bool {
    let ((a, left), (b, right)) = ((s.word(i - 1), s.kind(i - 1)), (s.word(i), s.kind(i)));
    if left == Some(Kind::Directive) || right == Some(Kind::Directive) {
        return true;
    }
    let is_between = |w: &str| BETWEEN.contains(&w) || is_assignment(w);
    let is_value = left == Some(Kind::Word) && !KEYWORDS.contains(&a)
        || left == Some(Kind::Literal)
        || matches!(a, ")" | "]" | "++" | "--");
    let begins = matches!(right, Some(Kind::Word | Kind::Literal));
    let ends = matches!(b, ")" | "]" | ";" | "," | "}");
    match a {
        _ if is_between(b) => is_value,
        _ if is_between(a) && a != "?" => !ends,
        "+" | "-" | "&" | "~" | "!" => !ends,
        "*" => !matches!(b, "]" | ";" | "}"),
        "." => right == Some(Kind::Word),
        "," => !matches!(b, ")" | "]" | ";" | ","),
        "(" => b != ",",
        "]" => !begins,
        _ if left == Some(Kind::Literal) => !begins && !matches!(b, "(" | "{" | "["),
        _ if left == Some(Kind::Word) => right != Some(Kind::Literal) || KEYWORDS.contains(&a),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_c_has_is_possible_and_what_is_left_of_operators_is_not() {
        for text in [
            "typedef struct { int m[4]; uint *p; } S; int f(global int *, S s);",
            "#define X(a) ((a) + 1)\nkernel void k(global const uint *in) { const S a = *in, *p = &a; p->m[1] = -~!x.s0; }",
            "int f(void) { for (;;) { if (a) break; else return -1; } do { i++; } while (--i > 0 && *p); lab:; goto lab; }",
            "switch (x) { case 1: default: ; } a[] = { 1, 2, }; int v[2]; uint4 w = (uint4)(1, 2, 3, 4) * (b ? c : d) >> 2;",
            "__attribute__((noinline)) int g(int a) { return sizeof(int) * a % 3 ^ a++ + --a; }",
        ] {
            assert!(!are_wrong(&Source::new(text)), "{text}");
        }
        for text in [
            "a = ;", "f(, b)", "f(a, )", "a + )", "a 1;", "3 a", "; / 2;", "a = * ;", "x.1", "v[1] v",
            "f(a,, b)", "(a == )",
        ] {
            assert!(are_wrong(&Source::new(text)), "{text}");
        }
    }
}
