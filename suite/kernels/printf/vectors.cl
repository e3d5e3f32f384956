/* envisa
about = "printf of vectors, longs and hexadecimal shorts"
sizes = { N = 3 }
global = ["N"]
local = [3]
printf = "lines"
features = ["printf", "vector", "i64"]
args = [
  { name = "a", value = "rand:i32x4:N:2:-100..100" },
]
*/
kernel void vectors(global const int4 *a)
{
    int i = get_global_id(0);
    printf("v %d: %v4hld\n", i, a[i]);
    printf("f %d: %.2v2hlf\n", i, (float2)(a[i].x * 0.25f, a[i].y * 0.5f));
    printf("l %d: %ld %lx\n", i, (long)a[i].z * 10000000000L, (long)a[i].w & 0xffffffffffL);
}
