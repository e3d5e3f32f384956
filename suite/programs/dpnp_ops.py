"""dpnp, and with it oneMKL, on the OpenCL device of SYCL: results beside NumPy's."""

import dpnp
import numpy as np

rng = np.random.default_rng(1)
x = rng.random(1000, dtype=np.float32)
m = x[:900].reshape(30, 30) + 3 * np.eye(30, dtype=np.float32)
X, M = dpnp.asarray(x), dpnp.asarray(m)
dpnp.random.seed(3)

# Name, on the device, on the host, relative and absolute tolerance.
TESTS = [
    ("arange and sum", lambda: dpnp.arange(1000).sum(), lambda: np.arange(1000).sum(), 0),
    ("sin", lambda: dpnp.sin(X) * 2, lambda: np.sin(x) * 2, 1e-5),
    ("sort", lambda: dpnp.sort(X), lambda: np.sort(x), 0),
    ("cumsum", lambda: dpnp.cumsum(X), lambda: np.cumsum(x), 1e-5),
    ("where", lambda: dpnp.where(X > 0.5, X, -X), lambda: np.where(x > 0.5, x, -x), 0),
    ("histogram", lambda: dpnp.histogram(X, bins=10)[0], lambda: np.histogram(x, bins=10)[0], 0),
    ("matmul by oneMKL", lambda: M @ M, lambda: m @ m, 1e-5),
    ("fft by oneMKL", lambda: dpnp.fft.fft(X), lambda: np.fft.fft(x), 1e-3),
    ("solve by oneMKL", lambda: dpnp.linalg.solve(M, M[:, 0]), lambda: np.linalg.solve(m, m[:, 0]), 1e-4),
    ("random numbers by oneMKL", lambda: dpnp.random.random(4096).mean(), lambda: 0.5, 0.05),
]

for name, device, host, tolerance in TESTS:
    try:
        got, want = np.asarray(dpnp.asnumpy(device())), np.asarray(host())
    except Exception as e:  # noqa: BLE001
        print(f"FAIL {name}: {' '.join(str(e).split())}", flush=True)
        continue
    good = got.shape == want.shape and np.allclose(got, want, rtol=tolerance, atol=tolerance)
    print(f"PASS {name}" if good else f"FAIL {name}: other values", flush=True)
