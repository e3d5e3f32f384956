//! `envisa info`: shows the content of a file.

use crate::cmd::load::{self, Loaded};
use crate::cmd::{Done, Exit, Report};
use crate::io;
use envisa::diag::Severity;
use envisa::isa::{Attr, InstDesc, Object, ObjectKind, Platform, Platforms, predefined};
use envisa::verify::{Code, Options, rule};
use envisa::zebin::ZebinFile;
use envisa::zebin::ze_info::ArgType;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  envisa info kernel.isa
  envisa info vadd.zebin --json | jq '.objects[] | {name, instructions, legal_on}'
  envisa as kernel.visaasm -o - | envisa info -";

/// Show the content of a file: kernels, functions, inputs, attributes, SIMD size, instruction mix and
/// the platforms on which it is legal.
///
/// Reads vISA text, `.isa` binaries and zebins. For the kernels of a zebin, it also shows the information for a launch:
/// arguments with their types, group sizes, local memory, use of printf. For a damaged binary, it shows the tables and
/// the opcodes that can be read.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The file; `-` is standard input.
    file: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: Args) -> Done {
    let mut report = Report::default();
    let bytes = io::read(&args.file)?;
    let name = load::display(&args.file);
    let damaged = envisa::binary::is_cisa(&bytes).then(|| bytes.clone());
    // Its kernels' metadata; that it is damaged is told below.
    let metadata = bytes.starts_with(b"\x7fELF").then(|| ZebinFile::parse(&bytes).ok()).flatten();
    let Some(units) = load::bytes(&name, bytes, None, &mut report) else {
        // Of a damaged binary, what is left; that it is damaged is an error all the same.
        if let Some(Ok(left)) = damaged.map(|bytes| envisa::binary::recover(&bytes)) {
            io::print(&if args.json { left_json(&name, &left) } else { load::recovered_text(&name, &left) })?;
        }
        return report.finish();
    };
    let mut objects = Vec::new();
    for unit in &units {
        let legal = legal_platforms(unit);
        for object in &unit.module.objects {
            let mut described = describe(unit, object, &legal);
            let is_kernel = object.kind == ObjectKind::Kernel;
            if let (Some(file), Some(name), true) = (&metadata, &unit.kernel, is_kernel) {
                described["launch"] = kernel_launch_as_json(file, name);
            }
            objects.push(described);
        }
    }
    let text = if args.json {
        let all = json!({"file": name, "objects": objects});
        serde_json::to_string_pretty(&all).expect("plain JSON") + "\n"
    } else {
        let mut out = String::new();
        for object in &objects {
            print_for_people(object, &mut out);
        }
        out
    };
    io::print(&text)?;
    match report.finish()? {
        Exit::Fine => Ok(Exit::Fine),
        other => Ok(other),
    }
}

/// What is left of a damaged binary.
fn left_json(name: &str, left: &envisa::binary::Recovered) -> String {
    let objects: Vec<Json> = left
        .objects
        .iter()
        .map(|o| {
            let mut mix: BTreeMap<&str, u32> = BTreeMap::new();
            for inst in &o.insts {
                *mix.entry(family_or_name(inst.op.desc())).or_default() += 1;
            }
            json!({
                "name": o.tables.name,
                "kind": object_kind(&o.tables),
                "damaged": true,
                "instructions": o.insts.len(),
                "operands_missing": o.insts.iter().map(|i| u64::from(i.missing)).sum::<u64>(),
                "mix": mix,
                "variables": o.tables.vars.len(),
                "inputs": inputs_as_json(&o.tables),
            })
        })
        .collect();
    format!("{:#}\n", json!({"file": name, "objects": objects}))
}

fn object_kind(object: &Object) -> &'static str {
    match object.kind {
        ObjectKind::Kernel => "kernel",
        ObjectKind::Function => "function",
    }
}

fn inputs_as_json(object: &Object) -> Vec<Json> {
    let one = |i: &envisa::isa::Input| {
        let name = match i.kind & 7 {
            0 => object.var_name(i.id).to_owned(),
            1 => format!("S{}", i.id),
            _ => format!("T{}", i.id),
        };
        json!({"name": name, "offset": i.offset, "size": i.size, "implicit_kind": i.kind >> 3})
    };
    object.inputs.iter().map(one).collect()
}

/// Platforms on which the verifier finds no error. All with registers of one size are asked about at once.
fn legal_platforms(unit: &Loaded) -> Vec<Platform> {
    let (mut illegal, mut doubtful) = (Platforms::NONE, Platforms::NONE);
    for bytes in [32, 64] {
        let group: Vec<Platform> = Platform::ALL.into_iter().filter(|p| p.grf_bytes() == bytes).collect();
        let options = Options {
            platforms: Platforms::of(&group),
            lints: false,
            repeats: usize::MAX,
            ..Options::default()
        };
        for finding in envisa::verify::check(&unit.module, &options) {
            if rule::get(finding.code).is_some_and(|r| r.severity == Severity::Error) {
                // How grave these are depends on which platforms are asked about together.
                let sure = finding.code != Code::TYPE_COMBINATION;
                let set = if sure { &mut illegal } else { &mut doubtful };
                *set = set.union(finding.platforms);
            }
        }
    }
    let legal =
        |p: &Platform| !illegal.contains(*p) && (!doubtful.contains(*p) || load::legal_on(&unit.module, *p));
    Platform::ALL.into_iter().filter(legal).collect()
}

fn describe(unit: &Loaded, object: &Object, legal: &[Platform]) -> Json {
    let mut mix: BTreeMap<&str, u32> = BTreeMap::new();
    for inst in &object.insts {
        *mix.entry(family_or_name(inst.desc())).or_default() += 1;
    }
    let count = object.insts.len();
    let version = unit.module.version;
    json!({
        "name": object.name,
        "kind": object_kind(object),
        "version": format!("{}.{}", version.0, version.1),
        "simd_size": object.attr("SimdSize").and_then(Attr::int),
        "instructions": count,
        "mix": mix,
        "variables": object.vars.len(),
        "variable_bytes": root_bytes(object),
        "predicates": object.predicates.len(),
        "addresses": object.addresses.len(),
        "samplers": object.samplers.len(),
        "surfaces": object.surfaces.len(),
        "labels": object.labels.len(),
        "inputs": inputs_as_json(object),
        "attributes": object.attrs.iter().map(|a| {
            let name = object.strings.get(a.name).unwrap_or("?").to_owned();
            (name, attribute_as_json(object, a))
        }).collect::<serde_json::Map<_, _>>(),
        "legal_on": legal.iter().map(|p| p.name()).collect::<Vec<_>>(),
        "native_code_bytes": object.native.iter().map(|n| n.code.len()).sum::<usize>(),
    })
}

/// What a kernel of a zebin takes and needs, as its metadata has it.
fn kernel_launch_as_json(file: &ZebinFile, name: &str) -> Json {
    let Some(kernel) = file.ze_info.kernel(name) else { return Json::Null };
    let env = &kernel.execution_env;
    let args: Vec<Json> = file
        .ze_info
        .arguments(kernel)
        .iter()
        .map(|a| {
            let info = a.info;
            let named = |text: &str| (!matches!(text, "" | "NONE")).then(|| text.to_owned());
            json!({
                "index": a.index,
                "name": info.and_then(|i| i.name.clone()),
                "type": info.map(|i| i.type_and_size().0),
                "bytes": info.and_then(|i| i.type_and_size().1),
                "address_space": info.map(|i| i.address_qualifier.trim_start_matches('_')),
                "access": info.and_then(|i| named(&i.access_qualifier)),
                "qualifiers": info.and_then(|i| named(&i.type_qualifiers)),
                "binding_table_index": a.bti,
            })
        })
        .collect();
    json!({
        "device": file.notes.device().map(|d| d.name()),
        "build_options": file.build_options().and_then(own_options),
        "arguments": args,
        "simd_size": env.simd_size,
        "required_work_group_size": env.required_work_group_size.filter(|r| *r != [0; 3]),
        "work_group_size_hint": kernel.user_attributes.work_group_size_hint.filter(|r| *r != [0; 3]),
        "required_sub_group_size": (env.required_sub_group_size > 0).then_some(env.required_sub_group_size),
        "slm_bytes": env.slm_size,
        "registers": env.grf_count,
        "spill_bytes": env.spill_size,
        "private_bytes": env.private_size,
        "barriers": env.barrier_count,
        "printf": env.has_printf_calls || kernel.payload_arguments.iter().any(|p| p.arg_type == ArgType::PrintfBuffer),
        "stack_calls": env.has_stack_calls,
    })
}

/// The launch's part for people.
fn human_launch(l: &Json, out: &mut String) {
    let three = |key: &str| {
        let n: Vec<String> = l[key].as_array()?.iter().map(|n| n.to_string()).collect();
        Some(n.join(" x "))
    };
    let mut line = |what: &str, text: Option<String>| {
        if let Some(text) = text.filter(|t| !t.is_empty()) {
            let _ = writeln!(out, "  {what:<13} {}", crate::cmd::escape_for_terminal(&text));
        }
    };
    line("device", l["device"].as_str().map(str::to_owned));
    line("options", l["build_options"].as_str().map(str::to_owned));
    for a in l["arguments"].as_array().into_iter().flatten() {
        let text = |key: &str| {
            a[key].as_str().filter(|t| *t != "private").map(|t| format!(" {t}")).unwrap_or_default()
        };
        let name = a["name"].as_str().map_or_else(|| a["index"].to_string(), str::to_owned);
        let all = ["address_space", "access", "qualifiers", "type"].map(text).concat();
        line("argument", Some(format!("{name:<10}{all}")));
    }
    line("group size", three("required_work_group_size").map(|s| format!("{s}, required")));
    line("group hint", three("work_group_size_hint"));
    let bytes = |key: &str| l[key].as_u64().filter(|n| *n > 0).map(|n| format!("{n} bytes"));
    line("local memory", bytes("slm_bytes").map(|b| format!("{b} a group, besides its arguments'")));
    line("spilled", bytes("spill_bytes"));
    line("private", bytes("private_bytes"));
    line("registers", l["registers"].as_u64().map(|n| n.to_string()));
    line("barriers", l["barriers"].as_u64().filter(|n| *n > 0).map(|n| n.to_string()));
    let yes = |key: &str| (l[key] == json!(true)).then(|| "yes".to_owned());
    line("printf", yes("printf"));
    line("stack calls", yes("stack_calls"));
}

/// Mnemonic of an instruction as the mix counts it.
fn family_or_name(d: &'static InstDesc) -> &'static str {
    d.forms.first().map_or(d.name, |f| f.head)
}

fn attribute_as_json(object: &Object, a: &Attr) -> Json {
    let name = object.strings.get(a.name).unwrap_or("");
    let is_text = matches!(name, "OutputAsmPath" | "AsmName");
    match a.int() {
        Some(0) if name == "Target" => json!("cm"),
        Some(1) if name == "Target" => json!("3d"),
        Some(n) if !is_text => json!(n),
        _ => json!(String::from_utf8_lossy(&a.value)),
    }
}

/// Bytes of general variables that are not aliases.
fn root_bytes(object: &Object) -> u64 {
    object.vars.iter().filter(|v| v.alias < predefined::FIRST_VAR).map(|v| u64::from(v.bytes())).sum()
}

fn print_for_people(o: &Json, out: &mut String) {
    let text = |key: &str| o[key].as_str().unwrap_or("").to_owned();
    let number = |key: &str| o[key].as_u64().unwrap_or(0);
    if !out.is_empty() {
        out.push('\n');
    }
    let _ = writeln!(out, "{} {} (vISA {})", text("kind"), text("name"), text("version"));
    if let Some(simd) = o["simd_size"].as_u64() {
        let _ = writeln!(out, "  SIMD size     {simd}");
    }
    if o["launch"].is_object() {
        human_launch(&o["launch"], out);
    }
    let _ = writeln!(
        out,
        "  declares      {} general variables ({} bytes), {} predicates, {} addresses, {} samplers, {} surfaces, {} labels",
        number("variables"),
        number("variable_bytes"),
        number("predicates"),
        number("addresses"),
        number("samplers"),
        number("surfaces"),
        number("labels"),
    );
    let list = |key: &str| {
        o[key].as_array().into_iter().flatten().filter_map(Json::as_str).collect::<Vec<_>>().join(" ")
    };
    let legal = list("legal_on");
    let _ = writeln!(out, "  legal on      {}", if legal.is_empty() { "no platform" } else { &legal });
    for input in o["inputs"].as_array().into_iter().flatten() {
        let _ = writeln!(
            out,
            "  input         {:<10} offset {:>4}, {} bytes",
            input["name"].as_str().unwrap_or(""),
            input["offset"],
            input["size"]
        );
    }
    for (name, value) in o["attributes"].as_object().into_iter().flatten() {
        let _ = writeln!(out, "  attribute     {name} = {value}");
    }
    let _ = writeln!(out, "  instructions  {}", number("instructions"));
    let mut mix: Vec<(&String, u64)> =
        o["mix"].as_object().into_iter().flatten().map(|(name, n)| (name, n.as_u64().unwrap_or(0))).collect();
    mix.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    for (name, n) in mix {
        let _ = writeln!(out, "    {n:>6}  {name}");
    }
}

/// The options without those that `envisa build` adds of itself; `None` if nothing is left.
fn own_options(options: std::borrow::Cow<'_, str>) -> Option<String> {
    let own = match options.find(envisa_ocloc::LINE_OPTIONS) {
        // The name of the source has no blanks.
        Some(at) => {
            let rest = &options[at + envisa_ocloc::LINE_OPTIONS.len()..];
            let rest = rest.split_once(' ').map_or("", |(_, rest)| rest);
            format!("{} {rest}", options[..at].trim())
        }
        None => options.into_owned(),
    };
    let own = own.trim().to_owned();
    (!own.is_empty()).then_some(own)
}
