"""The results of a launch: outcome, faults, findings, profiles."""

from __future__ import annotations

import dataclasses
import json
import sys
import warnings
from typing import Any, Sequence

from . import _envisa
from ._envisa import Error

Ids = tuple[int, int, int]
"""Of a work-item or a group, in x, y, z."""


@dataclasses.dataclass(frozen=True)
class Line:
    """A line of a source."""

    file: str
    line: int
    text: str | None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclasses.dataclass(frozen=True)
class Shape:
    """How work-items of a launch are spread over threads, to name them in reports."""

    simd: int
    local: Ids
    offset: Ids

    def work_item(self, group: Sequence[int], thread: int, channel: int | None) -> Ids | None:
        """The global id of a channel of a thread; ``None`` where no single channel is meant."""
        if channel is None or not all(self.local):
            return None
        linear = thread * self.simd + channel
        x, rest = linear % self.local[0], linear // self.local[0]
        y, z = rest % self.local[1], rest // self.local[1]
        ids = [g * n + i + o for g, n, i, o in zip(group, self.local, (x, y, z), self.offset)]
        return (ids[0], ids[1], ids[2])


class DroppedAccess(RuntimeWarning):
    """A warning: a kernel made an access outside of a surface, local memory or an image, which the device dropped, as GPUs do."""


class _Report:
    """What a fault and a finding have in common: where, and by whom."""

    def __init__(self, rendered: str, record: str, shape: Shape | None) -> None:
        self._rendered = rendered
        self.data: dict[str, Any] = json.loads(record)
        """Everything that is known, as ``docs/run.schema.json`` describes it."""
        self._shape = shape

    @property
    def code(self) -> str:
        """The code that ``envisa.explain`` has a page on: ``F0001``."""
        return str(self.data["code"])

    @property
    def kind(self) -> str:
        """What happened: ``out-of-bounds``, ``race``, …"""
        return str(self.data["kind"])

    @property
    def kernel(self) -> str:
        """The kernel's name."""
        return str(self._place["kernel"])

    @property
    def source_line(self) -> Line | None:
        """The source line, if the module records it."""
        line = self._place.get("source")
        return Line(line["file"], line["line"], line.get("text")) if line else None

    @property
    def group(self) -> Ids:
        """The group."""
        x, y, z = self.data["group"]
        return (x, y, z)

    @property
    def work_item(self) -> Ids | None:
        """The global id of the work-item; ``None`` if the report is about a whole thread or about hand-written code."""
        if self._shape is None:
            return None
        return self._shape.work_item(self.data["group"], self.data["thread"], self.data.get("channel"))

    @property
    def _place(self) -> dict[str, Any]:
        place: dict[str, Any] = self.data.get("place", self.data)
        return place

    def __str__(self) -> str:
        return self._rendered


class Fault(_Report, Error):
    """A kernel made an error and was stopped. Arrays contain what was computed before.

    As an exception it prints like the command's error: the line, what was accessed, what lies nearby.
    """

    def __init__(self, rendered: str, record: str, shape: Shape | None = None) -> None:
        Error.__init__(self, rendered)
        _Report.__init__(self, rendered, record, shape)
        self._arguments = (rendered, record, shape)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Fault, self._arguments)

    @property
    def message(self) -> str:
        """What happened, in one sentence."""
        return str(self.data["message"])

    @property
    def address(self) -> int | None:
        """The address of the access, if the fault is an access to memory."""
        access = self.data.get("access")
        return int(access["address"]) if access else None


class Finding(_Report):
    """A bug that a check found: its first occurrence, and the number of occurrences."""

    @property
    def count(self) -> int:
        """The number of occurrences; for a race between groups, the number of places in memory."""
        return int(self.data["count"])

    @property
    def subject(self) -> str:
        """The variable or memory that it is about."""
        return str(self.data["subject"])

    def __repr__(self) -> str:
        where = self.source_line or self.kernel
        return f"<Finding {self.code} {self.kind} at {where}: {self.subject}>"

    def _repr_html_(self) -> str:
        from ._html import finding

        return finding(self)


class Profile:
    """The counts of each line and instruction. ``docs/profile.schema.json`` describes ``profile.data``."""

    def __init__(self, record: str, page: str) -> None:
        self.data: dict[str, Any] = json.loads(record)
        self.page = page
        """An HTML page: tables of lines and instructions, sorted by a click; one text without links to other files."""

    @property
    def lines(self) -> list[dict[str, Any]]:
        """A record for each line of the source."""
        lines: list[dict[str, Any]] = self.data.get("lines", [])
        return lines

    def _repr_html_(self) -> str:
        from ._html import profile

        return profile(self)


class Outcome:
    """The results of a launch."""

    def __init__(self, done: _envisa.Done, shape: Shape | None) -> None:
        self.seconds: float = done.seconds
        """From the first group's start to the end of the last."""
        self.work_items: int = done.work_items
        self.printed: str = done.printed
        """What the kernel printed; it went to ``sys.stdout``, too."""
        self.findings: list[Finding] | None = None
        """The findings of the checks; ``None`` for a launch without checks."""
        if done.findings is not None:
            self.findings = [Finding(text, record, shape) for text, record in done.findings]
        self.not_checked: str | None = done.not_checked
        """What the checks did not cover."""
        self.dropped: dict[str, Any] | None = json.loads(done.dropped) if done.dropped else None
        """Accesses outside of surfaces, local memory or images, which the device dropped."""
        self.statistics: dict[str, Any] | None = json.loads(done.statistics) if done.statistics else None
        self.profile: Profile | None = Profile(*done.profile) if done.profile else None

    def warn_of_dropped(self, kernel: str) -> None:
        """Warns of accesses that the device dropped, with the line of the first."""
        assert self.dropped is not None
        counts = [(self.dropped[f"{what}s"], what) for what in ("read", "write")]
        told = " and ".join(f"{n} {what}{'s' if n != 1 else ''}" for n, what in counts if n)
        line = self.dropped.get("source") or self.dropped.get("visa") or {}
        at = f"{line.get('file')}:{line.get('line')}" if line else f"instruction ${self.dropped['instruction']}"
        text = f"{kernel}: {told} out of bounds dropped, the first at {at}"
        level, frame = 1, sys._getframe()
        while frame.f_back is not None and frame.f_globals.get("__package__") == __package__:
            level, frame = level + 1, frame.f_back
        warnings.warn(text, DroppedAccess, stacklevel=level)

    def __repr__(self) -> str:
        found = "" if self.findings is None else f", {len(self.findings)} findings"
        return f"<Outcome of {self.work_items} work-items in {self.seconds * 1e3:.3g} ms{found}>"

    def _repr_html_(self) -> str:
        from ._html import outcome

        return outcome(self)
