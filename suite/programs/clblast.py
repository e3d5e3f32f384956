"""CLBlast's correctness tests: every test program that was unpacked, one after another.

Usage: clblast.py FOLDER [OPTION...]
"""

import pathlib
import re
import subprocess
import sys

folder, options = pathlib.Path(sys.argv[1]), sys.argv[2:]
# Levels 1 and 2 whole; of the routines that take far longer, the plain ones.
for program in sorted(folder.glob("clblast_test_*")):
    name = program.name.removeprefix("clblast_test_")
    try:
        done = subprocess.run([program, *options], capture_output=True, text=True, errors="replace", timeout=900)
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
