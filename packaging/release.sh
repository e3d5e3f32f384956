#!/usr/bin/env bash
# Makes what a release carries, into FOLDER (target/packages): the static binary, a .deb, a wheel, a bill of materials, checksums.
#
#   packaging/release.sh [FOLDER]
#
# Needs cargo, python3, dpkg-deb and unzip; its other tools (maturin, zig, cargo-zigbuild, cargo-cyclonedx) come from PyPI and
# crates.io into the target folder. PROFILE=dev makes slow packages in a shorter time, to try the packages themselves.
# The same commit gives the same bytes: times are the commit's, paths are left out.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath -m "${1:-target/packages}")
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
triple=x86_64-unknown-linux-gnu
# The oldest C library that libraries of ours run with: manylinux_2_28, Debian 10, Ubuntu 20.04.
glibc=2.28
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
profile=${PROFILE:-release}
case $profile in dev) built_in=debug ;; *) built_in=$profile ;; esac
mkdir -p "$out"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 1)
export SOURCE_DATE_EPOCH
remap="--remap-path-prefix=$PWD=/envisa --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo"

need() { command -v "$1" >/dev/null || { echo "release: needs $1" >&2; exit 1; }; }
need python3
need dpkg-deb
need unzip
tools=$target/release-tools
[ -x "$tools/bin/python" ] || python3 -m venv "$tools"
"$tools/bin/pip" install --quiet --disable-pip-version-check 'maturin>=1.9,<2' cargo-zigbuild ziglang auditwheel
[ -x "$tools/bin/cargo-cyclonedx" ] || cargo install --quiet --locked --root "$tools" cargo-cyclonedx
export PATH="$tools/bin:$PATH"

# The command in one file: it runs on any Linux of this architecture, whatever its C library.
RUSTFLAGS="-C target-feature=+crt-static $remap" CARGO_TARGET_DIR=$target/static \
    cargo build --profile "$profile" --locked -p envisa-cli --target "$triple"
built=$target/static/$triple/$built_in/envisa
binary=$out/envisa-$version-$triple
install -m 755 "$built" "$binary"
strip "$binary"
if readelf -d "$binary" | grep -q NEEDED; then
    echo "release: the binary is not static" >&2
    exit 1
fi

# What programs load and what compiles for them: libraries of the system's C library, an old one.
RUSTFLAGS=$remap CARGO_TARGET_DIR=$target/shared \
    cargo zigbuild --profile "$profile" --locked -p envisa-opencl -p envisa-levelzero --target "$triple.$glibc"
shared=$target/shared/$triple/$built_in

# Below a folder: everything of an installation.
install_into() {
    local prefix=$1
    install -D -m 755 "$binary" "$prefix/bin/envisa"
    install -D -m 644 "$shared/libenvisa_opencl.so" "$prefix/lib/envisa/libenvisa_opencl.so"
    install -D -m 644 "$shared/libenvisa_ze.so" "$prefix/lib/envisa/libenvisa_ze.so"
    install -D -m 755 "$shared/envisa-compiler" "$prefix/lib/envisa/envisa-compiler"
    strip --strip-unneeded "$prefix"/lib/envisa/*
}

# The .deb.
root=$(mktemp -d)
# Where maturin looks for files of a wheel beside the package: it has the library's name.
data=python/envisa._envisa.data
trap 'rm -rf "$root" "$data"' EXIT
chmod 755 "$root"
install_into "$root/usr"
"$built" man --output "$root/usr/share/man/man1"
gzip -9n "$root"/usr/share/man/man1/*.1
for shell in bash:bash-completion/completions/envisa zsh:zsh/vendor-completions/_envisa fish:fish/vendor_completions.d/envisa.fish; do
    file=$root/usr/share/${shell#*:}
    mkdir -p "$(dirname "$file")"
    "$built" completions "${shell%%:*}" > "$file"
done
doc=$root/usr/share/doc/envisa
install -D -m 644 LICENSE-MIT "$doc/copyright"
install -m 644 README.md CHANGELOG.md "$doc/"
for page in docs/*.md docs/*.json; do install -D -m 644 "$page" "$doc/$page"; done
cp -r examples "$doc/examples"
find "$root" -type d -exec chmod 755 {} +
find "$root/usr/share" -type f -exec chmod 644 {} +
mkdir -p "$root/DEBIAN"
{
    echo "Package: envisa"
    echo "Version: $version"
    echo "Architecture: amd64"
    echo "Maintainer: The envisa developers <envisa@users.noreply.github.com>"
    echo "Installed-Size: $(du -sk --apparent-size --exclude=DEBIAN "$root" | cut -f1)"
    echo "Depends: libc6 (>= $glibc), libgcc-s1"
    # Compiles OpenCL C; what is compiled runs without it. Programs open the driver through a loader.
    echo "Recommends: intel-opencl-icd, ocl-icd-libopencl1 | libopencl1"
    echo "Section: devel"
    echo "Priority: optional"
    echo "Homepage: https://github.com/envisa/envisa"
    echo "Description: virtual Intel GPU: runs and checks kernels without the hardware"
    echo " Runs OpenCL and SYCL programs and single kernels as Intel's compiler made them,"
    echo " on the CPU, with precise faults, data races and uses of uninitialised memory"
    echo " reported at source lines. Assembles, disassembles, verifies and explains vISA,"
    echo " the virtual instruction set of Intel GPUs."
} > "$root/DEBIAN/control"
find "$root" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group --build "$root" "$out/envisa_${version}_amd64.deb" >/dev/null

# The wheel: the Python package, and an installation of the rest below its prefix.
rm -rf "$data"
mkdir -p "$data/data"
install_into "$data/data"
mkdir -p "$data/scripts"
mv "$data/data/bin/envisa" "$data/scripts/envisa"
rmdir "$data/data/bin"
RUSTFLAGS=$remap CARGO_TARGET_DIR=$target/shared maturin build --profile "$profile" --locked --zig \
    --manifest-path python/Cargo.toml --target "$triple" --compatibility "manylinux_${glibc/./_}" --strip --out "$out"

# `grep -q` would end before who writes to it, which then fails.
unzip -l "$out"/envisa-"$version"-*.whl | grep 'scripts/envisa$' >/dev/null || { echo "release: the wheel has no command" >&2; exit 1; }
"$tools/bin/auditwheel" show "$out"/envisa-"$version"-*.whl | grep "manylinux_${glibc/./_}" >/dev/null ||
    { echo "release: the wheel needs a newer C library than it says" >&2; exit 1; }

# What it is made of, and what the files are.
cargo cyclonedx --quiet --format json --manifest-path crates/envisa-cli/Cargo.toml --override-filename envisa-sbom
install -m 644 crates/envisa-cli/envisa-sbom.json "$out/envisa-$version-sbom.json"
rm crates/envisa-cli/envisa-sbom.json
cp packaging/Containerfile "$out/"
(cd "$out" && sha256sum "envisa-$version-$triple" "envisa_${version}_amd64.deb" envisa-"$version"-*.whl \
    "envisa-$version-sbom.json" > SHA256SUMS)
ls -l "$out"
