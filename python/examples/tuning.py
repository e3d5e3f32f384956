#!/usr/bin/env python3
"""Tunes a matrix product: builds and runs 500 variants of a kernel on a local cluster, and plots what they cost.

    python python/examples/tuning.py [--workers 2] [--variants 500] [--results tuning.jsonl] [--plot tuning.png]

Needs `envisa[dask]`, `ocloc` and, for the plot, `matplotlib`. A run that was interrupted continues where it stopped. Costs are counts: the
instructions of all threads, and the bytes that they read from memory. They are exact and the same on every machine. They are not the time
on a GPU, and a variant that is best in both is one to try first there.
"""

from __future__ import annotations

import argparse
import itertools
from typing import Any, Mapping

import envisa
import numpy as np
from envisa import Record, Run, sweep

SIZE = 64
SOURCE = """
// A group makes a tile of TILE_M x TILE_N; each work-item makes ITEM_M x ITEM_N of it, in steps of STEP along K.
kernel void product(global const float* a, global const float* b, global float* c, int n) {
    local float as[STEP][TILE_M], bs[STEP][TILE_N];
    const int x = get_local_id(0), y = get_local_id(1);
    const int items = (TILE_M / ITEM_M) * (TILE_N / ITEM_N), item = y * (TILE_N / ITEM_N) + x;
    const int row = get_group_id(1) * TILE_M, column = get_group_id(0) * TILE_N;
    float sum[ITEM_M][ITEM_N] = {{0}};
    for (int k = 0; k < n; k += STEP) {
        for (int i = item; i < STEP * TILE_M; i += items) as[i % STEP][i / STEP] = a[(row + i / STEP) * n + k + i % STEP];
        for (int i = item; i < STEP * TILE_N; i += items) bs[i / TILE_N][i % TILE_N] = b[(k + i / TILE_N) * n + column + i % TILE_N];
        barrier(CLK_LOCAL_MEM_FENCE);
        __attribute__((opencl_unroll_hint(UNROLL)))
        for (int s = 0; s < STEP; s++)
            for (int i = 0; i < ITEM_M; i++)
                for (int j = 0; j < ITEM_N; j++)
                    sum[i][j] += as[s][y * ITEM_M + i] * bs[s][x * ITEM_N + j];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 0; i < ITEM_M; i++)
        for (int j = 0; j < ITEM_N; j++)
            c[(row + y * ITEM_M + i) * n + column + x * ITEM_N + j] = sum[i][j];
}
"""


def variants() -> list[dict[str, int]]:
    """All tilings whose groups have 8 to 256 work-items."""
    tiles, items, steps, unrolls = (8, 16, 32), (1, 2, 4), (4, 8, 16, 32), (1, 2, 4)
    made = []
    for tile_m, tile_n, item_m, item_n, step, unroll in itertools.product(tiles, tiles, items, items, steps, unrolls):
        if 8 <= (tile_m // item_m) * (tile_n // item_n) <= 256:
            made.append(dict(tile_m=tile_m, tile_n=tile_n, item_m=item_m, item_n=item_n, step=step, unroll=unroll))
    return made


def build(**variant: int) -> envisa.Kernel:
    options = " ".join(f"-D{name.upper()}={value}" for name, value in variant.items())
    return envisa.Device("dg2", threads=1).build(SOURCE, options)["product"]


def matrices() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    random = np.random.default_rng(1)
    a, b = random.integers(-8, 8, (2, SIZE, SIZE)).astype("f4")  # Whole numbers: sums are exact in any order.
    return a, b


def prepare(tile_m: int, tile_n: int, item_m: int, item_n: int, **rest: int) -> Run:
    a, b = matrices()
    local = (tile_n // item_n, tile_m // item_m)
    sizes = (SIZE // tile_n * local[0], SIZE // tile_m * local[1])
    return Run(sizes, local, {"a": a, "b": b, "c": np.zeros_like(a), "n": SIZE})


def reference(**variant: int) -> dict[str, Any]:
    a, b = matrices()
    return {"c": a @ b}


def measure(outcome: envisa.Outcome) -> Mapping[str, Any]:
    counts = outcome.statistics or {}
    read = {memory["kind"]: memory["bytes_read"] for memory in counts["memory"]}
    return {"instructions": counts["instructions"], "bytes_read": read["surface"] + read["global"]}


def plot(records: list[Record], path: str) -> None:
    """Instructions against bytes, a point for each variant; colours are the work-items' shares of a tile."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure: Any
    axes: Any
    figure, axes = pyplot.subplots(figsize=(7, 5))
    shares = sorted({(r["point"]["item_m"] * r["point"]["item_n"]) for r in records})
    for share in shares:
        some = [r for r in records if r["point"]["item_m"] * r["point"]["item_n"] == share]
        axes.scatter([r["bytes_read"] / 2**10 for r in some], [r["instructions"] / 1000 for r in some], s=12, label=f"{share}")
    axes.set(xscale="log", yscale="log", xlabel="KiB read from memory", ylabel="thousands of instructions of all threads")
    ticks = sorted({r["bytes_read"] / 2**10 for r in records})
    axes.set_xticks(ticks, labels=[f"{tick:g}" for tick in ticks])
    axes.set_yticks(rows := [50, 100, 200, 400], labels=[f"{row}" for row in rows])
    axes.minorticks_off()
    axes.legend(title="elements of a work-item")
    axes.set_title(f"{len(records)} variants of a product of {SIZE} x {SIZE} matrices")
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2, help="0: in this process")
    parser.add_argument("--variants", type=int, default=500)
    parser.add_argument("--results")
    parser.add_argument("--plot")
    given = parser.parse_args()
    # Spread over the whole space, however many are asked for.
    everything = variants()
    points = [everything[i * len(everything) // given.variants] for i in range(min(given.variants, len(everything)))]
    how: dict[str, Any] = {"reference": reference, "statistics": True, "measure": measure, "results": given.results}
    if given.workers:
        from dask import distributed

        make_client: Any = distributed.Client
        with make_client(n_workers=given.workers, threads_per_worker=1, dashboard_address=None) as client:
            records = sweep(build, points, prepare, on=client, chunk=4, progress=True, **how)
    else:
        records = sweep(build, points, prepare, **how)
    wrong = [r for r in records if not r["ok"]]
    right = sorted((r for r in records if r["ok"]), key=lambda r: (r["instructions"], r["bytes_read"]))
    print(f"{len(records)} variants, {len(wrong)} of them wrong")
    for r in wrong[:3]:
        print(r["point"], r["error"])
    for r in right[:5]:
        print(f"{r['instructions']:>9} instructions, {r['bytes_read']:>9} bytes read: {r['point']}")
    if given.plot:
        plot(right, given.plot)


if __name__ == "__main__":
    main()
