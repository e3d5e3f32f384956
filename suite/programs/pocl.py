"""PoCL's own tests, as its CMake files list them: each command once, for those that differ in PoCL's settings alone are
the same test elsewhere.

Usage: pocl.py SOURCES BUILT SECONDS [NAME...]; without NAMEs all. SECONDS is each test's limit.
"""

import fnmatch
import pathlib
import re
import subprocess
import sys

sources, built, limit = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), float(sys.argv[3])
wanted = sys.argv[4:]
# Of PoCL's own library; and conversions of vectors of 4 and more, which take an hour by what the list of tests says.
OTHERS = r"test_dlopen|test_version|test_convert_type_(4|8|16)"
# What the list wants to be printed, of tests that have no file with it.
PRINTED = {
    "clCreateKernelsInProgram": r"Hello\nWorld",
    "clFinish": r"ABABC|A\nB\nA\nB\nC\n",
    "test_kernel_cache_includes": r"(?s)function 1.*first include.*function 2.*second include",
    "test_sampler_address_clamp": r"\nOK\n",
    "test_image_query_funcs": r"(?s)read imag1: 2,9,11,7\nread imag2: 2,9,11,7\n.*OK\n",
}


def words(text):
    return [word.strip('"') for word in re.findall(r'"[^"]*"|[^\s"]+', text)]


def run(part, name, command, expected, folder):
    try:
        done = subprocess.run(
            [built / "tests" / part / command[0], *command[1:]], cwd=folder, capture_output=True, text=True, errors="replace", timeout=limit
        )
    except subprocess.TimeoutExpired:
        return f"FAIL {part}/{name}: stopped after {limit:g} s"
    text = done.stdout + done.stderr
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    wrong = [line for line in lines if re.search(r"error|fail|assert|mismatch|expected", line, re.I)]
    why = re.sub(r"/\S*/", "", (wrong or lines or ["nothing is printed"])[0])[:200]
    if done.returncode == 77:
        return f"SKIP {part}/{name}"
    if done.returncode:
        return f"FAIL {part}/{name}: exit code {done.returncode}: {why}"
    if expected:
        pairs = zip(expected.read_text().splitlines() + ["the end"], done.stdout.splitlines() + ["the end"])
        differ = next((pair for pair in pairs if pair[0] != pair[1]), None)
        if differ:
            return f"FAIL {part}/{name}: prints `{differ[1][:80]}`, where `{differ[0][:80]}` is expected"
    elif command[0] == "kernel" and (not re.search(r"OK\n", text) or "FAIL" in text):
        return f"FAIL {part}/{name}: {why}"
    if name in PRINTED and not re.search(PRINTED[name], text):
        return f"FAIL {part}/{name}: what it prints is not what is expected: {why}"
    return f"PASS {part}/{name}"


for part in ("runtime", "kernel", "regression"):
    listed = (sources / "tests" / part / "CMakeLists.txt").read_text()
    listed = re.sub(r"#.*", "", listed)
    seen = set()
    for body in re.findall(r"\badd_test(?:_pocl)?\s*\(([^)]*)\)", listed):
        keys = {"NAME": [], "COMMAND": [], "EXPECTED_OUTPUT": [], "WORKING_DIRECTORY": []}
        key = None
        for word in words(body):
            if word in keys:
                key = word
            elif key:
                keys[key].append(word)
        name, command = keys["NAME"][0].rpartition("/")[2], keys["COMMAND"]
        if re.fullmatch(OTHERS, name) or re.fullmatch(OTHERS, command[0]) or tuple(command) in seen:
            continue
        if wanted and not any(fnmatch.fnmatch(name, pattern) for pattern in wanted):
            continue
        seen.add(tuple(command))
        expected = keys["EXPECTED_OUTPUT"] and sources / "tests" / part / keys["EXPECTED_OUTPUT"][0]
        place = "".join(keys["WORKING_DIRECTORY"])
        folder = sources / "tests" / part if "SOURCE_DIR" in place else built / "tests" / part
        print(run(part, name, command, expected, folder), flush=True)
