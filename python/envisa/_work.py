"""Many independent points over workers: sweeps and campaigns. Each point has one record, and no point runs again that has one."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import pickle
import sys
from concurrent.futures import Executor, as_completed
from typing import Any, Iterator, Mapping, Protocol, Sequence

Point = Mapping[str, Any]
"""One point: names with values that JSON can hold."""

Record = dict[str, Any]
"""What came of a point: at least ``point`` and ``ok``."""


class Job(Protocol):
    """What workers do with a point. It is pickled."""

    def one(self, point: Point, /) -> Record: ...


def records(
    job: Job,
    points: Sequence[Point],
    *,
    on: Any = None,
    results: str | os.PathLike[str] | None = None,
    chunk: int | None = None,
    retries: int = 3,
    progress: bool = False,
) -> list[Record]:
    """A record for each point, in order; those that ``results`` has are not made again."""
    store = _Store(results)
    known = store.known()
    waiting = [p for p in points if key(p) not in known]
    each = max(chunk, 1) if chunk is not None else points_of_a_task(len(waiting), workers(on))
    chunks = [waiting[i : i + each] for i in range(0, len(waiting), each)]
    done = failed = 0
    try:
        for some in spread(job, chunks, on, retries):
            for record in some:
                known[key(record["point"])] = record
            store.add(some)
            done, failed = done + len(some), failed + sum(not r["ok"] for r in some)
            if progress:
                sys.stderr.write(f"\r{done} of {len(waiting)} points, {failed} failed")
                sys.stderr.flush()
    finally:
        if progress:
            sys.stderr.write("\n")
        store.close(known)
    return [known[key(p)] for p in points]


def points_of_a_task(points: int, workers: int) -> int:
    """So many that each worker gets about 16 tasks, which evens out points of different lengths, and at most 256, as a task is lost
    with its worker. The scheduler's cost is by task: milliseconds."""
    return min(max(points // (16 * workers), 1), 256)


def workers(on: Any) -> int:
    """How many workers an engine has now."""
    if isinstance(on, Executor):
        return int(getattr(on, "_max_workers", os.cpu_count() or 1))
    if hasattr(on, "ncores"):
        return max(len(on.ncores()), 1)
    if getattr(on, "__name__", "") == "ray":
        return max(int(on.cluster_resources().get("CPU", 1)), 1)
    return 1


def chunk_of(chunk: Sequence[Point], job: Job) -> list[Record]:
    """The records of a task's points."""
    return [job.one(p) for p in chunk]


def spread(job: Job, chunks: Sequence[Sequence[Point]], on: Any, retries: int) -> Iterator[list[Record]]:
    """The records of each chunk, as they are made by the engine ``on``."""
    if on is None:
        yield from (chunk_of(c, job) for c in chunks)
    elif isinstance(on, Executor):
        futures = [on.submit(chunk_of, c, job) for c in chunks]
        for future in as_completed(futures):
            yield future.result()
    elif hasattr(on, "scatter") and hasattr(on, "submit"):
        yield from _on_dask(on, job, chunks, retries)
    elif getattr(on, "__name__", "") == "ray":
        yield from _on_ray(on, job, chunks, retries)
    else:
        raise TypeError(
            f"`on` is an executor of concurrent.futures, a dask.distributed.Client or the module ray, not {type(on)}"
        )


def _itself(job: Job) -> Job:
    return job


def _on_dask(client: Any, job: Job, chunks: Sequence[Sequence[Point]], retries: int) -> Iterator[list[Record]]:
    from distributed import as_completed as dask_completed

    # A task of its own, and no data of a worker: if all workers that have the job die, it is made again.
    shared = client.submit(_itself, job, pure=False)
    tasks = client.map(chunk_of, chunks, job=shared, retries=retries, pure=False, batch_size=1000)
    for task in dask_completed(tasks):  # type: ignore[no-untyped-call]
        yield task.result()
        task.release()


def _on_ray(ray: Any, job: Job, chunks: Sequence[Sequence[Point]], retries: int) -> Iterator[list[Record]]:
    shared = ray.put(job)
    remote = ray.remote(chunk_of).options(max_retries=retries)
    waiting = [remote.remote(c, shared) for c in chunks]
    while waiting:
        done, waiting = ray.wait(waiting, num_returns=min(len(waiting), 100), timeout=0.1)
        for task in done:
            yield ray.get(task)


def key(point: Point) -> str:
    """What a point is known by in files."""
    return hashlib.sha256(json.dumps(point, sort_keys=True, default=str).encode()).hexdigest()


def keep(job: Job, point: Point, folder: str | os.PathLike[str]) -> str:
    """Writes a file from which :func:`reproduce` does a point again, and returns its path."""
    path = pathlib.Path(folder, f"{key(point)[:16]}.pickle")
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}.part")
    part.write_bytes(pickle.dumps((job, dict(point))))
    part.replace(path)
    return str(path)


def reproduce(path: str | os.PathLike[str]) -> Record:
    """Does a failing point again from its file in ``failures``. Such files are pickles: open only your own."""
    job, point = pickle.loads(pathlib.Path(path).read_bytes())
    record: Record = job.one(point)
    return record


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
            known[key(record["point"])] = record
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
