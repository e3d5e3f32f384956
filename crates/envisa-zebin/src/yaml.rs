//! A bounded tree of a YAML document with line numbers, and the reading of values out of it.

use std::borrow::Cow;
use std::fmt::Write as _;

use saphyr_parser::{Event, Parser, ScalarStyle};

use crate::ze_info::{Warning, ZeInfoError};

/// The longest `.ze_info` read, in bytes; one kernel takes a few thousand.
pub(crate) const LONGEST_TEXT: usize = 32 << 20;
/// The most scalars, sequences and mappings in one document.
const MOST_NODES: usize = 2_000_000;
/// The specification nests six deep.
const DEEPEST: usize = 24;
/// Warnings kept; what comes after is counted only by its absence.
const MOST_WARNINGS: usize = 1000;

/// A value with the line it starts on, from 1.
#[derive(Debug)]
pub(crate) struct Node<'a> {
    pub line: u32,
    pub value: Value<'a>,
}

/// What a value is.
#[derive(Debug)]
pub(crate) enum Value<'a> {
    /// The text, and whether it was written without quotes.
    Scalar(Cow<'a, str>, bool),
    Seq(Vec<Node<'a>>),
    Map(Vec<(Cow<'a, str>, Node<'a>)>),
}

impl Node<'_> {
    /// Nothing written, or `null` or `~` without quotes.
    pub fn is_null(&self) -> bool {
        matches!(&self.value, Value::Scalar(text, true) if matches!(text.as_ref(), "" | "~" | "null"))
    }

    fn what(&self) -> String {
        match &self.value {
            Value::Scalar(text, _) => format!("`{}`", shorten_for_message(text)),
            Value::Seq(_) => "a sequence".into(),
            Value::Map(_) => "a mapping".into(),
        }
    }
}

/// A text from the input, fit for a message.
fn shorten_for_message(text: &str) -> String {
    let mut out: String = text.chars().take(60).flat_map(char::escape_debug).collect();
    if text.chars().nth(60).is_some() {
        out.push_str("...");
    }
    out
}

/// Where the reader is, and what it found on the way.
#[derive(Default)]
pub(crate) struct Context {
    path: Vec<Step>,
    pub warnings: Vec<Warning>,
}

enum Step {
    Key(String),
    Index(usize),
}

impl Context {
    fn path(&self) -> String {
        let mut out = String::new();
        for step in &self.path {
            let _ = match step {
                Step::Key(key) if out.is_empty() => write!(out, "{key}"),
                Step::Key(key) => write!(out, ".{key}"),
                Step::Index(i) => write!(out, "[{i}]"),
            };
        }
        out
    }

    pub fn error(&self, line: u32, message: impl Into<String>) -> ZeInfoError {
        ZeInfoError { path: self.path(), line, message: message.into() }
    }

    pub fn warn(&mut self, line: u32, message: impl Into<String>) {
        if self.warnings.len() < MOST_WARNINGS {
            let warning = Warning { path: self.path(), line, message: message.into() };
            self.warnings.push(warning);
        }
    }

    pub fn unknown_enum(&mut self, node: &Node<'_>, text: &str) {
        self.warn(node.line, format!("unknown value `{}`, ignored", shorten_for_message(text)));
    }

    pub fn unknown_field(&mut self, key: &str, line: u32) {
        self.path.push(Step::Key(shorten_for_message(key)));
        self.warn(line, "unknown field, ignored");
        self.path.pop();
    }

    pub fn expected<T>(&self, node: &Node<'_>, what: &str) -> Result<T, ZeInfoError> {
        Err(self.error(node.line, format!("expected {what}, found {}", node.what())))
    }

    /// Reads the value of `key`.
    pub fn field<T: Read>(&mut self, key: &str, node: &Node<'_>) -> Result<T, ZeInfoError> {
        self.path.push(Step::Key(key.to_owned()));
        let value = T::read(node, self)?;
        self.path.pop();
        Ok(value)
    }

    /// The entries of a mapping, each key once.
    pub fn entries<'n, 'a>(&self, node: &'n Node<'a>) -> Result<&'n [(Cow<'a, str>, Node<'a>)], ZeInfoError> {
        match &node.value {
            Value::Map(entries) => Ok(entries),
            _ => self.expected(node, "a mapping"),
        }
    }

    /// A required field that was not there.
    pub fn required<T>(&self, value: Option<T>, line: u32, key: &str) -> Result<T, ZeInfoError> {
        value.ok_or_else(|| self.error(line, format!("required field `{key}` is missing")))
    }
}

/// A type that can be read from a node.
pub(crate) trait Read: Sized {
    fn read(node: &Node<'_>, cx: &mut Context) -> Result<Self, ZeInfoError>;
}

fn integer(node: &Node<'_>, cx: &Context) -> Result<i64, ZeInfoError> {
    let Value::Scalar(text, true) = &node.value else { return cx.expected(node, "an integer") };
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    // Prefixed forms would otherwise let a second sign in.
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return cx.expected(node, "an integer");
    }
    let (radix, digits) = match digits.get(..2) {
        Some("0x") => (16, &digits[2..]),
        Some("0o") => (8, &digits[2..]),
        _ => (10, digits),
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return cx.expected(node, "an integer");
    }
    i64::from_str_radix(&format!("{sign}{digits}"), radix)
        .or_else(|_| cx.expected(node, "an integer of 64 bits"))
}

impl Read for i32 {
    fn read(node: &Node<'_>, cx: &mut Context) -> Result<Self, ZeInfoError> {
        integer(node, cx)?.try_into().or_else(|_| cx.expected(node, "an integer of 32 bits"))
    }
}

/// The specification's `int32` where a negative number has no meaning.
impl Read for u32 {
    fn read(node: &Node<'_>, cx: &mut Context) -> Result<Self, ZeInfoError> {
        match i32::try_from(integer(node, cx)?) {
            Ok(n) if n >= 0 => Ok(n as u32),
            _ => cx.expected(node, "an integer from 0 to 2147483647"),
        }
    }
}

/// The specification's `int32` whose default is -1, for "not applicable".
impl Read for Option<u32> {
    fn read(node: &Node<'_>, cx: &mut Context) -> Result<Self, ZeInfoError> {
        match i32::try_from(integer(node, cx)?) {
            Ok(-1) => Ok(None),
            Ok(n) if n >= 0 => Ok(Some(n as u32)),
            _ => cx.expected(node, "an integer from -1 to 2147483647"),
        }
    }
}

impl Read for f32 {
    fn read(node: &Node<'_>, cx: &mut Context) -> Result<Self, ZeInfoError> {
        match &node.value {
            Value::Scalar(text, true) => text.parse().or_else(|_| cx.expected(node, "a number")),
            _ => cx.expected(node, "a number"),
        }
    }
}

impl Read for bool {
    fn read(node: &Node<'_>, cx: &mut Context) -> Result<Self, ZeInfoError> {
        match &node.value {
            Value::Scalar(text, true) if text == "true" => Ok(true),
            Value::Scalar(text, true) if text == "false" => Ok(false),
            _ => cx.expected(node, "`true` or `false`"),
        }
    }
}

impl Read for String {
    fn read(node: &Node<'_>, cx: &mut Context) -> Result<Self, ZeInfoError> {
        match &node.value {
            Value::Scalar(text, _) => Ok(text.to_string()),
            _ => cx.expected(node, "a string"),
        }
    }
}

impl Read for Option<String> {
    fn read(node: &Node<'_>, cx: &mut Context) -> Result<Self, ZeInfoError> {
        String::read(node, cx).map(Some)
    }
}

impl<T: Read> Read for Vec<T> {
    fn read(node: &Node<'_>, cx: &mut Context) -> Result<Self, ZeInfoError> {
        let Value::Seq(items) = &node.value else { return cx.expected(node, "a sequence") };
        let mut out = Vec::with_capacity(items.len());
        for (i, item) in items.iter().enumerate() {
            cx.path.push(Step::Index(i));
            out.push(T::read(item, cx)?);
            cx.path.pop();
        }
        Ok(out)
    }
}

impl Read for [u32; 3] {
    fn read(node: &Node<'_>, cx: &mut Context) -> Result<Self, ZeInfoError> {
        Vec::<u32>::read(node, cx)?.try_into().or_else(|_| cx.expected(node, "three integers"))
    }
}

/// All zeros stand for "not given".
impl Read for Option<[u32; 3]> {
    fn read(node: &Node<'_>, cx: &mut Context) -> Result<Self, ZeInfoError> {
        Ok(Some(<[u32; 3]>::read(node, cx)?).filter(|v| *v != [0; 3]))
    }
}

/// Reads the first document of a text.
pub(crate) fn read_document(text: &str) -> Result<Node<'_>, ZeInfoError> {
    let fail = |line: u32, message: String| ZeInfoError { path: String::new(), line, message };
    if text.len() > LONGEST_TEXT {
        return Err(fail(0, format!("{} bytes are more than the {LONGEST_TEXT} allowed", text.len())));
    }
    /// A container being filled.
    struct Open<'a> {
        node: Node<'a>,
        key: Option<Cow<'a, str>>,
    }
    let mut stack: Vec<Open<'_>> = Vec::new();
    let mut nodes = 0usize;
    let mut parser = Parser::new_from_str(text);
    loop {
        let Some(event) = parser.next_event() else { return Err(fail(0, "no document".into())) };
        let (event, span) = event.map_err(|e| {
            let line = u32::try_from(e.marker().line()).unwrap_or(u32::MAX);
            fail(line, format!("not YAML: {}", e.info()))
        })?;
        let line = u32::try_from(span.start.line()).unwrap_or(u32::MAX);
        let (line, value) = match event {
            Event::Nothing | Event::StreamStart | Event::DocumentStart(_) => continue,
            Event::StreamEnd | Event::DocumentEnd => return Err(fail(line, "no document".into())),
            Event::Alias(_) => return Err(fail(line, "aliases have no place in .ze_info".into())),
            Event::Scalar(text, style, _, _) => (line, Value::Scalar(text, style == ScalarStyle::Plain)),
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                let value = if matches!(event, Event::SequenceStart(..)) {
                    Value::Seq(Vec::new())
                } else {
                    Value::Map(Vec::new())
                };
                if stack.len() == DEEPEST {
                    return Err(fail(line, format!("nested more than {DEEPEST} deep")));
                }
                nodes += 1;
                stack.push(Open { node: Node { line, value }, key: None });
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(done) = stack.pop() else { return Err(fail(line, "unbalanced".into())) };
                if stack.is_empty() {
                    return Ok(done.node);
                }
                (done.node.line, done.node.value)
            }
        };
        nodes += 1;
        if nodes > MOST_NODES {
            return Err(fail(line, format!("more than {MOST_NODES} values")));
        }
        let node = Node { line, value };
        let Some(open) = stack.last_mut() else { return Ok(node) };
        match (&mut open.node.value, open.key.take()) {
            (Value::Seq(items), _) => items.push(node),
            (Value::Map(entries), Some(key)) => entries.push((key, node)),
            (Value::Map(_), None) => match node.value {
                Value::Scalar(text, _) => open.key = Some(text),
                _ => return Err(fail(line, "a key must be a string".into())),
            },
            (Value::Scalar(..), _) => return Err(fail(line, "unbalanced".into())),
        }
    }
}
