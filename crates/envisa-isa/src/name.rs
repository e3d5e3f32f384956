//! The names of slots and of parts of packed fields: what the table, templates, messages and annotations call them.
//! They are types, so that a name that no row has does not compile.

use std::fmt;

macro_rules! names {
    ($(#[$doc:meta])* $name:ident: $($variant:ident = $text:literal,)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        #[allow(missing_docs)]
        pub enum $name { $($variant,)* }

        impl $name {
            /// Every one.
            pub const ALL: &[$name] = &[$($name::$variant,)*];

            /// As templates, messages and annotations write it.
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }

            /// The one of this text.
            pub fn parse(text: &str) -> Option<$name> {
                match text {
                    $($text => Some($name::$variant),)*
                    _ => None,
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

names! {
    /// What a slot is called: `dst`, `src0`, `num_blocks`.
    SlotName:
    Addr = "addr",
    AddrSize = "addr_size",
    AddrType = "addr_type",
    Address = "address",
    Addresses = "addresses",
    Alpha = "alpha",
    ArgSize = "arg_size",
    BlockSize = "block_size",
    Blocks = "blocks",
    Blue = "blue",
    Carry = "carry",
    ChMask = "ch_mask",
    Channel = "channel",
    ChannelMask = "channel_mask",
    Channels = "channels",
    Control = "control",
    Convert = "convert",
    CostCenter = "cost_center",
    Cps = "cps",
    DataElems = "data_elems",
    DataOrder = "data_order",
    DataSize = "data_size",
    DeltaU = "delta_u",
    DeltaV = "delta_v",
    Depth = "depth",
    Desc = "desc",
    DescHi = "desc_hi",
    DescLo = "desc_lo",
    Disparity = "disparity",
    Dst = "dst",
    DstLen = "dst_len",
    DstSurface = "dst_surface",
    DstX = "dst_x",
    DstY = "dst_y",
    EightConnected = "eight_connected",
    ElementOffset = "element_offset",
    EltSize = "elt_size",
    ExDesc = "ex_desc",
    Exec = "exec",
    FbrInput = "fbr_input",
    FenceOp = "fence_op",
    Ffid = "ffid",
    File = "file",
    Flags = "flags",
    Function = "function",
    GlobalOffset = "global_offset",
    Green = "green",
    GroupId = "group_id",
    HSize = "h_size",
    Header = "header",
    Height = "height",
    HorizontalOrigin = "horizontal_origin",
    Id = "id",
    IdmInput = "idm_input",
    IefBypass = "ief_bypass",
    ImeInput = "ime_input",
    ImmOffset = "imm_offset",
    ImmScale = "imm_scale",
    Ind0 = "ind0",
    Ind1 = "ind1",
    Index = "index",
    IsModified = "is_modified",
    L1 = "l1",
    L2 = "l2",
    L3 = "l3",
    Label = "label",
    Labels = "labels",
    Line = "line",
    Lod = "lod",
    LoopCount = "loop_count",
    Mask = "mask",
    MaskH = "mask_h",
    MaskLeft = "mask_left",
    MaskRight = "mask_right",
    MbMode = "mb_mode",
    MmfMode = "mmf_mode",
    Mode = "mode",
    Modifiers = "modifiers",
    Msaa = "msaa",
    NumBlocks = "num_blocks",
    NumConsumers = "num_consumers",
    NumDst = "num_dst",
    NumElts = "num_elts",
    NumLabels = "num_labels",
    NumOut = "num_out",
    NumParams = "num_params",
    NumProducers = "num_producers",
    NumSrc = "num_src",
    NumSrc0 = "num_src0",
    NumSrc1 = "num_src1",
    NumThreads = "num_threads",
    Offset = "offset",
    Offsets = "offsets",
    Omask = "omask",
    Op = "op",
    Operation = "operation",
    Output = "output",
    Ov = "ov",
    Params = "params",
    Payload = "payload",
    PerSlotOffset = "per_slot_offset",
    PixelSize = "pixel_size",
    Plane = "plane",
    Pred = "pred",
    PredDst = "pred_dst",
    Properties = "properties",
    R = "r",
    ROffset = "r_offset",
    Red = "red",
    Ref0 = "ref0",
    Ref1 = "ref1",
    Rel = "rel",
    ReturnSize = "return_size",
    Rounding = "rounding",
    Rti = "rti",
    Sampler = "sampler",
    Scale = "scale",
    Scope = "scope",
    SearchCtrl = "search_ctrl",
    Sfid = "sfid",
    Si = "si",
    SicInput = "sic_input",
    Size = "size",
    Source0Alpha = "source0_alpha",
    Src = "src",
    Src0 = "src0",
    Src0Len = "src0_len",
    Src1 = "src1",
    Src1Len = "src1_len",
    Src2 = "src2",
    Src3 = "src3",
    Src4 = "src4",
    Stencil = "stencil",
    StreamMode = "stream_mode",
    Stride = "stride",
    SubMbShape = "sub_mb_shape",
    SubPredMode = "sub_pred_mode",
    Surface = "surface",
    SurfaceBase = "surface_base",
    SurfaceHeight = "surface_height",
    SurfaceIndex = "surface_index",
    SurfacePitch = "surface_pitch",
    SurfaceWidth = "surface_width",
    Type = "type",
    U = "u",
    U2d = "u2d",
    UOffset = "u_offset",
    UniInput = "uni_input",
    UnusedDst = "unused_dst",
    UnusedSrc1 = "unused_src1",
    UnusedSrc2 = "unused_src2",
    UrbHandle = "urb_handle",
    V = "v",
    V2d = "v2d",
    VOffset = "v_offset",
    VSize = "v_size",
    Variable = "variable",
    VertexData = "vertex_data",
    VerticalBlock = "vertical_block",
    VerticalOrigin = "vertical_origin",
    Vnni = "vnni",
    Width = "width",
    X = "x",
    XOffset = "x_offset",
    XSearch = "x_search",
    XSize = "x_size",
    Y = "y",
    YOffset = "y_offset",
    YSearch = "y_search",
    YSize = "y_size",
}

names! {
    /// What a part of a packed field is called.
    PartName:
    Channels = "channels",
    Class = "class",
    Commit = "commit",
    Constant = "constant",
    Count = "count",
    Cps = "cps",
    Depth = "depth",
    DivS = "div_s",
    End = "end",
    Eot = "eot",
    Half = "half",
    Instruction = "instruction",
    L1 = "l1",
    Local = "local",
    Noreturn = "noreturn",
    Op = "op",
    Output = "output",
    PixelNullMask = "pixel_null_mask",
    ReadWrite = "read_write",
    Sampler = "sampler",
    Sendc = "sendc",
    Simd = "simd",
    Size = "size",
    Software = "software",
    Src1Precision = "src1_precision",
    Src2Precision = "src2_precision",
    Unaligned = "unaligned",
    UnalignedRead = "unaligned_read",
    Uniform = "uniform",
    Width = "width",
    RtA = "A",
    RtCm = "CM",
    RtCps = "CPS",
    RtLrtw = "LRTW",
    RtNull = "NULLRT",
    RtO = "O",
    RtPs = "PS",
    RtRti = "RTI",
    RtSi = "SI",
    RtSt = "ST",
    RtZ = "Z",
}

/// A field: a slot, or a part of a packed one. Text writes it as `slot` or `slot.part`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FieldName {
    /// The slot.
    pub slot: SlotName,
    /// The part of it; `None` for the whole.
    pub part: Option<PartName>,
}

impl SlotName {
    /// Is it one of those that a format has and a message leaves out? They have no text.
    pub const fn is_unused(self) -> bool {
        matches!(self, SlotName::UnusedDst | SlotName::UnusedSrc1 | SlotName::UnusedSrc2)
    }

    /// The slot as a field.
    pub const fn whole(self) -> FieldName {
        FieldName { slot: self, part: None }
    }

    /// A part of it.
    pub const fn part(self, part: PartName) -> FieldName {
        FieldName { slot: self, part: Some(part) }
    }
}

impl From<SlotName> for FieldName {
    fn from(slot: SlotName) -> FieldName {
        slot.whole()
    }
}

impl FieldName {
    /// The one of this text.
    pub fn parse(text: &str) -> Option<FieldName> {
        match text.split_once('.') {
            None => Some(SlotName::parse(text)?.whole()),
            Some((slot, part)) => Some(SlotName::parse(slot)?.part(PartName::parse(part)?)),
        }
    }
}

impl fmt::Display for FieldName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part {
            None => write!(f, "{}", self.slot),
            Some(part) => write!(f, "{}.{part}", self.slot),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FieldName, PartName, SlotName};
    use crate::desc::{Slot, SlotKind};

    #[test]
    fn names_are_read_as_they_are_written() {
        for &slot in SlotName::ALL {
            assert_eq!(SlotName::parse(slot.as_str()), Some(slot));
            for &part in PartName::ALL {
                let field = slot.part(part);
                assert_eq!(FieldName::parse(&field.to_string()), Some(field));
            }
        }
        assert_eq!(SlotName::parse("dest"), None);
        assert_eq!(FieldName::parse("dst."), None);
    }

    #[test]
    fn every_name_is_one_of_the_table() {
        let slots = || crate::TABLE.iter().flat_map(|d| d.slots);
        for &name in SlotName::ALL {
            assert!(slots().any(|s| s.name == name), "no row has a slot {name}");
        }
        for &name in PartName::ALL {
            let has = |s: &Slot| matches!(s.kind, SlotKind::Packed { parts, .. } if parts.iter().any(|p| p.name == name));
            assert!(slots().any(has), "no row has a part {name}");
        }
    }
}
