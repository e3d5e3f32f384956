"""The toolchain: assemble, disassemble, verify, explain."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from typing import Any

from . import _envisa
from ._command import command
from ._envisa import Error


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """A message of the parser or the verifier, with its place in the text."""

    code: str | None
    level: str
    """``error``, ``warning`` or ``note``."""
    message: str
    line: int | None
    """From 1; ``None`` in binary files."""
    column: int | None
    rendered: str
    """The message as the command prints it, with the line of the text."""
    data: dict[str, Any]
    """Everything: labels, notes, suggestions."""

    def __str__(self) -> str:
        return self.rendered


class Diagnostics(Error):
    """Errors of a text or binary; ``list`` has each of them."""

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        super().__init__("\n\n".join(d.rendered for d in diagnostics))
        self.list = diagnostics

    def __reduce__(self) -> tuple[Any, ...]:
        return (Diagnostics, (self.list,))


def _read(lines: str) -> list[Diagnostic]:
    records = [json.loads(line) for line in lines.splitlines()]
    return [
        Diagnostic(r["code"], r["level"], r["message"], r.get("line"), r.get("column"), r["rendered"], r)
        for r in records
    ]


def assemble(text: str, *, platform: str | None = None, name: str = "text") -> bytes:
    """The CISA binary of a vISA text.

    ``platform`` determines the size of registers, which is needed for addresses of variables. Raises
    :class:`Diagnostics` with all errors of the text.
    """
    binary, lines = _envisa.assemble(text, name, platform)
    if binary is None:
        raise Diagnostics(_read(lines))
    return binary


def disassemble(data: bytes, *, platform: str | None = None, name: str = "binary") -> str:
    """The vISA text of a CISA binary, which assembles back to the same module. Raises :class:`Diagnostics`."""
    text, lines = _envisa.disassemble(bytes(data), name, platform)
    if text is None:
        raise Diagnostics(_read(lines))
    return text


def verify(code: str | bytes, *, platform: str | None = None, name: str = "code") -> list[Diagnostic]:
    """The violations of the specification in a vISA text (``str``) or CISA binary (``bytes``); empty if there are none.

    ``platform`` is the platform to check for. Without it, everything is legal that is legal on at least one platform.
    """
    return _read(_envisa.verify(code, name, platform))


def explain(query: str) -> str:
    """What an instruction does (``"svm_gather"``, ``"0x3a"``), or what a code of an error, a fault or a finding means
    (``"F0004"``). The text is what the command ``envisa explain`` prints; the wheel contains the command.

    Raises :class:`Error` for a name that nothing has.
    """
    done = subprocess.run([command(), "explain", "--color", "never", "--", query], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Error(done.stderr.strip().removeprefix("error: "))
    return done.stdout
