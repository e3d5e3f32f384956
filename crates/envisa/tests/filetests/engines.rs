//! The engines that every case runs on, and how.
//!
//! Registers are read the same way on each: before every `ret` of the kernel, instructions are put in that store
//! them to a buffer. So they are seen as any later instruction sees them, whatever an optimiser made of the rest.

use super::case::{Case, Expect, begins_object};
use super::values::{self, Value};
use envisa::diag::{FileId, TextOptions, render_text};
use envisa::isa::{Module, ObjectKind, Platform, Type};
use envisa::text::{ParseOptions, parse};
use envisa::{ArgKey, Buffer, Config, Device, Error, Launch, LoadOptions, internals};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// An engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Engine {
    /// The interpreter as it runs with nobody watching: of what the optimiser made.
    Interpreter,
    /// The interpreter under an observer: instruction by instruction, as the kernel has them.
    Observed,
    /// Native code, where the CPU has what it needs.
    Native,
}

/// Every engine there is.
pub const ALL: &[Engine] = &[Engine::Interpreter, Engine::Observed, Engine::Native];

impl Engine {
    pub fn name(self) -> &'static str {
        match self {
            Engine::Interpreter => "interpreter",
            Engine::Observed => "observed interpreter",
            Engine::Native => "native code",
        }
    }
}

/// Names that cases do not use.
const DUMP: &str = "filetest_dump";
const WHERE: &str = "filetest_where";
/// Bytes of one store.
const STORE: u32 = 128;

/// A variable that is read at the end.
struct Read {
    name: String,
    /// Where it is in the dump.
    at: u32,
    bytes: u32,
    predicate: bool,
}

/// The registers that a case expects something of, in the order in which they are dumped.
fn reads(case: &Case, module: &Module) -> Result<(Vec<Read>, u32), String> {
    let object = module.objects.iter().find(|o| o.name == case.kernel).ok_or("the kernel is not there")?;
    let mut out: Vec<Read> = Vec::new();
    let mut end = 0u32;
    for e in &case.expect {
        if out.iter().any(|r| r.name == e.name) {
            continue;
        }
        let named = |name: u32| object.strings.get(name) == Some(e.name.as_str());
        let (bytes, predicate) = if let Some(v) = object.vars.iter().find(|v| named(v.name)) {
            (v.ty.size() * u32::from(v.elems), false)
        } else if object.predicates.iter().any(|p| named(p.name)) {
            (4, true)
        } else {
            // A buffer, or an error that is told of when it is compared.
            continue;
        };
        if predicate != e.ty.is_none() {
            return Err(format!("`{}`: predicates are expected without a type, variables with one", e.name));
        }
        out.push(Read { name: e.name.clone(), at: end, bytes, predicate });
        end += bytes.next_multiple_of(64);
    }
    Ok((out, end.next_multiple_of(STORE)))
}

/// How compiled kernels begin: floats round to nearest even and keep denormals.
const IEEE: &str = "or (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x4c0:ud";
/// Other modes: towards zero, up with all denormals flushed, down with those of `f` flushed, and not IEEE's.
const OTHERS: [u32; 4] = [0x4f0, 0x10, 0x460, 0x4c1];

/// The case with this instruction put before its first one.
fn beginning_with(case: &Case, instruction: &str) -> Case {
    let lines: Vec<&str> = case.text.lines().collect();
    let declares = |line: &str| line.is_empty() || line.starts_with('.') || line.starts_with("//");
    let first = case.lines.clone().find(|i| !declares(lines[*i].trim_start())).unwrap_or(case.lines.end);
    let text = [&lines[..first], &[instruction], &lines[first..], &[""]].concat().join("\n");
    Case { text, lines: case.lines.start..case.lines.end + 1, ..case.clone() }
}

/// The case's text with the instructions that dump registers.
fn instrumented(case: &Case, reads: &[Read], bytes: u32, grf: u32) -> String {
    if reads.is_empty() {
        return case.text.clone();
    }
    let (mut decls, mut dump) = (String::new(), String::new());
    let stores = bytes / STORE;
    let _ = writeln!(decls, ".decl {DUMP} v_type=G type=ub num_elts={bytes} align=GRFx2");
    let _ = writeln!(decls, ".decl {DUMP}_p v_type=G type=ud num_elts={} alias=<{DUMP}, 0>", bytes / 4);
    let _ = writeln!(decls, ".decl {WHERE} v_type=G type=uq num_elts={stores} align=GRF");
    for (i, r) in reads.iter().enumerate() {
        if r.predicate {
            let _ = writeln!(dump, "mov (M1, 1) {DUMP}_p({},{})<1> {}", r.at / grf, r.at % grf / 4, r.name);
            continue;
        }
        let _ =
            writeln!(decls, ".decl {DUMP}_{i} v_type=G type=ub num_elts={} alias=<{}, 0>", r.bytes, r.name);
        let mut at = 0;
        while at < r.bytes {
            let n = 1 << (r.bytes - at).min(16).ilog2();
            let (to, from) = (r.at + at, at);
            let region = if n == 1 { "<0;1,0>" } else { "<1;1,0>" };
            let _ = writeln!(
                dump,
                "mov (M1_NM, {n}) {DUMP}({},{})<1> {DUMP}_{i}({},{}){region}",
                to / grf,
                to % grf,
                from / grf,
                from % grf
            );
            at += n;
        }
    }
    for k in 0..stores {
        let (place, at) = (8 * k, STORE * k);
        let _ = writeln!(
            dump,
            "svm_block_st (8) {WHERE}({},{})<0;1,0> {DUMP}.{at}",
            place / grf,
            place % grf / 8
        );
    }
    let lines: Vec<&str> = case.text.lines().collect();
    let last_decl = case.lines.clone().rfind(|i| lines[*i].trim_start().starts_with(".decl"));
    let last_decl = last_decl.unwrap_or(case.lines.start);
    let mut out = String::new();
    for (i, line) in lines.iter().enumerate() {
        if case.lines.contains(&i) && !begins_object(line) {
            let code = line.trim_start();
            let code = match code.strip_prefix('(') {
                Some(predicated) => predicated.split_once(')').map_or("", |(_, rest)| rest.trim_start()),
                None => code,
            };
            if code == "ret" || code.starts_with("ret ") || code.starts_with("ret(") {
                out.push_str(&dump);
            }
        }
        out.push_str(line);
        out.push('\n');
        if i == last_decl {
            out.push_str(&decls);
        }
    }
    out
}

/// Gives the kernel's variables their values at the start, as inputs after those it has.
fn add_inputs(module: &mut Module, kernel: &str, names: &[&str]) -> Result<(), String> {
    let object = module.objects.iter_mut().find(|o| o.name == kernel).ok_or("the kernel is not there")?;
    let mut end =
        object.inputs.iter().map(|i| i.offset as i32 + i32::from(i.size)).max().unwrap_or(0).max(64);
    for name in names {
        let Some(k) = object.vars.iter().position(|v| object.strings.get(v.name) == Some(*name)) else {
            continue;
        };
        let id = envisa::isa::predefined::FIRST_VAR + k as u32;
        if object.inputs.iter().any(|i| i.kind & 7 == 0 && i.id == id) {
            continue;
        }
        let bytes = object.vars[k].ty.size() * u32::from(object.vars[k].elems);
        end = (end as u32).next_multiple_of(64) as i32;
        let (Ok(offset), Ok(size)) = (i16::try_from(end), bytes.try_into()) else {
            return Err(format!("`{name}` is too large to be given"));
        };
        let span = object.vars[k].span;
        object.inputs.push(envisa::isa::Input { kind: 0, id, offset, size, span });
        end += bytes as i32;
    }
    Ok(())
}

fn told(e: &Error) -> String {
    match e {
        Error::Diagnostics(d) => {
            let errors: Vec<_> = d.list.iter().filter(|d| d.is_error()).cloned().collect();
            render_text(&d.files, &errors, &TextOptions::default())
        }
        other => other.to_string(),
    }
}

fn bytes_of(buffers: &BTreeMap<String, Buffer>, ty: Type, given: &[Value]) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    for v in given {
        let bits = match v {
            Value::Bits(bits) => *bits,
            Value::Address(name, offset) => {
                let buffer = buffers.get(name).ok_or_else(|| format!("there is no buffer `{name}`"))?;
                buffer.address() + offset
            }
            Value::Nan | Value::Any => return Err("what is given has definite bits".into()),
        };
        out.extend_from_slice(&bits.to_le_bytes()[..ty.size() as usize]);
    }
    Ok(out)
}

/// Compares elements; says what differs first and how many do.
fn compare(e: &Expect, bytes: &[u8]) -> Result<(), String> {
    let ty = e.ty.unwrap_or(Type::Ud);
    let size = ty.size() as usize;
    let have = bytes.len() / size;
    if e.first + e.values.len() > have {
        return Err(format!("line {}: `{}` has {have} elements", e.line, e.name));
    }
    let got = |i: usize| values::read(ty, &bytes[(e.first + i) * size..]);
    let wrong: Vec<usize> =
        (0..e.values.len()).filter(|i| !values::agrees(ty, got(*i), &e.values[*i], e.ulps)).collect();
    let Some(first) = wrong.first() else { return Ok(()) };
    Err(format!(
        "line {}: {}[{}] is {}, not {}{}",
        e.line,
        e.name,
        e.first + first,
        values::show(ty, got(*first)),
        values::show_wanted(ty, &e.values[*first]),
        if wrong.len() > 1 {
            format!(" ({} of {} differ)", wrong.len(), e.values.len())
        } else {
            String::new()
        }
    ))
}

/// What a run left.
pub struct Left {
    /// The fault: its code, its message, and all of it as it is shown.
    fault: Option<(String, String, String)>,
    /// Variables, where the run came to its end, and buffers.
    content: BTreeMap<String, Vec<u8>>,
    variables: Vec<String>,
}

/// Runs a case on one platform, by native code and by the interpreter, with the floating-point mode of compiled kernels,
/// and where it has floats with others. (What the case expects is of the mode that it is written for.) Cases that set a
/// mode themselves are left alone.
pub fn compare_compiled(case: &Case, platform: Platform) -> Result<(), String> {
    if case.text.contains("%cr0") || case.fault.is_some() {
        return Ok(());
    }
    compare_beginning_with(case, platform, IEEE)?;
    let floats = ["f", "df", "hf", "bf"].map(|ty| format!("type={ty} "));
    if floats.iter().any(|ty| case.text.contains(ty)) {
        for mode in OTHERS {
            let sets = format!("mov (M1_NM, 1) %cr0(0,0)<1> {mode:#x}:ud");
            compare_beginning_with(case, platform, &sets).map_err(|e| format!("{e}, in mode {mode:#x}"))?;
        }
    }
    Ok(())
}

fn compare_beginning_with(case: &Case, platform: Platform, instruction: &str) -> Result<(), String> {
    let case = beginning_with(case, instruction);
    let [want, got] = [Engine::Interpreter, Engine::Native].map(|e| leaves(&case, platform, e));
    let (want, got) = (want?, got?);
    if want.fault != got.fault {
        return Err(format!("another fault than the interpreter's: {:?}, not {:?}", got.fault, want.fault));
    }
    for (name, want) in &want.content {
        let got = got.content.get(name).ok_or_else(|| format!("`{name}` is missing"))?;
        if let Some(k) = (0..want.len()).find(|k| got.get(*k) != want.get(*k)) {
            return Err(format!("byte {k} of `{name}` is {:#x}, not {:#x} as interpreted", got[k], want[k]));
        }
    }
    Ok(())
}

/// Runs a case on one platform and one engine.
pub fn run(case: &Case, platform: Platform, engine: Engine) -> Result<(), String> {
    let left = leaves(case, platform, engine)?;
    match (&case.fault, &left.fault) {
        (None, None) => {}
        (None, Some((_, _, shown))) => return Err(format!("it faults\n{shown}")),
        (Some((code, message)), None) => return Err(format!("no fault {code} ({message})")),
        (Some((code, message)), Some((got, says, shown))) => {
            if got != code.as_str() || !says.contains(message) {
                return Err(format!("another fault than {code} ({message})\n{shown}"));
            }
        }
    }
    let mut wrong = Vec::new();
    for e in &case.expect {
        if case.fault.is_some() && left.variables.contains(&e.name) {
            return Err(format!("line {}: registers are read at the end, which a fault prevents", e.line));
        }
        let bytes = left
            .content
            .get(&e.name)
            .ok_or_else(|| format!("line {}: there is no register or buffer `{}`", e.line, e.name))?;
        if let Err(e) = compare(e, bytes) {
            wrong.push(e);
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n  ")) }
}

/// Runs a case on one platform and one engine, to see what it leaves.
fn leaves(case: &Case, platform: Platform, engine: Engine) -> Result<Left, String> {
    let options = ParseOptions { platform: Some(platform), ..ParseOptions::default() };
    let mut files = envisa::diag::Files::new();
    let id = files.add_text(format!("{}.visaasm", case.name), case.text.clone().into_bytes());
    let parsed = parse(&case.text, id, &options);
    if !parsed.complete {
        return Err(render_text(&files, &parsed.diagnostics, &TextOptions::default()));
    }
    let (reads, dump_bytes) = reads(case, &parsed.module)?;
    if !reads.is_empty() && (case.threads > 1 || case.groups != [1; 3]) {
        return Err("registers are those of one thread; expect memory of several".into());
    }
    let text = instrumented(case, &reads, dump_bytes, platform.grf_bytes());
    let id = files.add_text(format!("{}.visaasm", case.name), text.clone().into_bytes());
    let parsed = parse(&text, id, &options);
    if !parsed.complete {
        return Err(render_text(&files, &parsed.diagnostics, &TextOptions::default()));
    }
    let mut module = parsed.module;
    // The file's other kernels are cases of their own, for platforms of their own.
    module.objects.retain(|o| o.kind != ObjectKind::Kernel || o.name == case.kernel);
    let mut names: Vec<&str> = case.given.iter().map(|g| g.name.as_str()).collect();
    names.push(WHERE);
    add_inputs(&mut module, &case.kernel, &names)?;
    let load = LoadOptions { verify: !case.unverified, ..LoadOptions::default() };
    let ids = vec![FileId(id.0); module.objects.len()];
    let device = Device::new(Config::new(platform).memory(64 << 20).threads(1));
    let kernel = internals::load(&device, &case.name, module, ids, files, &load)
        .and_then(|module| module.kernel(&case.kernel))
        .map_err(|e| told(&e))?;

    let mut buffers = BTreeMap::new();
    let is_variable = |name: &str| kernel.variable(name).is_some();
    for g in case.given.iter().filter(|g| !is_variable(&g.name)) {
        let mut content = bytes_of(&buffers, g.ty, &g.values)?;
        content.resize(g.len * g.ty.size() as usize, 0);
        let buffer = device.buffer_from(&g.name, &content).map_err(|e| told(&e))?;
        if buffers.insert(g.name.clone(), buffer).is_some() {
            return Err(format!("`{}` is given twice", g.name));
        }
    }
    let mut launch = Launch::threads(&case.groups, case.threads);
    for g in case.given.iter().filter(|g| is_variable(&g.name)) {
        launch = launch.arg(g.name.as_str(), bytes_of(&buffers, g.ty, &g.values)?);
    }
    for (name, buffer) in &buffers {
        if let Some(bti) = name.strip_prefix("bti:") {
            let bti = bti.parse().map_err(|_| format!("`{name}` is not a binding-table index"))?;
            launch = launch.arg(ArgKey::Surface(bti), buffer);
        } else if kernel.argument(name).is_some() {
            launch = launch.arg(name.as_str(), buffer);
        }
    }
    let dump = device.buffer("registers", u64::from(dump_bytes.max(STORE))).map_err(|e| told(&e))?;
    if !reads.is_empty() {
        let base = dump.address();
        let places = (0..dump_bytes / STORE).flat_map(|k| (base + u64::from(k * STORE)).to_le_bytes());
        launch = launch.arg(WHERE, places.collect::<Vec<u8>>());
    }
    let launch = match engine {
        Engine::Interpreter => launch.engine(envisa::Engine::Interpreter),
        Engine::Native => launch.engine(envisa::Engine::Native),
        // Anything that wants to be told does.
        Engine::Observed => launch.statistics(true),
    };
    let outcome = device.run(&kernel, &launch).map_err(|e| told(&e))?;

    let shown = |d| render_text(kernel.files(), &[d], &TextOptions::default());
    let fault = outcome.fault.map(|f| f.diagnostic());
    let fault = fault.map(|d| (d.code.to_string(), d.message.to_string(), shown(d)));
    let dumped = dump.to_vec();
    let variables = reads.iter().map(|r| r.name.clone()).collect();
    let registers =
        reads.iter().map(|r| (r.name.clone(), dumped[r.at as usize..(r.at + r.bytes) as usize].to_vec()));
    let content = buffers.iter().map(|(name, b)| (name.clone(), b.to_vec())).chain(registers).collect();
    Ok(Left { fault, content, variables })
}
