/* envisa
about = "The cheapest way down a grid: 20 rows at once, columns with a halo in local memory"
sizes = { G = 4 }
bench = { G = 4096 }
slow = { G = 64 }
global = ["G*256"]
local = [256]
cost = { bytes = "G*216*88" }
features = ["i32", "slm", "barrier", "loop", "divergence"]
args = [
  { name = "cost", value = "rand:i32:G*216*20:1:0..10" },
  { name = "above", value = "rand:i32:G*216:2:0..1000" },
  { name = "below", value = "zeros:i32:G*216", check = "exact", why = "integers" },
  { name = "columns", value = "i32:G*216" },
]
*/
#define T 256
#define ROWS 20
kernel __attribute__((reqd_work_group_size(T, 1, 1)))
void pathfinder(global const int *cost, global const int *above, global int *below, int columns)
{
    local int least[T];
    int l = get_local_id(0), first = (int)get_group_id(0) * (T - 2 * ROWS) - ROWS;
    int x = first + l, at = clamp(x, 0, columns - 1);
    int left = max(l - 1, max(0, -first)), right = min(l + 1, min(T - 1, columns - 1 - first));
    least[l] = above[at];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int r = 0; r < ROWS; r++) {
        int sum = min(least[l], min(least[left], least[right])) + cost[r * columns + at];
        barrier(CLK_LOCAL_MEM_FENCE);
        least[l] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l >= ROWS && l < T - ROWS)
        below[x] = least[l];
}
