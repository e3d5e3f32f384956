/* check
what = "the flag of a loop is cleared while others still look at it"
finds = ["F0004", "F0007", "F0018"]
global = [64]
local = [64]
[args]
label = "rand:i32:64:9"
*/
kernel void k(global int *label)
{
    local int l[64], changed;
    int i = get_local_id(0);
    l[i] = label[i];
    do {
        if (i == 0) changed = 0; // <-
        barrier(CLK_LOCAL_MEM_FENCE);
        int left = l[max(i - 1, 0)], mine = l[i];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (left < mine) {
            l[i] = left;
            atomic_or(&changed, 1);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
#ifdef BUG
    } while (changed); // <-
#else
        int again = changed;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (!again) break;
    } while (true);
#endif
    label[i] = l[i];
}
