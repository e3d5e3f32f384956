"""Whether dpnp's tests get the same bytes back through both of the driver's interfaces: they run through OpenCL, and
through Level Zero with each of the SYCL runtime's adapters. What differs between two runs through OpenCL is left out.

Usage: doors.py TESTS...
"""

import json
import os
import pathlib
import subprocess
import sys

DOOR, ADAPTER = "ONEAPI_DEVICE_SELECTOR", "UR_LOADER_USE_LEVEL_ZERO_V2"
RUNS = {
    "OpenCL": {DOOR: "opencl:gpu"},
    "OpenCL again": {DOOR: "opencl:gpu"},
    "Level Zero": {DOOR: "level_zero:gpu", ADAPTER: "0"},
    "Level Zero, second adapter": {DOOR: "level_zero:gpu", ADAPTER: "1"},
}


def file_of(name):
    return pathlib.Path(f"{name}.json".replace(",", "").replace(" ", "-")).absolute()


def results(name, door):
    """Of each test what became of it and what it got back: of a portion, which is the same in all runs."""
    file, first = file_of(name), file_of("OpenCL")
    file.unlink(missing_ok=True)
    which = {"ENVISA_DIGESTS": str(file)} if file == first else {"ENVISA_DIGESTS": str(file), "ENVISA_DIGESTS_LIKE": str(first)}
    plugins = ["-p", "no:cacheprovider", "-p", "digests", *(["-p", "portion"] if file == first else [])]
    command = [sys.executable, "-m", "pytest", "-q", *plugins, *sys.argv[1:]]
    with open(file.with_suffix(".out"), "w") as out:
        subprocess.run(command, env={**os.environ, **door, **which}, stdout=out, stderr=out)
    return json.loads(file.read_text()) if file.is_file() else {}


def told(of, test):
    """What a test came to, in short."""
    outcome = of.get(test, ["did not run"])
    return f"{outcome[0]}, {len(outcome) - 1} arrays"


found = {name: results(name, door) for name, door in RUNS.items()}
first = found["OpenCL"]
for name in RUNS:
    if not found[name]:
        print(f"FAIL {name}: no test ran", flush=True)
for test in sorted(first):
    if found["OpenCL again"].get(test) != first[test]:
        print(f"SKIP {test}: it gets other bytes each time")
    elif first[test][0] == "skipped":
        print(f"SKIP {test}: it leaves itself out")
    elif other := [name for name in found if found[name].get(test) != first[test]]:
        here = "; ".join(f"{name}: {told(found[name], test)}" for name in other)
        print(f"FAIL {test}: other bytes than through OpenCL ({told(first, test)}): {here}")
    else:
        print(f"PASS {test}")
