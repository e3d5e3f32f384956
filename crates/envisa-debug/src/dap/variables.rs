//! Values as variables of the protocol, and the objects that the protocol's numbers refer to.

use crate::c_expressions::parse;
use crate::eval::{LaneValues, Value};
use crate::lane_view::{Frame, LaneFrame};
use crate::session::{Focus, Session};
use crate::types::{Type, TypeId};
use envisa::Given;
use envisa::lower::VarHome;
use envisa::machine::group::log::Place;
use serde_json::{Value as Json, json};

/// What a number stands for.
#[derive(Clone, Debug)]
pub enum Referent {
    /// A scope of a frame.
    Scope(Scope, Focus, usize),
    /// Members or elements of a value, and how it is written.
    Parts(Value, String),
    /// What a pointer points to.
    Pointed(Value, String),
    /// A variable in each lane: its name.
    Lanes(String, Focus, usize),
    /// Some of the registers of vISA: which part of them.
    Registers(usize, Focus, usize),
    /// A buffer: address and bytes.
    Buffer(u64, u64, TypeId),
}

/// The scopes of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// Those of the lane that is looked at.
    Variables,
    /// The same in all lanes.
    AllLanes,
    /// Of the kernel.
    Arguments,
    /// Shared local memory.
    Local,
    /// Registers of vISA.
    Registers,
    /// Masks and where the thread stands.
    Masks,
    /// Memory.
    Buffers,
}

/// All of them, with their names.
pub const SCOPES: [(Scope, &str, bool); 7] = [
    (Scope::Variables, "Variables", false),
    (Scope::AllLanes, "All lanes", true),
    (Scope::Arguments, "Arguments", false),
    (Scope::Local, "Local memory", false),
    (Scope::Registers, "vISA registers", true),
    (Scope::Masks, "Flags and masks", false),
    (Scope::Buffers, "Buffers", false),
];

/// What numbers stand for, until something moves.
#[derive(Default)]
pub struct Shown {
    behind: Vec<Referent>,
    /// At the end of the launch it stops, rather than end.
    pub stays: bool,
}

/// Most registers of vISA that are shown beside each other; more are shown in parts.
const MAX_REGISTERS: usize = 256;
/// Most variables that one answer has.
const MAX_SHOWN: u64 = 256;

impl Shown {
    /// Nothing is known any more.
    pub fn forget(&mut self) {
        self.behind.clear();
    }

    /// A number for something.
    pub fn number(&mut self, behind: Referent) -> u64 {
        self.behind.push(behind);
        self.behind.len() as u64
    }

    /// What a number stands for.
    pub fn get(&self, number: u64) -> Option<&Referent> {
        self.behind.get((number as usize).checked_sub(1)?)
    }

    /// A value as a variable of the protocol.
    pub fn variable(&mut self, s: &Session<'_, '_>, name: &str, path: &str, value: &Value) -> Json {
        let types = s.types.borrow();
        let mut v = json!({
            "name": name,
            "value": types.show(value.ty, &value.bytes),
            "type": types.name(value.ty),
            "evaluateName": path,
            "variablesReference": 0,
        });
        let parts = match types.real(value.ty) {
            Type::Struct(_, _, fields) => {
                v["namedVariables"] = json!(fields.len());
                true
            }
            Type::Array(_, n) => {
                v["indexedVariables"] = json!(n);
                true
            }
            Type::Vector(_, n) => {
                v["indexedVariables"] = json!(n);
                true
            }
            Type::Pointer(to, _) => types.bytes(*to) > 0,
            _ => false,
        };
        let pointer = matches!(types.real(value.ty), Type::Pointer(..));
        drop(types);
        if parts {
            let (value, path) = (value.clone(), path.to_owned());
            let behind = if pointer { Referent::Pointed(value, path) } else { Referent::Parts(value, path) };
            v["variablesReference"] = json!(self.number(behind));
        }
        let address = match value.place {
            Some(Place::Flat(at)) => Some(at),
            Some(Place::Local(at)) => Some(at | 0x0a << 56),
            _ => None,
        };
        if let Some(address) = address {
            v["memoryReference"] = json!(format!("{address:#x}"));
        }
        v
    }

    /// The variables behind a number.
    pub fn variables(
        &mut self,
        s: &Session<'_, '_>,
        behind: &Referent,
        (start, count): (u64, u64),
    ) -> Result<Vec<Json>, String> {
        let count = if count == 0 { MAX_SHOWN } else { count.min(4096) };
        match behind {
            Referent::Scope(scope, focus, frame) => {
                let frames = s.frames(focus.thread);
                let of = frames.get(*frame).ok_or("the thread has no such frame")?.clone();
                Ok(self.scope(s, *scope, *focus, (*frame, &of)))
            }
            Referent::Parts(value, path) => Ok(self.parts(s, value, path, (start, count))),
            Referent::Pointed(value, path) => {
                let focus = s.focus;
                let frames = s.frames(focus.thread);
                let frame = frames.first().ok_or("there is no frame")?;
                let seen = LaneFrame { session: s, thread: focus.thread, lane: focus.lane, frame };
                let address = value.bytes.iter().rev().fold(0u64, |n, b| n << 8 | u64::from(*b));
                let place = seen.pointed(address);
                let to = match s.types.borrow().real(value.ty) {
                    Type::Pointer(to, _) => *to,
                    _ => return Err("it is not a pointer".into()),
                };
                let bytes = s.types.borrow().bytes(to);
                let bytes = seen.read(place, bytes)?;
                let value = Value { ty: to, bytes, place: Some(place) };
                Ok(vec![self.variable(s, &format!("*{path}"), &format!("*({path})"), &value)])
            }
            Referent::Registers(part, focus, frame) => {
                let frames = s.frames(focus.thread);
                let of = frames.get(*frame).ok_or("the thread has no such frame")?;
                let homes = s.registers(of).chunks(MAX_REGISTERS).nth(*part).unwrap_or_default();
                Ok(self.registers(s, *focus, homes))
            }
            Referent::Lanes(name, focus, frame) => Ok(self.lanes(s, name, *focus, *frame)),
            Referent::Buffer(address, bytes, ty) => {
                let size = s.types.borrow().bytes(*ty).max(1);
                let n = bytes / size;
                let mut all = Vec::new();
                for i in start..n.min(start.saturating_add(count)) {
                    let place = Place::Flat(address + i * size);
                    let value = Value { ty: *ty, bytes: s.read(place, size)?, place: Some(place) };
                    all.push(self.variable(s, &format!("[{i}]"), "", &value));
                }
                Ok(all)
            }
        }
    }

    fn parts(
        &mut self,
        s: &Session<'_, '_>,
        value: &Value,
        path: &str,
        (start, count): (u64, u64),
    ) -> Vec<Json> {
        let ty = s.types.borrow().real(value.ty).clone();
        let part = |ty: TypeId, offset: u64| {
            let n = s.types.borrow().bytes(ty) as usize;
            let from = offset as usize;
            let bytes = value.bytes.get(from..from.saturating_add(n)).unwrap_or_default().to_vec();
            Value { ty, bytes, place: value.place.map(|p| p.plus(offset)) }
        };
        match ty {
            Type::Struct(_, _, fields) => fields
                .iter()
                .map(|f| self.variable(s, &f.name, &format!("{path}.{}", f.name), &part(f.ty, f.offset)))
                .collect(),
            Type::Array(of, n) | Type::Vector(of, n) => {
                let vector = matches!(s.types.borrow().real(value.ty), Type::Vector(..));
                let size = s.types.borrow().bytes(of);
                (start..n.min(start.saturating_add(count)))
                    .map(|i| {
                        let (name, way) = match vector {
                            true => (format!("s{i:x}"), format!("{path}.s{i:x}")),
                            false => (format!("[{i}]"), format!("{path}[{i}]")),
                        };
                        self.variable(s, &name, &way, &part(of, size.saturating_mul(i)))
                    })
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    /// A variable in each lane of its thread.
    fn lanes(&mut self, s: &Session<'_, '_>, name: &str, focus: Focus, frame: usize) -> Vec<Json> {
        let Some(t) = s.paused.threads().get(focus.thread) else { return Vec::new() };
        let (dispatch, mask) = (t.dispatch, t.mask);
        let (frames, e) = (s.frames(focus.thread), parse(name));
        let mut all = Vec::new();
        for lane in (0..32).filter(|l| dispatch >> l & 1 != 0) {
            let at = Focus { lane, ..focus };
            let active = if mask >> lane & 1 != 0 { "" } else { " (inactive here)" };
            let label = format!("lane {lane}, {}{active}", s.lane_name(at));
            let value = match (&e, frames.get(frame)) {
                (Ok(e), Some(frame)) => s.evaluate_in(e, at, frame),
                (Err(why), _) => Err(why.clone()),
                (_, None) => Err("the thread has no such frame".into()),
            };
            all.push(match value {
                Ok(value) => {
                    let mut v = self.variable(s, &label, "", &value);
                    if !active.is_empty() {
                        v["presentationHint"] =
                            json!({ "attributes": ["readOnly"], "visibility": "protected" });
                    }
                    v
                }
                Err(why) => variable_without_value(&label, &why),
            });
        }
        all
    }

    fn scope(
        &mut self,
        s: &Session<'_, '_>,
        scope: Scope,
        focus: Focus,
        (index, frame): (usize, &Frame),
    ) -> Vec<Json> {
        match scope {
            Scope::Variables => {
                let mut all = Vec::new();
                for v in s.variables(frame) {
                    let value = s.value_of(&v, frame, focus.lane, &s.types.borrow());
                    all.push(match value {
                        Ok(value) => self.variable(s, &v.name, &v.name, &value),
                        Err(why) => variable_without_value(&v.name, &format!("<{why}>")),
                    });
                }
                all
            }
            Scope::AllLanes => {
                let variables = s.variables(frame);
                let one = |v: &crate::symbols::Variable| {
                    let number = self.number(Referent::Lanes(v.name.clone(), focus, index));
                    let ty = s.types.borrow().name(v.ty);
                    json!({ "name": v.name, "value": "each lane", "type": ty, "variablesReference": number })
                };
                variables.iter().map(one).collect()
            }
            Scope::Arguments => self.arguments(s),
            Scope::Local => self.local(s, focus, frame),
            Scope::Registers => {
                let homes = s.registers(frame);
                if homes.len() <= MAX_REGISTERS {
                    return self.registers(s, focus, homes);
                }
                let parts = homes.chunks(MAX_REGISTERS).enumerate();
                let one = |(k, part): (usize, &[VarHome])| {
                    let name = format!("{} … {}", part[0].name, part[part.len() - 1].name);
                    let number = self.number(Referent::Registers(k, focus, index));
                    let value = format!("{} registers", part.len());
                    json!({ "name": name, "value": value, "variablesReference": number, "namedVariables": part.len() })
                };
                parts.map(one).collect()
            }
            Scope::Masks => mask_variables(s, focus, frame),
            Scope::Buffers => {
                let env = &s.stage.view().env;
                let unknown = s.types.borrow().unknown();
                let byte = s.types.borrow_mut().named("uchar").unwrap_or(unknown);
                let mut all = Vec::new();
                for a in env.memory.iter().filter(|a| !a.private).take(MAX_SHOWN as usize) {
                    let bytes = a.block.len() as u64;
                    let number = self.number(Referent::Buffer(a.base, bytes, byte));
                    all.push(json!({
                        "name": env.names.of(a), "value": format!("{bytes} bytes at {:#x}", a.base),
                        "variablesReference": number, "indexedVariables": bytes,
                        "memoryReference": format!("{:#x}", a.base),
                    }));
                }
                all
            }
        }
    }

    fn registers(&mut self, s: &Session<'_, '_>, focus: Focus, homes: &[VarHome]) -> Vec<Json> {
        let mut all = Vec::new();
        for home in homes {
            let value = s.register(focus.thread, home, &mut s.types.borrow_mut());
            if let Some(value) = value {
                all.push(self.variable(s, &home.name, &home.name, &value));
            }
        }
        all
    }

    fn arguments(&mut self, s: &Session<'_, '_>) -> Vec<Json> {
        let arguments = s.stage.kernel().arguments();
        let mut all = Vec::new();
        for (a, given) in arguments.iter().zip(s.stage.given()) {
            let Some(given) = given else {
                all.push(variable_without_value(&a.name, "<not given>"));
                continue;
            };
            let of = a.type_name.trim_end_matches('*');
            let element = s.types.borrow_mut().named(of);
            let mut v = json!({ "name": a.name, "type": a.type_name, "variablesReference": 0, "evaluateName": a.name });
            match given {
                Given::Buffer { address, bytes } => {
                    v["value"] = json!(format!("{bytes} bytes at {address:#x}"));
                    v["memoryReference"] = json!(format!("{address:#x}"));
                    let byte = s.types.borrow_mut().named("uchar");
                    if let Some(ty) = element.or(byte) {
                        v["indexedVariables"] = json!(bytes / s.types.borrow().bytes(ty).max(1));
                        v["variablesReference"] = json!(self.number(Referent::Buffer(address, bytes, ty)));
                    }
                }
                Given::Local { offset, bytes } => {
                    v["value"] = json!(format!("{bytes} bytes of local memory from {offset} on"));
                }
                Given::Value(mut bytes) => match element {
                    Some(ty) => {
                        bytes.resize(s.types.borrow().bytes(ty) as usize, 0);
                        v = self.variable(s, &a.name, &a.name, &Value { ty, bytes, place: None });
                    }
                    None => v["value"] = json!(format!("{bytes:02x?}")),
                },
                Given::Other(what) => v["value"] = json!(what),
                _ => v["value"] = json!("?"),
            }
            all.push(v);
        }
        all
    }

    /// Variables in shared local memory, by name.
    fn local(&mut self, s: &Session<'_, '_>, focus: Focus, frame: &Frame) -> Vec<Json> {
        let mut all = Vec::new();
        for v in s.variables(frame) {
            let value = s.value_of(&v, frame, focus.lane, &s.types.borrow());
            if let Ok(value) = value
                && matches!(value.place, Some(Place::Local(_)))
            {
                all.push(self.variable(s, &v.name, &v.name, &value));
            }
        }
        if all.is_empty() {
            for v in s.stage.local_variables() {
                all.push(variable_without_value(&v.name, &format!("{} bytes from {} on", v.bytes, v.offset)));
            }
        }
        all
    }
}

/// A variable without a value.
fn variable_without_value(name: &str, why: &str) -> Json {
    json!({ "name": name, "value": why, "variablesReference": 0 })
}

fn mask_variables(s: &Session<'_, '_>, focus: Focus, frame: &Frame) -> Vec<Json> {
    let Some(t) = s.paused.threads().get(focus.thread) else { return Vec::new() };
    let one = |name: &str, value: String| json!({ "name": name, "value": value, "variablesReference": 0 });
    let simd = s.program().simd() as usize;
    let bits = |mask: u32| (0..simd).map(|l| if mask >> l & 1 != 0 { '1' } else { '.' }).collect::<String>();
    let mut all = vec![
        one("active lanes", bits(t.mask)),
        one("dispatched lanes", bits(t.dispatch)),
        one("state", format!("{:?}", t.status)),
        one("pc", frame.pc.to_string()),
        one("clock", s.paused.clock().to_string()),
    ];
    for (pc, mask) in t.waiting.iter() {
        all.push(one(&format!("wait at {pc}"), bits(mask)));
    }
    all
}
