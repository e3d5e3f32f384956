/* check
what = "a shift by more bits than there are"
finds = ["F0022"]
hints = true
global = [64]
local = [64]
absent.skl = "OpenCL C takes the count modulo the width, and the compiler writes that out"
absent.tgllp = "OpenCL C takes the count modulo the width, and the compiler writes that out"
absent.dg2 = "OpenCL C takes the count modulo the width, and the compiler writes that out"
absent.pvc = "OpenCL C takes the count modulo the width, and the compiler writes that out"
[args]
a = "zeros:u32:64"
*/
kernel void k(global uint *a)
{
    int i = get_global_id(0);
#ifdef BUG
    a[i] = 1u << i; // <-
#else
    a[i] = i < 32 ? 1u << i : 0;
#endif
}
