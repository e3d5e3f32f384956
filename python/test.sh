#!/usr/bin/env bash
# Tests the Python package against what cargo builds: PROFILE (checked) says which build.
#
#   python/test.sh [PYTEST ARGUMENT ...]
#
# PACKAGES says what cargo builds; of another selection than an earlier build's, cargo compiles anew what they share.
#
# A virtual environment in the target folder gets the tests' own needs. With ENVISA_REQUIRE_ORACLES=1 a need that cannot be
# had fails; otherwise its tests say that they did not run.
set -euo pipefail
cd "$(dirname "$0")/.."
profile=${PROFILE:-checked}
case $profile in dev) built_in=debug ;; *) built_in=$profile ;; esac
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
cargo build --quiet --profile "$profile" --locked ${PACKAGES:--p envisa-cli -p envisa-opencl -p envisa-python}

venv=$target/python-tests
[ -x "$venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check numpy pytest hypothesis mypy pyright nbclient nbformat ipykernel
"$venv/bin/pip" install --quiet --disable-pip-version-check distributed pyarrow pyopencl ray || {
    echo "python: distributed, pyarrow, pyopencl or ray could not be had" >&2
    [ -z "${ENVISA_REQUIRE_ORACLES:-}" ] || exit 1
}
package=$target/python-package
rm -rf "$package"
mkdir -p "$package"
cp -r python/envisa "$package/envisa"
cp "$target/$built_in/lib_envisa.so" "$package/envisa/_envisa.abi3.so"

(cd python && "$venv/bin/mypy" --cache-dir "$target/mypy")
if command -v node >/dev/null; then
    (cd python && "$venv/bin/pyright" --pythonpath "$venv/bin/python")
else
    echo "python: pyright needs Node.js, which is not there: types were checked by mypy only"
fi
PATH="$target/$built_in:$PATH" PYTHONPATH=$package PYTHONDONTWRITEBYTECODE=1 \
    "$venv/bin/python" -m pytest -q -p no:cacheprovider -rs python/tests "$@"
