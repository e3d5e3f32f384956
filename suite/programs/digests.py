"""A plugin for pytest: of each test of dpnp what became of it, and a digest of every array that it took back from the
device, in their order, to the file that ENVISA_DIGESTS names. Numbers that tests draw are the same in every run."""

import hashlib
import json
import os

import numpy
import pytest
from dpnp.tensor import _copy_utils

digests, outcomes = [], {}
taken_back, drawn = _copy_utils._copy_to_numpy, numpy.random.default_rng


def take_back(array):
    result = taken_back(array)
    content = f"{result.dtype} {result.shape} ".encode() + numpy.ascontiguousarray(result).tobytes()
    digests.append(hashlib.sha256(content).hexdigest()[:16])
    return result


_copy_utils._copy_to_numpy = take_back
numpy.random.default_rng = lambda seed=0: drawn(seed)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    numpy.random.seed(0)
    digests.clear()


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        outcomes[report.nodeid] = [report.outcome, *digests]


def pytest_sessionfinish():
    with open(os.environ["ENVISA_DIGESTS"], "w") as file:
        json.dump(outcomes, file)
