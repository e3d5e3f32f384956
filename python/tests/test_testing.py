"""Hypothesis finds what is wrong with a kernel, and lets right ones pass."""

from __future__ import annotations

import time
from typing import Any

import envisa
import numpy as np
import pytest
from envisa.testing import Case, launches, same
from hypothesis import given, settings

SOURCE = """
kernel void add(global const int* a, global const int* b, global int* out, int n) {
    int i = get_global_id(0);
    if (i BOUND n) out[i] = EXPRESSION;
}"""


def kernel(bound: str, expression: str) -> envisa.Kernel:
    return envisa.Device("dg2").build(SOURCE, f"-DBOUND={bound} -DEXPRESSION={expression}")["add"]


def held(k: envisa.Kernel, examples: int) -> Any:
    @settings(max_examples=examples, deadline=None, database=None)
    @given(launches(a="i4", b="i4"))
    def run(case: Case) -> None:
        with np.errstate(over="ignore"):
            same(k, case, out=lambda c: c.a + c.b)

    return run


def test_a_right_kernel_passes() -> None:
    held(kernel("<", "a[i]+b[i]"), 60)()


@pytest.mark.parametrize(
    ("bound", "expression"),
    [("<=", "a[i]+b[i]"), ("<", "a[i]+(b[i]&0x7fffffff)"), ("<", "(get_local_id(0)==32?0:a[i])+b[i]")],
    ids=["off-by-one", "lost-sign", "one-work-item"],
)
def test_planted_bugs_are_found(bound: str, expression: str, slower: int) -> None:
    started = time.process_time()
    with pytest.raises((AssertionError, envisa.Fault)):
        held(kernel(bound, expression), 400)()
    assert time.process_time() - started < 10 * slower
