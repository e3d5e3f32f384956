#!/usr/bin/env bash
# Tries what release.sh made, each in a root of its own that has nothing else of envisa:
#
#   packaging/try.sh [FOLDER]
#
# the static binary in a root with no other file but an example, the .deb and the wheel in a fresh Debian. Needs root
# (chroot), and debootstrap for the latter two.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath "${1:-target/packages}")
binary=$(ls "$out"/envisa-*-x86_64-unknown-linux-gnu)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

same() {
    # The job compares its result: exit code 0 says that it is right.
    printf '%-8s %s\n' "$1" "$(tail -n 1 <<<"$2")"
    grep -q "as expected" <<<"$2"
}

mkdir -p "$work/empty"
cp "$binary" "$work/empty/envisa"
cp -r examples/vadd "$work/empty/vadd"
same binary "$(chroot "$work/empty" /envisa run /vadd/job.toml)"

command -v debootstrap >/dev/null || { echo "try: the .deb and the wheel need debootstrap" >&2; exit 1; }
debootstrap --variant=minbase --include=python3-pip,python3-venv "${DEBIAN_RELEASE:-bookworm}" "$work/debian" \
    >"$work/debootstrap.log" 2>&1 || { tail "$work/debootstrap.log" >&2; exit 1; }
cp -r "$work/debian" "$work/wheel"

cp "$out"/envisa_*.deb "$work/debian/"
chroot "$work/debian" sh -c 'dpkg -i /envisa_*.deb >/dev/null && ls /usr/share/man/man1/envisa-run.1.gz >/dev/null'
same deb "$(chroot "$work/debian" envisa run /usr/share/doc/envisa/examples/vadd/job.toml)"

cp "$out"/envisa-*.whl "$work/wheel/"
cp -r examples/vadd "$work/wheel/vadd"
chroot "$work/wheel" sh -c 'python3 -m venv /venv && /venv/bin/pip install --quiet --no-index /envisa-*.whl'
same wheel "$(chroot "$work/wheel" /venv/bin/envisa run /vadd/job.toml)"
