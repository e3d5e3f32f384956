//! Barriers, fences, caches, and what marks places for tools.

use super::common::*;
use crate::desc::*;
use crate::operation::*;
use crate::{Platforms, TypeSet};

const SYNC: InstDesc = InstDesc { family: Family::Sync, ..EMPTY };
const MISC: InstDesc = InstDesc { family: Family::Misc, ..EMPTY };

/// `BARRIER`.
pub static BARRIER: InstDesc = InstDesc {
    name: "BARRIER",
    operation: Some(Operation::Barrier(Barrier::Whole)),
    opcode: 0x59,
    forms: &[form("barrier", "barrier")],
    effect: Effect::Barrier,
    page: "BARRIER",
    brief: "Waits for all threads of the group; also orders memory.",
    semantics: "signal the group's barrier; wait until all its threads have",
    note: "Undefined where control flow has diverged.",
    ..SYNC
};

/// `SAMPLER_CACHE_FLUSH`, page CACHE_FLUSH.
pub static SAMPLER_CACHE_FLUSH: InstDesc = InstDesc {
    name: "SAMPLER_CACHE_FLUSH",
    operation: Some(Operation::Fence),
    opcode: 0x5a,
    forms: &[form("sampler_cache_flush", "sampler_cache_flush")],
    effect: Effect::Fence,
    page: "CACHE_FLUSH",
    brief: "Flushes the texture caches of the sampler.",
    semantics: "flush",
    note: "The page spells it CACHE_FLUSH.",
    ..SYNC
};

/// `WAIT`.
pub static WAIT: InstDesc = InstDesc {
    name: "WAIT",
    operation: Some(Operation::Nothing),
    opcode: 0x5b,
    slots: &[src(SlotName::Mask, Classes::GII, INT32)],
    forms: &[form("wait", "wait {mask}")],
    page: "WAIT",
    brief: "Waits for the threads that this one depends on.",
    semantics: "for i in 0..8: if mask.bit[i] clear dependency i; wait for the rest",
    note: "Before 3.1 it had no operand. The page demands ub, the reference tools do not. Threads depend on others where a thread space has a dependency pattern, which no launch here has: nothing is waited for.",
    ..SYNC
};

/// `FENCE`.
pub static FENCE: InstDesc = InstDesc {
    name: "FENCE",
    operation: Some(Operation::Fence),
    opcode: 0x5c,
    slots: &[packed(
        SlotName::Mask,
        1,
        &[
            flag(PartName::Commit, 0),
            flag(PartName::Instruction, 1),
            flag(PartName::Sampler, 2),
            flag(PartName::Constant, 3),
            flag(PartName::ReadWrite, 4),
            flag(PartName::Local, 5),
            flag(PartName::L1, 6),
            flag(PartName::Software, 7),
        ],
        "commit, caches to flush, local memory only, scheduling only",
    )],
    forms: &[
        fixed(
            "fence_sw",
            "fence_sw[.local?mask.local]{@fence_flags}",
            &[(SlotName::Mask.part(PartName::Software), 1)],
        ),
        fixed(
            "fence_local",
            "fence_local{@fence_flags}",
            &[(SlotName::Mask.part(PartName::Software), 0), (SlotName::Mask.part(PartName::Local), 1)],
        ),
        fixed(
            "fence_global",
            "fence_global{@fence_flags}",
            &[(SlotName::Mask.part(PartName::Software), 0), (SlotName::Mask.part(PartName::Local), 0)],
        ),
    ],
    effect: Effect::Fence,
    page: "FENCE",
    brief: "Orders memory; may flush caches.",
    semantics: "accesses before it are done before those after it",
    note: "Flags are the letters E I S C R and L1, in this order, after one dot; none may be set. 4.1 text has no flags on fence_sw; here it has, and `.local`. Local memory only: from ICLLP on.",
    ..SYNC
};

/// `YIELD`.
pub static YIELD: InstDesc = InstDesc {
    name: "YIELD",
    operation: Some(Operation::Nothing),
    opcode: 0x5f,
    forms: &[form("yield", "yield")],
    page: "YIELD",
    brief: "Lets another hardware thread run.",
    semantics: "nothing",
    ..SYNC
};

const NB_MODE: Slot =
    field(SlotName::Mode, Enc::Values(&[val(0, "wait"), val(1, "signal")]), "wait or signal");
const NB_ID: Slot = src(SlotName::Id, Classes::GII, INT32);

/// `NBARRIER`, up to 4.1.
pub static NBARRIER: InstDesc = InstDesc {
    name: "NBARRIER",
    operation: Some(Operation::Barrier(Barrier::Named)),
    opcode: 0x60,
    versions: Versions::V41,
    slots: &[NB_MODE, NB_ID, src(SlotName::NumThreads, Classes::GII, INT32)],
    forms: &[
        fixed("nbarrier", "nbarrier.signal {id} {num_threads}", &[(SlotName::Mode.whole(), 1)]),
        Form {
            head: "nbarrier",
            template: "nbarrier.wait {id}",
            fixed: &[(SlotName::Mode.whole(), 0)],
            copies: &[(SlotName::NumThreads, SlotName::Id)],
        },
    ],
    platforms: Platforms::PVC_UP,
    effect: Effect::Barrier,
    page: "NBARRIER",
    brief: "Signals, or waits at, one of the group's named barriers.",
    semantics: "signal: arrive at barrier id of num_threads threads; wait: until they all have",
    note: "The page describes 4.2, which has more operands. Of a wait the last operand is ignored; the reference assembler writes a copy of the id.",
    ..SYNC
};

/// `NBARRIER`, from 4.2.
pub static NBARRIER_42: InstDesc = InstDesc {
    name: "NBARRIER",
    operation: Some(Operation::Barrier(Barrier::Named)),
    opcode: 0x60,
    versions: Versions::V42,
    slots: &[
        NB_MODE,
        NB_ID,
        src(SlotName::Type, Classes::GII, INT32),
        src(SlotName::NumProducers, Classes::GII, INT32),
        src(SlotName::NumConsumers, Classes::GII, INT32),
    ],
    forms: &[
        fixed(
            "nbarrier",
            "nbarrier.signal {id} {type} {num_producers} {num_consumers}",
            &[(SlotName::Mode.whole(), 1)],
        ),
        Form {
            head: "nbarrier",
            template: "nbarrier.signal {id} {num_producers}",
            fixed: &[(SlotName::Mode.whole(), 1), (SlotName::Type.whole(), 0)],
            copies: &[(SlotName::NumConsumers, SlotName::NumProducers)],
        },
        Form {
            head: "nbarrier",
            template: "nbarrier.wait {id}",
            fixed: &[(SlotName::Mode.whole(), 0)],
            copies: &[
                (SlotName::Type, SlotName::Id),
                (SlotName::NumProducers, SlotName::Id),
                (SlotName::NumConsumers, SlotName::Id),
            ],
        },
    ],
    platforms: Platforms::PVC_UP,
    effect: Effect::Barrier,
    page: "NBARRIER",
    brief: "Signals, or waits at, one of the group's named barriers.",
    semantics: "signal: arrive at barrier id as producer and consumer (type 0), producer (1) or consumer (2); wait: until all have arrived",
    note: "Of a wait only the id counts. The short form with one number of threads is type 0 with that number twice.",
    ..SYNC
};

/// `SBARRIER`.
pub static SBARRIER: InstDesc = InstDesc {
    name: "SBARRIER",
    operation: Some(Operation::Barrier(Barrier::Split)),
    opcode: 0x7c,
    slots: &[field(SlotName::Mode, Enc::Values(&[val(0, "wait"), val(1, "signal")]), "wait or signal")],
    forms: &[form("sbarrier", "sbarrier.{mode}")],
    effect: Effect::Barrier,
    page: "SBARRIER",
    brief: "Half of a barrier: signals, or waits for all threads of the group.",
    semantics: "signal: arrive; wait: until all threads of the group have",
    ..SYNC
};

/// `FILE`.
pub static FILE: InstDesc = InstDesc {
    name: "FILE",
    operation: Some(Operation::Nothing),
    opcode: 0x51,
    slots: &[Slot {
        name: SlotName::File,
        kind: SlotKind::Str { width: 4 },
        role: Role::Field,
        types: TypeSet::NONE,
        bytes: Bytes::None,
        doc: "name of the source file, at most 255 bytes",
        since: (0, 0),
    }],
    forms: &[form("FILE", "FILE {file}"), form(".file", ".file {file}")],
    page: "FILE",
    brief: "Names the source file of what follows.",
    semantics: "nothing",
    ..MISC
};

/// `LOC`.
pub static LOC: InstDesc = InstDesc {
    name: "LOC",
    operation: Some(Operation::Nothing),
    opcode: 0x52,
    slots: &[wide(SlotName::Line, 4, Enc::Number { max: u32::MAX }, "line")],
    forms: &[form("LOC", "LOC {line}"), form(".loc", ".loc {line}")],
    page: "LOC",
    brief: "Gives the source line of what follows.",
    semantics: "nothing",
    ..MISC
};

const CLASSES: &[Value] = &[val(0, "general"), val(1, "address"), val(2, "predicate")];

/// `LIFETIME`.
pub static LIFETIME: InstDesc = InstDesc {
    name: "LIFETIME",
    operation: Some(Operation::Nothing),
    opcode: 0x7b,
    slots: &[
        packed(
            SlotName::Properties,
            1,
            &[flag(PartName::End, 0), part(PartName::Class, 4, 2, Enc::Values(CLASSES))],
            "bit 0: start or end; bits 4 and 5: class of the variable",
        ),
        wide(SlotName::Variable, 4, Enc::Number { max: u32::MAX }, "the variable's index in its class"),
    ],
    forms: &[
        fixed("lifetime", "lifetime.start {@lifetime_var}", &[(SlotName::Properties.part(PartName::End), 0)]),
        fixed("lifetime", "lifetime.end {@lifetime_var}", &[(SlotName::Properties.part(PartName::End), 1)]),
    ],
    page: "LIFETIME",
    brief: "Marks where a variable's life starts or ends.",
    semantics: "start: the variable's contents are undefined from here",
    ..MISC
};
