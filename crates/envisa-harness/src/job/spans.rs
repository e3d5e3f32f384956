//! Where the entries of a job stand in its file, and the errors that can be found before anything is loaded.

use super::{ArgText, Job, JobError, Output};
use crate::compare::Check;
use crate::images;
use crate::values::ValueSpec;
use envisa::diag::{Diagnostic, FileId, Files};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use toml::de::{DeTable, DeValue};

/// Code of what is wrong in a job.
const JOB: &str = "E0803";

/// Where the keys of a job stand in its file.
#[derive(Clone, Debug, Default)]
pub struct KeySpans {
    file: String,
    text: String,
    /// Bytes of each value, by a path such as `args.x` or `outputs.0.check`.
    spans: BTreeMap<String, Range<usize>>,
}

impl KeySpans {
    /// Of a file's text; empty where it is not TOML.
    pub(super) fn of(file: &str, text: &str) -> KeySpans {
        let mut spans = BTreeMap::new();
        if let Ok(table) = DeTable::parse(text) {
            for (key, value) in table.get_ref() {
                collect_spans(key.get_ref(), value.get_ref(), value.span(), &mut spans);
            }
        }
        KeySpans { file: file.to_owned(), text: text.to_owned(), spans }
    }

    /// Something else has taken the place of a key, as options of the command line do.
    pub fn forget(&mut self, path: &str) {
        self.spans.remove(path);
    }

    /// An error about a key of the file, which points to it; `None` if the key does not stand there.
    fn error_at_key(&self, path: &str, message: String) -> Option<JobError> {
        let span = self.spans.get(path)?.clone();
        Some(self.error_with_span(message, Some(span)))
    }

    fn error_with_span(&self, message: String, span: Option<Range<usize>>) -> JobError {
        let mut files = Files::new();
        let id: FileId = files.add_text(self.file.clone(), self.text.clone());
        let mut d = Diagnostic::error(JOB, message);
        if let Some(span) = span {
            d = d.primary(id, (span.start as u32, span.end as u32), "");
        }
        JobError::Job(vec![d], Arc::new(files))
    }

    /// What the reader of TOML says.
    pub(super) fn toml_error(file: &str, text: &str, e: &toml::de::Error) -> JobError {
        let places = KeySpans { file: file.to_owned(), text: text.to_owned(), spans: BTreeMap::new() };
        places.error_with_span(e.message().to_owned(), e.span())
    }

    /// Makes an error about an argument point to where the file gives it.
    pub(super) fn locate_argument_error(&self, e: JobError) -> JobError {
        let JobError::Usage(message) = &e else { return e };
        let named = message.strip_prefix("argument `").and_then(|rest| rest.split_once('`'));
        let found = named.and_then(|(name, _)| self.error_at_key(&format!("args.{name}"), message.clone()));
        found.unwrap_or(e)
    }
}

fn collect_spans(
    path: &str,
    value: &DeValue<'_>,
    span: Range<usize>,
    out: &mut BTreeMap<String, Range<usize>>,
) {
    match value {
        DeValue::Table(table) => {
            for (key, value) in table {
                collect_spans(&format!("{path}.{}", key.get_ref()), value.get_ref(), value.span(), out);
            }
        }
        DeValue::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                collect_spans(&format!("{path}.{i}"), item.get_ref(), item.span(), out);
            }
        }
        _ => {}
    }
    out.insert(path.to_owned(), span);
}

impl Job {
    /// What is wrong with its values whatever the kernel is, at its place in the file.
    pub(super) fn check_values(&self) -> Result<(), JobError> {
        let at = |path: String, message: String| {
            self.places.error_at_key(&path, message.clone()).unwrap_or(JobError::Usage(message))
        };
        if let Some(Err(e)) = self.platform.as_deref().map(envisa::platform) {
            return Err(at("platform".into(), e.to_string()));
        }
        for (name, arg) in &self.args {
            if let Err(message) = check_argument(arg) {
                return Err(at(format!("args.{name}"), message));
            }
        }
        for (i, output) in self.outputs.iter().enumerate() {
            if let Err((key, message)) = self::check_output(output) {
                return Err(at(format!("outputs.{i}.{key}"), message));
            }
        }
        Ok(())
    }
}

fn value(text: &str) -> Result<(), String> {
    if text.starts_with(super::SAME) || text.starts_with("buffer:") {
        return Ok(());
    }
    if let Some((image, value)) = text.strip_prefix("image:").and_then(|t| t.split_once('=')) {
        images::parse_image(image)?;
        return self::value(value);
    }
    if let Some(sampler) = text.strip_prefix("sampler:") {
        return images::parse_sampler(sampler).map(drop);
    }
    ValueSpec::parse(text).map(drop).map_err(|e| e.to_string())
}

fn check_argument(arg: &ArgText) -> Result<(), String> {
    match arg {
        ArgText::Int(_) | ArgText::Float(_) => Ok(()),
        ArgText::Text(text) => value(text),
        ArgText::Image { image, value: texels } => {
            images::parse_image(image)?;
            value(texels)
        }
        ArgText::Sampler { sampler } => images::parse_sampler(sampler).map(drop),
    }
}

fn check_output(output: &Output) -> Result<(), (&'static str, String)> {
    if let Some(check) = &output.check {
        Check::parse(check).map_err(|e| ("check", e))?;
    }
    match output.expect.as_deref().map(ValueSpec::parse) {
        Some(Err(e)) => Err(("expect", e.to_string())),
        Some(Ok(ValueSpec::Number(_) | ValueSpec::Local(_))) => {
            Err(("expect", "the expected value is not an array; write TYPE:NUMBER,… or fill:TYPE:N:X".into()))
        }
        _ => Ok(()),
    }
}
