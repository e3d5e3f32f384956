/* check
what = "a private stack is popped when it is empty"
finds = ["F0005", "F0001"]
global = [32]
local = [32]
[args]
a = "iota:i32:32"
o = "zeros:i32:32"
*/
kernel void k(global const int *a, global int *o)
{
    int stack[8], top = 0, i = get_global_id(0), sum = 0;
    for (int n = 0; n < 6; n++) {
        if ((a[i] >> n) & 1) stack[top++] = n;
#ifdef BUG
        else sum += stack[--top]; // <-
#else
        else if (top > 0) sum += stack[--top];
#endif
    }
    o[i] = sum;
}
