"""Conversions of printf with all their flags, widths and precisions, for numbers, characters, strings and vectors: what a kernel
prints is what C's snprintf makes of the same values."""

import ctypes
import itertools
import os
import random
import re
import sys
import tempfile

import numpy as np
import pyopencl as cl

C = ctypes.CDLL(None)
# How many conversions one kernel has: the compiler takes longer and longer with more.
IN_ONE_KERNEL = 40
# Of OpenCL C's integers: the length modifier of a number, and of a vector's elements; how C is given it; bits.
INTEGERS = {
    "char": ("hh", "hh", ctypes.c_int, 8), "short": ("h", "h", ctypes.c_int, 16),
    "int": ("", "hl", ctypes.c_int, 32), "long": ("l", "l", ctypes.c_long, 64),
}
FLOATS = [0.0, -0.0, 1.0, -1.5, 0.1, 2.5, 123456.789, 1e-5, 1e20, -3.4e38, 1e-40, float("inf"), -float("inf"), float("nan")]


def as_c_prints(conversion, argument):
    text = ctypes.create_string_buffer(1024)
    C.snprintf(text, len(text), conversion.encode(), argument)
    return text.value.decode()


def as_literal(value, ty):
    """In OpenCL C, with the bits that it has."""
    if ty == "float":
        return f"as_float({int(np.float32(value).view(np.uint32)):#x}u)"
    if ty == "string":
        return '"' + value + '"'
    return f"({ty}){value & 0xFFFF_FFFF_FFFF_FFFF:#x}ul"


def an_integer(choose, bits, signed):
    value = choose.choice([0, 1, 2**bits - 1, 2 ** (bits - 1), 2 ** (bits - 1) - 1, choose.getrandbits(bits)])
    return value - 2**bits if signed and value >> (bits - 1) else value


def numbers(choose):
    """Conversions of one value, of a type that is chosen: the text, the value as an argument, what C prints."""
    flags = {"d": ["", "-", "+", " ", "0", "+0", "-+"], "x": ["", "-", "#", "0", "#0"], "f": ["", "-", "+", " ", "#", "0", "+ ", "#0"]}
    widths, precisions = ("", "1", "12", "25"), ("", ".", ".0", ".3", ".12")
    for kind, (flag, width, precision) in itertools.product("dxf", itertools.product(range(8), widths, precisions)):
        if flag >= len(flags[kind]):
            continue
        start = "%" + flags[kind][flag] + width + precision
        if kind == "f":
            # C leaves open which digit of %a stands before the point where fewer than all are wanted.
            text = start + choose.choice("fFeEgG" + ("aA" if not precision else ""))
            value = float(np.float32(choose.choice(FLOATS)))
            yield text, as_literal(value, "float"), as_c_prints(text, ctypes.c_double(value))
        else:
            name, (modifier, _, to_c, bits) = choose.choice(list(INTEGERS.items()))
            text = start + modifier + choose.choice("di" if kind == "d" else "oxX" if "#" in start else "uoxX")
            value = an_integer(choose, bits, kind == "d")
            yield text, as_literal(value, name if kind == "d" else "u" + name), as_c_prints(text, to_c(value))


def texts():
    for flag, width, precision in itertools.product(("", "-"), ("", "1", "9"), ("", ".", ".0", ".2", ".9")):
        for value in ("", "a", "hello world"):
            text = f"%{flag}{width}{precision}s"
            yield text, as_literal(value, "string"), as_c_prints(text, ctypes.c_char_p(value.encode()))
    for flag, width in itertools.product(("", "-"), ("", "1", "9")):
        text = f"%{flag}{width}c"
        yield text, as_literal(65, "int"), as_c_prints(text, ctypes.c_int(65))


def vectors(choose):
    for width, (name, (_, modifier, _, bits)), start in itertools.product(
        (2, 3, 4, 8, 16), INTEGERS.items(), ("%", "%-7", "%+5", "%09")):
        values = [an_integer(choose, bits, True) for _ in range(width)]
        elements = ",".join(as_literal(v, name) for v in values)
        wanted = ",".join(as_c_prints(start + "ld", ctypes.c_long(v)) for v in values)
        yield f"{start}v{width}{modifier}d", f"({name}{width})({elements})", wanted
    for width, start, letter in itertools.product((2, 3, 4, 8, 16), ("%", "%.2", "%12.1"), "feg"):
        values = [float(np.float32(choose.uniform(-1000, 1000))) for _ in range(width)]
        elements = ",".join(as_literal(v, "float") for v in values)
        wanted = ",".join(as_c_prints(start + letter, ctypes.c_double(v)) for v in values)
        yield f"{start}v{width}hl{letter}", f"(float{width})({elements})", wanted


def printed(queue, kernel):
    """What reaches the process' standard output while the kernel runs."""
    sys.stdout.flush()
    before = os.dup(1)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 1)
        try:
            cl.enqueue_nd_range_kernel(queue, kernel, (1,), (1,))
            queue.finish()
            C.fflush(None)
        finally:
            os.dup2(before, 1)
            os.close(before)
        file.seek(0)
        return file.read().decode()


def main():
    device = cl.get_platforms()[0].get_devices()[0]
    assert "envisa" in device.name, device.name
    context = cl.Context([device])
    queue, choose = cl.CommandQueue(context), random.Random(1)
    cases = [*numbers(choose), *texts(), *vectors(choose)]
    for first in range(0, len(cases), IN_ONE_KERNEL):
        part = cases[first : first + IN_ONE_KERNEL]
        calls = "\n".join(f'printf("{n}:{text}|\\n", {value});' for n, (text, value, _) in enumerate(part))
        kernel = cl.Kernel(cl.Program(context, f"kernel void k() {{\n{calls}\n}}").build(options=["-cl-std=CL3.0"]), "k")
        found = dict(re.findall(r"^(\d+):(.*)\|$", printed(queue, kernel), re.M))
        for n, (text, value, wanted) in enumerate(part):
            assert found.get(str(n)) == wanted, f"{text} of {value}: {found.get(str(n))!r}, not {wanted!r}"
    print(f"{len(cases)} conversions fine")


main()
