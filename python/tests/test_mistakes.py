"""Arrays that are not arrays, strange layouts, devices that are gone: exceptions that name the argument, and right results."""

from __future__ import annotations

import gc
import importlib
import inspect
import mmap
import subprocess
import sys
import threading
from typing import Any

import envisa
import numpy as np
import pytest

SOURCE = """
kernel void scale(global float* x, float by, int n) {
    int i = get_global_id(0);
    if (i < n) x[i] *= by;
}
kernel void sum(global const float* a, global float* out, int n) {
    int i = get_global_id(0);
    if (i < n) out[i] += a[i];
}"""


@pytest.fixture(scope="module")
def module() -> envisa.Module:
    return envisa.Device("dg2").build(SOURCE)


class Says:
    """An object whose memory is where it says."""

    def __init__(self, address: int, n: int = 8, **more: Any) -> None:
        self.__array_interface__ = {"version": 3, "shape": (n,), "typestr": "<f4", "data": (address, False), **more}


class OnlyDLPack:
    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **how: Any) -> Any:
        return self.array.__dlpack__(**how)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def released() -> memoryview:
    view = memoryview(bytearray(32))
    view.release()
    return view


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (Says(0x10), "has none"),
        (Says(2**63), "has none"),
        (Says(0x7FFF_0000_0000_0000), "has none"),
        (Says(0, shape="eight"), "describes no array"),
        (Says(0x1000, typestr="?!"), "describes no array"),
        (released(), "give an array, not memoryview"),
        (OnlyDLPack(3), "DLPack"),
        (np.zeros(8, "U4"), "<U4"),
        (np.zeros(8, "M8[s]"), "datetime64"),
        (np.float32(1), "give an array, not float32"),
        ("text", "give an array, not str"),
        (1.0, "give an array, not float"),
    ],
    ids=lambda g: type(g).__name__ if not isinstance(g, str) else g[:8],
)
def test_what_is_no_array_is_named(module: envisa.Module, given: Any, said: str) -> None:
    with pytest.raises(envisa.ArgumentError) as caught:
        module["scale"][8, 8](given, 2.0, 0)
    assert "`x`" in str(caught.value) and said in str(caught.value)


def test_a_range_that_ends_behind_its_memory_is_refused(module: envisa.Module) -> None:
    area = mmap.mmap(-1, mmap.PAGESIZE)
    start = np.frombuffer(area, "f4").__array_interface__["data"][0]
    module["scale"][8, 8](Says(start, mmap.PAGESIZE // 4), 2.0, 8)
    with pytest.raises(envisa.ArgumentError, match="`x`"):
        module["scale"][8, 8](Says(start, 1 << 40), 2.0, 8)


def test_dlpack_and_strange_layouts(module: envisa.Module) -> None:
    x = np.ones(8, "f4")
    module["scale"][8, 8](OnlyDLPack(x), 2.0, 8)
    assert (x == 2).all()
    for layout in (np.ones((4, 2), "f4", order="F"), np.ones(16, "f4")[::2], np.ones(8, "f4")[::-1]):
        module["scale"][8, 8](layout, 3.0, 4)
        flat = np.ascontiguousarray(layout).reshape(-1)
        assert flat.tolist() == [3.0] * 4 + [1.0] * 4
    module["scale"][8, 8](np.zeros(0, "f4"), 2.0, 0)
    module["sum"][8, 8](x, x, 8)  # Twice the same array.
    assert (x == 4).all()


def test_devices_modules_and_arrays_that_are_gone(module: envisa.Module) -> None:
    device = envisa.Device("dg2")
    launcher = device.build(SOURCE)["scale"][8, 8]
    x = np.ones(8, "f4")
    view = x[:]
    del device, x
    gc.collect()
    launcher(view, 2.0, 8)
    assert (view == 2).all()


def test_an_array_that_another_thread_drops_lives_until_the_end(module: envisa.Module) -> None:
    held: list[Any] = [np.ones(1 << 16, "f4")]

    def drop() -> None:
        held.clear()
        gc.collect()

    timer = threading.Timer(0.001, drop)
    timer.start()
    array = held[0]
    module["scale"][1 << 16, 64](array, 2.0, 1 << 16)
    timer.join()
    assert (array == 2).all()


def test_eight_threads_on_one_device_and_on_several() -> None:
    devices = [envisa.Device(name) for name in ("dg2", "pvc", "skl", "tgllp")]
    modules = [d.build(SOURCE) for d in devices]
    for choice in ([modules[0]] * 8, modules * 2):
        results = [np.ones(256, "f4") for _ in range(8)]
        failed: list[BaseException] = []

        def work(i: int) -> None:
            try:
                for _ in range(100):
                    choice[i]["sum"][256, 32](np.full(256, i, "f4"), results[i], 256)
            except BaseException as e:
                failed.append(e)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert not failed and all((results[i] == 1 + 100 * i).all() for i in range(8))


def test_names_are_where_the_package_says() -> None:
    """What is imported when it is asked for is there, and listed."""
    program = "import envisa; print([getattr(envisa, n) for n in envisa.__all__] and sorted(envisa.__all__) == [n for n in dir(envisa) if n in envisa.__all__])"
    assert subprocess.check_output([sys.executable, "-c", program], text=True).strip() == "True"
    program = "import envisa; print(envisa.campaign.kernels.__module__, envisa.testing.same.__module__)"
    assert subprocess.check_output([sys.executable, "-c", program], text=True).split() == ["envisa.campaign", "envisa.testing"]
    with pytest.raises(AttributeError, match="nothing"):
        envisa.nothing  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["envisa", "envisa.campaign", "envisa.testing"])
def test_everything_public_has_a_docstring(name: str) -> None:
    module = importlib.import_module(name)
    public = [getattr(module, n) for n in getattr(module, "__all__", [n for n in vars(module) if n[0] != "_"])]
    own = [o for o in public if getattr(o, "__module__", "").startswith("envisa") and callable(o)]
    members = [(o, n, m) for o in own if inspect.isclass(o) for n, m in vars(o).items() if n[0] != "_"]
    missing = [o.__qualname__ for o in own if not inspect.getdoc(o)]
    missing += [f"{o.__qualname__}.{n}" for o, n, m in members if callable(m) or isinstance(m, property) if not m.__doc__]
    assert own and not missing
