#!/usr/bin/env bash
# Makes what a release carries, into FOLDER (target/packages): the static binary, a .deb and a wheel.
#
#   packaging/release.sh [FOLDER]
#
# PROFILE=dev makes slow ones in a shorter time, to try the packages themselves. Needs cargo, dpkg-deb and, for the wheel, maturin (`pip install maturin`). What is missing is said, and fails.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath -m "${1:-target/packages}")
target=x86_64-unknown-linux-gnu
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
profile=${PROFILE:-release}
case $profile in dev) built_in=debug ;; *) built_in=$profile ;; esac
mkdir -p "$out"

# Everything in one file: it runs on any Linux of this architecture, whatever its C library.
export RUSTFLAGS="-C target-feature=+crt-static ${RUSTFLAGS:-}"
cargo build --profile "$profile" --locked -p envisa-cli --target "$target"
built=${CARGO_TARGET_DIR:-target}/$target/$built_in/envisa
install -m 755 "$built" "$out/envisa-$version-$target"
strip "$out/envisa-$version-$target"
if readelf -d "$out/envisa-$version-$target" | grep -q NEEDED; then
    echo "release: the binary is not static" >&2
    exit 1
fi

# The .deb.
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
install -D -m 755 "$out/envisa-$version-$target" "$root/usr/bin/envisa"
"$built" man --output "$root/usr/share/man/man1"
gzip -9n "$root"/usr/share/man/man1/*.1
for shell in bash:bash-completion/completions/envisa zsh:zsh/vendor-completions/_envisa fish:fish/vendor_completions.d/envisa.fish; do
    file=$root/usr/share/${shell#*:}
    mkdir -p "$(dirname "$file")"
    "$built" completions "${shell%%:*}" > "$file"
done
doc=$root/usr/share/doc/envisa
install -D -m 644 LICENSE-MIT "$doc/copyright"
install -m 644 README.md "$doc/"
for page in docs/*.md docs/*.json; do install -D -m 644 "$page" "$doc/$page"; done
cp -r examples "$doc/examples"
# The OpenCL driver, when it was built for this release: it is a library, and links with the system's C library.
driver=target/release/libenvisa_opencl.so
depends=""
if [ -e "$driver" ]; then
    install -D -m 644 "$driver" "$root/usr/lib/envisa/libenvisa_opencl.so"
    install -D -m 755 target/release/envisa-compiler "$root/usr/lib/envisa/envisa-compiler"
    depends="Depends: libc6 (>= 2.31), libgcc-s1"
fi
find "$root" -type d -exec chmod 755 {} +
find "$root/usr/share" -type f -exec chmod 644 {} +
mkdir -p "$root/DEBIAN"
{
    echo "Package: envisa"
    echo "Version: $version"
    echo "Architecture: amd64"
    echo "Maintainer: The envisa developers <envisa@users.noreply.github.com>"
    echo "Installed-Size: $(du -sk --exclude=DEBIAN "$root" | cut -f1)"
    [ -z "$depends" ] || echo "$depends"
    # Compiles OpenCL C; what is compiled runs without it.
    echo "Suggests: intel-opencl-icd"
    echo "Section: devel"
    echo "Priority: optional"
    echo "Homepage: https://github.com/envisa/envisa"
    echo "Description: toolchain for vISA, and a virtual Intel GPU"
    echo " Assembles, disassembles, verifies and explains vISA, the virtual instruction set"
    echo " of Intel GPUs, and runs compiled kernels on the CPU: bounds-checked, and with"
    echo " checks that no GPU makes."
} > "$root/DEBIAN/control"
dpkg-deb --root-owner-group --build "$root" "$out/envisa_${version}_amd64.deb" >/dev/null

# The wheel: it carries the command alone, so that one is enough for every Python.
if ! command -v maturin >/dev/null; then
    echo "release: the wheel needs maturin (pip install maturin)" >&2
    exit 1
fi
maturin build --profile "$profile" --locked --manifest-path crates/envisa-cli/Cargo.toml --target "$target" \
    --compatibility manylinux2014 --strip --out "$out"

(cd "$out" && sha256sum "envisa-$version-$target" "envisa_${version}_amd64.deb" envisa-"$version"-*.whl > SHA256SUMS)
ls -l "$out"
