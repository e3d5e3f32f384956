//! How the register image of a compiled kernel's threads is laid out.

use envisa_lower::PrivateMemory;
use envisa_lower::analysis::IdPlaces;
use envisa_zebin::ze_info::{
    AllocationType, ArgType, Kernel, MemoryUsage, PayloadArgument, PerThreadMemoryBuffer,
};

use super::threads::Threads;
use super::{LaunchError, MAX_PAYLOAD};
use crate::thread_inputs::GROUP_IDS;

/// Where the parts of the image are.
#[derive(Clone, Copy, Debug)]
pub struct PayloadLayout {
    /// Where the threads' own part begins: behind r0.
    pub(super) payload_at: usize,
    /// Bytes of the threads' own part.
    pub(super) payload_bytes: u32,
    /// Bytes from the local ids of one dimension to those of the next.
    pub(super) row_bytes: u32,
    /// Where the part begins that threads share.
    pub(super) base: usize,
    /// Bytes of that part.
    pub(super) cross_bytes: usize,
    /// Bytes of the data that come with the command, in a register of their own, and bytes of a register: data behind
    /// them start at the next one. 0: none do.
    inline: (usize, usize),
}

impl PayloadLayout {
    /// That of a kernel, on a device with registers of so many bytes, where the payload starts one register later when there
    /// are no local ids, or does not.
    ///
    /// # Errors
    /// Where the metadata asks for what is not supported.
    pub fn new(kernel: &Kernel, grf_bytes: u32, dummy_local_ids: bool) -> Result<PayloadLayout, LaunchError> {
        let simd = kernel.execution_env.simd_size;
        let vector = simd == 1;
        let mut payload_bytes = kernel.per_thread_payload_size();
        if vector {
            // Its ids are packed, in whole registers.
            payload_bytes = payload_bytes.next_multiple_of(u64::from(grf_bytes));
        }
        let cross_bytes = kernel.cross_thread_payload_size();
        if payload_bytes > MAX_PAYLOAD || cross_bytes > MAX_PAYLOAD {
            return Err(LaunchError::Metadata("the payload is absurdly large".into()));
        }
        for argument in &kernel.per_thread_payload_arguments {
            let expected = if vector { ArgType::PackedLocalIds } else { ArgType::LocalId };
            if argument.arg_type != expected || argument.offset != 0 {
                let what = <&str>::from(argument.arg_type);
                return Err(LaunchError::Unsupported(format!(
                    "per-thread payload `{what}` at offset {}",
                    argument.offset
                )));
            }
        }
        let grf = grf_bytes as usize;
        let before = match payload_bytes as usize {
            0 if dummy_local_ids => grf,
            n => n,
        };
        Ok(PayloadLayout {
            payload_at: grf,
            payload_bytes: payload_bytes as u32,
            row_bytes: if vector { 2 } else { Threads::row_bytes(simd, grf_bytes) },
            base: grf + before,
            cross_bytes: cross_bytes as usize,
            inline: (kernel.execution_env.inline_data_payload_size as usize, grf),
        })
    }

    /// Bytes of the image.
    pub(super) fn image_bytes(&self) -> usize {
        let (inline, grf) = self.inline;
        self.base + grf.saturating_sub(inline) + self.cross_bytes
    }

    /// Where the data at this offset of the part that threads share stand in the image.
    pub(super) fn image_offset(&self, offset: u32) -> usize {
        let (inline, grf) = self.inline;
        let offset = offset as usize;
        if inline > 0 && inline < grf && offset >= inline {
            self.base + grf + offset - inline
        } else {
            self.base + offset
        }
    }

    /// Private memory that a kernel has in global memory, for each channel as much.
    pub fn private_memory(&self, kernel: &Kernel) -> Option<PrivateMemory> {
        let base = kernel.payload_arguments.iter().find(|p| p.arg_type == ArgType::PrivateBaseStateless)?;
        let own = |b: &&PerThreadMemoryBuffer| {
            (b.allocation, b.usage) == (AllocationType::Global, MemoryUsage::PrivateSpace)
        };
        let mut all = kernel.per_thread_memory_buffers.iter().filter(own);
        let (one, none) = (all.next()?, all.next());
        let image = self.image_offset(base.offset) as u32;
        (base.size == 8 && one.is_simt_thread && none.is_none())
            .then_some(PrivateMemory { image, bytes: one.size })
    }

    /// Where a kernel is told of groups.
    pub fn id_places(&self, kernel: &Kernel) -> IdPlaces {
        let all = |wanted: &[ArgType]| {
            let found = kernel.payload_arguments.iter().filter(|p| wanted.contains(&p.arg_type));
            let place = |p: &PayloadArgument| {
                let at = self.image_offset(p.offset) as u32;
                at..at.saturating_add(p.size)
            };
            found.map(place).collect::<Vec<_>>()
        };
        let others = all(&[
            ArgType::GroupCount,
            ArgType::PrivateBaseStateless,
            ArgType::PrintfBuffer,
            ArgType::ImplicitArgBuffer,
            ArgType::SyncBuffer,
            ArgType::RtGlobalBuffer,
            ArgType::AssertBuffer,
            ArgType::IndirectDataPointer,
            ArgType::ScratchPointer,
            ArgType::RegionGroupSize,
            ArgType::RegionGroupDimension,
            ArgType::RegionGroupWgCount,
            ArgType::RegionGroupBarrierBuffer,
        ]);
        IdPlaces {
            group: GROUP_IDS.map(|at| at.start),
            local: (self.payload_bytes > 0).then_some((self.payload_at as u32, self.row_bytes)),
            sizes: all(&[ArgType::LocalSize, ArgType::EnqueuedLocalSize]).iter().map(|s| s.start).collect(),
            others,
        }
    }
}
