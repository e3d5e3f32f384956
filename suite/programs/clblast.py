"""CLBlast's correctness tests, one routine after another.

Usage: clblast.py FOLDER ROUTINE...; without routines, all that were unpacked.
"""

import pathlib
import re
import subprocess
import sys

folder, wanted = pathlib.Path(sys.argv[1]), sys.argv[2:]
for program in sorted(folder.glob("clblast_test_*")):
    name = program.name.removeprefix("clblast_test_")
    if wanted and name not in wanted:
        continue
    try:
        done = subprocess.run([program], capture_output=True, text=True, errors="replace", timeout=900)
    except subprocess.TimeoutExpired:
        print(f"FAIL {name}: stopped after 900 s", flush=True)
        continue
    count = {
        word: sum(int(n) for n in re.findall(rf"(\d+) test\(s\) {word}", done.stdout))
        for word in ("passed", "skipped", "failed")
    }
    told = ", ".join(f"{n} {word}" for word, n in count.items())
    if count["failed"] or done.returncode:
        lines = done.stderr.strip().splitlines()
        print(f"FAIL {name}: {told}; exit code {done.returncode} {lines[-1] if lines else ''}", flush=True)
    elif count["passed"]:
        print(f"PASS {name}: {told}", flush=True)
    else:
        print(f"SKIP {name}: {told}", flush=True)
