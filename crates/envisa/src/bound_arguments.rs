//! Checks the sizes and arguments of a launch against the kernel, and prepares them for the machine.

use crate::device::Device;
use crate::error::Error;
use crate::kernel::{Argument, ArgumentKind, Code};
use crate::launch::{Arg, ArgKey, Dims, Launch, Sizes};
use envisa_diag::did_you_mean;
use envisa_lower::{InputClass, InputSlot};
use envisa_machine::dispatch::{self, Sampler};
use envisa_machine::memory::{BufferSurface, Memory, Surface, SurfaceTable};

/// Where a binding of hand-written code that the caller did not number goes: from here up, so that numbered
/// ones stay free.
const FIRST_FREE_BTI: u32 = 240;
/// Shared local memory of hand-written code whose launch does not say it.
const DEFAULT_LOCAL_MEMORY: u64 = 64 << 10;

/// A launch, checked.
pub(crate) enum BoundLaunch {
    /// Of a compiled kernel.
    Range(dispatch::Launch),
    /// Of hand-written code.
    Threads(Box<BoundThreads>),
}

pub(crate) struct BoundThreads {
    pub groups: [u32; 3],
    pub threads: u32,
    /// Registers from r0 on.
    pub image: Vec<u8>,
    pub surfaces: SurfaceTable,
    pub samplers: Vec<Option<dispatch::Sampler>>,
    pub local_memory: u64,
}

/// Holds a launch against a kernel.
pub(crate) fn bind(device: &Device, code: &Code, launch: &Launch) -> Result<BoundLaunch, Error> {
    let foreign = launch.args.iter().find_map(|(_, arg)| match arg {
        Arg::Buffer(b) | Arg::Within(b) if !b.is_of(device) => Some("buffer"),
        Arg::Image(i) if !i.buffer().is_of(device) => Some("image"),
        _ => None,
    });
    if let Some(what) = foreign {
        return Err(Error::Foreign(what));
    }
    match (&launch.sizes, &code.metadata) {
        (Sizes::Range { global, local }, Some(_)) => {
            range(device.0.memory(), code, launch, global, local).map(BoundLaunch::Range)
        }
        (Sizes::Threads { groups, threads }, None) => {
            thread_groups(device.0.memory(), code, launch, groups, *threads)
                .map(|b| BoundLaunch::Threads(Box::new(b)))
        }
        (Sizes::Range { .. }, None) => Err(Error::Launch(
            "hand-written code has no work-items: launch thread groups instead of a range".into(),
        )),
        (Sizes::Threads { .. }, Some(_)) => Err(Error::Launch(
            "a compiled kernel is launched by a range of work-items, not by threads".into(),
        )),
    }
}

fn range(
    memory: &Memory,
    code: &Code,
    launch: &Launch,
    global: &Dims,
    local: &Dims,
) -> Result<dispatch::Launch, Error> {
    let dims = global.count();
    if !(1..=3).contains(&dims) {
        return Err(Error::Launch(format!("{dims} global sizes: there are 1 to 3 dimensions")));
    }
    for (what, n) in [("local", local.count()), ("offset", launch.offset.count())] {
        if n != 0 && n != dims {
            return Err(Error::Launch(format!("global has {dims} dimensions, {what} has {n}")));
        }
    }
    if launch.local_memory.is_some() {
        return Err(Error::Launch("a compiled kernel states how much local memory its groups have".into()));
    }
    let args = arguments(memory, code, launch)?;
    let mut out = dispatch::Launch { dims: dims as u32, global: [1; 3], local: [1; 3], offset: [0; 3], args };
    out.global[..dims].copy_from_slice(global.numbers());
    out.offset[..launch.offset.count()].copy_from_slice(launch.offset.numbers());
    if local.count() > 0 {
        for (to, from) in out.local.iter_mut().zip(local.numbers()) {
            // What does not fit is refused as too large a group.
            *to = u32::try_from(*from).unwrap_or(u32::MAX);
        }
    } else if let Some(required) = code.attributes.required_group_size {
        out.local = required;
    } else {
        let n = out.global[0];
        out.local[0] = (1..=256u32).rev().find(|d| n.is_multiple_of(u64::from(*d))).unwrap_or(1);
    }
    Ok(out)
}

/// Arguments of a compiled kernel, by index.
fn arguments(memory: &Memory, code: &Code, launch: &Launch) -> Result<Vec<dispatch::Arg>, Error> {
    let mut args = Vec::with_capacity(code.arguments.len());
    // Most callers give all of them in their order.
    let at = |(i, (key, _)): (usize, &(ArgKey, Arg))| *key == ArgKey::Index(i as u32);
    if launch.args.len() == code.arguments.len() && launch.args.iter().enumerate().all(at) {
        for (a, (_, arg)) in code.arguments.iter().zip(&launch.args) {
            args.push(argument(memory, a, arg)?);
        }
        return Ok(args);
    }
    let mut given: Vec<Option<&Arg>> = vec![None; code.arguments.len()];
    for (key, arg) in &launch.args {
        let at = find(code, key)?;
        if given[at].replace(arg).is_some() {
            return Err(Error::argument(&*code.arguments[at].name, "is given twice"));
        }
    }
    check_given(&code.arguments, &given.iter().map(Option::is_some).collect::<Vec<_>>())?;
    for (a, arg) in code.arguments.iter().zip(given) {
        args.push(arg.map_or(Ok(dispatch::Arg::Null), |arg| argument(memory, a, arg))?);
    }
    Ok(args)
}

/// Names the arguments that are missing.
pub(crate) fn check_given(arguments: &[Argument], given: &[bool]) -> Result<(), Error> {
    let missing: Vec<String> = arguments
        .iter()
        .zip(given)
        .filter(|(a, given)| !**given && a.kind != ArgumentKind::Unused)
        .map(|(a, _)| format!("`{}`{}", a.name, a.of_type()))
        .collect();
    match &missing[..] {
        [] => Ok(()),
        [one] => Err(Error::Launch(format!("argument {one} is not given"))),
        all => Err(Error::Launch(format!("arguments are not given: {}", all.join(", ")))),
    }
}

/// The place of an argument among those of its kernel.
pub(crate) fn find(code: &Code, key: &ArgKey) -> Result<usize, Error> {
    let found = match key {
        ArgKey::Name(name) => code.arguments.iter().position(|a| a.name == *name),
        ArgKey::Index(i) => Some(*i as usize).filter(|i| *i < code.arguments.len()),
        ArgKey::Surface(_) | ArgKey::Sampler(_) | ArgKey::Counter(_) | ArgKey::ReturnBuffer(_) => {
            return Err(Error::argument(key.to_string(), "a compiled kernel states what it binds"));
        }
    };
    found.ok_or_else(|| {
        let names: Vec<&str> = code.arguments.iter().map(|a| a.name.as_str()).collect();
        let key = key.to_string();
        let some = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        let near = did_you_mean(&key, names);
        if code.metadata.is_some() {
            Error::Launch(format!("the kernel has no argument `{key}`; it takes {some}{near}"))
        } else {
            Error::argument(key, format!("the kernel has no such input or surface; it has {some}{near}"))
        }
    })
}

/// One argument of a compiled kernel.
fn argument(memory: &Memory, a: &Argument, arg: &Arg) -> Result<dispatch::Arg, Error> {
    let takes = |what: &str| {
        let ty = a.of_type();
        Err(Error::argument(&*a.name, format!("the kernel takes {what}{ty}, not {}", arg.kind())))
    };
    let buffer = |b: &crate::Buffer| {
        let (a, offset) = b.allocation();
        dispatch::Arg::Part(a.id, offset, b.len())
    };
    match (a.kind, arg) {
        (ArgumentKind::Value { bytes, payload_bytes }, Arg::Bytes(value)) => {
            value_bytes(a, value, bytes, payload_bytes).map(dispatch::Arg::Value)
        }
        (ArgumentKind::Value { .. }, _) => takes("a value"),
        (ArgumentKind::Buffer | ArgumentKind::Unused, Arg::Buffer(b)) => Ok(buffer(b)),
        (ArgumentKind::Buffer | ArgumentKind::Unused, Arg::Within(b)) => {
            let (a, offset) = b.allocation();
            Ok(dispatch::Arg::Buffer(a.id, offset))
        }
        (ArgumentKind::Buffer | ArgumentKind::Unused, Arg::Null) => Ok(dispatch::Arg::Null),
        (ArgumentKind::Buffer | ArgumentKind::Unused, Arg::Pointer(address)) => pointer(memory, a, *address),
        (ArgumentKind::Buffer, _) => takes("a buffer"),
        (ArgumentKind::Local, Arg::Local(bytes)) => Ok(dispatch::Arg::Local(*bytes)),
        (ArgumentKind::Local, _) => takes("local memory"),
        (ArgumentKind::Image, Arg::Image(i)) => Ok(dispatch::Arg::Image(i.machine())),
        (ArgumentKind::Image, _) => takes("an image"),
        (ArgumentKind::Sampler, Arg::Sampler(s)) => Ok(dispatch::Arg::Sampler(*s)),
        (ArgumentKind::Sampler, _) => takes("a sampler"),
        // The kernel does not look at it.
        (ArgumentKind::Unused, _) => Ok(dispatch::Arg::Null),
        (ArgumentKind::Input { .. } | ArgumentKind::Surface, _) => takes("nothing of a range's launch"),
    }
}

/// A pointer into the buffer that an address lies in; the address behind its last byte counts as inside.
fn pointer(memory: &Memory, a: &Argument, address: u64) -> Result<dispatch::Arg, Error> {
    if address == 0 {
        return Ok(dispatch::Arg::Null);
    }
    let map = memory.map();
    let inside = |m: &&envisa_machine::memory::Allocation| {
        address.checked_sub(m.base).is_some_and(|offset| offset <= m.block.len() as u64)
    };
    match map.iter().find(inside) {
        Some(m) => Ok(dispatch::Arg::Buffer(m.id, address - m.base)),
        None => Err(Error::argument(&*a.name, format!("{address:#x} is in no buffer"))),
    }
}

/// A value's bytes, of the size that the source or at least the payload says.
fn value_bytes(a: &Argument, value: &[u8], bytes: u32, payload_bytes: u32) -> Result<Vec<u8>, Error> {
    let (n, bytes, payload) = (value.len() as u64, u64::from(bytes), u64::from(payload_bytes));
    let wrong = |takes: u64| {
        let message = format!("the kernel takes {takes} bytes{}, not {n}", a.of_type());
        Err(Error::argument(&*a.name, message))
    };
    if bytes != 0 {
        // A vector of three takes the place of four.
        if a.type_name.ends_with('3') && n * 4 == bytes * 3 {
            let mut padded = value.to_vec();
            padded.resize(bytes as usize, 0);
            return Ok(padded);
        }
        if n != bytes {
            return wrong(bytes);
        }
    } else if n == 0 || (payload != 0 && n.next_multiple_of(4) != payload.next_multiple_of(4)) {
        return wrong(payload);
    }
    Ok(value.to_vec())
}

fn thread_groups(
    memory: &Memory,
    code: &Code,
    launch: &Launch,
    groups: &[u32],
    threads: u32,
) -> Result<BoundThreads, Error> {
    if groups.len() > 3 {
        return Err(Error::Launch(format!("{} dimensions of groups: there are 1 to 3", groups.len())));
    }
    if launch.offset.count() > 0 {
        return Err(Error::Launch("thread groups have no offset: they have no global ids".into()));
    }
    let inputs = code.program().inputs();
    let end = |i: &InputSlot| (i.image as usize).saturating_add(i.bytes as usize);
    let bytes = inputs.iter().map(end).max().unwrap_or(0).max(64);
    let mut bound = BoundThreads {
        groups: [1; 3],
        threads,
        image: vec![0; bytes.next_multiple_of(64)],
        surfaces: SurfaceTable::default(),
        samplers: Vec::new(),
        local_memory: launch.local_memory.unwrap_or(DEFAULT_LOCAL_MEMORY),
    };
    bound.groups[..groups.len()].copy_from_slice(groups);
    let (mut free, mut seen) = (FIRST_FREE_BTI, Vec::new());
    for (key, arg) in &launch.args {
        let wrong = |what: &str| Err(Error::argument(key.to_string(), what));
        // An input has a name and an index.
        let same = match key {
            ArgKey::Name(_) => ArgKey::Index(find(code, key)? as u32),
            key => key.clone(),
        };
        if seen.contains(&same) {
            return wrong("is given twice");
        }
        seen.push(same);
        let input = match key {
            ArgKey::Surface(bti) => {
                let Some(surface) = surface(arg) else {
                    return wrong("a buffer or an image can be bound");
                };
                if !bound.surfaces.bind_surface(memory, *bti, surface) {
                    return wrong("there is no such binding-table index");
                }
                continue;
            }
            ArgKey::Counter(_) | ArgKey::ReturnBuffer(_) => {
                let Some(Surface::Buffer(buffer)) = surface(arg) else {
                    return wrong("a buffer is expected");
                };
                let taken = match key {
                    ArgKey::Counter(bti) => bound.surfaces.bind_counter(memory, *bti, buffer),
                    ArgKey::ReturnBuffer(0) => return wrong("a unit has at least one byte"),
                    ArgKey::ReturnBuffer(_) if bound.surfaces.urb().is_some() => {
                        return wrong("there is one unified return buffer");
                    }
                    ArgKey::ReturnBuffer(unit) => bound.surfaces.bind_urb(memory, buffer, *unit),
                    _ => false,
                };
                if !taken {
                    return wrong("there is no such binding-table index");
                }
                continue;
            }
            ArgKey::Sampler(index) => match arg {
                Arg::Sampler(s) if *index < 256 => {
                    let index = *index as usize;
                    bound.samplers.resize(bound.samplers.len().max(index + 1), None);
                    bound.samplers[index] = Some(*s);
                    continue;
                }
                _ => return wrong("a sampler of an index below 256 is expected"),
            },
            // Arguments are the inputs, in their order.
            ArgKey::Name(_) | ArgKey::Index(_) => &inputs[find(code, key)?],
        };
        bound.input(memory, input, arg, &mut free).map_err(|what| Error::argument(&*input.name, what))?;
    }
    Ok(bound)
}

impl BoundThreads {
    /// Gives an input its value.
    fn input(&mut self, memory: &Memory, input: &InputSlot, arg: &Arg, free: &mut u32) -> Result<(), String> {
        if input.image < 32 {
            return Err("it lies in r0, which the machine fills; declare it with `offset=32` or more".into());
        }
        let value = match (input.class, arg) {
            (InputClass::General, Arg::Bytes(b)) => b.clone(),
            (InputClass::General, Arg::Buffer(b) | Arg::Within(b)) => b.address().to_le_bytes().to_vec(),
            (InputClass::General, Arg::Null) => vec![0; 8],
            (InputClass::General, Arg::Pointer(address)) => address.to_le_bytes().to_vec(),
            // The address of its state.
            (InputClass::General, arg @ Arg::Image(_)) if input.bytes == 8 => {
                let handle = SurfaceTable::handle(self.surface(memory, arg, free)?);
                u64::from(handle.ok_or("there are too many surfaces")?).to_le_bytes().to_vec()
            }
            (InputClass::General, Arg::Sampler(s)) if input.bytes == 8 => {
                u64::from(Sampler::handle(self.sampler(*s))).to_le_bytes().to_vec()
            }
            (InputClass::General, _) => {
                return Err("a value or a buffer is expected, in 8 bytes also an image or a sampler".into());
            }
            (InputClass::Surface, arg) => self.surface(memory, arg, free)?.to_le_bytes().to_vec(),
            (InputClass::Sampler, Arg::Sampler(s)) => self.sampler(*s).to_le_bytes().to_vec(),
            (InputClass::Sampler, _) => return Err("it is a sampler".into()),
        };
        if value.len() > input.bytes as usize {
            return Err(format!("{} bytes are given, the input has {}", value.len(), input.bytes));
        }
        let at = input.image as usize;
        self.image[at..at + value.len()].copy_from_slice(&value);
        Ok(())
    }

    /// Binds a surface that no index names; gives the index it gets.
    fn surface(&mut self, memory: &Memory, arg: &Arg, free: &mut u32) -> Result<u32, String> {
        let Some(surface) = surface(arg) else {
            return Err("it is a surface: a buffer or an image is expected".into());
        };
        if !self.surfaces.bind_surface(memory, *free, surface) {
            return Err("there are too many surfaces".into());
        }
        *free += 1;
        Ok(*free - 1)
    }

    /// Gives a sampler the next index.
    fn sampler(&mut self, sampler: Sampler) -> u32 {
        self.samplers.push(Some(sampler));
        self.samplers.len() as u32 - 1
    }
}

fn surface(arg: &Arg) -> Option<Surface> {
    match arg {
        Arg::Buffer(b) | Arg::Within(b) => {
            let (a, offset) = b.allocation();
            Some(Surface::Buffer(BufferSurface::part_of(a, offset, b.len())))
        }
        Arg::Image(image) => Some(Surface::Image(image.machine())),
        _ => None,
    }
}
