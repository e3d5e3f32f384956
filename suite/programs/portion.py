"""A plugin for pytest: of each file of tests no more than ENVISA_TESTS_OF_A_FILE, evenly out of all of them, so that
thousands of parameters do not take hours; always the same ones."""

import os


def pytest_collection_modifyitems(config, items):
    most = int(os.environ["ENVISA_TESTS_OF_A_FILE"])
    files = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    chosen = set()
    for tests in files.values():
        n = min(most, len(tests))
        chosen.update(tests[i * len(tests) // n] for i in range(n))
    left_out = [item for item in items if item not in chosen]
    items[:] = [item for item in items if item in chosen]
    config.hook.pytest_deselected(items=left_out)
