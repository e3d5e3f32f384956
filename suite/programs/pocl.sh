# Builds PoCL's tests, here: one program of each file, with what they share. Usage: pocl.sh SOURCES ROOT
sources=$1 root=$2
library=$root/usr/lib/x86_64-linux-gnu
headers="-I. -I$sources/OpenCL-Headers -I$sources/pocl/include/hpp -I$sources/pocl/poclu -I$sources/pocl/include -I$sources/pocl"
defines="-DCL_TARGET_OPENCL_VERSION=300 -DCL_HPP_TARGET_OPENCL_VERSION=300 -DCL_HPP_MINIMUM_OPENCL_VERSION=100 -w"
# What PoCL's own build would write of the machine; the tests need where their sources are.
printf '#define SRCDIR "%s"\n#define BUILDDIR "%s"\n' "$sources/pocl" "$PWD" > config.h
printf '#include <CL/opencl.h>\n#include <poclu.h>\n' > pocl_opencl.h
for file in misc bswap cl_half; do
    cc -c $headers $defines "$sources/pocl/poclu/$file.c" -o "$file.o"
done
for part in runtime kernel regression; do
    mkdir -p "tests/$part"
    for file in "$sources/pocl/tests/$part"/*.c "$sources/pocl/tests/$part"/*.cc "$sources/pocl/tests/$part"/*.cpp; do
        case $file in
        *'*'* | */test_dlopen.c | */test_version.c) continue ;; # of PoCL's own libraries
        *.c) compiler="cc -std=gnu99" ;;
        *) compiler="c++ -std=c++14" ;;
        esac
        # Files of the runtime's tests take the folder from config.h.
        place=
        test "$part" = runtime || place="-DSRCDIR=\"$sources/pocl/tests/$part\""
        name=${file##*/}
        $compiler $headers $defines $place "$file" misc.o bswap.o cl_half.o -o "tests/$part/${name%.*}" \
            "$library/libOpenCL.so.1" -lm -lpthread
    done
done
