//! Expressions of C, as text and as trees.

/// An expression.
#[derive(Clone, Debug)]
pub enum Expr {
    /// An integer: its value, and is it unsigned, is it long?
    Int(i128, bool, bool),
    /// A float: its value, and its bytes.
    Float(f64, u64),
    /// A name.
    Name(String),
    /// `-x`, `!x`, `~x`, `+x`.
    Unary(char, Box<Expr>),
    /// `*x`.
    Deref(Box<Expr>),
    /// `&x`.
    Address(Box<Expr>),
    /// Two operands; comparisons and shifts by both of their characters.
    Binary(&'static str, Box<Expr>, Box<Expr>),
    /// `c ? a : b`.
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `a[i]`.
    Index(Box<Expr>, Box<Expr>),
    /// `a.m`; `a->m`.
    Member(Box<Expr>, String, bool),
    /// `(type)x`: its name, and how many `*` follow.
    Cast(String, usize, Box<Expr>),
    /// `f(x)`.
    Call(String, Vec<Expr>),
    /// `sizeof x`.
    Sizeof(Box<Expr>),
}

/// Longest text and deepest nesting.
const MAX_TEXT: usize = 4096;
const MAX_DEPTH: usize = 64;

/// Reads an expression.
///
/// # Errors
/// What is wrong, in a sentence.
pub fn parse(text: &str) -> Result<Expr, String> {
    if text.len() > MAX_TEXT {
        return Err(format!("an expression of {} bytes: at most {MAX_TEXT}", text.len()));
    }
    let mut p = Parser { tokens: tokenize(text)?, at: 0, depth: 0 };
    let e = p.choice()?;
    match p.peek() {
        None => Ok(e),
        Some(t) => Err(format!("`{t}` is not expected here")),
    }
}

const OPERATORS: [&str; 24] = [
    "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+", "-", "*", "/", "%", "<", ">", "&", "|", "^",
    "!", "~", "?", ":", ".",
];

/// Names, numbers and operators of a text.
fn tokenize(text: &str) -> Result<Vec<String>, String> {
    let mut all = Vec::new();
    let mut rest = text.trim_start();
    while let Some(c) = rest.chars().next() {
        let starts_number =
            c.is_ascii_digit() || c == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit());
        let length = if starts_number {
            number_length(rest)
        } else if c.is_alphabetic() || c == '_' || matches!(c, '%' | '$') && is_name(c, &rest[1..]) {
            let end = rest[c.len_utf8()..].find(|c: char| !(c.is_alphanumeric() || c == '_'));
            end.map_or(rest.len(), |n| n + c.len_utf8())
        } else if matches!(c, '(' | ')' | '[' | ']' | ',') {
            1
        } else {
            let found = OPERATORS.iter().find(|o| rest.starts_with(**o));
            found.ok_or_else(|| format!("`{c}` means nothing in an expression"))?.len()
        };
        all.push(rest[..length].to_owned());
        rest = rest[length..].trim_start();
    }
    Ok(all)
}

/// Is what follows `%` the rest of a register's name, rather than a space or an operand? Behind `$` a name follows.
fn is_name(mark: char, rest: &str) -> bool {
    if mark == '$' {
        return rest.starts_with(|c: char| c.is_alphabetic());
    }
    ["fp", "sp", "arg", "retval", "r0", "sr0", "cr0", "ce0", "null"].iter().any(|n| rest.starts_with(n))
        || rest.starts_with('_')
}

fn number_length(rest: &str) -> usize {
    let hex = rest.starts_with("0x") || rest.starts_with("0X");
    let mut before = ' ';
    let part = |c: &char| {
        let sign = matches!(c, '+' | '-') && !hex && matches!(before, 'e' | 'E');
        before = *c;
        c.is_alphanumeric() || *c == '.' || sign
    };
    rest.chars().take_while(part).map(char::len_utf8).sum()
}

struct Parser {
    tokens: Vec<String>,
    at: usize,
    depth: usize,
}

/// Operators of two operands by how tightly they bind, the loosest first.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", ">", "<=", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl Parser {
    fn peek(&self) -> Option<&str> {
        self.tokens.get(self.at).map(String::as_str)
    }

    fn take(&mut self, token: &str) -> bool {
        let is = self.peek() == Some(token);
        self.at += usize::from(is);
        is
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.take(token) {
            return Ok(());
        }
        Err(match self.peek() {
            Some(t) => format!("`{token}` is expected before `{t}`"),
            None => format!("`{token}` is expected at the end"),
        })
    }

    fn deeper<T>(&mut self, f: impl FnOnce(&mut Parser) -> Result<T, String>) -> Result<T, String> {
        if self.depth == MAX_DEPTH {
            return Err("an expression that is nested too deep".into());
        }
        self.depth += 1;
        let made = f(self);
        self.depth -= 1;
        made
    }

    fn choice(&mut self) -> Result<Expr, String> {
        self.deeper(|p| {
            let c = p.binary(0)?;
            if !p.take("?") {
                return Ok(c);
            }
            let a = p.choice()?;
            p.expect(":")?;
            Ok(Expr::Choice(Box::new(c), Box::new(a), Box::new(p.choice()?)))
        })
    }

    fn binary(&mut self, level: usize) -> Result<Expr, String> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        let mut length = 0;
        while let Some(op) = operators.iter().find(|o| self.peek() == Some(**o)) {
            self.at += 1;
            length += 1;
            if length > MAX_DEPTH {
                return Err("an expression of too many operators".into());
            }
            left = Expr::Binary(op, Box::new(left), Box::new(self.binary(level + 1)?));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expr, String> {
        self.deeper(|p| {
            for op in ["-", "!", "~", "+"] {
                if p.take(op) {
                    return Ok(Expr::Unary(op.chars().next().unwrap_or('+'), Box::new(p.unary()?)));
                }
            }
            if p.take("*") {
                return Ok(Expr::Deref(Box::new(p.unary()?)));
            }
            if p.take("&") {
                return Ok(Expr::Address(Box::new(p.unary()?)));
            }
            if p.peek() == Some("sizeof") {
                p.at += 1;
                return Ok(Expr::Sizeof(Box::new(p.unary()?)));
            }
            if let Some((name, pointers)) = p.cast() {
                return Ok(Expr::Cast(name, pointers, Box::new(p.unary()?)));
            }
            p.postfix()
        })
    }

    /// `(type *)`, if that stands here.
    fn cast(&mut self) -> Option<(String, usize)> {
        let start = self.at;
        let found = (|| {
            if !self.take("(") {
                return None;
            }
            let mut name = String::new();
            let mut pointers = 0;
            loop {
                let token = self.peek()?.to_owned();
                self.at += 1;
                match token.as_str() {
                    "*" if !name.is_empty() => pointers += 1,
                    ")" if !name.is_empty() => break,
                    "const" | "volatile" | "global" | "local" | "constant" | "private" | "__global"
                    | "__local" | "__constant" | "__private" | "struct" | "union" | "enum" => {}
                    word if name.is_empty() && pointers == 0 && is_word(word) => name = word.to_owned(),
                    _ => return None,
                }
            }
            // `(x) + 1` is not a cast, `(float)x` and `(float)(x)` are.
            let next = self.peek()?;
            let operand = is_word(next) || next.starts_with(|c: char| c.is_ascii_digit()) || next == "(";
            let sign = matches!(next, "-" | "~" | "!" | "*" | "&") && (pointers > 0 || is_type(&name));
            (operand || sign).then_some((name, pointers))
        })();
        if found.is_none() {
            self.at = start;
        }
        found
    }

    fn postfix(&mut self) -> Result<Expr, String> {
        let mut e = self.primary()?;
        let mut length = 0;
        loop {
            length += 1;
            if length > MAX_DEPTH {
                return Err("an expression of too many parts".into());
            }
            if self.take("[") {
                let i = self.choice()?;
                self.expect("]")?;
                e = Expr::Index(Box::new(e), Box::new(i));
            } else if self.take(".") {
                e = Expr::Member(Box::new(e), self.word()?, false);
            } else if self.take("->") {
                e = Expr::Member(Box::new(e), self.word()?, true);
            } else {
                return Ok(e);
            }
        }
    }

    fn word(&mut self) -> Result<String, String> {
        match self.peek() {
            Some(t) if is_word(t) => {
                let word = t.to_owned();
                self.at += 1;
                Ok(word)
            }
            _ => Err("a member's name is expected".into()),
        }
    }

    fn primary(&mut self) -> Result<Expr, String> {
        if self.take("(") {
            let e = self.choice()?;
            self.expect(")")?;
            return Ok(e);
        }
        let Some(token) = self.peek().map(str::to_owned) else {
            return Err("an expression ends too early".into());
        };
        if token.starts_with(|c: char| c.is_ascii_digit() || c == '.') && token != "." {
            self.at += 1;
            return number(&token);
        }
        if !is_word(&token) {
            return Err(format!("`{token}` is not expected here"));
        }
        self.at += 1;
        if !self.take("(") {
            return Ok(Expr::Name(token));
        }
        let mut arguments = Vec::new();
        while !self.take(")") {
            if !arguments.is_empty() {
                self.expect(",")?;
            }
            arguments.push(self.choice()?);
        }
        Ok(Expr::Call(token, arguments))
    }
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '%' | '$')) && token != "%"
}

fn is_type(name: &str) -> bool {
    let of = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let of = of.strip_prefix('u').unwrap_or(of);
    matches!(of, "char" | "short" | "int" | "long" | "float" | "double" | "half" | "bool" | "nsigned")
}

fn number(text: &str) -> Result<Expr, String> {
    let wrong = || format!("`{text}` is not a number");
    let lower = text.to_ascii_lowercase();
    if let Some(hex) = lower.strip_prefix("0x") {
        let digits = hex.trim_end_matches(['u', 'l']);
        let n = u64::from_str_radix(digits, 16).map_err(|_| wrong())?;
        return Ok(integer_literal(n, &hex[digits.len()..], true));
    }
    if lower.contains(['.', 'e']) || lower.ends_with(['f', 'h']) {
        let digits = lower.trim_end_matches(['f', 'h']);
        let bytes = match lower.chars().last() {
            Some('f') => 4,
            Some('h') => 2,
            _ => 8,
        };
        return digits.parse().map(|x| Expr::Float(x, bytes)).map_err(|_| wrong());
    }
    let digits = lower.trim_end_matches(['u', 'l']);
    let n: u64 = digits.parse().map_err(|_| wrong())?;
    Ok(integer_literal(n, &lower[digits.len()..], false))
}

fn integer_literal(n: u64, suffix: &str, hex: bool) -> Expr {
    let long = suffix.contains('l') || n > u64::from(u32::MAX) || !hex && n > i32::MAX as u64;
    let unsigned = suffix.contains('u') || n > i64::MAX as u64 || hex && !long && n > i32::MAX as u64;
    Expr::Int(n.into(), unsigned, long)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_told() {
        for text in [
            "", "1 +", "a b", "(a", "a[1", "a.", "1x", "#", "$", "$1", "a ? b", "0xzz", "'", "f(1,",
            "sizeof", "\u{0}",
        ] {
            assert!(parse(text).is_err_and(|e| !e.is_empty()), "{text}");
        }
        assert!(parse(&"(".repeat(4000)).is_err() && parse(&"-".repeat(4000)).is_err());
        assert!(parse(&format!("1{}", "+1".repeat(2000))).is_err() && parse(&"a".repeat(5000)).is_err());
        for text in
            ["a[1].b->c + (float)d * 2.5f", "(x) - 1", "(int*)p", "v.xyzw == 1 && !b", "a % b", "%fp + 1"]
                .into_iter()
                .chain(["$lane + 1", "_a", "_", "b&_c1", "$mask>>3"])
        {
            assert!(parse(text).is_ok(), "{text}: {:?}", parse(text));
        }
    }
}
