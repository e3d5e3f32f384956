"""Compare a kernel with a NumPy function in tests. Hypothesis generates and shrinks the inputs.

>>> from envisa.testing import launches, same
>>> @given(launches(sizes=st.integers(1, 200), a="f4", b="f4"))          # doctest: +SKIP
... def test_vadd(launch):
...     out = np.zeros_like(launch.a)
...     same(kernel, launch, out=lambda l: l.a + l.b)
"""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Mapping

import numpy as np

from ._device import Kernel
from ._reports import Outcome

try:
    import hypothesis.extra.numpy as _numpy_strategies
    from hypothesis import note
    from hypothesis import strategies as _strategies
except ImportError as e:  # pragma: no cover
    raise ImportError("envisa.testing needs Hypothesis: pip install 'envisa[test]'") from e

Array = np.ndarray[Any, Any]

EDGES_OF_FLOATS = (0.0, -0.0, 1.0, -1.0, float("inf"), float("-inf"), float("nan"))


EDGES_OF_SIZES = (1, 31, 32, 33, 63, 64, 65, 96, 127, 128, 129, 192, 255, 256, 257)
"""Numbers of elements at and beside whole threads and groups, where kernels go wrong."""


@dataclasses.dataclass(frozen=True)
class Case:
    """A launch that Hypothesis generated: the number of elements, the size of a group, the arrays."""

    n: int
    local: int
    arrays: Mapping[str, Array]

    @property
    def global_size(self) -> int:
        """Work-items: ``n`` rounded up to whole groups."""
        return -(-self.n // self.local) * self.local

    def __getattr__(self, name: str) -> Array:
        try:
            return self.arrays[name]
        except KeyError:
            raise AttributeError(name) from None


def elements(dtype: Any) -> _strategies.SearchStrategy[Any]:
    """Numbers of a dtype, including edge cases. NaN and infinities are included only if requested."""
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return _numpy_strategies.from_dtype(kind, allow_nan=False, allow_infinity=False)
    return _numpy_strategies.from_dtype(kind)


@_strategies.composite
def launches(
    draw: Any,
    /,
    sizes: _strategies.SearchStrategy[int] | None = None,
    local: _strategies.SearchStrategy[int] | None = None,
    **dtypes: Any,
) -> Case:
    """Launches with arrays of the same length.

    ``sizes`` gives the number of elements (by default 1 to 300, often :data:`EDGES_OF_SIZES`), and ``local`` the size of a group (1
    to 64, because odd sizes show bugs that multiples of 32 hide). Each other name is an array: its dtype, or ``(dtype, strategy)`` with a strategy for its elements.
    """
    n = draw(sizes if sizes is not None else _strategies.integers(1, 300) | _strategies.sampled_from(EDGES_OF_SIZES))
    group = draw(local if local is not None else _strategies.sampled_from([1, 7, 8, 16, 31, 32, 33, 64]))
    arrays = {}
    for name, wanted in dtypes.items():
        dtype, strategy = wanted if isinstance(wanted, tuple) else (wanted, elements(wanted))
        arrays[name] = draw(_numpy_strategies.arrays(np.dtype(dtype), n, elements=strategy))
    return Case(n, group, arrays)


def same(
    kernel: Kernel,
    case: Case,
    *,
    given: Mapping[str, Any] | None = None,
    rtol: float = 0.0,
    atol: float = 0.0,
    check: bool = True,
    **expected: Callable[[Case], Array],
) -> Outcome:
    """Launches a kernel on a case, and compares each array in ``expected`` with the result of its function.

    The kernel's arguments are the case's arrays, by their names, and ``n`` if the kernel has an argument with that name; ``given``
    has all other arguments. Arrays that only ``expected`` names start as zeros. With ``check``, every finding fails the test.
    ``rtol`` and ``atol`` are as for :func:`numpy.testing.assert_allclose`; without them results are compared exactly.
    """
    wanted = {name: np.asarray(function(case)) for name, function in expected.items()}
    arrays = {name: array.copy() for name, array in case.arrays.items()}
    for name, array in wanted.items():
        arrays.setdefault(name, np.zeros_like(array))
    named: dict[str, Any] = {**arrays, **(given or {})}
    names = {a.name for a in kernel.arguments}
    if "n" in names:
        named.setdefault("n", case.n)
    named = {name: value for name, value in named.items() if name in names}
    outcome = kernel[case.global_size, case.local].launch((), named, check=check)
    for found in outcome.findings or ():
        note(str(found))
    if outcome.findings:
        raise AssertionError(f"{len(outcome.findings)} findings; the first:\n{outcome.findings[0]}")
    for name, array in wanted.items():
        if rtol or atol:
            np.testing.assert_allclose(arrays[name], array, rtol=rtol, atol=atol, err_msg=name)
        else:
            np.testing.assert_array_equal(arrays[name], array, err_msg=name)
    return outcome
