//! Launches of other people's programs that were kept with small sizes, as a suite for the checks: all are held to be right.

use std::collections::BTreeMap;
use std::path::Path;

use super::gpuverify::fewer;
use super::replay::Replay;
use super::suites::{self, Sizes, Source};
use super::{Content, Inputs, Program, Suite, oclgrind};
use crate::launch::ArgValue;

/// Bytes of an argument at most: Oclgrind's command takes them as a text of numbers.
const MOST: usize = 1 << 22;

/// Reads those that are kept in a folder.
///
/// # Errors
/// If there are none.
pub fn read(sources: &[Source], folder: &Path, only: &[String]) -> Result<Suite, String> {
    let mut suite = Suite {
        key: "launches",
        about: "## Kernels of other people's programs\n\nA launch of each kernel of the suites of \
                [suite/foreign.toml](../suite/foreign.toml), with small sizes and the program's own data. Of large ranges, only the first groups run. All are assumed to be right, so each finding is a possible false alarm and was examined."
            .to_owned(),
        programs: Vec::new(),
        left_out: BTreeMap::new(),
    };
    for kept in suites::kept(sources, folder, Sizes::Small, only)? {
        match Replay::read(&kept.folder).and_then(|r| program(&kept.name(), &kept.home, r)) {
            Ok(p) => suite.programs.push(p),
            Err(why) => *suite.left_out.entry(why).or_default() += 1,
        }
    }
    Ok(suite)
}

fn program(name: &str, home: &Path, replay: Replay) -> Result<Program, String> {
    let launch = &replay.launch;
    let n = launch.dims as usize;
    if launch.offset != [0; 3] {
        return Err("a range that does not begin at 0".to_owned());
    }
    let content = |value: &ArgValue| match value {
        ArgValue::Buffer(v) if v.bytes.len() > MOST => {
            Err("buffers too large for Oclgrind's command".to_owned())
        }
        ArgValue::Buffer(v) => Ok(Content::Bytes(v.bytes.clone())),
        ArgValue::Scalar(bytes) => Ok(Content::Value(bytes.clone())),
        ArgValue::Local(bytes) => Ok(Content::Local(*bytes)),
        ArgValue::Image(..) | ArgValue::Sampler(_) => {
            Err("images, which Oclgrind's command does not take".to_owned())
        }
    };
    let contents: Result<Vec<Content>, String> = launch.args.iter().map(|a| content(&a.value)).collect();
    // What a source includes is beside the program.
    let mut options = replay.options.trim().to_owned();
    if replay.source.contains("#include \"") {
        options = format!("{options} -I {}", home.display()).trim().to_owned();
    }
    Ok(Program {
        name: name.to_owned(),
        text: replay.source.clone(),
        kernel: replay.kernel.clone(),
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
