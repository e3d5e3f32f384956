//! The platform and its devices: what they are and what they report.

use std::sync::{Arc, OnceLock};

use envisa_ocloc::offered;
use opencl_sys as cl;

use super::error::{Error, Result};
use super::handle::{self, Object, Slot};
use super::info::{Answer, name_version_pairs, version};
use crate::device::Machine;
pub use envisa_runtime::device_properties::{
    IMAGE_2D, IMAGE_ARGS, IMAGE_LAYERS, MAX_GROUP, MAX_PARAMETERS, SAMPLERS, Spec, devices_of_environment,
    memory_size, sub_slices,
};

/// Address alignment of sub-buffers, in bytes.
pub const BASE_ALIGN: usize = 128;
/// The platform.
pub struct Platform {
    slot: Slot,
    /// Its devices, the default one first.
    pub devices: Vec<Arc<Device>>,
}

/// A device.
pub struct Device {
    slot: Slot,
    /// What it is.
    pub spec: &'static Spec,
    /// Bytes of memory it reports.
    pub memory: u64,
    /// What runs its kernels.
    pub machine: Machine,
}

impl Object for Platform {
    const INVALID: Error = Error::INVALID_PLATFORM;
    fn slot(&self) -> &Slot {
        &self.slot
    }
}

impl Object for Device {
    const INVALID: Error = Error::INVALID_DEVICE;
    fn slot(&self) -> &Slot {
        &self.slot
    }
}

/// The one platform.
pub fn platform() -> &'static Arc<Platform> {
    static PLATFORM: OnceLock<Arc<Platform>> = OnceLock::new();
    PLATFORM.get_or_init(|| {
        let memory = memory_size();
        let make = |spec| {
            let device =
                Arc::new(Device { slot: Slot::default(), spec, memory, machine: Machine::new(spec, memory) });
            handle::publish(&device);
            device
        };
        let devices = devices_of_environment().into_iter().map(make).collect();
        let platform = Arc::new(Platform { slot: Slot::default(), devices });
        handle::publish(&platform);
        crate::report::report_unreleased_at_exit(super::held_objects);
        platform
    })
}

/// Extensions that add nothing to OpenCL C.
const OF_HOST: [&str; 10] = [
    "cl_khr_device_uuid",
    "cl_khr_icd",
    "cl_khr_create_command_queue",
    "cl_khr_il_program",
    "cl_khr_spirv_no_integer_wrap_decoration",
    "cl_intel_spirv_subgroups",
    "cl_intel_device_attribute_query",
    "cl_khr_suggested_local_work_size",
    "cl_intel_unified_shared_memory",
    "cl_khr_extended_versioning",
];

/// Extensions of the platform: those of all of its devices, and the loader's.
fn platform_extensions() -> String {
    let mut all: Vec<&str> = Vec::new();
    for device in &platform().devices {
        for e in device.extensions() {
            if !all.contains(&e) {
                all.push(e);
            }
        }
    }
    if all.is_empty() {
        all.push("cl_khr_icd");
    }
    all.join(" ")
}

impl Platform {
    /// What `clGetPlatformInfo` answers.
    ///
    /// # Errors
    /// If the question is not known.
    pub fn info(&self, what: u32) -> Result<Answer> {
        Ok(match what {
            cl::CL_PLATFORM_PROFILE => "FULL_PROFILE".into(),
            cl::CL_PLATFORM_VERSION => "OpenCL 3.0 envisa".into(),
            cl::CL_PLATFORM_NUMERIC_VERSION => version(3, 0, 0).into(),
            cl::CL_PLATFORM_NAME => "Intel(R) OpenCL HD Graphics (envisa)".into(),
            cl::CL_PLATFORM_VENDOR => "Intel(R) Corporation".into(),
            cl::CL_PLATFORM_EXTENSIONS => platform_extensions().into(),
            cl::CL_PLATFORM_EXTENSIONS_WITH_VERSION => {
                let text = platform_extensions();
                let pairs: Vec<(u32, &str)> = text.split(' ').map(|e| (version(1, 0, 0), e)).collect();
                name_version_pairs(&pairs)
            }
            cl::CL_PLATFORM_HOST_TIMER_RESOLUTION => 1u64.into(),
            cl::CL_PLATFORM_ICD_SUFFIX_KHR => "ENVISA".into(),
            _ => return Err(Error::INVALID_VALUE),
        })
    }
}

impl Device {
    /// Names of its extensions.
    pub fn extensions(&self) -> Vec<&'static str> {
        let mut all = offered::extensions(self.spec.name);
        all.extend(OF_HOST);
        all
    }

    /// The most that one allocation can have.
    pub fn max_allocation(&self) -> u64 {
        envisa_runtime::device_properties::max_allocation(self.memory)
    }

    fn features(&self) -> Vec<&'static str> {
        offered::features(self.spec.name)
    }

    /// What `clGetDeviceInfo` answers.
    ///
    /// # Errors
    /// If the question is not known.
    pub fn info(&self, what: u32) -> Result<Answer> {
        if let Some(answer) = self.limits(what) {
            return Ok(answer);
        }
        if let Some(answer) = self.images(what) {
            return Ok(answer);
        }
        if let Some(answer) = self.identity(what) {
            return Ok(answer);
        }
        self.intel(what).ok_or(Error::INVALID_VALUE)
    }

    /// Names, versions, what kind of thing it is.
    fn identity(&self, what: u32) -> Option<Answer> {
        Some(match what {
            cl::CL_DEVICE_TYPE => cl::CL_DEVICE_TYPE_GPU.into(),
            cl::CL_DEVICE_VENDOR_ID => 0x8086u32.into(),
            cl::CL_DEVICE_NAME => self.spec.title.into(),
            cl::CL_DEVICE_VENDOR => "Intel(R) Corporation".into(),
            cl::CL_DRIVER_VERSION => env!("CARGO_PKG_VERSION").into(),
            cl::CL_DEVICE_PROFILE => "FULL_PROFILE".into(),
            cl::CL_DEVICE_VERSION => "OpenCL 3.0 envisa".into(),
            cl::CL_DEVICE_NUMERIC_VERSION => version(3, 0, 0).into(),
            cl::CL_DEVICE_OPENCL_C_VERSION => "OpenCL C 1.2 ".into(),
            cl::CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR => version(1, 2, 0).into(),
            cl::CL_DEVICE_OPENCL_C_ALL_VERSIONS => name_version_pairs(&[
                (version(1, 0, 0), "OpenCL C"),
                (version(1, 1, 0), "OpenCL C"),
                (version(1, 2, 0), "OpenCL C"),
                (version(3, 0, 0), "OpenCL C"),
            ]),
            cl::CL_DEVICE_OPENCL_C_FEATURES => {
                let pairs: Vec<_> = self.features().into_iter().map(|f| (version(3, 0, 0), f)).collect();
                name_version_pairs(&pairs)
            }
            cl::CL_DEVICE_EXTENSIONS => self.extensions().join(" ").into(),
            cl::CL_DEVICE_EXTENSIONS_WITH_VERSION => {
                let pairs: Vec<_> = self.extensions().into_iter().map(|e| (version(1, 0, 0), e)).collect();
                name_version_pairs(&pairs)
            }
            cl::CL_DEVICE_IL_VERSION => "SPIR-V_1.2 ".into(),
            cl::CL_DEVICE_ILS_WITH_VERSION => name_version_pairs(&[(version(1, 2, 0), "SPIR-V")]),
            cl::CL_DEVICE_BUILT_IN_KERNELS => "".into(),
            cl::CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION => name_version_pairs(&[]),
            // None was passed; there must be a date.
            cl::CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED => "v0000-01-01-00".into(),
            cl::CL_DEVICE_PLATFORM => handle::of(&**platform()).into(),
            cl::CL_DEVICE_PARENT_DEVICE => 0usize.into(),
            cl::CL_DEVICE_REFERENCE_COUNT => 1u32.into(),
            cl::CL_DEVICE_AVAILABLE
            | cl::CL_DEVICE_COMPILER_AVAILABLE
            | cl::CL_DEVICE_LINKER_AVAILABLE
            | cl::CL_DEVICE_ENDIAN_LITTLE => true.into(),
            cl::CL_DEVICE_ERROR_CORRECTION_SUPPORT => false.into(),
            cl::CL_DEVICE_PARTITION_MAX_SUB_DEVICES => 0u32.into(),
            cl::CL_DEVICE_PARTITION_PROPERTIES | cl::CL_DEVICE_PARTITION_TYPE => 0usize.into(),
            cl::CL_DEVICE_PARTITION_AFFINITY_DOMAIN => 0u64.into(),
            cl::CL_DEVICE_UUID_KHR => {
                let mut uuid = [0u8; 16];
                uuid[..6].copy_from_slice(b"envisa");
                uuid[8..12].copy_from_slice(&self.spec.pci.to_le_bytes());
                uuid.into()
            }
            cl::CL_DRIVER_UUID_KHR => {
                let mut uuid = [0u8; 16];
                uuid[..6].copy_from_slice(b"envisa");
                uuid.into()
            }
            cl::CL_DEVICE_LUID_VALID_KHR => false.into(),
            cl::CL_DEVICE_LUID_KHR => [0u8; 8].into(),
            cl::CL_DEVICE_NODE_MASK_KHR => 0u32.into(),
            _ => return None,
        })
    }

    /// Sizes, widths, capabilities.
    fn limits(&self, what: u32) -> Option<Answer> {
        let spec = self.spec;
        let floats: u64 = cl::CL_FP_DENORM
            | cl::CL_FP_INF_NAN
            | cl::CL_FP_ROUND_TO_NEAREST
            | cl::CL_FP_ROUND_TO_ZERO
            | cl::CL_FP_ROUND_TO_INF
            | cl::CL_FP_FMA;
        Some(match what {
            cl::CL_DEVICE_MAX_COMPUTE_UNITS => (sub_slices() * 8).into(),
            cl::CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS => 3u32.into(),
            cl::CL_DEVICE_MAX_WORK_ITEM_SIZES => [MAX_GROUP; 3].into(),
            cl::CL_DEVICE_MAX_WORK_GROUP_SIZE => MAX_GROUP.into(),
            cl::CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE => {
                (if spec.fused { 64usize } else { 32 }).into()
            }
            cl::CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR | cl::CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR => {
                16u32.into()
            }
            cl::CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT
            | cl::CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT
            | cl::CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF
            | cl::CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF => 8u32.into(),
            cl::CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT | cl::CL_DEVICE_NATIVE_VECTOR_WIDTH_INT => 4u32.into(),
            cl::CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG
            | cl::CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG
            | cl::CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT
            | cl::CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT => 1u32.into(),
            cl::CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE | cl::CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE => {
                u32::from(spec.fp64).into()
            }
            cl::CL_DEVICE_MAX_CLOCK_FREQUENCY => spec.clock.into(),
            cl::CL_DEVICE_ADDRESS_BITS => 64u32.into(),
            cl::CL_DEVICE_MAX_MEM_ALLOC_SIZE => self.max_allocation().into(),
            cl::CL_DEVICE_GLOBAL_MEM_SIZE => self.memory.into(),
            cl::CL_DEVICE_GLOBAL_MEM_CACHE_SIZE => spec.cache.into(),
            cl::CL_DEVICE_GLOBAL_MEM_CACHE_TYPE => cl::CL_READ_WRITE_CACHE.into(),
            cl::CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE => 64u32.into(),
            cl::CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE => self.max_allocation().into(),
            cl::CL_DEVICE_MAX_CONSTANT_ARGS => 8u32.into(),
            cl::CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE => (64usize << 10).into(),
            cl::CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE => (self.max_allocation() as usize).into(),
            cl::CL_DEVICE_MAX_PARAMETER_SIZE => MAX_PARAMETERS.into(),
            cl::CL_DEVICE_MEM_BASE_ADDR_ALIGN => (BASE_ALIGN as u32 * 8).into(),
            cl::CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE => 128u32.into(),
            cl::CL_DEVICE_LOCAL_MEM_TYPE => cl::CL_LOCAL.into(),
            cl::CL_DEVICE_LOCAL_MEM_SIZE => spec.slm.into(),
            cl::CL_DEVICE_SINGLE_FP_CONFIG => (floats | cl::CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT).into(),
            cl::CL_DEVICE_HALF_FP_CONFIG => floats.into(),
            cl::CL_DEVICE_DOUBLE_FP_CONFIG => (if spec.fp64 { floats } else { 0 }).into(),
            cl::CL_DEVICE_EXECUTION_CAPABILITIES => cl::CL_EXEC_KERNEL.into(),
            cl::CL_DEVICE_QUEUE_PROPERTIES => {
                (cl::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | cl::CL_QUEUE_PROFILING_ENABLE).into()
            }
            cl::CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES => 0u64.into(),
            cl::CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE
            | cl::CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE
            | cl::CL_DEVICE_MAX_ON_DEVICE_QUEUES
            | cl::CL_DEVICE_MAX_ON_DEVICE_EVENTS
            | cl::CL_DEVICE_MAX_PIPE_ARGS
            | cl::CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS
            | cl::CL_DEVICE_PIPE_MAX_PACKET_SIZE => 0u32.into(),
            cl::CL_DEVICE_PIPE_SUPPORT => false.into(),
            cl::CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES => 0u64.into(),
            cl::CL_DEVICE_HOST_UNIFIED_MEMORY => true.into(),
            cl::CL_DEVICE_PROFILING_TIMER_RESOLUTION => 1usize.into(),
            cl::CL_DEVICE_PRINTF_BUFFER_SIZE => (4usize << 20).into(),
            cl::CL_DEVICE_PREFERRED_INTEROP_USER_SYNC
            | cl::CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT
            | cl::CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT
            | cl::CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT => true.into(),
            cl::CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT
            | cl::CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT
            | cl::CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT => 64u32.into(),
            cl::CL_DEVICE_SVM_CAPABILITIES => cl::CL_DEVICE_SVM_COARSE_GRAIN_BUFFER.into(),
            cl::CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES => (cl::CL_DEVICE_ATOMIC_ORDER_RELAXED
                | cl::CL_DEVICE_ATOMIC_ORDER_ACQ_REL
                | cl::CL_DEVICE_ATOMIC_ORDER_SEQ_CST
                | cl::CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP
                | cl::CL_DEVICE_ATOMIC_SCOPE_DEVICE
                | cl::CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES)
                .into(),
            cl::CL_DEVICE_ATOMIC_FENCE_CAPABILITIES => (cl::CL_DEVICE_ATOMIC_ORDER_RELAXED
                | cl::CL_DEVICE_ATOMIC_ORDER_ACQ_REL
                | cl::CL_DEVICE_ATOMIC_ORDER_SEQ_CST
                | cl::CL_DEVICE_ATOMIC_SCOPE_WORK_ITEM
                | cl::CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP
                | cl::CL_DEVICE_ATOMIC_SCOPE_DEVICE
                | cl::CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES)
                .into(),
            cl::CL_DEVICE_MAX_NUM_SUB_GROUPS => {
                (MAX_GROUP as u32 / *spec.sub_groups.first().unwrap_or(&8) as u32).into()
            }
            cl::CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS => spec.independent.into(),
            _ => return None,
        })
    }

    fn images(&self, what: u32) -> Option<Answer> {
        let yes = self.spec.images;
        let size = |n: usize| Answer::from(if yes { n } else { 0 });
        let count = |n: u32| Answer::from(if yes { n } else { 0 });
        Some(match what {
            cl::CL_DEVICE_IMAGE_SUPPORT => yes.into(),
            cl::CL_DEVICE_MAX_READ_IMAGE_ARGS
            | cl::CL_DEVICE_MAX_WRITE_IMAGE_ARGS
            | cl::CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS => count(IMAGE_ARGS),
            cl::CL_DEVICE_MAX_SAMPLERS => count(SAMPLERS),
            cl::CL_DEVICE_IMAGE2D_MAX_WIDTH
            | cl::CL_DEVICE_IMAGE2D_MAX_HEIGHT
            | cl::CL_DEVICE_IMAGE3D_MAX_WIDTH
            | cl::CL_DEVICE_IMAGE3D_MAX_HEIGHT => size(IMAGE_2D),
            cl::CL_DEVICE_IMAGE3D_MAX_DEPTH | cl::CL_DEVICE_IMAGE_MAX_ARRAY_SIZE => size(IMAGE_LAYERS),
            cl::CL_DEVICE_IMAGE_MAX_BUFFER_SIZE => size((self.max_allocation() / 16) as usize),
            cl::CL_DEVICE_IMAGE_PITCH_ALIGNMENT | cl::CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT => count(4),
            _ => return None,
        })
    }

    /// What Intel's extensions ask.
    fn intel(&self, what: u32) -> Option<Answer> {
        let spec = self.spec;
        let host: u64 = cl::CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL;
        let both: u64 = host | cl::CL_UNIFIED_SHARED_MEMORY_ATOMIC_ACCESS_INTEL;
        Some(match what {
            cl::CL_DEVICE_SUB_GROUP_SIZES_INTEL => spec.sub_groups.into(),
            cl::CL_DEVICE_ID_INTEL => spec.pci.into(),
            cl::CL_DEVICE_IP_VERSION_INTEL => {
                let (major, minor, revision) = spec.ip;
                (major << 22 | minor << 14 | revision).into()
            }
            cl::CL_DEVICE_NUM_SLICES_INTEL => 1u32.into(),
            cl::CL_DEVICE_NUM_SUB_SLICES_PER_SLICE_INTEL => sub_slices().into(),
            cl::CL_DEVICE_NUM_EUS_PER_SUB_SLICE_INTEL => 8u32.into(),
            cl::CL_DEVICE_NUM_THREADS_PER_EU_INTEL => spec.threads_per_eu.into(),
            cl::CL_DEVICE_FEATURE_CAPABILITIES_INTEL => {
                let dp4a = if spec.dp4a { cl::CL_DEVICE_FEATURE_FLAG_DP4A_INTEL } else { 0 };
                let dpas = if spec.dpas { cl::CL_DEVICE_FEATURE_FLAG_DPAS_INTEL } else { 0 };
                (dp4a | dpas).into()
            }
            cl::CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL => host.into(),
            cl::CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL
            | cl::CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL => both.into(),
            cl::CL_DEVICE_CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL => host.into(),
            cl::CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL => 0u64.into(),
            // Two structures of six flags follow the capabilities; nothing is accelerated.
            cl::CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES_KHR if spec.dp4a => 3u64.into(),
            cl::CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_8BIT_KHR
            | cl::CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_4x8BIT_PACKED_KHR
                if spec.dp4a =>
            {
                [1u32; 6].into()
            }
            _ => return None,
        })
    }
}
