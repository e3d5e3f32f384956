"""What a PyOpenCL script does: devices, a program, buffers, launches, events, a build log."""

import sys

import numpy as np
import pyopencl as cl

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
program = cl.Program(
    context,
    """
    kernel void axpy(global const float *x, global float *y, float a, uint n) {
        size_t i = get_global_id(0);
        if (i < n) y[i] = a * x[i] + y[i];
        if (i == 3) printf("item %d\\n", (int)i);
    }
    """,
).build()
x = np.arange(1000, dtype=np.float32)
y = np.ones_like(x)
flags = cl.mem_flags
x_buffer = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=x)
y_buffer = cl.Buffer(context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=y)
event = program.axpy(queue, (1024,), None, x_buffer, y_buffer, np.float32(2), np.uint32(1000))
event.wait()
assert event.profile.end >= event.profile.start >= event.profile.queued
result = np.empty_like(y)
cl.enqueue_copy(queue, result, y_buffer)
assert (result == 2 * x + 1).all(), result

try:
    cl.Program(context, "kernel void broken() { undeclared = 1; }").build()
except cl.RuntimeError as e:
    assert "undeclared" in str(e), e
else:
    sys.exit("a broken program was built")
print("fine")
