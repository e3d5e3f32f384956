/* check
what = "a text is read up to a zero that it does not have"
finds = ["F0001", "F0005"]
global = [64]
local = [64]
[args]
text = "fill:u8:640:1"
o = "zeros:i32:64"
*/
kernel void k(global const uchar *text, global int *o)
{
    int i = get_global_id(0), n = 0;
    global const uchar *line = text + 10 * i;
#ifdef BUG
    while (line[n] != 0) n++; // <-
#else
    while (n < 10 && line[n] != 0) n++;
#endif
    o[i] = n;
}
