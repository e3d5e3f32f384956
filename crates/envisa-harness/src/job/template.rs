//! A job that fits a kernel, to be filled in.

use super::arguments::vector_type;
use crate::values::ValueType;
use envisa::zebin::ZebinFile;
use envisa::zebin::ze_info::{AddrMode, AddrSpace, ArgType, Kernel, KernelArgument};
use std::fmt::Write;

/// Elements of a buffer, and work-items of the range, where nothing says how many there should be.
const COUNT: u64 = 1024;
/// Side of an image.
const SIDE: u64 = 64;

/// The text of a job that runs a kernel of a zebin: every argument with a value of its type, every buffer that the
/// kernel may write as an output. `file` is what the job calls its module; `device` is given if that is a source.
///
/// Sizes and values are guesses, as no metadata has them: the job runs, and its author corrects it.
pub fn template(file: &str, device: Option<&str>, zebin: &ZebinFile, kernel: &Kernel) -> String {
    let args = zebin.ze_info.arguments(kernel);
    let env = &kernel.execution_env;
    let required = env.required_work_group_size.filter(|r| *r != [0; 3]);
    let images = args.iter().any(|a| matches!(Class::of(a), Class::Image(_)));
    let (global, local) = match required {
        Some(local) => {
            let items = local.map(|n| u64::from(n.max(1)));
            let groups = (COUNT / items.iter().product::<u64>().max(1)).max(1);
            (vec![items[0].saturating_mul(groups), items[1], items[2]], Some(local.to_vec()))
        }
        None if images => (vec![SIDE, SIDE], None),
        None => (vec![COUNT], None),
    };
    let items = global.iter().fold(1u64, |n, g| n.saturating_mul(*g)).min(1 << 24);

    let mut out = String::new();
    let _ =
        writeln!(out, "# Runs {} with `envisa run`. Sizes and values are guesses: put yours.", kernel.name);
    let _ = writeln!(out, "file = {}", quoted(file));
    let _ = writeln!(out, "kernel = {}", quoted(&kernel.name));
    if let Some(device) = device {
        let _ = writeln!(out, "device = {}", quoted(device));
    }
    let _ = writeln!(out, "global = {global:?}");
    match local {
        Some(local) => {
            let _ = writeln!(out, "local = {local:?}            # the kernel demands it");
        }
        None => out.push_str("# local = [64]            # chosen by envisa if left out\n"),
    }
    out.push_str("# check = true            # uninitialised reads, stores that collide, data races\n");
    out.push_str("# stats = true            # instructions, channels, memory traffic\n");

    let mut outputs = Vec::new();
    if !args.is_empty() {
        out.push_str("\n[args]\n");
    }
    for arg in &args {
        let (value, result) = value(arg, items);
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
    for name in outputs {
        let _ = write!(out, "\n[[outputs]]\narg = {}\nprint = 8\n", quoted(&name));
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

/// An argument's value as TOML, and whether the kernel may write it.
fn value(arg: &KernelArgument<'_>, items: u64) -> (String, bool) {
    let ty = arg.info.map_or("", |i| i.type_and_size().0);
    let writable = |i: &envisa::zebin::ze_info::ArgInfo| {
        !i.type_qualifiers.contains("const")
            && i.address_qualifier != "__constant"
            && i.access_qualifier != "read_only"
    };
    let result = arg.info.is_some_and(writable);
    match Class::of(arg) {
        Class::Local => {
            let size = ty.strip_suffix('*').and_then(vector_type).map_or(4, |v| v.size() as u64);
            (quoted(&format!("local:{}", 256 * size)), false)
        }
        Class::Sampler => ("{ sampler = \"clamp_to_edge:nearest:unnormalized\" }".into(), false),
        Class::Image(ty) => {
            let (shape, texels) = match ty.as_str() {
                t if t.starts_with("image3d") => (format!("3d:{SIDE},{SIDE},4"), SIDE * SIDE * 4),
                t if t.starts_with("image2d_array") => (format!("2darray:{SIDE},{SIDE},4"), SIDE * SIDE * 4),
                _ => (format!("2d:{SIDE},{SIDE}"), SIDE * SIDE),
            };
            let image = format!("{shape}:rgba:unorm8");
            let fill = if result { "zeros" } else { "rand" };
            let value = format!("{fill}:u8:{}", texels * 4);
            (format!("{{ image = {}, value = {} }}", quoted(&image), quoted(&value)), result)
        }
        Class::Buffer => {
            let pointed = ty.strip_suffix('*').and_then(vector_type);
            let pointed = pointed.map_or_else(|| "u8".into(), |v: ValueType| v.to_string());
            let fill = if result { "zeros" } else { "rand" };
            (quoted(&format!("{fill}:{pointed}:{items}")), result)
        }
        Class::Value => {
            let bytes = arg.info.and_then(|i| i.type_and_size().1).unwrap_or(4);
            let value = match vector_type(ty) {
                Some(v) if v.lanes == 1 && v.elem.is_float() => "1.0".into(),
                Some(v) if v.lanes == 1 => number(&name(arg), items),
                Some(v) => quoted(&format!("{v}:{}", vec!["1"; usize::from(v.lanes)].join(","))),
                // A structure: its bytes.
                None => quoted(&format!("u8:{}", vec!["0"; bytes.clamp(1, 1 << 12) as usize].join(","))),
            };
            (value, false)
        }
    }
}

/// A guess at an integer: what is called a count has as many as there are work-items.
fn number(name: &str, items: u64) -> String {
    let name = name.to_ascii_lowercase();
    let counts = ["n", "len", "length", "size", "count", "num", "elements"];
    let is_count = counts.contains(&name.as_str()) || name.starts_with("num") || name.starts_with("n_");
    if is_count { items.to_string() } else { "1".into() }
}

fn name(arg: &KernelArgument<'_>) -> String {
    arg.info.and_then(|i| i.name.clone()).unwrap_or_else(|| arg.index.to_string())
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    toml::Value::String(one_line(text)).to_string()
}

/// Names are the module's, and hostile: they end no line.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

fn key(name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if bare { name.to_owned() } else { quoted(name) }
}
