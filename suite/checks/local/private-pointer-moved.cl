/* check
what = "a pointer is moved on in a loop beyond the private array that it began in"
finds = ["F0005", "F0002", "F0006"]
global = [16]
local = [16]
[args]
a = "rand:i32:128:7"
o = "zeros:i32:16"
*/
kernel void k(global const int *a, global int *o)
{
    int even[4], odd[4];
    int i = get_global_id(0);
    for (int j = 0; j < 4; j++) {
        even[j] = a[i * 8 + 2 * j];
        odd[j] = a[i * 8 + 2 * j + 1];
    }
    int *p = a[i] & 1 ? odd : even;
    int *end = p + 4;
    int s = 0;
#ifdef BUG
    while (p <= end) s += *p++; // <-
#else
    while (p < end) s += *p++;
#endif
    o[i] = s;
}
