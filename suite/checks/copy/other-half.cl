/* check
what = "two halves are filled by turns, and the one that is being filled is read"
finds = ["F0026", "F0004"]
global = [32]
local = [32]
[args]
a = "rand:f32:256:3"
o = "zeros:f32:32"
*/
kernel void k(global const float *a, global float *o)
{
    local float t[2][32];
    int i = get_local_id(0);
    float s = 0;
    event_t e[2];
    e[0] = async_work_group_copy(t[0], a, 32, 0);
    for (int n = 0; n < 8; n++) {
        if (n + 1 < 8) e[(n + 1) & 1] = async_work_group_copy(t[(n + 1) & 1], a + 32 * (n + 1), 32, 0); // <-
        wait_group_events(1, &e[n & 1]);
#ifdef BUG
        s += t[(n + 1) & 1][31 - i]; // <-
#else
        s += t[n & 1][31 - i];
#endif
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    o[i] = s;
}
