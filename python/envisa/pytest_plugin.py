"""``pytest --envisa[=dg2,pvc] [--envisa-check]``: run existing OpenCL or SYCL tests on virtual Intel GPUs.

The plugin starts the whole test run again under ``envisa exec``, once for each device, so that the OpenCL loader sees only envisa's
devices. With ``--envisa-check``, it reports the driver's findings for each test, and a test with findings fails.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from typing import Any, Generator

import pytest

from ._command import command
from ._envisa import Error

_INSIDE = "ENVISA_PYTEST_DEVICE"
"""The device that this process runs tests on; not set in the process that the user started."""

_STATUS = "ENVISA_PYTEST_STATUS"
"""The file that the tests' own exit code is left in: `envisa exec` has one of its own."""

_REPORT = "ENVISA_REPORT"
"""The file that the driver adds a line to for each thing it finds; `envisa exec` sets it."""

_FOUND = ("finding", "fault", "mistake")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("envisa", "OpenCL and SYCL on virtual Intel GPUs")
    group.addoption(
        "--envisa",
        nargs="?",
        const="dg2",
        metavar="DEVICES",
        help="run the tests on envisa's OpenCL devices: dg2 (default), pvc, skl, tgllp; several with commas",
    )
    group.addoption(
        "--envisa-check",
        action="store_true",
        help="look for races, accesses out of bounds and uses of what nothing wrote; a test with findings fails",
    )
    group.addoption(
        "--envisa-baseline",
        metavar="FILE",
        help="findings that are known: one code and place a line, as they are printed; they fail no test",
    )


def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Starts the run again under the driver, device by device; the worst exit code is the run's."""
    devices = config.getoption("--envisa")
    if not devices or os.environ.get(_INSIDE):
        return None
    program = _command()
    worst = 0
    junit = config.getoption("xmlpath", None)
    with tempfile.TemporaryDirectory(prefix="envisa-pytest-") as folder:
        reports = {device: pathlib.Path(folder, f"{device}.xml") for device in devices.split(",")}
        for device, report in reports.items():
            print(f"envisa: tests on {device}", flush=True)
            status = pathlib.Path(folder, device)
            call = [program, "exec", "--device", device]
            call += ["--check"] if config.getoption("--envisa-check") else []
            call += ["--", sys.executable, "-m", "pytest", *config.invocation_params.args]
            call += ["--junitxml", str(report)] if junit else []
            # What exec prints at the end, each test has told.
            code = subprocess.call(call, env={**os.environ, _INSIDE: device, _STATUS: str(status)})
            worst = max(worst, int(status.read_text()) if status.exists() else code)
        if junit:
            _merge(reports, pathlib.Path(os.path.expandvars(junit)).expanduser())
    return worst


def _merge(reports: dict[str, pathlib.Path], path: pathlib.Path) -> None:
    """One JUnit file of the runs on all devices: each has suites of its own, which say the device in their names."""
    root = xml.etree.ElementTree.Element("testsuites", name="pytest tests")
    for device, report in reports.items():
        for suite in xml.etree.ElementTree.parse(report).iter("testsuite") if report.exists() else ():
            suite.set("name", f"{suite.get('name')} on {device}")
            root.append(suite)
    path.parent.mkdir(parents=True, exist_ok=True)
    xml.etree.ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    status = os.environ.get(_STATUS)
    if status:
        pathlib.Path(status).write_text(str(int(session.exitstatus)))


def _command() -> str:
    try:
        return command()
    except Error as e:
        raise pytest.UsageError(f"--envisa: {e}") from None


def pytest_report_header(config: pytest.Config) -> str | None:
    device = os.environ.get(_INSIDE)
    checks = ", with checks" if config.getoption("--envisa-check") else ""
    return f"envisa: OpenCL device {device}{checks}" if device else None


def pytest_configure(config: pytest.Config) -> None:
    report = os.environ.get(_REPORT)
    if os.environ.get(_INSIDE) and report and config.getoption("--envisa-check"):
        config.pluginmanager.register(_Checks(report, config.getoption("--envisa-baseline")), "envisa-checks")


def read_baseline(path: str | None) -> set[str]:
    """The keys that a baseline lists: one a line; empty lines and those that start with ``#`` say nothing."""
    if path is None:
        return set()
    lines = pathlib.Path(path).read_text().splitlines()
    return {line.strip() for line in lines if line.strip() and not line.startswith("#")}


class _Checks:
    """Tells each test what the driver found while it ran. What several tests show fails the first of them."""

    def __init__(self, report: str, baseline: str | None) -> None:
        self._path = pathlib.Path(report)
        self._read = 0
        self._known = read_baseline(baseline)

    def new(self) -> list[dict[str, Any]]:
        """What was added since it was asked last, without what the baseline lists."""
        if not self._path.exists():
            return []
        with self._path.open("rb") as file:
            file.seek(self._read)
            content = file.read()
        whole = content[: content.rfind(b"\n") + 1]
        self._read += len(whole)
        records = [json.loads(line) for line in whole.splitlines()]
        return [r for r in records if r["kind"] in _FOUND and r["key"] not in self._known]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        for record in self.new():
            text = f"{record['text'].rstrip()}\n\nbaseline: {record['key']}"
            report.sections.append(("envisa", text))
            report.user_properties.append(("envisa", record["key"]))
            if os.environ.get("GITHUB_ACTIONS"):
                path, line, _ = item.location
                first = record["text"].strip().splitlines()[0]
                print(f"\n::error file={path},line={(line or 0) + 1},title=envisa::{first}")
            if report.outcome != "failed":
                report.outcome = "failed"
                report.longrepr = text
        return report
