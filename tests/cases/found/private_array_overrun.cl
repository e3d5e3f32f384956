// An index past a private array.
// NEEDS: ocloc
// RUN: envisa run %s --device dg2 --check --options=-DBUG --kernel sortk --global 64 --local 64 --arg a=iota:i32:64 --arg o=zeros:i32:64 --arg n=9
// CODE: envisa run %s --device dg2 --check --kernel sortk --global 64 --local 64 --arg a=iota:i32:64 --arg o=zeros:i32:64 --arg n=9
__kernel void sortk(__global const int *a, __global int *o, int n) {
    int v[8]; int seen[8];
    int g = get_global_id(0);
    for (int i = 0; i < 8; i++) { v[i] = a[(g + i * 5) & 63]; seen[i] = 0; }
#ifdef BUG
    for (int i = 0; i < n; i++) v[(a[g] + i) % n] ^= i;
#else
    for (int i = 0; i < n - 1; i++) v[(a[g] + i) & 7] ^= i;
#endif
    int s = 0;
    for (int i = 0; i < 8; i++) { seen[v[i] & 7]++; }
    for (int i = 0; i < 8; i++) s = s * 3 + v[i] + seen[(a[g] + i) & 7];
    o[g] = s;
}
