"""Kernels of samples, exercises and books, each launched once with small sizes and compared with NumPy.

Usage: sample_kernels.py SOURCES [NAME...]

SOURCES has clones of NVIDIA's OpenCL samples (`nvidia-opencl-examples`), of the exercises of "Hands On OpenCL"
(`Exercises-Solutions`), of R. Nemmen's examples (`OpenCL-examples`) and of the samples of the "OpenCL Programming Guide"
(`opencl-book-samples`). Prints a line for each kernel.
"""

import pathlib
import sys
import traceback

import numpy as np
import pyopencl as cl

sources, only = pathlib.Path(sys.argv[1]), sys.argv[2:]
context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
queue = cl.CommandQueue(context)
numbers = np.random.default_rng(5)
flags = cl.mem_flags
cases = []

NVIDIA = "nvidia-opencl-examples/OpenCL/src/ocl"
HANDS = "Exercises-Solutions/Solutions/Exercise"
NEMMEN = "OpenCL-examples/"
BOOK = "opencl-book-samples/src/Chapter_"
i32, u32, f32 = np.int32, np.uint32, np.float32


def case(f):
    cases.append((f.__name__, f))
    return f


def floats(*shape):
    return numbers.random(shape, f32)


def words(*shape, most=1 << 32):
    return numbers.integers(0, most, shape, np.uint64).astype(u32)


def empty(*shape, dtype=f32):
    """What the kernel is to write: the buffer has no content."""
    return ("empty", np.empty(shape, dtype))


def local(count, size=4):
    return cl.LocalMemory(count * size)


def launch(file, kernel, sizes, group, *arguments, options=()):
    """The content of all buffers after the launch."""
    path = sources / file
    # Of compilers today, `mul24` takes two numbers of one type.
    head = "#define mul24(a, b) mul24((int)(a), (int)(b))\n"
    program = cl.Program(context, head + path.read_text(errors="replace"))
    built = program.build(options=[*options, "-I", str(path.parent), "-w"])
    buffers, given = [], []
    for a in arguments:
        if isinstance(a, np.ndarray):
            given.append(cl.Buffer(context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=np.ascontiguousarray(a)))
            buffers.append((given[-1], a.shape, a.dtype))
        elif isinstance(a, tuple):
            given.append(cl.Buffer(context, flags.READ_WRITE, a[1].nbytes))
            buffers.append((given[-1], a[1].shape, a[1].dtype))
        else:
            given.append(a)
    getattr(built, kernel)(queue, sizes, group, *given)
    results = []
    for buffer, shape, dtype in buffers:
        result = np.zeros(shape, dtype)
        cl.enqueue_copy(queue, result, buffer)
        results.append(result)
    queue.finish()
    return results


def picture(array, order=cl.channel_order.RGBA):
    kinds = {"uint8": cl.channel_type.UNSIGNED_INT8, "float32": cl.channel_type.FLOAT, "int16": cl.channel_type.SIGNED_INT16}
    shape = array.shape[:2][::-1] if order == cl.channel_order.RGBA else array.shape[::-1]
    return cl.Image(context, flags.READ_ONLY | flags.COPY_HOST_PTR, cl.ImageFormat(order, kinds[array.dtype.name]), shape, hostbuf=array)


def close(a, b, bound=1e-4):
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    worst = np.max(np.abs(a - b) / np.maximum(1, np.abs(b)))
    assert worst <= bound, f"differs by {worst}"


@case
def vector_add():
    a, b = floats(500), floats(500)
    close(launch(NVIDIA + "VectorAdd/VectorAdd.cl", "VectorAdd", (512,), (64,), a, b, empty(500), i32(500))[2], a + b)


@case
def vector_hypot():
    a, b = floats(256, 4), floats(256, 4)
    r = launch(NVIDIA + "CopyComputeOverlap/VectorHypot.cl", "VectorHypot", (256,), (64,), a, b, empty(256, 4), u32(0), i32(1), u32(256))
    close(r[2], np.hypot(a, b))


@case
def dot_product():
    a, b = floats(400), floats(400)
    r = launch(NVIDIA + "DotProduct/DotProduct.cl", "DotProduct", (128,), (32,), a, b, empty(100), i32(100))
    close(r[2], (a * b).reshape(100, 4).sum(1))


@case
def black_scholes():
    s, x, t = 5 + 25 * floats(400), 1 + 99 * floats(400), .25 + 9 * floats(400)
    r = launch(NVIDIA + "BlackScholes/BlackScholes.cl", "BlackScholes", (512,), (128,), empty(400), empty(400), s, x, t, f32(.02), f32(.3), u32(400))
    close(r[0] - r[1], s - x * np.exp(-.02 * t), 1e-3)


def reduction(which, group=64, count=500):
    def run():
        n = count if which < 6 else 512
        a = floats(n)
        groups = -(-n // group) if which < 3 else -(-n // (2 * group))
        r = launch(NVIDIA + "Reduction/oclReduction_kernel.cl", f"reduce{which}", (groups * group,), (group,), a, empty(groups), u32(n), local(group),
                   options=["-DT=float", f"-DblockSize={group}", "-DnIsPow2=1" if which == 6 else "-DnIsPow2=0"])
        close(r[1].sum(), a.sum())
    run.__name__ = f"reduce{which}"
    case(run)


for which in range(7):
    reduction(which)


def scan(file, name):
    def run():
        a = words(2048, most=100)
        r = launch(NVIDIA + file, "scanExclusiveLocal1", (512,), (64,), empty(2048, dtype=u32), a, local(2 * 64), u32(256), options=["-DWORKGROUP_SIZE=64"])
        rows = a.reshape(8, 256)
        assert (r[0].reshape(8, 256) == rows.cumsum(1) - rows).all()
        t = launch(NVIDIA + file, "scanExclusiveLocal2", (64,), (64,), empty(8, dtype=u32), r[0], a, local(2 * 64), u32(8), u32(8), options=["-DWORKGROUP_SIZE=64"])
        sums = rows.sum(1)
        assert (t[0] == np.cumsum(sums) - sums).all()
        u = launch(NVIDIA + file, "uniformUpdate", (512,), (64,), r[0], t[0].repeat(1), options=["-DWORKGROUP_SIZE=64"])
        assert (u[0] == np.cumsum(a) - a).all()
    run.__name__ = name
    case(run)


scan("Scan/Scan.cl", "scan")
scan("MarchingCubes/Scan.cl", "scan_of_marching_cubes")


def sorting(file, name, options=()):
    def run():
        keys, values = words(1024), np.arange(1024, dtype=u32)
        options_here = ["-DLOCAL_SIZE_LIMIT=128", *options]
        path = NVIDIA + file
        r = launch(path, "bitonicSortLocal", (512,), (64,), empty(1024, dtype=u32), empty(1024, dtype=u32), keys, values, u32(128), u32(1), options=options_here)
        assert (r[0].reshape(-1, 128) == np.sort(keys.reshape(-1, 128))).all()
        r = launch(path, "bitonicSortLocal1", (512,), (64,), empty(1024, dtype=u32), empty(1024, dtype=u32), keys, values, options=options_here)
        k, v = r[0], r[1]
        size = 256
        while size <= 1024:
            stride = size // 2
            while stride:
                if stride >= 128:
                    r = launch(path, "bitonicMergeGlobal", (512,), None, empty(1024, dtype=u32), empty(1024, dtype=u32), k, v, u32(1024), u32(size), u32(stride), u32(1), options=options_here)
                    k, v = r[0], r[1]
                else:
                    r = launch(path, "bitonicMergeLocal", (512,), (64,), empty(1024, dtype=u32), empty(1024, dtype=u32), k, v, u32(1024), u32(stride), u32(size), u32(1), options=options_here)
                    k, v = r[0], r[1]
                    break
                stride //= 2
            size *= 2
        assert (k == np.sort(keys)).all() and (keys[v] == k).all()
    run.__name__ = name
    case(run)


sorting("SortingNetworks/BitonicSort.cl", "bitonic_sort")


def product(which):
    def run():
        m, v = floats(40, 96), floats(96)
        shared = [local(64)] if "Uncoalesced" not in which else []
        sizes = (64,) if not shared else (64 * 5,)
        r = launch(NVIDIA + "MatVecMul/oclMatVecMul.cl", which, sizes, (64,), m, v, u32(96), u32(40), empty(40), *shared)
        close(r[2], m @ v)
    run.__name__ = which
    case(run)


for which in ["MatVecMulUncoalesced0", "MatVecMulUncoalesced1", "MatVecMulCoalesced0", "MatVecMulCoalesced1", "MatVecMulCoalesced2", "MatVecMulCoalesced3"]:
    product(which)


@case
def matrix_product():
    a, b = floats(32, 48), floats(48, 32)
    r = launch(NVIDIA + "MatrixMul/matrixMul.cl", "matrixMul", (32, 32), (16, 16), empty(32, 32), a, b, local(256), local(256), i32(48), i32(32), i32(32), options=["-DBLOCK_SIZE=16"])
    close(r[0], a @ b)


@case
def matrix_product_of_threads():
    a, b = floats(32, 48), floats(48, 32)
    r = launch(NVIDIA + "MultiThreads/matrixMul.cl", "matrixMul", (32, 32), (16, 16), empty(32, 32), a, b, local(256), local(256), i32(48), i32(32), options=["-DBLOCK_SIZE=16"])
    close(r[0], a @ b)


def moved(which, kind, shared):
    def run():
        a = floats(32, 48)
        extra = [local(16 * 17)] if shared else []
        r = launch(NVIDIA + "Transpose/transpose.cl", which, (48, 32) if kind != "square" else (32, 32), (16, 16), np.zeros((48, 32), f32), a, i32(0), i32(48), i32(32), *extra, options=["-DBLOCK_DIM=16"])
        if kind == "transposed":
            close(r[0], a.T)
    run.__name__ = "transpose_" + which
    case(run)


moved("transpose", "transposed", True)
moved("transpose_naive", "transposed", False)
moved("simple_copy", "copied", False)
moved("shared_copy", "copied", True)
moved("uncoalesced_copy", "copied", False)

RADIUS_OPTIONS = ["-DKERNEL_RADIUS=8", "-DROWS_BLOCKDIM_X=16", "-DROWS_BLOCKDIM_Y=4", "-DROWS_RESULT_STEPS=4", "-DROWS_HALO_STEPS=1",
                  "-DCOLUMNS_BLOCKDIM_X=16", "-DCOLUMNS_BLOCKDIM_Y=8", "-DCOLUMNS_RESULT_STEPS=4", "-DCOLUMNS_HALO_STEPS=1"]


@case
def convolution_rows():
    a, k = floats(8, 128), floats(17)
    r = launch(NVIDIA + "ConvolutionSeparable/ConvolutionSeparable.cl", "convolutionRows", (32, 8), (16, 4), empty(8, 128), a, k, i32(128), i32(8), i32(128), options=RADIUS_OPTIONS)
    close(r[0], np.array([np.convolve(row, k, "same") for row in a]))


@case
def convolution_columns():
    a, k = floats(64, 32), floats(17)
    r = launch(NVIDIA + "ConvolutionSeparable/ConvolutionSeparable.cl", "convolutionColumns", (32, 16), (16, 8), empty(64, 32), a, k, i32(32), i32(64), i32(32), options=RADIUS_OPTIONS)
    close(r[0], np.array([np.convolve(column, k, "same") for column in a.T]).T)


def cosine(which):
    def run():
        a = floats(32, 64)
        launch(NVIDIA + "DCT8x8/DCT8x8.cl", which, (64, 4), (32, 2), empty(32, 64), a, u32(64), u32(32), u32(64))
    run.__name__ = which
    case(run)


cosine("DCT8x8")
cosine("IDCT8x8")


@case
def finite_differences():
    n, radius = 16, 4
    pad = n + 2 * radius
    a, c = floats(pad, pad, pad), floats(radius + 1)
    r = launch(NVIDIA + "FDTD3d/FDTD3d.cl", "FiniteDifferences", (n, n), (16, 8), np.zeros((pad, pad, pad), f32), a, c, i32(n), i32(n), i32(n), i32(0),
               options=["-DRADIUS=4", "-DMAXWORKX=16", "-DMAXWORKY=8"])
    want = c[0] * a
    for i in range(1, radius + 1):
        want += c[i] * sum(np.roll(a, s * i, axis) for axis in range(3) for s in (-1, 1))
    inner = slice(radius, -radius)
    close(r[0][inner, inner, inner], want[inner, inner, inner])


@case
def histogram_of_64():
    data = words(1024)
    options = ["-DHISTOGRAM64_WORKGROUP_SIZE=64", "-DLOCAL_MEMORY_BANKS=16", "-DMERGE_WORKGROUP_SIZE=64"]
    file = NVIDIA + "Histogram/Histogram64.cl"
    r = launch(file, "histogram64", (128,), (64,), empty(2 * 64, dtype=u32), data, u32(256), options=options)
    m = launch(file, "mergeHistogram64", (64 * 64,), (64,), empty(64, dtype=u32), r[0], u32(2), options=options)
    assert (m[0] == np.bincount(data.view(np.uint8) >> 2, minlength=64)).all()


@case
def histogram_of_256():
    data = words(1024)
    options = ["-DLOG2_WARP_SIZE=5U", "-DWARP_COUNT=2", "-DMERGE_WORKGROUP_SIZE=64"]
    launch(NVIDIA + "Histogram/Histogram256.cl", "histogram256", (128,), (64,), empty(2 * 256, dtype=u32), data, u32(1024), options=options)


@case
def merged_histogram_of_256():
    parts = words(5, 256, most=100)
    options = ["-DLOG2_WARP_SIZE=5U", "-DWARP_COUNT=2", "-DMERGE_WORKGROUP_SIZE=64"]
    r = launch(NVIDIA + "Histogram/Histogram256.cl", "mergeHistogram256", (256 * 64,), (64,), empty(256, dtype=u32), parts, u32(5), options=options)
    assert (r[0] == parts.sum(0)).all()


@case
def median_filter():
    a = numbers.integers(0, 256, (16, 32, 4), np.uint8)
    launch(NVIDIA + "MedianFilter/MedianFilter.cl", "ckMedian", (32, 16), (16, 4), a, empty(16 + 1, 32, dtype=u32), local(18 * 6), i32(18), i32(32), i32(16))


@case
def sobel_filter():
    a = numbers.integers(0, 256, (16, 32, 4), np.uint8)
    launch(NVIDIA + "SobelFilter/SobelFilter.cl", "ckSobel", (32, 16), (16, 4), a, empty(16 + 1, 32, dtype=u32), local(18 * 6), i32(18), i32(32), i32(16), f32(80))


@case
def box_filter():
    a = numbers.integers(0, 256, (8, 64, 4), np.uint8)
    launch(NVIDIA + "BoxFilter/BoxFilter.cl", "BoxRowsLmem", (2 * 64, 8), (64, 1), a, empty(8, 64, dtype=u32), local(64), u32(64), u32(8), i32(4), i32(16), f32(1 / 9), u32(32), options=["-DUSELMEM"])


@case
def box_filter_columns():
    a = words(32, 64)
    launch(NVIDIA + "BoxFilter/BoxFilter.cl", "BoxColumns", (64,), (32,), a, empty(32, 64, dtype=u32), u32(64), u32(32), i32(4), f32(1 / 9))


@case
def box_filter_of_image():
    a = numbers.integers(0, 256, (8, 64, 4), np.uint8)
    launch(NVIDIA + "BoxFilter/BoxFilter.cl", "BoxRowsTex", (8,), (8,), picture(a), empty(8, 64, dtype=u32),
           cl.Sampler(context, False, cl.addressing_mode.CLAMP_TO_EDGE, cl.filter_mode.NEAREST), u32(64), u32(8), i32(4), f32(1 / 9), options=["-DUSETEXTURE"])


@case
def transposed_picture():
    a = words(24, 40)
    r = launch(NVIDIA + "RecursiveGaussian/RecursiveGaussian.cl", "Transpose", (48, 32), (16, 16), a, empty(40, 24, dtype=u32), i32(40), i32(24), local(17 * 16))
    assert (r[1] == a.T).all()


@case
def recursive_filter():
    launch(NVIDIA + "RecursiveGaussian/RecursiveGaussian.cl", "SimpleRecursiveRGBA", (64,), (32,), words(16, 40), empty(16, 40, dtype=u32), i32(40), i32(16), f32(.5))


@case
def recursive_gaussian():
    launch(NVIDIA + "RecursiveGaussian/RecursiveGaussian.cl", "RecursiveGaussianRGBA", (64,), (32,), words(16, 40), empty(16, 40, dtype=u32), i32(40), i32(16),
           *[f32(x) for x in (.1, .05, .05, .02, -1.2, .4, .5, .5)], options=["-DCLAMP_TO_EDGE"])


@case
def mersenne_twister():
    r = launch(NVIDIA + "MersenneTwister/MersenneTwister.cl", "MersenneTwister", (4096,), (128,), empty(4096 * 4), words(4096, 4), i32(4))
    assert (r[0] > 0).all() and (r[0] <= 1).all()
    launch(NVIDIA + "MersenneTwister/MersenneTwister.cl", "BoxMuller", (4096,), (128,), r[0], i32(4))


@case
def quasirandom():
    launch(NVIDIA + "QuasirandomGenerator/QuasirandomGenerator.cl", "QuasirandomGenerator", (128, 3), (32, 3), empty(3 * 300), words(3 * 31), u32(0), u32(300))


@case
def inverse_cnd():
    launch(NVIDIA + "QuasirandomGenerator/QuasirandomGenerator.cl", "InverseCND", (128,), (64,), empty(300), u32(300), u32(0), u32(1))


def bodies(which, threads):
    def run():
        p, v = floats(64, 4), floats(64, 4)
        launch(NVIDIA + "Nbody/oclNbodyKernel.cl", which, (64, threads), (32, threads), empty(64, 4), empty(64, 4), p, v, f32(.01), f32(.9), f32(.1), i32(64), local(4 * 32 * threads),
               options=["-DREAL=float", "-DREAL4=float4", "-DREAL3=float3", "-DZERO3=(float3)(0,0,0)"])
    run.__name__ = which
    case(run)


bodies("integrateBodies_noMT", 1)
bodies("integrateBodies_MT", 2)


@case
def postprocess():
    a = words(32, 32, most=1 << 24)
    launch(NVIDIA + "PostprocessGL/postprocessGL.cl", "postprocess", (32, 32), (16, 16), a, empty(32, 32, dtype=u32), i32(32), i32(32), i32(24), i32(4), f32(.8), f32(4), local(24 * 24))


@case
def radix_sort_blocks():
    launch(NVIDIA + "RadixSort/RadixSort.cl", "radixSortBlocksKeysOnly", (128,), (64,), words(512), empty(512, dtype=u32), u32(4), u32(0), u32(512), u32(2), local(4 * 64))


@case
def radix_offsets():
    keys = np.sort(words(256) & 15).reshape(2, 128)
    launch(NVIDIA + "RadixSort/RadixSort.cl", "findRadixOffsets", (128,), (64,), keys, empty(16 * 2, dtype=u32), empty(16 * 2, dtype=u32), u32(0), u32(256), u32(2), local(128))


@case
def radix_scan():
    a = words(64, most=100)
    r = launch(NVIDIA + "RadixSort/RadixSort.cl", "scanNaive", (64,), (64,), empty(64, dtype=u32), a, u32(64), local(128))
    assert (r[0] == np.cumsum(a) - a).all()


@case
def reordered_keys():
    keys = np.sort((words(256) & 15).reshape(2, 128))
    counts = np.array([np.bincount(k, minlength=16) for k in keys])
    starts = np.cumsum(counts, 1) - counts
    offsets = (np.cumsum(counts.T.ravel()) - counts.T.ravel()).astype(u32)
    r = launch(NVIDIA + "RadixSort/RadixSort.cl", "reorderDataKeysOnly", (128,), (64,), empty(256, dtype=u32), keys, starts.astype(u32), offsets, counts.T.astype(u32),
               u32(0), u32(256), u32(2), local(128))
    assert (r[0] == np.sort(keys.ravel())).all()


@case
def cell_bounds():
    hashes = np.sort(words(200, most=32))
    index = numbers.permutation(200).astype(u32)
    p, v = floats(200, 4), floats(200, 4)
    path = sources / (NVIDIA + "Particles/Particles.cl")
    if not path.is_file():
        raise FileNotFoundError(path)
    r = launch(NVIDIA + "Particles/Particles.cl", "findCellBoundsAndReorder", (256,), (64,), np.full(32, 0xffffffff, u32), np.zeros(32, u32), empty(200, 4), empty(200, 4),
               hashes, index, p, v, local(65), u32(200))
    close(r[2], p[index])


@case
def set_memory():
    r = launch(NVIDIA + "Particles/Particles.cl", "Memset", (256,), (64,), empty(200, dtype=u32), u32(7), u32(200))
    assert (r[0] == 7).all()


@case
def sums_of_parts():
    a = floats(1000)
    close(launch(NVIDIA + "SimpleMultiGPU/simpleMultiGPU.cl", "reduce", (128,), (32,), empty(128), a, i32(1000))[0].sum(), a.sum())


@case
def sine_wave():
    launch(NVIDIA + "SimpleGL/simpleGL.cl", "sine_wave", (32, 32), (8, 8), empty(1024, 4), u32(32), u32(32), f32(.5))


def systems(file, which, shared, threads):
    def run():
        n, count = 32, 8
        a, c, d = floats(count, n), floats(count, n), floats(count, n)
        b = 4 + floats(count, n)
        a[:, 0] = c[:, -1] = 0
        want = [np.linalg.solve(np.diag(b[k]) + np.diag(a[k, 1:], -1) + np.diag(c[k, :-1], 1), d[k]) for k in range(count)]
        r = launch(NVIDIA + f"Tridiagonal/{file}.cl", which, (count * threads,), (threads,), a, b, c, d, empty(count, n), local(shared * (n + 1)), i32(n), i32(count), i32(4),
                   options=["-Dsystem_size=32"] if "sweep" in file else [])
        close(r[4], want, 1e-2)
    run.__name__ = which
    case(run)


systems("cyclic_kernels", "cyclic_small_systems_kernel", 5, 16)
systems("cyclic_kernels", "cyclic_branch_free_kernel", 5, 16)
systems("pcr_kernels", "pcr_small_systems_kernel", 5, 32)
systems("pcr_kernels", "pcr_branch_free_kernel", 5, 32)


@case
def swept_systems():
    n, count = 16, 20
    a, c, d = floats(count, n), floats(count, n), floats(count, n)
    b = 4 + floats(count, n)
    want = [np.linalg.solve(np.diag(b[k]) + np.diag(a[k, 1:], -1) + np.diag(c[k, :-1], 1), d[k]) for k in range(count)]
    r = launch(NVIDIA + "Tridiagonal/sweep_kernels.cl", "sweep_small_systems_local_kernel", (32,), (16,), a, b, c, d, empty(count, n), i32(count),
               options=["-Dsystem_size=16", "-DBLOCK_DIM=16"])
    close(r[4], want, 1e-2)


@case
def rendered_texture():
    volume = numbers.integers(0, 256, (8, 8, 8), np.uint8)
    image = cl.Image(context, flags.READ_ONLY | flags.COPY_HOST_PTR, cl.ImageFormat(cl.channel_order.R, cl.channel_type.UNORM_INT8), (8, 8, 8), hostbuf=volume)
    launch(NVIDIA + "SimpleTexture3D/oclSimpleTexture3D_kernel.cl", "render", (32, 32), (16, 8), image, cl.Sampler(context, True, cl.addressing_mode.REPEAT, cl.filter_mode.LINEAR),
           empty(32, 32, dtype=u32), u32(32), u32(32), f32(.5))


def multiplied(file, sizes, group, shared):
    def run():
        a, b = floats(32, 32), floats(32, 32)
        r = launch(HANDS + file, "mmul", sizes, group, i32(32), a, b, empty(32, 32), *[local(n) for n in shared])
        close(r[2], a @ b)
    run.__name__ = "hands_on_" + file.split("/")[1].removesuffix(".cl")
    case(run)


multiplied("08/C_elem.cl", (32, 32), (8, 8), [])
multiplied("08/C_row.cl", (32,), (16,), [])
multiplied("08/C_row_priv.cl", (32,), (16,), [])
multiplied("08/C_row_priv_bloc.cl", (32,), (16,), [32])
multiplied("08/C_block_form.cl", (32, 32), (16, 16), [256, 256])


def approximated(file, which, steps):
    def run():
        r = launch(HANDS + file, which, (64,), (16,), i32(steps), f32(1 / (64 * steps)), local(16), empty(4))
        close(r[0].sum() / (64 * steps), np.pi, 1e-3)
    run.__name__ = "hands_on_" + which + ("" if file.startswith("09") else "_of_vectors")
    case(run)


approximated("09/pi_ocl.cl", "pi", 16)
approximated("A/pi_vocl.cl", "pi", 16)


@case
def hands_on_life():
    a = (numbers.random((32, 32)) < .4).astype(np.int8)
    r = launch(HANDS + "13/gameoflife.cl", "accelerate_life", (32, 32), (8, 8), a, empty(32, 32, dtype=np.int8), u32(32), u32(32), local(100, 1))
    count = sum(np.roll(a, (y, x), (0, 1)) for y in (-1, 0, 1) for x in (-1, 0, 1)) - a
    assert (r[1] == ((count == 3) | (a == 1) & (count == 2))).all()


@case
def hands_on_vadd():
    a, b, c = floats(500), floats(500), floats(500)
    close(launch(HANDS + "05/Cpp/vadd_abc.cl", "vadd", (500,), None, a, b, c, empty(500), u32(500))[3], a + b + c)


@case
def nemmen_add_numbers():
    a = floats(128, 4)
    close(launch(NEMMEN + "add_numbers/add_numbers.cl", "add_numbers", (64,), (16,), a, local(16), empty(4))[1].sum(), a.sum())


@case
def nemmen_bodies():
    launch(NEMMEN + "N-BodySimulation/Sources/Kernels/nbody_gpu.ocl", "IntegrateSystem", (64,), (32,), empty(64, 4), empty(64, 4), floats(64, 4), floats(64, 4), f32(.01), f32(.9), f32(.1),
           i32(64), i32(0), i32(64), local(4 * 32))


@case
def nemmen_mandelbrot():
    launch(NEMMEN + "mandelbrot/mandelbrot.cl", "solve_mandelbrot", (256,), (64,), 4 * floats(256) - 2, 4 * floats(256) - 2, i32(50), empty(256, dtype=i32))


@case
def book_dijkstra():
    count, each = 64, 4
    start = np.arange(0, count * each, each, dtype=i32)
    edges, weights = numbers.integers(0, count, count * each, i32), floats(count * each)
    file = BOOK + "16/Dijkstra/dijkstra.cl"
    mask, cost, update = launch(file, "initializeBuffers", (count,), None, empty(count, dtype=i32), empty(count), empty(count), i32(3), i32(count))
    for _ in range(3):
        r = launch(file, "OCL_SSSP_KERNEL1", (count,), None, start, edges, weights, mask, cost, update, i32(count), i32(count * each))
        r = launch(file, "OCL_SSSP_KERNEL2", (count,), None, start, edges, weights, *r[3:], i32(count))
        mask, cost, update = r[3:]


@case
def book_convolution():
    a, mask = words(18, 18, most=10), words(3, 3, most=3)
    r = launch(BOOK + "3/OpenCLConvolution/Convolution.cl", "convolve", (16, 16), (8, 8), a, mask, empty(16, 16, dtype=u32), i32(18), i32(3))
    assert (r[2] == sum(mask[y, x] * a[y : y + 16, x : x + 16] for y in range(3) for x in range(3))).all()


@case
def book_motion():
    launch(BOOK + "19/oclFlow/motion.cl", "motion", (32, 16), (16, 8), empty(16 * 30, 4), floats(16 * 30, 2), i32(30), i32(16))


def filtered(which, kind, *weights):
    def run():
        a = numbers.integers(0, 100, (32, 32)).astype(np.uint8 if kind is np.uint8 else np.int16)
        image = picture(a, cl.channel_order.R)
        out = empty(16, 16, dtype=kind) if which == "downfilter_y_g" else empty(32, 32, dtype=kind)
        n = out[1].shape[0]
        launch(BOOK + "19/oclFlow/filters.cl", which, (32, 32), (16, 8), image, out, i32(n), i32(n), *[i32(w) for w in weights])
    run.__name__ = "book_" + which
    case(run)


filtered("downfilter_x_g", np.uint8)
filtered("downfilter_y_g", np.uint8)
filtered("filter_3x1_g", np.int16, 1, 2, 1)


@case
def book_gaussian():
    a = floats(32, 32, 4)
    out = cl.Image(context, flags.WRITE_ONLY, cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.FLOAT), (32, 32))
    launch(BOOK + "8/ImageFilter2D/ImageFilter2D.cl", "gaussian_filter", (32, 32), (16, 8), picture(a), out,
           cl.Sampler(context, False, cl.addressing_mode.CLAMP_TO_EDGE, cl.filter_mode.NEAREST), i32(32), i32(32))


for name, run in cases:
    if only and name not in only:
        continue
    try:
        run()
        print(f"PASS {name}", flush=True)
    except Exception as e:  # one kernel that fails is a result
        print(f"FAIL {name}: {type(e).__name__}: {str(e).strip().splitlines()[0] if str(e).strip() else ''}", flush=True)
        traceback.print_exc()
