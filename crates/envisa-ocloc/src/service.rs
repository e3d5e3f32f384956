//! Compiling as an OpenCL driver needs it: sources, SPIR-V and linking in memory, with logs and a cache.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use envisa_zebin::{OPTION_VISA, OPTION_ZEBIN};

use crate::STATE_BUFFER;
use crate::cache::{Cache, Key, KeyMaker, compiler_files, with_switches};
use crate::client::{CallError, Pool};
use crate::compilers::{Choice, Compilers};
use crate::includes::{include_folders, words};
use crate::protocol::{File, Request, Response};
use crate::server::{NO_COMPILER, SIGNALS};
use crate::spirv::for_older_compilers;
use crate::{crashes, declarations, includes};

/// What to compile.
#[derive(Clone, Debug)]
pub enum Input<'a> {
    /// OpenCL C, and headers that it may include by name.
    Source(&'a [u8], &'a [File]),
    /// SPIR-V.
    Spirv(&'a [u8]),
    /// SPIR-V modules to be made one.
    Link(&'a [Vec<u8>]),
}

/// What to make.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Output {
    /// A module for the device, with vISA text.
    Zebin,
    /// SPIR-V, for linking.
    Spirv,
}

/// A compilation that succeeded.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The module.
    pub bytes: Vec<u8>,
    /// Warnings.
    pub log: String,
    /// It was found in the cache.
    pub cached: bool,
}

/// One that did not.
#[derive(Clone, Debug)]
pub enum Failure {
    /// There is no compiler: what is missing.
    NoCompiler(String),
    /// The compiler refused: its messages.
    Refused(String),
    /// It broke down.
    Crashed(String),
}

impl Failure {
    /// What a build log should say.
    pub fn log(&self) -> &str {
        match self {
            Failure::NoCompiler(s) | Failure::Refused(s) | Failure::Crashed(s) => s,
        }
    }
}

/// Why the compiler made nothing.
enum Stopped {
    Failed(Failure),
    /// It broke down: how, and on what.
    Crashed(String, Request),
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Stopped {
        Stopped::Failed(failure)
    }
}

impl Stopped {
    /// For the user; what the compiler broke down on is kept in the cache.
    fn failure(self, cache: Option<&Cache>) -> Failure {
        match self {
            Stopped::Failed(failure) => failure,
            Stopped::Crashed(how, request) => {
                let kept = cache.and_then(|cache| crashes::keep(cache, &request));
                let repeat =
                    kept.map_or(String::new(), |path| format!("; this repeats it: sh {}", path.display()));
                Failure::Crashed(format!("{how}{repeat}\n"))
            }
        }
    }
}

/// Drives the compiler by helper processes.
pub struct Service {
    pool: Option<Pool>,
    cache: Option<Cache>,
    /// The compiler's program that the environment names (`ENVISA_OCLOC`).
    named: Option<String>,
    /// The machine's compilers, where it names none.
    compilers: Compilers,
    /// What compiles for a device: a program, or the system's library.
    programs: Mutex<HashMap<String, Option<String>>>,
    identities: Mutex<HashMap<Option<String>, Vec<u8>>>,
}

impl Service {
    /// A service whose helper is `helper`; `None` if it was not found.
    pub fn new(helper: Option<PathBuf>, cache: Option<Cache>) -> Service {
        let named = std::env::var("ENVISA_OCLOC").ok().filter(|p| !p.is_empty());
        let compilers = match &named {
            Some(_) => Compilers::default(),
            None => Compilers::of_machine(helper.as_deref().and_then(Path::parent)),
        };
        Service {
            pool: helper.map(Pool::new),
            cache,
            named,
            compilers,
            programs: Mutex::default(),
            identities: Mutex::default(),
        }
    }

    /// The program that compiles for a device; `None` is the system's library.
    pub fn program_for(&self, device: &str) -> Option<String> {
        if self.named.is_some() {
            return self.named.clone();
        }
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(program) = programs.get(device) {
            return program.clone();
        }
        let program = match self.compilers.newest_for(device, self.cache.as_ref()) {
            Choice::System => None,
            Choice::Program(path) => path.into_os_string().into_string().ok(),
        };
        programs.insert(device.to_owned(), program.clone());
        program
    }

    /// Compiles for a device, with the user's options.
    ///
    /// # Errors
    /// See [`Failure`].
    pub fn compile(
        &self,
        device: &str,
        input: &Input<'_>,
        options: &str,
        output: Output,
    ) -> Result<Compiled, Failure> {
        let options = match input {
            Input::Source(text, _) => absolute_includes(&with_own_folder(options, text)),
            _ => absolute_includes(options),
        };
        let key = self.key(device, input, &options, output);
        if let (Some(cache), Some(key)) = (&self.cache, &key)
            && let Some((log, bytes)) = cache.get(key)
        {
            return Ok(Compiled { bytes, log, cached: true });
        }
        let compiled = match self.uncached(device, input, &options, output) {
            Err(stopped) => self
                .rewritten_for_older_compilers(device, input, &options, output)
                .ok_or_else(|| stopped.failure(self.cache.as_ref()))?,
            Ok(compiled) => compiled,
        };
        if let (Some(cache), Some(key)) = (&self.cache, &key) {
            cache.put(key, &compiled.log, &compiled.bytes);
        }
        Ok(compiled)
    }

    /// Runs the compiler.
    fn uncached(
        &self,
        device: &str,
        input: &Input<'_>,
        options: &str,
        output: Output,
    ) -> Result<Compiled, Stopped> {
        match input {
            Input::Link(modules) => {
                let linked = self.link(device, modules, options)?;
                self.one(device, "linked.bc", linked, "-llvm_input", &[], options, output)
            }
            Input::Spirv(bytes) => {
                self.one(device, "module.spv", bytes.to_vec(), "-spirv_input", &[], options, output)
            }
            Input::Source(text, headers) => {
                // The end is the first zero: without one the compiler reads on, at another it stops.
                let mut text: Vec<u8> = text.iter().map(|b| if *b == 0 { b' ' } else { *b }).collect();
                // Nothing is a program too, but the compiler refuses an empty file.
                if text.is_empty() {
                    text.push(b'\n');
                }
                text.splice(..0, declarations::feature_prelude(device, options).bytes());
                // What goes into a file has none.
                if self.program_for(device).is_none() {
                    text.push(0);
                }
                self.one(device, "source.cl", text, "", headers, options, output)
            }
        }
    }

    /// Compiles SPIR-V that the compiler did not take once more, rewritten for older compilers; `None` if there is nothing to
    /// rewrite, or the compiler does not take the result either.
    fn rewritten_for_older_compilers(
        &self,
        device: &str,
        input: &Input<'_>,
        options: &str,
        output: Output,
    ) -> Option<Compiled> {
        match input {
            Input::Source(..) => None,
            Input::Spirv(one) => {
                let older = for_older_compilers(one)?;
                self.uncached(device, &Input::Spirv(&older), options, output).ok()
            }
            Input::Link(several) => {
                let older: Vec<_> = several.iter().map(|module| for_older_compilers(module)).collect();
                older.iter().any(Option::is_some).then_some(())?;
                let all: Vec<Vec<u8>> =
                    older.into_iter().zip(*several).map(|(o, s)| o.unwrap_or_else(|| s.clone())).collect();
                self.uncached(device, &Input::Link(&all), options, output).ok()
            }
        }
    }

    /// None if the result depends on files that are not known here.
    fn key(&self, device: &str, input: &Input<'_>, options: &str, output: Output) -> Option<Key> {
        self.cache.as_ref()?;
        let mut key = KeyMaker::default()
            .with(env!("CARGO_PKG_VERSION").as_bytes())
            .with(b"with debug information of several kernels, linked by its options")
            .with(&self.identity(device))
            .with(device.as_bytes())
            .with(options.as_bytes())
            .with(&[u8::from(output == Output::Spirv)]);
        match input {
            Input::Source(text, headers) => {
                key = key
                    .with(b"source")
                    .with(declarations::feature_prelude(device, options).as_bytes())
                    .with(text);
                let folders = include_folders(options);
                let mut candidates = includes::include_candidates(text, &folders)?;
                for (name, bytes) in *headers {
                    key = key.with(name.as_bytes()).with(bytes);
                    candidates.extend(includes::include_candidates(bytes, &folders)?);
                }
                for (path, content) in candidates {
                    key = key.with(path.as_os_str().as_encoded_bytes());
                    key = key.with(&[u8::from(content.is_some())]).with(&content.unwrap_or_default());
                }
            }
            Input::Spirv(bytes) => key = key.with(b"spirv").with(bytes),
            Input::Link(modules) => {
                key = key.with(b"link");
                for m in *modules {
                    key = key.with(m);
                }
            }
        }
        Some(with_switches(key).key())
    }

    /// Which compiler it is: its files' sizes and times.
    fn identity(&self, device: &str) -> Vec<u8> {
        let program = self.program_for(device);
        let mut identities = self.identities.lock().unwrap_or_else(PoisonError::into_inner);
        let files = || compiler_files(&program.iter().map(PathBuf::from).collect::<Vec<_>>());
        identities.entry(program.clone()).or_insert_with(files).clone()
    }

    #[allow(clippy::too_many_arguments, reason = "one command line")]
    fn one(
        &self,
        device: &str,
        name: &str,
        bytes: Vec<u8>,
        kind: &str,
        headers: &[File],
        options: &str,
        output: Output,
    ) -> Result<Compiled, Stopped> {
        let mut args: Vec<String> =
            ["compile", "-q", "-file", name, "-device", device].into_iter().map(str::to_owned).collect();
        args.extend(["-output_no_suffix", "-output", "module"].map(str::to_owned));
        let declared = declarations::internal_options(device, options);
        args.extend(["-internal_options".into(), format!("{OPTION_ZEBIN} {OPTION_VISA}{declared}")]);
        args.extend(["-options".into(), format!("{options} -cl-kernel-arg-info").trim().to_owned()]);
        if !kind.is_empty() {
            args.push(kind.into());
        }
        if output == Output::Spirv {
            args.push("-spv_only".into());
        }
        let request = Request {
            args,
            sources: vec![(name.into(), bytes)],
            headers: headers.to_vec(),
            program: self.program_for(device),
        };
        let (response, log) = self.call(device, &request)?;
        let wanted = match output {
            Output::Zebin => response.output("module"),
            Output::Spirv => {
                let found = response.outputs.iter().find(|(n, _)| n.ends_with(".spv"));
                found.map(|(_, b)| &b[..]).or_else(|| response.output("module"))
            }
        };
        match wanted {
            Some(bytes) if response.code == 0 => Ok(Compiled { bytes: bytes.to_vec(), log, cached: false }),
            _ if log.is_empty() => {
                Err(Failure::Refused(format!("the compiler failed with code {}", response.code)).into())
            }
            _ => Err(Failure::Refused(log).into()),
        }
    }

    /// Options that the linker optimises by are its own, too.
    fn link(&self, device: &str, modules: &[Vec<u8>], options: &str) -> Result<Vec<u8>, Stopped> {
        let mut request = Request { program: self.program_for(device), ..Request::default() };
        request.args.push("link".into());
        for (i, bytes) in modules.iter().enumerate() {
            let name = format!("module{i}.spv");
            request.args.extend(["-file".into(), name.clone()]);
            request.sources.push((name, bytes.clone()));
        }
        request.args.extend(["-out", "linked", "-out_format", "LLVM_BC"].map(str::to_owned));
        let kept =
            ["-g", "-cl-opt-disable"].into_iter().filter(|o| options.split_whitespace().any(|w| w == *o));
        let kept = kept.collect::<Vec<_>>().join(" ");
        if !kept.is_empty() {
            request.args.extend(["-options".into(), kept]);
        }
        let (response, log) = self.call("", &request)?;
        match response.output("linked") {
            Some(bytes) if response.code == 0 => Ok(bytes.to_vec()),
            _ if log.is_empty() => {
                Err(Failure::Refused(format!("the linker failed with code {}", response.code)).into())
            }
            _ => Err(Failure::Refused(log).into()),
        }
    }

    /// Calls the compiler; its messages, cleaned.
    fn call(&self, device: &str, request: &Request) -> Result<(Response, String), Stopped> {
        let Some(pool) = &self.pool else {
            return Err(Failure::NoCompiler(
                "the compiler's helper `envisa-compiler` is not next to the driver: build it with \
                 `cargo build --release -p envisa-opencl`, or name it in ENVISA_COMPILER"
                    .into(),
            )
            .into());
        };
        let mut settings = Vec::new();
        if crate::wants_state_buffer(device) && std::env::var_os(STATE_BUFFER).is_none() {
            settings.push(format!("{STATE_BUFFER}=1"));
        }
        let mut result = pool.call(request, &settings);
        if matches!(result, Err(CallError::Crashed(_))) && settings.is_empty() {
            // Stack calls on a device not known to need the variable?
            result = pool.call(request, &[format!("{STATE_BUFFER}=1")]);
        }
        let response = result.map_err(|e| match e {
            CallError::Start(..) => Stopped::Failed(Failure::NoCompiler(e.to_string())),
            CallError::Crashed(_) => Stopped::Crashed(e.to_string(), request.clone()),
        })?;
        if request.program.is_some() && (SIGNALS..SIGNALS + 65).contains(&response.code) {
            let how = format!("the compiler crashed (signal {})", response.code - SIGNALS);
            return Err(Stopped::Crashed(how, request.clone()));
        }
        if response.code == NO_COMPILER {
            return Err(Failure::NoCompiler(format!(
                "Intel's offline compiler was not found ({}); it is in the Debian package `intel-opencl-icd`, \
                 in Ubuntu's `intel-ocloc` (elsewhere: Intel's compute-runtime)",
                response.noise
            ))
            .into());
        }
        let log = response.output("stdout.log").map(clean).unwrap_or_default();
        Ok((response, log))
    }
}

/// The compiler's messages without what it says of itself.
fn clean(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut log = String::new();
    for line in text.lines().map(|l| l.trim_end_matches(['\0', '\r'])) {
        let noise = line.starts_with("Build failed with error code")
            || line.starts_with("Build succeeded")
            || line.starts_with("Command was:")
            || line.starts_with("ShaderDumpEnable Warning!")
            || line.starts_with("Compilation from IR - skipping loading of FCL");
        if noise {
            continue;
        }
        // A source that comes from memory is called by its number: the how manieth this process compiles.
        let number = line.bytes().take_while(u8::is_ascii_digit).count();
        match line[number..].strip_prefix(':') {
            Some(rest) if number > 0 && rest.starts_with(|c: char| c.is_ascii_digit()) => {
                log.push_str("<source>:");
                log.push_str(rest);
            }
            _ => log.push_str(line),
        }
        log.push('\n');
    }
    let log = log.trim_matches('\n');
    if log.is_empty() { String::new() } else { format!("{log}\n") }
}

/// Options for a text that includes files by quoted names: these are looked for in the application's folder first, as
/// by compilers that run in the application.
fn with_own_folder(options: &str, text: &[u8]) -> String {
    let quoted = |line: &[u8]| {
        let rest = line.trim_ascii_start().strip_prefix(b"#").map(<[u8]>::trim_ascii_start);
        let rest = rest.and_then(|r| r.strip_prefix(b"include")).map(<[u8]>::trim_ascii_start);
        rest.is_some_and(|r| r.starts_with(b"\""))
    };
    if text.split(|b| *b == b'\n').any(quoted) { format!("-I . {options}") } else { options.to_owned() }
}

/// Options in which folders to include from do not depend on where the compiler runs.
fn absolute_includes(options: &str) -> String {
    let mut words = words(options);
    let absolute = |path: &str| {
        let bare = path.trim_matches('"');
        let whole = std::path::absolute(bare).map_or(bare.to_owned(), |p| p.display().to_string());
        if whole.contains(char::is_whitespace) { format!("\"{whole}\"") } else { whole }
    };
    let mut follows = false;
    for word in &mut words {
        if std::mem::take(&mut follows) {
            *word = absolute(word);
        } else if word == "-I" {
            follows = true;
        } else if let Some(path) = word.strip_prefix("-I") {
            *word = format!("-I{}", absolute(path));
        }
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_keep_what_the_compiler_says_of_the_source() {
        let log = clean(
            b"\n12:1:39: error: use of undeclared identifier 'x'\nk\n\nBuild failed with error code: -11\n",
        );
        assert_eq!(log, "<source>:1:39: error: use of undeclared identifier 'x'\nk\n");
        assert_eq!(clean(b"\nBuild succeeded.\n"), "");
    }

    #[test]
    fn folders_do_not_depend_on_where_the_compiler_runs() {
        let here = std::env::current_dir().unwrap();
        let here = here.display();
        assert_eq!(absolute_includes("-DX=1  -I inc -Iother"), format!("-DX=1 -I {here}/inc -I{here}/other"));
        let folders = include_folders("-I \"/a b\" -DY -I/c");
        assert_eq!(folders, [PathBuf::from("/a b"), PathBuf::from("/c")]);
        assert_eq!(absolute_includes("-I \"/a b\" -DY=\"c d\""), "-I \"/a b\" -DY=\"c d\"");
    }

    #[test]
    fn quoted_names_are_looked_for_in_the_own_folder() {
        assert_eq!(with_own_folder("-DX", b"int x;\n # include \"a.h\"\n"), "-I . -DX");
        for text in [&b"#include <a.h>"[..], b"// \"a.h\"", b"", b"#define INCLUDE \"a.h\""] {
            assert_eq!(with_own_folder("-DX", text), "-DX");
        }
    }
}
