/* check
what = "a number is used although its parser says that there is none"
finds = ["F0006", "F0002"]
global = [64]
local = [64]
[args]
text = "iota:u8:64"
o = "zeros:i32:64"
*/
int parse(uchar c, int *value)
{
    if (c < '0' || c > '9') return 0;
    *value = c - '0';
    return 1;
}
kernel void k(global const uchar *text, global int *o)
{
    int i = get_global_id(0), value;
#ifdef BUG
    parse(text[i], &value);
#else
    if (!parse(text[i], &value)) value = -1;
#endif
    o[i] = value; // <-
}
