//! Reads whole texts: statement after statement, and the objects that they make.

use std::collections::HashMap;

use envisa_diag::{Diagnostic, FileId};
use envisa_isa::{Module, Object, Span};

use crate::name_bytes::is_start;
use crate::parser::{P, Parser, shorten_long_names};
use crate::{ParseOptions, ParseResult};

impl Parser<'_> {
    fn run_file(&mut self) {
        if self.text.starts_with('\u{feff}') {
            // A byte order mark, as some editors write.
            self.pos = 3;
            let d = self
                .warning_at("W0102", "text starts with a byte order mark", Span::new(0, 3), "skipped")
                .note("the reference assembler does not read such a file");
            self.report_diagnostic(d);
        }
        self.version_line();
        while self.pos < self.src.len() {
            if self.diags.len() != self.counted {
                self.count();
                continue;
            }
            self.bad_line = false;
            let blank = self.at_eol();
            self.failed |= self.bad_line;
            if blank {
                // Comments between statements may still be annotations of the object.
                if self.peek() == b'/' && self.peek_at(2) == b'@' && self.object_annotation().is_err() {
                    self.failed = true;
                }
                self.next_line();
                continue;
            }
            self.bad_line = false;
            if self.parse_statement().is_err() {
                self.failed = true;
                // A scope that opens on a broken line would let its end complain too.
                self.next_line();
            }
            self.failed |= self.bad_line;
        }
        self.end_object();
        self.count();
    }

    /// Counts what was said since the last time; ends reading at too many errors, drops too many warnings.
    #[cold]
    fn count(&mut self) {
        for d in self.diags.split_off(self.counted.min(self.diags.len())) {
            let (n, what) = match d.is_error() {
                true => (&mut self.errors, "errors"),
                false => (&mut self.warnings, "warnings"),
            };
            *n += 1;
            if *n <= self.max_errors {
                self.diags.push(d);
            } else if *n == self.max_errors + 1 {
                let at = d.location().map_or(0, |l| l.span.start);
                let more = match what {
                    "errors" => Diagnostic::error(
                        "E0107",
                        format!("too many errors: nothing is read after {}", self.max_errors),
                    )
                    .note("fix the first ones; later ones often follow from them"),
                    _ => Diagnostic::warning(
                        "W0107",
                        format!("too many warnings: none is shown after {}", self.max_errors),
                    ),
                };
                self.diags.push(more.primary(self.file, (at, at), "the next one is here"));
            }
        }
        self.counted = self.diags.len();
        if self.errors > self.max_errors {
            self.stopped = true;
            self.pos = self.src.len();
        }
    }

    /// Anything but blanks stands here.
    fn parse_statement(&mut self) -> P<()> {
        match self.peek() {
            b'.' => self.parse_directive(),
            b'{' => {
                self.names.open(Span::new(self.pos as u32, self.pos as u32 + 1));
                self.pos += 1;
                if self.names.open_scopes() > 256 {
                    let span = Span::new(self.pos as u32 - 1, self.pos as u32);
                    let d = self.diag_label(
                        "E0212",
                        "scopes are nested too deeply",
                        span,
                        "more than 256 levels",
                    );
                    return Err(self.report_and_give_up_line(d));
                }
                Ok(())
            }
            b'}' => {
                self.pos += 1;
                if !self.names.close() {
                    let span = Span::new(self.pos as u32 - 1, self.pos as u32);
                    let d = self.diag_label("E0212", "`}` without `{`", span, "no scope is open here");
                    return Err(self.report_and_give_up_line(d));
                }
                self.end_of_line()
            }
            b'(' => self.instruction(),
            b if is_start(b) => {
                if self.column_one() && self.label_length().is_some() {
                    return self.label();
                }
                self.instruction()
            }
            b'$' | b'@' | b'?' if self.label_length().is_some() => self.label(),
            _ => {
                let (found, span) = self.found();
                let d = self
                    .diag_label("E0102", format!("unexpected {found}"), span, "no statement starts like this")
                    .help("a statement is a directive `.name …`, a label `name:`, or an instruction");
                Err(self.report_and_give_up_line(d))
            }
        }
    }

    fn finish(self) -> (Vec<Object>, (u8, u8), Vec<Diagnostic>, bool) {
        (self.objects, self.version, self.diags, !self.failed)
    }
}

/// Parses several texts into one module.
pub(crate) fn parse_all(units: &[(&str, FileId)], opts: &ParseOptions) -> ParseResult {
    let mut result =
        ParseResult { module: Module::default(), files: Vec::new(), diagnostics: Vec::new(), complete: true };
    for (i, &(text, file)) in units.iter().enumerate() {
        let most = opts.max_bytes.min(crate::MAX_BYTES);
        if text.len() > most {
            let d = Diagnostic::error("E0108", format!("text of {} bytes is too large", text.len()))
                .primary(file, (0, 0), format!("at most {most} bytes"))
                .note("positions in a text have 32 bits");
            result.diagnostics.push(d);
            result.complete = false;
            continue;
        }
        let mut p = Parser::new(text, file, opts);
        p.run_file();
        let (objects, version, diagnostics, complete) = p.finish();
        result.diagnostics.extend(diagnostics);
        result.complete &= complete;
        if i == 0 {
            result.module.version = version;
        } else if version != result.module.version && complete {
            let (a, b) = (result.module.version, version);
            let d = Diagnostic::error(
                "E0202",
                format!("version {}.{} does not match {}.{} of the first file", b.0, b.1, a.0, a.1),
            )
            .primary(file, (0, 0), "another version");
            result.diagnostics.push(d);
            result.complete = false;
        }
        result.files.extend(objects.iter().map(|_| file));
        result.module.objects.extend(objects);
    }
    same_names(&mut result);
    result
}

/// Two objects of one name cannot be told apart.
fn same_names(result: &mut ParseResult) {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut found = Vec::new();
    // Those without a name were complained about.
    let named = |o: &Object| o.name_span != Span::NONE;
    for (i, o) in result.module.objects.iter().enumerate().filter(|(_, o)| named(o)) {
        match seen.get(o.name.as_str()) {
            Some(&first) => found.push((first, i)),
            None => {
                seen.insert(&o.name, i);
            }
        }
    }
    for (first, i) in found {
        let (a, b) = (&result.module.objects[first], &result.module.objects[i]);
        let d = Diagnostic::error("E0302", format!("`{}` is defined twice", b.name))
            .primary(result.files[i], b.name_span, "again here")
            .secondary(result.files[first], a.name_span, "first here");
        let mut d = d;
        shorten_long_names(&mut d);
        result.diagnostics.push(d);
        result.complete = false;
    }
}
