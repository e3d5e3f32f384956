"""Devices, modules and kernels."""

from __future__ import annotations

import os
import pathlib
import sys
import threading
from typing import TYPE_CHECKING, Any, Iterator, Sequence

import numpy as np

from . import _envisa, _progress
from ._arguments import Argument, Bound, Given, assign
from ._envisa import Error
from ._reports import Fault, Outcome, Shape

if TYPE_CHECKING:
    from ._function import Function

Size = int | Sequence[int]
"""Work-items in one to three dimensions: ``1024``, ``(64, 32)``."""

DEVICES = ("dg2", "pvc", "skl", "tgllp")
"""The devices for which kernels can be compiled."""


class Device:
    """A virtual Intel GPU.

    ``name`` is the compiler's name of the device (``dg2``, ``pvc``, ``skl``, ``tgllp``), or a platform's name
    (``XeHP_SDV``) for hand-written vISA. ``memory`` is in bytes (8 GiB by default), ``threads`` is the number of
    host threads (0: all). ``engine`` is ``auto``, ``jit``, ``interp``, or ``unoptimized``, which interprets kernels
    without the optimiser: results do not depend on it.

    Several Python threads can run launches at the same time.
    """

    def __init__(
        self, name: str = "dg2", *, memory: int | None = None, threads: int = 0, engine: str = "auto"
    ) -> None:
        self._settings = (name, memory, threads, engine)
        self._native = _envisa.Device(name, memory, threads, engine, False)

    @property
    def name(self) -> str:
        """The compiler's name of the device."""
        return self._native.name

    @property
    def platform(self) -> str:
        """The platform of the device."""
        return self._native.platform

    @property
    def memory_used(self) -> int:
        """Bytes in use by buffers and modules."""
        return self._native.memory_used

    @property
    def caps(self) -> dict[str, Any]:
        """The capabilities of the device; sizes are in bytes."""
        return self._native.caps()

    def build(
        self, source: str | bytes, options: str = "", *, name: str = "kernel.cl", compiler: str | None = None
    ) -> Module:
        """Compiles OpenCL C (``str``) or SPIR-V (``bytes``) for this device, or loads vISA text.

        ``options`` are as for ``clBuildProgram``; ``compiler`` is the path of another ``ocloc``. Compiled modules
        are cached, together with those of the command and the driver. Reports use ``name`` for the source.

        Raises :class:`BuildError` with the compiler's messages.
        """
        if isinstance(source, str) and ".version" in source[:4096]:
            return Module(self, name, source.encode(), [], _Origin(source, options, name, compiler))
        content = source.encode() if isinstance(source, str) else bytes(source)
        suffix = ".spv" if isinstance(source, bytes) else ".cl"
        file = name if name.endswith(suffix) else name + suffix
        zebin, _ = _envisa.compile(content, file, self.name, options, compiler)
        sources = [(name, content)] if suffix == ".cl" else []
        return Module(self, name, zebin, sources, _Origin(source, options, name, compiler))

    def __reduce__(self) -> tuple[Any, ...]:
        return (_device, self._settings)

    def __repr__(self) -> str:
        return f"Device({self.name!r})"


def _device(name: str, memory: int | None, threads: int, engine: str) -> Device:
    return Device(name, memory=memory, threads=threads, engine=engine)


class _Origin:
    """What a module was built from: enough to build it again in another process."""

    def __init__(self, source: str | bytes, options: str, name: str, compiler: str | None) -> None:
        self.source, self.options, self.name, self.compiler = source, options, name, compiler

    def build(self, device: Device) -> Module:
        return device.build(self.source, self.options, name=self.name, compiler=self.compiler)


class Module:
    """Kernels on a device: ``module["vadd"]`` is one of them; iteration gives their names."""

    def __init__(
        self,
        device: Device,
        name: str,
        content: bytes,
        sources: list[tuple[str, bytes]],
        origin: _Origin | None = None,
        *,
        verify: bool = True,
    ) -> None:
        self.device = device
        self.name = name
        self.content = content
        """The zebin, CISA binary or vISA text."""
        self._sources = sources
        self._origin = origin
        self._native = device._native.load(name, content, sources, verify)
        self._kernels: dict[str, Kernel] = {}

    @staticmethod
    def load(path: str | os.PathLike[str], device: Device | str | None = None) -> Module:
        """Loads a zebin, a CISA binary or vISA text from a file.

        ``device`` can be left out for zebins, which contain the name of their device.
        """
        content = pathlib.Path(path).read_bytes()
        if device is None:
            device = _device_of(content, os.fspath(path))
        on = Device(device) if isinstance(device, str) else device
        return Module(on, os.fspath(path), content, [])

    @property
    def warnings(self) -> list[str]:
        """Messages about metadata that is unknown or damaged, and therefore ignored."""
        return self._native.warnings

    def __getitem__(self, name: str) -> Kernel:
        if name not in self._kernels:
            if name not in self._native.kernels:
                raise KeyError(f"there is no kernel `{name}`; the module has {', '.join(self)}")
            self._kernels[name] = Kernel(self, self._native.kernel(name))
        return self._kernels[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._native.kernels)

    def __len__(self) -> int:
        return len(self._native.kernels)

    def __contains__(self, name: object) -> bool:
        return name in self._native.kernels

    def __reduce__(self) -> tuple[Any, ...]:
        if self._origin is not None:
            return (_built, (self.device, self._origin))
        return (Module, (self.device, self.name, self.content, self._sources))

    def __repr__(self) -> str:
        return f"<Module {self.name!r} on {self.device.name}: {', '.join(self)}>"


# What a worker process built before: by device, source, options and compiler.
_BUILT: dict[tuple[Any, ...], Module] = {}
_BUILT_LOCK = threading.Lock()


def _built(device: Device, origin: _Origin) -> Module:
    key = (device._settings, origin.source, origin.options, origin.name, origin.compiler)
    with _BUILT_LOCK:
        if key not in _BUILT:
            _BUILT[key] = origin.build(device)
        return _BUILT[key]


def _device_of(content: bytes, path: str) -> Device:
    tried = []
    for name in DEVICES:
        try:
            Device(name)._native.load(path, content, [], False)
        except Error as e:
            tried.append(f"{name}: {e}")
        else:
            if content.startswith(b"\x7fELF"):
                return Device(name)
            raise Error(f"{path}: hand-written vISA does not say what it is for: name a device")
    raise Error(f"{path} loads on no device; {tried[0]}")


class Kernel:
    """A kernel: ``kernel[global_size, local_size](a, b, out, n)`` launches it.

    Pass arguments in order, or by their names in the source. The kernel accesses arrays in place, without a copy. Arrays
    that are not contiguous are copied before and after the launch.
    """

    def __init__(self, module: Module, native: _envisa.Kernel) -> None:
        self.module = module
        self._native = native
        self._simd = int(native.attributes()["simd"])
        self.arguments: tuple[Argument, ...] = tuple(
            Argument(i, name, type_, kind, nbytes, address, access, qualifiers)
            for i, (name, type_, kind, nbytes, address, access, qualifiers) in enumerate(native.arguments)
        )
        self._signature = self._plain_signature()

    def _plain_signature(self) -> _envisa.Signature | None:
        """How arrays and numbers are bound at once; ``None`` if the kernel takes other things."""
        slots = []
        for a in self.arguments:
            if a.kind not in ("buffer", "value") or a.element is None or (a.kind == "value" and a.pack is None):
                return None
            dtype = a.element[0]
            slots.append((a.index, dtype.kind, dtype.itemsize, a.kind == "buffer", a.is_constant))
        if not self._native.is_compiled:
            return None
        return _envisa.Signature(self.module.device._native, self._native, np.ndarray, slots)

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self._native.name

    @property
    def attributes(self) -> dict[str, Any]:
        """The kernel's requirements: ``simd``, ``local_memory`` and so on; sizes are in bytes."""
        return self._native.attributes()

    def __getitem__(self, sizes: Size | tuple[Size, Size]) -> Launcher:
        return Launcher(self, *_sizes(sizes))

    def function(self, output: str, *, count: str | None = None, local_size: int = 64, **given: Given) -> Function:
        """A function of arrays that returns a new array, for instance for ``dask.array.map_blocks``.

        >>> twice = module["twice"].function("out", count="n")           # doctest: +SKIP
        >>> dask.array.map_blocks(twice, x, dtype="f4")                  # doctest: +SKIP

        ``output`` is the argument for the result, which starts as zeros. ``given`` are arguments that are the same in each
        call. A call gives the others, in the kernel's order. The launch has a work-item for each element of the first array.
        If ``count`` names an argument, it receives the number of elements, and the number of work-items is rounded up to
        groups of ``local_size``.

        Raises :class:`TypeError` for names that the kernel does not have.
        """
        from ._function import Function

        names = [a.name for a in self.arguments]
        for name in (output, *([count] if count else []), *given):
            if name not in names:
                raise TypeError(f"the kernel has no argument `{name}`; it takes {', '.join(names)}")
        return Function(self, output, count, local_size, given)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_kernel, (self.module, self.name))

    def __repr__(self) -> str:
        listed = ", ".join(f"{a.type or a.kind} {a.name}" for a in self.arguments)
        return f"<Kernel {self.name}({listed}) on {self.module.device.name}>"

    def _repr_html_(self) -> str:
        from ._html import kernel

        return kernel(self)


def _kernel(module: Module, name: str) -> Kernel:
    return module[name]


class Launcher:
    """A kernel with its sizes: calling it launches it and waits for its end."""

    def __init__(self, kernel: Kernel, global_size: tuple[int, ...], local_size: tuple[int, ...]) -> None:
        self.kernel, self.global_size, self.local_size = kernel, global_size, local_size
        self._sizes, self._work_items = self._shape(())

    def __call__(self, *args: Given, **named: Given) -> Outcome:
        """Launches with default settings: see :meth:`launch`."""
        signature = self.kernel._signature
        if signature is not None:
            if named:
                args, named = self._in_order(args, named)
            done = None if named else signature.run(self.global_size, self.local_size, args)
            if done is not None:
                return self._outcome(done, self._work_items)
        return self.launch(args, named)

    def _in_order(
        self, args: tuple[Given, ...], named: dict[str, Given]
    ) -> tuple[tuple[Given, ...], dict[str, Given]]:
        """Named arguments put behind the others, where they are exactly the ones that are missing."""
        missing = [a.name for a in self.kernel.arguments[len(args) :]]
        if len(missing) != len(named) or any(name not in named for name in missing):
            return args, named
        return (*args, *(named[name] for name in missing)), {}

    def launch(
        self,
        args: Sequence[Given] = (),
        named: dict[str, Given] | None = None,
        *,
        offset: Size = (),
        check: bool = False,
        hints: bool = False,
        profile: bool = False,
        statistics: bool = False,
        limit: int | None = None,
        threads: int | None = None,
        progress: bool = False,
    ) -> Outcome:
        """Launches the kernel and waits for its end. Other Python threads continue in the meantime.

        ``check`` looks for accesses out of bounds, uses of uninitialised registers and memory, races, and barriers that not
        all work-items reach. ``hints`` adds operations that are defined but rarely intended. ``profile`` and ``statistics``
        count what the kernel does. ``limit`` is the most branches of a thread, ``threads`` the number of host threads.
        ``progress`` shows the progress of the launch.

        Raises :class:`Fault` if the kernel made an error, :class:`ArgumentError` for wrong arguments, and
        ``KeyboardInterrupt`` after Ctrl-C. Arrays then contain what was computed before.
        """
        kernel = self.kernel
        bound = Bound(kernel.module.device._native)
        for argument, given in assign(kernel.arguments, args, named or {}):
            bound.add(argument, given)
        sizes, shape = (self._sizes, self._work_items) if offset == () else self._shape(_size(offset))
        wanted = (check, hints, profile, statistics, limit, threads)
        try:
            if progress:
                with _progress.shown(kernel.name) as groups:
                    done = _envisa.run(kernel._native, sizes, bound.native, wanted, groups)
            else:
                done = _envisa.run(kernel._native, sizes, bound.native, wanted, None)
        finally:
            bound.write_back()
        return self._outcome(done, shape)

    def _outcome(self, done: _envisa.Done, shape: Shape | None) -> Outcome:
        if done.printed:
            sys.stdout.write(done.printed)
        if done.fault is not None:
            raise Fault(done.fault[0], done.fault[1], shape)
        outcome = Outcome(done, shape)
        if outcome.dropped is not None:
            outcome.warn_of_dropped(self.kernel.name)
        return outcome

    def check(self, *args: Given, **named: Given) -> Outcome:
        """Launches with all checks; the outcome contains their findings."""
        return self.launch(args, named, check=True)

    def profile(self, *args: Given, **named: Given) -> Outcome:
        """Launches, and counts how often each line was executed."""
        return self.launch(args, named, profile=True)

    def _shape(self, offset: tuple[int, ...]) -> tuple[Any, Shape | None]:
        if not self.kernel._native.is_compiled:
            if offset:
                raise TypeError("hand-written code is launched by groups of threads, which have no offset")
            threads = int(np.prod(self.local_size, dtype=np.int64)) if self.local_size else 1
            return (list(self.global_size), threads), None
        sizes = (list(self.global_size), list(self.local_size), list(offset))
        if not self.local_size:
            return sizes, None
        local, first = _three(self.local_size, 1), _three(offset, 0)
        return sizes, Shape(self.kernel._simd, local, first)


def _three(size: tuple[int, ...], rest: int) -> tuple[int, int, int]:
    x, y, z = (*size, rest, rest, rest)[:3]
    return (x, y, z)


def _size(size: Size) -> tuple[int, ...]:
    numbers = (size,) if isinstance(size, (int, np.integer)) else tuple(size)
    if not 1 <= len(numbers) <= 3:
        raise TypeError(f"sizes have one to three dimensions, not {len(numbers)}")
    for n in numbers:
        if not isinstance(n, (int, np.integer)) or isinstance(n, bool):
            raise TypeError(f"sizes are whole numbers, not {type(n).__name__}")
        if not 0 <= n < 1 << 63:
            raise TypeError(f"no size is {n}")
    return tuple(int(n) for n in numbers)


def _sizes(sizes: Size | tuple[Size, Size]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """``kernel[1024]``, ``kernel[1024, 64]``, ``kernel[(64, 32), (8, 8)]``."""
    if not isinstance(sizes, tuple):
        return _size(sizes), ()
    if len(sizes) != 2:
        raise TypeError("kernel[global_size, local_size]: in several dimensions each is a tuple of its own")
    return _size(sizes[0]), (() if sizes[1] is None else _size(sizes[1]))
