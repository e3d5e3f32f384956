/* check
what = "a loop over one member of a structure runs into the next one"
finds = ["F0005", "F0025"]
global = [16]
local = [16]
[args]
a = "rand:i32:64:7"
o = "zeros:i32:16"
*/
typedef struct { int key[4]; int sum; int more[3]; } row;
kernel void k(global const int *a, global int *o)
{
    row r;
    int i = get_global_id(0);
    r.sum = 0;
    for (int j = 0; j < 3; j++) r.more[j] = j;
    for (int j = 0; j < 4; j++) r.key[j] = a[i * 4 + j];
#ifdef BUG
    int *p = r.key;
    for (int j = 0; j <= 4; j++) r.sum += p[j]; // <-
#else
    int *p = r.key;
    for (int j = 0; j < 4; j++) r.sum += p[j];
#endif
    o[i] = r.sum + r.more[i % 3];
}
