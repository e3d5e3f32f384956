"""A kernel as a function of arrays that returns a new array."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Mapping

import numpy as np

from ._envisa import ArgumentError

if TYPE_CHECKING:
    from ._device import Kernel


@dataclasses.dataclass(frozen=True)
class Function:
    """What :meth:`Kernel.function` returns. It pickles, with its kernel."""

    kernel: Kernel
    output: str
    count: str | None
    local_size: int
    given: Mapping[str, Any]

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the arguments that a call gives, in their order."""
        others = {self.output, self.count, *self.given}
        return tuple(a.name for a in self.kernel.arguments if a.name not in others and a.kind != "unused")

    def __call__(self, *arrays: Any) -> np.ndarray[Any, Any]:
        """Launches the kernel with a work-item for each element of the first array, and returns an array of that shape.

        Raises :class:`TypeError` for another number of arrays.
        """
        if len(arrays) != len(self.inputs) or not arrays:
            raise TypeError(f"the function of `{self.kernel.name}` takes {', '.join(self.inputs)}; {len(arrays)} were given")
        element = next(a.element for a in self.kernel.arguments if a.name == self.output)
        if element is None:
            raise ArgumentError(f"argument `{self.output}`: the module does not record its type")
        shape = np.shape(arrays[0])
        n = int(np.prod(shape, dtype=np.int64))
        out = np.zeros(shape if element[1] == 1 else (*shape, element[1]), element[0])
        if n == 0:  # Dask asks for the dtype this way.
            return out
        named = {**dict(zip(self.inputs, arrays)), **self.given, self.output: out}
        if self.count is None:
            self.kernel[n](**named)
        else:
            whole = -(-n // self.local_size) * self.local_size
            self.kernel[whole, self.local_size](**named, **{self.count: n})
        return out
