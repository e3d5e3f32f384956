/* check
what = "a sum of floats by compare and exchange, whose last step is a plain store"
finds = ["F0004", "F0003"]
global = [256]
local = [32]
[args]
a = "rand:f32:256:4"
sum = "zeros:f32:1"
*/
void add(volatile global float *p, float x)
{
    union { uint u; float f; } was, now;
    do {
        was.f = *p; // <-
        now.f = was.f + x;
#ifdef BUG
        *p = now.f; // <-
        break;
#endif
    } while (atomic_cmpxchg((volatile global uint *)p, was.u, now.u) != was.u); // <-
}
kernel void k(global const float *a, volatile global float *sum)
{
    add(sum, a[get_global_id(0)]); // <-
}
