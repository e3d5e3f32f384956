"""A need of a test that cannot be had is said aloud; where all are required, it fails."""

from __future__ import annotations

import os

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    if skipped and os.environ.get("ENVISA_REQUIRE_ORACLES"):
        terminalreporter.write_line(f"{len(skipped)} tests did not run, and ENVISA_REQUIRE_ORACLES wants all of them")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and reporter.stats.get("skipped") and os.environ.get("ENVISA_REQUIRE_ORACLES"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture
def slower() -> int:
    """By how much times may be longer than their limits: those hold on an idle machine (`ENVISA_IDLE=1`), and CI's is not."""
    return 1 if os.environ.get("ENVISA_IDLE") else 3
