# Builds the loader of Level Zero, here. Usage: levelzero.sh PYTHON SOURCES
bin=$(dirname "$1") sources=$2
"$bin/cmake" -S "$sources/level-zero" -B . -G Ninja -DCMAKE_MAKE_PROGRAM="$bin/ninja" -DCMAKE_BUILD_TYPE=Release
"$bin/cmake" --build . --target ze_loader
