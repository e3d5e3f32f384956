//! Compares outputs with expected values, and writes them: all of them or none.

use super::arguments::{Target, elem_of};
use super::{JobError, Output, Ready, read_value_data};
use crate::compare::{self, Check, Comparison};
use crate::files::Staged;
use crate::values::{ElemType, HostValue, ValueSpec, check_file};
use envisa::Outcome;
use envisa::diag::did_you_mean;
use std::path::PathBuf;

/// A result.
#[derive(Debug)]
pub struct Delivered {
    /// The argument's name, or the variable's.
    pub name: String,
    /// Its content.
    pub value: HostValue,
    /// How many elements to show.
    pub shown: usize,
    /// The file that was written.
    pub file: Option<PathBuf>,
    /// How it compares with what was expected, if something was.
    pub comparison: Option<(Check, Comparison)>,
}

/// Type and shape of a result, known before the run.
pub(super) struct ResultShape {
    pub name: String,
    pub elem: ElemType,
    pub shape: Vec<u64>,
}

impl Ready {
    /// Type and shape of what an output names.
    fn output_form(&self, output: &Output) -> Result<ResultShape, JobError> {
        let name = &output.arg;
        if let Some(h) = self.buffer_of_argument(name) {
            return Ok(ResultShape { name: h.name.clone(), elem: h.elem, shape: h.shape.clone() });
        }
        let Some(v) = self.kernel.variable(name) else {
            if !self.kernel.is_compiled() {
                let all = self.kernel.variables().iter().map(|v| v.name.as_str());
                return Err(JobError::Usage(format!(
                    "`{name}` is neither a buffer that was given nor a variable{}",
                    did_you_mean(name, all)
                )));
            }
            Target::of(&self.kernel, name)?;
            return Err(JobError::Usage(format!(
                "argument `{name}` is neither buffer nor image: it has no result"
            )));
        };
        let elem = elem_of(v.ty).unwrap_or(ElemType::U8);
        let bytes = usize::from(v.elements) * v.ty.size() as usize;
        Ok(ResultShape { name: name.clone(), elem, shape: vec![(bytes / elem.size()) as u64] })
    }

    /// Content of what an output names; of a variable, when the first thread ended.
    fn bytes(&self, name: &str, outcome: &Outcome) -> Result<Vec<u8>, JobError> {
        if let Some(h) = self.buffer_of_argument(name) {
            return Ok(h.buffer.to_vec());
        }
        let place = self.variables.iter().position(|v| v == name);
        let first = outcome.registers.first();
        let bytes = place.and_then(|i| first.and_then(|f| f.variables.get(i)));
        bytes
            .cloned()
            .ok_or_else(|| JobError::Usage(format!("`{name}` has no content, because no thread ended")))
    }

    /// Says before the run what would be in the way after it.
    pub(super) fn check_outputs(&self) -> Result<(), JobError> {
        let mut taken: Vec<&PathBuf> = Vec::new();
        for output in &self.outputs {
            let ResultShape { elem, mut shape, .. } = self.output_form(output)?;
            let here = |e: String| JobError::Usage(format!("output `{}`: {e}", output.arg));
            if let Some(given) = &output.shape {
                let count = |s: &[u64]| s.iter().try_fold(1u64, |n, d| n.checked_mul(*d));
                if count(given) != count(&shape) {
                    let n = count(&shape).unwrap_or(0);
                    return Err(here(format!("{n} elements do not have the shape {given:?}")));
                }
                shape = given.clone();
            }
            if let Some(check) = &output.check {
                Check::parse(check).map_err(here)?;
            }
            if let Some(expect) = &output.expect {
                match ValueSpec::parse(expect).map_err(|e| here(e.to_string()))? {
                    ValueSpec::File(path) => {
                        std::fs::metadata(&path).map_err(|e| here(format!("{}: {e}", path.display())))?;
                    }
                    ValueSpec::Number(_) | ValueSpec::Local(_) => {
                        return Err(here(format!(
                            "`{expect}` is not an array; write TYPE:NUMBER or fill:TYPE:N:X"
                        )));
                    }
                    _ => {}
                }
            }
            if let Some(file) = &output.file {
                if taken.contains(&file) {
                    return Err(here(format!("{} is written twice", file.display())));
                }
                taken.push(file);
                check_file(file, elem, &shape).map_err(|e| here(e.to_string()))?;
            }
        }
        Ok(())
    }

    /// The results that the job asks for. After a fault nothing is compared or written: what
    /// is there is half done. Files appear all together or not at all.
    ///
    /// # Errors
    /// Where a file cannot be read or written.
    pub fn deliver_results(&self, outcome: &Outcome) -> Result<Vec<Delivered>, JobError> {
        let content = |output: &Output| {
            let ResultShape { name, elem, shape } = self.output_form(output)?;
            Ok((name, HostValue { elem, shape, bytes: self.bytes(&output.arg, outcome)? }))
        };
        deliver_outputs(&self.outputs, outcome.fault.is_some(), content)
    }
}

/// Outputs with the names and contents of what they are of.
pub(super) fn deliver_outputs(
    outputs: &[Output],
    faulted: bool,
    content: impl Fn(&Output) -> Result<(String, HostValue), JobError>,
) -> Result<Vec<Delivered>, JobError> {
    let mut all = Vec::new();
    let mut staged: Vec<Staged> = Vec::new();
    for output in outputs {
        let (name, mut value) = content(output)?;
        if let Some(shape) = &output.shape {
            value.shape.clone_from(shape);
        }
        let mut comparison = None;
        if let Some(text) = &output.expect
            && !faulted
        {
            let check = Check::parse(output.check.as_deref().unwrap_or("exact")).map_err(JobError::Usage)?;
            let want = read_value_data(text).map_err(|e| e.of_argument(&output.arg))?;
            comparison = Some((check, compare::compare(&want, &value, check)));
        }
        let file = output.file.clone().filter(|_| !faulted);
        if let Some(file) = &file {
            staged.push(value.stage(file).map_err(JobError::usage)?);
        }
        let shown = output.print.map_or(0, |n| usize::try_from(n).unwrap_or(usize::MAX)).min(value.len());
        all.push(Delivered { name, value, shown, file, comparison });
    }
    for file in staged {
        file.publish().map_err(JobError::Usage)?;
    }
    Ok(all)
}
