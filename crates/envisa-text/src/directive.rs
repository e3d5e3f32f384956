//! Directives: version, kernels and functions, declarations, inputs, attributes.

mod attribute;

use std::borrow::Cow;

use envisa_isa::{
    Align, Attr, AttrRange, GeneralVar, Input, ObjectKind, SimpleVar, Span, Type, limits, predefined,
};

use crate::attributes::{self, Owner, Value};
use crate::name_bytes::{is_ident, is_start};
use crate::names::{Class, nearest};
use crate::operand::type_of;
use crate::parser::{LineError, P, Parser};

const DIRECTIVES: &[&str] = &[
    ".version",
    ".kernel",
    ".global_function",
    ".function",
    ".decl",
    ".input",
    ".implicit_",
    ".parameter",
    ".kernel_attr",
    ".funcdecl",
    ".file",
    ".loc",
];

/// A value of an attribute as written.
enum Given<'s> {
    Nothing,
    Int(i64, Span),
    Str(Cow<'s, str>, Span),
}

/// What a declaration says beyond type and number of elements.
struct DeclOptions<'s> {
    align: Align,
    /// Root and offset.
    alias: Option<(u32, u16)>,
    attrs: Vec<(&'s [u8], Given<'s>)>,
}

impl<'s> Parser<'s> {
    /// `.version 4.1`, which comes first.
    pub fn version_line(&mut self) {
        while self.pos < self.src.len() && self.at_eol() {
            self.next_line();
        }
        if self.pos >= self.src.len() {
            let d = self
                .diag_label("E0201", "file has no `.version`", Span::new(0, 0), "the file is empty")
                .help("a file starts with `.version 4.1`");
            self.report_diagnostic(d);
            self.failed = true;
            return;
        }
        self.bad_line = false;
        if !self.src[self.pos..].starts_with(b".version")
            || self.src.get(self.pos + 8).is_some_and(|&b| is_ident(b))
        {
            let (_, span) = self.found();
            let d = self
                .diag_label("E0201", "file does not start with `.version`", span, "expected `.version`")
                .suggest(
                    "the released tools' version is 4.1",
                    self.file,
                    (span.start, span.start),
                    ".version 4.1\n",
                );
            self.report_diagnostic(d);
            self.failed = true;
            return;
        }
        self.pos += 8;
        if self.version().is_err() || self.bad_line {
            self.failed = true;
        }
        self.next_line();
    }

    fn version(&mut self) -> P<()> {
        self.version_given = true;
        self.skip_blanks();
        let start = self.pos;
        let Some(major) = self.number()? else { return Err(self.expected("a version as in `4.1`")) };
        self.expect(b'.')?;
        let Some(minor) = self.number()? else { return Err(self.expected("the minor version")) };
        let span = self.since(start);
        match (major.value, minor.value) {
            // Older texts read as 4.1, which is what the reference writes for them.
            (3, 0..=9) | (4, 0 | 1) => self.version = (4, 1),
            (4, 2) => self.version = (4, 2),
            (a, b) => {
                let d = self
                    .diag_label(
                        "E0202",
                        format!("unknown version {a}.{b}"),
                        span,
                        "not a version of vISA text",
                    )
                    .help("write `.version 4.1`, or `.version 4.2` for what newer pages describe");
                return Err(self.report_and_give_up_line(d));
            }
        }
        self.end_of_line()
    }

    /// A line that starts with a dot.
    pub fn parse_directive(&mut self) -> P<()> {
        let start = self.pos;
        self.pos += 1;
        let name = self.run();
        match name {
            b"decl" => {
                self.need_object("declaration")?;
                self.parse_decl(start)
            }
            b"input" => {
                self.need_object("input")?;
                self.parse_input(0, false)
            }
            b"parameter" => {
                self.need_object("input")?;
                self.parse_input(0, true)
            }
            b"kernel" => self.kernel(ObjectKind::Kernel),
            b"global_function" => self.kernel(ObjectKind::Function),
            b"kernel_attr" => {
                self.need_object("attribute")?;
                self.kernel_attr()
            }
            b"function" => {
                self.need_object("subroutine")?;
                let (name, span) = self.name_or_string("the subroutine's name")?;
                self.end_of_line()?;
                self.define_subroutine(name, span)
            }
            b"funcdecl" => {
                self.skip_blanks();
                if self.peek() != b'"' {
                    return Err(self.expected("a string"));
                }
                self.string()?;
                self.end_of_line()
            }
            b"file" | b"loc" => {
                self.need_object("instruction")?;
                let head: &[u8] = if name == b"file" { b".file" } else { b".loc" };
                let forms = self.forms;
                self.parse_by_candidate_forms(forms, forms.of_head(head), name, start, start, None)
            }
            // That it is late was said.
            b"version" if !self.version_given => self.version(),
            b"version" => {
                let span = self.since(start);
                let d = self.diag_label(
                    "E0202",
                    "second `.version`",
                    span,
                    "a file has one version, in its first line",
                );
                Err(self.report_and_give_up_line(d))
            }
            _ if name.starts_with(b"implicit") => {
                self.need_object("input")?;
                while matches!(self.peek(), b'-' | b'$' | b'@' | b'?') {
                    self.pos += 1;
                    self.run();
                }
                let name = &self.src[start + 1..self.pos];
                let kind = self.implicit_kind(name)?;
                self.parse_input(kind, false)
            }
            _ => {
                let span = self.since(start);
                let shown = self.text[start..self.pos].to_owned();
                let mut d =
                    self.diag_label("E0203", format!("unknown directive `{shown}`"), span, "not a directive");
                if let Some(near) = nearest(shown.as_bytes(), DIRECTIVES.iter().map(|d| d.as_bytes())) {
                    d = d.suggest("a similar directive is", self.file, span, near);
                } else {
                    d = d.help(format!("directives are {}", DIRECTIVES.join(" ")));
                }
                Err(self.report_and_give_up_line(d))
            }
        }
    }

    fn kernel(&mut self, kind: ObjectKind) -> P<()> {
        let what = if kind == ObjectKind::Kernel { "the kernel's name" } else { "the function's name" };
        let (name, span) = match self.name_or_string(what) {
            Ok(named) => named,
            Err(bad) => {
                // What follows belongs to it even so.
                self.start_object(kind, "unnamed", Span::NONE);
                self.bad_line = true;
                return Err(bad);
            }
        };
        let mut bad = false;
        if name.is_empty() {
            let d = self.diag_label("E0204", "name is empty", span, "expected a name");
            self.report_diagnostic(d);
            bad = true;
        }
        if name.len() > limits::HEADER_NAME_BYTES {
            let most = format!("at most {} bytes", limits::HEADER_NAME_BYTES);
            let d = self.diag_label("E0307", "name is too long", span, most);
            self.report_diagnostic(d);
            bad = true;
        }
        let was_bad = bad;
        self.start_object(kind, &name, span);
        self.bad_line |= was_bad;
        self.end_of_line()
    }

    /// `UNDEFINED_n` is kind n; whatever else is named becomes 5, as the reference has it.
    fn implicit_kind(&mut self, name: &'s [u8]) -> P<u8> {
        let text = self.str_of(name).into_owned();
        let Some(at) = text.find("UNDEFINED_") else { return Ok(5) };
        match text[at + 10..].parse::<u8>() {
            Ok(n) if n < 32 => Ok(n),
            _ => {
                let span = self.span_of(name);
                let d = self.diag_label(
                    "E0210",
                    "unknown kind of implicit input",
                    span,
                    "`UNDEFINED_0` to `UNDEFINED_31`",
                );
                Err(self.report_and_give_up_line(d))
            }
        }
    }

    // ---- declarations

    /// `.decl NAME v_type=G …`.
    fn parse_decl(&mut self, start: usize) -> P<()> {
        let name = self.var_name();
        if name.is_empty() {
            return Err(self.expected("a name"));
        }
        let span = self.span_of(name);
        if name[0] == b'%' {
            let d = self.diag_label("E0302", "name starts with `%`", span, "only predefined names do");
            return Err(self.report_and_give_up_line(d));
        }
        let mark = self.diags.len();
        let result = self.decl_body(name, span, start);
        if result.is_err() || self.bad_line {
            self.with_help(
                mark,
                "a declaration is `.decl V32 v_type=G type=d num_elts=8 [align=GRF] [alias=<V33, 0>] [attrs={Output}]`",
            );
            // Its uses are not to blame.
            self.names.mark_reported(name);
        }
        result
    }

    fn decl_body(&mut self, name: &'s [u8], span: Span, _start: usize) -> P<()> {
        if name == b"v_type" && self.eat_byte(b'=') {
            let d = self.diag_label("E0402", "declaration has no name", span, "expected a name before it");
            return Err(self.report_and_give_up_line(d));
        }
        if !self.key(b"v_type")? {
            return Err(self.expected("`v_type=G`, `A`, `P`, `S` or `T`"));
        }
        let class = self.decl_class()?;
        let ty = self.decl_type(class)?;
        let elems = self.decl_elems()?;
        let options = self.decl_options(class)?;
        let storage = (options.align, options.alias);
        if let Some(old) = self.find_redeclaration(name) {
            return Err(self.report_redeclaration(name, span, old));
        }
        let index = self.name_in_pool(name);
        let mut attr_list = AttrRange { start: self.obj.var_attrs.len() as u32, len: 0 };
        for (attr_name, value) in options.attrs {
            let attr = self.make_attribute(attr_name, value, Owner::Variable)?;
            attr_list.len += 1;
            self.obj.var_attrs.push(attr);
        }
        if self.bad_line {
            return Ok(());
        }
        let simple = SimpleVar { name: index, elems, attrs: attr_list, span };
        let id = self.add_variable(class, ty, simple, storage);
        self.names.declare(name, class, id, span);
        let shown = &self.text[span.start as usize..span.end as usize];
        if crate::print_names::is_reserved_word(self.forms, shown) {
            self.word_as_name(shown, span);
        }
        if self.peek() == b'/' && self.peek_at(2) == b'@' {
            return self.annotate_decl(class, id);
        }
        Ok(())
    }

    /// The class of a declared variable.
    fn decl_class(&mut self) -> P<Class> {
        let class_name = self.read_identifier();
        Ok(match class_name {
            b"G" => Class::General,
            b"A" => Class::Address,
            b"P" => Class::Predicate,
            b"S" => Class::Sampler,
            b"T" => Class::Surface,
            _ => {
                let (found, at) = if class_name.is_empty() {
                    self.found()
                } else {
                    (format!("`{}`", self.str_of(class_name)), self.span_of(class_name))
                };
                let d = self
                    .diag_label(
                        "E0204",
                        format!("{found} is not a class of variables"),
                        at,
                        "expected G, A, P, S or T",
                    )
                    .note("G: general, A: address, P: predicate, S: sampler, T: surface");
                return Err(self.report_and_give_up_line(d));
            }
        })
    }

    /// The type of a general variable; others have none.
    fn decl_type(&mut self, class: Class) -> P<Type> {
        let mut ty = Type::Ud;
        if self.key(b"type")? {
            let t = self.read_identifier();
            let at = self.span_of_or_here(t);
            if class != Class::General {
                let d = self.diag_label(
                    "E0204",
                    format!("{} has no type", class.describe()),
                    at,
                    "leave out `type=`",
                );
                return Err(self.report_and_give_up_line(d));
            }
            ty = match type_of(t) {
                Some(t) if !t.is_packed() => t,
                Some(t) => {
                    let d = self
                        .diag_label(
                            "E0204",
                            format!("a variable cannot have the type `{}`", t.name()),
                            at,
                            "",
                        )
                        .note("packed vectors exist as immediates only");
                    return Err(self.report_and_give_up_line(d));
                }
                None => return Err(self.unknown_type(t)),
            };
        } else if class == Class::General {
            return Err(self.expected("`type=`"));
        }
        Ok(ty)
    }

    /// The number of elements.
    fn decl_elems(&mut self) -> P<u16> {
        if !self.key(b"num_elts")? {
            return Err(self.expected("`num_elts=`"));
        }
        self.skip_blanks();
        let at = self.pos;
        let elems = self.expr()?;
        let elems_span = self.since(at);
        match u16::try_from(elems) {
            Ok(n) if n > 0 => Ok(n),
            _ => {
                let mut d = self.diag_label(
                    "E0205",
                    format!("num_elts is {elems}, which is out of range"),
                    elems_span,
                    format!("must be 1 to {}", limits::VARIABLE_ELEMENTS),
                );
                if elems > i64::from(limits::VARIABLE_ELEMENTS) {
                    d = d.note("the binary holds it in 16 bits; the reference assembler lets it wrap");
                }
                Err(self.report_and_give_up_line(d))
            }
        }
    }

    /// What follows the number of elements, up to the end of the line.
    fn decl_options(&mut self, class: Class) -> P<DeclOptions<'s>> {
        let mut options = DeclOptions { align: Align::Byte, alias: None, attrs: Vec::new() };
        let mut rank = 0;
        while !self.at_end() {
            let key = self.peek_key();
            let (r, general_only) = match key {
                b"align" => (1, true),
                b"alias" => (2, true),
                b"v_name" => (2, false),
                b"attrs" => (3, false),
                _ => {
                    let (found, at) = self.found();
                    let d = self.diag_label("E0204", format!("unexpected {found} in a declaration"), at, {
                        if class == Class::General {
                            "expected `align=`, `alias=` or `attrs=`"
                        } else {
                            "expected `attrs=` or the end of the line"
                        }
                    });
                    return Err(self.report_and_give_up_line(d));
                }
            };
            let key_span = self.span_of(key);
            let state = matches!(class, Class::Sampler | Class::Surface);
            if general_only && class != Class::General || key == b"v_name" && !state {
                let shown = self.str_of(key).into_owned();
                let d = self.diag_label(
                    "E0204",
                    format!("{} has no `{shown}`", class.describe()),
                    key_span,
                    "not allowed here",
                );
                return Err(self.report_and_give_up_line(d));
            }
            if r <= rank {
                let shown = self.str_of(key).into_owned();
                let d = self
                    .diag_label("E0204", format!("`{shown}=` is out of order"), key_span, "comes too late")
                    .note("the order is v_type, type, num_elts, align, alias, attrs, each at most once");
                return Err(self.report_and_give_up_line(d));
            }
            rank = r;
            self.key(key)?;
            match key {
                b"align" => options.align = self.align()?,
                b"alias" => options.alias = Some(self.parse_alias()?),
                b"v_name" => {
                    if self.read_identifier().is_empty() {
                        return Err(self.expected("a name"));
                    }
                }
                _ => {
                    self.attr_list(&mut options.attrs)?;
                    if class == Class::Sampler {
                        let d = self
                            .diag_label("E0208", "a sampler takes no attributes", key_span, "not here")
                            .note("the reference assembler attaches them to the next declaration instead");
                        self.report_diagnostic(d);
                    }
                }
            }
        }
        Ok(options)
    }

    /// Adds a variable to its class, a general one with alignment and alias; gives its index, of which it is told if
    /// there are too many.
    fn add_variable(
        &mut self,
        class: Class,
        ty: Type,
        simple: SimpleVar,
        options: (Align, Option<(u32, u16)>),
    ) -> u32 {
        let SimpleVar { name: index, elems, attrs: attr_list, span } = simple;
        let (first, count, most, what) = match class {
            Class::General => {
                let (alias, alias_offset) = options.1.unwrap_or((0, 0));
                self.obj.vars.push(GeneralVar {
                    name: index,
                    ty,
                    align: options.0,
                    elems,
                    alias,
                    alias_offset,
                    attrs: attr_list,
                    span,
                });
                (predefined::FIRST_VAR, self.obj.vars.len(), usize::MAX, "general variables")
            }
            Class::Address => {
                self.obj.addresses.push(simple);
                (0, self.obj.addresses.len(), limits::COUNTED_BY_TWO_BYTES, "address variables")
            }
            Class::Predicate => {
                self.obj.predicates.push(simple);
                let first = predefined::FIRST_PREDICATE as u32;
                (first, self.obj.predicates.len(), limits::PREDICATE_VARIABLES, "predicates")
            }
            Class::Sampler => {
                self.obj.samplers.push(simple);
                (0, self.obj.samplers.len(), limits::SAMPLERS, "samplers")
            }
            _ => {
                self.obj.surfaces.push(simple);
                let first = predefined::FIRST_SURFACE as u32;
                (first, self.obj.surfaces.len(), limits::SURFACES, "surfaces")
            }
        };
        if count > most {
            let d = self
                .diag_label(
                    "E0307",
                    format!("too many {what}"),
                    span,
                    format!("a kernel holds at most {most}"),
                )
                .note(
                    "instructions have no room for greater numbers; the reference assembler lets them wrap",
                );
            self.report_diagnostic(d);
        }
        first + count as u32 - 1
    }

    #[cold]
    fn word_as_name(&mut self, shown: &'s str, span: Span) {
        let d = self
            .warning_at("W0302", format!("`{shown}` is a word of the language"), span, "declared as a name")
            .note("the reference assembler does not read it as a name");
        self.report_diagnostic(d);
    }

    /// Advice for complaints that have none.
    #[cold]
    fn with_help(&mut self, mark: usize, help: &'static str) {
        for d in self.diags.get_mut(mark..).unwrap_or_default() {
            if d.code == "E0402" && d.helps.is_empty() {
                d.helps.push(envisa_diag::Help { text: help.into(), suggestion: None });
            }
        }
    }

    fn name_in_pool(&mut self, name: &'s [u8]) -> u32 {
        let span = self.span_of(name);
        let text = &self.text[span.start as usize..span.end as usize];
        self.obj.strings.push(text)
    }

    fn span_of_or_here(&self, name: &'s [u8]) -> Span {
        if name.is_empty() { Span::new(self.pos as u32, self.pos as u32 + 1) } else { self.span_of(name) }
    }

    fn find_redeclaration(&self, name: &[u8]) -> Option<crate::names::Decl> {
        let old = self.names.get(name)?;
        (old.depth == self.names.open_scopes() as u32 && old.class != Class::Poison).then_some(old)
    }

    #[cold]
    fn report_redeclaration(&mut self, name: &'s [u8], span: Span, old: crate::names::Decl) -> LineError {
        let shown = self.str_of(name).into_owned();
        let mut d = self.diag_label("E0302", format!("`{shown}` is declared twice"), span, "again here");
        if old.span == Span::NONE {
            d = d.note(format!("`{shown}` is predefined: {}", old.class.describe()));
        } else {
            d = d
                .secondary(self.file, old.span, "first here")
                .note("all classes of variables share their names; a scope `{ … }` may hide outer ones");
        }
        self.report_and_give_up_line(d)
    }

    /// The key that stands here, without its `=`.
    fn peek_key(&mut self) -> &'s [u8] {
        self.skip_blanks();
        let start = self.pos;
        let key = self.run();
        self.pos = start;
        key
    }

    /// Steps over `key=`; false if something else stands here.
    #[inline(always)]
    fn key(&mut self, key: &[u8]) -> P<bool> {
        self.skip_blanks();
        let rest = &self.src[self.pos..];
        if !rest.starts_with(key) || rest.get(key.len()).is_some_and(|&b| is_ident(b)) {
            return Ok(false);
        }
        self.pos += key.len();
        self.expect(b'=')?;
        self.skip_blanks();
        Ok(true)
    }

    fn align(&mut self) -> P<Align> {
        self.skip_blanks();
        let start = self.pos;
        let word = self.run();
        let align = match word {
            b"byte" => Align::Byte,
            b"word" => Align::Word,
            b"dword" => Align::Dword,
            b"qword" => Align::Qword,
            b"oword" => Align::Oword,
            b"GRF" => Align::Grf,
            b"GRFx2" | b"2GRF" => Align::Grf2,
            b"hword" => Align::Hword,
            b"wordx32" | b"32word" => Align::Word32,
            b"wordx64" | b"64word" => Align::Word64,
            _ => {
                let named = word.first().is_some_and(|&b| is_start(b));
                if named {
                    let names: [&[u8]; 10] = [
                        b"byte", b"word", b"dword", b"qword", b"oword", b"hword", b"GRF", b"GRFx2",
                        b"wordx32", b"wordx64",
                    ];
                    let span = self.span_of(word);
                    let shown = self.str_of(word).into_owned();
                    let mut d = self.diag_label(
                        "E0206",
                        format!("`{shown}` is not an alignment"),
                        span,
                        "expected byte, word, dword, qword, oword, hword, GRF, GRFx2, wordx32 or wordx64",
                    );
                    if let Some(near) = nearest(word, names.into_iter()) {
                        d = d.suggest("a similar one is", self.file, span, near);
                    }
                    return Err(self.report_and_give_up_line(d));
                }
                self.pos = start;
                if self.at_eol() {
                    return Err(self.expected("an alignment"));
                }
                let n = self.expr()?;
                let span = self.since(start);
                match n {
                    2 => Align::Word,
                    4 => Align::Dword,
                    8 => Align::Qword,
                    16 => Align::Oword,
                    32 => Align::Hword,
                    64 => Align::Word32,
                    128 => Align::Word64,
                    _ => {
                        let d = self.diag_label(
                            "E0206",
                            format!("{n} is not an alignment"),
                            span,
                            "expected 2, 4, 8, 16, 32, 64 or 128 bytes, or a name",
                        );
                        let d =
                            if n == 1 { d.suggest("for bytes, write", self.file, span, "byte") } else { d };
                        return Err(self.report_and_give_up_line(d));
                    }
                }
            }
        };
        Ok(align)
    }

    /// `<Y, offset>`.
    fn parse_alias(&mut self) -> P<(u32, u16)> {
        self.expect(b'<')?;
        let name = self.var_name();
        if name.is_empty() {
            return Err(self.expected("a variable"));
        }
        let decl = self.find_declaration(name, Some(Class::General))?;
        let id = match decl.class {
            Class::General => decl.id,
            Class::Poison => 0,
            _ => return Err(self.wrong_class(name, decl, "a general variable")),
        };
        self.expect(b',')?;
        self.skip_blanks();
        let start = self.pos;
        let offset = self.expr_nra()?;
        let span = self.since(start);
        self.expect(b'>')?;
        match u16::try_from(offset) {
            Ok(o) => Ok((id, o)),
            Err(_) => {
                let d = self.diag_label(
                    "E0207",
                    format!("alias offset {offset} is out of range"),
                    span,
                    "must be 0 to 65535 bytes",
                );
                Err(self.report_and_give_up_line(d))
            }
        }
    }

    // ---- inputs

    /// `.input X [offset=e] [size=e]` and its relatives.
    fn parse_input(&mut self, implicit: u8, parameter: bool) -> P<()> {
        let name = self.var_name();
        if name.is_empty() {
            return Err(self.expected("a variable"));
        }
        let span = self.span_of(name);
        let decl = self.find_declaration(name, Some(Class::General))?;
        let (class, id) = match decl.class {
            Class::General => (0, decl.id),
            Class::Sampler => (1, decl.id),
            Class::Surface => (2, decl.id),
            Class::Poison => (0, 0),
            _ => return Err(self.wrong_class(name, decl, "a general variable, sampler or surface")),
        };
        let mut offset = 0i64;
        let mut offset_span = span;
        if self.key(b"offset")? {
            let start = self.pos;
            offset = self.expr()?;
            offset_span = self.since(start);
        }
        let mut size_span = span;
        let mut sized = false;
        let size = if self.key(b"size")? {
            sized = true;
            let start = self.pos;
            let v = self.expr()?;
            size_span = self.since(start);
            v
        } else if parameter {
            return Err(self.expected("`size=`"));
        } else {
            match decl.class {
                Class::General => self.obj.var_shape(decl.id, self.grf_bytes()).map_or(0, |(_, n)| n as i64),
                Class::Poison => 0,
                c => {
                    let d = self
                        .diag_label("E0210", format!("{} has no size of its own", c.describe()), span, "")
                        .help("add `size=4`");
                    return Err(self.report_and_give_up_line(d));
                }
            }
        };
        if implicit != 0 || parameter {
            // The reference reads the list and forgets it.
            if self.key(b"attrs")? {
                self.attr_list(&mut Vec::new())?;
            }
        }
        self.end_of_line()?;
        if self.bad_line {
            return Ok(());
        }
        let range = |p: &mut Self, what: &str, v: i64, at: Span, legal: &'static str| {
            let d = p.diag_label("E0210", format!("{what} {v} of an input is out of range"), at, legal);
            p.report_and_give_up_line(d)
        };
        let Ok(offset) = i16::try_from(offset) else {
            return Err(range(self, "offset", offset, offset_span, "must be -32768 to 32767"));
        };
        let Ok(size) = u16::try_from(size) else {
            return Err(range(self, "size", size, size_span, "must be 0 to 65535"));
        };
        if self.obj.kind == ObjectKind::Function {
            let d = self
                .diag_label("E0210", "a function has no inputs", span, "only kernels have")
                .help("a function's arguments are in `%arg`");
            return Err(self.report_and_give_up_line(d));
        }
        if self.obj.inputs.len() >= limits::INPUTS {
            let most = format!("a kernel holds at most {}", limits::INPUTS);
            let d = self.diag_label("E0307", "too many inputs", span, most);
            return Err(self.report_and_give_up_line(d));
        }
        let implicit = if sized { implicit } else { 0 };
        self.obj.inputs.push(Input { kind: implicit << 3 | class, id, offset, size, span });
        if self.peek() == b'/' && self.peek_at(2) == b'@' {
            return self.annotate_input();
        }
        Ok(())
    }
}
