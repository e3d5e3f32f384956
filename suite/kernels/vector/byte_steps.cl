/* envisa
about = "Bytes and words two to four bytes apart: components of packed pixels, single and in pairs, at odd places, some of them masked"
sizes = { N = 1000 }
global = ["N"]
local = [100]
features = ["u8", "u16"]
args = [
  { name = "a", value = "rand:u8:N*4+8:1" },
  { name = "out", value = "zeros:u8:N*24+16", check = "exact", why = "integers" },
]
*/
kernel void byte_steps(global const uchar *a, global uchar *out)
{
    int i = get_global_id(0), n = get_global_size(0);
    global const ushort *w = (global const ushort *)a;
    // Two, three and four bytes apart: sums of components, and each component on its own.
    out[2 * i] = a[2 * i + 1] ^ a[3 * i + 2];
    out[2 * i + 1] = a[3 * i] + a[3 * i + 1] + a[4 * i + 3];
    global uchar *rgb = out + 2 * n + 1;
    for (int k = 0; k < 3; k++)
        rgb[3 * i + k] = min(a[3 * i + k] + 40, 255);
    global uchar *one = rgb + 3 * n;
    one[4 * i + 2] = a[4 * i] >> 1;
    // Only every third work-item, and those that others do not.
    global uchar *some = one + 4 * n;
    if (i % 3 != 1)
        some[3 * i + 1] = a[2 * i];
    else
        some[3 * i] = a[4 * i + 1];
    // Words four bytes apart, and what begins at the end of the buffer.
    global ushort *words = (global ushort *)(out + 12 * n + 8);
    words[2 * i] = w[2 * i + 1] * 3;
    global uchar *last = out + 16 * n + 12;
    last[3 * i + 4] = a[4 * i + 7];
    uchar3 v = vload3(i, a);
    vstore3(v.zxy, i, out + 19 * n + 14);
    if (i < n / 2)
        out[22 * n + 16 + 2 * i] = a[2 * (n - i)];
}
