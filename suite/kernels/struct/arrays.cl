/* envisa
about = "Arrays of structs with padding, read and written field by field"
sizes = { N = 64 }
global = ["N"]
local = [32]
features = ["struct", "unaligned", "u8", "i16"]
args = [
  { name = "in", value = "rand:u32:N*4:1" },
  { name = "out", value = "zeros:u32:N*4", check = "exact", why = "integers" },
]
*/
typedef struct { uchar kind; short delta; int value; union { uint u; uchar b[4]; } tail; uint last; } item;
kernel void arrays(global const item *in, global item *out)
{
    uint i = get_global_id(0);
    global const item *p = in + i;
    global item *q = out + i;
    q->kind = p->kind + 1;
    q->delta = p->delta - 3;
    q->value = p->value / 3;
    for (int k = 0; k < 4; k++)
        q->tail.b[k] = p->tail.b[3 - k];
    q->last = p->last ^ p->tail.u;
}
