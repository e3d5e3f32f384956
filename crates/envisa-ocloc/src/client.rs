//! Processes that compile, kept ready: several at a time, restarted when one breaks down.

use std::io::{self, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Condvar, Mutex};

use crate::protocol::{Request, Response};
use crate::working_folder;

/// Why a request got no response.
#[derive(Debug)]
pub enum CallError {
    /// The helper could not be started.
    Start(PathBuf, io::Error),
    /// It went away while it compiled: how it ended.
    Crashed(String),
}

impl std::fmt::Display for CallError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CallError::Start(path, e) => {
                write!(f, "cannot start the compiler's helper `{}`: {e}", path.display())
            }
            CallError::Crashed(how) => write!(f, "the compiler crashed ({how})"),
        }
    }
}

impl std::error::Error for CallError {}

/// Where requests go. If the helper is gone, writing is an error, and no signal: that would end a program that does not
/// ignore it, as programs in C.
struct Requests(UnixStream);

impl Write for Requests {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::net::send(&self.0, bytes, rustix::net::SendFlags::NOSIGNAL)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Helper {
    child: Child,
    requests: Requests,
    answers: BufReader<ChildStdout>,
    /// The process that started it: after a fork it belongs to the parent.
    owner: u32,
    /// Where it works. It removes it when it ends, unless it breaks down.
    folder: PathBuf,
    settings: Vec<String>,
}

/// Helpers that are idle or at work.
pub struct Pool {
    program: PathBuf,
    state: Mutex<State>,
    returned: Condvar,
}

#[derive(Default)]
struct State {
    idle: Vec<Helper>,
    running: usize,
    owner: u32,
}

impl Pool {
    /// Helpers of this program.
    pub fn new(program: PathBuf) -> Pool {
        Pool { program, state: Mutex::default(), returned: Condvar::new() }
    }

    fn most() -> usize {
        std::thread::available_parallelism().map_or(2, |n| n.get()).clamp(1, 8)
    }

    fn take(&self, settings: &[String]) -> Result<Helper, CallError> {
        let owner = std::process::id();
        let mut state = self.state.lock().unwrap();
        if state.owner != owner {
            // A fork: the pipes are the parent's.
            for helper in std::mem::take(&mut state.idle) {
                std::mem::forget(helper);
            }
            (state.running, state.owner) = (0, owner);
        }
        while state.running >= Pool::most() {
            state = self.returned.wait(state).unwrap();
        }
        state.running += 1;
        if let Some(at) = state.idle.iter().position(|h| h.settings == settings) {
            return Ok(state.idle.swap_remove(at));
        }
        drop(state);
        self.start(settings, owner).inspect_err(|_| self.leave())
    }

    fn start(&self, settings: &[String], owner: u32) -> Result<Helper, CallError> {
        let failed = |e| CallError::Start(self.program.clone(), e);
        let folder = working_folder::create().map_err(failed)?;
        let mut command = Command::new(&self.program);
        command.arg(folder.path()).args(settings);
        let (requests, theirs) = UnixStream::pair().map_err(failed)?;
        command.stdin(OwnedFd::from(theirs)).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(failed)?;
        let answers = child.stdout.take().ok_or_else(|| failed(io::ErrorKind::BrokenPipe.into()))?;
        Ok(Helper {
            child,
            requests: Requests(requests),
            answers: BufReader::new(answers),
            owner,
            folder: folder.keep(),
            settings: settings.to_vec(),
        })
    }

    fn leave(&self) {
        self.state.lock().unwrap().running -= 1;
        self.returned.notify_one();
    }

    /// Has a request done. `settings` are environment variables of the helper, as `NAME=VALUE`.
    ///
    /// # Errors
    /// If there is no helper to be had, or it crashed.
    pub fn call(&self, request: &Request, settings: &[String]) -> Result<Response, CallError> {
        let mut helper = self.take(settings)?;
        let result = request.send(&mut helper.requests).and_then(|()| Response::receive(&mut helper.answers));
        match result {
            Ok(response) => {
                let mut state = self.state.lock().unwrap();
                if state.idle.len() < Pool::most() {
                    state.idle.push(helper);
                }
                drop(state);
                self.leave();
                Ok(response)
            }
            Err(e) => {
                self.leave();
                Err(CallError::Crashed(end_broken_helper(helper, &e)))
            }
        }
    }
}

/// Ends a helper that broke down and removes its folder; says how it ended.
fn end_broken_helper(mut helper: Helper, error: &io::Error) -> String {
    drop(helper.requests);
    let _ = helper.child.kill();
    let how = match helper.child.wait() {
        Ok(status) => status.to_string(),
        Err(_) => error.to_string(),
    };
    if helper.owner == std::process::id() {
        // What is left of it is of no use to anybody.
        let _ = std::fs::remove_dir_all(&helper.folder);
    }
    how
}

/// The helper's program next to another file, as they are installed; cargo leaves libraries for tests in `deps`, one folder
/// below. Other folders above are not looked into: who can write there need not be who installed the driver.
pub fn helper_beside(file: &Path) -> Option<PathBuf> {
    let folder = file.parent()?;
    let above = folder.parent().filter(|_| folder.file_name().is_some_and(|n| n == "deps"));
    let mut places = [Some(folder), above].into_iter().flatten().map(|f| f.join("envisa-compiler"));
    places.find(|p| p.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In programs in C the signal is not ignored, as it is in programs in Rust: it would end this test.
    #[test]
    #[allow(unsafe_code, reason = "signals are the process's")]
    fn a_helper_that_is_gone_is_an_error_and_no_signal() {
        // SAFETY: no handler is called.
        let before = unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
        let (ours, theirs) = UnixStream::pair().unwrap();
        drop(theirs);
        let result = Requests(ours).write_all(b"a request");
        // SAFETY: as above.
        unsafe { libc::signal(libc::SIGPIPE, before) };
        assert_eq!(result.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        let none = Request { args: Vec::new(), sources: Vec::new(), headers: Vec::new(), program: None };
        let helpers = Pool::new(PathBuf::from("/bin/true"));
        assert!(matches!(helpers.call(&none, &[]), Err(CallError::Crashed(_))));
    }

    #[test]
    fn only_the_own_folder_has_the_helper() {
        let folder = tempfile::tempdir().unwrap();
        let (lib, deps) = (folder.path().join("lib"), folder.path().join("deps"));
        for inner in [&lib, &deps] {
            std::fs::create_dir(inner).unwrap();
        }
        let above = folder.path().join("envisa-compiler");
        std::fs::write(&above, "").unwrap();
        assert_eq!(helper_beside(&lib.join("libenvisa_opencl.so")), None);
        assert_eq!(helper_beside(&deps.join("libenvisa_opencl.so")), Some(above));
        let own = lib.join("envisa-compiler");
        std::fs::write(&own, "").unwrap();
        assert_eq!(helper_beside(&lib.join("libenvisa_opencl.so")), Some(own));
    }
}
