# Builds parts of Khronos' conformance tests, here. Usage: cts.sh PYTHON SOURCES ROOT PART...
bin=$(dirname "$1") sources=$2 root=$3
shift 3
export LD_LIBRARY_PATH="$root/usr/lib/x86_64-linux-gnu"
"$bin/cmake" -S "$sources/OpenCL-CTS" -B . -G Ninja -DCMAKE_MAKE_PROGRAM="$bin/ninja" -DCMAKE_BUILD_TYPE=Release \
    -DCL_INCLUDE_DIR="$sources/OpenCL-Headers" -DSPIRV_INCLUDE_DIR="$sources/SPIRV-Headers" \
    -DCL_LIB_DIR="$root/usr/lib/x86_64-linux-gnu" -DOPENCL_LIBRARIES=OpenCL -DSPIRV_TOOLS_DIR="$root/usr/bin" \
    --compile-no-warning-as-error
for part; do
    set -- "$@" "test_$part"
    shift
done
"$bin/cmake" --build . --target "$@"
