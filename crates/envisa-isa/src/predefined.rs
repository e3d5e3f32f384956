//! Predefined variables, surfaces and samplers (specification chapter 4): what every object starts with.

use crate::Type;

/// A predefined general variable.
#[derive(Clone, Copy, Debug)]
pub struct PredefVar {
    /// Name in text, with its `%`.
    pub name: &'static str,
    /// Element type.
    pub ty: Type,
    /// Number of elements (for `%arg` and `%retval` with 32-byte GRFs; double the bytes with 64).
    pub elems: u16,
}

const fn v(name: &'static str, ty: Type, elems: u16) -> PredefVar {
    PredefVar { name, ty, elems }
}

/// `V0` to `V21`, of which [`vars`] says what a version has.
pub const VARS: [PredefVar; 22] = [
    v("%null", Type::Ud, 1),
    v("%thread_x", Type::Uw, 1),
    v("%thread_y", Type::Uw, 1),
    v("%group_id_x", Type::Ud, 1),
    v("%group_id_y", Type::Ud, 1),
    v("%group_id_z", Type::Ud, 1),
    v("%tsc", Type::Ud, 5),
    v("%r0", Type::Ud, 8),
    v("%arg", Type::Ud, 256),
    v("%retval", Type::Ud, 96),
    v("%sp", Type::Uq, 1),
    v("%fp", Type::Uq, 1),
    v("%hw_id", Type::Ud, 1),
    v("%sr0", Type::Ud, 4),
    v("%cr0", Type::Ud, 3),
    v("%ce0", Type::Ud, 1),
    v("%dbg0", Type::Ud, 2),
    v("%color", Type::Uw, 1),
    v("%impl_arg_buf_ptr", Type::Uq, 1),
    v("%local_id_buf_ptr", Type::Uq, 1),
    v("%msg0", Type::Ud, 3),
    v("%scratchloc", Type::Uq, 1),
];

/// The predefined general variables of a format version: `%scratchloc` came with 4.2.
pub const fn vars(version: (u8, u8)) -> &'static [PredefVar] {
    let late = version.0 > 4 || version.0 == 4 && version.1 >= 2;
    if late { &VARS } else { VARS.split_at(var::SCRATCHLOC as usize).0 }
}

/// First declared general variable.
pub const FIRST_VAR: u32 = 32;
/// First declared predicate.
pub const FIRST_PREDICATE: u16 = 1;
/// First declared surface.
pub const FIRST_SURFACE: u8 = 6;

/// `T0` to `T5` by their names in text: SLM, two unused, stateless (`T255` of old), bindless, scratch.
pub const SURFACES: [&str; 6] = ["%slm", "T1", "T2", "TSS", "%bss", "%scratch"];
/// The SLM surface.
pub const SURFACE_SLM: u8 = 0;
/// The bindless surface.
pub const SURFACE_BSS: u8 = 4;
/// The scratch / stateless surface, `T5` on the pages.
pub const SURFACE_SCRATCH: u8 = 5;
/// The bindless sampler.
pub const SAMPLER_BINDLESS: u8 = 31;
/// Its name in text.
pub const SAMPLER_BINDLESS_NAME: &str = "S31";

/// Named indices into [`VARS`].
#[allow(missing_docs)]
pub mod var {
    pub const NULL: u32 = 0;
    pub const THREAD_X: u32 = 1;
    pub const THREAD_Y: u32 = 2;
    pub const GROUP_ID_X: u32 = 3;
    pub const GROUP_ID_Y: u32 = 4;
    pub const GROUP_ID_Z: u32 = 5;
    pub const TSC: u32 = 6;
    pub const R0: u32 = 7;
    pub const ARG: u32 = 8;
    pub const RETVAL: u32 = 9;
    pub const SP: u32 = 10;
    pub const FP: u32 = 11;
    pub const HW_ID: u32 = 12;
    pub const SR0: u32 = 13;
    pub const CR0: u32 = 14;
    pub const CE0: u32 = 15;
    pub const DBG0: u32 = 16;
    pub const COLOR: u32 = 17;
    pub const IMPL_ARG_BUF_PTR: u32 = 18;
    pub const LOCAL_ID_BUF_PTR: u32 = 19;
    pub const MSG0: u32 = 20;
    pub const SCRATCHLOC: u32 = 21;
}
