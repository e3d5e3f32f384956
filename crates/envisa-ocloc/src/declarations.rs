//! Changes that make the compiler's own declarations of OpenCL C compile for every device and version of the language.

use envisa_zebin::DeviceFamily;

use crate::offered;

/// Those of OpenCL C 3.0 name images, whichever the device has: without them they do not compile, and no program does.
/// So they are there, with as many features as the declarations need, and programs are not told.
const IMAGES: &str = " -cl-ext=+__opencl_c_images,+__opencl_c_read_write_images,-cl_khr_3d_image_writes";
/// Goes before such a program.
pub(crate) const HIDE_IMAGES: &str =
    "#undef __opencl_c_images\n#undef __opencl_c_read_write_images\n#line 1\n";
/// Types of motion estimation that functions of Gen9 are declared with: before OpenCL C 1.2 there are no such types, and
/// the functions are declared all the same. No program of that version can use them; their names stand for types that
/// differ from each other.
const MOTION: [(&str, &str); 12] = [
    ("ime_dual_reference_streamin", "long3"),
    ("ime_payload", "ulong3"),
    ("ime_result_dual_reference_streamout", "short3"),
    ("ime_result_single_reference_streamout", "ushort3"),
    ("ime_result", "char3"),
    ("ime_single_reference_streamin", "uchar3"),
    ("mce_payload", "int3"),
    ("mce_result", "uint3"),
    ("ref_payload", "float3"),
    ("ref_result", "long16"),
    ("sic_payload", "ulong16"),
    ("sic_result", "short16"),
];

/// The version of the language that options ask for: `CL1.1`.
fn asks_for_version(options: &str, version: &str) -> bool {
    options
        .split_ascii_whitespace()
        .any(|o| o.trim_matches('"').strip_prefix("-cl-std=").is_some_and(|v| v == version))
}

/// A program in OpenCL C 3.0 for a device without images: those of other versions do not ask for features.
pub(crate) fn lacks_images(device: &str, options: &str) -> bool {
    matches!(device.parse(), Ok(DeviceFamily::Pvc)) && asks_for_version(options, "CL3.0")
}

/// What goes before a driver's program, so that it sees the extensions and features that the driver tells of.
pub(crate) fn feature_prelude(device: &str, options: &str) -> String {
    match device.parse::<DeviceFamily>() {
        Ok(family) => offered::prelude(family, asks_for_version(options, "CL3.0")),
        Err(_) => String::new(),
    }
}

/// Internal options for a device and the user's options; each begins with a blank. A text is to begin with [`HIDE_IMAGES`] where
/// the device [lacks images](lacks_images).
pub(crate) fn internal_options(device: &str, options: &str) -> String {
    if lacks_images(device, options) {
        return IMAGES.to_owned();
    }
    if matches!(device.parse(), Ok(DeviceFamily::Skl)) && asks_for_version(options, "CL1.1") {
        return MOTION.iter().map(|(name, ty)| format!(" -Dintel_sub_group_avc_{name}_t={ty}")).collect();
    }
    String::new()
}
