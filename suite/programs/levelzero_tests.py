"""Runs the conformance tests of Level Zero's core and tells of each whether it passes.

Usage: levelzero_tests.py TESTS BUILT SECONDS [PROGRAM...]; TESTS is the folder of the tests' sources, BUILT that of their
programs, of which all run, or those named; a test that takes longer than SECONDS is stopped. A test that ends its
program, or is stopped, has failed, and those behind it run in a new one.
"""

import pathlib
import queue
import re
import subprocess
import sys
import tempfile
import threading
import time

RESULT = re.compile(r"^\[ +(OK|FAILED|SKIPPED) +\] (\S+?)(?:,.*)? \(\d+ ms\)")
# Of other systems, or run by other tests.
LEFT_OUT = ("helper", "vpu")
# Where a device has no engine for copies alone, they fill with a pattern of no bytes and step through memory by its size.
ENDLESS = "WithCopyOffloadHintWhenAppendMemoryFillThenVerifySuccessful"


def named(program, folder):
    """The names of a program's tests."""
    said = subprocess.run([program, "--gtest_list_tests"], cwd=folder, capture_output=True, text=True, errors="replace")
    names, suite = [], ""
    for line in said.stdout.splitlines():
        line = line.split("#")[0].rstrip()
        if line.startswith("  "):
            names.append(suite + line.strip())
        elif line.endswith("."):
            suite = line
    return names


def lines(process, seconds):
    """What a process says; it is killed if a test takes longer than so many seconds."""
    heard = queue.Queue()

    def listen():
        for line in process.stdout:
            heard.put(line)
        heard.put(None)

    threading.Thread(target=listen, daemon=True).start()
    end = time.monotonic() + seconds
    while True:
        try:
            line = heard.get(timeout=max(end - time.monotonic(), 0))
        except queue.Empty:
            process.kill()
            return
        if line is None:
            return
        if line.startswith("[ "):
            end = time.monotonic() + seconds
        yield line.rstrip("\n")


def run(program, folder, names, seconds):
    """Runs tests; gives what is known of them, and the one that ended the program, with why."""
    # More names than a command may have.
    (folder / "flags").write_text("--gtest_filter=" + ":".join(names) + "\n")
    command = [program, "--gtest_flagfile=flags"]
    pipe = subprocess.PIPE
    done = subprocess.Popen(command, cwd=folder, stdout=pipe, stderr=subprocess.DEVNULL, text=True, errors="replace")
    results, begun, said = {}, None, ""
    for line in lines(done, seconds):
        if line.startswith("[ RUN "):
            begun, said = line.split("] ")[1], ""
        elif found := RESULT.match(line):
            results[found[2]] = (found[1], said)
            begun = None
        elif not said and ("Failure" in line or "ERROR" in line):
            said = line.rsplit("/", 1)[-1]
        elif "Which is: ZE_" in line or "Skipped" in said:
            said += " " + line.strip()
    code = done.wait()
    if begun:
        why = f"stopped after {seconds:.0f} s" if code == -9 else f"exit code {code}"
        results[begun] = ("FAILED", f"{why} {said}")
    return results


def main():
    tests, built, seconds = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), float(sys.argv[3])
    programs = sorted(p for p in built.glob("conformance_tests/core/*/test_*") if p.is_file() and not p.suffix)
    core = tests / "conformance_tests" / "core"
    pictures = [p for p in (tests / "mediadata" / "internal").glob("*/*") if p.is_file()]
    for program in programs:
        if any(word in program.name for word in LEFT_OUT) or sys.argv[4:] and program.name not in sys.argv[4:]:
            continue
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            helpers = folder / program.parent.name.removeprefix("test_")
            helpers.mkdir()
            for helper in programs:
                (helpers / helper.name).symlink_to(helper)
                (folder / helper.name).symlink_to(helper)
            for file in [*core.glob("*/kernels/*.spv"), *(program.parent).glob("*.spv"), *pictures]:
                if not (folder / file.name).exists():
                    (folder / file.name).symlink_to(file)
            left = [name for name in named(program, folder) if ENDLESS not in name]
            while left:
                results = run(program, folder, left, seconds)
                for name, (what, said) in results.items():
                    line = {"OK": "PASS", "SKIPPED": "SKIP"}.get(what, "FAIL")
                    print(f"{line} {program.name}/{name}" + (f": {said.strip()}" if line != "PASS" else ""), flush=True)
                if not results:
                    print(f"FAIL {program.name}: no test of it runs", flush=True)
                    break
                left = [name for name in left if name not in results]


if __name__ == "__main__":
    main()
