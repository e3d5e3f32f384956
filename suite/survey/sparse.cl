// Sparse matrices and graphs.

// rows of CSR, each a work-item: 16384 by 64; 16385 of rising 0..32, 524288 of 0..16384, 524288, 16384, 16384, 16384
__kernel void spmv_csr_scalar(__global const int *ptr, __global const int *col, __global const float *val,
                              __global const float *x, __global float *y, const int rows)
{
    int row = get_global_id(0);
    if (row < rows) {
        float dot = 0;
        for (int j = ptr[row]; j < ptr[row + 1]; j++)
            dot += val[j] * x[col[j]];
        y[row] = dot;
    }
}

// rows of CSR, each a sub-group: 131072 by 128; 8193 of rising 0..64, 524288 of 0..8192, 524288, 8192, 8192, 8192
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
__kernel void spmv_csr_vector(__global const int *ptr, __global const int *col, __global const float *val,
                              __global const float *x, __global float *y, const int rows)
{
    int width = get_sub_group_size(), lane = get_sub_group_local_id();
    int first = get_group_id(0) * get_num_sub_groups() + get_sub_group_id();
    for (int row = first; row < rows; row += get_num_groups(0) * get_num_sub_groups()) {
        float sum = 0;
        for (int j = ptr[row] + lane; j < ptr[row + 1]; j += width)
            sum += val[j] * x[col[j]];
        sum = sub_group_reduce_add(sum);
        if (lane == 0)
            y[row] = sum;
    }
}

// ELLPACK: 20000 by 100; 320000 of -4000..20000, 320000, 20000, 20000, 20000, 16
__kernel void spmv_ell(__global const int *cols, __global const float *vals, __global const float *x,
                       __global float *y, int n, int width)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    float sum = 0;
    for (int k = 0; k < width; ++k) {
        int c = cols[k * n + i];
        if (c >= 0)
            sum = mad(vals[k * n + i], x[c], sum);
    }
    y[i] = sum;
}

// COO by atomics: 131072 by 128; 131072 of 0..4096, 131072 of 0..4096, 131072 of -9..10, 4096 of -99..100, 4096, 131000
__kernel void spmv_coo(__global const uint *row, __global const uint *col, __global const int *val,
                       __global const int *x, volatile __global int *y, uint nnz)
{
    uint i = get_global_id(0);
    if (i < nnz)
        atomic_add(&y[row[i]], val[i] * x[col[i]]);
}

// frontier of a breadth-first search: 8192 by 64; 9999 of rising 0..16, 149985 of 0..9998, 8192 of 0..9998, 9999 of 0..9, 9999, 3
__kernel void bfs_frontier(__global const int *ptr, __global const int *adj, __global const int *frontier,
                           __global const int *known, __global int *next, int level)
{
    int v = frontier[get_global_id(0)];
    for (int e = ptr[v]; e < ptr[v + 1]; e++) {
        int u = adj[e];
        if (known[u] > level)
            atomic_cmpxchg(&next[u], 0, level + 1);
    }
}

// labels of components: 65536 by 64; 131072 of 0..16384, 16384 of iota
__kernel void hook_labels(__global const uint2 *edges, __global uint *label)
{
    uint2 e = edges[get_global_id(0)];
    uint low = min(e.x, e.y), high = max(e.x, e.y);
    atomic_min(&label[high], low);
}

// rank of pages: 16384 by 128; 16385 of rising 0..24, 524288 of 0..16384, 16384 of 0..1, 16384 of 1..24, 16384, 0.85
__kernel void pagerank(__global const uint *restrict ptr, __global const uint *restrict from,
                       __global const float *restrict rank, __global const uint *restrict degree,
                       __global float *restrict next, float damping)
{
    size_t v = get_global_id(0);
    float sum = 0.0f;
    for (uint e = ptr[v]; e != ptr[v + 1]; ++e) {
        uint u = from[e];
        sum += rank[u] / (float)degree[u];
    }
    next[v] = (1.0f - damping) / get_global_size(0) + damping * sum;
}

// triangles counted: 8192 by 64; 1025 of rising 8..40, 65536 of rising 1..3, 16384 of 0..1024, 8192
__kernel void triangles(__global const int *ptr, __global const int *adj, __global const int2 *edges, __global int *count)
{
    int2 e = edges[get_global_id(0)];
    int i = ptr[e.x], j = ptr[e.y];
    int ie = ptr[e.x + 1], je = ptr[e.y + 1];
    int bi = adj[i], bj = adj[j], found = 0;
    while (i < ie && j < je) {
        int a = adj[i] - bi, b = adj[j] - bj;
        if (a == b)
            found++, i++, j++;
        else if (a < b)
            i++;
        else
            j++;
    }
    count[get_global_id(0)] = found;
}

// relaxed edges: 65536 by 64; 65536 of 0..8192, 65536 of 0..8192, 65536 of 1..100, 8192 of 0..100000, 8192 of 0..100000
__kernel void relax(__global const int *src, __global const int *dst, __global const int *weight,
                    __global const int *dist, __global int *out)
{
    int i = get_global_id(0);
    int through = dist[src[i]] + weight[i];
    if (through < dist[dst[i]])
        atomic_min(out + dst[i], through);
}
