//! Compiles for a device, and reports why that fails.

use std::sync::Arc;

use envisa_ocloc::protocol::File;
use envisa_ocloc::{Failure, Rewrite};

pub use envisa_ocloc::{Input, Output};

use crate::device::{Module, SourceText};
use crate::device_properties::Spec;
use crate::{log, report, source_lines};

/// Why something was not built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BuildFailure {
    /// There is no compiler.
    NoCompiler,
    /// The compiler does not know the options.
    Options,
    /// The compiler refused, or what it made cannot be used.
    Refused,
    /// The compiler broke down.
    Crashed,
}

impl BuildFailure {
    /// Why the compiler failed.
    pub fn of(failure: &Failure) -> BuildFailure {
        match failure {
            Failure::NoCompiler(_) => BuildFailure::NoCompiler,
            Failure::Refused(log) if log.contains("Unrecognized build options") => BuildFailure::Options,
            Failure::Refused(_) => BuildFailure::Refused,
            Failure::Crashed(_) => BuildFailure::Crashed,
        }
    }
}

/// Something was not built.
#[derive(Clone, Debug)]
pub struct NotBuilt {
    /// Why.
    pub why: BuildFailure,
    /// What the compiler said.
    pub log: String,
}

/// Compiles what runs on a device; `sources` are the texts it is of. Gives what the compiler said, too. What the module
/// uses and does not define is left to the door.
///
/// While the program is debugged or mistakes are looked for, what is compiled is made for that, beside the program's own
/// build ([`Rewrite`]); what cannot be made so is compiled as it is, and where it is for checks that is told.
///
/// # Errors
/// If it cannot be compiled or used.
pub fn build(
    spec: &'static Spec,
    input: &Input<'_>,
    options: &str,
    sources: Vec<SourceText>,
) -> Result<(Arc<Module>, String), NotBuilt> {
    let kept = source_lines::is_built_for_debugging().then(|| source_lines::keeping_variables(options));
    let options = kept.as_deref().unwrap_or(options);
    let rewrite = match () {
        () if source_lines::is_built_for_debugging() => Rewrite::Frames,
        () if report::builds_for_checks() && report::wants_hints() => Rewrite::Hints,
        () if report::builds_for_checks() => Rewrite::Checks,
        () => return told(spec, as_is(spec, input, options, sources)).map(share_module),
    };
    if let Some(built) = build_rewritten(spec, input, options, &sources, rewrite) {
        return Ok(share_module(built));
    }
    let built = told(spec, as_is(spec, input, options, sources))?;
    if rewrite.is_for_checks() && !built.0.kernels.is_empty() {
        let kernels: Vec<&str> = built.0.kernels.iter().map(|k| k.name.as_str()).collect();
        report::report_unchecked(&format!(
            "the compiler refused {} in the build for the checks: accesses that it merged, moved or left out are not checked, and indices are not compared with the types of the source",
            kernels.join(", ")
        ));
    }
    Ok(share_module(built))
}

/// Says aloud that the compiler broke down: the application may never show what is logged.
fn told<T>(spec: &Spec, built: Result<T, NotBuilt>) -> Result<T, NotBuilt> {
    built.inspect_err(|NotBuilt { why, log }| {
        if *why == BuildFailure::Crashed {
            let name = spec.name;
            log::print_warning(&format!(
                "for {name}: {}. Another compiler may take it (ENVISA_OCLOC)",
                log.trim_end()
            ));
        }
    })
}

fn share_module((module, log): (Module, String)) -> (Arc<Module>, String) {
    (Arc::new(module), log)
}

/// Compiles SPIR-V that was rewritten; `None` if that cannot be done.
fn build_rewritten(
    spec: &'static Spec,
    input: &Input<'_>,
    options: &str,
    sources: &[SourceText],
    rewrite: Rewrite,
) -> Option<(Module, String)> {
    let (plain, said) = match input {
        Input::Source(..) => {
            let first = format!("{options}{}", rewrite.frontend_options());
            let made =
                crate::compiler::compiler_service().compile(spec.name, input, &first, Output::Spirv).ok()?;
            (vec![made.bytes], made.log)
        }
        Input::Spirv(one) => (vec![one.to_vec()], String::new()),
        Input::Link(several) => (several.to_vec(), String::new()),
    };
    let texts: Vec<(&str, &[u8])> = sources.iter().map(|s| (s.name.as_str(), &s.text[..])).collect();
    let changed: Option<Vec<Vec<u8>>> =
        plain.iter().map(|module| rewrite.of(module, &texts, options)).collect();
    let changed = changed?;
    let (module, more) = as_is(spec, &of_modules(&changed), options, sources.to_vec()).ok()?;
    let compile = {
        let (options, input) = (options.to_owned(), OwnedInput::of(input));
        move || {
            let input = input.as_input();
            let made =
                crate::compiler::compiler_service().compile(spec.name, &input, &options, Output::Zebin);
            made.ok().map(|c| c.bytes)
        }
    };
    Some((module.with_own_build(Box::new(compile)), said + &more))
}

/// What a program's own build is made of, where that is asked for.
enum OwnedInput {
    Source(Vec<u8>, Vec<File>),
    Modules(Vec<Vec<u8>>),
}

impl OwnedInput {
    fn of(input: &Input<'_>) -> OwnedInput {
        match *input {
            Input::Source(text, headers) => OwnedInput::Source(text.to_vec(), headers.to_vec()),
            Input::Spirv(one) => OwnedInput::Modules(vec![one.to_vec()]),
            Input::Link(several) => OwnedInput::Modules(several.to_vec()),
        }
    }

    fn as_input(&self) -> Input<'_> {
        match self {
            OwnedInput::Source(text, headers) => Input::Source(text, headers),
            OwnedInput::Modules(modules) => of_modules(modules),
        }
    }
}

fn of_modules(modules: &[Vec<u8>]) -> Input<'_> {
    match modules {
        [one] => Input::Spirv(one),
        several => Input::Link(several),
    }
}

fn as_is(
    spec: &Spec,
    input: &Input<'_>,
    options: &str,
    sources: Vec<SourceText>,
) -> Result<(Module, String), NotBuilt> {
    let name = spec.name;
    let start = std::time::Instant::now();
    let made = crate::compiler::compiler_service().compile(name, input, options, Output::Zebin);
    if log::log_settings().compiler {
        let how = match &made {
            Ok(c) if c.cached => "from the cache",
            Ok(_) => "compiled",
            Err(_) => "failed",
        };
        let ms = start.elapsed().as_secs_f64() * 1e3;
        let program = crate::compiler::compiler_service().program_for(name);
        let by = program.map_or(String::new(), |program| format!(" by {program}"));
        log::line(&format!("envisa: {how} for {name}{by} in {ms:.1} ms, options `{options}`"));
    }
    let compiled = made.map_err(|e| NotBuilt { why: BuildFailure::of(&e), log: e.log().to_owned() })?;
    let said = compiled.log;
    match Module::load(spec, "program", compiled.bytes, sources) {
        Ok(module) => Ok((module, said)),
        Err(e) => {
            let log = format!("{said}envisa cannot use the module: {e}\n");
            Err(NotBuilt { why: BuildFailure::Refused, log })
        }
    }
}
