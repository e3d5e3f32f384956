#!/usr/bin/env python3
"""Measures sweeps on workers: `measure.py sweep` compares one worker with two, `measure.py graph` is the engine's own cost.

    python/tests/measure.py sweep [--on dask|ray|processes] [--runs 10000]
    python/tests/measure.py graph [--on dask|ray] [--tasks 100000]

The package must be importable and OpenCL C must compile (`ocloc`). Workers are processes with one host thread each. Times of an idle
machine only are worth comparing.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, Iterator

import envisa
import numpy as np
from envisa import Record, Run, _work, sweep

SOURCE = """
kernel void logistic(global float* x, float r, int rounds) {
    int i = get_global_id(0);
    float v = x[i];
    for (int k = 0; k < rounds; k++) v = r * v * (1 - v);
    x[i] = v;
}"""
ITEMS, ROUNDS = 1024, 10_000


def prepare(number: int) -> Run:
    x = np.linspace(0.1, 0.9, ITEMS, dtype="f4")
    return Run(ITEMS, 32, {"x": x, "r": 3.5 + number * 1e-6, "rounds": ROUNDS})


class Empty:
    """A point's work is nothing: what is left is the engine's."""

    def one(self, point: _work.Point, /) -> Record:
        return {"point": dict(point), "ok": True}


@contextlib.contextmanager
def engine(name: str, workers: int) -> Iterator[Any]:
    """What `on` is, with so many workers of one thread."""
    if name == "dask":
        from distributed import Client, LocalCluster

        make_cluster: Any = LocalCluster
        make_client: Any = Client
        options = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": None}
        with make_cluster(**options) as cluster, make_client(cluster) as client:
            yield client
    elif name == "ray":
        import ray

        path = os.pathsep.join([os.path.dirname(os.path.abspath(__file__)), os.environ.get("PYTHONPATH", "")])
        ray.init(num_cpus=workers, include_dashboard=False, runtime_env={"env_vars": {"PYTHONPATH": path}})
        yield ray
        ray.shutdown()
    else:
        with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
            yield pool


def swept(name: str, workers: int, runs: int) -> tuple[float, list[bool]]:
    """Seconds, and whether each point was right. Workers are started and have the kernel before the clock starts."""
    kernel = envisa.Device("dg2", threads=1).build(SOURCE, "-cl-fp32-correctly-rounded-divide-sqrt")["logistic"]
    with engine(name, workers) as on:
        sweep(kernel, [{"number": n} for n in range(64 * workers)], prepare, on=on)
        started = time.perf_counter()
        records = sweep(kernel, {"number": range(runs)}, prepare, reference=reference, on=on, rtol=1e-5)
        return time.perf_counter() - started, [r["ok"] for r in records]


def reference(number: int) -> dict[str, Any]:
    return {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["sweep", "graph"])
    parser.add_argument("--on", choices=["dask", "ray", "processes"], default="dask")
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--tasks", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    if given.what == "graph":
        with engine(given.on, 2) as on:
            started = time.perf_counter()
            points = [{"number": n} for n in range(given.tasks)]
            made = sum(len(r) for r in _work.spread(Empty(), [[p] for p in points], on, 3))
            seconds = time.perf_counter() - started
        assert made == given.tasks
        print(f"{given.on}: {given.tasks} empty tasks in {seconds:.1f} s, {seconds / given.tasks * 1e6:.0f} us each")
        return
    ratios = []
    for _ in range(given.rounds):
        (one, same), (two, also) = swept(given.on, 1, given.runs), swept(given.on, 2, given.runs)
        assert same == also and all(same), "records differ"
        ratios.append(one / two)
        print(f"{given.on}: {given.runs} runs: one worker {one:.1f} s, two {two:.1f} s, {one / two:.2f} times as fast", flush=True)
    print(f"{given.on}: median {sorted(ratios)[len(ratios) // 2]:.2f}")


if __name__ == "__main__":
    main()
