//! Launches: the number of work-items or threads, and the arguments.

use crate::buffer::Buffer;
use crate::device::Engine;
use crate::image::{Image, Sampler};
use std::fmt;

/// The sizes and arguments of a launch.
///
/// Compiled kernels take a [range](Launch::range) of work-items, hand-written ones [thread
/// groups](Launch::threads). Arguments are checked against the kernel when it is launched.
#[derive(Clone, Debug)]
pub struct Launch {
    pub(crate) sizes: Sizes,
    pub(crate) offset: Dims,
    pub(crate) args: Vec<(ArgKey, Arg)>,
    pub(crate) engine: Option<Engine>,
    pub(crate) threads: Option<usize>,
    pub(crate) all_at_once: bool,
    pub(crate) limit: u64,
    pub(crate) local_memory: Option<u64>,
    pub(crate) check: bool,
    pub(crate) hints: bool,
    pub(crate) checks_itself: bool,
    pub(crate) at_length: bool,
    pub(crate) footprint: bool,
    pub(crate) rough_reads: bool,
    pub(crate) statistics: bool,
    pub(crate) profile: bool,
    pub(crate) trace: bool,
    pub(crate) registers: Vec<String>,
    pub(crate) progress: Option<&'static Progress>,
    pub(crate) cancel: Option<Cancel>,
    pub(crate) stray_reads: bool,
    pub(crate) order: Order,
    pub(crate) regroup: Regroup,
    pub(crate) asked: Option<std::sync::Arc<envisa_machine::fallback_counts::FallbackCounts>>,
    /// Addresses whose content the host did not write.
    pub(crate) fresh: Vec<std::ops::Range<u64>>,
    pub(crate) records: Vec<std::ops::Range<u64>>,
}

/// May native code run a launch in groups of another shape than was asked for, where nobody can tell?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Regroup {
    Never,
    /// Where it is expected to be faster.
    IfBetter,
    /// Wherever it can be done, for tests.
    Anyhow,
}

/// The progress of a run, in groups. It can be read while the run goes on.
pub use envisa_machine::Progress;
/// Cancels launches from another host thread.
pub use envisa_machine::scheduler::Cancel;
/// The order in which groups start and threads of a group take turns.
pub use envisa_machine::thread_order::Order;

impl From<&Launch> for Launch {
    fn from(launch: &Launch) -> Launch {
        launch.clone()
    }
}

/// A number for each dimension.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Dims {
    /// How many there are: more than three are refused when it is launched.
    count: usize,
    numbers: [u64; 3],
}

impl Dims {
    fn new(of: &[u64]) -> Dims {
        let mut numbers = [0; 3];
        numbers.iter_mut().zip(of).for_each(|(to, n)| *to = *n);
        Dims { count: of.len(), numbers }
    }

    /// How many dimensions were given.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The numbers of the first three.
    pub fn numbers(&self) -> &[u64] {
        &self.numbers[..self.count.min(3)]
    }
}

/// How many of what.
#[derive(Clone, Debug)]
pub(crate) enum Sizes {
    /// Work-items, and work-items a group.
    Range { global: Dims, local: Dims },
    /// Thread groups, and threads of each.
    Threads { groups: Vec<u32>, threads: u32 },
}

impl Launch {
    /// A range of work-items in one to three dimensions, in groups of `local`. If `local` is empty, groups are
    /// as the kernel requires, or the largest divisor of the first size up to 256.
    pub fn range(global: &[u64], local: &[u64]) -> Launch {
        Launch::of(Sizes::Range { global: Dims::new(global), local: Dims::new(local) })
    }

    /// Thread groups in one to three dimensions, of so many threads each: for hand-written code.
    pub fn threads(groups: &[u32], threads: u32) -> Launch {
        Launch::of(Sizes::Threads { groups: groups.to_vec(), threads })
    }

    fn of(sizes: Sizes) -> Launch {
        Launch {
            sizes,
            offset: Dims::default(),
            args: Vec::new(),
            engine: None,
            threads: None,
            all_at_once: false,
            limit: u64::MAX,
            local_memory: None,
            stray_reads: false,
            order: Order::Forward,
            regroup: Regroup::IfBetter,
            asked: None,
            check: false,
            hints: false,
            checks_itself: false,
            at_length: false,
            footprint: false,
            rough_reads: false,
            statistics: false,
            profile: false,
            trace: false,
            registers: Vec::new(),
            progress: None,
            cancel: None,
            fresh: Vec::new(),
            records: Vec::new(),
        }
    }

    /// The first global id of a [range](Launch::range).
    #[must_use]
    pub fn offset(mut self, first: &[u64]) -> Launch {
        self.offset = Dims::new(first);
        self
    }

    /// Gives an argument, by name (`"a"`), by index (`0`), or by where hand-written code finds it
    /// ([`ArgKey`]).
    #[must_use]
    pub fn arg(mut self, key: impl Into<ArgKey>, value: impl Into<Arg>) -> Launch {
        self.args.push((key.into(), value.into()));
        self
    }

    /// Gives arguments by what finds them, as [`Launch::arg`] gives one.
    #[must_use]
    pub fn args(mut self, args: Vec<(ArgKey, Arg)>) -> Launch {
        match self.args.is_empty() {
            true => self.args = args,
            false => self.args.extend(args),
        }
        self
    }

    /// Uses this engine instead of the device's.
    #[must_use]
    pub fn engine(mut self, engine: Engine) -> Launch {
        self.engine = Some(engine);
        self
    }

    /// Whether every group has a host thread of its own, and all groups run at once, so that they may wait for each
    /// other. Without observers: nothing is checked, counted or profiled.
    #[must_use]
    pub fn all_groups_at_once(mut self, all_at_once: bool) -> Launch {
        self.all_at_once = all_at_once;
        self
    }

    /// Uses this many host threads instead of the device's number; 0: as many as the host has.
    #[must_use]
    pub fn host_threads(mut self, threads: usize) -> Launch {
        self.threads = Some(threads);
        self
    }

    /// Stops a thread that executes more branches and calls than this.
    #[must_use]
    pub fn limit(mut self, branches: u64) -> Launch {
        self.limit = branches;
        self
    }

    /// The size of shared local memory per group, in bytes, for hand-written code. By default, 64 KiB.
    #[must_use]
    pub fn local_memory(mut self, bytes: u64) -> Launch {
        self.local_memory = Some(bytes);
        self
    }

    /// Whether reads of registers at addresses outside of every variable give zeros instead of the fault F0011. The
    /// specification leaves their value undefined; a device reads some register. A correct source can contain such reads:
    /// `sub_group_shuffle` with the number of a channel that does not exist. With [`Launch::check`], they always fault.
    #[must_use]
    pub fn stray_register_reads(mut self, allowed: bool) -> Launch {
        self.stray_reads = allowed;
        self
    }

    /// The order in which groups start and threads of a group take turns. With one host thread, groups also run in this
    /// order.
    #[must_use]
    pub fn order(mut self, order: Order) -> Launch {
        self.order = order;
        self
    }

    /// Looks for accesses out of bounds, uses of uninitialised registers and memory, colliding stores, data races,
    /// barriers that not all work-items reach, and stores to constant memory. The outcome contains the findings.
    #[must_use]
    pub fn check(mut self, check: bool) -> Launch {
        self.check = check;
        self
    }

    /// With [`Launch::check`], also looks for operations that vISA defines but that are rarely intended: division of an
    /// integer by zero, shifts by the width or more, floats converted to integers that cannot hold them, misaligned elements.
    #[must_use]
    pub fn hints(mut self, hints: bool) -> Launch {
        self.hints = hints;
        self
    }

    /// The kernel was compiled to hold its accesses against the types of its source (`envisa_ocloc::Rewrite::Checks`): what
    /// [`Launch::hints`] would guess of elements and variables by the accesses of vISA is not looked for.
    #[must_use]
    pub fn checks_itself(mut self, checks_itself: bool) -> Launch {
        self.checks_itself = checks_itself;
        self
    }

    /// With [`Launch::check`], checks every access, and does not use facts that were derived from the kernel before it runs.
    /// The findings are the same, but the run takes longer. Tests compare the two.
    #[must_use]
    pub fn check_at_length(mut self, at_length: bool) -> Launch {
        self.at_length = at_length;
        self
    }

    /// Records which bytes of buffers and images the kernel accesses.
    #[must_use]
    pub fn footprint(mut self, footprint: bool) -> Launch {
        self.footprint = footprint;
        self
    }

    /// Of what the kernel reads, [`Launch::footprint`] need not say exactly which bytes they are: with [`Launch::check`], the
    /// launch then takes hardly longer than without a footprint.
    #[must_use]
    pub fn rough_reads(mut self, rough_reads: bool) -> Launch {
        self.rough_reads = rough_reads;
        self
    }

    /// Declares that the host has not written this buffer. With [`Launch::check`], a use of bytes of it that the kernel has
    /// not written is a finding.
    #[must_use]
    pub fn fresh(mut self, buffer: &Buffer) -> Launch {
        let address = buffer.address();
        self.fresh.push(address..address + buffer.len());
        self
    }

    /// As [`Launch::fresh`], for ranges of addresses.
    #[must_use]
    pub fn fresh_ranges(mut self, ranges: impl IntoIterator<Item = std::ops::Range<u64>>) -> Launch {
        self.fresh.extend(ranges);
        self
    }

    /// Declares where earlier launches wrote structures. Bytes of [`Launch::fresh_ranges`] there may be their padding, which
    /// may be copied.
    #[must_use]
    pub fn records(mut self, ranges: impl IntoIterator<Item = std::ops::Range<u64>>) -> Launch {
        self.records.extend(ranges);
        self
    }

    /// Counts instructions, channels, traffic.
    #[must_use]
    pub fn statistics(mut self, statistics: bool) -> Launch {
        self.statistics = statistics;
        self
    }

    /// Counts, for each instruction, executions, channels, cache lines, bank conflicts and waits at barriers.
    #[must_use]
    pub fn profile(mut self, profile: bool) -> Launch {
        self.profile = profile;
        self
    }

    /// Records a profile that also has a timeline of the threads of the first groups.
    #[must_use]
    pub fn trace(mut self, trace: bool) -> Launch {
        self.trace = trace;
        self
    }

    /// Records the values of these variables of the kernel at the end of each thread.
    #[must_use]
    pub fn registers<'a>(mut self, variables: impl IntoIterator<Item = &'a str>) -> Launch {
        self.registers.extend(variables.into_iter().map(str::to_owned));
        self
    }

    /// Updates `progress` while the launch runs.
    #[must_use]
    pub fn progress(mut self, progress: &'static Progress) -> Launch {
        self.progress = Some(progress);
        self
    }

    /// Lets other host threads cancel the launch. Its outcome then has a fault that says where the threads were.
    #[must_use]
    pub fn cancel(mut self, cancel: &Cancel) -> Launch {
        self.cancel = Some(cancel.clone());
        self
    }
}

/// Identifies an argument.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ArgKey {
    /// By its name in the source, or in hand-written code the name of an input or a declared surface.
    Name(String),
    /// By its index.
    Index(u32),
    /// What a binding-table index of hand-written code names.
    Surface(u32),
    /// What a sampler index of hand-written code names.
    Sampler(u32),
    /// The append counter of what a binding-table index of hand-written code names: a buffer's first bytes.
    Counter(u32),
    /// The unified return buffer of hand-written code, a handle of which counts so many bytes.
    ReturnBuffer(u32),
}

impl From<&str> for ArgKey {
    fn from(name: &str) -> ArgKey {
        ArgKey::Name(name.to_owned())
    }
}

impl From<String> for ArgKey {
    fn from(name: String) -> ArgKey {
        ArgKey::Name(name)
    }
}

impl From<u32> for ArgKey {
    fn from(index: u32) -> ArgKey {
        ArgKey::Index(index)
    }
}

impl fmt::Display for ArgKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArgKey::Name(name) => f.write_str(name),
            ArgKey::Index(i) => write!(f, "{i}"),
            ArgKey::Surface(i) => write!(f, "bti:{i}"),
            ArgKey::Sampler(i) => write!(f, "sampler:{i}"),
            ArgKey::Counter(i) => write!(f, "counter:{i}"),
            ArgKey::ReturnBuffer(unit) => write!(f, "urb:{unit}"),
        }
    }
}

/// The value of an argument.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Arg {
    /// A buffer.
    Buffer(Buffer),
    /// A pointer to the start of this part of a buffer. The kernel may access the whole buffer.
    Within(Buffer),
    /// A null pointer.
    Null,
    /// A pointer: an address in a buffer of the device. The kernel may access the whole buffer.
    Pointer(u64),
    /// A value: its bytes, as the source's type lays them out.
    Bytes(Vec<u8>),
    /// Shared local memory: so many bytes.
    Local(u64),
    /// An image.
    Image(Image),
    /// A sampler.
    Sampler(Sampler),
}

impl Arg {
    /// Shared local memory of so many bytes.
    pub fn local(bytes: u64) -> Arg {
        Arg::Local(bytes)
    }

    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Arg::Buffer(_) => "a buffer",
            Arg::Within(_) => "a pointer into a buffer",
            Arg::Null => "a null pointer",
            Arg::Pointer(_) => "a pointer",
            Arg::Bytes(_) => "a value",
            Arg::Local(_) => "local memory",
            Arg::Image(_) => "an image",
            Arg::Sampler(_) => "a sampler",
        }
    }
}

impl From<&Buffer> for Arg {
    fn from(buffer: &Buffer) -> Arg {
        Arg::Buffer(buffer.clone())
    }
}

impl From<Buffer> for Arg {
    fn from(buffer: Buffer) -> Arg {
        Arg::Buffer(buffer)
    }
}

impl From<&Image> for Arg {
    fn from(image: &Image) -> Arg {
        Arg::Image(image.clone())
    }
}

impl From<Image> for Arg {
    fn from(image: Image) -> Arg {
        Arg::Image(image)
    }
}

impl From<Sampler> for Arg {
    fn from(sampler: Sampler) -> Arg {
        Arg::Sampler(sampler)
    }
}

impl From<Vec<u8>> for Arg {
    fn from(bytes: Vec<u8>) -> Arg {
        Arg::Bytes(bytes)
    }
}

impl From<&[u8]> for Arg {
    fn from(bytes: &[u8]) -> Arg {
        Arg::Bytes(bytes.to_vec())
    }
}

macro_rules! numbers {
    ($($ty:ident)*) => {
        $(impl From<$ty> for Arg {
            fn from(number: $ty) -> Arg {
                Arg::Bytes(number.to_le_bytes().to_vec())
            }
        })*
    };
}

numbers!(u8 i8 u16 i16 u32 i32 u64 i64 f32 f64);
