/* check
what = "a loop ends when a work-item has enough, and the others of its sub-group go on to vote"
finds = ["F0007"]
global = [64]
local = [32]
options = "-cl-std=CL2.0"
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
n = "9"
*/
static int more(int left, int *sum)
{
    int up = sub_group_scan_inclusive_add(left); // <-
    for (int j = 0; j < (left & 3); j++) {
        if (j == 2) continue;
        *sum += up ^ j;
    }
    switch (get_num_groups(0)) {
    case 1: return sub_group_all(left > 4);
    case 2: return sub_group_any(left > 0); // <-
    }
    return 0;
}
kernel void k(global const int *a, global int *o, int n)
{
    int i = get_global_id(0), left = a[i] % n, sum = 0;
#ifdef BUG
    while (left > 0 && more(left, &sum)) left--;
#else
    while (more(left, &sum)) left -= left > 0;
#endif
    o[i] = sum;
}
