"""The pytest plugin: a program's own tests on the driver; a planted race fails the right test with its line."""

from __future__ import annotations

import importlib.metadata
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree

import pytest

PROGRAM = '''
import numpy as np
import pyopencl as cl
import pytest

SOURCE = """
kernel void neighbour(global const int* a, global int* out) {
    local int tile[64];
    int i = get_local_id(0);
    tile[i] = a[get_global_id(0)];
    BARRIER
    out[get_global_id(0)] = tile[63 - i];
}"""

@pytest.mark.parametrize("barrier", ["barrier(CLK_LOCAL_MEM_FENCE);", ""], ids=["right", "racy"])
def test_neighbour(barrier):
    context = cl.create_some_context(interactive=False)
    queue = cl.CommandQueue(context)
    program = cl.Program(context, SOURCE.replace("BARRIER", barrier)).build()
    a, out = np.arange(64, dtype="i4"), np.zeros(64, "i4")
    mf = cl.mem_flags
    bufs = [cl.Buffer(context, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=h) for h in (a, out)]
    program.neighbour(queue, (64,), (64,), *bufs)
    cl.enqueue_copy(queue, out, bufs[1]).wait()
'''


def run(folder: pathlib.Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    installed = any(point.name == "envisa" for point in importlib.metadata.entry_points(group="pytest11"))
    plugin = [] if installed else ["-p", "envisa.pytest_plugin"]
    call = [sys.executable, "-m", "pytest", *plugin, "-v", *arguments, "test_program.py"]
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "GITHUB_"))}
    return subprocess.run(call, cwd=folder, env={**clean, **more}, capture_output=True, text=True, timeout=300, check=False)


def test_verdicts_and_the_planted_race(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("pyopencl")
    (tmp_path / "test_program.py").write_text(PROGRAM)
    checked = run(tmp_path, "--envisa=dg2", "--envisa-check")
    assert checked.returncode == 1, checked.stdout + checked.stderr
    assert "test_neighbour[right] PASSED" in checked.stdout
    assert "test_neighbour[racy] FAILED" in checked.stdout
    assert "tile[i] = a[get_global_id(0)]" in checked.stdout
    # What the baseline lists fails nothing.
    key = next(l.removeprefix("baseline: ") for l in checked.stdout.splitlines() if l.startswith("baseline: "))
    keys = {l.removeprefix("baseline: ") for l in checked.stdout.splitlines() if l.startswith("baseline: ")}
    (tmp_path / "known.txt").write_text("# known\n" + "\n".join(keys) + "\n")
    assert key in keys
    known = run(tmp_path, "--envisa=dg2", "--envisa-check", "--envisa-baseline=known.txt")
    assert known.returncode == 0, known.stdout + known.stderr
    plain = run(tmp_path, "--envisa=dg2,pvc")
    assert plain.returncode == 0 and "2 passed" in plain.stdout


def test_one_junit_file_of_all_devices_and_annotations(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("pyopencl")
    (tmp_path / "test_program.py").write_text(PROGRAM)
    done = run(tmp_path, "--envisa=dg2,pvc", "--envisa-check", "--junitxml=all/report.xml", GITHUB_ACTIONS="true")
    assert done.returncode == 1, done.stdout + done.stderr
    suites = xml.etree.ElementTree.parse(tmp_path / "all/report.xml").findall("testsuite")
    assert [s.get("name") for s in suites] == ["pytest on dg2", "pytest on pvc"]
    for suite in suites:
        failed = {case.get("name"): case.findtext("failure") for case in suite.iter("testcase")}
        assert failed["test_neighbour[right]"] is None
        assert "tile[i] = a[get_global_id(0)]" in (failed["test_neighbour[racy]"] or "")
    line = next(n for n, text in enumerate(PROGRAM.splitlines(), 1) if text.startswith("@pytest"))
    annotation = f"::error file=test_program.py,line={line},title=envisa::"
    assert any(l.startswith(annotation) and "race" in l for l in done.stdout.splitlines()), done.stdout
