"""Many launches of one kernel over a grid of points: in this process, in several processes, on Dask or on Ray.

>>> import envisa
>>> def prepare(n, local):                                               # doctest: +SKIP
...     a = np.arange(n, dtype="f4")
...     return envisa.Run(n, local, dict(a=a, out=np.zeros_like(a), n=n))
>>> records = envisa.sweep(kernel, {"n": [256, 1024], "local": [32, 64]}, prepare,
...                        reference=lambda n, local: {"out": 2 * np.arange(n, dtype="f4")},
...                        on=dask.distributed.Client(), results="sweep.jsonl")     # doctest: +SKIP
"""

from __future__ import annotations

import dataclasses
import itertools
import os
import time
from typing import Any, Callable, Iterable, Mapping, Sequence, cast

import numpy as np

from . import _work
from ._device import Kernel, Size
from ._reports import Outcome
from ._work import Point, Record


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
    axes = cast("Mapping[str, Sequence[Any]]", grid)
    return [dict(zip(axes, values)) for values in itertools.product(*axes.values())]


def sweep(
    kernel: Kernel | Callable[..., Kernel],
    grid: Mapping[str, Sequence[Any]] | Iterable[Point],
    prepare: Prepare,
    *,
    reference: Reference | None = None,
    rtol: float = 0.0,
    atol: float = 0.0,
    check: bool = False,
    statistics: bool = False,
    measure: Callable[[Outcome], Mapping[str, Any]] | None = None,
    on: Any = None,
    results: str | os.PathLike[str] | None = None,
    failures: str | os.PathLike[str] | None = None,
    chunk: int | None = None,
    retries: int = 3,
    progress: bool = False,
) -> list[Record]:
    """Launches the kernel at every point and returns a record for each, in the grid's order: ``point``, ``ok``, ``seconds`` of
    the launch, ``total_seconds`` with everything around it, ``worker``, and of failing points ``error`` and ``reproduction``.

    ``grid`` has lists by name, of which all combinations are points, or is a list of points. ``kernel`` can be a function,
    ``kernel(**point)``, that builds another kernel at each point. ``prepare(**point)`` returns the launch, a :class:`Run`.
    ``reference(**point)`` returns the expected arrays, by name; outputs must equal them within ``rtol`` and ``atol`` (exactly, if
    both are 0). ``check`` enables all checks, ``statistics`` counts instructions, and what ``measure(outcome)`` returns is added
    to the record.

    ``on`` runs the launches: nothing (this process), a ``concurrent.futures`` executor, a ``dask.distributed.Client``, or the
    module ``ray``, initialised. A task has ``chunk`` points, by default so many that each worker gets about 16 tasks. If a worker dies,
    its task runs again, up to ``retries`` times (Dask, Ray). Each worker compiles the kernel once.

    ``progress`` shows the number of points that are done and that failed, on standard error.

    ``results`` is a file of JSON lines, or a Parquet file if its name ends in ``.parquet``. Records are written to it as they arrive.
    Points that it contains do not run again, so a sweep that was interrupted continues where it stopped. ``failures`` is a folder
    for failing points, each in a file that :func:`reproduce` runs again.
    """
    job = _Job(
        kernel,
        prepare,
        reference,
        rtol,
        atol,
        check,
        statistics,
        measure,
        os.fspath(failures) if failures else None,
    )
    return _work.records(
        job, points(grid), on=on, results=results, chunk=chunk, retries=retries, progress=progress
    )


@dataclasses.dataclass
class _Job:
    """What every worker is given, once."""

    kernel: Kernel | Callable[..., Kernel]
    prepare: Prepare
    reference: Reference | None
    rtol: float
    atol: float
    check: bool
    statistics: bool
    measure: Callable[[Outcome], Mapping[str, Any]] | None
    failures: str | None

    def one(self, point: Point, /) -> Record:
        record: Record = {"point": dict(point), "ok": False, "worker": os.getpid()}
        run: Run | None = None
        started = time.perf_counter()
        try:
            run = self.prepare(**point)
            kernel = self.kernel if isinstance(self.kernel, Kernel) else self.kernel(**point)
            launcher = kernel[run.global_size, run.local_size]  # type: ignore[index]
            outcome = launcher.launch((), run.arguments, check=self.check, statistics=self.statistics)
            record["seconds"] = outcome.seconds
            record.update(self.measure(outcome) if self.measure else {})
            if outcome.findings:
                raise AssertionError(str(outcome.findings[0]))
            self._compare(point, run)
            record["ok"] = True
        except Exception as e:  # A point that fails is a result: the others go on.
            record["error"] = f"{type(e).__name__}: {e}"
            if self.failures is not None:
                record["reproduction"] = _work.keep(dataclasses.replace(self, failures=None), point, self.failures)
        record["total_seconds"] = time.perf_counter() - started
        return record

    def _compare(self, point: Point, run: Run) -> None:
        for name, wanted in (self.reference(**point) if self.reference else {}).items():
            got = run.arguments[name]
            if self.rtol or self.atol:
                np.testing.assert_allclose(got, wanted, rtol=self.rtol, atol=self.atol, err_msg=name)
            else:
                np.testing.assert_array_equal(got, wanted, err_msg=name)
