//! A job that fits a kernel, to be filled in.

use super::arguments::{elem_of, vector_type};
use crate::values::ValueType;
use envisa::isa::Platform;
use envisa::zebin::ZebinFile;
use envisa::zebin::ze_info::{AddrMode, AddrSpace, ArgType, Kernel, KernelArgument};
use envisa::{ArgKey, Argument, ArgumentKind};
use std::fmt::Write;

/// Elements of a buffer, and work-items of the range, where nothing says how many there should be.
const COUNT: u64 = 1024;
/// Side of an image, and of a range of two dimensions.
const SIDE: u64 = 64;
/// Sides of a range of three dimensions.
const SIDES: [u64; 3] = [64, 8, 8];
/// Bytes of a buffer that hand-written code gets by its address.
const BYTES: u64 = 4096;

/// The text of a job that runs a kernel of a zebin: every argument with a value of its type, every buffer that the
/// kernel may write as an output. `file` is what the job calls its module; `device` is given if that is a source;
/// `dimensions` is [`envisa::Kernel::dimensions`].
///
/// Sizes and values are guesses, as no metadata has them: the job runs, and its author corrects it.
pub fn template(
    file: &str,
    device: Option<&str>,
    zebin: &ZebinFile,
    kernel: &Kernel,
    dimensions: Option<u32>,
) -> String {
    let args = zebin.ze_info.arguments(kernel);
    let env = &kernel.execution_env;
    let required = env.required_work_group_size.filter(|r| *r != [0; 3]);
    let images = args.iter().any(|a| matches!(Class::of(a), Class::Image(_)));
    let (global, local) = match (required, dimensions.unwrap_or(if images { 2 } else { 1 })) {
        (Some(local), _) => {
            let items = local.map(|n| u64::from(n.max(1)));
            let groups = (COUNT / items.iter().product::<u64>().max(1)).max(1);
            (vec![items[0].saturating_mul(groups), items[1], items[2]], Some(local.to_vec()))
        }
        (None, 1) => (vec![COUNT], None),
        (None, 2) => (vec![SIDE, SIDE], None),
        (None, _) => (SIDES.to_vec(), None),
    };
    let items = global.iter().fold(1u64, |n, g| n.saturating_mul(*g)).min(1 << 24);

    let mut out = template_head(file, &kernel.name);
    if let Some(device) = device {
        let _ = writeln!(out, "device = {}", toml_quoted(device));
    }
    let _ = writeln!(out, "global = {global:?}");
    match local {
        Some(local) => {
            let _ = writeln!(out, "local = {local:?}            # the kernel demands it");
        }
        None => {
            let sizes = ["[64]", "[8, 8]", "[8, 8, 1]"][global.len() - 1];
            let _ = writeln!(out, "# local = {sizes}            # chosen by envisa if left out");
        }
    }
    out.push_str(OPTIONS);

    let mut outputs = Vec::new();
    if !args.is_empty() {
        out.push_str("\n[args]\n");
    }
    for arg in &args {
        let (value, result) = value(arg, items, global[0]);
        let name = name(arg);
        let comment = arg.info.map_or(String::new(), |i| {
            let qualifier = match i.address_qualifier.as_str() {
                "__private" => String::new(),
                other => format!("{} ", other.trim_start_matches('_')),
            };
            let constant = if i.type_qualifiers.contains("const") { "const " } else { "" };
            format!("   # {qualifier}{constant}{}", i.type_and_size().0)
        });
        let _ = writeln!(out, "{} = {value}{}", key(&name), one_line(&comment));
        if result {
            outputs.push(name);
        }
    }
    out + &template_outputs(&outputs)
}

/// The text of a job that runs a kernel of hand-written vISA by the rules of a platform: one thread, every input with a
/// value of its variable's type, every buffer as an output, for nothing says which of them the kernel only reads.
pub fn template_by_hand(file: &str, platform: Platform, kernel: &envisa::Kernel) -> String {
    let mut out = template_head(file, kernel.name());
    let _ = writeln!(out, "platform = {}", toml_quoted(platform.name()));
    out.push_str("# groups = [1]            # thread groups, in one to three dimensions\n");
    out.push_str("# threads = 1             # of each group\n");
    out.push_str(OPTIONS);
    let keys = |but: u32| {
        let others = kernel.arguments().iter().filter(move |a| a.index != but);
        others.map(|a| ArgKey::Index(a.index)).collect::<Vec<_>>()
    };
    // What the machine fills need not be given, and cannot.
    let args: Vec<&Argument> =
        kernel.arguments().iter().filter(|a| kernel.check_given(&keys(a.index)).is_err()).collect();
    let mut outputs = Vec::new();
    if !args.is_empty() {
        out.push_str("\n[args]\n");
    }
    for arg in args {
        let (value, result, about) = value_by_hand(kernel, arg);
        let _ = writeln!(out, "{} = {value}   # {about}", key(&arg.name));
        if result {
            outputs.push(arg.name.clone());
        }
    }
    out + &template_outputs(&outputs)
}

/// The first lines of a job.
fn template_head(file: &str, kernel: &str) -> String {
    format!(
        "# Runs {} with `envisa run`. Sizes and values are guesses: put yours.\nfile = {}\nkernel = {}\n",
        one_line(kernel),
        toml_quoted(file),
        toml_quoted(kernel)
    )
}

/// Options that every job may have.
const OPTIONS: &str = "\
# check = true            # uninitialised reads, stores that collide, data races
# stats = true            # instructions, channels, memory traffic
";

/// The outputs of a job.
fn template_outputs(names: &[String]) -> String {
    let mut out = String::new();
    for name in names {
        let _ = write!(out, "\n[[outputs]]\narg = {}\nprint = 8\n", toml_quoted(name));
        out.push_str("# file = \"result.npy\"     # or .png, or any other name for raw bytes\n");
        out.push_str("# expect = \"@want.npy\"    # compared, as `check` says: \"exact\", \"ulp 2\", \"rel 1e-6\", …\n");
    }
    out
}

/// What an argument is, as far as metadata tell.
enum Class {
    Value,
    Buffer,
    Local,
    Image(String),
    Sampler,
}

impl Class {
    fn of(arg: &KernelArgument<'_>) -> Class {
        let ty = arg.info.map_or("", |i| i.type_and_size().0);
        if arg.info.is_some_and(|i| i.address_qualifier == "__local") {
            return Class::Local;
        }
        match ty {
            "sampler_t" => return Class::Sampler,
            _ if ty.ends_with('*') => return Class::Buffer,
            _ if ty.starts_with("image") => return Class::Image(ty.to_owned()),
            _ => {}
        }
        for p in &arg.payload {
            match (p.arg_type, p.addrmode, p.addrspace) {
                (ArgType::ArgBypointer, Some(AddrMode::Slm), _) => return Class::Local,
                (ArgType::ArgBypointer, _, Some(AddrSpace::Image)) => {
                    return Class::Image("image2d_t".into());
                }
                (ArgType::ArgBypointer, _, Some(AddrSpace::Sampler)) => return Class::Sampler,
                (ArgType::ArgBypointer, ..) => return Class::Buffer,
                _ => {}
            }
        }
        Class::Value
    }
}

/// The value of an argument of hand-written code as TOML, whether the kernel may write it, and what it is.
fn value_by_hand(kernel: &envisa::Kernel, arg: &Argument) -> (String, bool, String) {
    match arg.kind {
        ArgumentKind::Surface => {
            (toml_quoted(&format!("zeros:u32:{COUNT}")), true, "surface: a buffer".into())
        }
        ArgumentKind::Sampler => (SAMPLER.into(), false, "sampler".into()),
        ArgumentKind::Input { bytes } => {
            let elem = kernel.variable(&arg.name).and_then(|v| elem_of(v.ty));
            let about = format!("{bytes} bytes{}", elem.map_or(String::new(), |e| format!(" of {e}")));
            match elem {
                Some(e) if e.size() == 8 && bytes == 8 && !e.is_float() => {
                    let about = "8 bytes: the address of a buffer, or `u64:N` for a number".into();
                    (toml_quoted(&format!("zeros:u8:{BYTES}")), true, about)
                }
                Some(e) => {
                    let fill = if e.is_float() { "rand" } else { "iota" };
                    (toml_quoted(&format!("{fill}:{e}:{}", (bytes as usize / e.size()).max(1))), false, about)
                }
                None => (toml_quoted(&format!("zeros:u8:{bytes}")), false, about),
            }
        }
        _ => (toml_quoted("u8:0"), false, arg.type_name.clone()),
    }
}

/// A sampler as TOML.
const SAMPLER: &str = "{ sampler = \"clamp_to_edge:nearest:unnormalized\" }";

/// An argument's value as TOML, for a range of so many work-items and so many in a row, and whether the kernel may write it.
fn value(arg: &KernelArgument<'_>, items: u64, row: u64) -> (String, bool) {
    let ty = arg.info.map_or("", |i| i.type_and_size().0);
    let writable = |i: &envisa::zebin::ze_info::ArgInfo| {
        !i.type_qualifiers.contains("const")
            && i.address_qualifier != "__constant"
            && !i.access_qualifier.ends_with("read_only")
    };
    let result = arg.info.is_some_and(writable);
    match Class::of(arg) {
        Class::Local => {
            let size = ty.strip_suffix('*').and_then(vector_type).map_or(4, |v| v.size() as u64);
            (toml_quoted(&format!("local:{}", 256 * size)), false)
        }
        Class::Sampler => (SAMPLER.into(), false),
        Class::Image(ty) => {
            let (shape, texels) = match ty.as_str() {
                t if t.starts_with("image3d") => (format!("3d:{SIDE},{SIDE},4"), SIDE * SIDE * 4),
                t if t.starts_with("image2d_array") => (format!("2darray:{SIDE},{SIDE},4"), SIDE * SIDE * 4),
                _ => (format!("2d:{SIDE},{SIDE}"), SIDE * SIDE),
            };
            let image = format!("{shape}:rgba:unorm8");
            let fill = if result { "zeros" } else { "rand" };
            let value = format!("{fill}:u8:{}", texels * 4);
            (format!("{{ image = {}, value = {} }}", toml_quoted(&image), toml_quoted(&value)), result)
        }
        Class::Buffer => {
            let pointed = ty.strip_suffix('*').and_then(vector_type);
            let pointed = pointed.map_or_else(|| "u8".into(), |v: ValueType| v.to_string());
            let fill = if result { "zeros" } else { "rand" };
            (toml_quoted(&format!("{fill}:{pointed}:{items}")), result)
        }
        Class::Value => {
            let bytes = arg.info.and_then(|i| i.type_and_size().1).unwrap_or(4);
            let value = match vector_type(ty) {
                Some(v) if v.lanes == 1 && v.elem.is_float() => "1.0".into(),
                Some(v) if v.lanes == 1 => number(&name(arg), row),
                Some(v) => toml_quoted(&format!("{v}:{}", vec!["1"; usize::from(v.lanes)].join(","))),
                // A structure: its bytes.
                None => toml_quoted(&format!("u8:{}", vec!["0"; bytes.clamp(1, 1 << 12) as usize].join(","))),
            };
            (value, false)
        }
    }
}

/// A guess at an integer: what is called a count or a side has as many as a row has work-items.
fn number(name: &str, row: u64) -> String {
    let name = name.to_ascii_lowercase();
    let counts = [
        "n", "len", "length", "size", "count", "num", "elements", "w", "width", "h", "height", "rows",
        "cols", "columns", "pitch", "stride",
    ];
    let is_count = counts.contains(&name.as_str()) || name.starts_with("num") || name.starts_with("n_");
    if is_count { row.to_string() } else { "1".into() }
}

fn name(arg: &KernelArgument<'_>) -> String {
    arg.info.and_then(|i| i.name.clone()).unwrap_or_else(|| arg.index.to_string())
}

/// A basic string of TOML.
fn toml_quoted(text: &str) -> String {
    toml::Value::String(one_line(text)).to_string()
}

/// Names are the module's, and hostile: they end no line.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

fn key(name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if bare { name.to_owned() } else { toml_quoted(name) }
}
