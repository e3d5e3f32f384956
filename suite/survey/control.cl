// Control flow.

// machine of bytes interpreted: 16384 by 64; 64, 16384
__kernel void interpreter(__global const uchar *code, __global uint *out)
{
    uint stack[16], acc = get_global_id(0);
    int sp = 1, pc = 0, steps = 0;
    stack[0] = acc;
    while (pc < 64 && steps++ < 200) {
        uchar op = code[pc++];
        switch (op & 15) {
        case 0: case 1:
            if (sp < 16) stack[sp++] = acc;
            break;
        case 2: case 3:
            if (sp > 0) acc += stack[--sp];
            break;
        case 4:
            if (sp > 0) acc ^= stack[sp - 1];
            break;
        case 5:
            acc = acc * 5 + 1;
            break;
        case 6:
            if (acc & 1) pc += op >> 6;
            break;
        case 7:
            if (acc % 3 == 0) pc = op >> 2;
            break;
        case 8:
            if (sp > 1) {
                uint t = acc;
                acc = stack[sp / 2];
                stack[sp / 2] = t;
            }
            break;
        case 9:
            acc = acc >> 31 ? ~acc : acc >> 1;
            break;
        case 10:
            acc += op;
            break;
        default:
            acc = rotate(acc, (uint)(op >> 4));
        }
    }
    out[get_global_id(0)] = acc ^ (uint)steps << 24;
}

// steps of Collatz: 65536 by 64; 65536
__kernel void collatz(__global uint *steps)
{
    ulong n = get_global_id(0) + 1;
    uint count = 0;
    while (n != 1) {
        n = n & 1 ? 3 * n + 1 : n >> 1;
        count++;
    }
    steps[get_global_id(0)] = count;
}

// primes by trial division: 32768 by 64; 32768
__kernel void is_prime(__global uchar *prime)
{
    uint n = get_global_id(0);
    prime[n] = 0;
    if (n < 2)
        return;
    for (uint d = 2; d * d <= n; d++)
        if (n % d == 0)
            return;
    prime[n] = 1;
}

// loops in loops that differ: 32768 by 64; 32768, 32768
__kernel void nested(__global const uint *in, __global uint *out)
{
    uint i = get_global_id(0), v = in[i], sum = 0;
    for (uint a = 0; a < (v & 7); a++) {
        for (uint b = a; b < (v >> 3 & 15); b++) {
            if ((v >> b & 1) == 0)
                continue;
            sum += a * b;
            if (sum > 300)
                goto done;
        }
        sum ^= v >> a;
    }
done:
    out[i] = sum;
}

// queens counted by bits: 4096 by 64; 4096
#define N 9
__kernel void queens(__global uint *solutions)
{
    uint start = get_global_id(0), all = (1 << N) - 1, count = 0;
    uint columns[N + 1], left[N + 1], right[N + 1], open[N + 1];
    uint a = start % N, b = start / N % N, c = start / (N * N) % N;
    uint first[3] = {1u << a, 1u << b, 1u << c};
    uint q = 0, l = 0, r = 0;
    bool possible = true;
    for (int i = 0; i < 3; i++) {
        possible = possible && !(first[i] & (q | l | r));
        q |= first[i];
        l = (l | first[i]) << 1;
        r = (r | first[i]) >> 1;
    }
    if (possible) {
        int row = 3;
        columns[3] = q, left[3] = l, right[3] = r, open[3] = all & ~(q | l | r);
        while (row >= 3) {
            uint free = open[row];
            if (free == 0) {
                row--;
                continue;
            }
            uint bit = free & -free;
            open[row] ^= bit;
            if (row == N - 1) {
                count++;
                continue;
            }
            uint nq = columns[row] | bit, nl = (left[row] | bit) << 1, nr = (right[row] | bit) >> 1;
            row++;
            columns[row] = nq, left[row] = nl, right[row] = nr, open[row] = all & ~(nq | nl | nr);
        }
    }
    solutions[start] = count;
}

// ants of Langton: 4096 by 64; 4096, 4096
__kernel void ant(__global const uint *seed, __global ulong *out)
{
    int i = get_global_id(0), x = 4, y = 4, dir = seed[i] & 3;
    ulong grid = (ulong)seed[i] * 0x9E3779B97F4A7C15UL;
    for (int step = 0; step < 100; step++) {
        ulong bit = 1UL << (y * 8 + x);
        dir = (grid & bit ? dir + 1 : dir + 3) & 3;
        grid ^= bit;
        switch (dir) {
        case 0: y = (y + 7) & 7; break;
        case 1: x = (x + 1) & 7; break;
        case 2: y = (y + 1) & 7; break;
        case 3: x = (x + 7) & 7; break;
        }
    }
    out[i] = grid;
}

// rays marched to a surface: 320x240 by 16x8; 76800
float surface(float3 p)
{
    float3 q = fabs(p) - (float3)(0.6f, 0.4f, 0.5f);
    float box = length(fmax(q, 0.0f)) + fmin(fmax(q.x, fmax(q.y, q.z)), 0.0f) - 0.1f;
    return fmin(box, length(p - (float3)(0.5f, 0.8f, 0.0f)) - 0.45f);
}
__kernel void march(__global float *depth)
{
    int x = get_global_id(0), y = get_global_id(1);
    float3 dir = normalize((float3)((x - 160) / 160.0f, (y - 120) / 160.0f, 1.8f));
    float t = 1.0f;
    for (int i = 0; i < 40; i++) {
        float d = surface((float3)(0.0f, 0.0f, -4.0f) + t * dir);
        t += d;
        if (t > 8.0f)
            break;
    }
    depth[y * get_global_size(0) + x] = t > 8.0f ? 8.0f : t;
}
