//! A launch that a debugger runs instruction by instruction, and restarts as often as it wants.

use crate::bound_arguments::find;
use crate::error::Error;
use crate::fault::{Fault, Place};
use crate::finding_positions::{FindingPositions, find_positions};
use crate::kernel::{Code, Kernel};
use crate::launch::{Arg, Launch};
use crate::run::Run;
use envisa_diag::FileId;
use envisa_lower::Program;
use envisa_machine::dispatch::{Prepared, Threads};
use envisa_machine::engine::{Instructions, LaunchView};
use envisa_machine::group::paused::{Order, Paused};
use envisa_machine::memory::Block;
use envisa_machine::trap::Trap;
use envisa_zebin::dwarf::LocalVariable;
use std::sync::Arc;

/// A launch with memory as it was before: see [`Run::stage`].
pub struct Stage<'a> {
    kernel: &'a Kernel,
    launch: &'a Launch,
    view: LaunchView<'a>,
    instructions: Arc<dyn Instructions>,
    /// What allocations held, and the window.
    memory: Vec<Kept>,
    window: Kept,
}

/// The content of a block.
enum Kept {
    Zeros,
    Bytes(Vec<u8>),
}

impl Kept {
    fn of(block: &Block) -> Kept {
        let bytes = block.to_vec();
        if bytes.iter().all(|b| *b == 0) { Kept::Zeros } else { Kept::Bytes(bytes) }
    }

    fn put(&self, block: &Block) {
        match self {
            Kept::Zeros => block.clear(0, block.len()),
            Kept::Bytes(bytes) => block.copy_in(0, bytes),
        };
    }
}

/// What an argument was given.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Given {
    /// A buffer.
    Buffer {
        /// Where it begins.
        address: u64,
        /// Its bytes.
        bytes: u64,
    },
    /// Shared local memory.
    Local {
        /// Where it begins in that of the group.
        offset: u64,
        /// Its bytes.
        bytes: u64,
    },
    /// A value.
    Value(Vec<u8>),
    /// An image, a sampler, or nothing.
    Other(&'static str),
}

impl<'a> Stage<'a> {
    pub(crate) fn new(
        kernel: &'a Kernel,
        launch: &'a Launch,
        prepared: &'a Prepared,
        limit: u64,
    ) -> Stage<'a> {
        let code = &*kernel.code;
        let view = LaunchView::new(code.program(), prepared, &code.linked, limit, false);
        Stage {
            kernel,
            launch,
            view: view.allow_stray_reads(launch.stray_reads),
            instructions: code.executable.written(),
            memory: prepared.map.iter().map(|a| Kept::of(&a.block)).collect(),
            window: Kept::of(&prepared.window),
        }
    }

    /// The launch before its first instruction, with memory as it was; the log takes so many bytes.
    ///
    /// # Errors
    /// [`Error::Launch`]: the host has no memory for a group.
    pub fn begin(&self, order: Order, history: u64) -> Result<Paused<'_>, Error> {
        self.put_memory();
        Paused::new(&self.view, Arc::clone(&self.instructions), order, history)
            .map_err(|trap| Error::Launch(trap.cause.to_string()))
    }

    fn put_memory(&self) {
        let prepared = self.view.prepared;
        for (a, kept) in prepared.map.iter().zip(&self.memory) {
            kept.put(&a.block);
        }
        self.window.put(&prepared.window);
    }

    /// What checks and hints find in the whole launch, and where: it runs, with memory as it was, and memory is as it leaves
    /// it then. Who has begun it must begin again.
    pub fn findings(&self, order: crate::launch::Order) -> Vec<FindingPositions> {
        self.put_memory();
        find_positions(self.code(), self.launch, self.view.prepared, (self.view.limit, order))
    }

    /// The kernel.
    pub fn kernel(&self) -> &'a Kernel {
        self.kernel
    }

    /// The program that runs: as it was written.
    pub fn program(&self) -> &'a Program {
        self.kernel.code.program()
    }

    /// What all threads share.
    pub fn view(&self) -> &LaunchView<'a> {
        &self.view
    }

    fn code(&self) -> &'a Code {
        &self.kernel.code
    }

    /// The fault of a thread.
    pub fn fault(&self, trap: &Trap) -> Fault {
        Fault::new(self.code(), trap, &[])
    }

    /// What the kernel printed up to now.
    pub fn printed(&self) -> String {
        self.view.prepared.printed().map(|p| p.text).unwrap_or_default()
    }

    /// The place of an instruction, by program counter.
    pub fn place(&self, pc: u32) -> Option<Place> {
        let program = self.program();
        let inst = program.code().get(pc as usize)?;
        let function = program.functions().get(usize::from(inst.function))?;
        Some(Place::new(self.code(), &function.name, inst.source, inst.span))
    }

    /// An instruction as it is written, by program counter.
    pub fn written(&self, pc: u32) -> Option<String> {
        self.place(pc)?.written(self.code())
    }

    /// The text of one of the program's source files, if it was given.
    pub fn source(&self, file: u16) -> Option<FileId> {
        self.code().sources.get(usize::from(file))?.as_ref().map(|source| source.file)
    }

    /// The file of a function's vISA.
    pub fn visa_file(&self, function: u16) -> Option<FileId> {
        let name = &self.program().functions().get(usize::from(function))?.name;
        Some(self.code().file_of(name))
    }

    /// What the kernel declares in shared local memory.
    pub fn local_variables(&self) -> &'a [LocalVariable] {
        self.code().metadata.as_ref().map_or(&[], |m| &m.local_variables)
    }

    /// The local id of a group's work-item by its number, of compiled kernels.
    pub fn local_id(&self, item: u32, local: [u32; 3]) -> [u32; 3] {
        let walk = self.code().id_order();
        Threads { simd: 1, channels: 1, payload_bytes: 0, row_bytes: 0, walk }.local_id(item, local)
    }

    /// The first global id.
    pub fn first_id(&self) -> [u64; 3] {
        let mut first = [0; 3];
        first.iter_mut().zip(self.launch.offset.numbers()).for_each(|(to, n)| *to = *n);
        first
    }

    /// Work-items in each dimension; of thread groups, of a compiled kernel's launch nothing else, channels.
    pub fn global_size(&self) -> [u64; 3] {
        let mut sizes = [1; 3];
        if let crate::launch::Sizes::Range { global, .. } = &self.launch.sizes {
            sizes.iter_mut().zip(global.numbers()).for_each(|(to, n)| *to = *n);
        }
        sizes
    }

    /// What the arguments were given, by index.
    pub fn given(&self) -> Vec<Option<Given>> {
        let code = self.code();
        let mut all = vec![None; code.arguments.len()];
        for (key, arg) in &self.launch.args {
            let Ok(i) = find(code, key) else { continue };
            let regions = &self.view.prepared.local_regions;
            let local = || regions.iter().find(|r| r.argument == Some(i as u32));
            let given = match arg {
                Arg::Buffer(b) | Arg::Within(b) => Given::Buffer { address: b.address(), bytes: b.len() },
                Arg::Bytes(bytes) => Given::Value(bytes.to_vec()),
                Arg::Image(_) => Given::Other("an image"),
                Arg::Sampler(_) => Given::Other("a sampler"),
                Arg::Null => Given::Other("a null pointer"),
                Arg::Pointer(address) => Given::Buffer { address: *address, bytes: 0 },
                _ => match local() {
                    Some(r) => Given::Local { offset: r.start, bytes: r.bytes },
                    None => Given::Other("nothing"),
                },
            };
            if let Some(place) = all.get_mut(i) {
                *place = Some(given);
            }
        }
        all
    }
}

impl Run {
    /// Puts it on a stage, where `play` runs it instruction by instruction, by the interpreter. Memory keeps what the
    /// last one that began left.
    ///
    /// # Errors
    /// As [`Run::wait`].
    pub fn stage<T>(self, play: impl FnOnce(&Stage<'_>) -> T) -> Result<T, Error> {
        self.staged(|kernel, launch, prepared, limit| play(&Stage::new(kernel, launch, prepared, limit)))
    }
}
