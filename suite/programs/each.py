"""Runs commands and tells which succeed.

Usage: each.py SECONDS NAME COMMAND [NAME COMMAND...]; a COMMAND is for the shell. One that prints a line that begins
with "FAIL " has failed, whatever its exit code.
"""

import subprocess
import sys

limit = float(sys.argv[1])
for name, command in zip(sys.argv[2::2], sys.argv[3::2]):
    try:
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, errors="replace", timeout=limit)
    except subprocess.TimeoutExpired:
        print(f"FAIL {name}: stopped after {limit:g} s", flush=True)
        continue
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAIL ")]
    if done.returncode or failed:
        lines = failed or [line for line in (done.stdout + done.stderr).splitlines() if line.strip()] or [""]
        print(f"FAIL {name}: exit code {done.returncode}: {lines[-1]}", flush=True)
    else:
        print(f"PASS {name}", flush=True)
