//! Kernels of this project that are right: those of its conformance suite and of its survey. Nothing may be found of them.

use std::collections::BTreeMap;

use super::gpuverify::fewer;
use super::{Content, Inputs, Program, Suite, oclgrind, survey};
use crate::kernel::{self, Device};
use crate::launch::{ArgValue, Launch, SizeSet};

/// Reads them, as they are for a device.
///
/// # Errors
/// What cannot be read.
pub fn read(device: Device) -> Result<Suite, String> {
    let mut suite = Suite {
        key: "right",
        about: "## Right kernels\n\nThe kernels of this project's conformance suite (`suite/kernels`), and the everyday kernels of its survey (`suite/survey`). Of large ranges, only the first groups run. All their results are compared with other implementations, so each finding is a possible false alarm and was examined. \
                (`cargo run -p envisa-suite -- foreign --right`)"
            .to_owned(),
        programs: Vec::new(),
        left_out: BTreeMap::new(),
    };
    let mut add = |name: String, program: Result<Program, String>| match program {
        Ok(p) => suite.programs.push(Program { name, ..p }),
        Err(why) => *suite.left_out.entry(why).or_default() += 1,
    };
    for k in kernel::discover(&kernel::kernel_folder()).map_err(|e| e.to_string())? {
        if !k.is_for(device) || k.header.vector {
            add(k.id.clone(), Err("kernels for other devices, or in other languages".to_owned()));
            continue;
        }
        let launch =
            crate::launch::launch(&k, SizeSet::Conformance, false).map_err(|e| format!("{}: {e}", k.id))?;
        let options = k.device_options(device);
        add(k.id.clone(), program((k.source.clone(), options, k.function().to_owned()), &launch));
    }
    for name in survey::names()? {
        let r = survey::replay(name)?;
        add(format!("survey/{name}"), program((r.source, r.options, r.kernel), &r.launch));
    }
    Ok(suite)
}

fn program((text, options, kernel): (String, String, String), launch: &Launch) -> Result<Program, String> {
    let n = launch.dims as usize;
    if launch.offset != [0; 3] {
        return Err("ranges that do not begin at 0".to_owned());
    }
    let content = |value: &ArgValue| match value {
        ArgValue::Buffer(v) => Ok(Content::Bytes(v.bytes.clone())),
        ArgValue::Scalar(bytes) => Ok(Content::Value(bytes.clone())),
        ArgValue::Local(bytes) => Ok(Content::Local(*bytes)),
        ArgValue::Image(..) | ArgValue::Sampler(_) => Err("images".to_owned()),
    };
    let contents: Result<Vec<Content>, String> = launch.args.iter().map(|a| content(&a.value)).collect();
    Ok(Program {
        name: String::new(),
        text,
        kernel,
        options,
        global: fewer(launch.global[..n].to_vec(), &launch.local[..n]),
        local: launch.local[..n].to_vec(),
        inputs: Inputs::Given(contents?),
        bug: false,
        codes: &oclgrind::CODES,
        says: "nothing".to_owned(),
        planted: None,
    })
}
