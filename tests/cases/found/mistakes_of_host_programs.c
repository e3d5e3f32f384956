// Mistakes of host programs, each beside its twin without it: a mistake is told, and of a twin nothing but what it leaves behind.
// Whether a change of the memory of CL_MEM_USE_HOST_PTR is seen depends on whether the kernel has begun: only the twin is here.
// NEEDS: ocloc opencl
// RUN: cc %s -o %t/host -lOpenCL
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host uaf_launch bug
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host uaf_launch twin
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host uaf_read bug
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host uaf_read twin
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host double_release bug
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host double_release twin
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host double_release_event bug
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host double_release_event twin
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host read_before_event bug
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host read_before_event twin
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host ooo_no_events bug
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host ooo_no_events twin
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host missing_finish bug
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host missing_finish twin
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host host_changes_source bug
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host host_changes_source twin
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host map_not_unmapped bug
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host map_not_unmapped twin
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host map_leak bug
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host map_leak twin
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host map_read_written bug
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host map_read_written twin
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host map_used_after_unmap bug
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host map_used_after_unmap twin
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host wrong_arg_size bug
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host wrong_arg_size twin
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host arg_not_set bug
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host arg_not_set twin
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host copy_overlap bug
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host copy_overlap twin
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host read_past_end bug
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host read_past_end twin
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host kernel_reads_unwritten bug
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host kernel_reads_unwritten twin
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host kernel_reads_half_written bug
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host kernel_reads_half_written twin
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host inc_unwritten bug
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host inc_unwritten twin
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host host_reads_unwritten bug
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host host_reads_unwritten twin
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host write_read_only bug
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host write_read_only twin
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host read_write_only bug
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host read_write_only twin
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host host_no_access bug
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host host_no_access twin
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host buffer_too_small bug
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host buffer_too_small twin
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host local_too_small bug
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host local_too_small twin
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host range_too_large bug
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host range_too_large twin
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host not_divisible bug
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host not_divisible twin
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host leak_buffer bug
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host leak_buffer twin
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host leak_event bug
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host leak_event twin
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host subbuffer_race bug
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host subbuffer_race twin
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host two_queues_write bug
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host two_queues_write twin
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host use_host_ptr_touched twin
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host use_host_ptr_freed bug
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host use_host_ptr_freed twin
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host stale_local_arg bug
// CODE: envisa exec --driver %d --device dg2 --check -- %t/host stale_local_arg twin
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static const char *SRC =
"__kernel void inc(__global int *a) { a[get_global_id(0)] += 1; }\n"
"__kernel void copy(__global const int *a, __global int *b) { b[get_global_id(0)] = a[get_global_id(0)]; }\n"
"__kernel void heavy(__global int *a, int n) { int x = a[get_global_id(0)]; for (int i = 0; i < n; i++) x = x * 3 + i; a[get_global_id(0)] = x; }\n"
"__kernel void tile(__global int *a, __local int *t) { int l = get_local_id(0); t[l] = a[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE); a[get_global_id(0)] = t[get_local_size(0) - 1 - l]; }\n";
#define N 1024
int main(int c, char **v) {
    const char *k = v[1]; int bug = !strcmp(v[2], "bug"); cl_int e; int h[N], h2[N]; for (int i = 0; i < N; i++) h[i] = i;
    cl_platform_id p; clGetPlatformIDs(1, &p, 0); cl_device_id d; clGetDeviceIDs(p, CL_DEVICE_TYPE_ALL, 1, &d, 0);
    cl_context x = clCreateContext(0, 1, &d, 0, 0, 0);
    cl_command_queue q = clCreateCommandQueue(x, d, 0, 0), q2 = clCreateCommandQueue(x, d, 0, 0), o = clCreateCommandQueue(x, d, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0);
    cl_program g = clCreateProgramWithSource(x, 1, &SRC, 0, 0); e = clBuildProgram(g, 1, &d, "", 0, 0); if (e) { printf("build %d\n", e); return 3; }
    cl_kernel inc = clCreateKernel(g, "inc", 0), cp = clCreateKernel(g, "copy", 0), hv = clCreateKernel(g, "heavy", 0), ti = clCreateKernel(g, "tile", 0);
    cl_mem a = clCreateBuffer(x, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof h, h, 0), b = clCreateBuffer(x, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof h, h, 0);
    size_t gs = N, ls = 64; cl_event ev = 0; int ra = 1, rb = 1; cl_int err = 0; int n = 2000;
#define IS(s) if (!strcmp(k, s))
    IS("uaf_launch") { clSetKernelArg(inc, 0, sizeof a, &a); if (bug) { clReleaseMemObject(a); ra = 0; } err = clEnqueueNDRangeKernel(q, inc, 1, 0, &gs, &ls, 0, 0, 0); }
    IS("uaf_read") { if (bug) { clReleaseMemObject(a); ra = 0; } err = clEnqueueReadBuffer(q, a, 1, 0, sizeof h2, h2, 0, 0, 0); }
    IS("double_release") { clReleaseMemObject(a); ra = 0; if (bug) err = clReleaseMemObject(a); }
    IS("double_release_event") { clSetKernelArg(inc, 0, sizeof a, &a); clEnqueueNDRangeKernel(q, inc, 1, 0, &gs, &ls, 0, 0, &ev); clFinish(q); clReleaseEvent(ev); if (bug) err = clReleaseEvent(ev); }
    IS("read_before_event") { clSetKernelArg(hv, 0, sizeof a, &a); clSetKernelArg(hv, 1, 4, &n); clEnqueueNDRangeKernel(q, hv, 1, 0, &gs, &ls, 0, 0, &ev); clFlush(q);
        err = clEnqueueReadBuffer(q2, a, 1, 0, sizeof h2, h2, bug ? 0 : 1, bug ? 0 : &ev, 0); clReleaseEvent(ev); }
    IS("ooo_no_events") { clSetKernelArg(inc, 0, sizeof a, &a); clEnqueueNDRangeKernel(o, inc, 1, 0, &gs, &ls, 0, 0, &ev); clSetKernelArg(cp, 0, sizeof a, &a); clSetKernelArg(cp, 1, sizeof b, &b);
        clEnqueueNDRangeKernel(o, cp, 1, 0, &gs, &ls, bug ? 0 : 1, bug ? 0 : &ev, 0); clFinish(o); clReleaseEvent(ev); }
    IS("missing_finish") { clSetKernelArg(hv, 0, sizeof a, &a); clSetKernelArg(hv, 1, 4, &n); clEnqueueNDRangeKernel(q, hv, 1, 0, &gs, &ls, 0, 0, 0); memset(h2, 0, sizeof h2);
        clEnqueueReadBuffer(q, a, 0, 0, sizeof h2, h2, 0, 0, 0); if (!bug) clFinish(q); int s = 0; for (int i = 0; i < N; i++) s += h2[i]; printf("sum %d\n", s); }
    IS("host_changes_source") { int *t = malloc(sizeof h); memcpy(t, h, sizeof h); clSetKernelArg(hv, 0, sizeof a, &a); clSetKernelArg(hv, 1, 4, &n); clEnqueueNDRangeKernel(q, hv, 1, 0, &gs, &ls, 0, 0, 0);
        clEnqueueWriteBuffer(q, a, 0, 0, sizeof h, t, 0, 0, 0); if (!bug) clFinish(q); memset(t, 0x55, sizeof h); free(t); }
    IS("map_not_unmapped") { int *m = clEnqueueMapBuffer(q, a, 1, CL_MAP_WRITE, 0, sizeof h, 0, 0, 0, 0); for (int i = 0; i < N; i++) m[i] = 7; if (!bug) clEnqueueUnmapMemObject(q, a, m, 0, 0, 0);
        clSetKernelArg(inc, 0, sizeof a, &a); err = clEnqueueNDRangeKernel(q, inc, 1, 0, &gs, &ls, 0, 0, 0); clFinish(q); }
    IS("map_leak") { int *m = clEnqueueMapBuffer(q, a, 1, CL_MAP_READ, 0, sizeof h, 0, 0, 0, 0); printf("%d\n", m[3]); if (!bug) clEnqueueUnmapMemObject(q, a, m, 0, 0, 0); clFinish(q); }
    IS("map_read_written") { int *m = clEnqueueMapBuffer(q, a, 1, bug ? CL_MAP_READ : CL_MAP_WRITE, 0, sizeof h, 0, 0, 0, 0); for (int i = 0; i < N; i++) m[i] = 7; clEnqueueUnmapMemObject(q, a, m, 0, 0, 0); clFinish(q); }
    IS("map_used_after_unmap") { int *m = clEnqueueMapBuffer(q, a, 1, CL_MAP_READ | CL_MAP_WRITE, 0, sizeof h, 0, 0, 0, 0); if (!bug) m[0] = 5; clEnqueueUnmapMemObject(q, a, m, 0, 0, 0); clFinish(q); if (bug) m[0] = 5; }
    IS("wrong_arg_size") { clSetKernelArg(hv, 0, sizeof a, &a); long long big = 10; err = clSetKernelArg(hv, 1, bug ? 8 : 4, &big); err |= clEnqueueNDRangeKernel(q, hv, 1, 0, &gs, &ls, 0, 0, 0); clFinish(q); }
    IS("arg_not_set") { clSetKernelArg(hv, 0, sizeof a, &a); if (!bug) clSetKernelArg(hv, 1, 4, &n); err = clEnqueueNDRangeKernel(q, hv, 1, 0, &gs, &ls, 0, 0, 0); clFinish(q); }
    IS("copy_overlap") { err = clEnqueueCopyBuffer(q, a, a, 0, bug ? 512 : 2048, 2048, 0, 0, 0); clFinish(q); }
    IS("read_past_end") { err = clEnqueueReadBuffer(q, a, 1, bug ? 64 : 0, sizeof h2, h2, 0, 0, 0); }
    IS("kernel_reads_unwritten") { cl_mem f = clCreateBuffer(x, CL_MEM_READ_WRITE, sizeof h, 0, 0); if (!bug) clEnqueueWriteBuffer(q, f, 1, 0, sizeof h, h, 0, 0, 0); clSetKernelArg(cp, 0, sizeof f, &f); clSetKernelArg(cp, 1, sizeof b, &b); clEnqueueNDRangeKernel(q, cp, 1, 0, &gs, &ls, 0, 0, 0); clFinish(q); clReleaseMemObject(f); }
    IS("kernel_reads_half_written") { cl_mem f = clCreateBuffer(x, CL_MEM_READ_WRITE, sizeof h, 0, 0); clEnqueueWriteBuffer(q, f, 1, 0, sizeof h / (bug ? 2 : 1), h, 0, 0, 0); clSetKernelArg(cp, 0, sizeof f, &f); clSetKernelArg(cp, 1, sizeof b, &b); clEnqueueNDRangeKernel(q, cp, 1, 0, &gs, &ls, 0, 0, 0); clFinish(q); clReleaseMemObject(f); }
    IS("inc_unwritten") { cl_mem f = clCreateBuffer(x, CL_MEM_READ_WRITE, sizeof h, 0, 0); int z = 0; if (!bug) clEnqueueFillBuffer(q, f, &z, 4, 0, sizeof h, 0, 0, 0); clSetKernelArg(inc, 0, sizeof f, &f); clEnqueueNDRangeKernel(q, inc, 1, 0, &gs, &ls, 0, 0, 0); clFinish(q); clReleaseMemObject(f); }
    IS("host_reads_unwritten") { cl_mem f = clCreateBuffer(x, CL_MEM_READ_WRITE, sizeof h, 0, 0); if (!bug) clEnqueueWriteBuffer(q, f, 1, 0, sizeof h, h, 0, 0, 0); clEnqueueReadBuffer(q, f, 1, 0, sizeof h2, h2, 0, 0, 0); clReleaseMemObject(f); }
    IS("write_read_only") { cl_mem f = clCreateBuffer(x, (bug ? CL_MEM_READ_ONLY : CL_MEM_READ_WRITE) | CL_MEM_COPY_HOST_PTR, sizeof h, h, 0); clSetKernelArg(inc, 0, sizeof f, &f); clEnqueueNDRangeKernel(q, inc, 1, 0, &gs, &ls, 0, 0, 0); clFinish(q); clReleaseMemObject(f); }
    IS("read_write_only") { cl_mem f = clCreateBuffer(x, (bug ? CL_MEM_WRITE_ONLY : CL_MEM_READ_WRITE) | CL_MEM_COPY_HOST_PTR, sizeof h, h, 0); clSetKernelArg(cp, 0, sizeof f, &f); clSetKernelArg(cp, 1, sizeof b, &b); clEnqueueNDRangeKernel(q, cp, 1, 0, &gs, &ls, 0, 0, 0); clFinish(q); clReleaseMemObject(f); }
    IS("host_no_access") { cl_mem f = clCreateBuffer(x, CL_MEM_READ_WRITE | (bug ? CL_MEM_HOST_NO_ACCESS : 0), sizeof h, 0, 0); int z = 0; clEnqueueFillBuffer(q, f, &z, 4, 0, sizeof h, 0, 0, 0); err = clEnqueueReadBuffer(q, f, 1, 0, sizeof h2, h2, 0, 0, 0); clReleaseMemObject(f); }
    IS("buffer_too_small") { cl_mem f = clCreateBuffer(x, CL_MEM_READ_WRITE, bug ? sizeof h - 4 : sizeof h, 0, 0); clSetKernelArg(cp, 0, sizeof a, &a); clSetKernelArg(cp, 1, sizeof f, &f); clEnqueueNDRangeKernel(q, cp, 1, 0, &gs, &ls, 0, 0, 0); err = clFinish(q); clReleaseMemObject(f); }
    IS("local_too_small") { clSetKernelArg(ti, 0, sizeof a, &a); clSetKernelArg(ti, 1, bug ? 128 : 256, 0); err = clEnqueueNDRangeKernel(q, ti, 1, 0, &gs, &ls, 0, 0, 0); clFinish(q); }
    IS("range_too_large") { size_t g2 = bug ? N + 64 : N; clSetKernelArg(inc, 0, sizeof a, &a); err = clEnqueueNDRangeKernel(q, inc, 1, 0, &g2, &ls, 0, 0, 0); clFinish(q); }
    IS("not_divisible") { size_t l2 = bug ? 100 : 64; clSetKernelArg(inc, 0, sizeof a, &a); err = clEnqueueNDRangeKernel(q, inc, 1, 0, &gs, &l2, 0, 0, 0); clFinish(q); }
    IS("leak_buffer") { ra = !bug; }
    IS("leak_event") { clSetKernelArg(inc, 0, sizeof a, &a); clEnqueueNDRangeKernel(q, inc, 1, 0, &gs, &ls, 0, 0, &ev); clFinish(q); if (!bug) clReleaseEvent(ev); }
    IS("subbuffer_race") { cl_buffer_region r1 = {0, 2048}, r2 = {bug ? 1024 : 2048, 2048}; cl_mem s1 = clCreateSubBuffer(a, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &r1, &e), s2 = clCreateSubBuffer(a, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &r2, &e); size_t g2 = 512;
        clSetKernelArg(inc, 0, sizeof s1, &s1); clEnqueueNDRangeKernel(q, inc, 1, 0, &g2, &ls, 0, 0, 0); clSetKernelArg(inc, 0, sizeof s2, &s2); clEnqueueNDRangeKernel(q2, inc, 1, 0, &g2, &ls, 0, 0, 0); clFinish(q); clFinish(q2); clReleaseMemObject(s1); clReleaseMemObject(s2); }
    IS("two_queues_write") { clSetKernelArg(inc, 0, sizeof a, &a); clEnqueueNDRangeKernel(q, inc, 1, 0, &gs, &ls, 0, 0, 0); if (!bug) clFinish(q); clEnqueueWriteBuffer(q2, a, 1, 0, sizeof h, h, 0, 0, 0); clFinish(q); clFinish(q2); }
    IS("use_host_ptr_touched") { int *t = aligned_alloc(4096, sizeof h); memcpy(t, h, sizeof h); cl_mem f = clCreateBuffer(x, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, sizeof h, t, 0); clSetKernelArg(hv, 0, sizeof f, &f); clSetKernelArg(hv, 1, 4, &n); clEnqueueNDRangeKernel(q, hv, 1, 0, &gs, &ls, 0, 0, 0); clFlush(q); if (!bug) { clFinish(q); } t[5] = 3; clFinish(q); clReleaseMemObject(f); free(t); }
    IS("use_host_ptr_freed") { int *t = aligned_alloc(4096, sizeof h); memcpy(t, h, sizeof h); cl_mem f = clCreateBuffer(x, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, sizeof h, t, 0); clSetKernelArg(inc, 0, sizeof f, &f); if (bug) free(t); clEnqueueNDRangeKernel(q, inc, 1, 0, &gs, &ls, 0, 0, 0); clFinish(q); clReleaseMemObject(f); if (!bug) free(t); }
    IS("stale_local_arg") { clSetKernelArg(ti, 0, sizeof a, &a); if (!bug) clSetKernelArg(ti, 1, 256, 0); err = clEnqueueNDRangeKernel(q, ti, 1, 0, &gs, &ls, 0, 0, 0); clFinish(q); }
    clFinish(q); clFinish(q2); clFinish(o);
    if (ra) clReleaseMemObject(a); if (rb) clReleaseMemObject(b); clReleaseKernel(inc); clReleaseKernel(cp); clReleaseKernel(hv); clReleaseKernel(ti); clReleaseProgram(g); clReleaseCommandQueue(q); clReleaseCommandQueue(q2); clReleaseCommandQueue(o); clReleaseContext(x);
    if (err) printf("error %d ignored\n", err);
    return 0;
}
