//! Modules: from SPIR-V or binaries to what runs on a device.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::{Arc, Mutex, RwLock};

use envisa_runtime::build::{BuildFailure, Input, NotBuilt, build};
use envisa_runtime::device::{Module as Built, spirv_of};
use envisa_runtime::spirv;

use super::device::Device;
use super::error::{Error, Result};
use super::memory::{Context, Kind, Origin};

/// A module.
pub struct Module {
    /// Its context.
    pub context: Arc<Context>,
    /// Its device.
    pub device: Arc<Device>,
    /// What it was compiled from, for linking; empty of a binary that has none.
    spirv: Vec<Vec<u8>>,
    options: String,
    /// What runs; another one once it was linked with others.
    built: RwLock<Arc<Built>>,
    /// Names of its own kernels, as C has them.
    pub names: Vec<CString>,
    /// Addresses of its data that its context knows, as somebody asked for a variable.
    data: Mutex<Vec<usize>>,
}

impl Drop for Module {
    fn drop(&mut self) {
        for address in self.data.get_mut().unwrap_or_else(|e| e.into_inner()).drain(..) {
            self.context.forget(address);
        }
    }
}

/// What the compiler said.
pub struct BuildLog(pub String);

/// What a module is made of.
pub struct Part {
    /// SPIR-V, or a binary.
    pub bytes: Vec<u8>,
    /// The application's options.
    pub options: String,
    /// Specialisation constants.
    pub constants: BTreeMap<u32, Vec<u8>>,
}

/// Options of Level Zero that Intel's compiler knows by the names that OpenCL has for them.
const OPTIONS: [(&str, &str); 6] = [
    ("-ze-opt-disable", "-cl-opt-disable"),
    ("-ze-opt-greater-than-4GB-buffer-required", "-cl-intel-greater-than-4GB-buffer-required"),
    ("-ze-opt-large-register-file", "-cl-intel-256-GRF-per-thread"),
    ("-ze-library-compilation", "-library-compilation"),
    ("-ze-take-global-address", "-cl-take-global-address"),
    ("-ze-exp-register-file-size=256", "-cl-intel-256-GRF-per-thread"),
];

/// The compiler's options for the application's.
fn options(given: &str) -> String {
    let word = |w: &str| match w.split_once('=') {
        Some(("-ze-opt-level", level)) => {
            // The compiler has the number behind a letter, and only another option of it says that nothing is optimised.
            let number = level.trim_matches(['O', '"']);
            let nothing = if number == "0" { " -cl-opt-disable" } else { "" };
            format!("-ze-opt-level=O{number}{nothing}")
        }
        _ => OPTIONS.iter().find(|(ze, _)| *ze == w).map_or(w, |(_, cl)| cl).to_owned(),
    };
    let words: Vec<String> = given.split_whitespace().map(word).filter(|w| !w.is_empty()).collect();
    words.join(" ")
}

/// What a build gives: the module, or why there is none; and what the compiler said.
type Made = (Result<Arc<Module>>, String);

impl Module {
    /// Compiles SPIR-V, several modules into one.
    pub fn compile(context: Arc<Context>, device: Arc<Device>, parts: Vec<Part>) -> Made {
        let mut all = Vec::new();
        let mut words = Vec::new();
        for part in parts {
            if !spirv::is_spirv(&part.bytes) {
                return (Err(Error::MODULE_BUILD_FAILURE), "the module is not SPIR-V\n".into());
            }
            let known = spirv::specialization_constant_sizes(&part.bytes);
            // The application gives addresses of values, and the module says how long they are.
            let values = part.constants.into_iter().filter_map(|(id, mut value)| {
                value.truncate(*known.get(&id)?);
                Some((id, value))
            });
            let Some(bytes) = spirv::set_specialization_constants(&part.bytes, &values.collect()) else {
                let log = "a specialisation constant does not fit\n".into();
                return (Err(Error::MODULE_BUILD_FAILURE), log);
            };
            all.push(bytes);
            words.push(options(&part.options));
        }
        words.dedup();
        let options = words.join(" ");
        match compile_module(&device, &all, &options) {
            Ok((built, log)) => (Ok(Module::of(context, device, all, options, built)), log),
            Err((e, log)) => (Err(e), log),
        }
    }

    /// Takes a binary that was compiled before: with its vISA text, or else with the SPIR-V that it is from.
    pub fn load(context: Arc<Context>, device: Arc<Device>, part: Part) -> Made {
        let options = options(&part.options);
        let spirv = spirv_of(&part.bytes);
        let why = match Built::load(device.spec, "module", part.bytes, Vec::new()) {
            Ok(built) => {
                let spirv = spirv.into_iter().collect();
                return (Ok(Module::of(context, device, spirv, options, Arc::new(built))), String::new());
            }
            Err(why) => why,
        };
        let Some(spirv) = spirv else {
            let log = format!(
                "the binary cannot be used: {why}. It must have its vISA text (`ocloc compile -internal_options \
                 -ze-emit-zebin-visa-sections`) or the SPIR-V that it was compiled from; native code alone is not executed\n"
            );
            if envisa_runtime::log::log_settings().compiler {
                envisa_runtime::log::line(&format!("envisa: {}", log.trim_end()));
            }
            return (Err(Error::INVALID_NATIVE_BINARY), log);
        };
        let all = vec![spirv];
        match compile_module(&device, &all, &options) {
            Ok((built, log)) => (Ok(Module::of(context, device, all, options, built)), log),
            Err((e, log)) => (Err(e), log),
        }
    }

    fn of(
        context: Arc<Context>,
        device: Arc<Device>,
        spirv: Vec<Vec<u8>>,
        options: String,
        built: Arc<Built>,
    ) -> Arc<Module> {
        let names = built.kernels.iter().filter_map(|k| CString::new(k.name.as_str()).ok()).collect();
        let (built, data) = (RwLock::new(built), Mutex::default());
        Arc::new(Module { context, device, spirv, options, built, names, data })
    }

    /// What runs.
    pub fn built(&self) -> Arc<Built> {
        self.built.read().unwrap().clone()
    }

    /// Whether it uses what others define and was not linked.
    pub fn has_imports(&self) -> bool {
        !self.built().undefined.is_empty()
    }

    /// Where a variable at program scope lies, and how many bytes it has. From then on its context knows the address.
    ///
    /// # Errors
    /// If there is none of this name, or the module was not linked.
    pub fn variable(&self, name: &str) -> Result<(usize, usize)> {
        if self.has_imports() {
            return Err(Error::INVALID_MODULE_UNLINKED);
        }
        let found = self.device.machine.variable(&self.built(), name).map_err(|e| {
            envisa_runtime::log::print_warning(&format!("the module cannot be loaded: {e}"));
            super::kernel::error_of_trouble(&e)
        })?;
        let (data, bytes) = found.ok_or(Error::INVALID_GLOBAL_NAME)?;
        let start = data.address();
        let mut known = self.data.lock().unwrap();
        if !known.contains(&start) {
            self.context.add(Kind::Device, Some(self.device.clone()), data, Origin::Module);
            known.push(start);
        }
        Ok((start + bytes.start, bytes.len()))
    }

    /// The address by which its kernels call a function that others can see.
    ///
    /// # Errors
    /// If there is none of this name, or the module was not linked.
    pub fn function(&self, name: &str) -> Result<usize> {
        if self.has_imports() {
            return Err(Error::INVALID_MODULE_UNLINKED);
        }
        let found = self.device.machine.function_address(&self.built(), name);
        let found = found.map_err(|e| super::kernel::error_of_trouble(&e))?;
        found.map(|address| address as usize).ok_or(Error::INVALID_FUNCTION_NAME)
    }

    /// Links modules: what one uses, another defines. Gives what the compiler said.
    pub fn link(modules: &[Arc<Module>]) -> (Result<()>, String) {
        let all: Vec<Vec<u8>> = modules.iter().flat_map(|m| m.spirv.iter().cloned()).collect();
        let mut said = String::new();
        for module in modules.iter().filter(|m| m.has_imports()) {
            if modules.iter().any(|m| m.spirv.is_empty()) {
                return (
                    Err(Error::MODULE_LINK_FAILURE),
                    "a module without its SPIR-V cannot be linked\n".into(),
                );
            }
            match compile_module(&module.device, &all, &module.options) {
                Ok((built, log)) if built.undefined.is_empty() => {
                    said += &log;
                    *module.built.write().unwrap() = built;
                }
                Ok((built, log)) => {
                    said += &log;
                    for name in &built.undefined {
                        said += &format!("error: undefined reference to `{name}()'\n");
                    }
                    return (Err(Error::MODULE_LINK_FAILURE), said);
                }
                Err((_, log)) => return (Err(Error::MODULE_LINK_FAILURE), said + &log),
            }
        }
        (Ok(()), said)
    }
}

/// Compiles what runs on a device.
fn compile_module(
    device: &Device,
    spirv: &[Vec<u8>],
    options: &str,
) -> std::result::Result<(Arc<Built>, String), (Error, String)> {
    let input = match spirv {
        [one] => Input::Spirv(one),
        several => Input::Link(several),
    };
    build(device.spec, &input, options, Vec::new()).map_err(|NotBuilt { why, log }| {
        let error = match why {
            BuildFailure::NoCompiler => Error::DEPENDENCY_UNAVAILABLE,
            BuildFailure::Options | BuildFailure::Refused | BuildFailure::Crashed => {
                Error::MODULE_BUILD_FAILURE
            }
        };
        (error, log)
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn options_reach_the_compiler() {
        let o = super::options;
        assert_eq!(o("-ze-opt-disable  -DX=1"), "-cl-opt-disable -DX=1");
        assert_eq!(o("-ze-opt-large-register-file"), "-cl-intel-256-GRF-per-thread");
        assert_eq!(o("-ze-opt-level=O2"), "-ze-opt-level=O2");
        assert_eq!(o("-ze-opt-level=0"), "-ze-opt-level=O0 -cl-opt-disable");
        assert_eq!(o(""), "");
    }
}
