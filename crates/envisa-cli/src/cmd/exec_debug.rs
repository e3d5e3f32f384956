//! `envisa exec --debug`: debugs a launch of a program, which waits until the debugger ends.

use super::debug;
use super::exec::{print_message, print_note};
use super::{Exit, Failure};
use envisa::diag::Severity;
use envisa_debug::dap;
use envisa_debug::session::Options;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// Who looks at it.
pub(super) enum Interface<'a> {
    /// People, after these commands.
    Terminal(&'a [String]),
    /// A client of the protocol, on standard input and output.
    Stdio,
    /// One that attaches to a port.
    Port(&'a str),
}

/// How its launches are debugged.
pub(super) struct DebugSettings {
    /// How a session runs.
    pub options: Options,
    /// Texts of sources that the program did not hand over.
    pub sources: Vec<PathBuf>,
}

/// Runs a program whose launches stop in a folder, and debugs each that does; of the client on standard input, the first.
///
/// # Errors
/// If the port cannot be listened on; inside, if the program cannot be started.
pub(super) fn run(
    command: &mut Command,
    folder: &Path,
    face: &Interface<'_>,
    launched: DebugSettings,
) -> Result<io::Result<ExitStatus>, Failure> {
    let listener = match face {
        Interface::Port(port) => Some(debug::bind_listener(port)?),
        _ => None,
    };
    if let Interface::Stdio = face {
        command.stdin(Stdio::null()).stdout(io::stderr());
    }
    let child = match command.spawn() {
        Ok(child) => child,
        Err(e) => return Ok(Err(e)),
    };
    let mut program = Program { child, folder, seen: BTreeSet::new() };
    if let Interface::Stdio = face {
        return Ok(on_stdio(&mut program, &launched));
    }
    loop {
        let launch = match program.next() {
            Ok(Next::Launch(launch)) => launch,
            Ok(Next::Ended(status)) => return Ok(Ok(status)),
            Err(e) => return Ok(Err(e)),
        };
        let job = launch.join("job.toml");
        let done = match (face, &listener) {
            (_, Some((listener, at))) => {
                print_note(&format!("envisa exec: the program waits at a launch; listening on {at}"));
                serve_attached_client(listener, &job, &launched).map(|()| Exit::Fine)
            }
            (Interface::Terminal(commands), _) => debug::debug_kept_launch(&job, &launched, commands),
            _ => Ok(Exit::Fine),
        };
        if let Err(Failure(why)) = done {
            print_message(Severity::Error, &format!("the launch cannot be debugged: {why}"), None);
        }
        if let Err(e) = go_on(&launch) {
            return Ok(Err(e));
        }
    }
}

/// Serves the next client that attaches.
fn serve_attached_client(
    listener: &std::net::TcpListener,
    job: &Path,
    launched: &DebugSettings,
) -> Result<(), Failure> {
    let failed = |e: io::Error| Failure(e.to_string());
    let (client, _) = listener.accept().map_err(failed)?;
    let input = client.try_clone().map_err(failed)?;
    dap::serve(input, client, &mut |launch| debug::debug_requested_launch(job, launch, launched));
    Ok(())
}

fn on_stdio(program: &mut Program<'_>, launched: &DebugSettings) -> io::Result<ExitStatus> {
    let (mut stopped, mut ended) = (None, None);
    dap::serve(io::stdin(), io::stdout(), &mut |launch| match program.next() {
        Ok(Next::Launch(folder)) => {
            let job = folder.join("job.toml");
            stopped = Some(folder);
            debug::debug_requested_launch(&job, launch, launched)
        }
        Ok(Next::Ended(status)) => {
            ended = Some(status);
            Err("the program ended, and no launch was the one to stop at".into())
        }
        Err(e) => Err(e.to_string()),
    });
    if let Some(launch) = stopped {
        go_on(&launch)?;
    }
    // What other processes of the program launch is not looked at.
    loop {
        match ended.take().map_or_else(|| program.next(), |status| Ok(Next::Ended(status)))? {
            Next::Launch(launch) => go_on(&launch)?,
            Next::Ended(status) => return Ok(status),
        }
    }
}

fn go_on(launch: &Path) -> io::Result<()> {
    std::fs::write(launch.join("go"), "")
}

/// What a program does next.
enum Next {
    /// It waits at a launch, which is kept in this folder.
    Launch(PathBuf),
    Ended(ExitStatus),
}

struct Program<'a> {
    child: Child,
    folder: &'a Path,
    seen: BTreeSet<PathBuf>,
}

impl Program<'_> {
    fn next(&mut self) -> io::Result<Next> {
        loop {
            let stopped = std::fs::read_dir(self.folder).into_iter().flatten().flatten().map(|e| e.path());
            for launch in stopped.filter(|p| p.join("stopped").exists()) {
                if self.seen.insert(launch.clone()) {
                    return Ok(Next::Launch(launch));
                }
            }
            if let Some(status) = self.child.try_wait()? {
                if self.seen.is_empty() {
                    print_note("envisa exec: the program ended, and no launch was the one to stop at");
                }
                return Ok(Next::Ended(status));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
