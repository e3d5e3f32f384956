//! Known failures inside of larger programs, reduced: `envisa reduce` is held against what a person reached, and `creduce`.
//!
//! `suite/reductions.toml` has them. Each is a program of `envisa smith` on which a compiler fails, or a mistake of a kernel, with
//! other programs around it. The input is made anew each time, reduced by the command as users run it, and tried again as it is then.

mod creduce;
mod page;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde::Deserialize;

/// Processors that a reduction may use.
const CORES: &str = "2";
/// The CPU time that a reduction may take: five minutes of two cores.
const LIMIT: Duration = Duration::from_secs(2 * 300);
/// How many times as large as a person's result one may be.
const TIMES: usize = 2;

/// Reduce known failures, and compare the results with those of a person and of creduce.
#[derive(clap::Args)]
pub struct Args {
    /// Only failures whose name contains this; of the others, the page keeps what it has.
    #[arg(default_value = "")]
    only: String,
    /// Leave creduce out.
    #[arg(long)]
    no_creduce: bool,
    /// Write the table into `docs/COMPILER-BUGS.md`.
    #[arg(long)]
    write: bool,
    /// Keep inputs and results in this folder; what was reduced there already is not reduced again.
    #[arg(long)]
    keep: Option<PathBuf>,
}

/// What is reduced of a failure.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum Form {
    /// OpenCL C.
    Source,
    /// A job with its program.
    Job,
    /// vISA text that a compiler made of the program.
    Visa,
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Form::Source => "OpenCL C",
            Form::Job => "job",
            Form::Visa => "vISA text",
        }
    }
}

/// A known failure.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Failure {
    name: String,
    form: Form,
    /// Numbers of programs of `envisa smith`; the first one fails, unless there is a kernel.
    programs: Vec<u64>,
    /// Do they use `double`?
    #[serde(default)]
    double: bool,
    /// A kernel that fails, which stands between the programs.
    #[serde(default)]
    kernel: String,
    /// The job that runs the kernel, without its file.
    #[serde(default)]
    job: String,
    /// Lines that are put into vISA text: declarations to the others, code before the end.
    #[serde(default)]
    insert: String,
    /// What shows the failure: options of `envisa reduce`.
    test: Vec<String>,
    /// Options of `envisa run`.
    #[serde(default)]
    run: Vec<String>,
    /// Libraries or commands that it needs besides ocloc.
    #[serde(default)]
    needs: Vec<String>,
    /// What a person reduced it to.
    person: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct All {
    failure: Vec<Failure>,
}

/// How large a program is, whatever its layout.
#[derive(Clone, Copy)]
struct Size {
    /// Lines that are not blank.
    lines: usize,
    /// Characters that are not blank.
    characters: usize,
}

impl Size {
    fn of(text: &str) -> Size {
        Size {
            lines: text.lines().filter(|l| !l.trim().is_empty()).count(),
            characters: text.chars().filter(|c| !c.is_whitespace()).count(),
        }
    }

    fn within(self, other: Size, times: usize) -> bool {
        self.lines <= times * other.lines && self.characters <= times * other.characters
    }
}

/// What a tool came to, and what it took.
struct Reached {
    size: Size,
    /// CPU time.
    used: Duration,
    /// From its start to its end, beside whatever else the machine does.
    time: Duration,
    /// It was stopped.
    stopped: bool,
}

/// An input, and how it is run.
#[derive(Clone)]
struct Input {
    file: PathBuf,
    /// Options behind `--`.
    run: Vec<String>,
}

/// What was measured of a failure.
struct Measured {
    whole: Size,
    person: Size,
    reached: Reached,
    candidates: String,
    creduce: Option<Reached>,
}

/// Runs the command: false if a failure is reduced too little, too slowly, or to another one.
///
/// # Errors
/// Files that cannot be read, and tools that are not there.
pub fn command(args: &Args) -> Result<bool, String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("reductions.toml");
    let text = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
    let all: All = toml::from_str(&text).map_err(|e| format!("{}: {e}", file.display()))?;
    let names: Vec<&str> = all.failure.iter().map(|f| f.name.as_str()).collect();
    let mut bad = Vec::new();
    for failure in all.failure.iter().filter(|f| f.name.contains(&args.only)) {
        let temporary = tempfile::tempdir().map_err(|e| e.to_string())?;
        let folder = match &args.keep {
            Some(keep) => keep.join(failure.name.replace(|c: char| !c.is_ascii_alphanumeric(), "-")),
            None => temporary.path().to_owned(),
        };
        std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
        let measured = measured(failure, &folder, !args.no_creduce);
        let wrong = match &measured {
            Ok(measured) => measured.wrong(),
            Err(why) => vec![why.clone()],
        };
        let row = page::row(failure, measured.as_ref().ok(), &wrong);
        println!("{row}");
        bad.extend(wrong.iter().map(|why| format!("{}: {why}", failure.name)));
        if args.write {
            // Another one may have written it meanwhile.
            let mut rows = page::Rows::read()?;
            rows.put(&failure.name, &row);
            rows.keep(&names);
            rows.write()?;
        }
    }
    bad.iter().for_each(|b| eprintln!("{b}"));
    Ok(bad.is_empty())
}

impl Measured {
    /// What does not hold.
    fn wrong(&self) -> Vec<String> {
        let mut all = Vec::new();
        if !(100..=2000).contains(&self.whole.lines) {
            all.push(format!("the input has {} lines", self.whole.lines));
        }
        if !self.reached.size.within(self.person, TIMES) {
            all.push("more than twice as large as a person's".to_owned());
        }
        if self.reached.used > LIMIT {
            all.push(format!("takes more than {} s of CPU time", LIMIT.as_secs()));
        }
        if let Some(creduce) = &self.creduce {
            if self.reached.size.characters > creduce.size.characters {
                all.push("larger than creduce's".to_owned());
            }
            if self.reached.used > creduce.used {
                all.push("slower than creduce".to_owned());
            }
        }
        all
    }
}

/// Reduces a failure by both tools.
fn measured(failure: &Failure, folder: &Path, creduce: bool) -> Result<Measured, String> {
    if let Some(lacking) = failure.needs.iter().find(|n| !is_there(n)) {
        return Err(format!("{lacking} is not there"));
    }
    let input = failure.input(folder)?;
    let whole = failure.program(&input.file)?;
    let out = folder.join("small");
    let (said, time) = reduced(failure, &input, folder, &out)?;
    let small = match failure.form {
        Form::Source => out.join("reduced.cl"),
        Form::Visa => out.join("reduced.visaasm"),
        Form::Job => out.join("reduced.toml"),
    };
    let left = failure.program(&small)?;
    // What is left still shows the failure: otherwise this ends with an error.
    let again = Input { run: still_there(&input.run, &left), ..input.clone() };
    reduce(failure, &again, &small, &folder.join("again"), &["--tries", "1"])?;
    let size = Size::of(&left);
    // `envisa reduce: 159 candidates, 41 s of CPU time`
    let cost =
        said.lines().filter_map(|l| l.strip_prefix("envisa reduce: ")?.split_once(" candidates, ")).next();
    let (candidates, used) = cost.ok_or("envisa reduce does not tell its cost")?;
    let used = used.split(' ').next().and_then(|s| s.parse().ok()).map(Duration::from_secs);
    let used = used.ok_or("envisa reduce does not tell its CPU time")?;
    let creduce = (creduce && failure.form == Form::Source)
        .then(|| creduce::reduced(failure, &input, folder, used))
        .transpose()?;
    Ok(Measured {
        whole: Size::of(&whole),
        person: Size::of(&failure.person),
        reached: Reached { size, used, time, stopped: false },
        candidates: candidates.to_owned(),
        creduce,
    })
}

/// Reduces an input, or finds that done: what `envisa reduce` said, and how long it took.
fn reduced(
    failure: &Failure,
    input: &Input,
    folder: &Path,
    out: &Path,
) -> Result<(String, Duration), String> {
    let file = folder.join("said.txt");
    if let Ok(said) = std::fs::read_to_string(&file)
        && let Some((seconds, said)) = said.split_once('\n')
        && let Ok(seconds) = seconds.parse()
    {
        return Ok((said.to_owned(), Duration::from_secs(seconds)));
    }
    let start = Instant::now();
    let said = reduce(failure, input, &input.file, out, &["--cost"])?;
    let time = start.elapsed();
    write(&file, &format!("{}\n{said}", time.as_secs()))?;
    Ok((said, time))
}

/// Options of `envisa run` without arguments that a program has lost.
fn still_there(run: &[String], program: &str) -> Vec<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let has = |name: &str| program.split(|c| !is_part(c)).any(|word| word == name);
    let mut out: Vec<String> = Vec::new();
    for word in run {
        let is_value = out.last().is_some_and(|last| last == "--arg" || last == "--print");
        match word.split(['=', ':']).next().filter(|_| is_value) {
            Some(name) if !has(name) => drop(out.pop()),
            _ => out.push(word.clone()),
        }
    }
    out
}

/// Runs `envisa reduce`, and gives what it says.
fn reduce(
    failure: &Failure,
    input: &Input,
    file: &Path,
    out: &Path,
    more: &[&str],
) -> Result<String, String> {
    let mut command = envisa();
    command.arg("reduce").arg(file).arg("-o").arg(out).args(["--jobs", CORES]).args(more);
    command.args(&failure.test).arg("--").args(&input.run);
    let out = succeeded(command.output(), "envisa reduce")?;
    Ok([out.stdout, out.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat())
}

/// The command beside this one; its processes find it, too.
fn envisa() -> Command {
    let own = std::env::current_exe().map_or_else(|_| "envisa".into(), |own| own.with_file_name("envisa"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = own.parent().map(Path::to_owned).into_iter().chain(std::env::split_paths(&path));
    let path = std::env::join_paths(folders).unwrap_or(path);
    let mut command = Command::new(own);
    command.env("PATH", path);
    command
}

fn succeeded(out: std::io::Result<Output>, who: &str) -> Result<Output, String> {
    let out = out.map_err(|e| format!("{who}: {e}"))?;
    if out.status.success() {
        return Ok(out);
    }
    let said = String::from_utf8_lossy(&out.stderr);
    let first = said.lines().find(|l| l.starts_with("error")).unwrap_or_default();
    Err(format!("{who}: {}: {first}", out.status))
}

/// Is a command or a library there?
fn is_there(name: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let libraries = ["/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"].map(PathBuf::from);
    std::env::split_paths(&folders).chain(libraries).any(|folder| folder.join(name).exists())
}

impl Failure {
    /// Writes the input.
    fn input(&self, folder: &Path) -> Result<Input, String> {
        let mut texts = Vec::new();
        let (mut preamble, mut job) = (String::new(), self.job.clone());
        for (i, n) in self.programs.iter().enumerate() {
            let mut smith = envisa();
            smith.args(["smith", "--first", &n.to_string()]).arg("-o").arg(folder);
            smith.args(self.double.then_some("--double"));
            succeeded(smith.output(), "envisa smith")?;
            let text = std::fs::read_to_string(folder.join(format!("k{n}.cl"))).map_err(|e| e.to_string())?;
            // All begin with the same definitions.
            let at = text.rfind("#endif\n").map_or(0, |at| at + "#endif\n".len());
            text[..at].clone_into(&mut preamble);
            texts.push(text[at..].to_owned());
            if i == 0 && job.is_empty() {
                job =
                    std::fs::read_to_string(folder.join(format!("k{n}.toml"))).map_err(|e| e.to_string())?;
            }
        }
        // What fails stands between the others.
        let failing = if self.kernel.is_empty() { texts.remove(0) } else { self.kernel.clone() };
        texts.insert(texts.len().div_ceil(2), failing);
        let source = folder.join("input.cl");
        write(&source, &(preamble + &texts.concat()))?;
        let job: toml::Table = toml::from_str(&job).map_err(|e| format!("{}: {e}", self.name))?;
        match self.form {
            Form::Source => Ok(Input { file: source, run: [options(&job), self.run.clone()].concat() }),
            Form::Job => {
                let mut job = job;
                job.insert("file".into(), "input.cl".into());
                let file = folder.join("input.toml");
                write(&file, &toml::to_string(&job).map_err(|e| e.to_string())?)?;
                Ok(Input { file, run: self.run.clone() })
            }
            Form::Visa => {
                let kernel = job.get("kernel").and_then(|k| k.as_str()).unwrap_or_default();
                Ok(Input { file: self.compiled(folder, &source, kernel)?, run: self.run.clone() })
            }
        }
    }

    /// The vISA text that the packaged compiler makes for the platform of the options, with what is inserted into it.
    fn compiled(&self, folder: &Path, source: &Path, kernel: &str) -> Result<PathBuf, String> {
        let platform = self.run.iter().skip_while(|w| *w != "--platform").nth(1);
        let device = platform.map_or_else(|| "dg2".to_owned(), |p| p.to_lowercase());
        let zebin = folder.join("input.zebin");
        let mut build = envisa();
        build
            .arg("build")
            .arg(source)
            .args(["--device", &device, "--options", "-cl-std=CL3.0", "-o"])
            .arg(&zebin);
        succeeded(build.output(), "envisa build")?;
        let mut extract = envisa();
        extract.arg("extract").arg(&zebin).args(["--kernel", kernel, "-o"]).arg(folder);
        succeeded(extract.output(), "envisa extract")?;
        let file = folder.join(format!("{kernel}.visaasm"));
        let text = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        let is_code = |l: &&str| !l.starts_with('.') && !l.trim().is_empty();
        let mut lines: Vec<&str> = text.lines().collect();
        for line in self.insert.lines().rev().filter(|l| !l.trim().is_empty()) {
            let begins =
                |l: &&str| if is_code(&line) { l.trim().starts_with("ret ") } else { l.starts_with(".decl") };
            let at = lines.iter().position(begins).ok_or("a text without code")?;
            lines.insert(at, line);
        }
        write(&file, &(lines.join("\n") + "\n"))?;
        Ok(file)
    }

    /// The text whose size counts: of a job, its program's.
    fn program(&self, file: &Path) -> Result<String, String> {
        let read =
            |path: &Path| std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()));
        let text = read(file)?;
        if self.form != Form::Job {
            return Ok(text);
        }
        let job: toml::Table = toml::from_str(&text).map_err(|e| e.to_string())?;
        let name = job.get("file").and_then(|f| f.as_str()).unwrap_or_default();
        read(&file.with_file_name(name))
    }
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
}

/// A job as options of `envisa run`.
fn options(job: &toml::Table) -> Vec<String> {
    let text = |v: &toml::Value| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
    let mut words = Vec::new();
    for key in ["kernel", "global", "local"] {
        let Some(value) = job.get(key) else { continue };
        let list = value.as_array().map(|l| l.iter().map(text).collect::<Vec<_>>().join(","));
        words.extend([format!("--{key}"), list.unwrap_or_else(|| text(value))]);
    }
    for (name, value) in job.get("args").and_then(|a| a.as_table()).into_iter().flatten() {
        words.extend(["--arg".to_owned(), format!("{name}={}", text(value))]);
    }
    for output in job.get("outputs").and_then(|o| o.as_array()).into_iter().flatten() {
        let of = |key: &str| output.get(key).map(text).unwrap_or_default();
        let mut print = of("arg");
        let _ = write!(print, ":{}", of("print"));
        words.extend(["--print".to_owned(), print]);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_as_many_as_are_asked_for_and_of_all_forms() {
        let all: All = toml::from_str(include_str!("../reductions.toml")).expect("they are read");
        assert!(all.failure.len() >= 20, "{} failures", all.failure.len());
        for form in [Form::Source, Form::Job, Form::Visa] {
            assert!(all.failure.iter().filter(|f| f.form == form).count() >= 4, "{}", form.name());
        }
        let mut names: Vec<&str> = all.failure.iter().map(|f| f.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all.failure.len());
    }

    #[test]
    fn arguments_that_are_gone_are_left_out() {
        let run = ["--arg", "a=1", "--arg", "b=2", "--print", "b:4", "--global", "8"].map(String::from);
        assert_eq!(still_there(&run, "kernel void k(int a)"), ["--arg", "a=1", "--global", "8"]);
    }

    #[test]
    fn sizes_do_not_depend_on_layout() {
        let (a, b) = (Size::of("int a;\n\nint b;\n"), Size::of("int a;\nint  b;"));
        assert_eq!((a.lines, a.characters), (b.lines, b.characters));
        assert!(Size::of("int a = 1;\n").within(a, 1) && !a.within(Size::of("int a;"), 1));
    }
}
