/* check
what = "an array of shorts in private memory is read as ints from an odd element"
finds = ["F0024", "F0010"]
global = [16]
local = [16]
[args]
a = "iota:i16:128"
o = "zeros:i32:16"
n = "3"
*/
kernel void k(global const short *a, global int *o, int n)
{
    short w[8] __attribute__((aligned(4)));
    int g = get_global_id(0);
    for (int j = 0; j < 8; j++) w[j] = a[g * 8 + (j * n) % 8];
#ifdef BUG
    int pair = *(int *)(w + n); // <-
#else
    int pair = *(int *)(w + n - 1);
#endif
    o[g] = pair;
}
