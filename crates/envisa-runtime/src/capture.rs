//! Launches kept on disk, so that `envisa run` repeats them: the bridge from a program to one of its kernels.
//!
//! `ENVISA_CAPTURE` names a folder. Each launch becomes a folder in it, `NUMBER-KERNEL`, with the module, the content
//! of buffers and images before and after, and a `job.toml` that says how they belong together. `program.cl` and
//! `program.options` are what the host program built, so that other drivers can repeat the launch too.
//!
//! `ENVISA_CAPTURE_STOP` stops the program at one launch, for a debugger: `first` is any kernel's first one, `KERNEL:N` a kernel's
//! N-th, `wrong` the first one with a fault or a finding. Only that one is kept. The file `stopped` appears in its folder, and
//! the program goes on when somebody writes the file `go` beside it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use crate::device::{ImageShape, ImageValue, Launch, Value, texel};
use crate::host_memory::{Backing, Layout3, Region};

/// Launches of one kernel that are kept, unless `ENVISA_CAPTURE_MOST` says otherwise.
const MOST: u64 = 16;

struct Wanted {
    folder: PathBuf,
    most: u64,
    stop: Option<Stop>,
}

/// The launch at which a debugged program stops.
#[derive(PartialEq, Eq, Debug)]
enum Stop {
    /// A kernel's N-th launch; of no name, any kernel's.
    At(String, u64),
    /// The first with a fault or a finding.
    Wrong,
}

impl Stop {
    /// What `ENVISA_CAPTURE_STOP` says.
    fn read(text: &str) -> Stop {
        match text.split_once(':') {
            None if text == "wrong" => Stop::Wrong,
            None if text == "first" => Stop::At(String::new(), 1),
            None => Stop::At(text.into(), 1),
            Some((kernel, n)) => Stop::At(kernel.into(), n.trim().parse().unwrap_or(1)),
        }
    }
}

fn capture_settings() -> Option<&'static Wanted> {
    static WANTED: OnceLock<Option<Wanted>> = OnceLock::new();
    WANTED
        .get_or_init(|| {
            let folder = std::env::var_os("ENVISA_CAPTURE").filter(|v| !v.is_empty())?;
            let most = std::env::var("ENVISA_CAPTURE_MOST").ok();
            let most = most.and_then(|m| m.trim().parse().ok()).unwrap_or(MOST);
            // The program may change its folder.
            let stop =
                std::env::var("ENVISA_CAPTURE_STOP").ok().filter(|s| !s.is_empty()).map(|s| Stop::read(&s));
            Some(Wanted { folder: std::path::absolute(folder).ok()?, most, stop })
        })
        .as_ref()
}

/// Are launches kept?
pub fn is_wanted() -> bool {
    capture_settings().is_some()
}

/// A launch that is being kept.
pub struct Capture {
    /// `NUMBER-KERNEL`, and the folder, once it is there.
    name: String,
    folder: Option<PathBuf>,
    files: Files,
    /// Files that hold what is to be compared, with where it lies.
    after: Vec<(String, Bytes)>,
    /// Did the program stop at a launch?
    stopped: &'static AtomicBool,
}

/// Bytes of a buffer, or rows of an image.
enum Bytes {
    Buffer(Region),
    Image(Box<ImageValue>, [usize; 3]),
}

impl Bytes {
    fn read(&self) -> Vec<u8> {
        match self {
            Bytes::Buffer(region) => region.to_vec(),
            Bytes::Image(image, size) => {
                let from =
                    Layout3 { offset: 0, row: image.row_pitch as usize, slice: image.slice_pitch as usize };
                image.texels.rows(from, *size)
            }
        }
    }
}

/// Begins to keep a launch, if it is wanted: to be called before it runs.
pub fn begin(launch: &Launch<'_>) -> Option<Capture> {
    let wanted = capture_settings()?;
    static COUNT: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());
    let name = &launch.info.name;
    static STOPPED: AtomicBool = AtomicBool::new(false);
    let nth = {
        let mut count = COUNT.lock().unwrap();
        let count = count.entry(name.clone()).or_default();
        *count += 1;
        *count
    };
    let kept = match &wanted.stop {
        None => nth <= wanted.most,
        // One stop a process: whoever debugs it looks at that launch.
        Some(_) if STOPPED.load(Ordering::Relaxed) => false,
        Some(Stop::At(kernel, n)) => {
            (kernel.is_empty() || kernel == name) && *n == nth && !STOPPED.swap(true, Ordering::Relaxed)
        }
        Some(Stop::Wrong) => true,
    };
    if !kept {
        return None;
    }
    // Names of kernels are identifiers; those of files are short.
    let short: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(60).collect();
    let mut files = Files::default();
    let kept = write(launch, &mut files).and_then(|after| {
        let mut kept = Capture { name: short, folder: None, files, after, stopped: &STOPPED };
        // Whether that launch is wanted is known when it has run.
        let later = wanted.stop == Some(Stop::Wrong);
        if later { Ok(kept) } else { kept.put(&wanted.folder).map(|()| kept) }
    });
    match kept {
        Ok(kept) => {
            if let (Some(Stop::At(..)), Some(folder)) = (&wanted.stop, &kept.folder) {
                wait_for_debugger(folder);
            }
            Some(kept)
        }
        Err(why) => {
            not_kept(name, &wanted.folder, &why);
            None
        }
    }
}

fn not_kept(kernel: &str, folder: &Path, why: &str) {
    crate::log::print_warning(&format!(
        "a launch of `{kernel}` cannot be kept in {}: {why}",
        folder.display()
    ));
}

/// Makes a new folder in another, of the first name that is not taken: what is there already is somebody else's, or an
/// earlier process's of the same number.
fn create_unused_folder(folder: &Path, mut name: impl FnMut() -> String) -> std::io::Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    loop {
        let inner = folder.join(name());
        match std::fs::create_dir(&inner) {
            Ok(()) => return Ok(inner),
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
    }
}

/// Lets a debugger look at a launch that is kept, until it says to go on or is gone with its folder.
fn wait_for_debugger(folder: &Path) {
    if let Err(e) = std::fs::write(folder.join("stopped"), "") {
        return crate::log::print_warning(&format!("{}: {e}", folder.display()));
    }
    let parent = std::os::unix::process::parent_id();
    let gone = || std::os::unix::process::parent_id() != parent;
    while folder.is_dir() && !folder.join("go").exists() && !gone() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

/// Files by their names.
#[derive(Default)]
struct Files(Vec<(String, Vec<u8>)>);

impl Files {
    fn put(&mut self, name: &str, bytes: impl Into<Vec<u8>>) {
        self.0.push((name.to_owned(), bytes.into()));
    }
}

impl Capture {
    /// Writes the files into a new folder in this one.
    fn put(&mut self, outer: &Path) -> Result<(), String> {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        let name = || {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            format!("{}-{number:05}-{}", std::process::id(), self.name)
        };
        let folder = create_unused_folder(outer, name).map_err(|e| e.to_string())?;
        for (name, bytes) in self.files.0.drain(..) {
            std::fs::write(folder.join(&name), bytes).map_err(|e| format!("{name}: {e}"))?;
        }
        self.folder = Some(folder);
        Ok(())
    }

    /// Keeps what memory holds after the launch; `wrong`: it had a fault or a finding.
    pub fn end(mut self, wrong: bool) {
        let Some(wanted) = capture_settings() else { return };
        if wanted.stop == Some(Stop::Wrong) && wrong && !self.stopped.swap(true, Ordering::Relaxed) {
            return match self.put(&wanted.folder) {
                Ok(()) => wait_for_debugger(self.folder.as_deref().unwrap_or(&wanted.folder)),
                Err(why) => not_kept(&self.name, &wanted.folder, &why),
            };
        }
        let Some(folder) = &self.folder else { return };
        for (file, bytes) in &self.after {
            if let Err(e) = std::fs::write(folder.join(file), bytes.read()) {
                crate::log::print_warning(&format!("{}: {e}", folder.join(file).display()));
            }
        }
    }
}

/// A text of TOML.
fn toml_quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out + "\""
}

fn list<T: std::fmt::Display>(values: &[T]) -> String {
    let all: Vec<String> = values.iter().map(ToString::to_string).collect();
    format!("[{}]", all.join(", "))
}

/// What a job says above its arguments.
fn job_head(launch: &Launch<'_>) -> String {
    let n = launch.range.dims as usize;
    let mut job = format!(
        "# A launch on {}, kept by ENVISA_CAPTURE. `envisa run job.toml` repeats it. N.bin is what argument N held before,\n\
         # N.after.bin what it held after the launch, N.again.bin what it holds after the repeated launch.\n\
         file = \"module.zebin\"\nkernel = {}\nglobal = {}\nlocal = {}\n",
        launch.device,
        toml_quoted(&launch.info.name),
        list(&launch.range.global[..n]),
        list(&launch.range.local[..n]),
    );
    if launch.range.offset != [0; 3] {
        let _ = writeln!(job, "offset = {}", list(&launch.range.offset[..n]));
    }
    let reached = launch.shared.iter().filter(|s| {
        !launch
            .args
            .iter()
            .any(|a| matches!(a, Value::Memory(b, ..) | Value::Shared(b, _) if Arc::ptr_eq(b, s)))
    });
    match reached.count() {
        0 => {}
        n => {
            let _ = writeln!(
                job,
                "# NOT KEPT: {n} allocations of shared memory that the kernel may reach by pointers in memory."
            );
        }
    }
    job.push_str("\n[args]\n");
    job
}

/// Makes the files; gives those that are written again after the launch.
fn write(launch: &Launch<'_>, files: &mut Files) -> Result<Vec<(String, Bytes)>, String> {
    files.put("module.zebin", launch.module);
    if let Some(source) = &launch.source {
        files.put("program.cl", source.text);
        files.put("program.options", source.options.as_str());
    }
    let mut job = job_head(launch);
    let mut after: Vec<(String, Bytes)> = Vec::new();
    let mut outputs = String::new();
    // Where earlier buffers are: one that lies in another is a part of it.
    let mut buffers: Vec<(usize, &Arc<Backing>, usize, usize)> = Vec::new();
    for (i, value) in launch.args.iter().enumerate() {
        let about = launch.info.args.get(i).and_then(|a| a.source.as_ref());
        let name = launch.info.job_name(i);
        let text = match value {
            Value::Memory(backing, offset, _) | Value::Shared(backing, offset) => {
                let len = &match value {
                    Value::Memory(_, _, len) => *len,
                    _ => backing.region().len().saturating_sub(*offset),
                };
                let inside = buffers.iter().find(|(_, b, from, to)| {
                    Arc::ptr_eq(b, backing) && from <= offset && offset + len <= *to
                });
                match inside {
                    Some((of, _, from, _)) => {
                        let other = launch.info.job_name(*of);
                        toml_quoted(&format!("arg:{other}+{}", offset - from))
                    }
                    None => {
                        if matches!(value, Value::Shared(..)) && *offset > 0 {
                            let _ = writeln!(
                                job,
                                "# NOT KEPT: {offset} bytes before the one that argument {i} points to."
                            );
                        }
                        let region = backing.region().part(*offset, *len).ok_or("a buffer ends too early")?;
                        files.put(&format!("{i}.bin"), region.to_vec());
                        buffers.push((i, backing, *offset, offset + len));
                        after.push((format!("{i}.after.bin"), Bytes::Buffer(region)));
                        toml_quoted(&format!("@{i}.bin"))
                    }
                }
            }
            Value::Null => "0".into(),
            Value::Pointer(_) => return Err(format!("argument {i} points to memory that is not shared")),
            Value::Bytes(bytes) => number(about.map_or("", |s| &s.type_name), bytes).unwrap_or_else(|| {
                let all: Vec<String> = bytes.iter().map(u8::to_string).collect();
                toml_quoted(&format!("u8:{}", all.join(",")))
            }),
            Value::Local(bytes) => toml_quoted(&format!("local:{bytes}")),
            Value::Image(image) => {
                let (text, size) =
                    describe(image).ok_or_else(|| format!("argument {i}: images of this format"))?;
                let bytes = Bytes::Image(image.clone(), size);
                files.put(&format!("{i}.bin"), bytes.read());
                after.push((format!("{i}.after.bin"), bytes));
                format!("{{ image = {}, value = \"@{i}.bin\" }}", toml_quoted(&text))
            }
            Value::Sampler(s) => {
                let mode = s.addressing.name();
                let filter = if s.linear { "linear" } else { "nearest" };
                let coordinates = if s.normalized { "normalized" } else { "unnormalized" };
                format!("{{ sampler = \"{mode}:{filter}:{coordinates}\" }}")
            }
        };
        if text.contains(&format!("@{i}.bin")) {
            let _ =
                write!(outputs, "\n[[outputs]]\narg = {}\nfile = \"{i}.again.bin\"\n", toml_quoted(&name));
        }
        let _ = writeln!(job, "{} = {text}", toml_quoted(&name));
    }
    let mut sources = Vec::new();
    for source in crate::source_lines::debugged_sources() {
        // A name that the program gave, with -s, may be a path.
        let name = source.name.rsplit('/').next().unwrap_or_default().to_owned();
        let taken =
            ["", ".", "..", "job.toml"].contains(&&*name) || files.0.iter().any(|(other, _)| *other == name);
        if !taken {
            files.put(&name, source.text);
            sources.push(toml_quoted(&name));
        }
    }
    if !sources.is_empty() {
        job = job.replacen("\n[args]\n", &format!("sources = {}\n\n[args]\n", list(&sources)), 1);
    }
    files.put("job.toml", job + &outputs);
    Ok(after)
}

/// A number of a type of OpenCL C as jobs write it; `None` of what is not a single number.
fn number(type_name: &str, bytes: &[u8]) -> Option<String> {
    let signed = match type_name {
        "float" => return Some(toml_quoted(&f32::from_le_bytes(bytes.try_into().ok()?).to_string())),
        "double" => return Some(toml_quoted(&f64::from_le_bytes(bytes.try_into().ok()?).to_string())),
        "char" | "short" | "int" | "long" => true,
        "uchar" | "ushort" | "uint" | "ulong" | "size_t" => false,
        _ => return None,
    };
    let negative = signed && bytes.last().is_some_and(|b| *b >= 0x80);
    let mut whole = [if negative { 0xff } else { 0 }; 16];
    whole.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(toml_quoted(&i128::from_le_bytes(whole).to_string()))
}

/// An image as jobs write it, and the bytes of a row, rows and planes; `None` of a format that they do not have.
fn describe(image: &ImageValue) -> Option<(String, [usize; 3])> {
    use envisa::{ChannelOrder as O, ChannelType as T};
    let order = match image.format.order() {
        O::R => "r",
        O::Rg => "rg",
        O::Rgba => "rgba",
        O::Bgra => "bgra",
        _ => return None,
    };
    let format = match image.format.channel_type() {
        T::Sint8 => "i8",
        T::Uint8 => "u8",
        T::Sint16 => "i16",
        T::Uint16 => "u16",
        T::Sint32 => "i32",
        T::Uint32 => "u32",
        T::Unorm8 => "unorm8",
        T::Unorm16 => "unorm16",
        T::Snorm8 => "snorm8",
        T::Half => "f16",
        T::Float => "f32",
        _ => return None,
    };
    let [w, h, d] = image.size;
    let shape = match image.shape {
        ImageShape::D1 => format!("1d:{w}"),
        ImageShape::Buffer => format!("1dbuffer:{w}"),
        ImageShape::D1Array => format!("1darray:{w},{d}"),
        ImageShape::D2 => format!("2d:{w},{h}"),
        ImageShape::D2Array => format!("2darray:{w},{h},{d}"),
        _ => format!("3d:{w},{h},{d}"),
    };
    let texel = texel(image.format, [0; 4])?.len();
    Some((format!("{shape}:{order}:{format}"), [w as usize * texel, h as usize, d as usize]))
}

#[cfg(test)]
mod tests {
    use super::{Stop, create_unused_folder, number};

    #[test]
    fn where_a_program_stops() {
        assert_eq!(Stop::read("first"), Stop::At(String::new(), 1));
        assert_eq!(Stop::read("sum"), Stop::At("sum".into(), 1));
        assert_eq!(Stop::read("sum:12"), Stop::At("sum".into(), 12));
        assert_eq!(Stop::read("wrong"), Stop::Wrong);
    }

    #[test]
    fn folders_that_are_there_are_left_alone() {
        let all = tempfile::tempdir().unwrap();
        let outer = all.path().join("captures");
        let mut numbers = 0..;
        let mut name = || format!("7-{}-k", numbers.next().unwrap());
        assert_eq!(create_unused_folder(&outer, &mut name).unwrap(), outer.join("7-0-k"));
        // A link that leads to another's folder, and one that leads nowhere.
        std::os::unix::fs::symlink(all.path(), outer.join("7-1-k")).unwrap();
        std::os::unix::fs::symlink("/nonexistent", outer.join("7-2-k")).unwrap();
        assert_eq!(create_unused_folder(&outer, &mut name).unwrap(), outer.join("7-3-k"));
    }

    #[test]
    fn numbers_are_written_by_their_type() {
        assert_eq!(number("float", &2.5f32.to_le_bytes()).unwrap(), "\"2.5\"");
        assert_eq!(number("int", &(-3i32).to_le_bytes()).unwrap(), "\"-3\"");
        assert_eq!(number("ulong", &u64::MAX.to_le_bytes()).unwrap(), format!("\"{}\"", u64::MAX));
        assert_eq!(number("float4", &[0; 16]), None);
        assert_eq!(number("float", &[0; 3]), None);
    }
}
