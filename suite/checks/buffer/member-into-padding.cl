/* check
what = "three shorts of a record, and the fourth is the padding before the next member"
finds = ["F0005"]
global = [16]
local = [16]
[args]
a = "zeros:u8:192"
o = "zeros:i32:16"
n = "3"
*/
struct record { short h[3]; int sum; };
kernel void k(global struct record *a, global int *o, int n)
{
    int g = get_global_id(0);
#ifdef BUG
    for (int j = 0; j <= n; j++) a[g].h[j] = j + g; // <-
#else
    for (int j = 0; j < n; j++) a[g].h[j] = j + g;
#endif
    a[g].sum = n;
    o[g] = a[g].h[0];
}
