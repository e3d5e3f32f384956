"""Random kernels with private arrays beside NumPy: of every integer type, of vectors and structures, one or several of them, read
and written at indices that are the same for all work-items or each one's own, by pointers that go on, and in branches."""

import os
import random

import numpy as np
import pyopencl as cl

TYPES = {
    "char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16, "int": np.int32, "uint": np.uint32,
    "long": np.int64, "ulong": np.uint64,
}
ITEMS = 3 * 64 + 17
PROGRAMS = 96


class Array:
    """An array of each work-item: elements of one type, or structures and vectors of several."""

    def __init__(self, name, seed):
        self.name, self.ty = name, seed.choice(list(TYPES))
        self.length = seed.randrange(24, 130)
        self.members = seed.choice([1, 1, 1, 2, 4])
        self.kind = seed.choice(["struct", "vector"]) if self.members > 1 else "plain"
        self.data = np.zeros((self.members, ITEMS, self.length), TYPES[self.ty])

    def structure(self):
        """What is to be said before the kernel."""
        return f"struct {self.name}s {{ {self.ty} {', '.join('xyzw'[:self.members])}; }};" if self.kind == "struct" else ""

    def element_type(self):
        return {"plain": self.ty, "vector": f"{self.ty}{self.members}", "struct": f"struct {self.name}s"}[self.kind]

    def element(self, index, member):
        return f"{self.name}[{index}]" + (f".{'xyzw'[member]}" if self.members > 1 else "")

    def cast(self, x):
        return x.astype(self.data.dtype)


class Kernel:
    """Statements, and what they do to the arrays of all work-items."""

    def __init__(self, number):
        self.seed = random.Random(number)
        self.arrays = [Array("abc"[k], self.seed) for k in range(self.seed.choice([1, 1, 2, 3]))]
        self.x = np.random.default_rng(number).integers(0, 2**32, ITEMS, np.uint32, endpoint=False)
        self.text = []
        self.sum = np.zeros(ITEMS, np.uint64)

    def place(self):
        a = self.seed.choice(self.arrays)
        return a, self.seed.randrange(a.members)

    def fill(self):
        """All elements, one after the other."""
        for a in self.arrays:
            for m in range(a.members):
                by, plus = self.seed.randrange(1, 1 << 16) | 1, self.seed.randrange(100)
                self.text.append(
                    f"for (uint k = 0; k < {a.length}; k++) {a.element('k', m)} = ({a.ty})(x * {by}u + k * {plus}u);")
                k = np.arange(a.length, dtype=np.uint32)
                a.data[m] = a.cast(self.x[:, None] * np.uint32(by) + k * np.uint32(plus))

    def add_at_common_index(self, active):
        (a, m), (b, n) = self.place(), self.place()
        rounds, p, q = (self.seed.randrange(1, 40) for _ in range(3))
        self.text.append(f"for (uint k = 0; k < {rounds}; k++) "
                         f"{a.element(f'k * {p} % {a.length}', m)} += ({a.ty}){b.element(f'(k * {q} + 3) % {b.length}', n)};")
        for k in range(rounds):
            to, value = k * p % a.length, a.cast(b.data[n][:, (k * q + 3) % b.length])
            a.data[m][active, to] += value[active]

    def change_at_own_index(self, active):
        a, m = self.place()
        shift, factor = self.seed.randrange(24), self.seed.randrange(1, 200)
        self.text.append(f"{a.element(f'(x >> {shift}) % {a.length}', m)} ^= ({a.ty})(x * {factor}u);")
        at = (self.x >> np.uint32(shift)) % np.uint32(a.length)
        items = np.nonzero(active)[0]
        a.data[m][items, at[items]] ^= a.cast(self.x * np.uint32(factor))[items]

    def move_up_to_own_index(self, active):
        """As an insertion does: each work-item its own number of elements."""
        a, m = self.place()
        shift = self.seed.randrange(24)
        self.text.append(f"for (uint j = (x >> {shift}) % {a.length}; j > 0; j--) "
                         f"{a.element('j', m)} = {a.element('j - 1', m)};")
        for item in np.nonzero(active)[0]:
            j = int(self.x[item] >> np.uint32(shift)) % a.length
            a.data[m][item, 1 : j + 1] = a.data[m][item, :j].copy()

    def walk(self, active):
        """A pointer that goes on."""
        a, m = self.place()
        first, step = self.seed.randrange(8), self.seed.randrange(1, 5)
        last = max(first, a.length - self.seed.randrange(4))
        of = f"p->{'xyzw'[m]}" if a.kind == "struct" else f"(*p).s{m}" if a.kind == "vector" else "*p"
        self.text.append(f"{{ {a.element_type()} *p = {a.name} + {first}; for (uint k = {first}; k < {last}; k += {step}, p += {step}) "
                         f"{{ sum = sum * 31 + (ulong){of}; {of} = ({a.ty})(k + x); }} }}")
        for k in range(first, last, step):
            values = a.data[m][active, k].astype(np.int64).astype(np.uint64)
            self.sum[active] = self.sum[active] * np.uint64(31) + values
            a.data[m][active, k] = a.cast(self.x + np.uint32(k))[active]

    def statements(self):
        steps = [self.add_at_common_index, self.change_at_own_index, self.move_up_to_own_index, self.walk]
        everywhere = np.ones(ITEMS, bool)
        for _ in range(self.seed.randrange(3, 9)):
            if self.seed.random() < 0.4:
                bit = self.seed.randrange(12)
                active = (self.x >> np.uint32(bit)) & np.uint32(1) == 1
                self.text.append(f"if (x >> {bit} & 1) {{")
                self.seed.choice(steps)(active)
                self.text.append("} else {")
                self.seed.choice(steps)(~active)
                self.text.append("}")
            else:
                self.seed.choice(steps)(everywhere)

    def sums(self):
        for a in self.arrays:
            for m in range(a.members):
                self.text.append(f"for (uint k = 0; k < {a.length}; k++) sum = sum * 7 + (ulong){a.element('k', m)};")
                for k in range(a.length):
                    self.sum = self.sum * np.uint64(7) + a.data[m][:, k].astype(np.int64).astype(np.uint64)

    def source(self):
        self.fill()
        self.statements()
        self.sums()
        declarations = [f"{a.element_type()} {a.name}[{a.length}];" for a in self.arrays]
        return "\n".join([*(a.structure() for a in self.arrays), "kernel void k(global const uint *xs, global ulong *out) {", "uint i = get_global_id(0), x = xs[i];",
                          "ulong sum = 0;", *declarations, *self.text, "out[i] = sum;", "}"])


def main():
    device = cl.get_platforms()[0].get_devices()[0]
    assert "envisa" in device.name, device.name
    context = cl.Context([device])
    queue, done = cl.CommandQueue(context), 0
    np.seterr(over="ignore")
    # One in so many of them, another one each day in CI.
    parts, share = (int(os.environ.get(name, other)) for name, other in (("ENVISA_TEST_PARTS", 1), ("ENVISA_SHARE", 0)))
    first = int(os.environ.get("ENVISA_TEST_FIRST", 0))
    for number in range(first, first + PROGRAMS):
        if (number + share) % parts:
            continue
        wanted = Kernel(number)
        source = wanted.source()
        kernel = cl.Kernel(cl.Program(context, source).build(), "k")
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        buffers = [cl.Buffer(context, flags, hostbuf=a) for a in (wanted.x, np.zeros(ITEMS, np.uint64))]
        kernel.set_args(*buffers)
        cl.enqueue_nd_range_kernel(queue, kernel, (ITEMS,), None)
        got = np.empty(ITEMS, np.uint64)
        cl.enqueue_copy(queue, got, buffers[1])
        differ = np.nonzero(got != wanted.sum)[0]
        assert not len(differ), f"program {number}: work-items {differ[:8]} of {len(differ)} differ:\n{source}"
        done += 1
    print(f"{done} programs fine")


main()
