# Builds Boost.Compute's tests, here. Usage: boost_compute.sh SOURCES ROOT
sources=$1/compute root=$2
lib="$root/usr/lib/x86_64-linux-gnu"
set -- -std=c++14 -O0 -g1 -w -DBOOST_TEST_DYN_LINK -DCL_TARGET_OPENCL_VERSION=220 \
    "-DBOOST_COMPUTE_TEST_DATA_PATH=\"$sources/test/data\"" -I "$sources/include" -isystem "$root/usr/include"
# What most of them include is compiled once.
echo '#include <boost/compute.hpp>' > all.hpp
[ -f all.hpp.gch ] || c++ "$@" -x c++-header all.hpp -o all.hpp.gch
for file in "$sources"/test/test_*.cpp; do
    name=$(basename "$file" .cpp)
    # Some do not compile with this compiler, whatever the driver.
    [ -x "$name" ] || c++ "$@" -include all.hpp "$file" -o "$name" -L "$lib" -lboost_unit_test_framework -lOpenCL ||
        echo "$name does not compile"
done
