"""Every image format that the device lists, through every sampler there is, in two and three dimensions, against a
model of the OpenCL C specification's formulas in NumPy."""

import itertools

import numpy as np
import pyopencl as cl

WIDTH, HEIGHT, DEPTH = 16, 8, 4
PLACES = 256
SOURCE = """
#define SAMPLE(name, image, texel, read, where) \\
    kernel void name(read_only image i, sampler_t s, global texel *o, global const float4 *at) \\
    { size_t k = get_global_id(0); o[k] = read(i, s, at[k] where); }
SAMPLE(f2, image2d_t, float4, read_imagef, .xy)
SAMPLE(i2, image2d_t, int4, read_imagei, .xy)
SAMPLE(u2, image2d_t, uint4, read_imageui, .xy)
SAMPLE(f3, image3d_t, float4, read_imagef, )
SAMPLE(i3, image3d_t, int4, read_imagei, )
SAMPLE(u3, image3d_t, uint4, read_imageui, )
"""
# Depth images are a later version's.
DEPTH_SOURCE = """
kernel void d2(read_only image2d_depth_t i, sampler_t s, global float4 *o, global const float4 *at)
{ size_t k = get_global_id(0); o[k] = (float4)(read_imagef(i, s, at[k].xy), 0, 0, 1); }
"""

T = cl.channel_type
TYPES = {
    T.UNORM_INT8: np.uint8, T.UNORM_INT16: np.uint16, T.SNORM_INT8: np.int8, T.SNORM_INT16: np.int16,
    T.SIGNED_INT8: np.int8, T.SIGNED_INT16: np.int16, T.SIGNED_INT32: np.int32,
    T.UNSIGNED_INT8: np.uint8, T.UNSIGNED_INT16: np.uint16, T.UNSIGNED_INT32: np.uint32,
    T.HALF_FLOAT: np.float16, T.FLOAT: np.float32,
}
INTEGERS = {T.SIGNED_INT8, T.SIGNED_INT16, T.SIGNED_INT32, T.UNSIGNED_INT8, T.UNSIGNED_INT16, T.UNSIGNED_INT32}
R, A, RG, RGBA, BGRA, INTENSITY, LUMINANCE, DEPTH_ORDER, SRGBA, SBGRA = (
    0x10B0, 0x10B1, 0x10B2, 0x10B5, 0x10B6, 0x10B8, 0x10B9, 0x10BD, 0x10C1, 0x10C2)
STORED = {
    R: [0], A: [3], RG: [0, 1], RGBA: [0, 1, 2, 3], BGRA: [2, 1, 0, 3], INTENSITY: [0], LUMINANCE: [0],
    DEPTH_ORDER: [0], SRGBA: [0, 1, 2, 3], SBGRA: [2, 1, 0, 3],
}
MODES = {
    "clamp": cl.addressing_mode.CLAMP, "edge": cl.addressing_mode.CLAMP_TO_EDGE,
    "repeat": cl.addressing_mode.REPEAT, "mirror": cl.addressing_mode.MIRRORED_REPEAT,
}


def decoded(order, channel, stored):
    """R, G, B, A of all texels."""
    if channel in INTEGERS:
        x = stored.astype(np.int64)
    elif channel in (T.HALF_FLOAT, T.FLOAT):
        x = stored.astype(np.float64)
    else:
        x = np.maximum(stored / float(np.iinfo(TYPES[channel]).max), -1.0)
    if order in (SRGBA, SBGRA):
        linear = np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4)
        x = np.concatenate([linear[..., :3], x[..., 3:]], -1)
    out = np.zeros(stored.shape[:-1] + (4,), x.dtype)
    out[..., 3] = 1
    for k, c in enumerate(STORED[order]):
        out[..., c] = x[..., k]
    if order == INTENSITY:
        out[...] = x
    if order == LUMINANCE:
        out[..., :3] = x
    return out


def place(mode, normalised, s, size):
    """Places in texels."""
    s = s.astype(np.float64)
    if mode == "repeat":
        return (s - np.floor(s)) * size
    if mode == "mirror":
        return np.abs(s - 2 * np.rint(0.5 * s)) * size
    return s * size if normalised else s


def wanted(texels, border, mode, normalised, linear, at, sizes):
    places = [place(mode, normalised, at[:, k], n) for k, n in enumerate(sizes)]
    result = np.zeros((len(at), 4))
    for corner in itertools.product(*[(0, 1) if linear else (0,)] * len(sizes)):
        weight, inside, index = np.ones(len(at)), np.ones(len(at), bool), []
        for u, n, high in zip(places, sizes, corner):
            i = np.floor(u - 0.5 if linear else u)
            if linear:
                part = u - 0.5 - i
                weight = weight * (part if high else 1 - part)
            i = i.astype(int) + high
            if mode == "clamp":
                inside &= (i >= 0) & (i < n)
            i = i % n if mode == "repeat" else np.clip(i, 0, n - 1)
            index.append(i)
        x = np.where(inside[:, None], texels[tuple(index[::-1])], border)
        result += weight[:, None] * x
    return result


def main():
    device = cl.get_platforms()[0].get_devices()[0]
    assert "envisa" in device.name, device.name
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    program = cl.Program(context, SOURCE).build()
    kernels = {k.function_name: k for k in program.all_kernels()}
    kernels["d2"] = cl.Program(context, DEPTH_SOURCE).build(options=["-cl-std=CL3.0"]).d2
    random, flags, done = np.random.default_rng(1), cl.mem_flags, 0
    for kind, shape in ((cl.mem_object_type.IMAGE2D, (HEIGHT, WIDTH)), (cl.mem_object_type.IMAGE3D, (DEPTH, HEIGHT, WIDTH))):
        sizes = shape[::-1]
        for f in cl.get_supported_image_formats(context, flags.READ_ONLY, kind):
            order, channel = f.channel_order, f.channel_data_type
            ty, extents = TYPES[channel], shape + (len(STORED[order]),)
            if np.issubdtype(ty, np.integer):
                limits = np.iinfo(ty)
                stored = random.integers(limits.min, limits.max, extents, dtype=ty, endpoint=True)
            else:
                stored = random.uniform(-1, 1, extents).astype(ty)
            image = cl.create_image(
                context, flags.READ_ONLY | flags.COPY_HOST_PTR, f, shape=sizes, hostbuf=stored)
            texels, integers = decoded(order, channel, stored), channel in INTEGERS
            border = [0, 0, 0, order in (R, RG, LUMINANCE, DEPTH_ORDER)]
            signed = np.issubdtype(ty, np.signedinteger)
            name = ("d" if order == DEPTH_ORDER else "f" if not integers else "i" if signed else "u") + str(len(sizes))
            for normalised, mode, linear in itertools.product((False, True), MODES, (False, True)):
                if (mode in ("repeat", "mirror") and not normalised) or (linear and integers):
                    continue
                at = np.zeros((PLACES, 4), np.float32)
                for k, n in enumerate(sizes):
                    # Odd multiples of 1/128: on no border of texels.
                    texel = (random.integers(-128 * n, 192 * n, PLACES) * 2 + 1) / 128
                    at[:, k] = texel / n if normalised else texel
                sampler = cl.Sampler(
                    context, normalised, MODES[mode],
                    cl.filter_mode.LINEAR if linear else cl.filter_mode.NEAREST)
                out = np.zeros((PLACES, 4), (np.int32 if signed else np.uint32) if integers else np.float32)
                there = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=at)
                to = cl.Buffer(context, flags.WRITE_ONLY, out.nbytes)
                kernels[name](queue, (PLACES,), None, image, sampler, to, there)
                cl.enqueue_copy(queue, out, to)
                want = wanted(texels, border, mode, normalised, linear, at, sizes)
                error = np.abs(want - out).max()
                what = f"{f} {name} {mode} normalised {normalised} linear {linear}"
                # Texels are of at most 1, rounded once to a single, and so is their mean.
                assert error <= (0 if integers else 3e-7), f"{what}: off by {error}"
                done += 1
    assert done > 900, done
    print(f"{done} combinations fine")


main()
