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

from ._arguments import Argument, Image, Local, Sampler
from ._device import DEVICES, Device, Kernel, Launcher, Module
from ._envisa import ArgumentError, BuildError, Error, Unsupported, __version__
from ._reports import DroppedAccess, Fault, Finding, Line, Outcome, Profile
from ._tools import Diagnostic, Diagnostics, assemble, disassemble, verify

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
    "Image",
    "Kernel",
    "Launcher",
    "Line",
    "Local",
    "Module",
    "Outcome",
    "Profile",
    "Sampler",
    "Unsupported",
    "__version__",
    "assemble",
    "disassemble",
    "verify",
]
