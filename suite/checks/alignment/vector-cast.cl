/* check
what = "a float4 read through a cast at an address that is aligned for a float"
finds = ["F0010", "F0024"]
global = [16]
local = [16]
missed.skl = "the compiler reads the four elements by messages that ask for the alignment of one"
missed.tgllp = "the compiler reads the four elements by messages that ask for the alignment of one"
missed.dg2 = "the compiler reads the four elements by messages that ask for the alignment of one"
missed.pvc = "the compiler reads the four elements by messages that ask for the alignment of one"
[args]
a = "rand:f32:256:4"
o = "zeros:f32:64"
*/
kernel void k(global const float *a, global float4 *o)
{
    int i = get_global_id(0);
#ifdef BUG
    o[i] = *(global const float4 *)(a + 7 * i + 1); // <-
#else
    o[i] = vload4(0, a + 7 * i + 1);
#endif
}
