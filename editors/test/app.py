# Launches the kernel of blur.cl by the system's OpenCL loader, three times; it knows nothing of envisa, and needs no package.
import ctypes
import pathlib

cl = ctypes.CDLL('libOpenCL.so.1')
P, N = ctypes.c_void_p, ctypes.c_size_t
for name in ('clCreateContext', 'clCreateCommandQueue', 'clCreateProgramWithSource', 'clCreateKernel', 'clCreateBuffer'):
    getattr(cl, name).restype = P


def done(code):
    assert code == 0, code


def made(name, *args):
    code = ctypes.c_int(1)
    handle = getattr(cl, name)(*args, ctypes.byref(code))
    done(code.value)
    return P(handle)


platform, device = P(), P()
done(cl.clGetPlatformIDs(1, ctypes.byref(platform), None))
done(cl.clGetDeviceIDs(platform, ctypes.c_uint64(0xFFFFFFFF), 1, ctypes.byref(device), None))
context = made('clCreateContext', None, 1, ctypes.byref(device), None, None)
queue = made('clCreateCommandQueue', context, device, ctypes.c_uint64(0))
text = ctypes.c_char_p(pathlib.Path(__file__).with_name('blur.cl').read_bytes())
program = made('clCreateProgramWithSource', context, 1, ctypes.byref(text), None)
done(cl.clBuildProgram(program, 0, None, None, None, None))
kernel = made('clCreateKernel', program, b'blur')
values = (ctypes.c_float * 16)(*range(16))
source = made('clCreateBuffer', context, ctypes.c_uint64(1 | 32), N(64), values)
target = made('clCreateBuffer', context, ctypes.c_uint64(1), N(64), None)
for i, arg in enumerate((source, target, ctypes.c_int(16))):
    done(cl.clSetKernelArg(kernel, i, N(ctypes.sizeof(arg)), ctypes.byref(arg)))
size = N(16)
for _ in range(3):
    done(cl.clEnqueueNDRangeKernel(queue, kernel, 1, None, ctypes.byref(size), ctypes.byref(size), 0, None, None))
out = (ctypes.c_float * 16)()
done(cl.clEnqueueReadBuffer(queue, target, 1, N(0), N(64), out, 0, None, None))
print([round(v, 2) for v in out])
