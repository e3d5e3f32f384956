/* check
what = "a lock that is given back before the sum under it is stored"
finds = ["F0004"]
global = [256]
local = [64]
[args]
a = "rand:i32:256:5"
lock = "zeros:i32:1"
sum = "zeros:i32:1"
*/
kernel void k(global const int *a, volatile global int *lock, global int *sum)
{
    local int s;
    if (get_local_id(0) == 0) s = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&s, a[get_global_id(0)] & 15);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        while (atomic_cmpxchg(lock, 0, 1) != 0) ;
        mem_fence(CLK_GLOBAL_MEM_FENCE);
#ifdef BUG
        int was = *sum; // <-
        atomic_xchg(lock, 0);
        *sum = was + s; // <-
#else
        *sum += s;
        mem_fence(CLK_GLOBAL_MEM_FENCE);
        atomic_xchg(lock, 0);
#endif
    }
}
