//! `envisa debug`: debugs a kernel with all its lanes, forwards and back.

#[cfg(unix)]
use crate::cmd::exec_debug::DebugSettings;
use crate::cmd::run::{BareArgs, BuildArgs};
use crate::cmd::{Done, Exit, Failure};
use envisa::machine::group::paused::Order;
use envisa_debug::session::{Options, Session};
use envisa_debug::{dap, terminal};
use envisa_harness::job::{ArgText, Job, Ready};
use serde_json::Value;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

const AFTER_HELP: &str = "\
In the terminal, `help` lists the commands. The log of past states takes --history bytes; to go back further, the debugger runs \
the launch again.

Examples:
  envisa debug vadd.cl --device dg2 --global 64 --arg a=iota:f32:64 --arg b=fill:f32:64:1 --arg c=zeros:f32:64 --arg n=64
  envisa debug job.toml -x 'break 7 if i == 40' -x run -x locals
  envisa debug --dap                      started by an editor, whose launch request names the kernel
  envisa debug job.toml --listen 4711     an editor attaches to port 4711 of this machine";

/// Debug a kernel at source level, with all its lanes, forwards and backwards in time.
///
/// FILE is the same as for `envisa run`. OpenCL C and SPIR-V are compiled with `-g -cl-opt-disable`, so that every
/// variable can be shown. `--optimised` compiles the code that `envisa run` executes, which keeps few variables.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// A zebin, a `.cl` or `.spv` file, a job (`.toml`), or hand-written `.visaasm` or `.isa`.
    file: Option<PathBuf>,
    /// The kernel, if there are several.
    #[arg(long)]
    kernel: Option<String>,
    /// Work-items: X[,Y[,Z]].
    #[arg(long, value_delimiter = ',', value_name = "X[,Y,Z]")]
    global: Vec<u64>,
    /// Work-items per group.
    #[arg(long, value_delimiter = ',', value_name = "X[,Y,Z]")]
    local: Vec<u32>,
    /// First global id.
    #[arg(long, value_delimiter = ',', value_name = "X[,Y,Z]")]
    offset: Vec<u64>,
    /// An argument, by its name in the source or its index, as for `envisa run`.
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    args: Vec<String>,
    /// A source file from which the zebin was compiled.
    #[arg(long = "source", value_name = "FILE")]
    sources: Vec<PathBuf>,
    /// Compile with optimisation, as for `envisa run`.
    #[arg(long)]
    optimised: bool,
    /// The largest size of the log of past states: 64M, 2G.
    #[arg(long, value_name = "BYTES", default_value = "1G", value_parser = bytes)]
    history: u64,
    /// The order in which groups and threads run: forward, reverse, random:SEED.
    #[arg(long, value_name = "ORDER", default_value = "forward", value_parser = parse_order)]
    order: Order,
    /// Stop at what `envisa run --check` finds: races, uninitialised reads, colliding stores, accesses out of bounds.
    #[arg(long)]
    check: bool,
    /// A command to execute before those of the terminal.
    #[arg(short = 'x', value_name = "COMMAND")]
    commands: Vec<String>,
    /// Speak the Debug Adapter Protocol on standard input and output.
    #[arg(long, conflicts_with = "listen")]
    dap: bool,
    /// Speak the protocol to one client after another, on a port of this machine or on ADDRESS:PORT.
    #[arg(long, value_name = "PORT")]
    listen: Option<String>,
    #[command(flatten, next_help_heading = "To compile first")]
    build: BuildArgs,
    #[command(flatten, next_help_heading = "Hand-written code")]
    bare: BareArgs,
}

pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.trim_end_matches(['B', 'b', 'i']) {
        t if t.ends_with(['K', 'k']) => (&t[..t.len() - 1], 1 << 10),
        t if t.ends_with(['M', 'm']) => (&t[..t.len() - 1], 1 << 20),
        t if t.ends_with(['G', 'g']) => (&t[..t.len() - 1], 1 << 30),
        t => (t, 1u64),
    };
    let n = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(unit));
    n.ok_or_else(|| format!("`{text}` is not a number of bytes: 64M, 1G"))
}

pub(super) fn parse_order(text: &str) -> Result<Order, String> {
    match text.split_once(':') {
        None if text == "forward" => Ok(Order::Forward),
        None if text == "reverse" => Ok(Order::Reverse),
        None if text == "random" => Ok(Order::Random(0)),
        Some(("random", seed)) => {
            seed.parse().map(Order::Random).map_err(|_| format!("`{seed}` is not a seed"))
        }
        _ => Err("expected forward, reverse or random:SEED".into()),
    }
}

/// Runs the command.
pub fn run(args: &Args) -> Done {
    if let Some(at) = &args.listen {
        return listen_for_client(args, at);
    }
    if args.dap {
        dap::serve(std::io::stdin(), std::io::stdout(), &mut |launch| prepare_launch_request(args, launch));
        return Ok(Exit::Fine);
    }
    in_terminal(args.job_from_arguments(&Value::Null).map_err(Failure)?, args.options(), &args.commands)
}

/// A session in the terminal.
fn in_terminal(job: (Job, bool), options: Options, commands: &[String]) -> Done {
    let (run, options) = prepare_run(job, options).map_err(Failure)?;
    run.stage(|stage| {
        let mut session = Session::new(stage, options).map_err(|e| Failure(e.to_string()))?;
        stop_at_interrupts(&session.pause);
        terminal::run(&mut session, commands);
        Ok(Exit::Fine)
    })
    .map_err(|e| Failure(e.to_string()))?
}

/// What Ctrl-C stops: the session that is under way.
static UNDER_WAY: Mutex<Option<Arc<AtomicBool>>> = Mutex::new(None);

/// Ctrl-C stops a session's launch; where that has not taken it up by the next one, the command ends.
fn stop_at_interrupts(pause: &Arc<AtomicBool>) {
    let under_way = || UNDER_WAY.lock().unwrap_or_else(|e| e.into_inner());
    if under_way().replace(Arc::clone(pause)).is_some() {
        return;
    }
    let handler = move || {
        let asked = under_way().as_ref().is_none_or(|pause| pause.swap(true, Ordering::Relaxed));
        if asked {
            // What a shell gives to what a signal ended.
            std::process::exit(130);
        }
    };
    // Without a handler it ends, as other commands do.
    let _ = ctrlc::set_handler(handler);
}

/// Debugs a launch that was kept, in the terminal.
///
/// # Errors
/// If it cannot be run.
#[cfg(unix)]
pub(super) fn debug_kept_launch(job: &Path, launched: &DebugSettings, commands: &[String]) -> Done {
    in_terminal(load_kept_job(job, launched).map_err(Failure)?, launched.options.clone(), commands)
}

/// A launch that was kept, for a client whose launch request this is.
///
/// # Errors
/// If it cannot be run.
#[cfg(unix)]
pub(super) fn debug_requested_launch(
    job: &Path,
    launch: &Value,
    launched: &DebugSettings,
) -> Result<(envisa::Run, Options), String> {
    let mut options = launched.options.clone();
    apply_launch_request(launch, &mut options)?;
    prepare_run(load_kept_job(job, launched)?, options)
}

#[cfg(unix)]
fn load_kept_job(job: &Path, launched: &DebugSettings) -> Result<(Job, bool), String> {
    let mut job = Job::read(job).map_err(|e| e.to_string())?;
    job.sources.extend(launched.sources.iter().cloned());
    Ok((job, true))
}

/// Listens on a port of this machine, or on ADDRESS:PORT.
///
/// # Errors
/// If that cannot be.
pub(super) fn bind_listener(at: &str) -> Result<(TcpListener, std::net::SocketAddr), Failure> {
    let address = if at.contains(':') { at.to_owned() } else { format!("127.0.0.1:{at}") };
    let fail = |e: std::io::Error| Failure(format!("{address}: {e}"));
    let listener = TcpListener::bind(&address).map_err(fail)?;
    let local = listener.local_addr().map_err(fail)?;
    Ok((listener, local))
}

fn listen_for_client(args: &Args, at: &str) -> Done {
    let (listener, local) = bind_listener(at)?;
    let fail = |e: std::io::Error| Failure(format!("{local}: {e}"));
    crate::io::print(&format!("listening on {local}\n"))?;
    for client in listener.incoming() {
        let client = client.map_err(fail)?;
        let input = client.try_clone().map_err(fail)?;
        dap::serve(input, client, &mut |launch| prepare_launch_request(args, launch));
    }
    Ok(Exit::Fine)
}

/// What a launch request makes.
fn prepare_launch_request(args: &Args, launch: &Value) -> Result<(envisa::Run, Options), String> {
    let mut options = args.options();
    apply_launch_request(launch, &mut options)?;
    prepare_run(args.job_from_arguments(launch)?, options)
}

/// How a launch request wants it.
fn apply_launch_request(launch: &Value, options: &mut Options) -> Result<(), String> {
    if let Some(text) = launch["order"].as_str() {
        options.order = parse_order(text)?;
    }
    if let Some(text) = launch["history"].as_str() {
        options.history = bytes(text)?;
    }
    options.check |= launch["check"] == Value::Bool(true);
    Ok(())
}

fn prepare_run(mut job: (Job, bool), mut options: Options) -> Result<(envisa::Run, Options), String> {
    let (job, optimised) = (&mut job.0, job.1);
    // What a debugger has no use for. Checks look at the build that is debugged.
    (job.check, job.check_hints, job.as_is, job.stats) = (options.check, false, true, false);
    job.outputs.clear();
    let compiles = job.file.extension().is_some_and(|e| e == "cl" || e == "spv");
    if compiles && !optimised {
        job.rewrite = Some(envisa_ocloc::Rewrite::Frames);
        let mut added = Vec::new();
        for option in ["-g", "-cl-opt-disable"] {
            if !job.options.split_whitespace().any(|o| o == option) {
                job.options = format!("{} {option}", job.options).trim_start().to_owned();
                added.push(option);
            }
        }
        if !added.is_empty() {
            options.notes.push(format!("{} is compiled with {}", job.file.display(), added.join(" ")));
        }
    }
    let ready = Ready::new(job).map_err(|e| e.to_string())?;
    options.notes.extend(ready.warnings().iter().cloned());
    let run = ready.launch().map_err(|e| e.to_string())?;
    Ok((run, options))
}

impl Args {
    fn options(&self) -> Options {
        Options { order: self.order, history: self.history, check: self.check, notes: Vec::new() }
    }

    /// The job of the command line and of a launch request, and is it to be optimised?
    fn job_from_arguments(&self, launch: &Value) -> Result<(Job, bool), String> {
        let program = launch["program"].as_str().map(PathBuf::from);
        let file = program
            .or_else(|| self.file.clone())
            .ok_or("say what is to be debugged: a FILE, or `program`")?;
        let file = match launch["cwd"].as_str() {
            Some(cwd) => Path::new(cwd).join(file),
            None => file,
        };
        let is_job = file.extension().is_some_and(|e| e == "toml");
        let mut job = if is_job {
            Job::read(&file).map_err(|e| e.to_string())?
        } else {
            Job { file, ..Job::default() }
        };
        let text = |key: &str| launch[key].as_str().map(str::to_owned);
        let list = |key: &str| -> Vec<u64> {
            launch[key].as_array().map_or(Vec::new(), |all| all.iter().filter_map(Value::as_u64).collect())
        };
        let narrow =
            |all: Vec<u64>| all.into_iter().map(|n| n.min(u32::MAX.into()) as u32).collect::<Vec<u32>>();
        let number = |key: &str| launch[key].as_u64().map(|n| n.min(u32::MAX.into()) as u32);
        let either = |own: &[u64], key: &str, place: &mut Vec<u64>| {
            let told = list(key);
            let given = if own.is_empty() { &told[..] } else { own };
            if !given.is_empty() {
                *place = given.to_vec();
            }
        };
        either(&self.global, "global", &mut job.global);
        either(&self.offset, "offset", &mut job.offset);
        for (own, key, place) in
            [(&self.local, "local", &mut job.local), (&self.bare.groups, "groups", &mut job.groups)]
        {
            let given = if own.is_empty() { narrow(list(key)) } else { own.clone() };
            if !given.is_empty() {
                *place = given;
            }
        }
        job.kernel = self.kernel.clone().or_else(|| text("kernel")).unwrap_or(job.kernel);
        job.device = self.build.device.clone().or_else(|| text("device")).or(job.device);
        job.ocloc = self.build.ocloc.clone().or(job.ocloc);
        let options = Some(self.build.options.clone()).filter(|o| !o.is_empty());
        job.options = options.or_else(|| text("options")).unwrap_or(job.options);
        let platform = self.bare.platform.map(|p| p.name().to_owned());
        job.platform = platform.or_else(|| text("platform")).or(job.platform);
        job.threads = self.bare.threads.or_else(|| number("threads")).or(job.threads);
        job.simd = self.bare.simd.or_else(|| number("simd")).or(job.simd);
        job.slm = self.bare.slm.or_else(|| launch["slm"].as_u64()).or(job.slm);
        job.sources.extend(self.sources.iter().cloned());
        for given in &self.args {
            let (name, value) = given.split_once('=').ok_or_else(|| format!("--arg {given}: NAME=VALUE"))?;
            job.args.insert(name.to_owned(), ArgText::Text(value.to_owned()));
        }
        if let Some(all) = launch["args"].as_object() {
            for (name, value) in all {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                job.args.insert(name.clone(), ArgText::Text(text));
            }
        }
        Ok((job, self.optimised || launch["optimised"] == Value::Bool(true)))
    }
}
