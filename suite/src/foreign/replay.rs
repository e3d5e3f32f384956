//! A kept launch repeated through the OpenCL API, from the source that the program built: any driver can.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use envisa::{Argument, ArgumentKind};
use envisa_harness::images::{parse_image, parse_sampler};
use envisa_harness::job::{ArgText, Job};
use envisa_harness::values::{ElemType, HostValue, parse_scalar};

use super::suites::DEVICE;
use crate::compare::Check;
use crate::launch::{ArgValue, Launch, LaunchArg};
use crate::peer::{ANSWER, Peer};
use envisa_client::Session;

/// A kept launch, read.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The program in OpenCL C.
    pub source: String,
    /// Options of its build.
    pub options: String,
    /// The kernel's name.
    pub kernel: String,
    /// Sizes and arguments; each buffer and image is an output.
    pub launch: Launch,
    /// What numbers each argument's memory has, where that is known.
    pub numbers: Vec<Option<ElemType>>,
}

/// Bytes of a number of this type, as a job writes it.
fn number(ty: &str, bytes: u32, text: &str) -> Result<Vec<u8>, String> {
    if let Some(list) = text.strip_prefix("u8:") {
        return list
            .split(',')
            .map(|n| n.trim().parse().map_err(|_| format!("`{n}` is not a byte")))
            .collect();
    }
    let elem = match (elem_of(ty), bytes) {
        (Some(elem), _) => elem,
        (None, 1) => ElemType::U8,
        (None, 2) => ElemType::U16,
        (None, 4) => ElemType::U32,
        (None, _) => ElemType::U64,
    };
    parse_scalar(elem, text).map_err(|e| e.to_string())
}

/// The element of a scalar or vector of OpenCL C, and how many it has; three take the place of four.
pub(super) fn element(ty: &str) -> Option<(ElemType, u64)> {
    let digits = ty.trim_start_matches(|c: char| !c.is_ascii_digit());
    let count = if digits.is_empty() { 1 } else { digits.parse().ok()? };
    Some((elem_of(ty)?, if count == 3 { 4 } else { count }))
}

/// The element of a type of OpenCL C, of a vector or of a pointer to one; `None` of a structure.
fn elem_of(ty: &str) -> Option<ElemType> {
    let name = ty.trim_end_matches('*').trim_end_matches(|c: char| c.is_ascii_digit());
    Some(match name {
        "char" => ElemType::I8,
        "uchar" => ElemType::U8,
        "short" => ElemType::I16,
        "ushort" => ElemType::U16,
        "int" => ElemType::I32,
        "uint" => ElemType::U32,
        "long" => ElemType::I64,
        "ulong" | "size_t" => ElemType::U64,
        "half" => ElemType::F16,
        "float" => ElemType::F32,
        "double" => ElemType::F64,
        _ => return None,
    })
}

/// A type's own name, where the program gave it another: `typedef float REAL;` or `#define REAL float`.
fn own_name(ty: &str, source: &str) -> String {
    let name = ty.trim_end_matches('*');
    let given = |line: &str| {
        let words: Vec<&str> = line.trim().trim_end_matches(';').split_whitespace().collect();
        match words[..] {
            ["typedef", own, other] if other == name => Some(own.to_owned()),
            ["#define", other, own] if other == name => Some(own.to_owned()),
            _ => None,
        }
    };
    let own = source.lines().find_map(given).unwrap_or_else(|| name.to_owned());
    format!("{own}{}", &ty[name.len()..])
}

/// What numbers the memory has that a type of a source points to: of structures, that of all of their members.
fn numbers_of(ty: &str, source: &str) -> Option<ElemType> {
    let own = own_name(ty, source);
    elem_of(&own).or_else(|| {
        let name = own.trim_end_matches('*').trim_start_matches("struct ");
        let (before, _) = source.split_once(&format!("}} {name};"))?;
        let (_, members) = before.rsplit_once('{')?;
        let mut all = members.split(';').map(str::trim).filter(|m| !m.is_empty()).map(|m| {
            let ty = m.split_whitespace().next().unwrap_or("");
            elem_of(&own_name(ty, source)).filter(|_| !m.contains('*'))
        });
        let first = all.next()??;
        all.all(|m| m == Some(first)).then_some(first)
    })
}

/// The arguments that a captured module's kernel takes.
fn arguments(folder: &Path, kernel: &str) -> Result<Vec<Argument>, String> {
    let bytes = std::fs::read(folder.join("module.zebin")).map_err(|e| format!("module.zebin: {e}"))?;
    let device = envisa::Device::new(envisa::Config::new(DEVICE.platform()));
    let module = envisa::Module::load(&device, "module", envisa::Source::Zebin(&bytes));
    let module = module.map_err(|e| e.to_string())?;
    Ok(module.kernel(kernel).map_err(|e| e.to_string())?.arguments().to_vec())
}

impl Replay {
    /// Reads a kept launch.
    ///
    /// # Errors
    /// What it has that cannot be repeated.
    pub fn read(folder: &Path) -> Result<Replay, String> {
        let text = |name: &str| {
            let bytes = std::fs::read(folder.join(name)).map_err(|e| format!("{name}: {e}"))?;
            Ok::<_, String>(String::from_utf8_lossy(&bytes).into_owned())
        };
        let written = text("job.toml")?;
        if written.contains("# NOT KEPT") {
            return Err("it reaches memory that was not kept".to_owned());
        }
        let job = Job::parse(&written)?;
        let triple = |v: &mut dyn Iterator<Item = u64>, other: u64| {
            let mut all = [other; 3];
            all.iter_mut().zip(v).for_each(|(to, n)| *to = n);
            all
        };
        let mut launch = Launch {
            dims: job.global.len() as u32,
            global: triple(&mut job.global.iter().copied(), 1),
            local: triple(&mut job.local.iter().map(|n| u64::from(*n)), 1),
            offset: triple(&mut job.offset.iter().copied(), 0),
            args: Vec::new(),
        };
        let source = text("program.cl")?;
        let mut arguments = arguments(folder, &job.kernel)?;
        let numbers = arguments.iter().map(|a| numbers_of(&a.type_name, &source)).collect();
        arguments.iter_mut().for_each(|a| a.type_name = own_name(&a.type_name, &source));
        for (n, a) in arguments.iter().enumerate() {
            let name = if a.name.is_empty() { n.to_string() } else { a.name.clone() };
            let given = job.args.get(&name).ok_or_else(|| format!("argument `{name}` was not kept"))?;
            let value = value(folder, a, given).map_err(|e| format!("argument `{name}`: {e}"))?;
            let check = matches!(value, ArgValue::Buffer(_) | ArgValue::Image(..)).then_some(Check::Exact);
            launch.args.push(LaunchArg { name, value, check });
        }
        Ok(Replay { source, options: text("program.options")?, kernel: job.kernel, launch, numbers })
    }
}

fn value(folder: &Path, a: &Argument, given: &ArgText) -> Result<ArgValue, String> {
    let file = |text: &str, elem: Option<ElemType>| {
        let name = text.strip_prefix('@').ok_or_else(|| format!("`{text}` is not a file"))?;
        let bytes = std::fs::read(folder.join(name)).map_err(|e| format!("{name}: {e}"))?;
        let elem = elem.filter(|e| bytes.len() % e.size() == 0).unwrap_or(ElemType::U8);
        Ok::<_, String>(HostValue { elem, shape: vec![(bytes.len() / elem.size()) as u64], bytes })
    };
    let text = match given {
        ArgText::Image { image, value } => {
            return Ok(ArgValue::Image(parse_image(image)?, file(value, None)?));
        }
        ArgText::Sampler { sampler } => return Ok(ArgValue::Sampler(parse_sampler(sampler)?)),
        ArgText::Int(n) => n.to_string(),
        ArgText::Float(x) => x.to_string(),
        ArgText::Text(text) => text.clone(),
    };
    if let Some(bytes) = text.strip_prefix("local:") {
        return bytes.parse().map(ArgValue::Local).map_err(|_| format!("`{bytes}` is not a size"));
    }
    if text.starts_with('@') {
        return file(&text, elem_of(&a.type_name)).map(ArgValue::Buffer);
    }
    if text.starts_with("arg:") {
        return Err("it is a part of another argument's buffer".to_owned());
    }
    match a.kind {
        ArgumentKind::Value { bytes, .. } => number(&a.type_name, bytes, &text).map(ArgValue::Scalar),
        // Of an argument that the code does not use only the source knows the type.
        ArgumentKind::Unused if !a.type_name.ends_with('*') => {
            number(&a.type_name, 4, &text).map(ArgValue::Scalar)
        }
        _ if text == "0" => Ok(ArgValue::Scalar(vec![0; size_of::<usize>()])),
        _ => Err(format!("`{text}` is not a buffer")),
    }
}

/// Who repeats launches, and what it is held to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Side {
    /// envisa's driver.
    Envisa,
    /// PoCL.
    Pocl,
    /// Intel's CPU runtime.
    Intel,
    /// envisa's driver, held to AVX2.
    EnvisaAvx2,
    /// Intel's CPU runtime, held to AVX2.
    IntelAvx2,
}

impl Side {
    /// All.
    pub const ALL: [Side; 5] = [Side::Envisa, Side::Pocl, Side::Intel, Side::EnvisaAvx2, Side::IntelAvx2];

    /// Name for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Side::Envisa => "envisa",
            Side::Pocl => "PoCL",
            Side::Intel => "Intel",
            Side::EnvisaAvx2 => "envisa, AVX2",
            Side::IntelAvx2 => "Intel, AVX2",
        }
    }

    const fn peer(self) -> Peer {
        match self {
            Side::Pocl => Peer::Pocl,
            Side::Intel | Side::IntelAvx2 => Peer::Intel,
            Side::Envisa | Side::EnvisaAvx2 => Peer::Driver,
        }
    }

    /// The worker that repeats the launch of a kernel of the survey on this side and leaves its results in a folder.
    ///
    /// # Errors
    /// As [`Side::command`].
    pub fn of_survey(self, kernel: &str, out: &Path) -> Result<Command, String> {
        let mut command = self.command(Path::new(kernel), out, out)?;
        command.arg("--survey");
        Ok(command)
    }

    /// The worker that repeats a launch on this side and leaves its results in a folder.
    ///
    /// # Errors
    /// If this program cannot be found, or the side's driver.
    pub fn command(self, launch: &Path, home: &Path, out: &Path) -> Result<Command, String> {
        let exe = std::env::current_exe().map_err(|e| e.to_string())?;
        let mut command = Command::new(exe);
        command
            .arg("foreign-worker")
            .arg(launch)
            .args(["--platform", self.peer().platform(), "--out"])
            .arg(out);
        // What a source includes is beside the program.
        command.current_dir(home);
        if let Some(driver) = self.peer().driver() {
            command.env("OCL_ICD_VENDORS", &driver);
        }
        command.env("ENVISA_DEVICES", DEVICE.name());
        match self {
            Side::EnvisaAvx2 => {
                command.env("ENVISA_LEVEL", "avx2");
            }
            Side::IntelAvx2 => {
                command.env("CL_CONFIG_CPU_TARGET_ARCH", "core-avx2");
            }
            _ => {}
        }
        Ok(command)
    }
}

/// What a worker is to do.
#[derive(clap::Args)]
pub struct Work {
    /// The kept launch.
    launch: PathBuf,
    /// It is the name of a kernel of the survey.
    #[arg(long)]
    survey: bool,
    /// Part of the platform's name.
    #[arg(long)]
    platform: String,
    /// Where results go.
    #[arg(long)]
    out: PathBuf,
}

/// The worker: launches once, and times launches for so many seconds whenever a line on standard input says how many: the
/// least time of one, from the call to the end. What each buffer and image holds after the last launch of these is left in
/// `N.bin`.
///
/// # Errors
/// A sentence for standard error.
pub fn work(work: &Work) -> Result<(), String> {
    let replay = match work.survey {
        true => super::survey::replay(&work.launch.to_string_lossy())?,
        false => Replay::read(&work.launch)?,
    };
    let session = Session::open(&work.platform)?;
    let start = Instant::now();
    let mut loaded = session.load(&replay.source, &replay.options, &replay.kernel, &replay.launch)?;
    loaded.run()?;
    let build = start.elapsed().as_secs_f64();
    // What is printed while others listen is theirs.
    let say = |line: &str| {
        println!("{ANSWER}{line}");
        std::io::stdout().flush().map_err(|e| e.to_string())
    };
    say(&format!("{build} {}", session.describe()))?;
    for order in std::io::stdin().lines() {
        let order = order.map_err(|e| e.to_string())?;
        let window = order.parse().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
        let window = window.ok_or_else(|| format!("`{order}` is not a window"))?;
        let (start, mut least, mut launches) = (Instant::now(), f64::INFINITY, 0);
        while launches == 0 || start.elapsed() < window {
            loaded.reset()?;
            let run = crate::clock::start();
            loaded.run()?;
            least = least.min(run.seconds());
            launches += 1;
        }
        for (n, value) in loaded.outputs()?.values {
            std::fs::write(work.out.join(format!("{n}.bin")), value.bytes).map_err(|e| e.to_string())?;
        }
        say(&format!("{least} {launches}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_are_kept() {
        assert_eq!(number("int", 4, "-3").unwrap(), (-3i32).to_le_bytes());
        assert_eq!(number("float", 4, "2.5").unwrap(), 2.5f32.to_le_bytes());
        assert_eq!(number("size_t", 8, "5").unwrap(), 5u64.to_le_bytes());
        assert_eq!(number("float4", 16, "u8:1,2,3").unwrap(), [1, 2, 3]);
        let source = "typedef float REAL;\n#define COUNT uint\n";
        assert_eq!(own_name("REAL*", source), "float*");
        assert_eq!((own_name("COUNT", source), own_name("int*", source)), ("uint".into(), "int*".into()));
        assert!(number("int", 4, "u8:1,300").is_err() && number("int", 4, "x").is_err());
        assert_eq!((elem_of("float4*"), elem_of("struct thing*")), (Some(ElemType::F32), None));
        let source = "#define fp float\ntypedef struct\n{\n  fp v, x;\n  float y[2];\n} FOUR;\n\
                      typedef struct { fp x; int n; } MIXED;\ntypedef struct { fp *x; } POINTER;\n";
        assert_eq!(numbers_of("FOUR*", source), Some(ElemType::F32));
        assert_eq!((numbers_of("MIXED*", source), numbers_of("POINTER*", source)), (None, None));
    }
}
