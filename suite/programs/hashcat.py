"""hashcat: for each kind of hash its self-test, and the password that a known hash is of: one by trying all words of three
letters, or the kind's own example out of a list of words.

Usage: hashcat.py PROGRAM SECONDS [KIND...]; SECONDS is the limit of each kind; without kinds, all.
"""

import hashlib
import json
import pathlib
import re
import subprocess
import sys

program, limit, wanted = sys.argv[1], float(sys.argv[2]), [int(kind) for kind in sys.argv[3:]]
PASSWORD = b"dad"

# The hash by another program.
TRIED = [
    (0, hashlib.md5(PASSWORD).hexdigest()),
    (100, hashlib.sha1(PASSWORD).hexdigest()),
    (1400, hashlib.sha256(PASSWORD).hexdigest()),
    (1700, hashlib.sha512(PASSWORD).hexdigest()),
    (17400, hashlib.sha3_256(PASSWORD).hexdigest()),
    (600, "$BLAKE2$" + hashlib.blake2b(PASSWORD).hexdigest()),
]
LISTED = [900, 1000, 3000, 300, 5100, 11500, 6000, 11700, 1500, 15400, 500]


def attack(name, mode, known, password, words):
    command = [
        program, "-m", str(mode), "--potfile-disable", "-w", "1", "-n", "1", "--force", "-D", "1,2", "--restore-disable",
        "--session", f"envisa{mode}", known, *words,
    ]  # fmt: skip
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=limit)
    except subprocess.TimeoutExpired:
        print(f"FAIL {name}: stopped after {limit:g} s", flush=True)
        return
    text = done.stdout + done.stderr
    found = any(line.lower().endswith(f":{password.lower()}") for line in text.splitlines())
    failed = re.search(r"self-test: failed|self-test failed", text, re.I)
    if done.returncode == 0 and found and not failed:
        print(f"PASS {name}", flush=True)
    else:
        said = [line for line in text.splitlines() if re.search(r"fail|error|Invalid|not |exhausted", line, re.I)]
        print(f"FAIL {name}: exit code {done.returncode}: {said[0] if said else ''}", flush=True)


def info(mode):
    done = subprocess.run(
        [program, "-m", str(mode), "--hash-info", "--machine-readable"], capture_output=True, text=True, timeout=60
    )
    return json.loads(done.stdout[done.stdout.index("{") :])[str(mode)]


for mode, known in TRIED:
    if wanted and mode not in wanted:
        continue
    attack(f"{info(mode)['name']} tried", mode, known, PASSWORD.decode(), ["-a", "3", "-O", "?l?l?l"])
for mode in LISTED:
    if wanted and mode not in wanted:
        continue
    about = info(mode)
    words = [f"word{i:04}-{i * i}" for i in range(100)]
    words.insert(60, about["example_pass"])
    pathlib.Path("words.txt").write_text("\n".join(words) + "\n")
    known = about["example_hash"]
    if about["example_hash_format"] == "hex-encoded":
        # Line by line in a file.
        pathlib.Path("known.txt").write_text(known + "\n")
        known = "known.txt"
    attack(f"{about['name']} listed", mode, known, about["example_pass"], ["-a", "0", str(pathlib.Path("words.txt").resolve())])
