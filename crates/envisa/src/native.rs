//! Which engine runs a program.

use envisa_interp::Executable;

use crate::Engine;

/// The engine that `ENVISA_ENGINE` names (`auto`, `jit`, `interp`), if it is set.
pub(crate) fn from_environment() -> Option<Engine> {
    match std::env::var("ENVISA_ENGINE").as_deref() {
        Ok("jit") => Some(Engine::Native),
        Ok("interp") => Some(Engine::Interpreter),
        Ok("auto") => Some(Engine::Auto),
        _ => None,
    }
}

/// Has the program translated, if the engine asked for does that: `true` if it was. Whatever native code cannot run,
/// the interpreter runs.
pub(crate) fn prepare(executable: &mut Executable, engine: Engine) -> bool {
    #[cfg(target_arch = "x86_64")]
    if engine == Engine::Native
        && let Some(jit) = envisa_jit::Jit::new()
    {
        return executable.translate(&jit);
    }
    executable.interpret();
    let _ = engine;
    false
}
