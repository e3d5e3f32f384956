#!/usr/bin/env bash
# Tests the Python package against what cargo builds: PROFILE (checked) says which build.
#
#   python/test.sh [PYTEST ARGUMENT ...]
#   WHEEL=envisa-0.1.0-*.whl PYTHON=python3.12 python/test.sh [PYTEST ARGUMENT ...]
#
# With WHEEL, tests that file instead, installed in an empty virtual environment of PYTHON (python3), with its command and driver.
# PACKAGES says what cargo builds; of another selection than an earlier build's, cargo compiles anew what they share.
#
# A virtual environment in the target folder gets the tests' own needs. With ENVISA_REQUIRE_ORACLES=1 a need that cannot be
# had fails; otherwise its tests say that they did not run.
set -euo pipefail
wheel=${WHEEL:+$(realpath "$WHEEL")}
cd "$(dirname "$0")/.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
python=${PYTHON:-python3}
pip() { "$venv/bin/pip" install --quiet --disable-pip-version-check "$@"; }

if [ -n "$wheel" ]; then
    venv=$target/python-wheel-$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    rm -rf "$venv"
    "$python" -m venv "$venv"
    pip "$wheel"
    command=$venv/bin
    unset PYTHONPATH
else
    profile=${PROFILE:-checked}
    case $profile in dev) built_in=debug ;; *) built_in=$profile ;; esac
    cargo build --quiet --profile "$profile" --locked ${PACKAGES:--p envisa-cli -p envisa-opencl -p envisa-python}
    venv=$target/python-tests
    [ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
    package=$target/python-package
    rm -rf "$package"
    mkdir -p "$package"
    cp -r python/envisa "$package/envisa"
    cp "$target/$built_in/lib_envisa.so" "$package/envisa/_envisa.abi3.so"
    command=$target/$built_in
    export PYTHONPATH=$package
fi
pip numpy pytest hypothesis mypy pyright nbclient nbformat ipykernel 'tomli; python_version < "3.11"'
for need in distributed pyarrow pyopencl ray; do
    pip "$need" || {
        echo "python: $need could not be had" >&2
        [ -z "${ENVISA_REQUIRE_ORACLES:-}" ] || exit 1
    }
done

(cd python && "$venv/bin/mypy" --cache-dir "$target/mypy")
if command -v node >/dev/null; then
    (cd python && "$venv/bin/pyright" --pythonpath "$venv/bin/python")
else
    echo "python: pyright needs Node.js, which is not there: types were checked by mypy only"
fi
PATH="$command:$PATH" PYTHONDONTWRITEBYTECODE=1 "$venv/bin/python" -m pytest -q -p no:cacheprovider -rs python/tests "$@"
