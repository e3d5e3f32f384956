"""hashcat: for each kind of hash its self-test, and the password that a known hash is of.

Usage: hashcat.py PROGRAM
"""

import hashlib
import re
import subprocess
import sys

PASSWORD = b"dad"


KINDS = [
    (0, "MD5", hashlib.md5(PASSWORD).hexdigest()),
    (100, "SHA1", hashlib.sha1(PASSWORD).hexdigest()),
    (1400, "SHA2-256", hashlib.sha256(PASSWORD).hexdigest()),
    (1700, "SHA2-512", hashlib.sha512(PASSWORD).hexdigest()),
    (17400, "SHA3-256", hashlib.sha3_256(PASSWORD).hexdigest()),
    (600, "BLAKE2b-512", "$BLAKE2$" + hashlib.blake2b(PASSWORD).hexdigest()),
]

for mode, name, known in KINDS:
    command = [
        sys.argv[1], "-m", str(mode), "-a", "3", "--potfile-disable", "-w", "1", "--force", "-D", "1,2", "-O",
        "--restore-disable", "--session", f"envisa{mode}", known, "?l?l?l",
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=450)
    except subprocess.TimeoutExpired:
        print(f"FAIL {name}: stopped after 450 s", flush=True)
        continue
    text = done.stdout + done.stderr
    if done.returncode == 0 and f"{known}:{PASSWORD.decode()}" in text and "Self-test: failed" not in text:
        print(f"PASS {name}", flush=True)
    else:
        said = [line for line in text.splitlines() if re.search(r"fail|error|Invalid|not ", line, re.I)]
        print(f"FAIL {name}: exit code {done.returncode}: {said[-1] if said else ''}", flush=True)
