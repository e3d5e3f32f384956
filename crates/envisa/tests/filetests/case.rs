//! Cases as files say them: lines `//: …` of a kernel.

use super::values::{self, Value};
use envisa::isa::{Platform, Type};

/// A kernel with what it is given and what it must leave.
#[derive(Clone, Debug)]
pub struct Case {
    /// `file` without its ending, and `:kernel` if several kernels of the file are cases.
    pub name: String,
    /// The file's text.
    pub text: String,
    /// The kernel.
    pub kernel: String,
    /// Lines of the kernel: from `.kernel` up to what follows it.
    pub lines: std::ops::Range<usize>,
    /// Where it runs.
    pub platforms: Vec<Platform>,
    /// Threads of a group.
    pub threads: u32,
    /// Groups in x, y and z.
    pub groups: [u32; 3],
    /// What the rules of the verifier say of it does not matter.
    pub unverified: bool,
    /// Registers and buffers, as they are before.
    pub given: Vec<Given>,
    /// Registers and buffers, as they are afterwards.
    pub expect: Vec<Expect>,
    /// Code and part of the message of the fault that must stop it.
    pub fault: Option<(String, String)>,
}

/// What a register or a buffer holds before.
#[derive(Clone, Debug)]
pub struct Given {
    pub name: String,
    pub ty: Type,
    /// Elements; of buffers, those that no value is given for are zero.
    pub len: usize,
    pub values: Vec<Value>,
}

/// What a register, a predicate or a buffer must hold afterwards.
#[derive(Clone, Debug)]
pub struct Expect {
    /// Line of the file, from 1.
    pub line: usize,
    pub name: String,
    /// `None`: a predicate.
    pub ty: Option<Type>,
    /// Element that the first value is for.
    pub first: usize,
    /// Units in the last place.
    pub ulps: u32,
    pub values: Vec<Value>,
}

/// `name[n]`, the number optional.
fn counted(text: &str) -> Result<(&str, Option<usize>), String> {
    match text.trim().split_once('[') {
        None => Ok((text.trim(), None)),
        Some((name, rest)) => {
            let n = rest.strip_suffix(']').and_then(|n| n.trim().parse().ok());
            let n = n.filter(|n| *n <= 1 << 24).ok_or_else(|| format!("`{text}`: a number in brackets"))?;
            Ok((name.trim(), Some(n)))
        }
    }
}

/// `NAME:type`, the type optional; either may have a number in brackets.
struct Place {
    name: String,
    element: Option<usize>,
    ty: Option<Type>,
    len: Option<usize>,
}

fn place(text: &str) -> Result<Place, String> {
    // Of `bti:3:ud` the first colon belongs to the name.
    let (name, ty) = text.rsplit_once(':').map_or((text, None), |(name, ty)| (name, Some(ty)));
    let (name, element) = counted(name)?;
    let (ty, len) = match ty {
        None => (None, None),
        Some(ty) => {
            let (ty, len) = counted(ty)?;
            (Some(values::type_of(ty).ok_or_else(|| format!("there is no type `{ty}`"))?), len)
        }
    };
    Ok(Place { name: name.to_owned(), element, ty, len })
}

fn platforms(text: &str) -> Result<Vec<Platform>, String> {
    let mut out = Vec::new();
    for word in text.split([' ', ',']).filter(|w| !w.is_empty()) {
        let (name, up) = word.strip_suffix('+').map_or((word, false), |n| (n, true));
        if word == "all" {
            out.extend(Platform::ALL);
            continue;
        }
        let first = Platform::from_name(name).ok_or_else(|| format!("there is no platform `{name}`"))?;
        out.extend(Platform::ALL.into_iter().filter(|p| *p == first || up && *p > first));
    }
    if out.is_empty() { Err("`run` names platforms".into()) } else { Ok(out) }
}

/// The name that a `.kernel` line gives.
fn kernel_name(line: &str) -> Option<String> {
    let rest = line.trim_start().strip_prefix(".kernel")?;
    let rest = rest.strip_prefix([' ', '\t'])?.trim();
    let name = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next()?,
        None => rest.split([' ', '\t', '/']).next()?,
    };
    Some(name.to_owned())
}

/// Does a line begin another object?
pub fn begins_object(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with(".kernel ") || line.starts_with(".kernel\t") || line.starts_with(".global_function")
}

impl Case {
    /// All cases of a file. Lines before its first kernel hold for each of its kernels.
    pub fn all(file: &str, text: &str) -> Result<Vec<Case>, String> {
        let lines: Vec<&str> = text.lines().collect();
        let starts: Vec<usize> = (0..lines.len()).filter(|i| begins_object(lines[*i])).collect();
        let empty = |name: String, lines| Case {
            name: String::new(),
            text: text.to_owned(),
            kernel: name,
            lines,
            platforms: Vec::new(),
            threads: 1,
            groups: [1; 3],
            unverified: false,
            given: Vec::new(),
            expect: Vec::new(),
            fault: None,
        };
        let read = |case: &mut Case, range: std::ops::Range<usize>| {
            for i in range {
                if let Some(said) = lines[i].trim_start().strip_prefix("//:") {
                    case.line(i + 1, said.trim()).map_err(|e| format!("line {}: {e}", i + 1))?;
                }
            }
            Ok::<(), String>(())
        };
        let mut out = Vec::new();
        let first = starts.first().copied().unwrap_or(lines.len());
        for (k, start) in starts.iter().enumerate() {
            let Some(kernel) = kernel_name(lines[*start]) else { continue };
            let end = starts.get(k + 1).copied().unwrap_or(lines.len());
            let mut case = empty(kernel, *start..end);
            read(&mut case, 0..first)?;
            read(&mut case, *start..end)?;
            if case.expect.is_empty() && case.fault.is_none() {
                continue;
            }
            if case.platforms.is_empty() {
                return Err(format!("kernel `{}`: no line `//: run PLATFORMS`", case.kernel));
            }
            out.push(case);
        }
        let one = out.len() == 1;
        for case in &mut out {
            case.name = if one { file.to_owned() } else { format!("{file}:{}", case.kernel) };
        }
        Ok(out)
    }

    fn line(&mut self, line: usize, said: &str) -> Result<(), String> {
        let (word, rest) = said.split_once([' ', '\t']).unwrap_or((said, ""));
        let rest = rest.trim();
        let count =
            |w: &str| w.parse::<u32>().ok().filter(|n| (1..=64).contains(n)).ok_or("1 to 64 are expected");
        match word {
            "run" => self.platforms = platforms(rest)?,
            "threads" => self.threads = count(rest)?,
            "groups" => {
                self.groups = [1; 3];
                for (i, w) in rest.split_whitespace().enumerate() {
                    *self.groups.get_mut(i).ok_or("three numbers are expected")? = count(w)?;
                }
            }
            "unverified" => self.unverified = true,
            "given" => {
                let (what, list) = rest.split_once('=').ok_or("`given NAME:type = values`")?;
                let Place { name, element, ty, len } = place(what)?;
                let ty = ty.ok_or("a type is expected: `given NAME:type = values`")?;
                if element.is_some() {
                    return Err("values are given from the first element on".into());
                }
                let values = values::list(ty, list)?;
                if values.iter().any(|v| matches!(v, Value::Any | Value::Nan)) {
                    return Err("what is given has definite bits".into());
                }
                let len = len.unwrap_or(values.len());
                if values.len() > len {
                    return Err(format!("{} values for {len} elements", values.len()));
                }
                self.given.push(Given { name, ty, len, values });
            }
            "expect" => {
                if let Some(fault) = rest.strip_prefix("fault ") {
                    let (code, message) =
                        fault.trim().split_once(' ').ok_or("`expect fault CODE message`")?;
                    self.fault = Some((code.into(), message.trim().into()));
                    return Ok(());
                }
                let (what, list) = rest.split_once('=').ok_or("`expect NAME:type = values`")?;
                let (what, ulps) = match what.split_once('~') {
                    None => (what, 0),
                    Some((what, n)) => (what, n.trim().parse().map_err(|_| "`~` and a number of ulps")?),
                };
                let Place { name, element: first, ty, len } = place(what)?;
                if len.is_some() {
                    return Err("`expect NAME[first element]:type`".into());
                }
                let values = values::list(ty.unwrap_or(Type::Ud), list)?;
                if values.is_empty() || values.iter().all(|v| *v == Value::Any) {
                    return Err("nothing is expected".into());
                }
                if values.iter().any(|v| matches!(v, Value::Address(..))) {
                    return Err("an address is not known beforehand".into());
                }
                if ty.is_none() && (values.len() != 1 || first.is_some()) {
                    return Err("a predicate has one value; others have a type".into());
                }
                self.expect.push(Expect { line, name, ty, first: first.unwrap_or(0), ulps, values });
            }
            other => {
                return Err(format!("`{other}` is none of run, threads, groups, unverified, given, expect"));
            }
        }
        Ok(())
    }
}
