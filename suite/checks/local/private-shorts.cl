/* check
what = "five shorts in private memory, and a sixth is written by a loop"
finds = ["F0005", "F0001", "F0006"]
global = [16]
local = [16]
[args]
a = "iota:i16:96"
o = "zeros:i32:16"
n = "6"
*/
kernel void k(global const short *a, global int *o, int n)
{
    short w[5];
    int g = get_global_id(0);
#ifdef BUG
    for (int j = 0; j < n; j++) w[j] = a[g * 6 + j]; // <-
#else
    for (int j = 0; j < n - 1; j++) w[j] = a[g * 6 + j];
#endif
    int s = 0;
    for (int j = 0; j < n - 1; j++) s += w[(j * 3 + g) % 5] * (j + 1); // <-
    o[g] = s;
}
