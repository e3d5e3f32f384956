/* check
what = "a goto jumps over the initialiser of a sum"
finds = ["F0006"]
global = [32]
local = [32]
[args]
a = "iota:i32:32"
o = "zeros:i32:32"
*/
kernel void k(global const int *a, global int *o)
{
    int g = get_global_id(0), sum;
    if (a[g] == 7) goto done;
    sum = a[g] * a[g];
#ifndef BUG
    goto good;
done:
    sum = 0;
good:
#else
done:
#endif
    o[g] = sum + 1; // <-
}
