//! Chooses the engine that runs a program.

use std::sync::{Arc, OnceLock};

use envisa_interp::{Executable, Job, TranslationBenefit};
#[cfg(target_arch = "x86_64")]
use envisa_lower::Inst;
use envisa_machine::dispatch::Prepared;
use envisa_machine::engine::Engine as NativeEngine;
use envisa_machine::link::Linked;
use envisa_machine::observer::Observer;
use envisa_machine::thread::{Machine, Mask};

use crate::Engine;
#[cfg(target_arch = "x86_64")]
use crate::fault::Place;
use crate::kernel::Code;

/// How a launch is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EngineChoice {
    /// Interpreted.
    Interpreted,
    /// By native code, which is made if need be.
    Native,
    /// By native code that was made beside earlier launches; interpreted if that is not there.
    NativeIfMade,
    /// Interpreted as it was written.
    Unoptimized,
}

/// An observer that looks at nothing. It makes the program run as it was written.
pub(crate) struct Unoptimized;

impl Observer for Unoptimized {
    fn fork(&self) -> Self {
        Unoptimized
    }

    fn merge(&mut self, _other: Self) {}

    fn before(&mut self, _m: &Machine<'_>, _pc: u32, _mask: Mask) {}

    fn after(&mut self, _m: &Machine<'_>, _pc: u32, _mask: Mask, _next: u32) {}

    fn wants_all(&self, _thread: u32) -> bool {
        true
    }
}

/// How a launch of so many threads is run, for this choice of the caller's. The program is translated if it is to be run
/// natively. Whatever native code cannot run, the interpreter runs. `ENVISA_ENGINE` decides where the caller leaves it
/// open, and where that does, too, what the launch costs.
pub(crate) fn choose_engine(executable: &Executable, engine: Engine, threads: u64) -> EngineChoice {
    let engine = match engine {
        Engine::Auto => by_environment(),
        chosen => chosen,
    };
    let pays = match engine {
        Engine::Unoptimized => return EngineChoice::Unoptimized,
        Engine::Interpreter => TranslationBenefit::NotYet,
        Engine::Native => TranslationBenefit::Now,
        Engine::Auto => executable.translation_benefit(threads),
    };
    match pays {
        TranslationBenefit::Now if translate(executable) => EngineChoice::Native,
        TranslationBenefit::Beside if native_level().is_some() => EngineChoice::NativeIfMade,
        _ => EngineChoice::Interpreted,
    }
}

/// May native code run launches, for this choice of the caller's?
pub(crate) fn may_be_native(engine: Engine) -> bool {
    let engine = if engine == Engine::Auto { by_environment() } else { engine };
    matches!(engine, Engine::Auto | Engine::Native) && native_level().is_some()
}

/// The engine that runs a launch of so many threads between what an observer is told of, if that pays.
pub(crate) fn engine_between_observed(
    executable: &Executable,
    engine: Engine,
    threads: u64,
) -> Option<Box<dyn NativeEngine>> {
    let pays = match engine {
        Engine::Auto => match by_environment() {
            Engine::Auto => executable.translation_benefit(threads) == TranslationBenefit::Now,
            chosen => chosen == Engine::Native,
        },
        chosen => chosen == Engine::Native,
    };
    #[cfg(target_arch = "x86_64")]
    if let Some(jit) = envisa_jit::Jit::new().filter(|_| pays) {
        return Some(Box::new(jit));
    }
    let _ = pays;
    None
}

/// Has a program translated; `false` if there is no native code for it on this host.
fn translate(executable: &Executable) -> bool {
    #[cfg(target_arch = "x86_64")]
    if let Some(jit) = envisa_jit::Jit::new() {
        return executable.translate(&jit);
    }
    let _ = executable;
    false
}

/// Has a thread of its own make what the next launches of a kernel want, unless one is at it already.
pub(crate) fn make_in_background(code: &Arc<Code>, job: Job) {
    #[cfg(target_arch = "x86_64")]
    if let Some(jit) = envisa_jit::Jit::new()
        && code.executable.begins()
    {
        let code = code.clone();
        // Without a thread, launches are interpreted until they pay for waiting.
        let _ = std::thread::Builder::new()
            .name("envisa-native".to_owned())
            .spawn(move || code.executable.make(job, &jit));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (code, job);
}

/// What the environment says, asked once.
fn by_environment() -> Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    *ENGINE.get_or_init(|| Engine::from_environment().unwrap_or_default())
}

/// Can native code run it, on this host?
pub(crate) fn can_run(executable: &Executable) -> bool {
    translate(executable)
}

/// What native code leaves to others, instructions by program counter of the improved program; or why it does not run
/// the launch.
pub(crate) type Left = Result<envisa_machine::engine::Left, String>;

/// Is native code asked for by its name?
pub(crate) fn is_native_required(engine: Engine) -> bool {
    match engine {
        Engine::Auto => by_environment() == Engine::Native,
        chosen => chosen == Engine::Native,
    }
}

/// What native code would leave to the interpreter in this launch.
pub(crate) fn left_to_interpreter(executable: &Executable, prepared: &Prepared, linked: &Linked) -> Left {
    if !can_run(executable) {
        let why = of_executable(executable).err();
        return Err(why.unwrap_or_else(|| "there is no native code for this program on this host".into()));
    }
    envisa_interp::unsupported_parts(executable, prepared, linked)
}

/// What native code is made for on this host, if there is any.
pub(crate) fn native_level() -> Option<&'static str> {
    #[cfg(target_arch = "x86_64")]
    return envisa_jit::Jit::new().map(|jit| jit.level());
    #[cfg(not(target_arch = "x86_64"))]
    None
}

/// The native code of a kernel as text.
///
/// # Errors
/// Why there is none.
pub(crate) fn native_listing(code: &Code) -> Result<String, String> {
    #[cfg(target_arch = "x86_64")]
    if let Some(jit) = envisa_jit::Jit::new() {
        let executable = &code.executable;
        let tell = |function: &str, i: &Inst| {
            let place = Place::new(code, function, i.source, i.span);
            let source = place.source.as_ref().map(|line| match &line.text {
                Some(text) => format!("{}:{}: {}", line.file, line.line, text.trim()),
                None => format!("{}:{}", line.file, line.line),
            });
            (source, place.written(code))
        };
        return jit.listing(executable.optimized(), &executable.instructions(), &tell);
    }
    let _ = code;
    Err("native code needs an x86-64 CPU with AVX2 or AVX-512".into())
}

/// Makes the native code of a kernel, and tells what that took.
///
/// # Errors
/// Why there is none.
pub(crate) fn make_native_code(code: &Code) -> Result<NativeCode, String> {
    of_executable(&code.executable)
}

fn of_executable(executable: &Executable) -> Result<NativeCode, String> {
    #[cfg(target_arch = "x86_64")]
    if let Some(jit) = envisa_jit::Jit::new() {
        let made = jit.making(executable.optimized(), &executable.instructions())?;
        return Ok(NativeCode { instructions: made.instructions, bytes: made.bytes, passes: made.passes });
    }
    let _ = executable;
    Err("native code needs an x86-64 CPU with AVX2 or AVX-512".into())
}

/// What a kernel's native code is, and what it took to make it.
#[derive(Clone, Debug)]
pub struct NativeCode {
    /// Instructions of the kernel and its functions, as engines that nobody observes have them.
    pub instructions: usize,
    /// Bytes of code.
    pub bytes: usize,
    /// The passes, by name, and processor time in each.
    pub passes: Vec<(&'static str, std::time::Duration)>,
}

#[cfg(test)]
mod tests {
    use envisa_isa::Platform;

    use crate::{Config, Device, Engine, Kernel, Launch, Module, Source};

    fn kernel(device: &Device, back: &str) -> Kernel {
        let text = format!(
            ".version 3.6\n.kernel \"k\"\n.kernel_attr Target=\"cm\"\n.decl V v_type=G type=d num_elts=8 align=GRF\n\
             .decl P v_type=P num_elts=8\nmov (M1,8) V(0,0)<1> 0x1:d\ncmp.lt (M1,8) P V(0,0)<8;8,1> 0x0:d\n\
             again:\nadd (M1,8) V(0,0)<1> V(0,0)<8;8,1> 0x1:d\n{back}\nret (M1,1)\n"
        );
        let module = Module::load(device, "k.visaasm", Source::Text(text.as_bytes())).expect("it loads");
        module.kernel("k").expect("its kernel")
    }

    /// The listing has each instruction as it is written, and lines of the source where they change.
    #[test]
    fn the_listing_tells_lines_and_instructions() {
        let device = Device::new(Config::new(Platform::Dg2));
        let text = ".version 3.6\n.kernel \"k\"\n.kernel_attr Target=\"cm\"\n\
                    .decl V v_type=G type=d num_elts=8 align=GRF\nFILE \"k.cm\"\nLOC 7\n\
                    mov (M1,8) V(0,0)<1> 0x1:d\nadd (M1,8) V(0,0)<1> V(0,0)<8;8,1> 0x1:d\nLOC 9\n\
                    .decl T6 v_type=T num_elts=1\n.input T6 offset=32 size=4\noword_st (2) T6 0x0:ud V.0\nret (M1,1)\n";
        let module = Module::load(&device, "k.visaasm", Source::Text(text.as_bytes())).expect("it loads");
        let listing = match module.kernel("k").expect("its kernel").native_listing() {
            Ok(listing) => listing,
            Err(why) => return assert!(why.starts_with("native code needs"), "{why}"),
        };
        let told: Vec<&str> =
            listing.lines().filter(|l| l.starts_with("; k.cm") || l.starts_with("; $")).collect();
        let made = listing.lines().find(|l| l.contains(" made in ")).expect("the times of passes");
        assert!(made.contains("liveness") && made.contains("audit"), "{made}");
        assert!(told[0].starts_with("; k.cm:7"), "{told:?}");
        assert_eq!(told.iter().filter(|l| l.starts_with("; k.cm:")).count(), 2, "{told:?}");
        let stores = told.iter().position(|l| l.contains("  oword_st (2) T6 0x0:ud V.0")).expect("the store");
        assert!(told[stores - 1].starts_with("; k.cm:9"), "{told:?}");
    }

    /// Which surface a message goes to may be an argument: launches with other arguments go elsewhere then.
    #[test]
    fn launches_share_where_messages_go_if_arguments_do_not_say_it() {
        let device = Device::new(Config::new(Platform::Skl).memory(1 << 20));
        let shares = |surface: &str, input: &str| {
            let text = format!(
                ".version 4.1\n.kernel \"k\"\n.kernel_attr SimdSize=8\n.decl V v_type=G type=f num_elts=8 align=GRF\n\
                 .decl P v_type=G type=ud num_elts=8 align=GRF\n.decl T6 v_type=T num_elts=1\n\
                 .input V offset=32 size=32\n.input P offset=64 size=32\n{input}\
                 scatter.4 (M1,8) {surface} 0x0:ud P.0 V.0\nret (M1,8)\n"
            );
            let module = Module::load(&device, "k.visaasm", Source::Text(text.as_bytes())).expect("it loads");
            module.kernel("k").expect("its kernel").code.remembered.shares_reach()
        };
        assert!(!shares("T6", ".input T6 offset=96 size=4\n"));
        assert!(!shares("%scratch", ""), "the general-state window is each launch's own");
        assert!(shares("%slm", ""));
    }

    #[test]
    fn native_code_is_made_once_it_pays() {
        let device = Device::new(Config::new(Platform::Pvc).memory(1 << 20).threads(1));
        let run = |kernel: &Kernel, engine, threads| {
            let launch = Launch::threads(&[1, 1, 1], threads).engine(engine);
            assert!(device.run(kernel, &launch).expect("it is launched").fault.is_none());
            kernel.code.executable.is_translated()
        };
        let forward = || kernel(&device, "");
        if crate::engine_choice::native_level().is_none() {
            assert!(!run(&forward(), Engine::Native, 1));
            return;
        }
        // By name, or with a loop: at once.
        assert!(run(&forward(), Engine::Native, 1));
        assert!(run(&kernel(&device, "(P) goto (M1,8) again"), Engine::Auto, 1));
        // Else beside the launches that would have paid for a part of it, or by one that waits, when they have paid for all.
        let forward = forward();
        let launches = (0..10_000).position(|_| run(&forward, Engine::Auto, 8)).expect("it pays at last");
        assert!((2..2_000).contains(&launches), "{launches}");
    }

    /// It is there before launches have paid for it where it is made beside them.
    #[test]
    fn native_code_is_made_beside_launches() {
        if crate::engine_choice::native_level().is_none() {
            return;
        }
        let device = Device::new(Config::new(Platform::Pvc).memory(1 << 20).threads(1));
        let kernel = kernel(&device, "");
        let executable = &kernel.code.executable;
        let launches = (0..200).position(|_| {
            let launch = Launch::threads(&[1, 1, 1], 8).engine(Engine::Auto);
            assert!(device.run(&kernel, launch).expect("it is launched").fault.is_none());
            std::thread::sleep(std::time::Duration::from_millis(2));
            executable.is_translated()
        });
        assert!(launches.is_some_and(|n| n >= 2), "{launches:?}");
        assert!(executable.translation_benefit(0) == envisa_interp::TranslationBenefit::Beside);
    }

    #[test]
    fn code_is_made_without_a_launch_and_found_by_the_next() {
        let device = Device::new(Config::new(Platform::Pvc).memory(1 << 20).threads(1));
        let kernel = kernel(&device, "");
        let launch = Launch::threads(&[1, 1, 1], 1);
        let compiled = device.compile(&kernel, launch.clone());
        assert_eq!(compiled.is_ok(), crate::engine_choice::native_level().is_some());
        let Ok(compiled) = compiled else { return };
        assert!(kernel.code.executable.is_translated());
        assert_eq!(compiled.instructions, kernel.code.executable.optimized().code().len());
        assert!(compiled.code_bytes > compiled.instructions, "{compiled:?}");
        assert_eq!(device.compile(&kernel, launch.clone()).ok(), Some(compiled));
        let outcome = device.run(&kernel, launch.engine(Engine::Native)).expect("it is launched");
        assert!(outcome.fault.is_none());
        // What does not fit the kernel is said as of a launch.
        assert!(device.compile(&kernel, Launch::range(&[8], &[8])).is_err());
    }
}
