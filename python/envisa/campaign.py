"""Campaigns over workers: random programs, and the kernels of other projects, on several engines and devices, compared bit by bit.

>>> from envisa.campaign import random_programs
>>> records = random_programs(range(10_000), on=dask.distributed.Client(), results="found.parquet",
...                           failures="found")                          # doctest: +SKIP
>>> [r["point"]["program"] for r in records if not r["ok"]]              # doctest: +SKIP

``on``, ``results``, ``chunk``, ``retries`` and ``progress`` are as for :func:`envisa.sweep`: a campaign that was interrupted
continues where it stopped. ``failures`` is a folder for files that :func:`reproduce` runs again.
"""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import subprocess
import tempfile
import zlib
from typing import Any, Iterable, Mapping, Sequence

import numpy as np

from . import _work
from ._arguments import Argument, Local
from ._command import command
from ._device import Device, Kernel, Module
from ._envisa import Error, Unsupported
from ._reports import Fault
from ._work import Point, Record, reproduce

__all__ = ["kernels", "random_programs", "reproduce"]


def random_programs(
    numbers: Iterable[int],
    *,
    devices: Sequence[str] = ("dg2",),
    compilers: Mapping[str, str] | None = None,
    timeout: int = 60,
    failures: str | os.PathLike[str] | None = None,
    **how: Any,
) -> list[Record]:
    """Compares compilers, optimisation levels, devices and engines on programs of ``envisa smith``, as ``envisa campaign`` does.

    ``compilers`` are paths of ``ocloc`` by name (by default the one on ``PATH``); ``timeout`` is in seconds for each compilation and
    run. Records have ``sides``: what each side left, and ``error`` where they differ. A reproduction needs nothing but its file.
    """
    job = _Programs(tuple(devices), dict(compilers or {}), timeout, os.fspath(failures) if failures else None)
    return _work.records(job, [{"program": n} for n in numbers], **how)


def kernels(
    files: Iterable[str | os.PathLike[str]],
    *,
    devices: Sequence[str] = ("dg2",),
    seeds: Sequence[int] = (0,),
    options: str = "",
    elements: int = 4096,
    work_items: int = 256,
    limit: int = 1_000_000,
    failures: str | os.PathLike[str] | None = None,
    **how: Any,
) -> list[Record]:
    """Compares native code with the interpreter on every kernel of files in OpenCL C, SPIR-V, zebin or vISA text.

    Buffers have ``elements`` random elements, values are random up to ``work_items``, groups have the size that the kernel requires or
    32 work-items. A thread ends after ``limit`` branches. Both engines must leave the same bytes or make the same fault. Records
    have ``kernels``: by name ``same``, ``fault CODE``, or why a kernel was not run (``not run: ...``).
    """
    contents = {os.fspath(f): pathlib.Path(f).read_bytes() for f in files}
    points = [{"file": f, "device": d, "seed": s} for f in contents for d in devices for s in seeds]
    folder = os.fspath(failures) if failures else None
    return _work.records(_Kernels(contents, options, elements, work_items, limit, folder), points, **how)


@dataclasses.dataclass
class _Programs:
    devices: tuple[str, ...]
    compilers: dict[str, str]
    timeout: int
    failures: str | None

    def one(self, point: Point, /) -> Record:
        record: Record = {"point": dict(point), "ok": False, "worker": os.getpid()}
        with tempfile.TemporaryDirectory(prefix="envisa-campaign-") as folder:
            call = [command(), "campaign", folder, "--first", str(point["program"]), "--programs", "1", "--jobs", "1"]
            call += ["--reductions", "0", "--device", ",".join(self.devices), "--timeout", str(self.timeout)]
            call += [word for pair in self.compilers.items() for word in ("--compiler", "=".join(pair))]
            done = subprocess.run(call, capture_output=True, text=True, check=False)
            results = pathlib.Path(folder, "results.jsonl")
            lines = [json.loads(line) for line in results.read_text().splitlines() if line] if results.exists() else []
        sides = {line["side"]: line["left"] for line in lines if "side" in line}
        record["sides"] = json.dumps(sides)
        record["ok"] = done.returncode == 0 and bool(sides)
        if not record["ok"]:
            what = "the sides differ, or one of them fails" if done.returncode == 1 else done.stderr.strip()
            record["error"] = what or "`envisa campaign` compared nothing"
            if self.failures is not None:
                record["reproduction"] = _work.keep(dataclasses.replace(self, failures=None), point, self.failures)
        return record


@dataclasses.dataclass
class _Kernels:
    contents: dict[str, bytes]
    options: str
    elements: int
    work_items: int
    limit: int
    failures: str | None

    def one(self, point: Point, /) -> Record:
        record: Record = {"point": dict(point), "ok": False, "worker": os.getpid()}
        told: dict[str, str] = {}
        try:
            one, other = (self._module(point, engine) for engine in ("jit", "interp"))
            for name in one:
                told[name] = self._compare(one[name], other[name], int(point["seed"]))
            differ = [name for name, what in told.items() if what.startswith("differs")]
            record["ok"] = not differ
            if differ:
                record["error"] = "; ".join(f"{name} {told[name]}" for name in differ)
        except Error as e:  # What does not build is a result.
            record["error"] = f"{type(e).__name__}: {e}"
        record["kernels"] = json.dumps(told)
        if not record["ok"] and self.failures is not None:
            file = point["file"]
            alone = dataclasses.replace(self, failures=None, contents={file: self.contents[file]})
            record["reproduction"] = _work.keep(alone, point, self.failures)
        return record

    def _module(self, point: Point, engine: str) -> Module:
        file, content = pathlib.Path(point["file"]), self.contents[point["file"]]
        # One host thread: what work-items of several groups do to the same memory has one order.
        device = Device(point["device"], threads=1, engine=engine)
        if file.suffix in (".cl", ".spv"):
            source = content if file.suffix == ".spv" else content.decode()
            return device.build(source, self.options, name=file.name)
        return Module(device, file.name, content, [])

    def _compare(self, one: Kernel, other: Kernel, seed: int) -> str:
        try:
            (fault, left), (other_fault, other_left) = (self._run(k, seed) for k in (one, other))
        except (NotImplementedError, Unsupported) as e:
            return f"not run: {e}"
        if fault != other_fault:
            return f"differs: native code {fault or 'ends'}, the interpreter {other_fault or 'ends'}"
        names = [name for name in left if left[name] != other_left[name]]
        if names and fault is None:
            return f"differs in {', '.join(names)}"
        return f"fault {fault}" if fault else "same"

    def _run(self, kernel: Kernel, seed: int) -> tuple[str | None, dict[str, bytes]]:
        """The code of the fault, and the bytes that buffers hold."""
        random = np.random.default_rng([seed, zlib.crc32(kernel.name.encode())])
        given = {a.name: self._given(a, random) for a in kernel.arguments if a.kind != "unused"}
        local = kernel.attributes["required_group_size"] or (32,)
        size = (self.work_items, *(1,) * (len(local) - 1))
        size = tuple(-(-n // g) * g for n, g in zip(size, local))
        fault = None
        try:
            kernel[size, tuple(local)].launch((), given, limit=self.limit)
        except Fault as e:
            fault = e.code
        return fault, {n: v.tobytes() for n, v in given.items() if isinstance(v, np.ndarray)}

    def _given(self, a: Argument, random: np.random.Generator) -> Any:
        dtype, count = a.element or (np.dtype("u1"), a.nbytes or 1)
        if a.kind == "buffer":
            return self._numbers(dtype, self.elements * count, random)
        if a.kind == "value":
            return self._numbers(dtype, count, random).tobytes()
        if a.kind == "local":
            return Local(self.elements * count, dtype)
        raise NotImplementedError(f"argument `{a.name}` is {a.kind}")

    def _numbers(self, dtype: np.dtype[Any], count: int, random: np.random.Generator) -> np.ndarray[Any, Any]:
        if dtype.kind == "f":
            return random.normal(size=count).astype(dtype)
        most = min(self.work_items, int(np.iinfo(dtype).max))
        return random.integers(0, most, size=count, endpoint=True).astype(dtype)
