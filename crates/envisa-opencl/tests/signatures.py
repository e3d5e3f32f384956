"""Kernels with random signatures: up to forty numbers, vectors, structures, buffers, parts of buffers, null pointers, local memory,
images and samplers, set in any order. Each kernel writes the bytes of all that it was given, which the host knows."""

import random

import numpy as np
import pyopencl as cl

KERNELS = 24
NUMBERS = {"char": 1, "uchar": 1, "short": 2, "ushort": 2, "int": 4, "uint": 4, "long": 8, "ulong": 8, "float": 4}
UNSIGNED = {1: "uchar", 2: "ushort", 4: "uint", 8: "ulong"}
FLAGS = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR


class Signature:
    """A kernel in the making: its parameters, what they are set to, the statements that write them, the bytes that they write."""

    def __init__(self, context, number):
        self.context, self.device = context, context.devices[0]
        self.random = random.Random(number)
        self.types, self.parameters, self.values, self.statements = [], [], [], []
        self.wanted = bytearray()
        self.kept = []

    def bytes(self, count):
        return bytes(self.random.getrandbits(8) for _ in range(count))

    def add(self, ty, value):
        """Its name."""
        self.parameters.append(f"{ty} p{len(self.parameters)}")
        self.values.append(value)
        return f"p{len(self.values) - 1}"

    def write(self, expression, size, wanted):
        """Writes a value of so many bytes, one byte after the other: the place need not be a multiple of its size."""
        self.statements.append(
            f"{{ {UNSIGNED[size]} t = as_{UNSIGNED[size]}({expression}); "
            f"for (int b = 0; b < {size}; b++) out[at + {len(self.wanted)} + b] = (uchar)(t >> 8 * b); }}")
        self.wanted += wanted

    def number(self):
        name, size = self.random.choice(list(NUMBERS.items()))
        width = self.random.choice([1, 1, 1, 2, 3, 4, 8, 16])
        content = bytearray(self.bytes(size * (4 if width == 3 else width)))
        if name == "float":
            # Numbers that no copy makes another: neither NaN nor denormal.
            content[3::4] = bytes(0x40 for _ in content[3::4])
        parameter = self.add(name + (str(width) if width > 1 else ""), np.frombuffer(bytes(content), np.uint8))
        for k in range(width):
            element = f"{parameter}.s{k:x}" if width > 1 else parameter
            self.write(element, size, content[k * size : (k + 1) * size])

    def structure(self):
        fields, places, end, alignment = [], [], 0, 1
        for field in range(self.random.randrange(1, 7)):
            name, size = self.random.choice([n for n in NUMBERS.items() if n[0] != "float"])
            width = self.random.choice([1, 1, 1, 2, 3, 4])
            # Intel's compiler loses the end of an array of vectors of three: docs/COMPILER-BUGS.md.
            count = self.random.choice([1, 1, 2, 5]) if width != 3 else 1
            whole = size * (4 if width == 3 else width)
            end += -end % whole
            fields.append(f"{name}{width if width > 1 else ''} f{field}[{count}];")
            places.append((size, width, count, end, whole))
            end, alignment = end + whole * count, max(alignment, whole)
        content = self.bytes(end + -end % alignment)
        self.types.append(f"typedef struct {{ {' '.join(fields)} }} S{len(self.types)};")
        parameter = self.add(f"S{len(self.types) - 1}", np.frombuffer(content, np.uint8))
        for field, (size, width, count, start, whole) in enumerate(places):
            for item, k in np.ndindex(count, width):
                index = f"{item} + zero" if self.random.random() < 0.3 else item
                element = f"{parameter}.f{field}[{index}]" + (f".s{k:x}" if width > 1 else "")
                at = start + item * whole + k * size
                self.write(element, size, content[at : at + size])

    def buffer(self):
        before = self.random.choice([0, self.device.mem_base_addr_align // 8])
        content = self.bytes(4 * self.random.randrange(1, 40))
        buffer = cl.Buffer(self.context, FLAGS, hostbuf=np.frombuffer(self.bytes(before) + content, np.uint8))
        if before:
            self.kept.append(buffer)
            buffer = buffer.get_sub_region(before, len(content))
        parameter = self.add(f"{self.random.choice(['global', 'constant'])} const uint *", buffer)
        k = self.random.randrange(len(content) // 4)
        self.write(f"{parameter}[{k} + zero]", 4, content[4 * k : 4 * k + 4])

    def null(self):
        self.write(f"(uchar)({self.add('global uint *', None)} == 0)", 1, b"\1")

    def local(self):
        count = self.random.choice([1, 2, 5, 16, 33])
        name, size = self.random.choice([n for n in NUMBERS.items() if n[0] != "float"])
        parameter = self.add(f"local {name} *", cl.LocalMemory(count * size))
        factor = self.random.randrange(1, 100)
        self.statements.append(
            f"if (get_local_id(0) == 0) for (int k = 0; k < {count}; k++) {parameter}[k] = ({name})(k * {factor}); "
            "barrier(CLK_LOCAL_MEM_FENCE);")
        self.write(f"(uchar){parameter}[{count - 1}]", 1, bytes([(count - 1) * factor % 256]))

    def image(self):
        width = self.random.randrange(1, 9)
        texels = self.bytes(4 * width)
        format = cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.UNSIGNED_INT8)
        image = cl.create_image(self.context, FLAGS, format, shape=(width, 1), hostbuf=np.frombuffer(texels, np.uint8))
        parameter, k = self.add("read_only image2d_t", image), self.random.randrange(width)
        sampler = ""
        if self.random.random() < 0.5:
            nearest = cl.Sampler(self.context, False, cl.addressing_mode.CLAMP_TO_EDGE, cl.filter_mode.NEAREST)
            sampler = self.add("sampler_t", nearest) + ", "
        read = f"convert_uchar4(read_imageui({parameter}, {sampler}(int2)({k}, 0)))"
        self.write(read, 4, texels[4 * k : 4 * k + 4])

    def finish(self, items):
        out = cl.Buffer(self.context, cl.mem_flags.READ_WRITE, len(self.wanted) * items)
        place = self.random.randrange(len(self.parameters) + 1)
        self.parameters.insert(place, "global uchar *out")
        self.values.insert(place, out)
        self.parameters.append("uint zero")
        self.values.append(np.uint32(0))
        source = "\n".join([
            *self.types, f"kernel void k({', '.join(self.parameters)})",
            f"{{ const size_t at = get_global_id(0) * {len(self.wanted)};", *self.statements, "}"])
        kernel = cl.Kernel(cl.Program(self.context, source).build(options=["-cl-std=CL3.0"]), "k")
        order = list(enumerate(self.values))
        self.random.shuffle(order)
        for index, value in order:
            kernel.set_arg(index, value)
        return kernel, out, source


def main():
    device = cl.get_platforms()[0].get_devices()[0]
    assert "envisa" in device.name, device.name
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    for number in range(KERNELS):
        signature = Signature(context, number)
        kinds = [signature.number, signature.structure, signature.buffer, signature.null, signature.local]
        if device.image_support:
            kinds.append(signature.image)
        signature.number()
        for _ in range(signature.random.choice([2, 8, 20])):
            signature.random.choice(kinds)()
        items = signature.random.choice([1, 3, 16, 37])
        kernel, out, source = signature.finish(items)
        cl.enqueue_nd_range_kernel(queue, kernel, (items,), (signature.random.choice([1, items]),))
        got = np.empty(len(signature.wanted) * items, np.uint8)
        cl.enqueue_copy(queue, got, out)
        wanted = np.tile(np.frombuffer(bytes(signature.wanted), np.uint8), items)
        assert (got == wanted).all(), f"signature {number}: byte {np.argmax(got != wanted)} of each item is another\n{source}"
    print(f"{KERNELS} signatures fine")


main()
