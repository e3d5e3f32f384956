/* check
what = "an insertion looks at one element more than there is"
finds = ["F0002", "F0006"]
global = [16]
local = [16]
[args]
a = "rand:i32:128:5"
o = "zeros:i32:128"
*/
kernel void k(global const int *a, global int *o)
{
    int i = get_global_id(0);
    int s[9], n = 0;
    for (int j = 0; j < 8; j++) {
        int x = a[i * 8 + j], at = n;
#ifdef BUG
        while (at > 0 && s[at] > x) { s[at] = s[at - 1]; at--; } // <-
#else
        while (at > 0 && s[at - 1] > x) { s[at] = s[at - 1]; at--; }
#endif
        s[at] = x;
        n++;
    }
    for (int j = 0; j < 8; j++) o[i * 8 + j] = s[j];
}
