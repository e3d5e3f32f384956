#!/bin/sh
# Compiles the kernels of this folder: make.sh OCLOC DEVICE...
set -e
ocloc=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
for device in "$@"; do
    mkdir -p "$here/$device"
    for source in "$here"/*.cl; do
        kernel=$(basename "$source" .cl)
        work=$(mktemp -d)
        "$ocloc" compile -q -file "$source" -device "$device" -out_dir "$work" -output "$kernel" -output_no_suffix \
            -options "-cl-std=CL3.0" -internal_options "-cl-intel-allow-zebin -ze-emit-zebin-visa-sections" > /dev/null
        cp "$work/$kernel.bin" "$here/$device/$kernel.zebin"
        rm -rf "$work"
    done
done
