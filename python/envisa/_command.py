"""Where the command `envisa` is."""

from __future__ import annotations

import pathlib
import shutil
import sys

from ._envisa import Error


def command() -> str:
    """The command that was installed with this package, or the one on ``PATH``."""
    beside = pathlib.Path(sys.executable).with_name("envisa")
    found = str(beside) if beside.exists() else shutil.which("envisa")
    if found is None:
        raise Error("the command `envisa` is needed, and it is not on PATH")
    return found
