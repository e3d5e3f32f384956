"""The arguments of a launch, converted for the native extension: addresses with owners, bytes of values."""

from __future__ import annotations

import dataclasses
import functools
import struct
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from . import _envisa, _types
from ._envisa import ArgumentError

Given = Any
"""A NumPy array or an array-like object, a scalar, :class:`Local`, an image, a sampler, or ``None`` (a null pointer)."""


_CODES = {"i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "i8": "q", "u8": "Q", "f2": "e", "f4": "f", "f8": "d"}


def values(text: str) -> np.ndarray[Any, Any]:
    """The array of a text in the command's notation: ``rand:f32:1000:1`` is 1000 random floats from seed 1.

    Other forms are ``zeros:TYPE:N``, ``iota:TYPE:N``, ``fill:TYPE:N:VALUE``, ``TYPE:VALUE,...`` and ``@file.npy``; they give the
    same numbers as ``envisa run``. Raises :class:`Error` for others, and for more than 8 GiB.
    """
    data, name, shape = _envisa.values(text, 8 << 30)
    dtype = np.dtype(f"<{name[0]}{int(name[1:]) // 8}")
    return np.frombuffer(bytearray(data), dtype).reshape(shape)


@dataclasses.dataclass(frozen=True)
class Argument:
    """An argument of a kernel, as the source declares it."""

    index: int
    name: str
    type: str
    """The type in the source (``float*``, ``uint4``); empty if the compiler did not record it."""
    kind: str
    """``value``, ``buffer``, ``local``, ``image``, ``sampler``, ``input``, ``surface`` or ``unused``."""
    nbytes: int
    """The size of a value in bytes; 0 if it is not known."""
    address_space: str
    access: str
    qualifiers: str

    @property
    def is_constant(self) -> bool:
        """Whether the source says that the kernel only reads what this points to."""
        return self.address_space == "__constant" or "const" in self.qualifiers.split()

    @functools.cached_property
    def element(self) -> tuple[np.dtype[Any], int] | None:
        """Dtype and number of elements of a value, or of the type to which a pointer points; ``None`` if the type is not known."""
        if not self.type:
            return None
        return _types.element(self.type if self.kind == "value" else _types.pointee(self.type))

    @functools.cached_property
    def pack(self) -> Callable[[Any], bytes] | None:
        """Packs a plain number of this type, and raises ``struct.error`` for others; ``None`` of other types."""
        if self.element is None or self.element[1] != 1:
            return None
        return struct.Struct("<" + _CODES[self.element[0].str[1:]]).pack

    def error(self, message: str) -> ArgumentError:
        """An exception that names this argument."""
        return ArgumentError(f"argument `{self.name}`: {message}")


@dataclasses.dataclass(frozen=True)
class Local:
    """Shared local memory of a group, for an argument in ``__local``.

    ``Local(1024)`` is 1024 bytes; ``Local(256, "f4")`` room for 256 floats.
    """

    size: int
    dtype: Any = "u1"

    @property
    def nbytes(self) -> int:
        """Bytes of a group."""
        return int(self.size) * int(np.dtype(self.dtype).itemsize)


class Image:
    """An image over a NumPy array of texels, which a kernel reads or writes in place.

    ``description`` is as in jobs: shape, channel order, channel type: ``"2d:640,480:rgba:unorm8"``.
    """

    def __init__(self, texels: Any, description: str) -> None:
        self.description = description
        self.texels: np.ndarray[Any, Any] = np.asarray(texels)
        wanted = _envisa.Image.nbytes(description)
        if not self.texels.flags.c_contiguous:
            raise ArgumentError(f"the image {description}: its array is not contiguous")
        if self.texels.nbytes != wanted:
            raise ArgumentError(
                f"the image {description} takes {wanted} bytes, the array has {self.texels.nbytes}"
            )

    def _repr_png_(self) -> bytes | None:
        from ._html import png

        return png(self.texels, self.description)


class Sampler:
    """How a kernel samples an image: ``Sampler("clamp_to_edge:linear:normalized")``."""

    def __init__(self, description: str) -> None:
        self.description = description
        self._native = _envisa.Sampler(description)


Native = Any
"""What the native half takes as an argument's value."""

Copy = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]
"""An array that could not be lent to the kernel as it lies, and the copy that was."""


class Bound:
    """The arguments of one launch, ready for the native half.

    ``copies`` are arrays that are written back when the launch has ended.
    """

    def __init__(self, device: _envisa.Device) -> None:
        self._device = device
        self._buffers: dict[tuple[int, int, bool], _envisa.Buffer] = {}
        self.native: list[tuple[int, Native]] = []
        self.copies: list[Copy] = []

    def add(self, argument: Argument, given: Given) -> None:
        """Binds one argument.

        Raises :class:`ArgumentError`, which names the argument, where it does not fit.
        """
        bind = _BY_KIND.get(argument.kind)
        if bind is None:
            raise argument.error(f"arguments that are {argument.kind} cannot be given from Python")
        self.native.append((argument.index, bind(self, argument, given)))

    def write_back(self) -> None:
        """Copies what the kernel wrote into arrays that it did not reach in place."""
        for array, copy in self.copies:
            array[...] = copy

    def _buffer(self, argument: Argument, given: Given) -> Native:
        if given is None:
            return None
        array = given if type(given) is np.ndarray else as_array(argument, given)
        element, dtype = argument.element, array.dtype
        if (element is not None and dtype is not element[0]) or dtype.hasobject:
            _check_dtype(argument, array)
        flags = array.flags
        writable: bool = flags.writeable
        if not writable and not argument.is_constant:
            raise argument.error(
                "the array is read-only, and the kernel may write to it (its pointer is not const)"
            )
        if not flags.c_contiguous:
            copy = np.ascontiguousarray(array)
            if not argument.is_constant:
                self.copies.append((array, copy))
            array = copy
        return self._lend(array, writable=writable)

    def _lend(self, array: np.ndarray[Any, Any], *, writable: bool) -> _envisa.Buffer:
        address: int = array.__array_interface__["data"][0]
        key = (address, array.nbytes, writable)
        buffer = self._buffers.get(key)
        if buffer is None:
            buffer = _envisa.Buffer.over(self._device, address, array.nbytes, array, writable)
            self._buffers[key] = buffer
        return buffer

    def _value(self, argument: Argument, given: Given) -> Native:
        if argument.pack is not None and type(given) in (int, float):
            try:
                return argument.pack(given)
            except (struct.error, OverflowError):
                pass  # What is wrong, the general way says.
        return value_bytes(argument, given)

    def _local(self, argument: Argument, given: Given) -> Native:
        if not isinstance(given, Local):
            raise argument.error(f"it is local memory: give envisa.Local(bytes), not {_kind(given)}")
        return _envisa.Local(given.nbytes)

    def _image(self, argument: Argument, given: Given) -> Native:
        if not isinstance(given, Image):
            raise argument.error(f"it is an image: give an envisa.Image, not {_kind(given)}")
        writes = "write" in argument.access
        if writes and not given.texels.flags.writeable:
            raise argument.error("the image's array is read-only, and the kernel writes to it")
        buffer = self._lend(given.texels, writable=given.texels.flags.writeable)
        return _envisa.Image.over(self._device, buffer, given.description)

    def _sampler(self, argument: Argument, given: Given) -> Native:
        if not isinstance(given, Sampler):
            raise argument.error(f"it is a sampler: give an envisa.Sampler, not {_kind(given)}")
        return given._native

    def _input(self, argument: Argument, given: Given) -> Native:
        if isinstance(given, (bytes, bytearray)):
            return bytes(given)
        array = np.asarray(given)
        if array.dtype.hasobject:
            raise argument.error(f"{_kind(given)} has no bytes that an input could hold")
        raw = np.ascontiguousarray(array).tobytes()
        if argument.nbytes and len(raw) <= argument.nbytes:
            return raw
        return self._lend(as_array(argument, given), writable=as_array(argument, given).flags.writeable)

    def _surface(self, argument: Argument, given: Given) -> Native:
        if isinstance(given, Image):
            return self._image(dataclasses.replace(argument, access="write"), given)
        return self._buffer(dataclasses.replace(argument, type=""), given)

    def _unused(self, argument: Argument, given: Given) -> Native:
        return b""


_BY_KIND: Mapping[str, Callable[[Bound, Argument, Given], Native]] = {
    "buffer": Bound._buffer,
    "value": Bound._value,
    "local": Bound._local,
    "image": Bound._image,
    "sampler": Bound._sampler,
    "input": Bound._input,
    "surface": Bound._surface,
}


def _check_dtype(argument: Argument, array: np.ndarray[Any, Any]) -> None:
    if array.dtype.hasobject:
        raise argument.error(f"arrays of Python objects ({array.dtype}) cannot be lent to a kernel")
    if argument.element is not None and not _types.fits(array.dtype, argument.element[0]):
        raise argument.error(
            f"the kernel takes {argument.type}, so an array of {argument.element[0].name}, "
            f"and this one is of {array.dtype}"
        )


def as_array(argument: Argument, given: Given) -> np.ndarray[Any, Any]:
    """The array of an object: NumPy's own, of DLPack, ``__array_interface__`` or the buffer protocol.

    Nothing is copied. Lists and numbers are refused, because a kernel's writes to them would be lost. Addresses that other
    objects than NumPy's give must be memory of this process.
    """
    if isinstance(given, np.ndarray):
        return given
    if isinstance(given, np.generic):
        raise argument.error(f"it is a buffer: give an array, not {_kind(given)}, to which writes would be lost")
    array = _of_protocol(argument, given)
    address, read_only = array.__array_interface__["data"]
    if not _is_memory(address, array.nbytes, writable=not read_only):
        raise argument.error(f"{_kind(given)} says that {array.nbytes} bytes are at {address:#x}, where this process has none")
    return array


def _is_memory(address: int, nbytes: int, *, writable: bool) -> bool:
    """Whether this process can read, and write if ``writable``, all of these bytes."""
    end = address + nbytes
    with open("/proc/self/maps") as maps:
        for line in maps:
            area, rights = line.split()[:2]
            first, last = (int(n, 16) for n in area.split("-"))
            if first <= address < last and "r" in rights and ("w" in rights or not writable):
                address = last
    return address >= end


def _of_protocol(argument: Argument, given: Given) -> np.ndarray[Any, Any]:
    if hasattr(given, "__array_interface__"):
        try:
            return np.asarray(given)
        except (AttributeError, TypeError, ValueError) as e:
            raise argument.error(f"its `__array_interface__` describes no array: {e}") from e
    if hasattr(given, "__dlpack__"):
        try:
            return np.from_dlpack(given)
        except Exception as e:  # Whatever the other package raises.
            raise argument.error(f"its memory cannot be reached by DLPack: {e}") from e
    try:
        return np.asarray(memoryview(given))
    except (TypeError, ValueError) as e:
        raise argument.error(
            f"it is a buffer ({argument.type or argument.kind}): give an array, not {_kind(given)}"
        ) from e


def value_bytes(argument: Argument, given: Given) -> bytes:
    """The bytes of a value as the kernel's type lays them out."""
    if isinstance(given, (bytes, bytearray, np.void)):
        raw = given.tobytes() if isinstance(given, np.void) else bytes(given)
        if argument.nbytes and len(raw) != argument.nbytes:
            raise argument.error(
                f"{argument.type or 'the value'} takes {argument.nbytes} bytes, and these are {len(raw)}"
            )
        return raw
    known = argument.element
    if known is None:
        return _untyped(argument, given)
    dtype, count = known
    scalars = [given] if np.ndim(given) == 0 else list(np.asarray(given).reshape(-1))
    declared = 3 if argument.type.rstrip().endswith("3") else count
    if len(scalars) not in (declared, count):
        raise argument.error(f"{argument.type} has {declared} elements, and {len(scalars)} were given")
    out = np.zeros(count, dtype)
    for i, scalar in enumerate(scalars):
        out[i] = _scalar(argument, scalar, dtype)
    return out.tobytes()


def _scalar(argument: Argument, given: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(given, (bool, np.bool_)):
        given = int(given)
    if dtype.kind == "f":
        if not isinstance(given, (int, float, np.integer, np.floating)):
            raise argument.error(f"{argument.type} takes a number, not {_kind(given)}")
        with np.errstate(over="ignore"):
            return dtype.type(given)
    if not isinstance(given, (int, np.integer)):
        raise argument.error(f"{argument.type} takes a whole number, not {_kind(given)}")
    limits = np.iinfo(dtype)
    if not int(limits.min) <= int(given) <= int(limits.max):
        raise argument.error(f"{argument.type} holds {limits.min} to {limits.max}, not {given}")
    return dtype.type(int(given))


def _untyped(argument: Argument, given: Any) -> bytes:
    """A value whose type the compiler did not keep, or a structure: NumPy's scalar or array of the right size."""
    if not isinstance(given, (np.generic, np.ndarray)):
        raise argument.error(
            f"{argument.type or 'its type is not known'}: give bytes or a NumPy value of {argument.nbytes} bytes, "
            f"not {_kind(given)}"
        )
    raw = np.ascontiguousarray(given).tobytes()
    if argument.nbytes and len(raw) != argument.nbytes:
        raise argument.error(f"it takes {argument.nbytes} bytes, and these are {len(raw)}")
    return raw


def assign(
    arguments: Sequence[Argument], positional: Sequence[Given], named: Mapping[str, Given]
) -> list[tuple[Argument, Given]]:
    """Which argument is given what, as a call of a Python function would have it.

    Raises :class:`TypeError` for too many, unknown, repeated and missing ones.
    """
    if len(positional) > len(arguments):
        raise TypeError(f"the kernel takes {len(arguments)} arguments, and {len(positional)} were given")
    pairs = list(zip(arguments, positional))
    taken = {a.name for a, _ in pairs}
    by_name = {a.name: a for a in arguments}
    for name, given in named.items():
        if name not in by_name:
            raise TypeError(f"the kernel has no argument `{name}`; it takes {', '.join(by_name)}")
        if name in taken:
            raise TypeError(f"argument `{name}` was given twice")
        taken.add(name)
        pairs.append((by_name[name], given))
    missing = [a.name for a in arguments if a.name not in taken and a.kind != "unused"]
    if missing:
        raise TypeError(f"missing: {', '.join(missing)}")
    return [(a, given) for a, given in pairs if a.kind != "unused"]


def _kind(given: Any) -> str:
    return "None" if given is None else type(given).__name__
