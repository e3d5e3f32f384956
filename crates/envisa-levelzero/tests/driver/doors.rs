//! The same SPIR-V through Level Zero and through OpenCL: the same bytes.

use crate::opencl::OpenCl;
use crate::ze::*;

const TEXT: &str = "
    #pragma OPENCL EXTENSION cl_khr_subgroups : enable
    #pragma OPENCL EXTENSION cl_khr_fp16 : enable
    #pragma OPENCL EXTENSION cl_khr_fp64 : enable
    kernel void functions(global const float *x, global float *y) {
        size_t i = get_global_id(0);
        float a = x[i], b = x[(i + 1) % 1024];
        y[i] = exp(a) + pow(fabs(a), b) + sin(a) * cos(b) + log(fabs(b)) + tan(a) + erf(b);
    }
    kernel void quotients(global const float *x, global float *y) {
        size_t i = get_global_id(0);
        float a = x[i], b = x[(i + 7) % 1024];
        y[i] = a / b + sqrt(fabs(a)) * rsqrt(fabs(b)) + fma(a, b, 1.0f) + a * b + 3.0f;
    }
    kernel void approximate(global const float *x, global float *y) {
        size_t i = get_global_id(0);
        y[i] = native_exp(x[i]) + native_sin(x[i]) + half_recip(x[i]) + native_divide(1.0f, x[i]);
    }
    kernel void of_double(global const float *x, global float *y) {
        size_t i = get_global_id(0);
        double a = x[i], b = x[(i + 3) % 1024];
        y[i] = (float)(exp(a) / b + sqrt(fabs(a * b)) + sin(b));
    }
    kernel void of_half(global const float *x, global float *y) {
        size_t i = get_global_id(0);
        half a = (half)x[i];
        y[i] = (float)(a * a + (half)1.5f) + (float)exp(a);
    }
    kernel void in_sub_groups(global const float *x, global float *y) {
        size_t i = get_global_id(0);
        float sum = sub_group_reduce_add(x[i]), here = sub_group_scan_inclusive_add(x[i]);
        y[i] = sum * 2.0f + here + sub_group_broadcast(x[i], 3) + (float)get_sub_group_local_id();
    }
    kernel void in_groups(global const float *x, global float *y) {
        local float part[64];
        size_t i = get_local_id(0);
        part[i] = x[get_global_id(0)];
        for (size_t n = get_local_size(0) / 2; n > 0; n /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            if (i < n) part[i] += part[i + n];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        y[get_global_id(0)] = part[0] + work_group_scan_exclusive_max(x[get_global_id(0)]);
    }
    kernel void counted(global const float *x, global float *y) {
        size_t i = get_global_id(0);
        atomic_add((global int *)y + (as_uint(x[i]) >> 8) % 1024, (int)i + 1);
    }
    kernel void private_arrays(global const float *x, global float *y) {
        size_t i = get_global_id(0);
        float own[32];
        for (int n = 0; n < 32; n++) own[(n * 7) % 32] = x[(i + n) % 1024];
        float sum = 0;
        for (int n = 0; n < (int)(i % 32); n++) sum += own[(n + (int)fabs(x[i])) % 32];
        y[i] = sum;
    }
    kernel void vectors(global const float *x, global float *y) {
        size_t i = get_global_id(0);
        float4 a = vload4(i / 4, x), b = convert_float4(convert_char4_sat(a * 20.0f));
        y[i] = dot(a, b) + length(a.xyz) + cross(a, b).y + convert_float(convert_uchar_sat_rte(x[i] * 31.0f));
    }";
const KERNELS: [&str; 10] = [
    "functions",
    "quotients",
    "approximate",
    "of_double",
    "of_half",
    "in_sub_groups",
    "in_groups",
    "counted",
    "private_arrays",
    "vectors",
];
const N: usize = 1024;
const GROUP: usize = 64;

/// Numbers of many sizes, of both signs, with a few that are none.
fn input() -> Vec<f32> {
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 40) as f32 / (1 << 20) as f32 - 8.0
    };
    let mut x: Vec<f32> = (0..N).map(|_| next()).collect();
    for (i, special) in
        [f32::NAN, f32::INFINITY, -0.0, f32::MIN_POSITIVE / 8.0, f32::MAX].into_iter().enumerate()
    {
        x[i * 200 + 5] = special;
    }
    x
}

#[test]
fn level_zero_and_opencl_give_the_same_bytes() {
    let Some(d) = driver() else { return };
    let Some(cl) = OpenCl::new() else { return };
    let il = spirv(TEXT);
    let (result, module, log) = d.module(0, &il);
    assert_eq!(result, SUCCESS, "{log}");
    let program = cl.program(&il);
    let input = input();
    let (x, y, list) = (d.shared(&input), d.shared(&[0u32; N]), d.immediate(0));
    let there = cl.buffer(&input);
    for name in KERNELS {
        let kernel = d.kernel(module, name, GROUP);
        y.fill(0);
        d.arg(kernel, 0, x.as_ptr());
        d.arg(kernel, 1, y.as_ptr());
        d.launch(list, kernel, (N / GROUP) as u32, 0, &[]);
        d.ok("zeCommandListHostSynchronize", &[list, FOREVER]);
        let (kernel, result) = (cl.kernel(program, name), cl.buffer(&[0u32; N]));
        cl.arg(kernel, 0, there);
        cl.arg(kernel, 1, result);
        cl.launch(kernel, N / GROUP, GROUP);
        let mut other = [0u32; N];
        cl.read(result, &mut other);
        assert!(y.iter().filter(|v| **v != 0).count() > N / 4, "{name} did something");
        assert!(*y == other, "{name}: other bytes");
    }
}
