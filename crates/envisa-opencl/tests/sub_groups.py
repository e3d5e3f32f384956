"""Functions of sub-groups beside NumPy, for every type and sub-group size, where all channels run and in both branches of an `if`;
in groups whose last sub-group is smaller, too."""

import functools
import itertools
import os

import numpy as np
import pyopencl as cl

TYPES = {
    "char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16, "int": np.int32, "uint": np.uint32,
    "long": np.int64, "ulong": np.uint64, "half": np.float16, "float": np.float32, "double": np.float64,
}
GROUPS = 3
OPERATIONS = {"add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}


def numbers(ty, count, seed):
    random = np.random.default_rng(seed)
    if np.issubdtype(ty, np.floating):
        # So small that sums are exact, in whatever order.
        return random.integers(-40, 40, count).astype(ty)
    limits = np.iinfo(ty)
    x = random.integers(limits.min, limits.max, count, ty, endpoint=True)
    x[::7], x[3::11], x[5::13] = limits.min, limits.max, 0
    return x


def identity(operation, ty):
    if operation in ("min", "max"):
        if np.issubdtype(ty, np.floating):
            return ty(np.inf if operation == "min" else -np.inf)
        return ty(np.iinfo(ty).max if operation == "min" else np.iinfo(ty).min)
    return ty(0) if operation != "and" else ~ty(0)


def reduced(operation, x):
    return functools.reduce(lambda a, b: OPERATIONS[operation](a, b, dtype=x.dtype), x)


def scanned(operation, x, inclusive):
    sums = [reduced(operation, x[: k + 1]) for k in range(len(x))]
    return np.array(sums if inclusive else [identity(operation, x.dtype.type), *sums[:-1]], x.dtype)


class Kernel:
    """Expressions for one type, and what each of them is in each work-item."""

    def __init__(self, name, size, local):
        self.name, self.type, self.size, self.local = name, TYPES[name], size, local
        self.count = local * GROUPS
        self.x, self.y = numbers(self.type, self.count, size + local), numbers(self.type, self.count, size + local + 1)
        self.index = np.random.default_rng(local).integers(0, 2**30, self.count).astype(np.uint32)
        self.statements, self.wanted, self.texts = [], [], []

    def sub_groups(self):
        for group, first in itertools.product(range(GROUPS), range(0, self.local, self.size)):
            yield np.arange(group * self.local + first, group * self.local + min(first + self.size, self.local))

    def expect(self, text, value, active=None):
        """`value` is given the work-items of a sub-group that are active, and says what the expression is in them."""
        result = np.zeros(self.count, self.type)
        for items in self.sub_groups():
            items = items if active is None else items[active[items]]
            if len(items):
                result[items] = value(items)
        self.statements.append(f"out[{len(self.texts)} * n + i] = {text};")
        self.texts.append(text)
        self.wanted.append(result)

    def everywhere(self):
        x, y, index = self.x, self.y, self.index
        for operation in ("add", "min", "max"):
            self.expect(f"sub_group_reduce_{operation}(x)", lambda at: reduced(operation, x[at]))
            self.expect(f"sub_group_scan_inclusive_{operation}(x)", lambda at: scanned(operation, x[at], True))
            self.expect(f"sub_group_scan_exclusive_{operation}(x)", lambda at: scanned(operation, x[at], False))
        self.expect("sub_group_broadcast(x, 1)", lambda at: x[at[1]])
        for start in ("intel_sub_group_shuffle", "sub_group_shuffle"):
            self.expect(f"{start}(x, index[i] % get_sub_group_size())", lambda at: x[at[index[at] % len(at)]])
        if self.local % self.size:
            return
        lanes, group_index = np.arange(self.size), lambda at: int(index[at[0] // self.local])
        of_group = "index[get_group_id(0)]"
        for start in ("intel_sub_group_shuffle_xor", "sub_group_shuffle_xor"):
            self.expect(f"{start}(x, {of_group} % {self.size})", lambda at: x[at[lanes ^ group_index(at) % self.size]])
        both = lambda at: np.concatenate([x[at], y[at]])
        distance = lambda at: group_index(at) % (self.size + 1)
        self.expect(f"intel_sub_group_shuffle_down(x, y, {of_group} % {self.size + 1})", lambda at: both(at)[lanes + distance(at)])
        self.expect(
            f"intel_sub_group_shuffle_up(x, y, {of_group} % {self.size + 1})", lambda at: both(at)[lanes + self.size - distance(at)])
        for width in (w for w in (2, 4, 8, 16, 32) if w <= self.size):
            self.expect(f"sub_group_clustered_reduce_max(x, {width})", lambda at: np.repeat(x[at].reshape(-1, width).max(1), width))

    def in_a_branch(self, condition, active):
        x = self.x
        self.statements.append(f"if ({condition}) {{")
        names = ["add", "min", "max"] + (["and", "or", "xor"] if not np.issubdtype(self.type, np.floating) else [])
        for operation in names:
            start = "sub_group_non_uniform"
            self.expect(f"{start}_reduce_{operation}(x)", lambda at: reduced(operation, x[at]), active)
            self.expect(f"{start}_scan_inclusive_{operation}(x)", lambda at: scanned(operation, x[at], True), active)
            self.expect(f"{start}_scan_exclusive_{operation}(x)", lambda at: scanned(operation, x[at], False), active)
        self.expect("sub_group_broadcast_first(x)", lambda at: x[at[0]], active)
        self.expect("sub_group_non_uniform_all_equal(x)", lambda at: (x[at] == x[at[0]]).all(), active)
        one = self.type(1)
        self.expect("sub_group_elect() ? x : 1", lambda at: np.where(at == at[0], x[at], one), active)
        self.statements.append("}")

    def run(self, context, queue):
        self.everywhere()
        self.in_a_branch("index[i] % 3 == 0", self.index % 3 == 0)
        self.in_a_branch("index[i] % 3 != 0", self.index % 3 != 0)
        source = "\n".join([
            "#pragma OPENCL EXTENSION cl_khr_fp16 : enable", f"__attribute__((intel_reqd_sub_group_size({self.size})))",
            f"kernel void k(global const {self.name} *xs, global const {self.name} *ys, global const uint *index, "
            f"global {self.name} *out, uint n)",
            f"{{ uint i = get_global_id(0); {self.name} x = xs[i], y = ys[i];", *self.statements, "}"])
        kernel = cl.Kernel(cl.Program(context, source).build(options=["-cl-std=CL3.0"]), "k")
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        wanted = np.array(self.wanted)
        buffers = [cl.Buffer(context, flags, hostbuf=a) for a in (self.x, self.y, self.index, np.zeros_like(wanted))]
        kernel.set_args(*buffers, np.uint32(self.count))
        cl.enqueue_nd_range_kernel(queue, kernel, (self.count,), (self.local,))
        got = np.empty_like(wanted)
        cl.enqueue_copy(queue, got, buffers[-1])
        for text, want, have in zip(self.texts, wanted, got):
            assert (want == have).all(), (
                f"{self.name}, sub-groups of {self.size}, groups of {self.local}: {text} is {have[want != have][:4]}, "
                f"not {want[want != have][:4]}, in {np.nonzero(want != have)[0][:4]}")
        return len(self.texts)


def main():
    device = cl.get_platforms()[0].get_devices()[0]
    assert "envisa" in device.name, device.name
    context = cl.Context([device])
    queue, done = cl.CommandQueue(context), 0
    np.seterr(over="ignore")
    # One in so many of them, another one each day in CI.
    parts, share = (int(os.environ.get(name, other)) for name, other in (("ENVISA_TEST_PARTS", 1), ("ENVISA_SHARE", 0)))
    for number, (name, size) in enumerate(itertools.product(TYPES, (8, 16, 32))):
        if (number + share) % parts:
            continue
        if (name == "double" and "cl_khr_fp64" not in device.extensions) or (size == 8 and "Max" in device.name):
            continue
        # In every second one the last sub-group of a group is smaller.
        local = 2 * size + (size // 2 + 1) * (number % 2)
        done += Kernel(name, size, local).run(context, queue)
    print(f"{done} functions fine")


main()
