/* check
what = "letters are counted by a char that has a sign"
finds = ["F0001", "F0005"]
global = [256]
local = [64]
[args]
text = "iota:u8:256"
count = "zeros:i32:256"
*/
#ifdef BUG
typedef char letter;
#else
typedef uchar letter;
#endif
kernel void k(global const letter *text, global int *count)
{
    letter c = text[get_global_id(0)];
    atomic_inc(&count[c]); // <-
}
