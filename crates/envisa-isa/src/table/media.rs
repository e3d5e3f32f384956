//! Video motion estimation and video analytics.

use super::common::*;
use crate::desc::*;
use crate::operation::*;
use crate::{Platform, Platforms, Type, TypeSet};

const VME: InstDesc = InstDesc {
    family: Family::Vme,
    effect: Effect::Message,
    platforms: Platforms::before(Platform::Tgllp),
    semantics: "dst = result of the estimation",
    ..EMPTY
};
const IMAGE: SurfaceRule = SurfaceRule {
    slm: Platforms::NONE,
    stateless: Platforms::NONE,
    shape: SurfaceShape::Media,
    address: Platforms::NONE,
};
const UB: TypeSet = TypeSet::of(&[Type::Ub]);
const UNI: Slot = raw_src(SlotName::UniInput, UB, "universal payload, 128 bytes").touches(Bytes::Fixed(128));
const DST: Slot = raw_dst(TypeSet::ANY, "result");

/// `VME_IME`.
pub static VME_IME: InstDesc = InstDesc {
    name: "VME_IME",
    operation: Some(Operation::Unsupported(Unsupported::MotionEstimation)),
    opcode: 0x54,
    slots: &[
        field(SlotName::StreamMode, Enc::Number { max: 3 }, "0 off, 1 out, 2 in, 3 in and out"),
        field(SlotName::SearchCtrl, Enc::Number { max: 7 }, "references, records and starts of the search"),
        UNI,
        raw_src(SlotName::ImeInput, UB, "payload: 64 bytes, with streams 128, or 192 for search 3")
            .touches(Bytes::MotionPayload),
        surface(IMAGE),
        raw_src(SlotName::Ref0, UW, "corner of the first reference window").touches(Bytes::Fixed(4)),
        raw_src(SlotName::Ref1, UW, "corner of the second reference window").touches(Bytes::Fixed(4)),
        raw_src(SlotName::CostCenter, UW, "cost centres").touches(Bytes::Fixed(32)),
        raw_dst(UB, "result: 224 bytes, with streams 288, or 352 for search 3").touches(Bytes::MotionResult),
    ],
    forms: &[form(
        "vme_ime",
        "vme_ime ({stream_mode}, {search_ctrl}) {surface} {uni_input} {ime_input} {ref0} {ref1} {cost_center} {dst}",
    )],
    page: "VME_IME",
    brief: "Integer motion estimation.",
    ..VME
};

/// `VME_SIC`.
pub static VME_SIC: InstDesc = InstDesc {
    name: "VME_SIC",
    operation: Some(Operation::Unsupported(Unsupported::MotionEstimation)),
    opcode: 0x55,
    slots: &[
        UNI,
        raw_src(SlotName::SicInput, UB, "payload, 128 bytes").touches(Bytes::Fixed(128)),
        surface(IMAGE),
        raw_dst(UB, "224 bytes").touches(Bytes::Fixed(224)),
    ],
    forms: &[form("vme_sic", "vme_sic {surface} {uni_input} {sic_input} {dst}")],
    page: "VME_SIC",
    brief: "Skip and intra check.",
    ..VME
};

/// `VME_FBR`.
pub static VME_FBR: InstDesc = InstDesc {
    name: "VME_FBR",
    operation: Some(Operation::Unsupported(Unsupported::MotionEstimation)),
    opcode: 0x56,
    slots: &[
        UNI,
        raw_src(SlotName::FbrInput, UB, "payload, 128 bytes").touches(Bytes::Fixed(128)),
        surface(IMAGE),
        src(SlotName::MbMode, Classes::GII, INT32),
        src(SlotName::SubMbShape, Classes::GII, INT32),
        src(SlotName::SubPredMode, Classes::GII, INT32),
        raw_dst(UB, "224 bytes").touches(Bytes::Fixed(224)),
    ],
    forms: &[form(
        "vme_fbr",
        "vme_fbr ({mb_mode}, {sub_mb_shape}, {sub_pred_mode}) {surface} {uni_input} {fbr_input} {dst}",
    )],
    page: "VME_FBR",
    brief: "Fractional and bidirectional refinement.",
    ..VME
};

/// `VME_IDM`.
pub static VME_IDM: InstDesc = InstDesc {
    name: "VME_IDM",
    operation: Some(Operation::Unsupported(Unsupported::MotionEstimation)),
    opcode: 0x57,
    slots: &[
        UNI,
        raw_src(SlotName::IdmInput, UB, "payload, 32 bytes").touches(Bytes::Fixed(32)),
        surface(IMAGE),
        raw_dst(UB, "512 bytes").touches(Bytes::Fixed(512)),
    ],
    forms: &[form("vme_idm", "vme_idm {surface} {uni_input} {idm_input} {dst}")],
    page: "VME_IDM",
    brief: "Distortion mesh.",
    note: "The reference assembler has no text for it; this is the page's.",
    ..VME
};

const VA: InstDesc = InstDesc {
    operation: Some(Operation::Unsupported(Unsupported::VideoAnalytics)),
    family: Family::Sampler,
    effect: Effect::Sample,
    platforms: Platforms::before(Platform::Tgllp),
    semantics: "dst = the filter's result for the block at (u, v)",
    note: "The opcode list has it, but no page describes it, and the reference has no text form. This text form lists the slots in binary order.",
    ..EMPTY
};
const SAMPLER: Slot = Slot {
    name: SlotName::Sampler,
    kind: SlotKind::Sampler { address: Platforms::NONE },
    role: Role::Read,
    types: TypeSet::NONE,
    bytes: Bytes::None,
    doc: "sampler",
    since: (0, 0),
};
const SURFACE: Slot = surface(IMAGE);
const DST_SURFACE: Slot =
    Slot { name: SlotName::DstSurface, doc: "surface that is written", ..surface(IMAGE) };
const U: Slot = src(SlotName::U, Classes::GII, TypeSet::ANY);
const V: Slot = src(SlotName::V, Classes::GII, TypeSet::ANY);
const X: Slot = src(SlotName::DstX, Classes::GII, TypeSet::ANY);
const Y: Slot = src(SlotName::DstY, Classes::GII, TypeSet::ANY);
const PROPERTIES: Slot = field(SlotName::Properties, Enc::Hex { max: 255 }, "format and size of the result");
const MODE: Slot = field(SlotName::Mode, Enc::Hex { max: 255 }, "size of the block");
const CONTROL: Slot = field(SlotName::Control, Enc::Hex { max: 255 }, "format of the result");
const CONNECT: Slot = field(SlotName::EightConnected, Enc::Number { max: 1 }, "8 neighbours instead of 4");
const MMF: Slot = src(SlotName::MmfMode, Classes::GII, TypeSet::ANY);
const MMF_FIELD: Slot =
    field(SlotName::MmfMode, Enc::Number { max: 2 }, "minimum and maximum, maximum, minimum");
const PIXEL: Slot = field(SlotName::PixelSize, Enc::Hex { max: 255 }, "format of the result");
const OFFSETS: Slot = raw_src(SlotName::Offsets, TypeSet::ANY, "offsets of the pixels");

const fn vec(name: SlotName) -> Slot {
    src(name, Classes::GII, TypeSet::ANY)
}

macro_rules! va {
    ($(
        $name:ident = $opcode:literal $sub:literal $head:literal [$($slot:expr),*] $text:literal $brief:literal;
    )*) => { $(
        #[doc = concat!("`", stringify!($name), "`.")]
        pub static $name: InstDesc = InstDesc {
            name: stringify!($name),
            opcode: $opcode,
            sub: Some($sub),
            slots: &[$($slot),*],
            forms: &[form($head, concat!($head, " ", $text))],
            brief: $brief,
            ..VA
        };
    )* };
}

va! {
    VA_CONVOLVE_2D = 0x44 0x01 "va_convolve_2d" [SAMPLER, SURFACE, U, V, PROPERTIES, DST]
        "{sampler} {surface} {u} {v} {properties} {dst}" "2D convolution of a block.";
    VA_MINMAX = 0x44 0x02 "va_minmax" [SURFACE, U, V, MMF, DST]
        "{surface} {u} {v} {mmf_mode} {dst}" "Minimum and maximum of a block.";
    VA_MINMAXFILTER = 0x44 0x03 "va_minmaxfilter" [SAMPLER, SURFACE, U, V, CONTROL, MODE, MMF, DST]
        "{sampler} {surface} {u} {v} {control} {mode} {mmf_mode} {dst}" "Minimum or maximum filter of a block.";
    VA_ERODE = 0x44 0x04 "va_erode" [SAMPLER, SURFACE, U, V, MODE, DST]
        "{sampler} {surface} {u} {v} {mode} {dst}" "Erosion of a block.";
    VA_DILATE = 0x44 0x05 "va_dilate" [SAMPLER, SURFACE, U, V, MODE, DST]
        "{sampler} {surface} {u} {v} {mode} {dst}" "Dilation of a block.";
    VA_BOOLCENTROID = 0x44 0x06 "va_boolcentroid" [SURFACE, U, V, vec(SlotName::VSize), vec(SlotName::HSize), DST]
        "{surface} {u} {v} {v_size} {h_size} {dst}" "Centroid of a block of bits.";
    VA_CENTROID = 0x44 0x07 "va_centroid" [SURFACE, U, V, vec(SlotName::VSize), DST]
        "{surface} {u} {v} {v_size} {dst}" "Centroid of a block.";
    VA_CONVOLVE_1D_V = 0x4d 0x08 "va_convolve_1d_v" [SAMPLER, SURFACE, U, V, MODE, DST]
        "{sampler} {surface} {u} {v} {mode} {dst}" "Vertical convolution of a block.";
    VA_CONVOLVE_1D_H = 0x4d 0x09 "va_convolve_1d_h" [SAMPLER, SURFACE, U, V, MODE, DST]
        "{sampler} {surface} {u} {v} {mode} {dst}" "Horizontal convolution of a block.";
    VA_CONVOLVE_1PIXEL = 0x4d 0x0a "va_convolve_1pixel" [SAMPLER, SURFACE, U, V, MODE, OFFSETS, DST]
        "{sampler} {surface} {u} {v} {mode} {offsets} {dst}" "Convolution of single pixels.";
    VA_FLOODFILL = 0x4d 0x0b "va_floodfill" [CONNECT, raw_src(SlotName::MaskH, TypeSet::ANY, "horizontal mask of pixels"), vec(SlotName::MaskLeft), vec(SlotName::MaskRight), vec(SlotName::LoopCount), DST]
        "{eight_connected} {mask_h} {mask_left} {mask_right} {loop_count} {dst}" "Flood fill.";
    VA_LBPCREATION = 0x4d 0x0c "va_lbpcreation" [SURFACE, U, V, MODE, DST]
        "{surface} {u} {v} {mode} {dst}" "Local binary patterns of a block.";
    VA_LBPCORRELATION = 0x4d 0x0d "va_lbpcorrelation" [SURFACE, U, V, vec(SlotName::Disparity), DST]
        "{surface} {u} {v} {disparity} {dst}" "Correlation of local binary patterns.";
    VA_CORRELATIONSEARCH = 0x4d 0x0f "va_correlationsearch" [SURFACE, U, V, vec(SlotName::VerticalOrigin), vec(SlotName::HorizontalOrigin), vec(SlotName::XSize), vec(SlotName::YSize), vec(SlotName::XSearch), vec(SlotName::YSearch), DST]
        "{surface} {u} {v} {vertical_origin} {horizontal_origin} {x_size} {y_size} {x_search} {y_search} {dst}" "Correlation search.";
    VA_HDC_CONVOLVE_2D = 0x4d 0x10 "va_hdc_convolve_2d" [SAMPLER, SURFACE, U, V, PROPERTIES, DST_SURFACE, X, Y]
        "{sampler} {surface} {u} {v} {properties} {dst_surface} {dst_x} {dst_y}" "2D convolution, written to a surface.";
    VA_HDC_MINMAXFILTER = 0x4d 0x11 "va_hdc_minmaxfilter" [SAMPLER, SURFACE, U, V, PIXEL, MMF_FIELD, DST_SURFACE, X, Y]
        "{sampler} {surface} {u} {v} {pixel_size} {mmf_mode} {dst_surface} {dst_x} {dst_y}" "Minimum or maximum filter, written to a surface.";
    VA_HDC_ERODE = 0x4d 0x12 "va_hdc_erode" [SAMPLER, SURFACE, U, V, DST_SURFACE, X, Y]
        "{sampler} {surface} {u} {v} {dst_surface} {dst_x} {dst_y}" "Erosion, written to a surface.";
    VA_HDC_DILATE = 0x4d 0x13 "va_hdc_dilate" [SAMPLER, SURFACE, U, V, DST_SURFACE, X, Y]
        "{sampler} {surface} {u} {v} {dst_surface} {dst_x} {dst_y}" "Dilation, written to a surface.";
    VA_HDC_LBPCORRELATION = 0x4d 0x14 "va_hdc_lbpcorrelation" [SURFACE, U, V, vec(SlotName::Disparity), DST_SURFACE, X, Y]
        "{surface} {u} {v} {disparity} {dst_surface} {dst_x} {dst_y}" "Correlation of local binary patterns, written to a surface.";
    VA_HDC_LBPCREATION = 0x4d 0x15 "va_hdc_lbpcreation" [SURFACE, U, V, MODE, DST_SURFACE, X, Y]
        "{surface} {u} {v} {mode} {dst_surface} {dst_x} {dst_y}" "Local binary patterns, written to a surface.";
    VA_HDC_CONVOLVE_1D_H = 0x4d 0x16 "va_hdc_convolve_1d_h" [SAMPLER, SURFACE, U, V, PIXEL, DST_SURFACE, X, Y]
        "{sampler} {surface} {u} {v} {pixel_size} {dst_surface} {dst_x} {dst_y}" "Horizontal convolution, written to a surface.";
    VA_HDC_CONVOLVE_1D_V = 0x4d 0x17 "va_hdc_convolve_1d_v" [SAMPLER, SURFACE, U, V, PIXEL, DST_SURFACE, X, Y]
        "{sampler} {surface} {u} {v} {pixel_size} {dst_surface} {dst_x} {dst_y}" "Vertical convolution, written to a surface.";
    VA_HDC_CONVOLVE_1PIXEL = 0x4d 0x18 "va_hdc_convolve_1pixel" [SAMPLER, SURFACE, U, V, PIXEL, OFFSETS, DST_SURFACE, X, Y]
        "{sampler} {surface} {u} {v} {pixel_size} {offsets} {dst_surface} {dst_x} {dst_y}" "Convolution of single pixels, written to a surface.";
}
