//! Compiling for a device, and why that fails.

use std::sync::Arc;

use envisa_ocloc::Failure;

pub use envisa_ocloc::{Input, Output};

use crate::device::{Module, SourceText};
use crate::log;
use crate::spec::Spec;

/// Why something was not built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    /// There is no compiler.
    NoCompiler,
    /// The compiler does not know the options.
    Options,
    /// The compiler refused, or what it made cannot be used.
    Refused,
    /// The compiler broke down.
    Crashed,
}

impl Why {
    /// Why the compiler failed.
    pub fn of(failure: &Failure) -> Why {
        match failure {
            Failure::NoCompiler(_) => Why::NoCompiler,
            Failure::Refused(log) if log.contains("Unrecognized build options") => Why::Options,
            Failure::Refused(_) => Why::Refused,
            Failure::Crashed(_) => Why::Crashed,
        }
    }
}

/// Something was not built.
#[derive(Clone, Debug)]
pub struct NotBuilt {
    /// Why.
    pub why: Why,
    /// What the compiler said.
    pub log: String,
}

/// Compiles what runs on a device; `sources` are the texts it is of. Gives what the compiler said, too. What the module
/// uses and does not define is left to the door.
///
/// # Errors
/// If it cannot be compiled or used.
pub fn build(
    spec: &Spec,
    input: &Input<'_>,
    options: &str,
    sources: Vec<SourceText>,
) -> Result<(Arc<Module>, String), NotBuilt> {
    let name = spec.name;
    let start = std::time::Instant::now();
    let made = crate::compiler::service().compile(name, input, options, Output::Zebin);
    if log::wanted().compiler {
        let how = match &made {
            Ok(c) if c.cached => "from the cache",
            Ok(_) => "compiled",
            Err(_) => "failed",
        };
        let ms = start.elapsed().as_secs_f64() * 1e3;
        log::line(&format!("envisa: {how} for {name} in {ms:.1} ms, options `{options}`"));
    }
    let compiled = made.map_err(|e| NotBuilt { why: Why::of(&e), log: e.log().to_owned() })?;
    let said = compiled.log;
    match Module::compiled(spec, "program", compiled.bytes, sources) {
        Ok(module) => Ok((Arc::new(module), said)),
        Err(e) => {
            let log = format!("{said}envisa cannot use the module: {e}\n");
            Err(NotBuilt { why: Why::Refused, log })
        }
    }
}
