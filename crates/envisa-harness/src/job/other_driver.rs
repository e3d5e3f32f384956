//! Jobs that another OpenCL implementation runs: what is passed for its kernel's parameters, and what comes back.

use super::arguments::{value, vector_type};
use super::results::deliver_outputs;
use super::{Delivered, FRESH, Job, JobError, read_value_data};
use crate::values::{HostValue, ValueSpec};
use envisa::diag::did_you_mean;

/// A parameter of the kernel, as OpenCL tells of it.
#[derive(Clone, Copy, Debug)]
pub struct Parameter<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its type: `float*`, `uint4`.
    pub type_name: &'a str,
    /// Whether it is a pointer to local memory.
    pub local: bool,
}

/// What is passed for a parameter.
#[derive(Clone, Debug)]
pub enum PassedValue {
    /// A buffer with this content.
    Buffer(HostValue),
    /// A value's bytes.
    Value(Vec<u8>),
    /// Local memory of so many bytes.
    Local(u64),
}

impl Job {
    /// What is passed for all parameters.
    ///
    /// # Errors
    /// Arguments that are missing, unknown or of another kind, images and samplers.
    pub fn given(&self, parameters: &[Parameter<'_>]) -> Result<Vec<PassedValue>, JobError> {
        let names = || parameters.iter().map(|p| p.name);
        let is = |key: &str, i: usize| key == parameters[i].name || key.parse() == Ok(i);
        if let Some(key) = self.args.keys().find(|k| !(0..parameters.len()).any(|i| is(k, i))) {
            return Err(JobError::Usage(format!(
                "there is no argument `{key}`{}",
                did_you_mean(key, names())
            )));
        }
        let mut all = Vec::new();
        for (i, p) in parameters.iter().enumerate() {
            let Some((_, text)) = self.args.iter().find(|(k, _)| is(k, i)) else {
                return Err(JobError::Usage(format!("argument `{}` is missing", p.name)));
            };
            all.push(argument_to_pass(p, &text.text()).map_err(|e| e.of_argument(p.name))?);
        }
        Ok(all)
    }

    /// The results that the job asks for, of buffers whose contents are given by name.
    ///
    /// # Errors
    /// Where an output names something else, or a file cannot be read or written.
    pub fn deliver_contents(&self, contents: &[(&str, HostValue)]) -> Result<Vec<Delivered>, JobError> {
        deliver_outputs(&self.outputs, false, |output| {
            let found = contents.iter().find(|(name, _)| *name == output.arg);
            let (name, value) = found.ok_or_else(|| {
                JobError::Usage(format!("argument `{}` is not a buffer, so it has no result", output.arg))
            })?;
            Ok(((*name).to_owned(), value.clone()))
        })
    }
}

fn argument_to_pass(p: &Parameter<'_>, text: &str) -> Result<PassedValue, JobError> {
    if p.local {
        return match ValueSpec::parse(text) {
            Ok(ValueSpec::Local(bytes)) => Ok(PassedValue::Local(bytes)),
            _ => Err(JobError::Usage(format!(
                "the kernel takes local memory here; write local:BYTES, not `{text}`"
            ))),
        };
    }
    if p.type_name.ends_with('*') {
        let fresh = text.strip_prefix(FRESH).map(|rest| format!("zeros:{rest}"));
        return read_value_data(fresh.as_deref().unwrap_or(text)).map(PassedValue::Buffer);
    }
    // A vector of three takes the place of four.
    let stated = vector_type(p.type_name)
        .map(|v| v.elem.size() as u64 * if v.lanes == 3 { 4 } else { u64::from(v.lanes) });
    value(p.type_name, stated, 0, text).map(PassedValue::Value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_given_by_name_or_index_all_of_them() {
        let job = |args: &str| Job::parse(&format!("file = \"k.cl\"\n[args]\n{args}")).expect("a job");
        let parameters = [("out", "uint*", false), ("n", "ushort", false), ("part", "float*", true)]
            .map(|(name, type_name, local)| Parameter { name, type_name, local });
        let all =
            job("out = \"iota:u32:3\"\n1 = 7\npart = \"local:64\"").given(&parameters).expect("they fit");
        assert!(matches!(&all[0], PassedValue::Buffer(v) if v.bytes.len() == 12 && v.bytes[4] == 1));
        assert!(matches!(&all[1], PassedValue::Value(v) if v[..] == [7, 0]));
        assert!(matches!(all[2], PassedValue::Local(64)));
        for wrong in [
            "out = \"iota:u32:3\"\nn = 7",
            "out = \"iota:u32:3\"\nn = 7\npart = 5",
            "out = \"iota:u32:3\"\nn = 70000\npart = \"local:64\"",
            "out = \"iota:u32:3\"\nn = 7\npart = \"local:64\"\nm = 1",
        ] {
            assert!(job(wrong).given(&parameters).is_err(), "{wrong}");
        }
    }
}
