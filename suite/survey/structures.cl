// Structures.

// twelve bytes: 131072 by 64; 393216 f32, 131072
typedef struct {
    float x, y, z;
} Vertex;
__kernel void lengths(__global const Vertex *v, __global float *out)
{
    size_t i = get_global_id(0);
    Vertex p = v[i];
    out[i] = sqrt(p.x * p.x + p.y * p.y + p.z * p.z);
}

// twenty-eight bytes: 65536 by 64; 458752 u32 of 1056964608..1073741824, 458752 u32
#pragma OPENCL FP_CONTRACT OFF
typedef struct {
    float position[3];
    float velocity[3];
    uint life;
} Spark;
__kernel void sparks(__global const Spark *in, __global Spark *out)
{
    int i = get_global_id(0);
    Spark s = in[i];
    for (int k = 0; k < 3; k++) {
        s.position[k] += s.velocity[k] * 0.125f;
        if (s.position[k] > 1.5f) {
            s.velocity[k] = -s.velocity[k] * 0.5f;
            s.position[k] = 1.5f;
        }
    }
    s.life = s.life > 1060000000u ? s.life - 1 : 0;
    out[i] = s;
}

// records of mixed sizes: 65536 by 128; 1048576 u8, 65536, 65536
typedef struct {
    uint id;
    ushort kind, flags;
    uchar name[5];
    char sign;
    short amount;
} Record;
__kernel void select_records(__global const Record *r, __global long *key, __global int *value)
{
    int i = get_global_id(0);
    __global const Record *p = &r[i];
    uint hash = 5381;
    for (int k = 0; k < 5; k++)
        hash = hash * 33 + p->name[k];
    bool wanted = (p->flags & 3) != 0 && p->kind > 100;
    key[i] = wanted ? ((long)hash << 32 | p->id) : -1;
    value[i] = p->sign < 0 ? -p->amount : p->amount;
}

// union of a number and its bytes: 131072 by 64; 131072, 131072
typedef union {
    uint word;
    float number;
    uchar bytes[4];
    ushort halves[2];
} Mixed;
__kernel void shuffle_bytes(__global const uint *in, __global uint *out)
{
    int i = get_global_id(0);
    Mixed m, n;
    m.word = in[i];
    n.bytes[0] = m.bytes[3];
    n.bytes[1] = m.bytes[i & 3];
    n.halves[1] = m.halves[0] + m.halves[1];
    out[i] = n.word;
}

// structures in structures: 16384 by 64; 262144 f32, 16384
struct range { float low, high; };
struct box { struct range side[3]; float weight; int pad; };
struct pair { struct box a, b; };
float overlap(const struct range *p, const struct range *q)
{
    return fmax(0.0f, fmin(p->high, q->high) - fmax(p->low, q->low));
}
__kernel void boxes(__global const struct pair *in, __global float *out)
{
    int i = get_global_id(0);
    struct pair p = in[i];
    float volume = 1.0f;
    for (int k = 0; k < 3; k++) {
        p.a.side[k].high += 2.0f;
        p.b.side[k].high += 1.5f;
        volume *= overlap(&p.a.side[k], &p.b.side[k]);
    }
    out[i] = volume * (p.a.weight + p.b.weight + 2.0f);
}

// tree of boxes traversed: 16384 by 64; 16384, 1023, 16384
typedef struct {
    float low[3], high[3];
} Box;
Box box_of(__global const float4 *nodes, int n)
{
    Box b;
    float4 v = nodes[n];
    float size = 2.0f / (1 << (31 - clz(n + 1)) / 3);
    b.low[0] = v.x, b.low[1] = v.y, b.low[2] = v.z;
    for (int k = 0; k < 3; k++)
        b.high[k] = b.low[k] + size;
    return b;
}
__kernel void traverse(__global const float4 *points, __global const float4 *nodes, __global int *hits)
{
    int stack[16], top = 0, count = 0;
    float4 p = points[get_global_id(0)];
    stack[top++] = 0;
    while (top > 0) {
        int n = stack[--top];
        Box b = box_of(nodes, n);
        if (p.x < b.low[0] || p.x > b.high[0] || p.y < b.low[1] || p.y > b.high[1])
            continue;
        if (n >= 511)
            count++;
        else {
            stack[top++] = 2 * n + 1;
            stack[top++] = 2 * n + 2;
        }
    }
    hits[get_global_id(0)] = count;
}
