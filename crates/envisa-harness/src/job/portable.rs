//! A job with everything that it needs, so that it can be repeated or reduced in another folder.

use super::Job;
use super::arguments::vector_type;
use crate::files;
use crate::values::{ElemType, HostValue, parse_scalar};
use envisa::zebin::{DeviceFamily, ZebinFile};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A job on its own.
#[derive(Clone, Debug)]
pub struct Portable {
    /// The job: TOML, a key or a table's header to a line. It prints what all its outputs hold.
    pub job: String,
    /// The name by which it calls its program: `program.cl`, `program.visaasm`.
    pub name: String,
    /// The text of the program.
    pub program: String,
    /// The files that it reads besides, by the names by which it calls them.
    pub files: Vec<(String, PathBuf)>,
}

/// Contents up to so many bytes stand in the job itself.
const INLINE: u64 = 1 << 16;
/// More elements than are ever printed.
const ALL: i64 = 1 << 40;

impl Portable {
    /// Reads a job. Of a captured launch, the program is the source that was kept beside the module.
    ///
    /// # Errors
    /// What cannot be read, is not a job, or has no text as its program.
    pub fn read(path: &Path) -> Result<Portable, String> {
        let text = String::from_utf8(files::read(path, super::JOB_LIMIT)?)
            .map_err(|_| format!("{}: is not UTF-8", path.display()))?;
        let job = Job::parse(&text).map_err(|e| format!("{}: {e}", path.display()))?;
        let mut table: toml::Table = toml::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let (name, program, types) = program(&folder.join(&job.file), &job.kernel, &mut table)?;
        table.insert("file".into(), name.clone().into());
        table.remove("sources");
        let mut all = Portable { job: String::new(), name, program, files: Vec::new() };
        if let Some(toml::Value::Table(args)) = table.get_mut("args") {
            for (key, value) in args.iter_mut() {
                let file = match value {
                    toml::Value::String(text) => text,
                    toml::Value::Table(image) => match image.get_mut("value") {
                        Some(toml::Value::String(text)) => text,
                        _ => continue,
                    },
                    _ => continue,
                };
                if let Some(path) = file.strip_prefix('@') {
                    *file = all.portable_content(key, &folder.join(path), types.get(key).copied())?;
                }
            }
        }
        table.insert("outputs".into(), toml::Value::Array(outputs_or_all_buffers(&table)));
        all.job = toml::to_string(&table).map_err(|e| e.to_string())?;
        Ok(all)
    }

    /// What stands for a file's content: its elements, if it is raw and small and their type is known, or the name of a file.
    fn portable_content(&mut self, key: &str, path: &Path, elem: Option<ElemType>) -> Result<String, String> {
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        let length = std::fs::metadata(path).map_err(|e| format!("{}: {e}", path.display()))?.len();
        if let Some(elem) = elem
            && !matches!(extension, "npy" | "png")
            && (1..=INLINE).contains(&length)
            && let Some(list) = elements(elem, files::read(path, INLINE)?)
        {
            let zeros = list.split(',').all(|e| e == "0").then(|| list.split(',').count());
            return Ok(match zeros {
                Some(n) => format!("zeros:{}:{n}", elem.name()),
                None => format!("{}:{list}", elem.name()),
            });
        }
        let safe: String = key.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let extension = if extension.is_empty() { "bin" } else { extension };
        let name = format!("{}-{safe}.{extension}", self.files.len());
        self.files.push((name.clone(), std::path::absolute(path).map_err(|e| e.to_string())?));
        Ok(format!("@{name}"))
    }
}

/// A job's text without the arguments that are gone, and without outputs of them.
pub fn without_arguments(job: &str, gone: &dyn Fn(&str) -> bool) -> String {
    let Ok(mut table) = toml::from_str::<toml::Table>(job) else { return job.to_owned() };
    if let Some(toml::Value::Table(args)) = table.get_mut("args") {
        args.retain(|name, _| !gone(name));
    }
    if let Some(toml::Value::Array(outputs)) = table.get_mut("outputs") {
        outputs.retain(|output| output.get("arg").and_then(toml::Value::as_str).is_none_or(|n| !gone(n)));
    }
    toml::to_string(&table).unwrap_or_else(|_| job.to_owned())
}

/// Bytes as numbers; `None` where numbers do not say them: parts of an element, NaNs.
fn elements(elem: ElemType, bytes: Vec<u8>) -> Option<String> {
    if !bytes.len().is_multiple_of(elem.size()) {
        return None;
    }
    let value = HostValue { elem, shape: Vec::new(), bytes };
    let texts: Option<Vec<String>> = (0..value.len())
        .map(|i| value.display(i).filter(|t| parse_scalar(elem, t).ok().as_deref() == value.element(i)))
        .collect();
    texts.map(|t| t.join(","))
}

/// Types of elements that arguments point to.
type Types = BTreeMap<String, ElemType>;

/// The text that a job runs, with a name for it. Where that is the source of a zebin, the job is told how it was compiled.
fn program(file: &Path, kernel: &str, job: &mut toml::Table) -> Result<(String, String, Types), String> {
    let extension = file.extension().and_then(|e| e.to_str()).unwrap_or_default();
    let text = |path: &Path| {
        String::from_utf8(files::read(path, files::MAX_INPUT)?)
            .map_err(|_| format!("{}: is not UTF-8", path.display()))
    };
    if extension != "zebin" {
        if !matches!(extension, "cl" | "c" | "clcpp" | "visaasm") {
            return Err(format!("{}: is neither OpenCL C nor vISA text", file.display()));
        }
        return Ok((format!("program.{extension}"), text(file)?, Types::new()));
    }
    let (source, options) = (file.with_file_name("program.cl"), file.with_file_name("program.options"));
    if !source.exists() {
        let why = "has no source beside it (program.cl), and only texts are reduced";
        return Err(format!("{}: {why}", file.display()));
    }
    let bytes = files::read(file, files::MAX_INPUT)?;
    let zebin = ZebinFile::parse(&bytes).map_err(|e| format!("{}: {e}", file.display()))?;
    let device = zebin.notes.device();
    if let (Some(device), false) = (device, job.contains_key("device")) {
        job.insert("device".into(), DeviceFamily::name(device).into());
    }
    if options.exists() && !job.contains_key("options") {
        job.insert("options".into(), text(&options)?.trim().into());
    }
    Ok(("program.cl".into(), text(&source)?, pointed_types(&zebin, kernel)))
}

fn pointed_types(zebin: &ZebinFile, kernel: &str) -> Types {
    let Some(kernel) = zebin.kernels().find(|k| kernel.is_empty() || k.name == kernel) else {
        return Types::new();
    };
    let infos = zebin.ze_info.args_info(&kernel.name).iter();
    let known = infos.filter_map(|i| {
        let ty = vector_type(i.type_and_size().0.strip_suffix('*')?)?;
        Some((i.name.clone()?, ty.elem))
    });
    known.collect()
}

/// The outputs of a job, or all its buffers where it names none; each is printed whole, and neither written nor compared.
fn outputs_or_all_buffers(job: &toml::Table) -> Vec<toml::Value> {
    let named = |arg: toml::Value| {
        toml::Value::Table(toml::Table::from_iter([("arg".into(), arg), ("print".into(), ALL.into())]))
    };
    let given = job.get("outputs").and_then(toml::Value::as_array);
    let given: Vec<_> =
        given.into_iter().flatten().filter_map(|o| o.get("arg").cloned()).map(named).collect();
    if !given.is_empty() {
        return given;
    }
    let buffer = |v: &toml::Value| v.as_str().is_some_and(|v| v.contains(':') && !v.starts_with("local:"));
    let args = job.get("args").and_then(toml::Value::as_table).into_iter().flatten();
    args.filter(|(_, v)| buffer(v)).map(|(k, _)| named(k.as_str().into())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_on_its_own_reads_its_files_and_prints_all() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("k.cl"), "kernel void k(global uint *a, int n) {}").expect("written");
        std::fs::write(at("a.bin"), 7u32.to_le_bytes()).expect("written");
        let job = "file = \"k.cl\"\ndevice = \"dg2\"\nglobal = [1]\n[args]\na = \"@a.bin\"\nn = 3\n\
                   [[outputs]]\narg = \"a\"\nfile = \"a.after.bin\"\n";
        std::fs::write(at("job.toml"), job).expect("written");
        let portable = Portable::read(&at("job.toml")).expect("it is read");
        let text = &portable.job;
        assert!(text.contains("a = \"@0-a.bin\"") && text.contains("print = "), "{text}");
        assert!(!text.contains("after.bin") && Job::parse(text).is_ok(), "{text}");
        assert_eq!(portable.files, [("0-a.bin".to_owned(), at("a.bin"))]);
    }

    #[test]
    fn arguments_that_are_gone_are_left_out() {
        let job = "global = [1]\n[args]\na = \"zeros:u32:1\"\nn = 3\n[[outputs]]\narg = \"a\"\n";
        let left = without_arguments(job, &|name| name == "a");
        assert!(left.contains("n = 3") && !left.contains("zeros") && !left.contains("arg ="), "{left}");
    }

    #[test]
    fn contents_are_numbers_where_those_say_all() {
        let bytes = |all: &[f32]| all.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
        assert_eq!(elements(ElemType::U16, vec![1, 0, 255, 255]).as_deref(), Some("1,65535"));
        assert_eq!(elements(ElemType::U16, vec![1, 0, 255]), None);
        let floats = elements(ElemType::F32, bytes(&[1.5, -0.0, 1e-40])).expect("they are said");
        assert_eq!(floats.split(',').count(), 3);
        assert_eq!(elements(ElemType::F32, bytes(&[f32::from_bits(0x7fc0_0001)])), None);
    }

    #[test]
    fn a_zebin_without_its_source_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let job = folder.path().join("job.toml");
        std::fs::write(&job, "file = \"m.zebin\"\nglobal = [1]\n").expect("written");
        assert!(Portable::read(&job).expect_err("refused").contains("program.cl"));
    }
}
