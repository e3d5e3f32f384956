//! Kernels, their arguments and launches.

use std::ffi::CString;
use std::sync::{Arc, Mutex, OnceLock};

use envisa_runtime::device::{self, ArgKind, KernelInfo, LaunchProblem, Module as Built, Range, Value};
use envisa_runtime::device_properties::{EUS_PER_SUB_SLICE, MAX_GROUP, sub_slices};
use envisa_runtime::host_memory::Backing;
use envisa_runtime::launch;

use super::error::{Error, Result};
use super::handle;
use super::image::{Image, SamplerObject};
use super::memory::{Kind, of_kinds};
use super::module::Module;

/// A kernel with its settings.
pub struct Kernel {
    /// What it is from.
    pub module: Arc<Module>,
    /// What is known of it.
    pub info: KernelInfo,
    built: Arc<Built>,
    /// Ready to be launched, once it was.
    loaded: OnceLock<device::Kernel>,
    /// Launches share them, until one is set anew.
    settings: Mutex<Arc<Settings>>,
    /// Attributes as the source has them.
    pub attributes: CString,
}

/// What launches take over when they are appended.
#[derive(Clone)]
struct Settings {
    args: Vec<Option<Arg>>,
    group: [u32; 3],
    offset: [u64; 3],
    /// `ZE_KERNEL_INDIRECT_ACCESS_FLAG_*`.
    indirect: u32,
}

/// Most bytes of an argument.
pub const MOST: usize = 1 << 16;

/// A value that was set.
#[derive(Clone)]
enum Arg {
    Null,
    Pointer(usize),
    Bytes(Arc<[u8]>),
    Local(usize),
    Image(Arc<Image>),
    Sampler(device::Sampler),
}

/// Memory that a kernel may reach without being given it.
pub const INDIRECT: [(u32, Kind); 3] = [(1, Kind::Host), (2, Kind::Device), (4, Kind::Shared)];

/// A launch as it was appended.
#[derive(Clone)]
pub struct Launch {
    kernel: Arc<Kernel>,
    settings: Arc<Settings>,
    /// Values of its arguments, as they are found when it is appended.
    values: Vec<Value>,
    /// Its groups may wait for each other.
    all_at_once: bool,
}

impl Kernel {
    /// A kernel of a module.
    ///
    /// # Errors
    /// If it has none of this name, or was not linked.
    pub fn new(module: &Arc<Module>, name: &str) -> Result<Arc<Kernel>> {
        let built = module.built();
        if !built.undefined.is_empty() {
            return Err(Error::INVALID_MODULE_UNLINKED);
        }
        let own = module.names.iter().any(|n| n.as_bytes() == name.as_bytes());
        let info = built.kernels.iter().find(|k| own && k.name == name).cloned();
        let info = info.ok_or(Error::INVALID_KERNEL_NAME)?;
        let settings = Settings {
            args: vec![None; info.args.len()],
            group: info.required_group.map_or([1; 3], |r| r.map(|n| n as u32)),
            offset: [0; 3],
            indirect: 0,
        };
        let attributes = CString::new(bare_attributes(&info.attributes)).unwrap_or_default();
        Ok(Arc::new(Kernel {
            module: module.clone(),
            info,
            built,
            loaded: OnceLock::new(),
            settings: Mutex::new(Arc::new(settings)),
            attributes,
        }))
    }

    fn change_settings(&self, change: impl FnOnce(&mut Settings)) {
        change(Arc::make_mut(&mut self.settings.lock().unwrap()));
    }

    /// The size of groups of its next launches.
    ///
    /// # Errors
    /// If groups cannot have it.
    pub fn set_group(&self, group: [u32; 3]) -> Result<()> {
        self.check_group(group)?;
        self.change_settings(|settings| settings.group = group);
        Ok(())
    }

    fn check_group(&self, group: [u32; 3]) -> Result<()> {
        let items = group.iter().map(|n| u128::from(*n)).product::<u128>();
        let required = self.info.required_group.map(|r| r.map(|n| n as u32));
        if items == 0 || items > MAX_GROUP as u128 || required.is_some_and(|r| r != group) {
            return Err(Error::INVALID_GROUP_SIZE_DIMENSION);
        }
        Ok(())
    }

    /// The first global ids of its next launches.
    pub fn set_offset(&self, offset: [u32; 3]) {
        self.change_settings(|settings| settings.offset = offset.map(u64::from));
    }

    /// What its next launches may reach by pointers in memory.
    ///
    /// # Errors
    /// If flags are not known.
    pub fn set_indirect(&self, flags: u32) -> Result<()> {
        if flags & !7 != 0 {
            return Err(Error::INVALID_ENUMERATION);
        }
        self.change_settings(|settings| settings.indirect = flags);
        Ok(())
    }

    /// What its next launches may reach by pointers in memory.
    pub fn indirect(&self) -> u32 {
        self.settings.lock().unwrap().indirect
    }

    /// Sets an argument; without bytes, it is nothing or so many zeros: clients take eight zero bytes for a null pointer.
    ///
    /// # Errors
    /// If there is none of this index, or its size is another.
    pub fn set(&self, index: u32, size: usize, bytes: Option<Vec<u8>>) -> Result<()> {
        let arg = self.argument(index, size, bytes)?;
        self.change_settings(|settings| settings.args[index as usize] = Some(arg));
        Ok(())
    }

    /// An argument of given bytes, as [`Kernel::set`] takes them.
    fn argument(&self, index: u32, size: usize, bytes: Option<Vec<u8>>) -> Result<Arg> {
        let about = self.info.args.get(index as usize).ok_or(Error::INVALID_KERNEL_ARGUMENT_INDEX)?;
        Ok(match about.kind {
            ArgKind::Local if bytes.is_some() => return Err(Error::INVALID_ARGUMENT),
            ArgKind::Local => Arg::Local(size),
            // Where the type's size is not known, what is used counts whole parts of registers.
            ArgKind::Value if size == 0 && about.exact || size > MOST => {
                return Err(Error::INVALID_KERNEL_ARGUMENT_SIZE);
            }
            ArgKind::Value => {
                let mut bytes = bytes.unwrap_or_else(|| vec![0; size]);
                // As with Intel's driver, what is not given is zero: a vector of three has the room of four, and some clients
                // give three, or an index of 32 bits for one of 64.
                if about.exact {
                    bytes.resize(size.max(about.size), 0);
                }
                Arg::Bytes(bytes.into())
            }
            // Addresses and handles are words.
            kind => match bytes.map(word).transpose()? {
                None | Some(0) if kind == ArgKind::Buffer => Arg::Null,
                None => return Err(Error::INVALID_ARGUMENT),
                Some(address) if kind == ArgKind::Buffer => Arg::Pointer(address),
                Some(handle) if kind == ArgKind::Image => Arg::Image(handle::get(handle)?),
                Some(handle) => Arg::Sampler(handle::get::<SamplerObject>(handle)?.0),
            },
        })
    }

    /// What is fixed of its module, for [`launch::Launch`].
    fn loaded(&self) -> Result<&device::Kernel> {
        if let Some(loaded) = self.loaded.get() {
            return Ok(loaded);
        }
        let loaded = self.module.device.machine.kernel(&self.built, &self.info.name).map_err(|e| {
            envisa_runtime::log::print_warning(&format!("kernel `{}` cannot be run: {e}", self.info.name));
            error_of_trouble(&e)
        })?;
        Ok(self.loaded.get_or_init(|| loaded))
    }

    /// A launch with the settings as they are now.
    ///
    /// # Errors
    /// If the kernel cannot be run, or wants too much local memory.
    pub fn launch(self: &Arc<Self>) -> Result<Launch> {
        let settings = self.settings.lock().unwrap().clone();
        let values = self.values(&settings)?;
        self.loaded()?;
        Ok(Launch { kernel: self.clone(), settings, values, all_at_once: false })
    }

    /// How many groups of the size that is set the device has room for at once: by its threads, and by the local memory of
    /// its sub-slices.
    pub fn most_groups_at_once(&self) -> u32 {
        self.most_of(&self.settings.lock().unwrap())
    }

    fn most_of(&self, settings: &Settings) -> u32 {
        let spec = self.module.device.spec;
        let items: u32 = settings.group.iter().product();
        let threads = items.div_ceil(self.info.simd.max(1)).max(1);
        let by_threads = sub_slices() * EUS_PER_SUB_SLICE * spec.threads_per_eu / threads;
        let dynamic = settings.args.iter().flatten();
        let dynamic = dynamic.map(|a| if let Arg::Local(bytes) = a { *bytes as u64 } else { 0 }).sum::<u64>();
        let local = self.info.slm.saturating_add(dynamic);
        let by_memory =
            spec.slm.checked_div(local).map_or(u64::MAX, |n| n.saturating_mul(sub_slices().into()));
        u64::from(by_threads).min(by_memory).max(1) as u32
    }

    /// Values of arguments, and whether local memory is enough for them.
    fn values(&self, settings: &Settings) -> Result<Vec<Value>> {
        let mut slm = self.info.slm;
        let mut values = Vec::with_capacity(settings.args.len());
        for (i, (arg, about)) in settings.args.iter().zip(&self.info.args).enumerate() {
            values.push(match arg {
                None => {
                    let (what, name) = (self.info.argument(i), &self.info.name);
                    envisa_runtime::report::report_host_mistake(
                        "argument",
                        &format!("kernel `{name}` is launched, but {what} was never set: it is zero"),
                    );
                    if about.kind == ArgKind::Value {
                        Value::Bytes(vec![0; about.size].into())
                    } else {
                        Value::Null
                    }
                }
                Some(Arg::Null) => Value::Null,
                Some(Arg::Bytes(bytes)) => Value::Bytes(bytes.clone()),
                Some(Arg::Image(image)) => Value::Image(Box::new(image.value())),
                Some(Arg::Sampler(sampler)) => Value::Sampler(*sampler),
                Some(Arg::Local(bytes)) => {
                    slm = slm.saturating_add(*bytes as u64);
                    Value::Local(*bytes)
                }
                Some(Arg::Pointer(address)) => match self.module.context.pointer_anywhere(*address) {
                    Some(p) => Value::Shared(p.backing.clone(), address - p.backing.address()),
                    None => Value::Pointer(*address),
                },
            });
        }
        let spec = self.module.device.spec;
        if slm > spec.slm {
            envisa_runtime::log::print_warning(&format!(
                "kernel `{}` needs {slm} bytes of local memory; a group on {} has {}",
                self.info.name, spec.name, spec.slm
            ));
            return Err(Error::OUT_OF_DEVICE_MEMORY);
        }
        Ok(values)
    }
}

/// Attributes without what the source has around each of them, and without spaces in them.
fn bare_attributes(all: &str) -> String {
    let one = |a: &str| {
        let a = a.trim();
        a.strip_suffix("))").unwrap_or(a).replace(' ', "")
    };
    let all: Vec<String> = all.split("__attribute__((").map(one).filter(|a| !a.is_empty()).collect();
    all.join(" ")
}

fn word(bytes: Vec<u8>) -> Result<usize> {
    bytes.try_into().map(usize::from_le_bytes).map_err(|_| Error::INVALID_KERNEL_ARGUMENT_SIZE)
}

/// What the interface calls it.
pub fn error_of_trouble(e: &LaunchProblem) -> Error {
    match e {
        LaunchProblem::Memory(_) => Error::OUT_OF_DEVICE_MEMORY,
        LaunchProblem::Other(_) => Error::INVALID_ARGUMENT,
    }
}

impl Launch {
    /// The same, whose groups run all at once.
    ///
    /// # Errors
    /// If the device has no room for so many.
    pub fn cooperative(self, groups: [u32; 3]) -> Result<Launch> {
        let n = groups.iter().map(|n| u128::from(*n)).product::<u128>();
        if n > self.kernel.most_of(&self.settings).into() {
            return Err(Error::INVALID_ARGUMENT);
        }
        Ok(Launch { all_at_once: n > 1, ..self })
    }

    /// Changes an argument; [`Launch::resolve_arguments_again`] follows.
    ///
    /// # Errors
    /// As of [`Kernel::set`].
    pub fn change_argument(&mut self, index: u32, size: usize, bytes: Option<Vec<u8>>) -> Result<()> {
        let arg = self.kernel.argument(index, size, bytes)?;
        Arc::make_mut(&mut self.settings).args[index as usize] = Some(arg);
        Ok(())
    }

    /// Changes the size of its groups.
    ///
    /// # Errors
    /// As of [`Kernel::set_group`].
    pub fn change_group(&mut self, group: [u32; 3]) -> Result<()> {
        self.kernel.check_group(group)?;
        Arc::make_mut(&mut self.settings).group = group;
        Ok(())
    }

    /// Changes its first global ids.
    pub fn change_offset(&mut self, offset: [u32; 3]) {
        Arc::make_mut(&mut self.settings).offset = offset.map(u64::from);
    }

    /// It is of another kernel, with that one's settings; [`Launch::resolve_arguments_again`] follows.
    pub fn change_kernel(&mut self, kernel: &Arc<Kernel>) {
        self.settings = kernel.settings.lock().unwrap().clone();
        self.kernel = kernel.clone();
    }

    /// Finds the values of its arguments anew, after changes.
    ///
    /// # Errors
    /// As of [`Kernel::launch`].
    pub fn resolve_arguments_again(&mut self) -> Result<()> {
        self.kernel.loaded()?;
        self.values = self.kernel.values(&self.settings)?;
        Ok(())
    }

    /// The range of so many groups.
    ///
    /// # Errors
    /// If there are more work-items than can be numbered.
    pub fn range(&self, groups: [u32; 3]) -> Result<Range> {
        let mut global = [0; 3];
        for d in 0..3 {
            global[d] = u64::from(groups[d]) * u64::from(self.settings.group[d]);
            if self.settings.offset[d] + global[d] > 1 << 32 {
                return Err(Error::INVALID_GLOBAL_WIDTH_DIMENSION);
            }
        }
        let matters = |d: &usize| global[*d] > 1 || self.settings.offset[*d] > 0;
        let dims = (0..3).rev().find(matters).map_or(1, |d| d as u32 + 1);
        Ok(Range { dims, offset: self.settings.offset, global, local: self.settings.group })
    }

    /// Allocations that it was given.
    pub fn given(&self) -> impl Iterator<Item = &Arc<Backing>> {
        self.values.iter().filter_map(|v| if let Value::Shared(b, _) = v { Some(b) } else { None })
    }

    /// Runs it.
    ///
    /// # Errors
    /// If it cannot be run, or faults.
    pub fn run(&self, range: &Range) -> Result<()> {
        if range.global.contains(&0) {
            return Ok(());
        }
        let (kernel, device) = (&self.kernel, &self.kernel.module.device);
        // What it was given is there already, as its arguments are.
        let indirect = self.settings.indirect;
        let wanted = |kind: Kind| INDIRECT.iter().any(|(flag, k)| *k == kind && indirect & flag != 0);
        let shared = if indirect == 0 { Vec::new() } else { of_kinds(wanted) };
        let launch = launch::Launch {
            device: device.spec.name,
            module: kernel.built.bytes(),
            info: &kernel.info,
            range,
            args: &self.values,
            shared: &shared,
            unreadable: &[],
            all_at_once: self.all_at_once,
            // Level Zero programs are SPIR-V or native.
            source: None,
        };
        let report = launch.run(&device.machine, kernel.loaded()?).map_err(|e| error_of_trouble(&e))?;
        if report.fault.is_some() { Err(Error::DEVICE_LOST) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn attributes_are_a_list() {
        let bare = super::bare_attributes;
        let one = "__attribute__((reqd_work_group_size(1, 2, 3)))";
        assert_eq!(bare(one), "reqd_work_group_size(1,2,3)");
        let two = format!("{one} __attribute__((vec_type_hint(float4)))");
        assert_eq!(bare(&two), "reqd_work_group_size(1,2,3) vec_type_hint(float4)");
        assert_eq!(bare(""), "");
    }
}
