/* check
what = "a pointer to a member of a packed structure"
finds = ["F0024", "F0010"]
global = [16]
local = [16]
[args]
a = "iota:u8:80"
o = "zeros:i32:16"
*/
typedef struct __attribute__((packed)) { char kind; int value; } item;
int twice(global const int *p) { return 2 * *p; } // <-
kernel void k(global const item *a, global int *o)
{
    int i = get_global_id(0);
#ifdef BUG
    o[i] = twice((global const int *)((global const char *)&a[i] + 1)); // <-
#else
    int v = a[i].value;
    o[i] = 2 * v;
#endif
}
