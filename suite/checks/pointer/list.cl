/* check
what = "a list that ends nowhere"
finds = ["F0001", "F0005"]
global = [6]
local = [6]
[args]
next = "i32:3,4,1,2,1000,0"
b = "zeros:i32:6"
*/
kernel void k(global const int *next, global int *b)
{
    int i = get_global_id(0);
    int at = i;
    for (int k = 0; k < 3; k++) {
#ifndef BUG
        if (at > 5) break;
#endif
        at = next[at]; // <-
    }
    b[i] = at;
}
