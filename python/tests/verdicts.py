#!/usr/bin/env python3
"""Runs existing tests with the pytest plugin and without it, on the same device, and compares the verdict of every test.

    python/tests/verdicts.py --device pvc [PYTEST ARGUMENT ...]

Without the plugin, the tests run under `envisa exec`. The package must be installed in the environment of the interpreter.
The exit code is 1 if verdicts differ.
"""

from __future__ import annotations

import argparse
import collections
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from envisa._command import command


def verdicts(path: pathlib.Path) -> dict[str, str]:
    """`passed`, `failed`, `error` or `skipped` of each test in a JUnit file, by the test's name."""
    names = {"failure": "failed", "error": "error", "skipped": "skipped"}
    found: dict[str, str] = {}
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        marks = [names[child.tag] for child in case if child.tag in names]
        name = f"{case.get('classname')}::{case.get('name')}"
        found[name] = marks[-1] if marks else "passed"
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="dg2")
    given, arguments = parser.parse_known_args()
    pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    with tempfile.TemporaryDirectory() as folder:
        plugin, plain = pathlib.Path(folder, "plugin.xml"), pathlib.Path(folder, "plain.xml")
        subprocess.call([*pytest, f"--envisa={given.device}", "--junitxml", str(plugin)])
        subprocess.call([command(), "exec", "--device", given.device, "--", *pytest, "--junitxml", str(plain)])
        one, other = verdicts(plugin), verdicts(plain)
    differ = [name for name in sorted({*one, *other}) if one.get(name) != other.get(name)]
    counts = ", ".join(f"{n} {verdict}" for verdict, n in sorted(collections.Counter(one.values()).items()))
    print(f"{len(one)} tests with the plugin ({counts}), {len(other)} without it; {len(differ)} verdicts differ")
    for name in differ:
        print(f"{name}: {one.get(name)} with the plugin, {other.get(name)} without it")
    return 1 if differ or not one else 0


if __name__ == "__main__":
    sys.exit(main())
