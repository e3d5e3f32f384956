//! What the driver offers of OpenCL C on each device: extensions and features. Programs find the macros of these, and of no
//! others: what the compiler defines beside is taken away in front of the program, and what it lacks is added.
//!
//! (OpenCL C 3.0, 6.2.1: an extension that a device has is a macro, a feature is one from OpenCL C 3.0 on.)

use std::fmt::Write as _;

use envisa_zebin::DeviceFamily;

/// Extensions of OpenCL C that all devices have.
const ALL: [&str; 21] = [
    "cl_khr_byte_addressable_store",
    "cl_khr_fp16",
    "cl_khr_global_int32_base_atomics",
    "cl_khr_global_int32_extended_atomics",
    "cl_khr_local_int32_base_atomics",
    "cl_khr_local_int32_extended_atomics",
    "cl_khr_int64_base_atomics",
    "cl_khr_int64_extended_atomics",
    "cl_intel_subgroups",
    "cl_intel_required_subgroup_size",
    "cl_intel_subgroups_short",
    "cl_intel_subgroups_char",
    "cl_intel_subgroups_long",
    "cl_khr_subgroup_extended_types",
    "cl_khr_subgroup_non_uniform_vote",
    "cl_khr_subgroup_ballot",
    "cl_khr_subgroup_non_uniform_arithmetic",
    "cl_khr_subgroup_shuffle",
    "cl_khr_subgroup_shuffle_relative",
    "cl_khr_subgroup_clustered_reduce",
    "cl_intel_split_work_group_barrier",
];

/// Extensions that add nothing to the language before OpenCL C 3.0: their functions and types are not declared there.
const FROM_3_0: [&str; 2] = ["cl_khr_integer_dot_product", "cl_khr_depth_images"];

/// Extensions whose functions the packaged compiler has for SPIR-V alone: programs in OpenCL C are not told of them.
const NOT_IN_C: [&str; 1] = ["cl_intel_subgroup_matrix_multiply_accumulate"];

/// What the compiler defines for some device or version of the language, and not everywhere is offered.
const DEFINED: [&str; 37] = [
    "cl_ext_float_atomics",
    "cl_intel_device_side_avc_motion_estimation",
    "cl_intel_motion_estimation",
    "cl_intel_packed_yuv",
    "cl_intel_planar_yuv",
    "cl_intel_spirv_media_block_io",
    "cl_khr_3d_image_writes",
    "cl_khr_depth_images",
    "cl_khr_extended_bit_ops",
    "cl_khr_fp64",
    "cl_khr_integer_dot_product",
    "cl_khr_subgroups",
    "__opencl_c_3d_image_writes",
    "__opencl_c_device_enqueue",
    "__opencl_c_ext_fp16_global_atomic_add",
    "__opencl_c_ext_fp16_global_atomic_load_store",
    "__opencl_c_ext_fp16_global_atomic_min_max",
    "__opencl_c_ext_fp16_local_atomic_add",
    "__opencl_c_ext_fp16_local_atomic_load_store",
    "__opencl_c_ext_fp16_local_atomic_min_max",
    "__opencl_c_ext_fp32_global_atomic_add",
    "__opencl_c_ext_fp32_global_atomic_min_max",
    "__opencl_c_ext_fp32_local_atomic_add",
    "__opencl_c_ext_fp32_local_atomic_min_max",
    "__opencl_c_ext_fp64_global_atomic_add",
    "__opencl_c_ext_fp64_global_atomic_min_max",
    "__opencl_c_ext_fp64_local_atomic_add",
    "__opencl_c_ext_fp64_local_atomic_min_max",
    "__opencl_c_ext_image_raw10_raw12",
    "__opencl_c_ext_image_unorm_int_2_101010",
    "__opencl_c_ext_image_unsigned_10x6_12x4_14x2",
    "__opencl_c_fp64",
    "__opencl_c_images",
    "__opencl_c_integer_dot_product_input_4x8bit",
    "__opencl_c_integer_dot_product_input_4x8bit_packed",
    "__opencl_c_pipes",
    "__opencl_c_read_write_images",
];

fn has_fp64(family: DeviceFamily) -> bool {
    matches!(family, DeviceFamily::Skl | DeviceFamily::Pvc)
}

fn has_images(family: DeviceFamily) -> bool {
    family != DeviceFamily::Pvc
}

fn has_dot_products(family: DeviceFamily) -> bool {
    family != DeviceFamily::Skl
}

/// The extensions of OpenCL C that the driver offers on a device, by its name; none of one that is not known.
pub fn extensions(device: &str) -> Vec<&'static str> {
    device.parse().map(extensions_of).unwrap_or_default()
}

/// The same of the features of OpenCL C 3.0.
pub fn features(device: &str) -> Vec<&'static str> {
    device.parse().map(features_of).unwrap_or_default()
}

fn extensions_of(family: DeviceFamily) -> Vec<&'static str> {
    let mut all = ALL.to_vec();
    // Sub-groups of a group make progress alone: where two threads are fused they do not.
    if matches!(family, DeviceFamily::Skl | DeviceFamily::Pvc) {
        all.push("cl_khr_subgroups");
    }
    if has_fp64(family) {
        all.push("cl_khr_fp64");
    }
    if has_images(family) {
        all.extend(["cl_khr_image2d_from_buffer", "cl_khr_depth_images", "cl_khr_3d_image_writes"]);
    }
    if has_dot_products(family) {
        all.push("cl_khr_integer_dot_product");
    }
    if matches!(family, DeviceFamily::Dg2 | DeviceFamily::Pvc) {
        all.push("cl_intel_subgroup_matrix_multiply_accumulate");
    }
    all
}

fn features_of(family: DeviceFamily) -> Vec<&'static str> {
    let mut all = vec![
        "__opencl_c_int64",
        "__opencl_c_atomic_order_acq_rel",
        "__opencl_c_atomic_order_seq_cst",
        "__opencl_c_atomic_scope_all_devices",
        "__opencl_c_atomic_scope_device",
        "__opencl_c_generic_address_space",
        "__opencl_c_program_scope_global_variables",
        "__opencl_c_work_group_collective_functions",
        "__opencl_c_subgroups",
    ];
    if has_images(family) {
        all.extend(["__opencl_c_images", "__opencl_c_3d_image_writes", "__opencl_c_read_write_images"]);
    }
    if has_fp64(family) {
        all.push("__opencl_c_fp64");
    }
    if has_dot_products(family) {
        all.extend([
            "__opencl_c_integer_dot_product_input_4x8bit",
            "__opencl_c_integer_dot_product_input_4x8bit_packed",
        ]);
    }
    all
}

/// What goes before a driver's program, in OpenCL C 3.0 or an earlier version, so that it finds the macros of what is
/// offered.
pub(crate) fn prelude(family: DeviceFamily, version_3: bool) -> String {
    let mut offered = extensions_of(family);
    offered.retain(|e| !NOT_IN_C.contains(e));
    match version_3 {
        true => offered.extend(features_of(family)),
        false => offered.retain(|e| !FROM_3_0.contains(e)),
    }
    let mut text = String::new();
    for name in DEFINED.iter().filter(|name| !offered.contains(name)) {
        let _ = writeln!(text, "#undef {name}");
    }
    for name in offered {
        let _ = writeln!(text, "#ifndef {name}\n#define {name} 1\n#endif");
    }
    text.push_str("#line 1\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_find_what_is_offered_and_nothing_else() {
        let all = |family, version_3| prelude(family, version_3);
        let undefined = |text: &str, name: &str| text.contains(&format!("#undef {name}\n"));
        let defined = |text: &str, name: &str| text.contains(&format!("#define {name} 1\n"));
        for family in [DeviceFamily::Skl, DeviceFamily::Tgllp, DeviceFamily::Dg2, DeviceFamily::Pvc] {
            for version_3 in [false, true] {
                let text = all(family, version_3);
                let in_c = |e: &&str| !NOT_IN_C.contains(e) && (version_3 || !FROM_3_0.contains(e));
                for name in extensions_of(family).into_iter().filter(in_c) {
                    assert!(defined(&text, name) && !undefined(&text, name), "{name} on {family:?}");
                }
                assert!(text.ends_with("\n#line 1\n"), "{text}");
            }
        }
        let (old, new) = (all(DeviceFamily::Dg2, false), all(DeviceFamily::Dg2, true));
        assert!(undefined(&old, "cl_khr_subgroups") && undefined(&new, "cl_khr_subgroups"));
        assert!(undefined(&new, "cl_khr_extended_bit_ops") && defined(&new, "cl_khr_integer_dot_product"));
        assert!(!old.contains("define __opencl_c_"), "features are OpenCL C 3.0's");
        assert!(undefined(&all(DeviceFamily::Pvc, true), "__opencl_c_images"));
    }
}
