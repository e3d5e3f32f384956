//! Sampler messages, render targets and URB.

use super::common::*;
use crate::desc::*;
use crate::operation::*;
use crate::{Platform, Platforms, Type, TypeSet};

const SAMPLER: InstDesc = InstDesc {
    family: Family::Sampler,
    effect: Effect::Sample,
    exec_sizes: 1 << 3 | 1 << 4 | 1 << 5,
    platforms: BEFORE_PVC,
    ..EMPTY
};
/// Old media messages: `(8)`, `(16)` and `(32)` instead of an execution size.
const MEDIA: InstDesc =
    InstDesc { family: Family::Sampler, effect: Effect::Sample, platforms: BEFORE_PVC, ..EMPTY };
/// The pages gate the sampler before PVC; hardware after PVC has it again.
const BEFORE_PVC: Platforms = Platforms::ALL.without(Platforms::of(&[Platform::Pvc, Platform::Pvcxt]));
const XE2: Platforms = Platforms::from(Platform::Xe2);
const BEFORE_XE2: Platforms = BEFORE_PVC.without(XE2);

/// Where surfaces and samplers may be addresses of states, in registers.
const ADDRESSES: Platforms = Platforms::from(Platform::Xe3p);
const IMAGE: SurfaceRule = SurfaceRule {
    slm: Platforms::NONE,
    stateless: Platforms::NONE,
    shape: SurfaceShape::Any,
    address: Platforms::NONE,
};
const STATE_OF_IMAGE: SurfaceRule = SurfaceRule { address: ADDRESSES, ..IMAGE };
const STATE_OF_SAMPLER: Slot = Slot { kind: SlotKind::Sampler { address: ADDRESSES }, ..STATE };
const STATE: Slot = Slot {
    name: SlotName::Sampler,
    kind: SlotKind::Sampler { address: Platforms::NONE },
    role: Role::Read,
    types: TypeSet::NONE,
    bytes: Bytes::None,
    doc: "sampler",
    since: (0, 0),
};
const COLOR: TypeSet = TypeSet::of(&[Type::F, Type::Hf, Type::Ud, Type::D, Type::Uw, Type::W]);

const FLAGS: Slot = packed(
    SlotName::Flags,
    1,
    &[flag(PartName::PixelNullMask, 0), flag(PartName::Cps, 1), flag(PartName::DivS, 2)],
    "bit 0: return the pixel null mask; bit 1: CPS LOD compensation; bit 2: non-uniform sampler",
);
const CHANNELS: Slot = field(SlotName::Channels, Enc::Channels, "channels to return, R is bit 0");
const CHANNEL: Slot = field(
    SlotName::Channel,
    Enc::Values(&[val(0, "R"), val(1, "G"), val(2, "B"), val(3, "A")]),
    "the channel to gather",
);
const OFFSET: Slot = src(SlotName::Offset, Classes::GII, TypeSet::of(&[Type::Uw, Type::Ud]));
const DST: Slot = raw_dst(COLOR, "channels one after another, each at a register").touches(Bytes::Sampled);
const NUM: Slot = Slot {
    name: SlotName::NumParams,
    kind: SlotKind::Count { width: 1, min: 0, max: 15 },
    role: Role::Field,
    types: TypeSet::NONE,
    bytes: Bytes::None,
    doc: "number of parameters",
    since: (0, 0),
};
const PARAMS: Slot = Slot {
    name: SlotName::Params,
    kind: SlotKind::Many(&SlotKind::Raw { nullable: true }),
    role: Role::Read,
    types: COLOR,
    bytes: Bytes::Coordinates,
    doc: "coordinates and other parameters, in the order of the operation",
    since: (0, 0),
};
const SAMPLE_SLOTS: &[Slot] =
    &[FLAGS, EXEC, PRED, CHANNELS, OFFSET, STATE_OF_SAMPLER, surface(STATE_OF_IMAGE), DST, NUM, PARAMS];
const GATHER_SLOTS: &[Slot] =
    &[FLAGS, EXEC, PRED, CHANNEL, OFFSET, STATE_OF_SAMPLER, surface(STATE_OF_IMAGE), DST, NUM, PARAMS];
const LOAD_SLOTS: &[Slot] = &[FLAGS, EXEC, PRED, CHANNELS, OFFSET, surface(STATE_OF_IMAGE), DST, NUM, PARAMS];

const NOTE: &str = "Opcode and flags are one word: the operation is its low byte. The 4.1 text takes `.divS` and writes no bit for it. The current reader takes a paired surface after dst, which the page does not have; for Xe3P it takes sampler and surface as addresses of states, in registers.";

/// A parameter by the name that the pages give it.
macro_rules! parameter {
    (u) => {
        Parameter::U
    };
    (v) => {
        Parameter::V
    };
    (r) => {
        Parameter::R
    };
    (ai) => {
        Parameter::ArrayIndex
    };
    (bias) => {
        Parameter::Bias
    };
    (lod) => {
        Parameter::Lod
    };
    (mlod) => {
        Parameter::MinLod
    };
    (ref) => {
        Parameter::Reference
    };
    (off_u) => {
        Parameter::OffsetU
    };
    (off_v) => {
        Parameter::OffsetV
    };
    (off_uvr) => {
        Parameter::Offsets
    };
    (bias_off_uvr) => {
        Parameter::LevelOffsets
    };
    (lod_off_uvr) => {
        Parameter::LevelOffsets
    };
    (off_uv) => {
        Parameter::WideOffsets
    };
    (bias_off_uv) => {
        Parameter::LevelWideOffsets
    };
    (lod_off_uv) => {
        Parameter::LevelWideOffsets
    };
    ($gradient:ident) => {
        Parameter::Gradient
    };
}

/// Is it an integer, or does it hold one?
macro_rules! integer {
    (off_u) => {
        true
    };
    (off_v) => {
        true
    };
    (off_uv) => {
        true
    };
    (off_uvr) => {
        true
    };
    (bias_off_uv) => {
        true
    };
    (bias_off_uvr) => {
        true
    };
    (lod_off_uv) => {
        true
    };
    (lod_off_uvr) => {
        true
    };
    ($other:ident) => {
        false
    };
}

macro_rules! sampler {
    (@slots sample) => { SAMPLE_SLOTS };
    (@slots lod) => { SAMPLE_SLOTS };
    (@slots base) => { SAMPLE_SLOTS };
    (@slots packed) => { SAMPLE_SLOTS };
    (@slots kill) => { SAMPLE_SLOTS };
    (@slots gather) => { GATHER_SLOTS };
    (@slots packed_gather) => { GATHER_SLOTS };
    (@slots mcs) => { LOAD_SLOTS };
    (@slots samples) => { LOAD_SLOTS };
    (@slots uvlr) => { LOAD_SLOTS };
    (@slots uvr) => { LOAD_SLOTS };
    (@operation sample $($p:ident)*) => { Operation::Message(Message::Sample(Sampling::Filter, &[$(parameter!($p)),*])) };
    (@operation base $($p:ident)*) => { Operation::Message(Message::Sample(Sampling::Base, &[$(parameter!($p)),*])) };
    (@operation gather $($p:ident)*) => { Operation::Message(Message::Sample(Sampling::Gather, &[$(parameter!($p)),*])) };
    (@operation lod $($p:ident)*) => { Operation::Message(Message::Sample(Sampling::LevelOfDetail, &[$(parameter!($p)),*])) };
    (@operation packed $($p:ident)*) => { Operation::Unsupported(Unsupported::PackedIndex) };
    (@operation packed_gather $($p:ident)*) => { Operation::Unsupported(Unsupported::PackedIndex) };
    (@operation kill $($p:ident)*) => { Operation::Unsupported(Unsupported::NoPage) };
    (@operation mcs $($p:ident)*) => { Operation::Unsupported(Unsupported::Multisampling) };
    (@operation samples $($p:ident)*) => { Operation::Message(Message::SamplerLoad(LoadParameters::Samples)) };
    (@operation uvlr $($p:ident)*) => { Operation::Message(Message::SamplerLoad(LoadParameters::UvLodR)) };
    (@operation uvr $($p:ident)*) => { Operation::Message(Message::SamplerLoad(LoadParameters::Uvr)) };
    (@page gather) => { "3D_SAMPLE4" };
    (@page packed_gather) => { "3D_SAMPLE4" };
    (@page mcs) => { "3D_LOAD" };
    (@page samples) => { "3D_LOAD" };
    (@page uvlr) => { "3D_LOAD" };
    (@page uvr) => { "3D_LOAD" };
    (@page $sample:ident) => { "3D_SAMPLE" };
    (@text gather) => { "[.pixel_null_mask?flags.pixel_null_mask][.cps?flags.cps][.divS?flags.div_s].{channel} {exec} {offset} {sampler} {surface} {dst} {@paired} {params...}" };
    (@text packed_gather) => { sampler!(@text gather) };
    (@text load) => { "[.pixel_null_mask?flags.pixel_null_mask][.cps?flags.cps][.divS?flags.div_s].{channels} {exec} {offset} {surface} {dst} {@paired} {params...}" };
    (@text mcs) => { sampler!(@text load) };
    (@text samples) => { sampler!(@text load) };
    (@text uvlr) => { sampler!(@text load) };
    (@text uvr) => { sampler!(@text load) };
    (@text $sample:ident) => { "[.pixel_null_mask?flags.pixel_null_mask][.cps?flags.cps][.divS?flags.div_s].{channels} {exec} {offset} {sampler} {surface} {dst} {@paired} {params...}" };
    ($(
        $name:ident = $opcode:literal $sub:literal $kind:ident $head:literal $versions:ident $platforms:expr, $($p:ident)*;
    )*) => { $(
        #[doc = concat!("`", stringify!($name), "`.")]
        pub static $name: InstDesc = InstDesc {
            name: stringify!($name),
            opcode: $opcode,
            sub: Some($sub),
            versions: Versions::$versions,
            operation: Some(sampler!(@operation $kind $($p)*)),
            slots: sampler!(@slots $kind),
            forms: &[form($head, concat!("{pred} ", $head, sampler!(@text $kind)))],
            platforms: $platforms,
            parameters: &[$(MessageParameter { name: stringify!($p), integer: integer!($p) }),*],
            page: sampler!(@page $kind),
            brief: concat!("Sampler message `", $head, "`."),
            semantics: concat!("dst = surface filtered by sampler at params; params:", $(" ", stringify!($p)),*),
            note: NOTE,
            ..SAMPLER
        };
    )* };
}

sampler! {
    SAMPLE_3D = 0x6d 0x00 sample "sample_3d" ALL BEFORE_PVC, u v r ai;
    SAMPLE_3D_B = 0x6d 0x01 sample "sample_b" ALL BEFORE_PVC, bias u v r ai;
    SAMPLE_3D_L = 0x6d 0x02 sample "sample_l" ALL BEFORE_PVC, lod u v r ai;
    SAMPLE_3D_C = 0x6d 0x03 sample "sample_c" ALL BEFORE_PVC, ref u v r ai;
    SAMPLE_3D_D = 0x6d 0x04 sample "sample_d" ALL BEFORE_PVC, u dudx dudy v dvdx dvdy r drdx drdy ai;
    SAMPLE_3D_B_C = 0x6d 0x05 sample "sample_b_c" ALL BEFORE_PVC, ref bias u v r ai;
    SAMPLE_3D_L_C = 0x6d 0x06 sample "sample_l_c" ALL BEFORE_PVC, ref lod u v r ai;
    SAMPLE_3D_LOD = 0x6d 0x09 lod "lod" ALL BEFORE_PVC, u v r ai;
    SAMPLE_3D_KILLPIX = 0x6d 0x0c kill "sample_killpix" ALL BEFORE_PVC, u v r;
    SAMPLE_3D_D_C_MLOD = 0x6d 0x11 sample "sample_d_c_mlod" V42 XE2, ref u dudx dudy v dvdx dvdy r drdx drdy ai mlod;
    SAMPLE_3D_MLOD = 0x6d 0x12 sample "sample_mlod" V42 XE2, mlod u v r ai;
    SAMPLE_3D_C_MLOD = 0x6d 0x13 sample "sample_c_mlod" V42 XE2, ref mlod u v r ai;
    SAMPLE_3D_D_C = 0x6d 0x14 sample "sample_d_c" ALL BEFORE_PVC, ref u dudx dudy v dvdx dvdy r drdx drdy ai;
    SAMPLE_3D_LZ = 0x6d 0x18 base "sample_lz" ALL BEFORE_PVC, u v r ai;
    SAMPLE_3D_C_LZ = 0x6d 0x19 base "sample_c_lz" ALL BEFORE_PVC, ref u v r ai;
    SAMPLE_3D_PO = 0x6d 0x20 sample "sample_po" V42 XE2, u v r off_uvr ai;
    SAMPLE_3D_PO_B = 0x6d 0x21 sample "sample_po_b" V42 XE2, bias_off_uvr u v r ai;
    SAMPLE_3D_PO_L = 0x6d 0x22 sample "sample_po_l" V42 XE2, lod_off_uvr u v r ai;
    SAMPLE_3D_PO_C = 0x6d 0x23 packed "sample_po_c" V42 XE2, ref u v off_uv_r lod;
    SAMPLE_3D_PO_D = 0x6d 0x24 packed "sample_po_d" V42 XE2, u dudx dudy v dvdx dvdy off_uvr_r lod;
    SAMPLE_3D_PO_L_C = 0x6d 0x26 sample "sample_po_l_c" V42 XE2, ref lod_off_uvr u v r ai;
    SAMPLE_3D_PO_LZ = 0x6d 0x38 base "sample_po_lz" V42 XE2, u v r off_uvr ai;
    SAMPLE_3D_PO_C_LZ = 0x6d 0x39 packed "sample_po_c_lz" V42 XE2, ref u v off_uv_r;
    SAMPLE_3D_PO_B_C = 0x6d 0x3a sample "sample_po_b_c" V42 XE2, ref bias_off_uvr u v r ai;
    SAMPLE_3D_PO_D_C = 0x6d 0x3b packed "sample_po_d_c" V42 XE2, ref u dudx dudy v dvdx dvdy r off_uvr_r drdx drdy ai;
    LOAD_3D = 0x6e 0x07 uvlr "load_3d" ALL BEFORE_PVC, u v lod r;
    LOAD_3D_LZ = 0x6e 0x1a uvr "load_lz" ALL BEFORE_PVC, u v r;
    LOAD_3D_L = 0x6e 0x1b uvlr "load_l" ALL BEFORE_PVC, u v lod r;
    LOAD_3D_2DMS_W = 0x6e 0x1c samples "load_2dms_w" ALL BEFORE_PVC, si mcs0 mcs1 mcs2 mcs3 u v r lod;
    LOAD_3D_MCS = 0x6e 0x1d mcs "load_mcs" ALL BEFORE_PVC, u v r lod;
    SAMPLE4_3D = 0x6f 0x08 gather "sample4" ALL BEFORE_PVC, u v r ai;
    SAMPLE4_3D_L = 0x6f 0x0d gather "sample4_l" V42 XE2, lod u v r ai;
    SAMPLE4_3D_B = 0x6f 0x0e gather "sample4_b" V42 XE2, bias u v r ai;
    SAMPLE4_3D_I = 0x6f 0x0f gather "sample4_i" V42 XE2, u v r ai;
    SAMPLE4_3D_C = 0x6f 0x10 gather "sample4_c" ALL BEFORE_PVC, ref u v r ai;
    SAMPLE4_3D_PO = 0x6f 0x11 gather "sample4_po" ALL BEFORE_XE2, u v off_u off_v r;
    SAMPLE4_3D_PO_C = 0x6f 0x12 gather "sample4_po_c" ALL BEFORE_XE2, ref u v off_u off_v r;
    SAMPLE4_3D_I_C = 0x6f 0x15 gather "sample4_i_c" V42 XE2, ref u v r ai;
    SAMPLE4_3D_L_C = 0x6f 0x17 gather "sample4_l_c" V42 XE2, ref lod u v r ai;
    SAMPLE4_3D_PO_PACKED = 0x6f 0x28 gather "sample4_po_packed" V42 XE2, u v off_uv r;
    SAMPLE4_3D_PO_PACKED_L = 0x6f 0x2d gather "sample4_po_packed_l" V42 XE2, lod_off_uv u v r ai;
    SAMPLE4_3D_PO_PACKED_B = 0x6f 0x2e gather "sample4_po_packed_b" V42 XE2, bias_off_uv u v r ai;
    SAMPLE4_3D_PO_PACKED_I = 0x6f 0x2f gather "sample4_po_packed_i" V42 XE2, u v r off_uv;
    SAMPLE4_3D_PO_PACKED_C = 0x6f 0x30 packed_gather "sample4_po_packed_c" V42 XE2, ref u v off_uvr_r;
    SAMPLE4_3D_PO_PACKED_I_C = 0x6f 0x35 packed_gather "sample4_po_packed_i_c" V42 XE2, ref u v off_uv_r;
    SAMPLE4_3D_PO_PACKED_L_C = 0x6f 0x37 gather "sample4_po_packed_l_c" V42 XE2, ref lod_off_uv u v r ai;
}

/// `RESINFO`, page INFO.
pub static RESINFO: InstDesc = InstDesc {
    name: "RESINFO",
    operation: Some(Operation::Message(Message::ImageSize)),
    opcode: 0x70,
    sub: Some(0x0a),
    slots: &[
        EXEC,
        CHANNELS,
        surface(STATE_OF_IMAGE),
        raw_src(SlotName::Lod, UD, "levels of detail").touches(Bytes::PerChannel(4)),
        raw_dst(TypeSet::of(&[Type::Ud, Type::F]), "channels one after another, each at a register")
            .touches(Bytes::Rows { mask: SlotName::Channels.whole() }),
    ],
    forms: &[form("resinfo", "resinfo.{channels} {exec} {surface} {lod} {dst}")],
    page: "INFO",
    brief: "Size of a level of an image and number of levels.",
    semantics: "dst.R, G, B = width, height, depth of level lod[i]; dst.A = number of levels",
    ..SAMPLER
};

/// `SAMPLEINFO`, page INFO.
pub static SAMPLEINFO: InstDesc = InstDesc {
    name: "SAMPLEINFO",
    operation: Some(Operation::Message(Message::ImageSamples)),
    opcode: 0x70,
    sub: Some(0x0b),
    slots: &[
        EXEC,
        CHANNELS,
        surface(STATE_OF_IMAGE),
        raw_dst(TypeSet::of(&[Type::Ud, Type::F]), "channels one after another, each at a register")
            .touches(Bytes::Rows { mask: SlotName::Channels.whole() }),
    ],
    forms: &[form("sampleinfo", "sampleinfo.{channels} {exec} {surface} {dst}")],
    page: "INFO",
    brief: "Number and palette of samples of an image.",
    semantics: "dst.R = number of samples; dst.A = palette index",
    ..SAMPLER
};

const SIMD: &[Value] = &[val(0, "8"), val(1, "16"), val(2, "32")];
const MODE: Slot = packed(
    SlotName::Mode,
    1,
    &[part(PartName::Channels, 0, 4, Enc::Channels), part(PartName::Simd, 4, 2, Enc::Values(SIMD))],
    "bits 0 to 3: channels; bits 4 and 5: number of pixels",
);

/// `SAMPLE`, not on a page.
pub static SAMPLE: InstDesc = InstDesc {
    name: "SAMPLE",
    operation: Some(Operation::Unsupported(Unsupported::NoPage)),
    opcode: 0x40,
    slots: &[
        MODE,
        STATE,
        surface(IMAGE),
        raw_src(SlotName::U, SINGLE, "U coordinates")
            .touches(Bytes::Elements(SlotName::Mode.part(PartName::Simd), 4)),
        raw_src(SlotName::V, SINGLE, "V coordinates")
            .touches(Bytes::Elements(SlotName::Mode.part(PartName::Simd), 4)),
        raw_src(SlotName::R, SINGLE, "R coordinates")
            .touches(Bytes::Elements(SlotName::Mode.part(PartName::Simd), 4)),
        raw_dst(COLOR, "channels one after another").touches(Bytes::OldRows {
            mask: SlotName::Mode.part(PartName::Channels),
            lanes: SlotName::Mode.part(PartName::Simd),
        }),
    ],
    forms: &[
        form("sample", "sample.{mode.channels} ({mode.simd}) {sampler} {surface} {u} {v} {r} {dst}"),
        fixed(
            "sample",
            "sample.{mode.channels} {sampler} {surface} {u} {v} {r} {dst}",
            &[(SlotName::Mode.part(PartName::Simd), 0)],
        ),
    ],
    brief: "Samples an image; the old media form.",
    semantics: "dst = surface filtered by sampler at (u[i], v[i], r[i])",
    note: "Obsolete: the opcode list has it, but no page describes it.",
    ..MEDIA
};

/// `LOAD`, not on a page.
pub static LOAD: InstDesc = InstDesc {
    name: "LOAD",
    operation: Some(Operation::Unsupported(Unsupported::NoPage)),
    opcode: 0x42,
    slots: &[
        MODE,
        surface(IMAGE),
        raw_src(SlotName::U, TypeSet::ANY, "U coordinates")
            .touches(Bytes::Elements(SlotName::Mode.part(PartName::Simd), 4)),
        raw_src(SlotName::V, TypeSet::ANY, "V coordinates")
            .touches(Bytes::Elements(SlotName::Mode.part(PartName::Simd), 4)),
        raw_src(SlotName::R, TypeSet::ANY, "R coordinates")
            .touches(Bytes::Elements(SlotName::Mode.part(PartName::Simd), 4)),
        raw_dst(COLOR, "channels one after another").touches(Bytes::OldRows {
            mask: SlotName::Mode.part(PartName::Channels),
            lanes: SlotName::Mode.part(PartName::Simd),
        }),
    ],
    forms: &[
        form("load", "load.{mode.channels} ({mode.simd}) {surface} {u} {v} {r} {dst}"),
        fixed(
            "load",
            "load.{mode.channels} {surface} {u} {v} {r} {dst}",
            &[(SlotName::Mode.part(PartName::Simd), 0)],
        ),
    ],
    brief: "Loads pixels of an image; the old media form.",
    semantics: "dst = surface[u[i], v[i], r[i]]",
    note: "Obsolete: the opcode list has it, but no page describes it.",
    ..MEDIA
};

const OUTPUT: &[Value] =
    &[val(0, "16-full"), val(1, "16-downsampled"), val(2, "8-full"), val(3, "8-downsampled")];

/// `SAMPLE_UNORM`.
pub static SAMPLE_UNORM: InstDesc = InstDesc {
    name: "SAMPLE_UNORM",
    operation: Some(Operation::Unsupported(Unsupported::PixelBlock)),
    opcode: 0x41,
    slots: &[
        packed(
            SlotName::Mode,
            1,
            &[
                part(PartName::Channels, 0, 4, Enc::Channels),
                part(PartName::Output, 4, 2, Enc::Values(OUTPUT)),
            ],
            "bits 0 to 3: channels; bits 4 and 5: format of the output",
        ),
        STATE,
        surface(IMAGE),
        src(SlotName::U, Classes::GII, SINGLE),
        src(SlotName::V, Classes::GII, SINGLE),
        src(SlotName::DeltaU, Classes::GII, SINGLE),
        src(SlotName::DeltaV, Classes::GII, SINGLE),
        raw_dst(UW, "channels one after another"),
    ],
    forms: &[form(
        "sample_unorm",
        "sample_unorm.{mode.channels}.{mode.output} {sampler} {surface} {u} {v} {delta_u} {delta_v} {dst}",
    )],
    page: "SAMPLE_UNORM",
    brief: "Samples a 16 by 4 block of an image to unsigned normalised numbers.",
    semantics: "for pixel (x, y) of 16 by 4: dst = surface filtered at (u + x * delta_u, v + y * delta_v)",
    ..MEDIA
};

/// `AVS`.
pub static AVS: InstDesc = InstDesc {
    name: "AVS",
    operation: Some(Operation::Unsupported(Unsupported::VideoScaler)),
    opcode: 0x43,
    slots: &[
        CHANNELS,
        STATE,
        surface(IMAGE),
        src(SlotName::U, Classes::GII, SINGLE),
        src(SlotName::V, Classes::GII, SINGLE),
        src(SlotName::DeltaU, Classes::GII, SINGLE),
        src(SlotName::DeltaV, Classes::GII, SINGLE),
        src(SlotName::U2d, Classes::GII, SINGLE),
        src(SlotName::GroupId, Classes::GII, UD),
        src(SlotName::VerticalBlock, Classes::GII, UD),
        field(
            SlotName::Output,
            Enc::Values(&[
                val(0, "AVS_16_FULL"),
                val(1, "AVS_16_DOWN_SAMPLE"),
                val(2, "AVS_8_FULL"),
                val(3, "AVS_8_DOWN_SAMPLE"),
            ]),
            "format of the output",
        ),
        src(SlotName::V2d, Classes::GII, SINGLE),
        field(SlotName::Mode, Enc::Values(&[val(0, "AVS_16x4"), val(2, "AVS_16x8")]), "size of the block"),
        src(SlotName::IefBypass, Classes::GII, TypeSet::of(&[Type::Ub])),
        raw_dst(TypeSet::ANY, "the block"),
    ],
    forms: &[form(
        "avs",
        "avs.{channels} {sampler} {surface} {u} {v} {delta_u} {delta_v} {u2d} {group_id} {vertical_block} {output} {v2d} {mode} {ief_bypass} {dst}",
    )],
    platforms: Platforms::before(Platform::Tgllp),
    page: "AVS",
    brief: "Adaptive video scaling of a block.",
    semantics: "dst = the block at (u, v) scaled with the filter of sampler",
    ..MEDIA
};

const RT_MODE: Slot = packed(
    SlotName::Mode,
    2,
    &[
        flag(PartName::RtRti, 2),
        flag(PartName::RtA, 3),
        flag(PartName::RtO, 4),
        flag(PartName::RtZ, 5),
        flag(PartName::RtSt, 6),
        flag(PartName::RtLrtw, 7),
        flag(PartName::RtCps, 8),
        flag(PartName::RtPs, 9),
        flag(PartName::RtCm, 10),
        flag(PartName::RtSi, 11),
        flag(PartName::RtNull, 12),
    ],
    "which operands are present, and modes of the write",
);
const RT_VEC: SlotKind = SlotKind::Vector(Classes::GII);
const RT_RAW: SlotKind = SlotKind::Raw { nullable: true };

const fn rt(name: SlotName, bit: u8, kind: &'static SlotKind, types: TypeSet, doc: &'static str) -> Slot {
    Slot {
        name,
        kind: SlotKind::If { slot: 2, bit, kind },
        role: Role::Read,
        types,
        bytes: Bytes::Undefined,
        doc,
        since: (0, 0),
    }
}

const PIXEL: TypeSet = TypeSet::of(&[Type::F, Type::Hf]);

/// `RT_WRITE`.
pub static RT_WRITE: InstDesc = InstDesc {
    name: "RT_WRITE",
    operation: Some(Operation::Message(Message::Pixels)),
    opcode: 0x71,
    family: Family::RenderTarget,
    slots: &[
        EXEC,
        PRED,
        RT_MODE,
        surface(STATE_OF_IMAGE),
        raw_opt(SlotName::Header, TypeSet::ANY, "header of the message").touches(Bytes::Header),
        rt(SlotName::Si, 11, &RT_VEC, TypeSet::ANY, "sample index").touches(Bytes::Region),
        rt(SlotName::Cps, 8, &RT_VEC, TypeSet::ANY, "CPS counter").touches(Bytes::Region),
        rt(SlotName::Rti, 2, &RT_VEC, TypeSet::ANY, "render target index").touches(Bytes::Region),
        rt(SlotName::Source0Alpha, 3, &RT_RAW, PIXEL, "source 0 alpha").touches(Bytes::Coordinates),
        rt(SlotName::Omask, 4, &RT_RAW, UW, "output mask").touches(Bytes::PerChannel(2)),
        raw_opt(SlotName::Red, PIXEL, "red").touches(Bytes::Coordinates),
        raw_opt(SlotName::Green, PIXEL, "green").touches(Bytes::Coordinates),
        raw_opt(SlotName::Blue, PIXEL, "blue").touches(Bytes::Coordinates),
        raw_opt(SlotName::Alpha, PIXEL, "alpha").touches(Bytes::Coordinates),
        rt(SlotName::Depth, 5, &RT_RAW, SINGLE, "depth").touches(Bytes::PerChannel(4)),
        rt(SlotName::Stencil, 6, &RT_RAW, TypeSet::ANY, "stencil").touches(Bytes::PerChannel(1)),
    ],
    forms: &[form(
        "rt_write_3d",
        "{pred} rt_write_3d{@rt_mode} {exec} {surface} {header} {si} {cps} {rti} {source0_alpha} {omask} {red} {green} {blue} {alpha} {depth} {stencil}",
    )],
    exec_sizes: 1 << 3 | 1 << 4,
    platforms: BEFORE_PVC,
    effect: Effect::Message,
    page: "RT_WRITE",
    brief: "Writes pixels to a render target.",
    semantics: "render target [rti] = pixels",
    note: "The page has a number of parameters that no binary holds. Dwords 2 to 5 of the header are the places of its 2 x 2 pixels, x in the low word. Of `<SI>` the reference writer drops bit and operand; the reader knows them.",
    ..EMPTY
};

/// `URB_WRITE`.
pub static URB_WRITE: InstDesc = InstDesc {
    name: "URB_WRITE",
    operation: Some(Operation::Message(Message::Urb)),
    opcode: 0x72,
    family: Family::RenderTarget,
    slots: &[
        EXEC,
        PRED,
        field(SlotName::NumOut, Enc::Number { max: 255 }, "number of output parameters"),
        raw_opt(SlotName::ChannelMask, UD, "channel mask").touches(Bytes::PerChannel(4)),
        wide(SlotName::GlobalOffset, 2, Enc::Number { max: 0xffff }, "global offset"),
        raw_src(SlotName::UrbHandle, UD, "handles").touches(Bytes::PerChannel(4)),
        raw_opt(SlotName::PerSlotOffset, UD, "offset of each slot").touches(Bytes::PerChannel(4)),
        raw_opt(SlotName::VertexData, DWORDS, "data").touches(Bytes::RowsOf(SlotName::NumOut.whole())),
    ],
    forms: &[form(
        "urb_write_3d",
        "{pred} urb_write_3d {exec} {num_out} {global_offset} {channel_mask} {urb_handle} {per_slot_offset} {vertex_data}",
    )],
    exec_sizes: 1 << 3,
    platforms: BEFORE_PVC,
    effect: Effect::Message,
    page: "URB_WRITE",
    brief: "Writes vertex data to the unified return buffer.",
    semantics: "for k in 0..num_out: if channel_mask[i].bit[k]: urb[urb_handle[i] + 16 * (global_offset + per_slot_offset[i]) + 4 * k] = vertex_data.reg_row[k][i]",
    ..EMPTY
};

/// `RT_READ`, from 4.2.
pub static RT_READ: InstDesc = InstDesc {
    name: "RT_READ",
    operation: Some(Operation::Unsupported(Unsupported::RenderTarget)),
    opcode: 0x90,
    family: Family::RenderTarget,
    versions: Versions::V42,
    slots: &[
        EXEC,
        PRED,
        wide(SlotName::Mode, 2, Enc::Hex { max: 0xffff }, "modes of the read"),
        surface(IMAGE),
        src(SlotName::Si, Classes::GII, TypeSet::ANY),
        raw_dst(PIXEL, "pixels"),
    ],
    forms: &[form("rt_read_3d", "{pred} rt_read_3d.{mode} {exec} {surface} {si} {dst}")],
    exec_sizes: 1 << 4 | 1 << 5,
    effect: Effect::Message,
    page: "RT_READ",
    brief: "Reads pixels of a render target.",
    semantics: "dst = pixels of the render target",
    note: "The page is all there is: the opcode list calls 0x90 reserved, and the reference has no text.",
    ..EMPTY
};
