"""Many launches of one kernel over a grid of points: in this process, in several processes, on Dask or on Ray.

>>> from envisa.sweep import Run, sweep
>>> def prepare(n, local):                                               # doctest: +SKIP
...     a = np.arange(n, dtype="f4")
...     return Run(n, local, dict(a=a, out=np.zeros_like(a), n=n))
>>> records = sweep(kernel, {"n": [256, 1024], "local": [32, 64]}, prepare,
...                 reference=lambda n, local: {"out": 2 * np.arange(n, dtype="f4")},
...                 on=dask.distributed.Client(), results="sweep.jsonl")     # doctest: +SKIP
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import os
import pathlib
import pickle
import time
from concurrent.futures import Executor, as_completed
from typing import Any, Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from ._device import Kernel, Size

Point = Mapping[str, Any]
"""One point of a grid: names with values that JSON can hold."""

Record = dict[str, Any]
"""The result of a point: ``point``, ``ok``, ``seconds`` of the launch, ``worker``, ``error``, ``reproduction``."""


@dataclasses.dataclass
class Run:
    """A launch: sizes, and arguments by name. The kernel reads and writes arrays among them in place."""

    global_size: Size
    local_size: Size | None
    arguments: dict[str, Any]


Prepare = Callable[..., Run]
Reference = Callable[..., Mapping[str, Any]]


def points(grid: Mapping[str, Sequence[Any]] | Iterable[Point]) -> list[Point]:
    """The points of a grid: the product of lists by name, or the points as they are given."""
    if not isinstance(grid, Mapping):
        return [dict(p) for p in grid]
    names = list(grid)
    return [dict(zip(names, values)) for values in itertools.product(*grid.values())]


def sweep(
    kernel: Kernel,
    grid: Mapping[str, Sequence[Any]] | Iterable[Point],
    prepare: Prepare,
    *,
    reference: Reference | None = None,
    rtol: float = 0.0,
    atol: float = 0.0,
    check: bool = False,
    on: Any = None,
    results: str | os.PathLike[str] | None = None,
    failures: str | os.PathLike[str] | None = None,
    chunk: int = 32,
    retries: int = 3,
) -> list[Record]:
    """Launches the kernel at every point and gives a record for each, in the grid's order.

    ``prepare(**point)`` returns the launch. ``reference(**point)`` returns the expected arrays, by name; outputs must equal them
    within ``rtol`` and ``atol`` (exactly, if both are 0). ``check`` enables all checks.

    ``on`` runs the launches: nothing (this process), a ``concurrent.futures`` executor, a ``dask.distributed.Client``, or the
    module ``ray``, initialised. A task has ``chunk`` points. If a worker dies, its task runs again, up to
    ``retries`` times (Dask, Ray). Each worker compiles the kernel once.

    ``results`` is a file of JSON lines, or a Parquet file if its name ends in ``.parquet``. Records are written to it as they arrive.
    Points that it contains do not run again, so a sweep that was interrupted continues where it stopped. ``failures`` is a folder
    for failing points, each in a file that :func:`reproduce` runs again.
    """
    all_points = points(grid)
    store = _Store(results)
    known = store.known()
    waiting = [p for p in all_points if _key(p) not in known]
    job = _Job(kernel, prepare, reference, rtol, atol, check, os.fspath(failures) if failures else None)
    chunks = [waiting[i : i + chunk] for i in range(0, len(waiting), max(chunk, 1))]
    try:
        for records in _run(job, chunks, on, retries):
            for record in records:
                known[_key(record["point"])] = record
            store.add(records)
    finally:
        store.close(known)
    return [known[_key(p)] for p in all_points]


@dataclasses.dataclass
class _Job:
    """What every worker is given, once."""

    kernel: Kernel
    prepare: Prepare
    reference: Reference | None
    rtol: float
    atol: float
    check: bool
    failures: str | None

    def chunk(self, chunk: Sequence[Point]) -> list[Record]:
        return [self.one(p) for p in chunk]

    def one(self, point: Point) -> Record:
        record: Record = {"point": dict(point), "ok": False, "worker": os.getpid()}
        run: Run | None = None
        started = time.perf_counter()
        try:
            run = self.prepare(**point)
            launcher = self.kernel[run.global_size, run.local_size]  # type: ignore[index]
            outcome = launcher.launch((), run.arguments, check=self.check)
            record["seconds"] = outcome.seconds
            if outcome.findings:
                raise AssertionError(str(outcome.findings[0]))
            self._compare(point, run)
            record["ok"] = True
        except Exception as e:  # A point that fails is a result: the others go on.
            record["error"] = f"{type(e).__name__}: {e}"
            if self.failures is not None:
                record["reproduction"] = self._keep(point)
        record["total_seconds"] = time.perf_counter() - started
        return record

    def _compare(self, point: Point, run: Run) -> None:
        for name, wanted in (self.reference(**point) if self.reference else {}).items():
            got = run.arguments[name]
            if self.rtol or self.atol:
                np.testing.assert_allclose(got, wanted, rtol=self.rtol, atol=self.atol, err_msg=name)
            else:
                np.testing.assert_array_equal(got, wanted, err_msg=name)

    def _keep(self, point: Point) -> str:
        folder = pathlib.Path(self.failures or ".")
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{_key(point)[:16]}.pickle"
        alone = dataclasses.replace(self, failures=None)
        part = path.with_suffix(f".{os.getpid()}.part")
        part.write_bytes(pickle.dumps((alone, dict(point))))
        part.replace(path)
        return str(path)


def reproduce(path: str | os.PathLike[str]) -> Record:
    """Runs a failing point again from its file in ``failures``. Such files are pickles: open only your own."""
    job, point = pickle.loads(pathlib.Path(path).read_bytes())
    record: Record = job.one(point)
    return record


def _run(job: _Job, chunks: list[list[Point]], on: Any, retries: int) -> Iterator[list[Record]]:
    if on is None:
        yield from map(job.chunk, chunks)
    elif isinstance(on, Executor):
        futures = [on.submit(job.chunk, c) for c in chunks]
        for future in as_completed(futures):
            yield future.result()
    elif hasattr(on, "scatter") and hasattr(on, "submit"):
        from distributed import as_completed as dask_completed

        shared = on.scatter(job, broadcast=True)
        tasks = [on.submit(_Job.chunk, shared, c, retries=retries, pure=False) for c in chunks]
        for task in dask_completed(tasks):  # type: ignore[no-untyped-call]
            yield task.result()
    elif getattr(on, "__name__", "") == "ray":
        yield from _on_ray(on, job, chunks, retries)
    else:
        raise TypeError(
            f"`on` is an executor of concurrent.futures, a dask.distributed.Client or the module ray, not {type(on)}"
        )


def _on_ray(ray: Any, job: _Job, chunks: list[list[Point]], retries: int) -> Iterator[list[Record]]:
    shared = ray.put(job)
    remote = ray.remote(_Job.chunk).options(max_retries=retries)
    waiting = [remote.remote(shared, c) for c in chunks]
    while waiting:
        done, waiting = ray.wait(waiting)
        yield from ray.get(done)


def _key(point: Point) -> str:
    return hashlib.sha256(json.dumps(point, sort_keys=True, default=str).encode()).hexdigest()


class _Store:
    """Records on disk, so that nothing is lost and nothing runs twice."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self._final = pathlib.Path(path) if path else None
        # Parquet has no lines to add: records are lines until all are there.
        parquet = self._final is not None and self._final.suffix == ".parquet"
        self._parquet = self._final if parquet else None
        self._lines = self._final.with_suffix(".jsonl") if parquet and self._final else self._final

    def known(self) -> dict[str, Record]:
        """What an earlier run wrote; a last line that was cut is none."""
        if self._lines is None or not self._lines.exists():
            return {}
        known = {}
        content = self._lines.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) != len(content):
            self._lines.write_bytes(whole)
        for line in whole.splitlines():
            record = json.loads(line)
            known[_key(record["point"])] = record
        return known

    def add(self, records: list[Record]) -> None:
        """Adds lines, which are on the disk when it returns."""
        if self._lines is None:
            return
        with self._lines.open("a") as file:
            file.writelines(json.dumps(r) + "\n" for r in records)
            file.flush()
            os.fsync(file.fileno())

    def close(self, known: Mapping[str, Record]) -> None:
        """Writes the Parquet file, if that was asked for."""
        if self._parquet is None:
            return
        import pyarrow
        import pyarrow.parquet

        rows = [{**{f"point.{k}": v for k, v in r["point"].items()}, **r} for r in known.values()]
        for row in rows:
            del row["point"]
        part = self._parquet.with_suffix(".part")
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), part)
        part.replace(self._parquet)
