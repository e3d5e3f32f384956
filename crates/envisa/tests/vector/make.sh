#!/bin/sh
# Compiles the kernels of this folder with the vector compiler: make.sh OCLOC DEVICE... (LLVM 14's llvm-as is needed).
# The vISA that `ocloc` 22.43 leaves out of its products is dumped beside them.
set -e
ocloc=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
for device in "$@"; do
    mkdir -p "$here/$device"
    for source in "$here"/*.ll; do
        kernel=$(basename "$source" .ll)
        rm -rf "$work"/*
        mkdir "$work/dump" "$work/out"
        llvm-as "$source" -o "$work/$kernel.bc"
        IGC_ShaderDumpEnable=1 IGC_DumpToCustomDir="$work/dump" "$ocloc" compile -llvm_input -file "$work/$kernel.bc" \
            -device "$device" -options -vc-codegen -out_dir "$work/out" -output "$kernel" \
            -internal_options "-cl-intel-allow-zebin -ze-emit-zebin-visa-sections" > /dev/null
        cp "$work"/out/*.bin "$here/$device/$kernel.zebin"
        if ! grep -q visaasm "$here/$device/$kernel.zebin"; then
            for dump in "$work"/dump/*.visaasm; do
                cp "$dump" "$here/$device/$(basename "$dump" | sed 's/^VC_asm[0-9a-f]*_//')"
            done
        fi
    done
done
rm -rf "$work"
