//! What fields of `.ze_info` that are words can say.

use super::*;

ze_enum! {
    /// L1 cache policy of a module.
    L1CachePolicy {
        /// Write bypass.
        WriteBypass = "wbp",
        /// Uncached.
        Uncached = "uc",
        /// Write back.
        WriteBack = "wb",
        /// Write through.
        WriteThrough = "wt",
        /// Write streaming.
        WriteStreaming = "ws",
    }
}

ze_enum! {
    /// Suggested arbitration between the threads of an execution unit.
    ThreadSchedulingMode {
        /// The oldest first.
        AgeBased = "age_based",
        /// In turn.
        RoundRobin = "round_robin",
        /// In turn, also on stalls.
        RoundRobinStall = "round_robin_stall",
    }
}

ze_enum! {
    /// What an entry of `payload_arguments` or `per_thread_payload_arguments` holds.
    ArgType {
        /// 3 × u16 of a SIMD1 kernel.
        PackedLocalIds = "packed_local_ids",
        /// Per channel u16, a block of rows for each dimension.
        LocalId = "local_id",
        /// 3 × u32, work-items in this group.
        LocalSize = "local_size",
        /// 3 × u32.
        GroupCount = "group_count",
        /// u32, 1 to 3.
        WorkDimensions = "work_dimensions",
        /// 3 × u32.
        GlobalSize = "global_size",
        /// 3 × u32, the nominal group size of a non-uniform launch.
        EnqueuedLocalSize = "enqueued_local_size",
        /// 3 × u32.
        GlobalIdOffset = "global_id_offset",
        /// u64 address of private memory.
        PrivateBaseStateless = "private_base_stateless",
        /// u64 address of a buffer that is accessed statefully only.
        BufferAddress = "buffer_address",
        /// u32 offset of the pointer in its surface.
        BufferOffset = "buffer_offset",
        /// u64 address.
        PrintfBuffer = "printf_buffer",
        /// u64 address.
        ImplicitArgBuffer = "implicit_arg_buffer",
        /// u64 address.
        SyncBuffer = "sync_buffer",
        /// u64 address.
        RtGlobalBuffer = "rt_global_buffer",
        /// u64 address.
        AssertBuffer = "assert_buffer",
        /// u64 address.
        IndirectDataPointer = "indirect_data_pointer",
        /// u64 address.
        ScratchPointer = "scratch_pointer",
        /// An explicit argument's bytes.
        ArgByvalue = "arg_byvalue",
        /// An explicit pointer, image or sampler argument.
        ArgBypointer = "arg_bypointer",
        /// u32.
        ImageHeight = "image_height",
        /// u32.
        ImageWidth = "image_width",
        /// u32.
        ImageDepth = "image_depth",
        /// u32.
        ImageNumMipLevels = "image_num_mip_levels",
        /// u32, the `CL_*` constant.
        ImageChannelDataType = "image_channel_data_type",
        /// u32, the `CL_*` constant.
        ImageChannelOrder = "image_channel_order",
        /// u32; gone since 1.66.
        ImageSrgbChannelOrder = "image_srgb_channel_order",
        /// u32.
        ImageArraySize = "image_array_size",
        /// u32.
        ImageNumSamples = "image_num_samples",
        /// u32, an addressing mode.
        SamplerAddress = "sampler_address",
        /// u32.
        SamplerNormalized = "sampler_normalized",
        /// u32; deprecated since 1.65.
        SamplerSnapWa = "sampler_snap_wa",
        /// A bindless inline sampler's handle.
        InlineSampler = "inline_sampler",
        /// u64 address; gone since 1.64.
        FlatImageBaseoffset = "flat_image_baseoffset",
        /// u32; gone since 1.64.
        FlatImageHeight = "flat_image_height",
        /// u32; gone since 1.64.
        FlatImageWidth = "flat_image_width",
        /// u32; gone since 1.64.
        FlatImagePitch = "flat_image_pitch",
        /// u64 address or bindless handle of the constant data.
        ConstBase = "const_base",
        /// u64 address or bindless handle of the global data.
        GlobalBase = "global_base",
        /// 3 × u32.
        RegionGroupSize = "region_group_size",
        /// u32.
        RegionGroupDimension = "region_group_dimension",
        /// u32.
        RegionGroupWgCount = "region_group_wg_count",
        /// u64 address.
        RegionGroupBarrierBuffer = "region_group_barrier_buffer",
        /// u64 size of a buffer argument.
        BufferSize = "buffer_size",
    }
}

ze_enum! {
    /// How a pointer argument's memory is reached.
    AddrMode {
        /// By 64-bit address.
        Stateless = "stateless",
        /// Through the binding table.
        Stateful = "stateful",
        /// Through a surface handle in the payload.
        Bindless = "bindless",
        /// In shared local memory.
        Slm = "slm",
    }
}

ze_enum! {
    /// What a pointer argument points to.
    AddrSpace {
        /// Global memory.
        Global = "global",
        /// Shared local memory.
        Local = "local",
        /// Constant memory.
        Constant = "constant",
        /// An image.
        Image = "image",
        /// A sampler.
        Sampler = "sampler",
    }
}

ze_enum! {
    /// How a pointer argument's memory is used.
    AccessType {
        /// Read.
        Readonly = "readonly",
        /// Written.
        Writeonly = "writeonly",
        /// Both.
        Readwrite = "readwrite",
    }
}

ze_enum! {
    /// Kind of an image argument.
    ImageType {
        /// 1D, made from a buffer.
        Buffer = "image_buffer",
        /// 1D.
        Image1d = "image_1d",
        /// 1D array.
        Image1dArray = "image_1d_array",
        /// 2D.
        Image2d = "image_2d",
        /// 2D array.
        Image2dArray = "image_2d_array",
        /// 3D.
        Image3d = "image_3d",
        /// Cube.
        Cube = "image_cube",
        /// Cube array.
        CubeArray = "image_cube_array",
        /// 2D depth.
        Image2dDepth = "image_2d_depth",
        /// 2D depth array.
        Image2dArrayDepth = "image_2d_array_depth",
        /// 2D, several samples.
        Image2dMsaa = "image_2d_msaa",
        /// 2D depth, several samples.
        Image2dMsaaDepth = "image_2d_msaa_depth",
        /// 2D array, several samples.
        Image2dArrayMsaa = "image_2d_array_msaa",
        /// 2D depth array, several samples.
        Image2dArrayMsaaDepth = "image_2d_array_msaa_depth",
        /// 2D media.
        Image2dMedia = "image_2d_media",
        /// 2D media block.
        Image2dMediaBlock = "image_2d_media_block",
    }
}

ze_enum! {
    /// Kind of a sampler argument.
    SamplerType {
        /// Texture.
        Texture = "texture",
        /// 8×8.
        Sample8x8 = "sample_8x8",
        /// 8×8 2D convolution.
        Convolve2d = "sample_8x8_2dconvolve",
        /// 8×8 erode.
        Erode = "sample_8x8_erode",
        /// 8×8 dilate.
        Dilate = "sample_8x8_dilate",
        /// 8×8 minimum and maximum filter.
        MinMaxFilter = "sample_8x8_minmaxfilter",
        /// 8×8 minimum and maximum.
        MinMax = "sample_8x8_minmax",
        /// 8×8 centroid.
        Centroid = "sample_8x8_centroid",
        /// 8×8 boolean centroid.
        BoolCentroid = "sample_8x8_bool_centroid",
        /// 8×8 boolean sum.
        BoolSum = "sample_8x8_bool_sum",
    }
}

ze_enum! {
    /// Where a per-thread buffer lives.
    AllocationType {
        /// In global memory, its address in a `private_base_stateless` argument.
        Global = "global",
        /// In scratch memory, its base in r0.5.
        Scratch = "scratch",
        /// In shared local memory.
        Slm = "slm",
    }
}

ze_enum! {
    /// What a per-thread buffer is for.
    MemoryUsage {
        /// Private variables and stack arguments.
        PrivateSpace = "private_space",
        /// Spilled registers.
        SpillFillSpace = "spill_fill_space",
        /// Both in one.
        SingleSpace = "single_space",
    }
}

ze_enum! {
    /// Addressing mode of an inline sampler.
    SamplerAddrMode {
        /// `CLK_ADDRESS_NONE`.
        None = "none",
        /// `CLK_ADDRESS_CLAMP`.
        ClampBorder = "clamp_border",
        /// `CLK_ADDRESS_CLAMP_TO_EDGE`.
        ClampEdge = "clamp_edge",
        /// `CLK_ADDRESS_REPEAT`.
        Repeat = "repeat",
        /// `CLK_ADDRESS_MIRRORED_REPEAT`.
        Mirror = "mirror",
    }
}

ze_enum! {
    /// Filter of an inline sampler.
    SamplerFilterMode {
        /// `CLK_FILTER_NEAREST`.
        Nearest = "nearest",
        /// `CLK_FILTER_LINEAR`.
        Linear = "linear",
    }
}
