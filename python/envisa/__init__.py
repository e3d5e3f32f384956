"""Run Intel GPU kernels on NumPy arrays, on a machine without an Intel GPU.

>>> import envisa, numpy as np
>>> device = envisa.Device("dg2")
>>> module = device.build('''
... kernel void twice(global const float* a, global float* out, int n) {
...     int i = get_global_id(0);
...     if (i < n) out[i] = 2 * a[i];
... }''')
>>> a, out = np.arange(8, dtype="f4"), np.zeros(8, "f4")
>>> module["twice"][8, 8](a, out, 8)
<Outcome of 8 work-items in ...>
>>> out[3]
6.0
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._envisa import ArgumentError, BuildError, Error, Unsupported, __version__

if TYPE_CHECKING:
    from . import campaign as campaign
    from . import testing as testing
    from ._arguments import Argument, Image, Local, Sampler, values
    from ._device import DEVICES, Device, Kernel, Launcher, Module
    from ._function import Function
    from ._reports import DroppedAccess, Fault, Finding, Line, Outcome, Profile
    from ._sweep import Run, sweep
    from ._tools import Diagnostic, Diagnostics, assemble, disassemble, explain, verify
    from ._work import Point, Record, reproduce

__all__ = [
    "DEVICES",
    "Argument",
    "ArgumentError",
    "BuildError",
    "Device",
    "Diagnostic",
    "Diagnostics",
    "DroppedAccess",
    "Error",
    "Fault",
    "Finding",
    "Function",
    "Image",
    "Kernel",
    "Launcher",
    "Line",
    "Local",
    "Module",
    "Outcome",
    "Point",
    "Profile",
    "Record",
    "Run",
    "Sampler",
    "Unsupported",
    "__version__",
    "assemble",
    "disassemble",
    "explain",
    "reproduce",
    "sweep",
    "values",
    "verify",
]

# These are imported when they are first asked for: with NumPy they take longer than everything else.
_PLACES = {
    "_arguments": ("Argument", "Image", "Local", "Sampler", "values"),
    "_device": ("DEVICES", "Device", "Kernel", "Launcher", "Module"),
    "_function": ("Function",),
    "_reports": ("DroppedAccess", "Fault", "Finding", "Line", "Outcome", "Profile"),
    "_sweep": ("Run", "sweep"),
    "_tools": ("Diagnostic", "Diagnostics", "assemble", "disassemble", "explain", "verify"),
    "_work": ("Point", "Record", "reproduce"),
}
_MODULES = {name: module for module, names in _PLACES.items() for name in names}
_SUBMODULES = ("campaign", "testing")


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return importlib.import_module(f".{name}", __name__)
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f".{_MODULES[name]}", __name__)
    globals()[name] = value = getattr(module, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
