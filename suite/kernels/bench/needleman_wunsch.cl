/* envisa
about = "Alignment of sequences: tiles of 16 x 16 scores, diagonal by diagonal, each by 16 work-items in local memory"
sizes = { B = 12 }
bench = { B = 16384 }
slow = { B = 512 }
global = ["B*16"]
local = [16]
cost = { bytes = "B*2180" }
bound = "gathers along diagonals of local memory, each right behind the scatter of what it reads; and much code, which the compiler unrolls"
features = ["i32", "slm", "barrier", "loop", "divergence"]
args = [
  { name = "match", value = "rand:i32:B*256:1:-4..12" },
  { name = "north", value = "rand:i32:B*17:2:-50..50" },
  { name = "west", value = "rand:i32:B*16:3:-50..50" },
  { name = "score", value = "zeros:i32:B*256", check = "exact", why = "integers" },
  { name = "penalty", value = "i32:10" },
]
*/
#define T 16
kernel __attribute__((reqd_work_group_size(T, 1, 1)))
void needleman_wunsch(global const int *match, global const int *north, global const int *west, global int *score,
                      int penalty)
{
    local int s[T + 1][T + 1], m[T][T];
    int l = get_local_id(0), tile = get_group_id(0);
    for (int r = 0; r < T; r++)
        m[r][l] = match[tile * T * T + r * T + l];
    if (l == 0)
        s[0][0] = north[tile * (T + 1)];
    s[0][l + 1] = north[tile * (T + 1) + l + 1];
    s[l + 1][0] = west[tile * T + l];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 0; d < 2 * T - 1; d++) {
        int r = d - l;
        if (r >= 0 && r < T)
            s[r + 1][l + 1] = max(s[r][l] + m[r][l], max(s[r + 1][l], s[r][l + 1]) - penalty);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int r = 0; r < T; r++)
        score[tile * T * T + r * T + l] = s[r + 1][l + 1];
}
