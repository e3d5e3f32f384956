/* check
what = "digits of a number are written from the end, and all of the text is used"
finds = ["F0002", "F0006"]
global = [32]
local = [32]
[args]
a = "iota:u32:32"
o = "zeros:u32:32"
*/
kernel void k(global const uint *a, global uint *o)
{
    int i = get_global_id(0);
    char text[8];
    int at = 8;
    uint n = a[i] * 997;
    do { text[--at] = '0' + n % 10; n /= 10; } while (n);
    uint hash = 5381;
#ifdef BUG
    for (int j = 0; j < 8; j++)
#else
    for (int j = at; j < 8; j++)
#endif
        hash = hash * 33 + text[j]; // <-
    o[i] = hash;
}
