/* check
what = "an array in a structure written over its end, into the next member"
finds = ["F0005"]
global = [16]
local = [16]
[args]
s = "zeros:i32:96"
n = "4"
*/
typedef struct {
    int count;
    int list[4];
    int last;
} entry;

kernel void k(global entry *s, int n)
{
    int i = get_global_id(0);
    s[i].last = 7;
#ifdef BUG
    for (int j = 0; j <= n; j++) s[i].list[j] = j; // <-
#else
    for (int j = 0; j < n; j++) s[i].list[j] = j;
#endif
    s[i].count = n;
}
