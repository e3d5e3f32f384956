//! The parser's state, its loop over statements, and how it complains and recovers.

use std::borrow::Cow;

use envisa_diag::{Diagnostic, FileId, Severity};
use envisa_isa::{Inst, Label, LabelUse, Object, ObjectKind, Op, Operand, Platform, Span, limits};
use hashbrown::HashMap;

use crate::ParseOptions;
use crate::name_bytes::is_label;
use crate::names::{Class, Names, nearest};
use crate::template::Forms;

/// Something is wrong and was reported; the line is given up.
#[derive(Debug)]
pub(crate) struct LineError;

/// The binary counts kernels and functions with 16 bits each.
const MAX_OBJECTS: usize = limits::COUNTED_BY_TWO_BYTES;

/// How many warnings one line may give.
const MAX_ON_A_LINE: usize = 1000;

/// What parsing functions give.
pub(crate) type P<T> = Result<T, LineError>;

/// A name or string that an instruction mentions; it enters the pools when the instruction is kept.
pub(crate) enum Mention<'s> {
    Label { name: Cow<'s, str>, span: Span, kind: LabelUse },
    Str(Cow<'s, str>),
}

/// A mention and the operand that it fills: an index into the instruction's operands.
pub(crate) struct Pending<'s> {
    pub operand: usize,
    pub what: Mention<'s>,
}

/// State of reading one source.
pub(crate) struct Parser<'s> {
    pub src: &'s [u8],
    pub text: &'s str,
    pub pos: usize,
    pub file: FileId,
    pub platform: Option<Platform>,
    pub forms: &'static Forms,
    pub diags: Vec<Diagnostic>,
    pub max_errors: usize,
    pub errors: usize,
    pub warnings: usize,
    /// How many of `diags` are counted.
    pub counted: usize,
    /// Reading ended before the text did.
    pub stopped: bool,
    /// How many more names hints may look at: a bound on the time they take.
    pub hints: usize,
    /// An error was reported on this line.
    pub bad_line: bool,
    pub failed: bool,
    pub warned_platform: bool,
    /// Unknown attributes that were told of.
    pub told_attrs: Vec<&'s [u8]>,

    pub version: (u8, u8),
    pub version_given: bool,
    pub objects: Vec<Object>,
    /// The object being read.
    pub obj: Object,
    pub open: bool,
    pub simd_size: Option<u32>,
    pub has_target: bool,
    /// The target of objects that name none: what the last one named, at first "3d".
    pub default_target: u8,
    pub names: Names<'s>,
    /// Names poisoned since a candidate was tried.
    pub poisoned: Vec<&'s [u8]>,
    pub blocks: HashMap<Cow<'s, str>, u16>,
    pub subroutines: HashMap<Cow<'s, str>, u16>,
    /// Where each label is defined.
    pub defined: Vec<Option<Span>>,
    /// Names and orders that annotations of the object ask for.
    pub order: crate::order::Reorder,
    /// Attributes that wait for the next declaration, as the reference lets a sampler's do.
    pub waiting_attrs: Vec<envisa_isa::Attr>,

    /// Operands of the instruction being read, kept between lines.
    pub ops: Option<crate::instruction_operands::Ops>,
    pub many: Vec<(Operand, Span)>,
    pub pending: Vec<Pending<'s>>,
    /// Where the predicate of this line stands.
    pub pred_span: Span,
}

impl<'s> Parser<'s> {
    pub fn new(text: &'s str, file: FileId, opts: &ParseOptions) -> Self {
        Parser {
            src: text.as_bytes(),
            text,
            pos: 0,
            file,
            platform: opts.platform,
            forms: Forms::get(),
            diags: Vec::new(),
            max_errors: opts.max_errors.max(1),
            errors: 0,
            warnings: 0,
            counted: 0,
            stopped: false,
            hints: 4_000_000,
            bad_line: false,
            failed: false,
            warned_platform: false,
            told_attrs: Vec::new(),
            version: (4, 1),
            version_given: false,
            objects: Vec::new(),
            obj: Object::default(),
            open: false,
            simd_size: None,
            has_target: false,
            default_target: 1,
            names: Names::new(),
            poisoned: Vec::new(),
            blocks: HashMap::new(),
            subroutines: HashMap::new(),
            defined: Vec::new(),
            order: Default::default(),
            waiting_attrs: Vec::new(),
            ops: None,
            many: Vec::new(),
            pending: Vec::new(),
            pred_span: Span::NONE,
        }
    }

    // ---- complaints

    /// An error at a place.
    #[cold]
    pub fn error_at(
        &self,
        code: &'static str,
        message: impl Into<Cow<'static, str>>,
        span: Span,
    ) -> Diagnostic {
        self.diag_label(code, message, span, "")
    }

    /// An error at a place, with a word on it there.
    #[cold]
    pub fn diag_label(
        &self,
        code: &'static str,
        message: impl Into<Cow<'static, str>>,
        span: Span,
        label: impl Into<Cow<'static, str>>,
    ) -> Diagnostic {
        Diagnostic::error(code, message).primary(self.file, span, label)
    }

    /// A warning at a place.
    #[cold]
    pub fn warning_at(
        &self,
        code: &'static str,
        message: impl Into<Cow<'static, str>>,
        span: Span,
        label: impl Into<Cow<'static, str>>,
    ) -> Diagnostic {
        Diagnostic::warning(code, message).primary(self.file, span, label)
    }

    /// Keeps a diagnostic; the line goes on.
    #[cold]
    pub fn report_diagnostic(&mut self, mut d: Diagnostic) {
        shorten_long_names(&mut d);
        if d.severity == Severity::Error {
            self.bad_line = true;
        } else if self.diags.len() > self.counted.saturating_add(MAX_ON_A_LINE) {
            return;
        }
        self.diags.push(d);
    }

    /// The nearest of some names, unless hints have taken long enough.
    #[cold]
    pub fn nearest<'a>(
        hints: &mut usize,
        name: &[u8],
        count: usize,
        candidates: impl Iterator<Item = &'a [u8]>,
    ) -> Option<&'a str> {
        *hints = hints.checked_sub(count)?;
        nearest(name, candidates)
    }

    /// Keeps a diagnostic and gives the line up.
    #[cold]
    pub fn report_and_give_up_line(&mut self, d: Diagnostic) -> LineError {
        self.report_diagnostic(d);
        LineError
    }

    /// Bytes of a register; 32 where the platform is not known.
    pub fn grf_bytes(&self) -> u32 {
        self.platform.map_or(32, Platform::grf_bytes)
    }

    /// Warns, once, that something depends on the platform and none is given.
    #[cold]
    pub fn needs_platform(&mut self, span: Span) {
        if self.platform.is_some() || self.warned_platform {
            return;
        }
        self.warned_platform = true;
        let d = self
            .warning_at("W0502", "register size depends on the platform", span, "32 bytes assumed")
            .help("name the platform to get its size");
        self.report_diagnostic(d);
    }

    /// Complains about an undeclared name, once for each name.
    #[cold]
    pub fn report_undeclared(&mut self, name: &'s [u8], span: Span, class: Option<Class>) -> LineError {
        let shown = self.str_of(name).into_owned();
        let message = format!("`{shown}` is not declared");
        let mut d = self.diag_label("E0301", message, span, "not declared in this scope");
        let bytes: &[u8] = name;
        let (hints, names) = (&mut self.hints, &self.names);
        let near = Self::nearest(hints, bytes, names.len(), names.iter(class))
            .or_else(|| Self::nearest(hints, bytes, names.len(), names.iter(None)))
            .map(str::to_owned);
        let surface = match bytes {
            b"T0" => Some("%slm"),
            b"T3" | b"T255" => Some("TSS"),
            b"T4" | b"T252" => Some("%bss"),
            b"T5" | b"T251" => Some("%scratch"),
            _ => None,
        };
        if bytes == b"r" && self.next_on_line(b'[') {
            d = d.help("an indirect operand is written `r[A0(0),0]<8;8,1>:d`, without a blank before `[`");
        } else if self.next_on_line(b':') {
            d = d.help("an immediate is a number with its type, as in `1:ud`");
        } else if let Some(real) = surface {
            d = d.suggest(
                format!("the predefined surface `{shown}` is written `{real}`"),
                self.file,
                span,
                real,
            );
        } else if let Some(near) = near {
            let place = self.names.get(near.as_bytes()).map(|x| x.span).filter(|s| *s != Span::NONE);
            d = d.suggest(
                format!("there is {} named `{near}`", self.describe_name(&near)),
                self.file,
                span,
                near.clone(),
            );
            if let Some(s) = place {
                d = d.secondary(self.file, s, format!("`{near}` is declared here"));
            }
        } else {
            let kind = match class {
                Some(Class::Address) => format!(".decl {shown} v_type=A num_elts=1"),
                Some(Class::Predicate) => format!(".decl {shown} v_type=P num_elts=16"),
                Some(Class::Surface) => format!(".decl {shown} v_type=T num_elts=1"),
                Some(Class::Sampler) => format!(".decl {shown} v_type=S num_elts=1"),
                _ => format!(".decl {shown} v_type=G type=ud num_elts=8 align=GRF"),
            };
            d = d.help(format!("declare it before its first use, as in `{kind}`"));
        }
        self.names.mark_reported(name);
        self.poisoned.push(name);
        self.report_and_give_up_line(d)
    }

    /// Does this byte come next, after blanks?
    pub fn next_on_line(&self, b: u8) -> bool {
        self.src[self.pos..].iter().find(|b| !matches!(b, b' ' | b'\t')) == Some(&b)
    }

    pub fn describe_name(&self, name: &str) -> &'static str {
        self.names.get(name.as_bytes()).map_or("a name", |d| d.class.describe())
    }

    pub fn column_one(&self) -> bool {
        self.pos == 0 || self.src[self.pos - 1] == b'\n'
    }

    /// Length of the label's name, if a label is defined here.
    pub fn label_length(&self) -> Option<usize> {
        let rest = &self.src[self.pos..];
        let len = rest.iter().position(|&b| !is_label(b))?;
        (rest[len] == b':').then_some(len)
    }

    /// Does the statement end here: with its line, or with the scope that it stands in?
    #[inline]
    pub fn at_end(&mut self) -> bool {
        self.at_eol() || self.peek() == b'}'
    }

    /// Ends a statement: nothing else may stand on the line but the end of its scope.
    #[inline]
    pub fn end_of_line(&mut self) -> P<()> {
        if self.at_end() {
            return Ok(());
        }
        Err(self.report_trailing_text())
    }

    #[cold]
    fn report_trailing_text(&mut self) -> LineError {
        let (found, span) = self.found();
        let d = self.diag_label(
            "E0405",
            format!("expected the end of the line, found {found}"),
            span,
            "one statement a line; this is left over",
        );
        let d = if found == "`;`" { d.help("statements end with their line, without `;`") } else { d };
        self.report_and_give_up_line(d)
    }

    /// Demands that a kernel or function is open.
    pub fn need_object(&mut self, what: &str) -> P<()> {
        if self.open {
            return Ok(());
        }
        let (_, span) = self.found();
        let d = self
            .diag_label("E0211", format!("{what} outside of a kernel"), span, "no kernel is open here")
            .help("start one with `.kernel \"name\"`");
        // One complaint is enough: go on as if there were one.
        self.start_object(ObjectKind::Kernel, "unnamed", Span::NONE);
        Err(self.report_and_give_up_line(d))
    }

    // ---- labels

    pub fn label(&mut self) -> P<()> {
        self.need_object("label")?;
        let start = self.pos;
        let indented = !self.column_one();
        let len = self.label_length().unwrap_or(0);
        let name = &self.text[start..start + len];
        let span = Span::new(start as u32, (start + len) as u32);
        self.pos += len + 1;
        if indented {
            let line = memchr::memrchr(b'\n', &self.src[..start]).map_or(0, |n| n + 1);
            let alone = self.src[line..start].iter().all(|b| matches!(b, b' ' | b'\t'));
            let what = if alone { "label is indented" } else { "something stands before a label" };
            let d = self
                .diag_label("E0306", what, span, "labels start in the first column")
                .note("elsewhere the reference assembler takes the name for an instruction");
            self.report_diagnostic(d);
        }
        // Even so the label is defined, so that its uses are not to blame.
        let alone = self.end_of_line();
        if let Some(&id) = self.subroutines.get(name) {
            // IGC repeats the subroutine's name as a label under `.function`: it is the same place.
            if self.defined[id as usize].is_none() {
                let first = self.obj.labels[id as usize].span;
                let d = self
                    .diag_label("E0304", format!("`{name}` is called, but is a plain label"), span, "a label")
                    .secondary(self.file, first, "called here")
                    .suggest(
                        "start the subroutine with `.function` before the label",
                        self.file,
                        (start as u32, start as u32),
                        format!(".function \"{name}\"\n"),
                    );
                self.defined[id as usize] = Some(span);
                self.report_diagnostic(d);
            }
            return alone;
        }
        let id = self.label_id(Cow::Borrowed(name), LabelUse::Block, span)?;
        if let Some(first) = self.defined[id as usize] {
            let d = self
                .diag_label("E0305", format!("label `{name}` is defined twice"), span, "again here")
                .secondary(self.file, first, "first here");
            return Err(self.report_and_give_up_line(d));
        }
        self.defined[id as usize] = Some(span);
        alone?;
        let inst = self.push_inst(Op::Label, &[(Operand::Label(id), span)], span);
        self.parse_annotation(inst)
    }

    /// The label of a name, made at its first mention.
    pub fn label_id(&mut self, name: Cow<'s, str>, kind: LabelUse, span: Span) -> P<u16> {
        let map = if kind == LabelUse::Block { &self.blocks } else { &self.subroutines };
        if let Some(&id) = map.get(name.as_ref()) {
            return Ok(id);
        }
        if self.obj.labels.len() >= limits::LABELS {
            let most = format!("a kernel holds at most {}", limits::LABELS);
            let d = self.diag_label("E0307", "too many labels", span, most);
            return Err(self.report_and_give_up_line(d));
        }
        let id = self.obj.labels.len() as u16;
        let index = self.intern_string(&name);
        self.obj.labels.push(Label { name: index, kind, span });
        self.defined.push(None);
        let map = if kind == LabelUse::Block { &mut self.blocks } else { &mut self.subroutines };
        map.insert(name, id);
        Ok(id)
    }

    /// Defines a subroutine.
    pub fn define_subroutine(&mut self, name: Cow<'s, str>, span: Span) -> P<()> {
        let shown = name.clone();
        let id = self.label_id(name, LabelUse::Subroutine, span)?;
        if let Some(first) = self.defined[id as usize] {
            let d = self
                .diag_label("E0305", format!("subroutine `{shown}` is defined twice"), span, "again here")
                .secondary(self.file, first, "first here");
            return Err(self.report_and_give_up_line(d));
        }
        self.defined[id as usize] = Some(span);
        let inst = self.push_inst(Op::Subroutine, &[(Operand::Label(id), span)], span);
        self.parse_annotation(inst)
    }

    /// A string in the pool; the empty one is index 0, as the reference has it.
    pub fn intern_string(&mut self, s: &str) -> u32 {
        if s.is_empty() { 0 } else { self.obj.strings.push(s) }
    }

    /// Appends an instruction; gives its index.
    pub fn push_inst(&mut self, op: Op, operands: &[(Operand, Span)], span: Span) -> usize {
        let first = self.obj.operands.len() as u32;
        for &(o, s) in operands {
            self.obj.operands.push(o);
            self.obj.operand_spans.push(s);
        }
        self.obj.insts.push(Inst { op, len: operands.len() as u16, first, span });
        self.obj.insts.len() - 1
    }

    // ---- objects

    /// Ends the open object and starts another.
    pub fn start_object(&mut self, kind: ObjectKind, name: &str, span: Span) {
        self.end_object();
        if self.objects.len() == MAX_OBJECTS {
            let d = self
                .diag_label("E0307", "too many kernels and functions", span, format!("at most {MAX_OBJECTS}"))
                .note("nothing is read from here on");
            self.report_diagnostic(d);
            self.failed = true;
            self.stopped = true;
            self.pos = self.src.len();
            return;
        }
        let mut obj = Object { kind, name: name.to_owned(), name_span: span, ..Object::default() };
        obj.strings.push(name);
        for s in envisa_isa::fixed_strings(self.version) {
            obj.strings.push(s);
        }
        self.obj = obj;
        self.open = true;
        self.has_target = false;
        self.names.clear(self.version);
        self.poisoned.clear();
        self.blocks.clear();
        self.subroutines.clear();
        self.defined.clear();
        self.waiting_attrs.clear();
        self.simd_size = None;
    }

    pub fn end_object(&mut self) {
        if !self.open {
            return;
        }
        self.open = false;
        self.bad_line = false;
        if let Some(open) = self.names.open_scope().filter(|_| !self.stopped) {
            let d = self.diag_label("E0212", "scope is not closed", open, "`}` is missing for this");
            self.report_diagnostic(d);
        }
        for i in 0..self.obj.labels.len() {
            if self.stopped || self.diags.len().saturating_sub(self.counted) > self.max_errors {
                break;
            }
            if self.defined[i].is_none() {
                self.undefined_label(i);
            }
        }
        self.failed |= self.bad_line;
        if !self.has_target {
            let name = self.obj.strings.push("Target");
            let value = vec![self.default_target];
            self.obj.attrs.push(envisa_isa::Attr { name, value, span: Span::NONE });
        }
        self.apply_order();
        self.failed |= self.bad_line;
        self.objects.push(std::mem::take(&mut self.obj));
    }

    #[cold]
    fn undefined_label(&mut self, index: usize) {
        let label = self.obj.labels[index];
        let name = self.obj.strings.get(label.name).unwrap_or("").to_owned();
        let sub = label.kind != LabelUse::Block;
        let (map, other) =
            if sub { (&self.subroutines, &self.blocks) } else { (&self.blocks, &self.subroutines) };
        let what = if sub { "subroutine" } else { "label" };
        let mut d = self.diag_label(
            "E0304",
            format!("{what} `{name}` is not defined"),
            label.span,
            if sub { "called here" } else { "branched to here" },
        );
        let known = map.iter().filter(|(_, id)| self.defined[**id as usize].is_some());
        let near =
            Self::nearest(&mut self.hints, name.as_bytes(), map.len(), known.map(|(n, _)| n.as_bytes()))
                .map(str::to_owned);
        if let Some(place) = other.get(name.as_str()).and_then(|&id| self.defined[id as usize]) {
            d = d.secondary(
                self.file,
                place,
                if sub { "this is a label, not a subroutine" } else { "this is a subroutine, not a label" },
            );
            d = d.help(if sub {
                format!("subroutines start with `.function \"{name}\"`")
            } else {
                "branches need a label; subroutines are reached with `call`".to_owned()
            });
        } else if let Some(near) = near {
            let place = map.get(near.as_str()).and_then(|&id| self.defined[id as usize]);
            d = d.suggest(format!("there is a {what} named `{near}`"), self.file, label.span, near);
            if let Some(s) = place {
                d = d.secondary(self.file, s, "similar name defined here");
            }
        } else {
            d = d.help(if sub {
                format!("define it with `.function \"{name}\"`")
            } else {
                format!("define it with `{name}:` in the first column")
            });
        }
        self.report_diagnostic(d);
    }
}

/// Cuts what a name without end has made too long.
pub(crate) fn shorten_long_names(d: &mut Diagnostic) {
    const MOST: usize = 300;
    let cut = |text: &mut Cow<'static, str>| {
        if text.len() > MOST {
            let end = (0..=MOST).rev().find(|n| text.is_char_boundary(*n)).unwrap_or(0);
            *text = format!("{}…", &text[..end]).into();
        }
    };
    cut(&mut d.message);
    d.labels.iter_mut().for_each(|l| cut(&mut l.text));
    d.notes.iter_mut().for_each(cut);
    d.helps.iter_mut().for_each(|h| cut(&mut h.text));
}
