"""Random commands on images of every shape (fill, write, read, copy to an image or a buffer and back, map) beside NumPy arrays."""

import ctypes

import numpy as np
import pyopencl as cl

COMMANDS = 40
FLAGS = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
K, T, O = cl.mem_object_type, cl.channel_type, cl.channel_order
# The shape in OpenCL, sizes, and which dimensions are images of an array.
SHAPES = [
    (K.IMAGE1D, (23,)), (K.IMAGE1D_ARRAY, (17, 5)), (K.IMAGE2D, (19, 7)), (K.IMAGE2D_ARRAY, (11, 5, 3)), (K.IMAGE3D, (9, 5, 4)),
]
# Order, type, numbers in a texel, and the texel's numbers out of red, green, blue, alpha.
FORMATS = [
    (O.R, T.UNSIGNED_INT8, np.uint8, [0]), (O.RG, T.SIGNED_INT16, np.int16, [0, 1]), (O.RGBA, T.SIGNED_INT8, np.int8, [0, 1, 2, 3]),
    (O.RGBA, T.UNSIGNED_INT32, np.uint32, [0, 1, 2, 3]), (O.BGRA, T.UNORM_INT8, np.uint8, [2, 1, 0, 3]),
    (O.RGBA, T.SNORM_INT16, np.int16, [0, 1, 2, 3]), (O.A, T.UNORM_INT16, np.uint16, [3]), (O.RG, T.HALF_FLOAT, np.float16, [0, 1]),
    (O.R, T.FLOAT, np.float32, [0]),
]
NORMALISED = {T.UNORM_INT8, T.UNORM_INT16, T.SNORM_INT8, T.SNORM_INT16}


def stored(channel, ty, colour):
    """What a fill stores of a colour."""
    if channel in NORMALISED:
        limits = np.iinfo(ty)
        return np.clip(np.rint(colour.astype(np.float64) * limits.max), limits.min, limits.max).astype(ty)
    if np.issubdtype(ty, np.floating):
        return colour.astype(ty)
    limits = np.iinfo(ty)
    return np.clip(colour.astype(np.int64), limits.min, limits.max).astype(ty)


class Images:
    """Two images of a kind and a buffer, on the device and on the host."""

    def __init__(self, context, queue, kind, sizes, format, seed):
        order, self.channel, self.type, self.places = format
        self.kind, self.queue, self.random = kind, queue, np.random.default_rng(seed)
        self.sizes = tuple(sizes) + (1,) * (3 - len(sizes))
        self.texel = len(self.places) * np.dtype(self.type).itemsize
        shape = self.sizes[::-1] + (len(self.places),)
        self.host = [self.numbers(shape), self.numbers(shape)]
        self.device = []
        for content in self.host:
            description = cl.ImageDescriptor()
            description.image_type = kind
            description.shape = (sizes[0], sizes[1] if len(sizes) > 1 and kind != K.IMAGE1D_ARRAY else 0, self.sizes[2])
            description.array_size = {K.IMAGE1D_ARRAY: sizes[-1], K.IMAGE2D_ARRAY: sizes[-1]}.get(kind, 0)
            description.pitches, description.num_mip_levels, description.num_samples = (0, 0), 0, 0
            description.buffer = None
            self.device.append(cl.Image(context, FLAGS, cl.ImageFormat(order, self.channel), desc=description, hostbuf=content.copy()))
        self.bytes = self.random.integers(0, 256, self.host[0].nbytes + 64, np.uint8)
        self.buffer = cl.Buffer(context, FLAGS, hostbuf=self.bytes)

    def numbers(self, shape):
        if np.issubdtype(self.type, np.floating):
            return self.random.standard_normal(shape).astype(self.type)
        limits = np.iinfo(self.type)
        return self.random.integers(limits.min, limits.max, shape, self.type, endpoint=True)

    def place(self, of=None):
        """A part of the image, or another place for one: where it begins, its size, and it as an index."""
        size = of or tuple(int(self.random.integers(1, n + 1)) for n in self.sizes)
        begin = tuple(int(self.random.integers(0, n - m + 1)) for n, m in zip(self.sizes, size))
        return begin, size, tuple(slice(b, b + m) for b, m in zip(begin[::-1], size[::-1]))

    def fill(self, image):
        begin, size, at = self.place()
        if self.channel in NORMALISED or np.issubdtype(self.type, np.floating):
            colour = (self.random.standard_normal(4) * 1.5).astype(np.float32)
        else:
            colour = self.random.integers(-2**31, 2**31, 4) >> int(self.random.integers(0, 28))
            colour = colour.astype(np.int32 if np.issubdtype(self.type, np.signedinteger) else np.uint32)
        cl.enqueue_fill_image(self.queue, self.device[image], colour, begin, size)
        self.host[image][at] = stored(self.channel, self.type, colour[self.places])

    def write(self, image):
        """From rows that lie further apart than they are long."""
        begin, size, at = self.place()
        rows = size[0] * self.texel + self.texel * int(self.random.integers(0, 4))
        slices = rows * (size[1] + int(self.random.integers(0, 3)))
        if self.kind == K.IMAGE1D_ARRAY:
            rows, slices = 0, rows
        elif size[2] == 1 and self.kind in (K.IMAGE1D, K.IMAGE2D):
            slices = 0
        step = rows or slices
        space = self.numbers(((slices or step) * max(size[2], size[1] if not rows else 1) + step * size[1]) // np.dtype(self.type).itemsize)
        cl._cl._enqueue_write_image(
            self.queue, self.device[image], begin, size, space, row_pitch=rows, slice_pitch=slices, is_blocking=True)
        raw = space.view(np.uint8)
        for z, y in np.ndindex(size[2], size[1]):
            row = raw[z * slices + y * step :][: size[0] * self.texel]
            self.host[image][begin[2] + z, begin[1] + y, begin[0] : begin[0] + size[0]] = row.view(self.type).reshape(size[0], -1)

    def copy(self, image):
        begin, size, at = self.place()
        to, _, there = self.place(size)
        cl._cl._enqueue_copy_image(self.queue, self.device[image], self.device[1 - image], begin, to, size)
        self.host[1 - image][there] = self.host[image][at]

    def to_buffer(self, image):
        begin, size, at = self.place()
        content = self.host[image][at].tobytes()
        offset = int(self.random.integers(0, len(self.bytes) - len(content) + 1))
        cl._cl._enqueue_copy_image_to_buffer(self.queue, self.device[image], self.buffer, begin, size, offset)
        self.bytes[offset : offset + len(content)] = np.frombuffer(content, np.uint8)

    def from_buffer(self, image):
        begin, size, at = self.place()
        part = self.host[image][at]
        offset = int(self.random.integers(0, len(self.bytes) - part.nbytes + 1))
        cl._cl._enqueue_copy_buffer_to_image(self.queue, self.buffer, self.device[image], offset, begin, size)
        self.host[image][at] = np.frombuffer(self.bytes[offset : offset + part.nbytes].tobytes(), self.type).reshape(part.shape)

    def map(self, image):
        begin, size, at = self.place()
        both = cl.map_flags.READ | cl.map_flags.WRITE
        mapped, _, rows, slices = cl.enqueue_map_image(
            self.queue, self.device[image], both, begin, size, (int(np.prod(size)) * self.texel,), np.uint8)
        if self.kind == K.IMAGE1D_ARRAY:
            rows = slices
        content = self.numbers(self.host[image][at].shape)
        for z, y in np.ndindex(size[2], size[1]):
            row = mapped.__array_interface__["data"][0] + z * slices + y * rows
            length = size[0] * self.texel
            assert ctypes.string_at(row, length) == self.host[image][at][z, y].tobytes(), "what is mapped is not the image"
            ctypes.memmove(row, content[z, y].tobytes(), length)
        mapped.base.release(self.queue)
        self.host[image][at] = content

    def check(self, what):
        for image in range(2):
            got = np.empty_like(self.host[image])
            cl._cl._enqueue_read_image(self.queue, self.device[image], (0, 0, 0), self.sizes, got, is_blocking=True)
            assert got.tobytes() == self.host[image].tobytes(), f"image {image} differs after {what}"
        got = np.empty_like(self.bytes)
        cl.enqueue_copy(self.queue, got, self.buffer)
        assert (got == self.bytes).all(), f"the buffer differs after {what}"


def main():
    device = cl.get_platforms()[0].get_devices()[0]
    assert "envisa" in device.name, device.name
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    done = 0
    for kind, sizes in SHAPES:
        offered = {(f.channel_order, f.channel_data_type) for f in cl.get_supported_image_formats(context, cl.mem_flags.READ_WRITE, kind)}
        for seed, format in enumerate(FORMATS):
            if format[:2] not in offered:
                continue
            images = Images(context, queue, kind, sizes, format, seed)
            commands = [images.fill, images.write, images.copy, images.to_buffer, images.from_buffer, images.map]
            for _ in range(COMMANDS):
                image, command = images.random.integers(0, 2), commands[images.random.integers(0, len(commands))]
                command(image)
                images.check(f"{command.__name__} of image {image}, kind {kind}, sizes {sizes}, format {format}, seed {seed}")
                done += 1
    assert done > 1200, done
    print(f"{done} commands fine")


main()
