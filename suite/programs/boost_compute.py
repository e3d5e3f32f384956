"""Boost.Compute's test programs, one after another.

Usage: boost_compute.py FOLDER SECONDS
"""

import pathlib
import subprocess
import sys

folder, limit = pathlib.Path(sys.argv[1]), float(sys.argv[2])
for program in sorted(folder.glob("test_*")):
    name = program.name.removeprefix("test_")
    try:
        done = subprocess.run([program], capture_output=True, text=True, errors="replace", timeout=limit)
    except subprocess.TimeoutExpired:
        print(f"FAIL {name}: stopped after {limit:g} s", flush=True)
        continue
    lines = [l for l in (done.stdout + done.stderr).splitlines() if "error: in" in l]
    if done.returncode:
        print(f"FAIL {name}: exit code {done.returncode} {lines[0] if lines else ''}", flush=True)
    else:
        print(f"PASS {name}", flush=True)
