//! Which engine runs a program.

use envisa_interp::Executable;
use envisa_machine::dispatch::Prepared;
use envisa_machine::link::Linked;

use crate::Engine;

/// Does native code run it, for this choice of the caller's? It is translated if so. Whatever native code cannot run,
/// the interpreter runs. `ENVISA_ENGINE` decides where the caller leaves it open.
pub(crate) fn runs(executable: &Executable, engine: Engine) -> bool {
    let engine = match engine {
        Engine::Auto => Engine::from_environment().unwrap_or_default(),
        chosen => chosen,
    };
    #[cfg(target_arch = "x86_64")]
    if NATIVE.contains(&engine)
        && let Some(jit) = envisa_jit::Jit::new()
    {
        return executable.translate(&jit);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (executable, engine);
    false
}

/// What native code leaves to others, instructions by program counter of the improved program; or why it does not run
/// the launch.
pub(crate) type Left = Result<envisa_machine::engine::Left, String>;

/// Is native code asked for by its name?
pub(crate) fn named(engine: Engine) -> bool {
    match engine {
        Engine::Auto => Engine::from_environment() == Ok(Engine::Native),
        chosen => chosen == Engine::Native,
    }
}

/// What native code would leave to the interpreter in this launch.
pub(crate) fn left(executable: &Executable, engine: Engine, prepared: &Prepared, linked: &Linked) -> Left {
    if !runs(executable, engine) {
        return Err("there is no native code for this program on this host".into());
    }
    envisa_interp::left(executable, prepared, linked)
}

/// What native code is made for on this host, if there is any.
pub(crate) fn level() -> Option<&'static str> {
    #[cfg(target_arch = "x86_64")]
    return envisa_jit::Jit::new().map(|jit| jit.level());
    #[cfg(not(target_arch = "x86_64"))]
    None
}

/// The engines that mean native code where there is some.
#[cfg(target_arch = "x86_64")]
const NATIVE: &[Engine] = &[Engine::Auto, Engine::Native];

/// The native code of a program as text.
///
/// # Errors
/// Why there is none.
pub(crate) fn listing(executable: &Executable) -> Result<String, String> {
    #[cfg(target_arch = "x86_64")]
    if let Some(jit) = envisa_jit::Jit::new() {
        return jit.listing(executable.optimized(), &executable.instructions());
    }
    let _ = executable;
    Err("native code needs an x86-64 CPU with AVX2 or AVX-512".into())
}
