/* envisa
about = "One level of a breadth-first search: a quarter of the nodes in the front, 0 to 7 edges each"
sizes = { N = 512 }
bench = { N = 2097152 }
slow = { N = 262144 }
global = ["N"]
local = [128]
cost = { bytes = "N*13", note = "without the edges of the front" }
bound = "locked exchanges channel by channel, of lines all over the memory: they wait for the stores before them, and those for their lines, which are fetched one and two iterations early"
features = ["i32", "gather", "atomic-global", "loop", "divergence"]
args = [
  { name = "front", value = "rand:u8:N:1:0..4" },
  { name = "degree", value = "rand:u32:N:2:0..8" },
  { name = "edge", value = "rand:u32:N*8:3:0..N" },
  { name = "level", value = "zeros:u32:N", check = "exact", why = "who comes first does not show: all write the same" },
  { name = "next", value = "zeros:u8:N", check = "exact", why = "as for level" },
  { name = "now", value = "u32:5" },
]
*/
kernel void bfs_level(global const uchar *front, global const uint *degree, global const uint *edge,
                      global volatile uint *level, global uchar *next, uint now)
{
    uint node = get_global_id(0);
    if (front[node] != 0)
        return;
    uint first = node * 8, end = first + degree[node];
    for (uint e = first; e < end; e++) {
        uint to = edge[e];
        if (atomic_cmpxchg(&level[to], 0, now) == 0)
            next[to] = 1;
    }
}
