/* check
what = "a helper sorts one element more than the private array it was given has"
finds = ["F0005", "F0002", "F0006", "F0025"]
global = [16]
local = [16]
[args]
a = "rand:i32:128:7"
o = "zeros:i32:128"
*/
void sort(int *v, int n)
{
    for (int i = 0; i < n - 1; i++)
#ifdef BUG
        for (int j = 0; j < n - i; j++)
#else
        for (int j = 0; j < n - 1 - i; j++)
#endif
            if (v[j] > v[j + 1]) { // <-
                int x = v[j];
                v[j] = v[j + 1];
                v[j + 1] = x;
            }
}
kernel void k(global const int *a, global int *o)
{
    int x[4], y[4];
    int i = get_global_id(0);
    for (int j = 0; j < 4; j++) {
        x[j] = a[i * 8 + j];
        y[j] = a[i * 8 + 4 + j];
    }
    sort(x, 4); // <-
    sort(y, 4); // <-
    for (int j = 0; j < 4; j++) {
        o[i * 8 + j] = x[j];
        o[i * 8 + 4 + j] = y[j];
    }
}
