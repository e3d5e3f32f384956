//! Whole-number expressions over a kernel's named sizes: `N`, `W*H`, `N/128`, `N+1000`, `(M+7)/8`.

use std::collections::BTreeMap;

/// What is wrong with an expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("in `{text}`: {why}")]
pub struct ExprError {
    text: String,
    why: String,
}

struct Parser<'a> {
    text: &'a str,
    rest: &'a str,
    sizes: &'a BTreeMap<String, u64>,
    depth: u32,
}

impl Parser<'_> {
    fn error(&self, why: impl Into<String>) -> ExprError {
        ExprError { text: self.text.to_owned(), why: why.into() }
    }

    fn eat(&mut self, c: char) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn sum(&mut self) -> Result<u64, ExprError> {
        let mut v = self.product()?;
        loop {
            let r = if self.eat('+') {
                v.checked_add(self.product()?)
            } else if self.eat('-') {
                v.checked_sub(self.product()?)
            } else {
                return Ok(v);
            };
            v = r.ok_or_else(|| self.error("the value leaves the range 0 to 2^64 - 1"))?;
        }
    }

    fn product(&mut self) -> Result<u64, ExprError> {
        let mut v = self.atom()?;
        loop {
            let r = if self.eat('*') {
                v.checked_mul(self.atom()?)
            } else if self.eat('/') {
                let d = self.atom()?;
                match v.checked_rem(d) {
                    Some(0) => v.checked_div(d),
                    Some(_) => return Err(self.error(format!("{v} is not a multiple of {d}"))),
                    None => return Err(self.error("division by zero")),
                }
            } else {
                return Ok(v);
            };
            v = r.ok_or_else(|| self.error("the value leaves the range 0 to 2^64 - 1"))?;
        }
    }

    fn atom(&mut self) -> Result<u64, ExprError> {
        if self.eat('(') {
            self.depth += 1;
            if self.depth > 32 {
                return Err(self.error("too many parentheses"));
            }
            let v = self.sum()?;
            self.depth -= 1;
            return if self.eat(')') { Ok(v) } else { Err(self.error("`)` is missing")) };
        }
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        if word.is_empty() {
            return Err(self.error("a number or a size is expected"));
        }
        self.rest = rest;
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            word.parse().map_err(|_| self.error(format!("`{word}` is not a number")))
        } else {
            self.sizes.get(word).copied().ok_or_else(|| self.error(format!("there is no size `{word}`")))
        }
    }
}

/// Evaluates `text` with the given sizes. Division must leave no remainder.
///
/// # Errors
/// [`ExprError`] names the expression and what is wrong.
pub fn evaluate(text: &str, sizes: &BTreeMap<String, u64>) -> Result<u64, ExprError> {
    let mut p = Parser { text, rest: text, sizes, depth: 0 };
    let v = p.sum()?;
    if p.rest.trim().is_empty() { Ok(v) } else { Err(p.error("unexpected text at the end")) }
}

/// Replaces the expressions in a value's text (`rand:f32:W*H:3:0..T`) by their values.
///
/// Only the parts after the type that name a size or hold an operator are touched, so that `-8..8`, `9e18`
/// and `0x1f` stay as they are.
///
/// # Errors
/// [`ExprError`] of the first part that fails.
pub fn substitute(text: &str, sizes: &BTreeMap<String, u64>) -> Result<String, ExprError> {
    let mut out = String::new();
    for (n, field) in text.split(':').enumerate() {
        if n > 0 {
            out.push(':');
        }
        for (k, half) in field.split("..").enumerate() {
            if k > 0 {
                out.push_str("..");
            }
            for (j, part) in half.split(',').enumerate() {
                if j > 0 {
                    out.push(',');
                }
                let names_size = part
                    .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                    .any(|word| sizes.contains_key(word));
                let product = part.contains(['*', '/']) && part.starts_with(|c: char| c.is_ascii_digit());
                if n > 0 && (names_size || product) {
                    out.push_str(&evaluate(part, sizes)?.to_string());
                } else {
                    out.push_str(part);
                }
            }
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes() -> BTreeMap<String, u64> {
        BTreeMap::from([("N".to_owned(), 1024), ("W".to_owned(), 3)])
    }

    #[test]
    fn expressions() {
        for (text, want) in [("N", 1024), ("N/128*2", 16), ("N+1", 1025), ("(N-4)/2 + W", 513), ("W*W*W", 27)]
        {
            assert_eq!(evaluate(text, &sizes()).unwrap(), want, "{text}");
        }
        for text in ["", "N/W", "N/0", "M", "N N", "(N", "W-N", "18446744073709551615+1", "1x"] {
            assert!(evaluate(text, &sizes()).is_err(), "{text}");
        }
        assert!(evaluate(&"(".repeat(10_000), &sizes()).is_err());
    }

    #[test]
    fn substitution_leaves_numbers_alone() {
        for (text, want) in [
            ("rand:f32x4:N*W:5:0..1", "rand:f32x4:3072:5:0..1"),
            ("rand:f32:N:1:-9e18..9e18", "rand:f32:1024:1:-9e18..9e18"),
            ("rand:u32:N:2:0..W", "rand:u32:1024:2:0..3"),
            ("u32:N-1", "u32:1023"),
            ("2d:W,N:rgba:f32", "2d:3,1024:rgba:f32"),
            ("local:128*4", "local:512"),
            ("i32x2:-5,0x10", "i32x2:-5,0x10"),
        ] {
            assert_eq!(substitute(text, &sizes()).unwrap(), want);
        }
    }
}
