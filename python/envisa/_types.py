"""The types of OpenCL C that kernels take, as NumPy dtypes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

_SCALARS: dict[str, str] = {
    "char": "i1",
    "signed char": "i1",
    "uchar": "u1",
    "unsigned char": "u1",
    "bool": "u1",
    "short": "i2",
    "ushort": "u2",
    "unsigned short": "u2",
    "int": "i4",
    "uint": "u4",
    "unsigned int": "u4",
    "long": "i8",
    "ulong": "u8",
    "unsigned long": "u8",
    "size_t": "u8",
    "ptrdiff_t": "i8",
    "intptr_t": "i8",
    "uintptr_t": "u8",
    "half": "f2",
    "float": "f4",
    "double": "f8",
}
_VECTOR = re.compile(r"([a-z]+)(2|3|4|8|16)")
_QUALIFIERS = re.compile(
    r"\b(const|volatile|restrict|__global|__constant|__local|__private|global|constant|local|private)\b"
)


def element(type_name: str) -> tuple[np.dtype[Any], int] | None:
    """The dtype and number of elements that a scalar or vector type of OpenCL C lies in memory as.

    ``float`` is one ``f4``, ``float3`` is four of them, as the standard's section 6.1.5 lays vectors out.
    ``None`` for structures and names of the program's own.
    """
    name = " ".join(_QUALIFIERS.sub(" ", type_name).split())
    if name in _SCALARS:
        return np.dtype("<" + _SCALARS[name]), 1
    vector = _VECTOR.fullmatch(name)
    if vector and vector[1] in _SCALARS:
        lanes = int(vector[2])
        return np.dtype("<" + _SCALARS[vector[1]]), 4 if lanes == 3 else lanes
    return None


def pointee(type_name: str) -> str:
    """What a pointer type points to: ``float`` of ``float*``."""
    return type_name.strip().removesuffix("*").strip()


def fits(array: np.dtype[Any], wanted: np.dtype[Any]) -> bool:
    """Whether elements of an array are what a pointer to ``wanted`` reads.

    Structured and raw (``V``) dtypes pass: the caller lays them out. ``bool`` is ``uchar``.
    """
    if array.kind == "V":
        return True
    if array.kind == "c":
        return wanted.kind == "f" and wanted.itemsize * 2 == array.itemsize
    kind = "u" if array.kind == "b" else array.kind
    return (
        kind == wanted.kind
        and array.itemsize == wanted.itemsize
        and array.newbyteorder("<") == array
    )
