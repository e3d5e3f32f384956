//! The launch metadata of `.ze_info`: every field of the zebin specification, 1.0 to 1.73.

use serde::Serialize;

use crate::yaml::{Context, Node, Read, Value, read_document};

/// Why a `.ze_info` cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(".ze_info line {line}{}: {message}", if path.is_empty() { String::new() } else { format!(", {path}") })]
pub struct ZeInfoError {
    /// The field, as `kernels[0].execution_env.simd_size`; empty for the document.
    pub path: String,
    /// The line, from 1; 0 for the whole text.
    pub line: u32,
    /// What is wrong with it.
    pub message: String,
}

/// Something in a zebin that is not understood and was ignored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// The field, as `kernels[0].execution_env.foo`, or the section.
    pub path: String,
    /// The line in `.ze_info`, from 1; 0 if it is not about a line.
    pub line: u32,
    /// What about it.
    pub message: String,
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path, self.message)?;
        if self.line > 0 { write!(f, " (.ze_info line {})", self.line) } else { Ok(()) }
    }
}

/// Defines an enumeration and its reading; a value not listed is `Unknown` and a warning.
macro_rules! ze_enum {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
        #[serde(into = "&'static str")]
        pub enum $name {
            $($(#[$vmeta])* $variant,)*
            /// A value this version does not know; a warning names it.
            Unknown,
        }

        impl $name {
            /// Every value of the specification.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            /// The value as written in `.ze_info`.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($name::$variant => $text,)*
                    $name::Unknown => "unknown",
                }
            }
        }

        impl From<$name> for &'static str {
            fn from(value: $name) -> &'static str {
                value.as_str()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl Read for $name {
            fn read(node: &Node<'_>, cx: &mut Context) -> Result<Self, ZeInfoError> {
                let Value::Scalar(text, _) = &node.value else { return cx.expected(node, "a name") };
                match text.as_ref() {
                    $($text => Ok($name::$variant),)*
                    other => {
                        cx.unknown_enum(node, other);
                        Ok($name::Unknown)
                    }
                }
            }
        }

        /// Where the field is optional, a value not known is as good as none.
        impl Read for Option<$name> {
            fn read(node: &Node<'_>, cx: &mut Context) -> Result<Self, ZeInfoError> {
                Ok(Some($name::read(node, cx)?).filter(|v| *v != $name::Unknown))
            }
        }
    };
}

/// Defines a structure and its reading: `field: type` is required, `field: type = default` is not.
macro_rules! ze_struct {
    ($(#[$meta:meta])* $name:ident {
        $($(#[$fmeta:meta])* $field:ident $(as $key:literal)?: $type:ty $(= $default:expr)?,)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Serialize)]
        pub struct $name {
            $($(#[$fmeta])* pub $field: $type,)*
        }

        impl Read for $name {
            fn read(node: &Node<'_>, cx: &mut Context) -> Result<Self, ZeInfoError> {
                $(let mut $field: Option<$type> = None;)*
                for (key, value) in cx.entries(node)? {
                    match key.as_ref() {
                        $(ze_struct!(@key $field $($key)?) => {
                            if $field.is_some() {
                                return Err(cx.error(value.line, format!("field `{key}` is given twice")));
                            }
                            // A field without a value is absent.
                            if !value.is_null() {
                                $field = Some(cx.field(key, value)?);
                            }
                        })*
                        _ => cx.unknown_field(key, value.line),
                    }
                }
                $(let $field = ze_struct!(@take cx, node, $field, ze_struct!(@key $field $($key)?) $(, $default)?);)*
                Ok($name { $($field,)* })
            }
        }
    };
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };
    (@take $cx:ident, $node:ident, $field:ident, $key:expr) => {
        $cx.required($field, $node.line, $key)?
    };
    (@take $cx:ident, $node:ident, $field:ident, $key:expr, $default:expr) => {
        $field.unwrap_or_else(|| $default)
    };
}

mod kinds;

pub use kinds::*;

ze_struct! {
    /// The metadata of a module.
    ZeInfo {
        /// Version of the specification it follows, as `1.20`.
        version: String = String::new(),
        /// The kernels, in the order of their vISA sections.
        kernels: Vec<Kernel>,
        /// Functions that can be called from other modules.
        functions: Vec<Function> = Vec::new(),
        /// Variables reachable from the host.
        global_host_access_table: Vec<HostAccess> = Vec::new(),
        /// What `clGetKernelArgInfo` reports.
        kernels_misc_info: Vec<KernelMiscInfo> = Vec::new(),
        /// Experimental estimates of cost.
        kernels_cost_info: Vec<KernelCostInfo> = Vec::new(),
        /// L1 cache policy.
        l1_cache_policy: Option<L1CachePolicy> = None,
    }
}

ze_struct! {
    /// A kernel.
    Kernel {
        /// Its name in the source.
        name: String,
        /// Attributes from its signature.
        user_attributes: UserAttributes = UserAttributes::default(),
        /// What it needs to run.
        execution_env: ExecutionEnv,
        /// The cross-thread payload.
        payload_arguments: Vec<PayloadArgument> = Vec::new(),
        /// The per-thread payload.
        per_thread_payload_arguments: Vec<PerThreadPayloadArgument> = Vec::new(),
        /// Binding table entries of stateful arguments.
        binding_table_indices: Vec<BindingTableIndex> = Vec::new(),
        /// Private memory and scratch.
        per_thread_memory_buffers: Vec<PerThreadMemoryBuffer> = Vec::new(),
        /// Samplers declared in the source.
        inline_samplers: Vec<InlineSampler> = Vec::new(),
        /// Hints that must not affect execution.
        experimental_properties: ExperimentalProperties = ExperimentalProperties::default(),
        /// For debuggers.
        debug_env: DebugEnv = DebugEnv::default(),
    }
}

ze_struct! {
    /// An externally callable function.
    Function {
        /// Its name.
        name: String,
        /// What it needs to run.
        execution_env: ExecutionEnv,
    }
}

ze_struct! {
    /// Attributes a user wrote in the kernel's signature.
    #[derive(Default)]
    UserAttributes {
        /// Demanded SIMD size.
        intel_reqd_sub_group_size: Option<u32> = None,
        /// Demanded order of dimensions.
        intel_reqd_workgroup_walk_order: Option<[u32; 3]> = None,
        /// Why the kernel is invalid, if it is.
        invalid_kernel: Option<String> = None,
        /// Demanded group size.
        reqd_work_group_size: Option<[u32; 3]> = None,
        /// Type hinted at for vectorisation.
        vec_type_hint: Option<String> = None,
        /// Hinted group size.
        work_group_size_hint: Option<[u32; 3]> = None,
        /// Groups dispatched at a time.
        intel_reqd_thread_group_dispatch_size: Option<u32> = None,
    }
}

ze_struct! {
    /// What a kernel or function needs to run. Sizes in bytes.
    ExecutionEnv {
        /// Barriers used by a group.
        barrier_count: u32 = 0,
        /// No preemption within a thread.
        disable_mid_thread_preemption: bool = false,
        /// Registers per thread.
        grf_count: u32,
        /// Buffers may exceed 4 GiB.
        has_4gb_buffers: bool = false,
        /// Enqueues from the device.
        has_device_enqueue: bool = false,
        /// Uses DPAS.
        has_dpas: bool = false,
        /// Fences image accesses.
        has_fence_for_image_access: bool = false,
        /// Uses global atomics.
        has_global_atomics: bool = false,
        /// Several scratch spaces.
        has_multi_scratch_spaces: bool = false,
        /// No store by address.
        has_no_stateless_write: bool = false,
        /// Uses stack calls, so that the implicit argument buffer is needed.
        has_stack_calls: bool = false,
        /// Calls `printf`.
        has_printf_calls: bool = false,
        /// Uses the assert buffer.
        require_assert_buffer: bool = false,
        /// Uses the sync buffer.
        require_sync_buffer: bool = false,
        /// Calls through pointers.
        has_indirect_calls: bool = false,
        /// Fused execution units must be off.
        require_disable_eufusion: bool = false,
        /// Indirect stateless accesses.
        indirect_stateless_count: u32 = 0,
        /// Bytes of payload passed in registers by hardware.
        inline_data_payload_size: u32 = 0,
        /// Code offset behind the loading of per-thread data.
        offset_to_skip_per_thread_data_load: u32 = 0,
        /// Code offset behind the setting of FFID.
        offset_to_skip_set_ffid_gp: u32 = 0,
        /// Sub-group size demanded in the source.
        required_sub_group_size: u32 = 0,
        /// Group size demanded in the source; none if `[0, 0, 0]`.
        required_work_group_size: Option<[u32; 3]> = None,
        /// Channels a thread: 1, 8, 16 or 32.
        simd_size: u32,
        /// Static shared local memory.
        slm_size: u32 = 0,
        /// Whether the runtime adds `slm_size` to SLM argument offsets (1) or the kernel does (0).
        slm_alloc_mode: u32 = 0,
        /// Private part of scratch.
        private_size: u32 = 0,
        /// Spill part of scratch.
        spill_size: u32 = 0,
        /// Sub-groups progress independently.
        subgroup_independent_forward_progress: bool = false,
        /// Suggested arbitration.
        thread_scheduling_mode: Option<ThreadSchedulingMode> = None,
        /// Order of dimensions in which local ids run.
        work_group_walk_order_dimensions: [u32; 3] = [0, 1, 2],
        /// Threads per execution unit; 0 to derive it from `grf_count`.
        eu_thread_count: u32 = 0,
        /// Uses the sampler.
        has_sample: bool = false,
        /// Uses ray tracing.
        has_rtcalls: bool = false,
        /// Quantum size of quantum dispatch.
        quantum_size: u32 = 0,
        /// Walk order of quantum dispatch.
        quantum_walk_order: u32 = 0,
        /// Partition dimension of quantum dispatch.
        quantum_partition_dimension: u32 = 0,
        /// Hardware makes the local ids.
        generate_local_id: bool = false,
        /// Stores with L1 controls of their own.
        has_lsc_stores_with_non_default_l1_cache_controls: bool = false,
        /// The implicit argument buffer is used.
        require_iab: bool = false,
        /// Reads bindless images.
        has_bindless_image_read: bool = false,
    }
}

ze_struct! {
    /// A piece of the cross-thread payload.
    PayloadArgument {
        /// What it holds.
        arg_type: ArgType,
        /// Offset in the cross-thread payload, in bytes.
        offset: u32,
        /// Bytes; 0 if nothing is passed in the payload.
        size: u32,
        /// The kernel argument it belongs to.
        arg_index: Option<u32> = None,
        /// How the memory is reached.
        addrmode: Option<AddrMode> = None,
        /// What is pointed to.
        addrspace: Option<AddrSpace> = None,
        /// How it is used.
        access_type: Option<AccessType> = None,
        /// Sampler table entry.
        sampler_index: Option<u32> = None,
        /// Offset within the argument, where a structure was flattened.
        source_offset: Option<u32> = None,
        /// Alignment of a local argument.
        slm_alignment: u32 = 0,
        /// Kind of image.
        image_type: Option<ImageType> = None,
        /// The image can be accessed as another kind.
        image_transformable: bool = false,
        /// Kind of sampler.
        sampler_type: Option<SamplerType> = None,
        /// An OpenCL pipe.
        is_pipe: bool = false,
        /// A value used as a pointer.
        is_ptr: bool = false,
        /// Binding table entry of constant or global data.
        bti_value: Option<u32> = None,
    }
}

ze_struct! {
    /// A piece of the per-thread payload.
    PerThreadPayloadArgument {
        /// What it holds.
        arg_type: ArgType,
        /// Offset in the per-thread payload, in bytes.
        offset: u32,
        /// Bytes.
        size: u32,
    }
}

ze_struct! {
    /// Binding table entry of a stateful argument.
    BindingTableIndex {
        /// The entry.
        bti_value: u32,
        /// The kernel argument.
        arg_index: u32,
    }
}

ze_struct! {
    /// Memory each thread (or work-item) needs.
    PerThreadMemoryBuffer {
        /// Where it lives.
        allocation as "type": AllocationType,
        /// What it is for.
        usage: MemoryUsage,
        /// Bytes per thread, or per work-item if `is_simt_thread`.
        size: u32,
        /// Which scratch buffer.
        slot: u32 = 0,
        /// One a work-item rather than one a hardware thread.
        is_simt_thread: bool = false,
    }
}

ze_struct! {
    /// A sampler declared in the source.
    InlineSampler {
        /// Sampler table entry.
        sampler_index: u32,
        /// Addressing mode.
        addrmode: SamplerAddrMode,
        /// Filter.
        filtermode: SamplerFilterMode,
        /// Normalised coordinates.
        normalized: bool = false,
    }
}

ze_struct! {
    /// Hints under evaluation: 0 false, 1 true, none for not applicable.
    #[derive(Default)]
    ExperimentalProperties {
        /// A load whose address is not from an argument.
        has_non_kernel_arg_load: Option<u32> = None,
        /// Such a store.
        has_non_kernel_arg_store: Option<u32> = None,
        /// Such an atomic.
        has_non_kernel_arg_atomic: Option<u32> = None,
    }
}

ze_struct! {
    /// The system routine's surface.
    #[derive(Default)]
    DebugEnv {
        /// Binding table entry.
        sip_surface_bti: Option<u32> = None,
        /// Offset.
        sip_surface_offset: Option<u32> = None,
    }
}

ze_struct! {
    /// A variable reachable from the host.
    HostAccess {
        /// Its symbol.
        device_name: String,
        /// Its name for the host.
        host_name: String,
    }
}

ze_struct! {
    /// What `clGetKernelArgInfo` reports of a kernel.
    KernelMiscInfo {
        /// The kernel.
        name: String,
        /// Its arguments.
        args_info: Vec<ArgInfo> = Vec::new(),
    }
}

ze_struct! {
    /// An argument as written in the source.
    ArgInfo {
        /// Its index.
        index: u32,
        /// Its name, if kept.
        name: Option<String> = None,
        /// `__global`, `__local`, `__constant`, `__private`.
        address_qualifier: String,
        /// `NONE`, `read_only` and so on.
        access_qualifier: String,
        /// Type and size as `float*;8`: see [`ArgInfo::type_and_size`].
        type_name: String,
        /// `NONE`, or `const`, `restrict`, `volatile`, `pipe`.
        type_qualifiers: String,
    }
}

ze_struct! {
    /// Experimental: estimate of a kernel's cost.
    KernelCostInfo {
        /// The kernel.
        name: String,
        /// Arguments the estimate depends on.
        kcm_args_sym: Vec<KcmArgSym> = Vec::new(),
        /// Trip counts of loops.
        kcm_loop_count_exps: Vec<KcmLoopCountExp>,
        /// Costs of loops.
        kcm_loop_costs as "Kcm_loop_costs": Vec<KcmLoopCost>,
    }
}

ze_struct! {
    /// An argument in a cost estimate.
    KcmArgSym {
        /// The kernel argument.
        arg_no as "argNo": i32,
        /// Offset from the pointer.
        byte_offset as "byteOffset": i32,
        /// Bytes.
        size_in_bytes as "sizeInBytes": i32,
        /// Read through a pointer.
        is_indirect as "isInDirect": bool,
    }
}

ze_struct! {
    /// A loop's trip count: `factor` × argument + `c`.
    KcmLoopCountExp {
        /// Factor.
        factor: f32,
        /// Index into `kcm_args_sym`.
        argsym_index: i32,
        /// Constant.
        c as "C": f32,
    }
}

ze_struct! {
    /// A loop's cost.
    KcmLoopCost {
        /// Cycles.
        cycle: i32,
        /// Bytes loaded.
        bytes_loaded: i32,
        /// Bytes stored.
        bytes_stored: i32,
        /// Immediate child loops.
        num_loops: i32,
    }
}

impl ArgInfo {
    /// The type's name and its size in bytes, from `float*;8`.
    pub fn type_and_size(&self) -> (&str, Option<u32>) {
        match self.type_name.rsplit_once(';') {
            Some((name, size)) if size.parse::<u32>().is_ok() => (name, size.parse().ok()),
            _ => (&self.type_name, None),
        }
    }
}

/// The kernel that compilers add to a module to carry its symbols.
pub const SYMBOL_TABLE_KERNEL: &str = "Intel_Symbol_Table_Void_Program";

impl Kernel {
    /// Whether this is the dummy that carries the module's symbols: not for launching.
    pub fn is_symbol_table(&self) -> bool {
        self.name == SYMBOL_TABLE_KERNEL
    }

    /// Bytes of the per-thread payload: the end of its furthest argument.
    pub fn per_thread_payload_size(&self) -> u64 {
        let args = self.per_thread_payload_arguments.iter();
        args.map(|a| u64::from(a.offset) + u64::from(a.size)).max().unwrap_or(0)
    }

    /// Bytes of the cross-thread payload: the end of its furthest argument.
    pub fn cross_thread_payload_size(&self) -> u64 {
        self.payload_arguments.iter().map(|a| u64::from(a.offset) + u64::from(a.size)).max().unwrap_or(0)
    }

    /// The binding table entry of an argument.
    pub fn bti(&self, arg_index: u32) -> Option<u32> {
        self.binding_table_indices.iter().find(|b| b.arg_index == arg_index).map(|b| b.bti_value)
    }
}

/// A kernel's explicit argument with everything the metadata says of it.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelArgument<'a> {
    /// Its index in the source.
    pub index: u32,
    /// Name, type and qualifiers, if kept.
    pub info: Option<&'a ArgInfo>,
    /// Every payload entry of this index, implicit ones (`buffer_offset`, `image_width`) too.
    pub payload: Vec<&'a PayloadArgument>,
    /// Binding table entry, if stateful.
    pub bti: Option<u32>,
}

impl ZeInfo {
    /// Reads a `.ze_info` text; the second value holds what was ignored.
    ///
    /// # Errors
    /// If it is not YAML, uses aliases, is too deep or too large, lacks a required field, or a field has a
    /// value of the wrong type or range.
    pub fn parse(text: &str) -> Result<(ZeInfo, Vec<Warning>), ZeInfoError> {
        let root = read_document(text)?;
        let mut cx = Context::default();
        let info = ZeInfo::read(&root, &mut cx)?;
        if info.version.is_empty() {
            cx.warn(root.line, "no `version`");
        } else if !info.version.starts_with("1.") {
            cx.warn(root.line, format!("version {} is newer than the 1.x known", info.version));
        }
        for (i, kernel) in info.kernels.iter().enumerate() {
            let env = &kernel.execution_env;
            if !matches!(env.simd_size, 1 | 8 | 16 | 32) {
                return Err(ZeInfoError {
                    path: format!("kernels[{i}].execution_env.simd_size"),
                    line: line_of_kernel(&root, i),
                    message: format!("{} is none of 1, 8, 16, 32", env.simd_size),
                });
            }
            if env.work_group_walk_order_dimensions.iter().any(|&d| d > 2) {
                return Err(ZeInfoError {
                    path: format!("kernels[{i}].execution_env.work_group_walk_order_dimensions"),
                    line: line_of_kernel(&root, i),
                    message: "a dimension is none of 0, 1, 2".into(),
                });
            }
        }
        Ok((info, cx.warnings))
    }

    /// The kernel of a name.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|k| k.name == name)
    }

    /// What is known of a kernel's arguments as written, by kernel name.
    pub fn args_info(&self, kernel: &str) -> &[ArgInfo] {
        self.kernels_misc_info.iter().find(|k| k.name == kernel).map_or(&[], |k| &k.args_info)
    }

    /// A kernel's explicit arguments by index: those that `args_info` lists or the payload mentions.
    pub fn arguments<'a>(&'a self, kernel: &'a Kernel) -> Vec<KernelArgument<'a>> {
        let mut args = std::collections::BTreeMap::new();
        let blank = |index| KernelArgument { index, info: None, payload: Vec::new(), bti: None };
        for info in self.args_info(&kernel.name) {
            args.entry(info.index).or_insert_with(|| blank(info.index)).info = Some(info);
        }
        for piece in &kernel.payload_arguments {
            if let Some(index) = piece.arg_index {
                args.entry(index).or_insert_with(|| blank(index)).payload.push(piece);
            }
        }
        for entry in &kernel.binding_table_indices {
            args.entry(entry.arg_index).or_insert_with(|| blank(entry.arg_index)).bti = Some(entry.bti_value);
        }
        args.into_values().collect()
    }
}

/// The line on which the `i`-th kernel starts; 0 if it cannot be told.
fn line_of_kernel(root: &Node<'_>, i: usize) -> u32 {
    let Value::Map(entries) = &root.value else { return 0 };
    let kernels = entries.iter().find(|(key, _)| key == "kernels");
    match kernels.map(|(_, node)| &node.value) {
        Some(Value::Seq(items)) => items.get(i).map_or(0, |k| k.line),
        _ => 0,
    }
}

macro_rules! read_optional_default {
    ($($name:ident),*) => {$(
        impl $name {
            /// Whether nothing was given.
            pub fn is_empty(&self) -> bool {
                *self == $name::default()
            }
        }
    )*};
}
read_optional_default!(UserAttributes, ExperimentalProperties, DebugEnv);
