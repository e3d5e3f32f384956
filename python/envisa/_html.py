"""What notebooks show: tables for kernels and profiles, excerpts for findings, pictures for images."""

from __future__ import annotations

import html
import io
import struct
import zlib
from typing import TYPE_CHECKING, Any, Iterable, Sequence

import numpy as np

if TYPE_CHECKING:
    from ._device import Kernel
    from ._reports import Finding, Outcome, Profile


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    def row(cells: Sequence[object], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(str(c))}</{tag}>" for c in cells) + "</tr>"

    return "<table>" + row(head, "th") + "".join(row(r, "td") for r in rows) + "</table>"


def kernel(k: Kernel) -> str:
    """Arguments, channels of a thread, group size, memory."""
    attributes = k.attributes
    about = f"SIMD{attributes['simd']}, {attributes['instructions']} instructions"
    if attributes["required_group_size"]:
        about += f", groups of {attributes['required_group_size']}"
    if attributes["local_memory"]:
        about += f", {attributes['local_memory']} bytes of local memory"
    title = f"<b>{html.escape(k.name)}</b> on {html.escape(k.module.device.name)}: {html.escape(about)}"
    rows = [(a.index, a.name, a.type or a.kind, a.address_space) for a in k.arguments]
    return f"<div>{title}{_table(('', 'argument', 'type', 'memory'), rows)}</div>"


def finding(f: Finding) -> str:
    """The excerpt that the command prints, with both sides of a race."""
    return f"<pre>{html.escape(str(f))}</pre>"


def outcome(o: Outcome) -> str:
    """Time, and whatever was asked for."""
    parts = [f"<div>{html.escape(repr(o))}</div>"]
    parts += [finding(f) for f in o.findings or ()]
    if o.profile is not None:
        parts.append(profile(o.profile))
    return "".join(parts)


def profile(p: Profile) -> str:
    """The page in a frame: its style and script are its own."""
    return f'<iframe style="width:100%;height:30em;border:0" sandbox="allow-scripts" srcdoc="{html.escape(p.page)}"></iframe>'


def png(texels: np.ndarray[Any, Any], description: str) -> bytes | None:
    """A two-dimensional image of 8-bit or float channels as a PNG file; ``None`` for others."""
    parts = description.split(":")
    if len(parts) < 4 or parts[0] != "2d":
        return None
    width, height = (int(n) for n in parts[1].split(","))
    channels = {"r": 1, "rg": 2, "rgb": 3, "rgba": 4, "bgra": 4}.get(parts[2])
    if channels is None or texels.dtype.itemsize * width * height * channels != texels.nbytes:
        return None
    pixels: np.ndarray[Any, Any] = texels.reshape(height, width, channels)
    if pixels.dtype.kind == "f":
        pixels = (np.clip(np.nan_to_num(pixels), 0, 1) * 255).astype("u1")
    elif pixels.dtype.itemsize != 1:
        return None
    if parts[2] == "bgra":
        pixels = pixels[..., [2, 1, 0, 3]]
    if channels == 2:
        pixels = np.concatenate([pixels, np.zeros((height, width, 1), "u1")], axis=2)
    return _png(np.ascontiguousarray(pixels.astype("u1")))


def _png(pixels: np.ndarray[Any, Any]) -> bytes:
    height, width, channels = pixels.shape
    color = {1: 0, 3: 2, 4: 6}[channels]
    rows = b"".join(b"\0" + pixels[y].tobytes() for y in range(height))
    out = io.BytesIO()
    out.write(b"\x89PNG\r\n\x1a\n")
    header = struct.pack(">IIBBBBB", width, height, 8, color, 0, 0, 0)
    for kind, data in ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")):
        out.write(struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)))
    return out.getvalue()
