// A number is stored as a vector of three: its fourth lane is nobody's.
// NEEDS: ocloc
// RUN: envisa run %s --device dg2 --check --kernel foo --global 8 --local 8 --arg n=zeros:i32x4:8
__kernel void foo(__global int3 *n)
{
  n[get_global_id(0)] = (int)get_global_id(0);
}
