# Builds the loader of Level Zero and the conformance tests of its core, here.
# Usage: levelzero_tests.sh PYTHON SOURCES ROOT
bin=$(dirname "$1") sources=$2 root=$3
build() { "$bin/cmake" -G Ninja -DCMAKE_MAKE_PROGRAM="$bin/ninja" -DCMAKE_BUILD_TYPE=None "$@"; }
build -S "$sources/level-zero" -B loader -DCMAKE_CXX_FLAGS=-O0
"$bin/cmake" --build loader --target ze_loader
# Of the layers, the headers alone are needed.
mkdir -p installed/include/level_zero installed/lib
cp -rP "$sources"/level-zero/include/*.h "$sources"/level-zero/include/layers installed/include/level_zero/
cp -P loader/lib/libze_loader.so* installed/lib/
# Of what the tests use of Boost, the version that is beside here has all.
cp -r "$sources/level-zero-tests" tests
sed -i 's/Boost 1\.79/Boost 1.74/' tests/CMakeLists.txt
build -S tests -B built -DCMAKE_CXX_FLAGS="-O0 -w" -DGROUP=/conformance_tests/core \
    -DGTEST_ROOT="$sources/googletest" -DCMAKE_PREFIX_PATH="$PWD/installed;$root/usr"
"$bin/cmake" --build built
