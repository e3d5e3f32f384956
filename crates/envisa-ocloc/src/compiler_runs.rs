//! Single runs of the compiler's command, and what is kept of them in a cache.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::OnceLock;

use envisa_zebin::{OPTION_VISA, OPTION_ZEBIN};

use crate::cache::{Cache, Key, KeyMaker, compiler_files, with_switches};
use crate::compilers::Compilers;
use crate::{Build, BuildError, STATE_BUFFER, declarations, includes, kernel_debug_info, messages};

/// One run of the compiler.
pub(crate) struct Pass<'a> {
    pub(crate) input: &'a Path,
    pub(crate) source: &'a [u8],
    /// The input is SPIR-V.
    pub(crate) spirv: bool,
    /// The output is to be SPIR-V.
    pub(crate) to_spirv: bool,
    pub(crate) folder: &'a Path,
    pub(crate) state_buffer: bool,
}

/// What came of one.
pub(crate) struct Done {
    pub(crate) status: ExitStatus,
    pub(crate) messages: String,
    /// The module, or the SPIR-V, if there is one.
    pub(crate) output: Option<Vec<u8>>,
}

impl Build {
    /// Runs the compiler, unless the cache has what it would make.
    pub(crate) fn compile(&self, pass: &Pass<'_>) -> Result<Done, BuildError> {
        let program = self.program();
        let key = self.key(pass, &program);
        let cache = self.cache.as_ref().zip(key.as_ref());
        if let Some((messages, bytes)) = cache.and_then(|(cache, key)| cache.get(key)) {
            return Ok(Done { status: ExitStatus::default(), messages, output: Some(bytes) });
        }
        let done = self.start(pass, &program)?;
        if let Some(((cache, key), bytes)) = cache.zip(done.output.as_ref().filter(|_| done.status.success()))
        {
            cache.put(key, &done.messages, bytes);
        }
        Ok(done)
    }

    fn program(&self) -> PathBuf {
        let newest = || newest_program_for(&self.device, self.cache.as_deref());
        let program = self.ocloc.clone().unwrap_or_else(newest);
        // A relative path names a file here, not in the folder that the compiler runs in.
        if program.components().count() > 1 {
            std::path::absolute(&program).unwrap_or(program)
        } else {
            program
        }
    }

    fn internal(&self) -> String {
        let declared = declarations::internal_options(&self.device, &self.options);
        format!("{OPTION_ZEBIN} {OPTION_VISA}{declared} {}", self.internal_options).trim_end().to_owned()
    }

    /// `None` if there is no cache, or the result depends on files that are not known here.
    fn key(&self, pass: &Pass<'_>, program: &Path) -> Option<Key> {
        self.cache.as_ref()?;
        let options = self.user_options(pass);
        let flags = [pass.spirv, pass.to_spirv, pass.state_buffer].map(u8::from);
        let mut key = KeyMaker::default()
            .with(env!("CARGO_PKG_VERSION").as_bytes())
            .with(b"a run of the command")
            .with(&compiler_files(&[located(program)]))
            .with(self.device.as_bytes())
            .with(self.internal().as_bytes())
            .with(options.as_bytes())
            // Messages name it.
            .with(self.input.as_os_str().as_encoded_bytes())
            .with(&flags)
            .with(pass.source);
        if !pass.spirv {
            for (path, content) in
                includes::include_candidates(pass.source, &includes::include_folders(&options))?
            {
                key = key.with(path.as_os_str().as_encoded_bytes());
                key = key.with(&[u8::from(content.is_some())]).with(&content.unwrap_or_default());
            }
        }
        for (name, value) in &self.env {
            key = key.with(name.as_encoded_bytes()).with(value.as_encoded_bytes());
        }
        Some(with_switches(key).key())
    }

    fn start(&self, pass: &Pass<'_>, program: &Path) -> Result<Done, BuildError> {
        let Pass { input, source, spirv, to_spirv, folder, state_buffer } = *pass;
        let dump = folder.join("dump");
        std::fs::create_dir_all(&dump)
            .map_err(|source| BuildError::Io { what: "temporary folder".into(), source })?;
        // The compiler is to have a text that hides what these options add.
        let hidden = folder.join("source.cl");
        let file = if !spirv && declarations::lacks_images(&self.device, &self.options) {
            std::fs::write(&hidden, [declarations::HIDE_IMAGES.as_bytes(), source].concat())
                .map_err(|source| BuildError::Io { what: "temporary folder".into(), source })?;
            &hidden
        } else {
            input
        };
        let mut command = Command::new(program);
        command.current_dir(folder).stdin(Stdio::null()).arg("compile").arg("-file").arg(file);
        if spirv {
            command.arg("-spirv_input");
        }
        if to_spirv {
            command.arg("-spv_only");
        }
        command.arg("-device").arg(&self.device).arg("-output").arg("module").arg("-output_no_suffix");
        command.arg("-out_dir").arg(folder.join("out")).arg("-internal_options").arg(self.internal());
        let options = self.user_options(pass);
        if !options.is_empty() {
            command.arg("-options").arg(&options);
        }
        // Both put the kernels' names into their vISA text. Dumping all takes a quarter of the compiler's time, and is needed for the
        // debug information of several kernels.
        let dumped =
            if options.contains("-g") { "IGC_ShaderDumpEnable" } else { "IGC_EnableVISADumpCommonISA" };
        command.env(dumped, "1").env("IGC_DumpToCustomDir", &dump);
        if state_buffer {
            command.env(STATE_BUFFER, "1");
        }
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let failed = |source: std::io::Error| match source.kind() {
            std::io::ErrorKind::NotFound => BuildError::NoOcloc { program: program.display().to_string() },
            _ => BuildError::Io { what: format!("running `{}`", program.display()), source },
        };
        let child = command.spawn().map_err(failed)?;
        let process = child.id();
        let (status, streams) = crate::process_output(child).map_err(failed)?;
        kernel_debug_info::remove_copies(process, &dump);
        let mut messages = String::new();
        for stream in &streams {
            for line in String::from_utf8_lossy(stream).lines() {
                // The dump warns of itself.
                let noise = matches!(line.trim(), "" | "Build succeeded.")
                    || line.starts_with("ShaderDumpEnable Warning!")
                    || line.starts_with("Compilation from IR - skipping loading of FCL");
                if !noise {
                    messages.push_str(line.trim_end_matches('\0'));
                    messages.push('\n');
                }
            }
        }
        let told = self.recorded_name(input).filter(|_| !spirv);
        let messages = messages::name_source_in_messages(messages.trim_end(), &self.input, told.as_deref());
        // Newer compilers add `.bin` all the same.
        let names: &[&str] = if to_spirv { &["module.spv"] } else { &["module", "module.bin"] };
        let bytes = names.iter().find_map(|name| std::fs::read(folder.join("out").join(name)).ok());
        let output = match to_spirv {
            true => bytes,
            false => bytes.map(|b| kernel_debug_info::with_debug_information(b, &dump)),
        };
        Ok(Done { status, messages, output })
    }
}

/// The program that is run for a device, unless one is named: the newest of the machine's compilers that knows the device, or
/// `ocloc` on the `PATH`.
pub fn newest_program_for(device: &str, cache: Option<&Cache>) -> PathBuf {
    static MACHINE: OnceLock<Compilers> = OnceLock::new();
    let newest = MACHINE.get_or_init(|| Compilers::of_machine(None)).program_for(device, cache);
    newest.unwrap_or_else(|| located(Path::new("ocloc")))
}

/// The file of a program that is looked for on `PATH`.
fn located(program: &Path) -> PathBuf {
    if program.components().count() > 1 {
        return program.to_owned();
    }
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&paths).map(|folder| folder.join(program)).find(|p| p.is_file());
    found.unwrap_or_else(|| program.to_owned())
}
