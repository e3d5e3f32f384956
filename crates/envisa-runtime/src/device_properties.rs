//! The virtual devices and their fixed properties.
//!
//! The numbers are those of Intel's driver for the devices, without what envisa does not do.

/// What is fixed of a device.
#[derive(Debug)]
pub struct Spec {
    /// As `ENVISA_DEVICES` and the compiler call it.
    pub name: &'static str,
    /// As applications see it.
    pub title: &'static str,
    /// Number on the bus.
    pub pci: u32,
    /// Version of the architecture: major, minor, revision.
    pub ip: (u32, u32, u32),
    /// Shared local memory of a group, in bytes.
    pub slm: u64,
    /// Sizes of sub-groups.
    pub sub_groups: &'static [usize],
    /// 64-bit floating point.
    pub fp64: bool,
    /// Images and samplers.
    pub images: bool,
    /// Sub-groups of a group make progress alone.
    pub independent: bool,
    /// Two threads run in step: groups of twice the SIMD size are preferred.
    pub fused: bool,
    /// Matrix engines.
    pub dpas: bool,
    /// Dot products of packed bytes.
    pub dp4a: bool,
    /// Threads of an execution unit.
    pub threads_per_eu: u32,
    /// Highest clock in MHz.
    pub clock: u32,
    /// Last-level cache in bytes.
    pub cache: u64,
}

/// Every device there is. The first one is a program's default: it has 64-bit floating point and images, so that programs
/// that do not choose run.
pub static SPECS: &[Spec] = &[
    Spec {
        name: "skl",
        title: "Intel(R) HD Graphics 530 (envisa)",
        pci: 0x1912,
        ip: (9, 0, 9),
        slm: 64 << 10,
        sub_groups: &[8, 16, 32],
        fp64: true,
        images: true,
        independent: true,
        fused: false,
        dpas: false,
        dp4a: false,
        threads_per_eu: 7,
        clock: 1150,
        cache: 768 << 10,
    },
    Spec {
        name: "dg2",
        title: "Intel(R) Arc(TM) A770 Graphics (envisa)",
        pci: 0x56a0,
        ip: (12, 55, 8),
        slm: 64 << 10,
        sub_groups: &[8, 16, 32],
        fp64: false,
        images: true,
        independent: false,
        fused: true,
        dpas: true,
        dp4a: true,
        threads_per_eu: 8,
        clock: 2400,
        cache: 16 << 20,
    },
    Spec {
        name: "pvc",
        title: "Intel(R) Data Center GPU Max 1550 (envisa)",
        pci: 0x0bd5,
        ip: (12, 60, 7),
        slm: 128 << 10,
        sub_groups: &[16, 32],
        fp64: true,
        images: false,
        independent: true,
        fused: false,
        dpas: true,
        dp4a: true,
        threads_per_eu: 8,
        clock: 1600,
        cache: 408 << 20,
    },
    Spec {
        name: "tgllp",
        title: "Intel(R) Iris(R) Xe Graphics (envisa)",
        pci: 0x9a49,
        ip: (12, 0, 0),
        slm: 64 << 10,
        sub_groups: &[8, 16, 32],
        fp64: false,
        images: true,
        independent: false,
        fused: true,
        dpas: false,
        dp4a: true,
        threads_per_eu: 7,
        clock: 1350,
        cache: 3840 << 10,
    },
];

/// Most work-items of a group.
pub const MAX_GROUP: usize = 1024;
/// Most bytes of a kernel's arguments.
pub const MAX_PARAMETERS: usize = 2048;
/// Most images of a kernel.
pub const IMAGE_ARGS: u32 = 128;
/// Most samplers of a kernel.
pub const SAMPLERS: u32 = 16;
/// Largest width and height of images.
pub const IMAGE_2D: usize = 16384;
/// Largest depth of images, and layers of arrays.
pub const IMAGE_LAYERS: usize = 2048;

/// Half of the host's memory, or what `ENVISA_MEMORY` says in MiB.
pub fn memory_size() -> u64 {
    if let Some(mib) = std::env::var("ENVISA_MEMORY").ok().and_then(|t| t.trim().parse::<u64>().ok()) {
        return mib.saturating_mul(1 << 20).max(64 << 20);
    }
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = text.lines().find_map(|l| {
        let kib = l.strip_prefix("MemTotal:")?.trim().strip_suffix("kB")?.trim();
        kib.parse::<u64>().ok()
    });
    (total.map_or(4 << 30, |kib| kib * 1024) / 2) & !0xfff
}

/// The devices that `ENVISA_DEVICES` names, in its order; without it all.
pub fn devices_of_environment() -> Vec<&'static Spec> {
    let Ok(list) = std::env::var("ENVISA_DEVICES") else { return SPECS.iter().collect() };
    let mut chosen: Vec<&Spec> = Vec::new();
    for name in list.split(',').map(str::trim).filter(|n| !n.is_empty()) {
        match SPECS.iter().find(|s| s.name == name) {
            Some(spec) if chosen.iter().any(|c| c.name == spec.name) => {}
            Some(spec) => chosen.push(spec),
            None => {
                let unknown = envisa::diag::unknown("device", name, SPECS.iter().map(|s| s.name));
                crate::log::print_warning(&format!("ENVISA_DEVICES: {unknown}"));
            }
        }
    }
    chosen
}

/// The most that one allocation can have on a device with so much memory.
pub fn max_allocation(memory: u64) -> u64 {
    (memory / 2).min((4 << 30) - (8 << 10))
}

/// Execution units of a sub-slice.
pub const EUS_PER_SUB_SLICE: u32 = 8;

/// Host threads that kernels run on; execution units are reported by them.
pub fn sub_slices() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| n.get() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use envisa_ocloc::offered::extensions;

    #[test]
    fn devices_have_what_they_offer() {
        for spec in SPECS {
            let offers = |name| extensions(spec.name).contains(&name);
            assert_eq!(offers("cl_khr_fp64"), spec.fp64, "{}", spec.name);
            assert_eq!(offers("cl_khr_3d_image_writes"), spec.images, "{}", spec.name);
            assert_eq!(offers("cl_khr_subgroups"), spec.independent, "{}", spec.name);
            assert_eq!(offers("cl_khr_integer_dot_product"), spec.dp4a, "{}", spec.name);
            assert_eq!(offers("cl_intel_subgroup_matrix_multiply_accumulate"), spec.dpas, "{}", spec.name);
        }
    }
}
