/* envisa
about = "printf of integers, floats, characters and strings"
sizes = { N = 4 }
global = ["N"]
local = [4]
printf = "lines"
features = ["printf", "string"]
args = [
  { name = "a", value = "rand:i32:N:1:-1000..1000" },
]
*/
kernel void basic(global const int *a)
{
    int i = get_global_id(0);
    printf("item %d: %d 0x%08x %c %5u|%-6d|\n", i, a[i], a[i], 'a' + i, i * 7u, a[i]);
    printf("item %d: %.3f %s\n", i, (float)a[i] * 0.125f, (a[i] & 1) ? "odd" : "even");
}
