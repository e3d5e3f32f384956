//! Reading a file of any kind into modules: vISA text, CISA binary, zebin.

use crate::cmd::{Failure, Report};
use crate::io;
use envisa::binary::{ReadOptions, Stop};
use envisa::diag::did_you_mean;
use envisa::diag::{Diagnostic, FileId};
use envisa::isa::{Modifier, Module, Object, Operand, Platform, Platforms, Pred, Region, StateClass};
use envisa::text::ParseOptions;
use envisa::verify::Options;
use envisa::zebin::{Kernel, ZebinFile};
use envisa_harness::files::Kind;
use std::path::Path;

/// A module and where it came from.
pub struct Loaded {
    /// The module.
    pub module: Module,
    /// The file of each of its objects.
    pub files: Vec<FileId>,
    /// The kernel of a zebin that it is.
    pub kernel: Option<String>,
}

/// Reads a file; what is wrong with it goes to the report, and `None` comes back if nothing could be
/// made of it. A zebin gives a module for each kernel, with the functions it can call.
///
/// # Errors
/// Where the file cannot be read at all.
pub fn load_file(
    path: &Path,
    platform: Option<Platform>,
    report: &mut Report,
) -> Result<Option<Vec<Loaded>>, Failure> {
    Ok(bytes(&display(path), io::read(path)?, platform, report))
}

/// As [`load_file`], of a file's content.
pub fn bytes(
    name: &str,
    bytes: Vec<u8>,
    platform: Option<Platform>,
    report: &mut Report,
) -> Option<Vec<Loaded>> {
    match Kind::of(Path::new(name), &bytes) {
        Kind::Zebin => zebin(name, &bytes, platform, report),
        Kind::Isa => load_binary(name, bytes, platform, report).map(|l| vec![l]),
        Kind::Text | Kind::PlainText => text(name, bytes, platform, report).map(|l| vec![l]),
        other => {
            report.diagnostics.extend(other.why_not_runnable(name).map(|why| Diagnostic::error(KIND, why)));
            None
        }
    }
}

/// Code of a file that is of no kind that a command takes.
pub const KIND: &str = "E0801";

/// Most reads of a kernel that are told of.
const MOST_UNWRITTEN: usize = 4;

/// Reports registers that a kernel reads and that nothing in it writes. On a device without images, the compiler leaves out the
/// accesses that would write some of them; such a kernel does not run at all.
pub fn report_unwritten_registers(kernel: &envisa::Kernel, diagnostics: &mut Vec<Diagnostic>) {
    if kernel.missing_image().is_some() {
        return;
    }
    let all = kernel.unwritten();
    let told = all.iter().take(MOST_UNWRITTEN).map(|u| Diagnostic::warning("W0824", u.message(kernel)));
    diagnostics.extend(told);
}

/// The same of all kernels of a zebin, as far as they can be run.
pub fn report_unwritten_registers_of_zebin(name: &str, bytes: &[u8], diagnostics: &mut Vec<Diagnostic>) {
    let form = envisa::Source::Zebin(bytes);
    let Ok(Some(platform)) = form.platform() else { return };
    let device = envisa::Device::new(envisa::Config::new(platform));
    let Ok(module) = envisa::Module::load(&device, name, form) else { return };
    for kernel in module.kernel_names().iter().filter_map(|k| module.kernel(k).ok()) {
        if let Some(message) = kernel.missing_image() {
            diagnostics.push(Diagnostic::warning("W0825", message));
        }
        report_unwritten_registers(&kernel, diagnostics);
    }
}

/// What diagnostics call a file.
pub fn display(path: &Path) -> String {
    if path.as_os_str() == "-" { "<stdin>".to_owned() } else { path.display().to_string() }
}

/// Reads vISA text. The module comes back if it is complete.
pub fn text(name: &str, bytes: Vec<u8>, platform: Option<Platform>, report: &mut Report) -> Option<Loaded> {
    load_texts(&[(name.to_owned(), bytes)], platform, report)
}

/// Reads several texts into one module.
fn load_texts(
    texts: &[(String, Vec<u8>)],
    platform: Option<Platform>,
    report: &mut Report,
) -> Option<Loaded> {
    let mut ids = Vec::new();
    for (name, bytes) in texts {
        ids.push(report.files.add_text(name.clone(), bytes.clone()));
    }
    let mut sources = Vec::new();
    for id in &ids {
        let bytes = report.files.get(*id).map_or(&[][..], |f| f.bytes());
        match std::str::from_utf8(bytes) {
            Ok(s) => sources.push((s, *id)),
            Err(e) => {
                let at = e.valid_up_to() as u32;
                report.diagnostics.push(
                    Diagnostic::error("E0001", "the text is not UTF-8")
                        .primary(*id, (at, at + 1), "this byte begins no character")
                        .note("vISA is written in ASCII; strings and comments may hold any UTF-8"),
                );
                return None;
            }
        }
    }
    let options = ParseOptions { platform, ..ParseOptions::default() };
    let result = envisa::text::parse_units(&sources, &options);
    report.diagnostics.extend(result.diagnostics);
    result.complete.then_some(Loaded { module: result.module, files: result.files, kernel: None })
}

/// Reads a CISA binary.
pub fn load_binary(
    name: &str,
    bytes: Vec<u8>,
    platform: Option<Platform>,
    report: &mut Report,
) -> Option<Loaded> {
    let options = platform.map_or_else(ReadOptions::default, ReadOptions::for_platform);
    let read = envisa::binary::read_with(&bytes, &options);
    let id = report.files.add_binary(name, bytes);
    match read {
        Ok(module) => {
            let files = vec![id; module.objects.len()];
            Some(Loaded { module, files, kernel: None })
        }
        Err(e) => {
            report.diagnostics.push(e.to_diagnostic(id));
            None
        }
    }
}

/// Reads the vISA texts of a zebin: a module for each kernel.
fn zebin(name: &str, bytes: &[u8], platform: Option<Platform>, report: &mut Report) -> Option<Vec<Loaded>> {
    let file = load_zebin(name, bytes, report)?;
    let id = report.files.add_binary(name, Vec::new());
    let mut modules = Vec::new();
    for kernel in file.kernels() {
        let unit = match kernel_units(name, &file, kernel) {
            Ok(unit) => unit,
            Err(message) => {
                report.diagnostics.push(Diagnostic::error("E0821", message).primary(id, (0, 0), ""));
                continue;
            }
        };
        let loaded = load_texts(&unit, platform, report);
        modules.extend(loaded.map(|l| Loaded { kernel: Some(kernel.name.clone()), ..l }));
    }
    Some(modules)
}

/// Reads a zebin's container; its warnings and what is wrong with it go to the report.
pub fn load_zebin(name: &str, bytes: &[u8], report: &mut Report) -> Option<ZebinFile> {
    let id = report.files.add_binary(name, Vec::new());
    match ZebinFile::parse(bytes) {
        Ok(file) => {
            for warning in &file.warnings {
                let d = Diagnostic::warning("W0820", warning.to_string());
                report.diagnostics.push(d.primary(id, (0, 0), ""));
            }
            Some(file)
        }
        Err(e) => {
            report.diagnostics.push(Diagnostic::error("E0820", e.to_string()).primary(id, (0, 0), ""));
            None
        }
    }
}

/// Texts of a kernel and of the functions that it may call, each with a name for messages.
pub fn kernel_units(name: &str, file: &ZebinFile, kernel: &Kernel) -> Result<Vec<(String, Vec<u8>)>, String> {
    let visa = file.kernel_visa(&kernel.name).map_err(|e| e.to_string())?;
    let text = |visa| file.visa_text(visa).into_owned().into_bytes();
    let mut texts = vec![(format!("{name}:{}", kernel.name), text(visa))];
    for function in file.functions_visa() {
        // A function's text names the kernel that it was compiled along with.
        if function.kernel_name.as_ref().is_none_or(|k| *k == kernel.name) {
            let label = function.function.as_deref().unwrap_or("function");
            texts.push((format!("{name}:{label}"), text(function)));
        }
    }
    Ok(texts)
}

/// The kernels of a zebin that are asked for: one by name, or all.
///
/// # Errors
/// Where there is no such kernel.
pub fn select_kernels<'a>(file: &'a ZebinFile, name: Option<&str>) -> Result<Vec<&'a Kernel>, Failure> {
    let found: Vec<&Kernel> = file.kernels().filter(|k| name.is_none_or(|n| n == k.name)).collect();
    match name {
        Some(name) if found.is_empty() => {
            let all: Vec<&str> = file.kernels().map(|k| k.name.as_str()).collect();
            let near = did_you_mean(name, all.iter().copied());
            Err(Failure(format!("there is no kernel `{name}`; there are {}{near}", all.join(", "))))
        }
        _ => Ok(found),
    }
}

/// Is the module legal on a platform?
pub fn legal_on(module: &Module, platform: Platform) -> bool {
    let options = Options { platforms: Platforms::of(&[platform]), ..Options::default() };
    envisa::verify::verify(module.clone(), &options).1.is_some()
}

/// What a damaged binary still shows, as lines of text.
pub fn recover_binary_text(
    name: &str,
    bytes: &[u8],
    platform: Option<Platform>,
) -> Result<String, envisa::binary::ReadError> {
    let options = platform.map_or_else(ReadOptions::default, ReadOptions::for_platform);
    Ok(recovered_text(name, &envisa::binary::recover_with(bytes, &options)?))
}

/// What a recovered binary still shows, as lines of text.
pub fn recovered_text(name: &str, recovered: &envisa::binary::Recovered) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    let (major, minor) = recovered.version;
    let _ = writeln!(out, "// recovered from {name} (format {major}.{minor}); this is not an assembly");
    for object in &recovered.objects {
        let t = &object.tables;
        let _ = writeln!(
            out,
            "\n// {:?} {}: {} general variables, {} predicates, {} inputs, {} instructions",
            t.kind,
            t.name,
            t.vars.len(),
            t.predicates.len(),
            t.inputs.len(),
            object.insts.len()
        );
        match &object.stop {
            Stop::Complete => out.push_str("// nothing is missing\n"),
            Stop::Damaged { filler, zeros } => {
                let filler_is = if *zeros { "zeros" } else { "whatever the writer's memory held" };
                let _ = writeln!(
                    out,
                    "// written by a release of the Intel Graphics Compiler from {}:\n// the last operands of most instructions were never written; filler ({filler_is}) starts at offset {filler:#x}",
                    envisa::binary::DAMAGING_RELEASES
                );
            }
            Stop::Lost(e) => {
                let _ = writeln!(out, "// lost: {e}");
            }
        }
        for (i, v) in t.vars.iter().enumerate() {
            let _ = writeln!(
                out,
                "  V{:<5} type={} num_elts={} {}",
                i + 32,
                v.ty.name(),
                v.elems,
                t.strings.get(v.name).unwrap_or("")
            );
        }
        for inst in &object.insts {
            let row = inst.op.desc();
            let maybe = if inst.alternatives { " (or a sibling)" } else { "" };
            let missing = match inst.missing {
                0 => String::new(),
                1 => "   1 operand missing".to_owned(),
                n => format!("   {n} operands missing"),
            };
            let known: Vec<String> = row
                .slots
                .iter()
                .zip(object.ops(inst))
                .filter(|(_, op)| !matches!(op, Operand::Pred(p) if p.id == 0))
                .map(|(slot, op)| format!("{}={}", slot.name, operand(t, op)))
                .collect();
            let _ = writeln!(
                out,
                "  {:#08x}  {}{maybe} {}{missing}",
                inst.span.start,
                row.name.to_ascii_lowercase(),
                known.join(" ")
            );
        }
    }
    out
}

/// An operand of a damaged binary, roughly as text has it.
fn operand(t: &Object, op: &Operand) -> String {
    let sign = |m: Modifier| match m {
        Modifier::None => "",
        Modifier::Abs => "(abs)",
        Modifier::Neg => "(-)",
        Modifier::NegAbs => "(-abs)",
        Modifier::Sat => "(sat)",
        Modifier::Not => "(~)",
    };
    let region = |r: Region| match (r.vstride(), r.width(), r.hstride()) {
        (None, None, Some(h)) => format!("<{h}>"),
        (v, w, h) => {
            let n = |x: Option<u32>| x.map_or("?".to_owned(), |x| x.to_string());
            format!("<{};{},{}>", n(v), n(w), n(h))
        }
    };
    let pred = |p: Pred| format!("{}P{}", if p.invert { "!" } else { "" }, p.id);
    match *op {
        Operand::Exec(e) => format!("({}, {})", e.mask.name(), 1u32 << e.log2.min(31)),
        Operand::Pred(p) | Operand::Predicate(p) => pred(p),
        Operand::General { var, row, col, region: r, modifier } => {
            format!("{}{}({row},{col}){}", sign(modifier), t.var_name(var), region(r))
        }
        Operand::Address { id, offset, width_log2, modifier } => {
            format!("{}A{id}({offset})<{}>", sign(modifier), 1u32 << width_log2.min(31))
        }
        Operand::Indirect { addr, offset, byte_offset, ty, region: r, modifier } => {
            format!("{}r[A{addr}({offset}),{byte_offset}]{}:{}", sign(modifier), region(r), ty.name())
        }
        Operand::AddressOf { var, offset } => format!("&{}[{offset}]", t.var_name(var)),
        Operand::Imm { ty, bits } => format!("{bits:#x}:{}", ty.name()),
        Operand::State { class, id, offset } => {
            let class = if class == StateClass::Surface { 'T' } else { 'S' };
            format!("{class}{id}({offset})")
        }
        Operand::Raw { var, offset } => format!("{}.{offset}", t.var_name(var)),
        Operand::Surface(n) => format!("T{n}"),
        Operand::Sampler(n) => format!("S{n}"),
        Operand::Handle { var, row, col, index } => {
            format!("{}({row},{col})<0;1,0>[{index}]", t.var_name(var))
        }
        Operand::Label(n) => format!("label {n}"),
        Operand::Str(n) => format!("{:?}", t.strings.get(n).unwrap_or("")),
        Operand::Int(n) => n.to_string(),
    }
}
