"""Sweeps: the same records by every kind of worker, and none lost or run twice where one was killed."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import envisa
import numpy as np
import pytest
from envisa import Run, _work, reproduce, sweep

SOURCE = """
kernel void scale(global const int* a, global int* out, int by) {
    int i = get_global_id(0);
    out[i] = a[i] * by + (by == 13);
}"""


def prepare(n: int, by: int) -> Run:
    return Run(n, 16, {"a": np.arange(n, dtype="i4"), "out": np.zeros(n, "i4"), "by": by})


def reference(n: int, by: int) -> dict[str, Any]:
    return {"out": np.arange(n, dtype="i4") * by}


def kernel() -> envisa.Kernel:
    return envisa.Device("dg2").build(SOURCE)["scale"]


GRID = {"n": [16, 32, 64], "by": list(range(20))}


def verdicts(records: list[dict[str, Any]]) -> list[tuple[int, int, bool]]:
    return [(r["point"]["n"], r["point"]["by"], r["ok"]) for r in records]


WANTED = [(n, by, by != 13) for n in GRID["n"] for by in GRID["by"]]


def test_here_and_in_processes(tmp_path: pathlib.Path) -> None:
    here = sweep(kernel(), GRID, prepare, reference=reference, failures=tmp_path)
    assert verdicts(here) == WANTED
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        there = sweep(kernel(), GRID, prepare, reference=reference, on=pool, chunk=7)
    assert verdicts(there) == WANTED
    failed = [r for r in here if not r["ok"]]
    again = reproduce(failed[0]["reproduction"])
    assert not again["ok"] and again["error"] == failed[0]["error"]


def test_a_killed_sweep_goes_on_where_it_stood(tmp_path: pathlib.Path) -> None:
    results = tmp_path / "results.jsonl"
    sweep(kernel(), {"n": [16], "by": [1, 2, 3]}, prepare, reference=reference, results=results)
    # The last line was cut when the process died.
    whole = results.read_text()
    results.write_text(whole[:-10])
    calls = []

    def counted(n: int, by: int) -> Run:
        calls.append(by)
        return prepare(n, by)

    records = sweep(kernel(), {"n": [16], "by": [1, 2, 3, 4]}, counted, reference=reference, results=results)
    assert calls == [3, 4] and all(r["ok"] for r in records)
    lines = [json.loads(line)["point"]["by"] for line in results.read_text().splitlines()]
    assert sorted(lines) == [1, 2, 3, 4]


def test_on_dask(tmp_path: pathlib.Path) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            records = sweep(kernel(), GRID, prepare, reference=reference, on=client, chunk=5)
    assert verdicts(records) == WANTED
    assert len({r["worker"] for r in records}) == 2


def test_a_kernel_maps_over_the_blocks_of_an_array() -> None:
    distributed, blocks = pytest.importorskip("distributed"), pytest.importorskip("dask.array")
    x = np.arange(1000, dtype="i4").reshape(20, 50)
    scale = envisa.Device("dg2").build(SOURCE)["scale"].function("out", by=3)
    with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster):
            scaled = blocks.map_blocks(scale, blocks.from_array(x, chunks=(7, 13)))
            assert scaled.dtype == np.dtype("i4")
            np.testing.assert_array_equal(scaled.compute(), 3 * x)


def test_parquet(tmp_path: pathlib.Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "results.parquet"
    sweep(kernel(), GRID, prepare, reference=reference, results=path)
    table = parquet.read_table(path)
    assert table.num_rows == len(WANTED) and "point.by" in table.column_names


DIES_AT = {"n": [16], "by": list(range(24))}


def prepare_and_die(n: int, by: int, once: str) -> Run:
    """As `prepare`; the first process that comes to point 7 dies without a word."""
    if by == 7:
        try:
            pathlib.Path(once).touch(exist_ok=False)
        except FileExistsError:
            pass
        else:
            os.kill(os.getpid(), signal.SIGKILL)
    return prepare(n, by)


def survives(on: Any, folder: pathlib.Path) -> None:
    """A sweep one of whose workers is killed: each point has one record, and each is right."""
    results, once = folder / "results.jsonl", folder / "died"
    grid = {**DIES_AT, "once": [str(once)]}
    records = sweep(kernel(), grid, prepare_and_die, reference=by_reference, on=on, chunk=3, results=results)
    assert once.exists() and verdicts(records) == [(16, by, by != 13) for by in DIES_AT["by"]]
    lines = [json.loads(line)["point"]["by"] for line in results.read_text().splitlines()]
    assert sorted(lines) == DIES_AT["by"]


def by_reference(n: int, by: int, once: str) -> dict[str, Any]:
    return reference(n, by)


def test_a_killed_worker_of_dask_loses_nothing(tmp_path: pathlib.Path) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            survives(client, tmp_path)


def slowly(n: int, by: int) -> Run:
    time.sleep(0.1)
    return prepare(n, by)


def client_of(address: str, results: str) -> None:
    """The client of a sweep, in a process of its own."""
    import distributed

    with distributed.Client(address) as client:
        sweep(kernel(), {"n": [16], "by": list(range(60))}, slowly, reference=reference, on=client, chunk=2, results=results)


def test_a_killed_client_goes_on_where_it_stood(tmp_path: pathlib.Path) -> None:
    distributed = pytest.importorskip("distributed")
    results = tmp_path / "results.jsonl"
    program = f"import test_sweep; test_sweep.client_of({{}}, {str(results)!r})"
    paths = os.pathsep.join([str(pathlib.Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster:
        call = [sys.executable, "-c", program.format(repr(cluster.scheduler_address))]
        first = subprocess.Popen(call, env={**os.environ, "PYTHONPATH": paths})
        while not results.exists() or len(results.read_bytes().splitlines()) < 6:
            assert first.poll() is None
            time.sleep(0.05)
        first.kill()
        first.wait()
        before = results.read_bytes().splitlines()
        assert len(before) < 60
        subprocess.run(call, env={**os.environ, "PYTHONPATH": paths}, check=True, timeout=120)
    records = [json.loads(line) for line in results.read_bytes().splitlines()]
    assert sorted(r["point"]["by"] for r in records) == list(range(60))
    # What was there is not run again: its records are as they were.
    assert records[: len(before) - 1] == [json.loads(line) for line in before[:-1]]


def test_on_ray(tmp_path: pathlib.Path) -> None:
    ray = pytest.importorskip("ray")

    paths = os.pathsep.join([str(pathlib.Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    ray.init(num_cpus=2, include_dashboard=False, runtime_env={"env_vars": {"PYTHONPATH": paths}})
    try:
        records = sweep(kernel(), GRID, prepare, reference=reference, on=ray, chunk=5)
        assert verdicts(records) == WANTED
        survives(ray, tmp_path)
    finally:
        ray.shutdown()


def test_tasks_are_few_and_enough() -> None:
    assert [_work.points_of_a_task(n, 2) for n in (0, 1, 31, 64, 10_000, 10**6)] == [1, 1, 1, 2, 256, 256]
    assert [_work.points_of_a_task(10_000, w) for w in (1, 4, 64)] == [256, 156, 9]
    with ProcessPoolExecutor(3) as pool:
        assert _work.workers(pool) == 3
    assert _work.workers(None) == 1
