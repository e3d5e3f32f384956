#!/bin/sh
# Compiles the kernels of this folder with the vector compiler, LLVM's llvm-as before it:
# make.sh [-o FOLDER] [-k KERNEL] OCLOC DEVICE...
# The vISA that `ocloc` 22.43 leaves out of its products is dumped beside them.
set -e
here=$(cd "$(dirname "$0")" && pwd)
out=$here
only='*'
while getopts o:k: option; do
    case $option in
    o) out=$OPTARG ;;
    k) only=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
ocloc=$1
shift
as=$(command -v llvm-as-14 || command -v llvm-as)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for device in "$@"; do
    mkdir -p "$out/$device"
    for source in "$here"/$only.ll; do
        kernel=$(basename "$source" .ll)
        rm -rf "$work"/*
        mkdir "$work/dump" "$work/out"
        "$as" "$source" -o "$work/$kernel.bc"
        IGC_ShaderDumpEnable=1 IGC_DumpToCustomDir="$work/dump" "$ocloc" compile -llvm_input -file "$work/$kernel.bc" \
            -device "$device" -options -vc-codegen -out_dir "$work/out" -output "$kernel" \
            -internal_options "-cl-intel-allow-zebin -ze-emit-zebin-visa-sections" > "$work/said" || {
            cat "$work/said" >&2
            exit 1
        }
        cp "$work"/out/*.bin "$out/$device/$kernel.zebin"
        if ! grep -q visaasm "$out/$device/$kernel.zebin"; then
            for dump in "$work"/dump/*.visaasm; do
                cp "$dump" "$out/$device/$(basename "$dump" | sed 's/^VC_asm[0-9a-f]*_//')"
            done
        fi
    done
done
