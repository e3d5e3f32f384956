"""Khronos' conformance tests: each test of each program by itself, so that one that breaks down ends no other.

Usage: cts.py FOLDER SECONDS PROGRAM[:TEST,...]...; of a program without tests, all; `-TEST` leaves some out. A PROGRAM with
blanks has arguments behind it, which go to every test. SECONDS is each test's limit. Tests that the suite's own shortened mode knows run in it.
"""

import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys

folder, limit = pathlib.Path(sys.argv[1]), float(sys.argv[2])
told = pathlib.Path.cwd() / "told.json"


def why(text):
    """The line that says what went wrong, or the last."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    wrong = [line for line in lines if re.search(r"error|fail|mismatch|incorrect|expected", line, re.I)]
    wrong = [line for line in wrong if not re.search(r"FAILED( \d+ of \d+)? (sub-?)?tests?|^(\w+ )?FAILED$", line)] or wrong
    # Where it stands in the test's source on this machine is of no use elsewhere.
    return re.sub(r"\s*\(.*? from /.*", "", (wrong or lines or [""])[0])


def fits(test, patterns):
    """Whether the last pattern that a test is meant by wants it."""
    chosen = all(pattern.startswith("-") for pattern in patterns)
    for pattern in patterns:
        if fnmatch.fnmatch(test, pattern.removeprefix("-")):
            chosen = not pattern.startswith("-")
    return chosen


for word in sys.argv[3:]:
    path, _, wanted = word.partition(":")
    patterns = [pattern for pattern in wanted.split(",") if pattern]
    path, *more = path.split()
    program, name = folder / path, pathlib.Path(path).name.removeprefix("test_")
    listed = subprocess.run([program, "--list"], capture_output=True, text=True, timeout=60).stdout
    tests = [line.strip() for line in listed.splitlines() if re.fullmatch(r"\s+\w+", line)]
    if not tests:
        print(f"FAIL {name}: it lists no tests", flush=True)
    for test in tests:
        if not fits(test, patterns):
            continue
        told.unlink(missing_ok=True)
        environment = {**os.environ, "CL_CONFORMANCE_RESULTS_FILENAME": str(told), "CL_WIMPY_MODE": "1"}
        try:
            done = subprocess.run(
                [program, test, *more], capture_output=True, text=True, errors="replace", timeout=limit, env=environment
            )
        except subprocess.TimeoutExpired:
            print(f"FAIL {name} {test}: stopped after {limit:g} s", flush=True)
            continue
        try:
            results = json.loads(told.read_text())["results"]
            # The program of conversions has one verdict for all that it was asked for.
            result = results.get(test, next(iter(results.values())) if len(results) == 1 else None)
        except (OSError, ValueError):
            result = None
        text = done.stdout + done.stderr
        if result == "pass" and done.returncode == 0:
            print(f"PASS {name} {test}", flush=True)
        elif result == "skip":
            print(f"SKIP {name} {test}", flush=True)
        else:
            print(f"FAIL {name} {test}: exit code {done.returncode}: {why(text)[:200]}", flush=True)
