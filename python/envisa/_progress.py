"""How far a launch is, on standard error, while it runs."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from typing import Iterator

from . import _envisa

_OWN = threading.local()
"""One counter for each thread that asks: the native half keeps each for as long as the process lives."""

AFTER = 0.5
"""Seconds before the first line: short launches show nothing."""


@contextlib.contextmanager
def shown(kernel: str) -> Iterator[_envisa.Progress]:
    """Shows the groups that were begun, once a launch has taken :data:`AFTER` seconds."""
    groups: _envisa.Progress = getattr(_OWN, "groups", None) or _envisa.Progress()
    _OWN.groups = groups
    over = threading.Event()
    watcher = threading.Thread(target=_watch, args=(kernel, groups, over), daemon=True)
    watcher.start()
    try:
        yield groups
    finally:
        over.set()
        watcher.join()


def _watch(kernel: str, groups: _envisa.Progress, over: threading.Event) -> None:
    started = time.monotonic()
    shown_any = False
    while not over.wait(AFTER if not shown_any else 0.2):
        begun, total = groups.groups()
        part = begun / total if total else 0.0
        line = f"\r{kernel}: {begun} of {total} groups ({part:.0%}), {time.monotonic() - started:.0f} s"
        sys.stderr.write(line)
        sys.stderr.flush()
        shown_any = True
    if shown_any:
        sys.stderr.write("\n")
