//! Kernels and their launches.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;

use opencl_sys as cl;

use super::command_order;
use super::context::PointerKind;
use super::error::{Error, Result};
use super::event::Event;
use super::handle::{Object, Slot};
use super::host_memory::{Backing, Region};
use super::maps::report_mapped_changes;
use super::mem::{Mem, Sampler};
use super::platform::{BASE_ALIGN, Device, MAX_GROUP};
use super::program::Program;
use super::queue::{Order, Queue};
use crate::api::note_reason;
use crate::device::{
    self, Addresses, Addressing, ArgKind, ImageShape, ImageValue, KernelInfo, LaunchProblem, Module, Range,
    Value,
};
use envisa_runtime::guarded_host_memory;
use envisa_runtime::launch::{self, Launch};
use envisa_runtime::memory_in_use::{self, Use};

/// A kernel with its arguments.
pub struct Kernel {
    slot: Slot,
    /// What it is from.
    pub program: Arc<Program>,
    /// What is known of it.
    pub info: KernelInfo,
    /// What runs on each of the program's devices, where it was built.
    built: Vec<Option<Built>>,
    args: Mutex<Vec<Option<Arg>>>,
    /// Shared memory that it may reach by pointers in memory.
    pub indirect: Indirect,
    /// Addresses that `clSetKernelExecInfo` named.
    pub named: Mutex<Vec<usize>>,
}

/// A kernel on one of its devices.
struct Built {
    module: Arc<Module>,
    /// Where it stands among the module's kernels, if it is one of them.
    at: Option<usize>,
    /// Ready to be launched, once it was.
    loaded: OnceLock<device::Kernel>,
}

impl Built {
    fn new(module: Arc<Module>, name: &str) -> Built {
        let at = module.kernels.iter().position(|k| k.name == name);
        Built { module, at, loaded: OnceLock::new() }
    }
}

/// Kinds of shared memory that a kernel may reach without being given it.
#[derive(Default, Debug)]
pub struct Indirect {
    /// Of `clHostMemAllocINTEL`.
    pub host: AtomicBool,
    /// Of `clDeviceMemAllocINTEL`.
    pub device: AtomicBool,
    /// Of `clSharedMemAllocINTEL`.
    pub shared: AtomicBool,
}

impl Indirect {
    /// Whether the kernel may reach some of it: its host speaks Intel's extension.
    pub fn any(&self) -> bool {
        [&self.host, &self.device, &self.shared].iter().any(|kind| kind.load(Ordering::Relaxed))
    }
}

/// A value that was set. Memory objects are not kept alive by it, as the standard has it.
#[derive(Clone)]
pub enum Arg {
    /// A buffer or image.
    Mem(Weak<Mem>),
    /// No memory.
    Null,
    /// Shared memory.
    Pointer(usize),
    /// A value's bytes.
    Bytes(Arc<[u8]>),
    /// Shared local memory.
    Local(usize),
    /// A sampler.
    Sampler(Arc<Sampler>),
}

impl Object for Kernel {
    const INVALID: Error = Error::INVALID_KERNEL;
    fn slot(&self) -> &Slot {
        &self.slot
    }
}

impl Kernel {
    /// A kernel of a program.
    ///
    /// # Errors
    /// If the program was not built, or has no such kernel.
    pub fn new(program: &Arc<Program>, name: &str) -> Result<Arc<Kernel>> {
        let modules: Vec<_> = program.devices.iter().map(|d| program.module(d)).collect();
        if modules.iter().all(Option::is_none) {
            return Err(Error::INVALID_PROGRAM_EXECUTABLE);
        }
        let find = |m: &Arc<Module>| m.kernels.iter().find(|k| k.name == name).cloned();
        let info = modules.iter().flatten().find_map(find).ok_or(Error::INVALID_KERNEL_NAME)?;
        let built = |m: Option<Arc<Module>>| m.map(|m| Built::new(m, name));
        Ok(Kernel::of(program, info, modules.into_iter().map(built).collect(), Vec::new()))
    }

    fn of(
        program: &Arc<Program>,
        info: KernelInfo,
        built: Vec<Option<Built>>,
        mut args: Vec<Option<Arg>>,
    ) -> Arc<Kernel> {
        program.kernels.fetch_add(1, Ordering::Relaxed);
        args.resize(info.args.len(), None);
        Arc::new(Kernel {
            slot: Slot::default(),
            program: program.clone(),
            info,
            built,
            args: Mutex::new(args),
            indirect: Indirect::default(),
            named: Mutex::default(),
        })
    }

    /// Another with the same arguments.
    pub fn duplicate(&self) -> Arc<Kernel> {
        let args = self.args.lock().unwrap().clone();
        let built = |b: &Option<Built>| b.as_ref().map(|b| Built::new(b.module.clone(), &self.info.name));
        let built = self.built.iter().map(built).collect();
        let copy = Kernel::of(&self.program, self.info.clone(), built, args);
        for (to, from) in [
            (&copy.indirect.host, &self.indirect.host),
            (&copy.indirect.device, &self.indirect.device),
            (&copy.indirect.shared, &self.indirect.shared),
        ] {
            to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        *copy.named.lock().unwrap() = self.named.lock().unwrap().clone();
        copy
    }

    /// It on a device.
    fn built(&self, device: &Arc<Device>) -> Result<&Built> {
        let at = self.program.index(device).map_err(|_| Error::INVALID_PROGRAM_EXECUTABLE)?;
        self.built[at].as_ref().ok_or(Error::INVALID_PROGRAM_EXECUTABLE)
    }

    /// The module of a device.
    ///
    /// # Errors
    /// If it was not built for it.
    pub fn module(&self, device: &Arc<Device>) -> Result<&Arc<Module>> {
        Ok(&self.built(device)?.module)
    }

    /// What is known of it on a device.
    ///
    /// # Errors
    /// If it was not built for it.
    pub fn info_for_device(&self, device: &Arc<Device>) -> Result<&KernelInfo> {
        let built = self.built(device)?;
        let info = built.at.and_then(|at| built.module.kernels.get(at));
        info.ok_or(Error::INVALID_PROGRAM_EXECUTABLE)
    }

    /// It on a device, ready to be launched.
    fn loaded(&self, device: &Arc<Device>) -> Result<&device::Kernel> {
        let built = self.built(device)?;
        if let Some(loaded) = built.loaded.get() {
            return Ok(loaded);
        }
        let name = &self.info.name;
        let loaded = device.machine.kernel(&built.module, name).map_err(|e| {
            crate::log::print_warning(&format!("kernel `{name}` cannot be run: {e}"));
            match e {
                LaunchProblem::Memory(_) => Error::MEM_OBJECT_ALLOCATION_FAILURE,
                LaunchProblem::Other(_) => Error::OUT_OF_RESOURCES,
            }
        })?;
        Ok(built.loaded.get_or_init(|| loaded))
    }

    /// Sets an argument.
    ///
    /// # Errors
    /// If there is none of this index.
    pub fn set(&self, index: u32, arg: Arg) -> Result<()> {
        let mut args = self.args.lock().unwrap();
        *args.get_mut(index as usize).ok_or(Error::INVALID_ARG_INDEX)? = Some(arg);
        Ok(())
    }

    /// Shared local memory that arguments ask for, in bytes.
    pub fn local_bytes(&self) -> u64 {
        let args = self.args.lock().unwrap();
        args.iter().flatten().map(|a| if let Arg::Local(n) = a { *n as u64 } else { 0 }).sum()
    }

    /// Whether groups at the edge may be smaller, by the options it was built with.
    fn non_uniform(&self, device: &Arc<Device>) -> bool {
        let options = self.program.build_of(device).map(|b| b.options).unwrap_or_default();
        let words = || options.split_whitespace();
        let newer = words().any(|w| {
            let version = w.strip_prefix("-cl-std=CLC++").or_else(|| w.strip_prefix("-cl-std=CL"));
            version.is_some_and(|v| !v.starts_with('1'))
        });
        newer && !words().any(|w| w == "-cl-uniform-work-group-size")
    }

    /// Sizes of groups for a range, where the application gives none.
    pub fn suggest(&self, device: &Arc<Device>, dims: usize, global: [u64; 3]) -> [u32; 3] {
        let info = self.info_for_device(device).unwrap_or(&self.info);
        let mut local = launch::suggest_group_size(info, dims, global);
        // A prime width: better an incomplete last group than groups of one.
        if info.required_group.is_none() && self.non_uniform(device) && local[0] < 16 && global[0] > 64 {
            local = [64, 1, 1];
        }
        local
    }

    /// Checks sizes as the standard lists the errors; gives the range.
    ///
    /// # Errors
    /// Those of `clEnqueueNDRangeKernel`.
    pub fn range(
        &self,
        device: &Arc<Device>,
        dims: u32,
        offset: Option<[u64; 3]>,
        global: [u64; 3],
        local: Option<[u64; 3]>,
    ) -> Result<Range> {
        let info = self.info_for_device(device)?;
        let n = dims as usize;
        let offset = offset.unwrap_or_default();
        for d in 0..n {
            if global[d] > u64::from(u32::MAX) {
                return Err(Error::INVALID_GLOBAL_WORK_SIZE);
            }
            if offset[d].checked_add(global[d]).is_none_or(|end| end > 1 << 32) {
                return Err(Error::INVALID_GLOBAL_OFFSET);
            }
        }
        let local = match local {
            None => self.suggest(device, n, global),
            Some(local) => {
                if local[..n].contains(&0) {
                    return Err(Error::INVALID_WORK_GROUP_SIZE);
                }
                if local[..n].iter().any(|l| *l > MAX_GROUP as u64) {
                    return Err(Error::INVALID_WORK_ITEM_SIZE);
                }
                local.map(|l| l as u32)
            }
        };
        if local.iter().map(|l| u64::from(*l)).product::<u64>() > MAX_GROUP as u64 {
            return Err(Error::INVALID_WORK_GROUP_SIZE);
        }
        if info.required_group.is_some_and(|r| r.map(|x| x as u32) != local) {
            return Err(Error::INVALID_WORK_GROUP_SIZE);
        }
        let divides = (0..n).all(|d| global[d].is_multiple_of(u64::from(local[d])));
        if !divides && !self.non_uniform(device) {
            return Err(Error::INVALID_WORK_GROUP_SIZE);
        }
        Ok(Range { dims, offset, global, local })
    }

    /// The arguments as they are now, and what keeps them alive.
    fn capture(&self, device: &Arc<Device>) -> Result<Captured> {
        let info = self.info_for_device(device)?;
        let context = &self.program.context;
        let mut captured = Captured::default();
        let mut slm = info.slm;
        let args = self.args.lock().unwrap();
        captured.values.reserve_exact(args.len());
        for (arg, about) in args.iter().zip(&info.args) {
            let at = captured.values.len();
            let missing = || {
                note_reason(|| format!("{} of kernel `{}` was never set", info.argument(at), info.name));
                Error::INVALID_KERNEL_ARGS
            };
            captured.values.push(match arg.as_ref().ok_or_else(missing)? {
                Arg::Mem(weak) => {
                    // Released before the launch: the application's mistake.
                    let mem = weak.upgrade().ok_or_else(|| {
                        note_reason(|| {
                            format!("{} of kernel `{}` was released before", info.argument(at), info.name)
                        });
                        Error::INVALID_KERNEL_ARGS
                    })?;
                    let value = value_of(&mem, about.kind)?;
                    if crate::report::is_checking() {
                        is_free(&mem, info, at);
                        if mem.flags & cl::CL_MEM_USE_HOST_PTR != 0 && mem.maps.count() == 0 {
                            memory_in_use::note(mem.region.range(), Use::Lent);
                        }
                    }
                    captured.mems.push(mem);
                    captured.places.push(at);
                    value
                }
                Arg::Null => Value::Null,
                Arg::Pointer(address) => match context.pointer(*address) {
                    Some(pointer) => {
                        let offset = address - pointer.backing.address();
                        let value = Value::Shared(pointer.backing.clone(), offset);
                        pointer.note_use();
                        if pointer.mapped.lock().unwrap().iter().any(|part| part.contains(address)) {
                            report_mapped_launch(info, at);
                        }
                        captured.shared.push(pointer.backing.clone());
                        value
                    }
                    None => Value::Pointer(*address),
                },
                Arg::Bytes(bytes) => Value::Bytes(bytes.clone()),
                Arg::Local(bytes) => {
                    slm = slm.saturating_add(*bytes as u64);
                    Value::Local(*bytes)
                }
                Arg::Sampler(s) => {
                    let addressing = match s.addressing {
                        cl::CL_ADDRESS_CLAMP_TO_EDGE => Addressing::ClampToEdge,
                        cl::CL_ADDRESS_CLAMP => Addressing::Clamp,
                        cl::CL_ADDRESS_REPEAT => Addressing::Repeat,
                        cl::CL_ADDRESS_MIRRORED_REPEAT => Addressing::MirroredRepeat,
                        _ => Addressing::None,
                    };
                    let linear = s.filter == cl::CL_FILTER_LINEAR;
                    Value::Sampler(device::Sampler::new(addressing, linear, s.normalized))
                }
            });
        }
        if slm > device.spec.slm {
            crate::log::print_warning(&format!(
                "kernel `{}` needs {slm} bytes of local memory; a group on {} has {}",
                info.name, device.spec.name, device.spec.slm
            ));
            return Err(Error::OUT_OF_RESOURCES);
        }
        drop(args);
        self.reachable(&mut captured);
        Ok(captured)
    }

    /// Shared memory that the kernel may reach by pointers.
    fn reachable(&self, captured: &mut Captured) {
        let context = &self.program.context;
        for address in self.named.lock().unwrap().iter() {
            captured.shared.extend(context.pointer(*address).map(|p| {
                p.note_use();
                p.backing.clone()
            }));
        }
        let wanted = |kind: PointerKind| match kind {
            PointerKind::Host => self.indirect.host.load(Ordering::Relaxed),
            PointerKind::Device => self.indirect.device.load(Ordering::Relaxed),
            PointerKind::Shared => self.indirect.shared.load(Ordering::Relaxed),
            PointerKind::Svm => false,
        };
        if !PointerKind::ALL.into_iter().any(wanted) {
            return;
        }
        let pointers = context.pointers.lock().unwrap();
        captured.shared.extend(pointers.values().filter(|p| wanted(p.kind)).map(|p| p.backing.clone()));
    }

    /// Appends a launch to a queue.
    ///
    /// # Errors
    /// Those of `clEnqueueNDRangeKernel`.
    pub fn enqueue(
        self: &Arc<Self>,
        queue: &Arc<Queue>,
        range: Range,
        after: Vec<Arc<Event>>,
        kind: u32,
    ) -> Result<Arc<Event>> {
        let device = &queue.device;
        let captured = self.capture(device)?;
        self.loaded(device)?;
        let kernel = self.clone();
        let device = device.clone();
        let lent = Lent::of(&captured);
        // No work-items: nothing happens, and that in its turn.
        let empty = range.global[..range.dims as usize].contains(&0);
        let work = Box::new(move || {
            if empty {
                return Ok(());
            }
            if let Some(lent) = lent {
                lent.look(&kernel.info.name);
            }
            captured.mems.iter().for_each(|mem| report_mapped_changes(&mem.region));
            if crate::report::is_checking() {
                lent_once(&kernel.info, &captured);
            }
            let result = run(&kernel, &device, &range, &captured);
            drop(captured);
            result
        });
        let name =
            if crate::report::is_checking() { format!("kernel `{}`", self.info.name) } else { String::new() };
        queue.enqueue_named(&name, kind, Order::Normal, after, work)
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        self.program.kernels.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Arguments of a launch.
#[derive(Default)]
struct Captured {
    values: Vec<Value>,
    /// Kept alive until the launch is over; and which arguments they are.
    mems: Vec<Arc<Mem>>,
    places: Vec<usize>,
    /// Shared memory that it reaches.
    shared: Vec<Arc<Backing>>,
}

impl Captured {
    /// Arguments whose memory was made `CL_MEM_WRITE_ONLY`, and that no other argument may read.
    fn unreadable(&self) -> Vec<usize> {
        let may_not = |m: &Mem| m.image.is_none() && m.flags & cl::CL_MEM_WRITE_ONLY != 0;
        let meet = |a: &Mem, b: &Mem| {
            let (a, b) = (a.region.range(), b.region.range());
            a.start < b.end && b.start < a.end
        };
        let others = |m: &Mem| self.mems.iter().any(|o| !may_not(o) && meet(m, o));
        let all = self.mems.iter().zip(&self.places).filter(|(m, _)| may_not(m) && !others(m));
        all.map(|(_, at)| *at).collect()
    }
}

/// Memory of the application that a launch was given (`CL_MEM_USE_HOST_PTR`), as it was when nothing else ran.
struct Lent {
    /// The memory, and its digest.
    regions: Vec<(Region, Option<u64>)>,
    /// Commands that had begun.
    begun: u64,
}

impl Lent {
    /// How long a launch waits for what the application may change meanwhile.
    const WAIT: Duration = Duration::from_millis(2);

    /// Of a launch that is enqueued, while mistakes are looked for.
    fn of(captured: &Captured) -> Option<Lent> {
        let is_lent = |m: &&Arc<Mem>| m.flags & cl::CL_MEM_USE_HOST_PTR != 0 && m.maps.count() == 0;
        if !crate::report::is_checking() || !captured.mems.iter().any(|m| is_lent(&m)) {
            return None;
        }
        let begun = command_order::started_count_if_idle()?;
        let regions = captured.mems.iter().filter(is_lent).map(|m| (m.region.clone(), m.region.digest()));
        Some(Lent { regions: regions.collect(), begun })
    }

    /// Before the launch begins: tells of what the application has changed, if no other command can have.
    fn look(&self, name: &str) {
        std::thread::sleep(Lent::WAIT);
        for (region, then) in &self.regions {
            let now = region.digest();
            // This one has begun.
            if now != *then && command_order::commands_begun() == self.begun + 1 {
                memory_in_use::note_reported(&region.range());
                guarded_host_memory::forget_range(&region.range());
                crate::report::report_host_mistake(
                    "host memory",
                    &format!(
                        "kernel `{name}` was enqueued with memory of the program (CL_MEM_USE_HOST_PTR), which the program changed before the kernel ended, without waiting for it"
                    ),
                );
            }
        }
    }
}

fn value_of(mem: &Arc<Mem>, kind: ArgKind) -> Result<Value> {
    if kind != ArgKind::Image {
        let backing = mem.region.backing().ok_or(Error::INVALID_MEM_OBJECT)?;
        let offset = mem.region.address() - backing.address();
        if mem.parent.is_some() && !mem.offset.is_multiple_of(BASE_ALIGN) {
            return Err(Error::MISALIGNED_SUB_BUFFER_OFFSET);
        }
        return Ok(Value::Memory(backing.clone(), offset, mem.region.len()));
    }
    let image = mem.as_image().map_err(|_| Error::INVALID_KERNEL_ARGS)?;
    let [width, height, depth] = image.extent();
    let (height, depth) = match image.kind {
        cl::CL_MEM_OBJECT_IMAGE1D_ARRAY => (1, height),
        _ => (height, depth),
    };
    let shape = match image.kind {
        cl::CL_MEM_OBJECT_IMAGE1D => ImageShape::D1,
        cl::CL_MEM_OBJECT_IMAGE1D_BUFFER => ImageShape::Buffer,
        cl::CL_MEM_OBJECT_IMAGE1D_ARRAY => ImageShape::D1Array,
        cl::CL_MEM_OBJECT_IMAGE2D => ImageShape::D2,
        cl::CL_MEM_OBJECT_IMAGE2D_ARRAY => ImageShape::D2Array,
        _ => ImageShape::D3,
    };
    Ok(Value::Image(Box::new(ImageValue {
        shape,
        size: [width as u32, height as u32, depth as u32],
        row_pitch: image.row_pitch as u32,
        slice_pitch: image.slice_pitch as u64,
        format: image.format.to_machine_format()?,
        texels: mem.region.clone(),
    })))
}

/// Tells of a launch that is given memory which the application has mapped for writing.
fn is_free(mem: &Arc<Mem>, info: &KernelInfo, argument: usize) {
    report_mapped_changes(&mem.region);
    for mem in std::iter::once(mem).chain(&mem.parent) {
        if mem.maps.writes() == Some(true) {
            report_mapped_launch(info, argument);
        }
    }
}

/// Tells of it.
fn report_mapped_launch(info: &KernelInfo, argument: usize) {
    let (what, name) = (info.argument(argument), &info.name);
    crate::report::report_host_mistake(
        "map",
        &format!("kernel `{name}` is launched while {what} is mapped for writing and not unmapped"),
    );
}

/// Tells of a launch that accesses memory as the application said that kernels do not.
fn check_declared_access(info: &KernelInfo, captured: &Captured, accessed: &[Addresses], writes: bool) {
    let flag = if writes { cl::CL_MEM_READ_ONLY } else { cl::CL_MEM_WRITE_ONLY };
    let overlaps = |mem: &Mem, range: &Addresses| {
        let start = mem.region.address() as u64;
        range.start < start + mem.region.len() as u64 && start < range.end
    };
    // What a kernel uses of buffers was followed: compiled code also loads what it only stores back.
    let looked_at = |mem: &Mem| writes || mem.image.is_some();
    for (mem, at) in captured.mems.iter().zip(&captured.places).filter(|(mem, _)| looked_at(mem)) {
        let hit = |range: &&Addresses| {
            // By another argument it may.
            let other = |m: &&Arc<Mem>| m.flags & flag == 0 && overlaps(m, range);
            overlaps(mem, range) && !captured.mems.iter().any(|m| other(&m))
        };
        // Of what is mapped for writing it was told before.
        let mapped = writes && mem.maps.all_read_only();
        if mem.flags & flag != 0 && accessed.iter().any(|range| hit(&range)) {
            let does = if writes { "writes" } else { "reads" };
            let made = if writes { "CL_MEM_READ_ONLY" } else { "CL_MEM_WRITE_ONLY" };
            let (what, name) = (info.argument(*at), &info.name);
            crate::report::report_host_mistake(
                "access",
                &format!("kernel `{name}` {does} {what}, which was made {made}"),
            );
        } else if mapped && accessed.iter().any(|range| overlaps(mem, range)) {
            let (what, name) = (info.argument(*at), &info.name);
            crate::report::report_host_mistake(
                "map",
                &format!("kernel `{name}` writes {what}, which is mapped and not unmapped"),
            );
        }
    }
}

/// Tells of a launch that is given two buffers to which the application has lent the same memory: what comes of commands that
/// use both is undefined.
fn lent_once(info: &KernelInfo, captured: &Captured) {
    let root = |m: &Arc<Mem>| Arc::as_ptr(m.parent.as_ref().unwrap_or(m));
    let lent = captured.mems.iter().zip(&captured.places);
    let lent: Vec<_> = lent.filter(|(m, _)| m.region.backing().is_some_and(|b| b.is_lent())).collect();
    for (n, (one, at)) in lent.iter().enumerate() {
        let a = one.region.range();
        let same = |(two, _): &&(&Arc<Mem>, &usize)| {
            let b = two.region.range();
            root(one) != root(two) && a.start < b.end && b.start < a.end
        };
        if let Some((_, other)) = lent[n + 1..].iter().find(same) {
            let (one, two, name) = (info.argument(**at), info.argument(**other), &info.name);
            crate::report::report_host_mistake(
                "host memory",
                &format!(
                    "kernel `{name}` is given {one} and {two}, two buffers to which the program has lent the same memory (CL_MEM_USE_HOST_PTR)"
                ),
            );
        }
    }
}

fn run(kernel: &Kernel, device: &Arc<Device>, range: &Range, captured: &Captured) -> Result<()> {
    let info = &kernel.info;
    let launch = Launch {
        device: device.spec.name,
        module: &kernel.module(device)?.bytes()[..],
        info,
        range,
        args: &captured.values,
        shared: &captured.shared,
        unreadable: &captured.unreadable(),
        all_at_once: false,
        source: kernel.program.text_for(device),
    };
    let report = launch.run(&device.machine, kernel.loaded(device)?).map_err(|e| match e {
        LaunchProblem::Memory(_) => Error::MEM_OBJECT_ALLOCATION_FAILURE,
        LaunchProblem::Other(_) => Error::OUT_OF_RESOURCES,
    })?;
    if let Some(footprint) = &report.footprint {
        check_declared_access(info, captured, &footprint.written, true);
        check_declared_access(info, captured, &footprint.read, false);
    }
    if report.fault.is_some() { Err(Error::OUT_OF_RESOURCES) } else { Ok(()) }
}
