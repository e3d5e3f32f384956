"""How long Python takes to start, make a SYCL queue, and copy to the device and back: through Level Zero and OpenCL, in turns.

Usage: cold_start.py TIMES MOST; fails if the middle of the ratios is above MOST.
"""

import os
import statistics
import subprocess
import sys
import time

DOES = """
import dpctl
from dpctl.memory import MemoryUSMDevice
memory = MemoryUSMDevice(4096, queue=dpctl.SyclQueue())
memory.copy_from_host(bytes(range(256)) * 16)
assert bytes(memory.copy_to_host()) == bytes(range(256)) * 16
"""


def seconds(door):
    start = time.monotonic()
    subprocess.run([sys.executable, "-c", DOES], env={**os.environ, "ONEAPI_DEVICE_SELECTOR": door}, check=True)
    return time.monotonic() - start


DOORS = ["level_zero:gpu", "opencl:gpu"]
# The first of each fills caches.
first = [seconds(door) for door in DOORS]
times = [[seconds(door) for door in DOORS] for _ in range(int(sys.argv[1]))]
ratio = statistics.median(level_zero / opencl for level_zero, opencl in times)
middle = [statistics.median(of_door) for of_door in zip(*times)]
told = ", ".join(f"{door} {here:.2f} s (at first {then:.2f} s)" for door, here, then in zip(DOORS, middle, first))
print(f"{'PASS' if ratio <= float(sys.argv[2]) else 'FAIL'} start: {told}, ratio {ratio:.2f}")
