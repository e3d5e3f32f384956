#!/usr/bin/env bash
# Tries what release.sh made, each in a root of its own that has nothing else of envisa:
#
#   packaging/try.sh [FOLDER]
#
# the static binary in a root with no other file but an example; the .deb and the wheel in a fresh Debian, where an example
# runs, a kernel of ours is compiled and its race found, a program runs through the driver, and removal leaves nothing. Needs
# root (chroot) and debootstrap. DEBIAN_RELEASE (bookworm) and DEBIAN_MIRROR say which Debian, or Ubuntu. PYTHONS are interpreters
# of this machine ("python3.10 python3.12"): each gets the wheel in an empty virtual environment, where all tests of the Python
# package pass.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath "${1:-target/packages}")
binary=$(ls "$out"/envisa-*-x86_64-unknown-linux-gnu)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$out" && sha256sum --quiet --check SHA256SUMS)

fail() { echo "try: $1" >&2; exit 1; }
told() { printf '%-8s %s\n' "$1" "$2"; }
# The job compares its result.
same() {
    grep -q "as expected" <<<"$2" || fail "$1: $2"
    told "$1" "$(tail -n 1 <<<"$2")"
}

mkdir -p "$work/empty"
cp "$binary" "$work/empty/envisa"
cp -r examples/vadd "$work/empty/vadd"
same binary "$(chroot "$work/empty" /envisa run /vadd/job.toml)"

command -v debootstrap >/dev/null || fail "the .deb and the wheel need debootstrap"
debootstrap --variant=minbase --include=python3-pip,python3-venv,ocl-icd-libopencl1,intel-opencl-icd,clinfo \
    "${DEBIAN_RELEASE:-bookworm}" "$work/debian" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} >"$work/debootstrap.log" 2>&1 ||
    { tail "$work/debootstrap.log" >&2; exit 1; }
cp -r "$work/debian" "$work/wheel"

# From the package to a finding on one's own kernel, and to a program on the driver.
finding() {
    local name=$1 root=$2 envisa=$3
    mkdir -p "$root/own"
    cat > "$root/own/sum.cl" <<'CL'
kernel void sum(global const int *in, global int *out) {
    local int tile[64];
    int i = get_local_id(0);
    tile[i] = in[i];
    out[i] = tile[63 - i];
}
CL
    local said
    said=$(chroot "$root" "$envisa" run /own/sum.cl --device dg2 --check --global 64 --local 64 \
        --arg in=iota:i32:64 --arg out=zeros:i32:64 2>&1) && fail "$name: a race was not found"
    grep -q "F0004" <<<"$said" || fail "$name: $said"
    told "$name" "$(grep -m 1 F0004 <<<"$said")"
    mount --bind /proc "$root/proc"
    said=$(chroot "$root" "$envisa" exec --device dg2 -- clinfo -l 2>&1) || said="failed: $said"
    umount "$root/proc"
    grep -q "Device.*(envisa)" <<<"$said" || fail "$name: $said"
    told "$name" "$(grep -m 1 "Device.*(envisa)" <<<"$said")"
}

files() { (cd "$1" && find . -xdev \( -path ./var -o -path ./proc -o -path ./root -o -path ./own \) -prune -o -print | sort); }
files "$work/debian" > "$work/before"
cp "$out"/envisa_*.deb "$work/debian/own.deb"
chroot "$work/debian" sh -c 'dpkg -i /own.deb >/dev/null && ls /usr/share/man/man1/envisa-run.1.gz >/dev/null'
same deb "$(chroot "$work/debian" envisa run /usr/share/doc/envisa/examples/vadd/job.toml)"
finding deb "$work/debian" envisa
chroot "$work/debian" dpkg --purge envisa >/dev/null
rm "$work/debian/own.deb"
files "$work/debian" > "$work/after"
diff "$work/before" "$work/after" || fail "removing the .deb leaves files"
told deb "removed, and nothing is left"

cp "$out"/envisa-*.whl "$work/wheel/"
cp -r examples/vadd "$work/wheel/vadd"
# What the wheel needs comes through this machine's pip: the fresh root does not know its certificates.
python=$(chroot "$work/wheel" python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
python3 -m venv "$work/pip"
"$work/pip/bin/pip" download --quiet --disable-pip-version-check --only-binary :all: --implementation cp --python-version "$python" \
    --platform manylinux_2_28_x86_64 --platform manylinux_2_17_x86_64 --dest "$work/wheel/wheels" numpy
chroot "$work/wheel" sh -c 'python3 -m venv /venv && /venv/bin/pip install --quiet --no-index --find-links /wheels /envisa-*.whl'
same wheel "$(chroot "$work/wheel" /venv/bin/envisa run /vadd/job.toml)"
finding wheel "$work/wheel" /venv/bin/envisa
told wheel "$(chroot "$work/wheel" /venv/bin/python -c '
import envisa, numpy as np
out = np.zeros(64, "i4")
k = envisa.Device("dg2").build("kernel void k(global int* o) { o[get_global_id(0)] = get_global_id(0); }")["k"]
k[64, 64](out)
assert (out == np.arange(64)).all()
print("from Python:", out[:4])')"

for python in ${PYTHONS:-}; do
    WHEEL=$(ls "$out"/envisa-*.whl) PYTHON=$python python/test.sh >"$work/tests.log" 2>&1 || { cat "$work/tests.log" >&2; fail "$python: tests fail"; }
    told wheel "$("$python" --version): $(tail -n 1 "$work/tests.log")"
done
