"""Campaigns: a record for each program and kernel, and files that show failures again."""

from __future__ import annotations

import json
import pathlib
from concurrent.futures import ThreadPoolExecutor

import pytest
from envisa import campaign

GOOD = "kernel void add(global int* a, global const int* b, int n) { int i = get_global_id(0); if (i < n) a[i] += b[i]; }"
IMAGE = "kernel void look(read_only image2d_t i, global int* a) { a[0] = get_image_width(i); }"


def test_random_programs(tmp_path: pathlib.Path) -> None:
    results = tmp_path / "results.jsonl"
    with ThreadPoolExecutor(2) as pool:
        records = campaign.random_programs([3], on=pool, chunk=1, results=results)
    assert [r["point"]["program"] for r in records] == [3]
    sides = {"packaged, dg2" + of for of in ("", ", not optimised", ", interpreter", ", AVX2")}
    assert all(r["ok"] and json.loads(r["sides"]).keys() == sides for r in records), records
    # Those are not run again; another is.
    assert len(campaign.random_programs([3], results=results)) == 1
    assert len(results.read_text().splitlines()) == 1


def test_a_compiler_that_fails_is_told_and_shown_again(tmp_path: pathlib.Path) -> None:
    broken = tmp_path / "ocloc"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    (record,) = campaign.random_programs([3], compilers={"broken": str(broken)}, failures=tmp_path / "found")
    assert not record["ok"] and record["error"]
    again = campaign.reproduce(record["reproduction"])
    assert (again["ok"], again["error"], again["sides"]) == (False, record["error"], record["sides"])


def test_kernels_of_other_projects(tmp_path: pathlib.Path) -> None:
    for name, source in (("add", GOOD), ("look", IMAGE), ("broken", "kernel void k(global int* a) { a[0] = nothing; }")):
        (tmp_path / f"{name}.cl").write_text(source)
    files = [tmp_path / f"{name}.cl" for name in ("add", "look", "broken")]
    add, look, broken = campaign.kernels(files, seeds=[1], failures=tmp_path / "found")
    assert add["ok"] and json.loads(add["kernels"]) == {"add": "same"}
    assert look["ok"] and "not run: argument `i` is image" in json.loads(look["kernels"])["look"]
    assert not broken["ok"] and "undeclared" in broken["error"]
    assert "undeclared" in campaign.reproduce(broken["reproduction"])["error"]


def test_engines_that_differ_are_told(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "add.cl").write_text(GOOD)
    original = campaign._Kernels._run

    def wrong(self, kernel, seed):  # type: ignore[no-untyped-def]
        fault, left = original(self, kernel, seed)
        engine = kernel.module.device._settings[3]
        return fault, {**left, "a": b""} if engine == "interp" else left

    monkeypatch.setattr(campaign._Kernels, "_run", wrong)
    (record,) = campaign.kernels([tmp_path / "add.cl"])
    assert not record["ok"] and record["error"] == "add differs in a"
