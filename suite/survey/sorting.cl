// Sorts, scans and reductions.

// a step of a bitonic sort: 131072 by 256; 262144, 64, 256
__kernel void bitonic_step(__global uint *data, uint j, uint k)
{
    uint t = get_global_id(0);
    uint low = (t / j) * j * 2 + t % j, high = low + j;
    uint a = data[low] ^ low * 2654435761u, b = data[high] ^ high * 2654435761u;
    bool up = (low & k) == 0;
    data[low] = up == (a < b) ? a : b;
    data[high] = up == (a < b) ? b : a;
}

// digits counted for a radix sort: 32768 by 64; 524288, 8192, 8
#define RADIX 16
__kernel void radix_count(__global const uint *keys, __global uint *counts, uint shift)
{
    __local uint bins[RADIX][64];
    uint l = get_local_id(0), g = get_group_id(0);
    for (int r = 0; r < RADIX; r++)
        bins[r][l] = 0;
    for (int i = 0; i < 16; i++)
        bins[(keys[g * 1024 + i * 64 + l] >> shift) & (RADIX - 1)][l]++;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < RADIX) {
        uint sum = 0;
        for (int i = 0; i < 64; i++)
            sum += bins[l][i];
        counts[l * get_num_groups(0) + g] = sum;
    }
}

// digits sorted within groups: 65536 by 128; 65536, 65536, 4
__kernel void radix_split(__global const uint *in, __global uint *out, int bits)
{
    __local uint keys[128], sums[128];
    int l = get_local_id(0);
    uint key = in[get_global_id(0)];
    for (int b = 0; b < bits; b++) {
        uint zero = 1 - (key >> b & 1);
        sums[l] = zero;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int d = 1; d < 128; d <<= 1) {
            uint t = l >= d ? sums[l - d] : 0;
            barrier(CLK_LOCAL_MEM_FENCE);
            sums[l] += t;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        uint zeros = sums[127];
        keys[zero ? sums[l] - 1 : zeros + l - sums[l]] = key;
        barrier(CLK_LOCAL_MEM_FENCE);
        key = keys[l];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = key;
}

// scan of Blelloch: 65536 by 128; 131072 of 0..100, 131072, 512, 256
__kernel void blelloch(__global const int *in, __global int *out, __global int *sums, __local int *temp)
{
    int l = get_local_id(0), n = 2 * get_local_size(0), base = get_group_id(0) * n, offset = 1;
    temp[2 * l] = in[base + 2 * l];
    temp[2 * l + 1] = in[base + 2 * l + 1];
    for (int d = n >> 1; d > 0; d >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < d)
            temp[offset * (2 * l + 2) - 1] += temp[offset * (2 * l + 1) - 1];
        offset *= 2;
    }
    if (l == 0) {
        sums[get_group_id(0)] = temp[n - 1];
        temp[n - 1] = 0;
    }
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < d) {
            int a = offset * (2 * l + 1) - 1, b = offset * (2 * l + 2) - 1, t = temp[a];
            temp[a] = temp[b];
            temp[b] += t;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[base + 2 * l] = temp[2 * l];
    out[base + 2 * l + 1] = temp[2 * l + 1];
}

// scan of segments: 131072 by 256; 131072 of 0..10, 131072 of 0..16, 131072
__kernel void segmented_scan(__global const int *in, __global const uchar *flags, __global int *out)
{
    __local int value[256];
    __local uchar head[256];
    int l = get_local_id(0), i = get_global_id(0);
    value[l] = in[i];
    head[l] = flags[i] == 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 1; d < 256; d <<= 1) {
        int v = value[l];
        uchar f = head[l];
        if (l >= d) {
            if (!f)
                v += value[l - d];
            f |= head[l - d];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        value[l] = v;
        head[l] = f;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[i] = value[l];
}

// scan by sub-groups: 131072 by 128; 131072 of 0..100, 131072
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
__kernel void subgroup_scan(__global const int *in, __global int *out)
{
    __local int sums[128];
    int s = get_sub_group_id(), own = in[get_global_id(0)];
    int sum = sub_group_scan_inclusive_add(own);
    if (get_sub_group_local_id() == get_sub_group_size() - 1)
        sums[s] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < s; i++)
        sum += sums[i];
    out[get_global_id(0)] = sum - own;
}

// what is wanted kept, in order: 131072 by 128; 131072, 131072, 1024
__kernel void compact(__global const int *in, __global int *out, __global int *count)
{
    __local int place[128];
    int l = get_local_id(0), g = get_group_id(0), v = in[get_global_id(0)];
    int keep = v % 3 == 0;
    place[l] = keep;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 1; d < 128; d *= 2) {
        int before = l >= d ? place[l - d] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        place[l] += before;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (keep)
        out[g * 128 + place[l] - 1] = v;
    if (l == 127)
        count[g] = place[l];
}

// counters appended to by atomics: 262144 by 64; 262144, 64, 64
__kernel void bucket_sizes(__global const uint *in, __global uint *size, __global uint *largest)
{
    uint v = in[get_global_id(0)];
    uint bucket = 31 - clz(v | 1);
    atomic_inc(&size[bucket]);
    atomic_max(&largest[bucket], v);
}

// two sorted rows merged: 8192 by 64; 65536 of rising 0..9, 65536 of rising 0..9, 131072, 65536
__kernel void merge_path(__global const int *a, __global const int *b, __global int *c, int n)
{
    int each = 2 * n / get_global_size(0), diagonal = get_global_id(0) * each;
    int low = max(0, diagonal - n), high = min(diagonal, n);
    while (low < high) {
        int mid = (low + high) / 2;
        if (a[mid] <= b[diagonal - 1 - mid])
            low = mid + 1;
        else
            high = mid;
    }
    int i = low, j = diagonal - low;
    for (int k = 0; k < each; k++)
        c[diagonal + k] = j >= n || (i < n && a[i] <= b[j]) ? a[i++] : b[j++];
}

// medians by quickselect: 8192 by 64; 253952, 8192
#define N 31
__kernel void quickselect(__global const short *in, __global short *out)
{
    short v[N];
    int id = get_global_id(0), low = 0, high = N - 1;
    for (int i = 0; i < N; i++)
        v[i] = in[id * N + i];
    while (low < high) {
        short pivot = v[N / 2];
        int i = low, j = high;
        do {
            while (v[i] < pivot)
                i++;
            while (pivot < v[j])
                j--;
            if (i <= j) {
                short t = v[i];
                v[i++] = v[j];
                v[j--] = t;
            }
        } while (i <= j);
        if (j < N / 2)
            low = i;
        if (N / 2 < i)
            high = j;
    }
    out[id] = v[N / 2];
}

// where the greatest is: 131072 by 256; 131072, 512
__kernel void argmax(__global const float *in, __global int2 *out)
{
    __local float best[256];
    __local int where[256];
    int l = get_local_id(0);
    best[l] = in[get_global_id(0)];
    where[l] = get_global_id(0);
    for (int s = get_local_size(0) >> 1; s > 0; s >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < s && (best[l + s] > best[l] || (best[l + s] == best[l] && where[l + s] < where[l]))) {
            best[l] = best[l + s];
            where[l] = where[l + s];
        }
    }
    if (l == 0)
        out[get_group_id(0)] = (int2)(where[0], as_int(best[0]));
}

// insertion into a short list of the least: 4096 by 64; 524288, 4096
__kernel void top4(__global const uint *in, __global uint4 *out)
{
    int i = get_global_id(0);
    uint4 t = (uint4)(~0u);
    for (int k = 0; k < 128; k++) {
        uint v = in[k * get_global_size(0) + i];
        if (v < t.w) {
            t.w = v;
            if (t.w < t.z) t.zw = t.wz;
            if (t.z < t.y) t.yz = t.zy;
            if (t.y < t.x) t.xy = t.yx;
        }
    }
    out[i] = t;
}
