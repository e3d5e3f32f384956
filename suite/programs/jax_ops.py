"""JAX on the GPU through Intel's plug-in, beside NumPy: one row for each program. Usage: jax_ops.py [NAME...]

What XLA fuses and compiles itself comes first; the last ones go to libraries of the plug-in (oneDNN, oneMKL). XLA ends
the process when something cannot be done: what comes behind that runs in a new one.
"""

import subprocess
import sys
import threading

import numpy as np

A = np.linspace(-2, 3, 1000, dtype=np.float32)
M = np.sin(np.arange(64 * 48, dtype=np.float32)).reshape(64, 48)
S = M[:48, :48] @ M[:48, :48].T + 50 * np.eye(48, dtype=np.float32)
I = (np.arange(5000, dtype=np.int32) * 7919) % 1009


def programs():
    import jax
    import jax.numpy as jnp

    def softmax(jnp, x):
        e = jnp.exp(x - x.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    def steps(jnp, x):
        for _ in range(10):
            x = x * 0.5 + jnp.cos(x)
        return x

    loop = jax.jit(lambda x: jax.lax.fori_loop(0, 10, lambda i, x: x * 0.5 + jnp.cos(x), x))
    collatz = jax.jit(jax.vmap(lambda n: jax.lax.while_loop(
        lambda s: s[0] != 1, lambda s: (jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1), (n, 0))[1]))

    def collatz_of(n):
        steps = 0
        while n != 1:
            n, steps = (n // 2 if n % 2 == 0 else 3 * n + 1), steps + 1
        return steps

    image = np.sin(np.arange(2 * 3 * 16 * 16, dtype=np.float32)).reshape(2, 3, 16, 16)
    weights = np.cos(np.arange(4 * 3 * 3 * 3, dtype=np.float32)).reshape(4, 3, 3, 3)
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3), axis=(2, 3))
    both = lambda f: (lambda *x: jax.jit(lambda *x: f(jnp, *x))(*x), lambda *x: f(np, *x))
    return {
        "arithmetic": (lambda x: x * 2 + 1, lambda x: x * 2 + 1, A),
        "functions": (*both(lambda n, x: n.exp(n.sin(x)) + n.log1p(x * x) - n.tanh(x) + n.sqrt(abs(x))), A),
        "integers": (*both(lambda n, x: (x * x % 1000 ^ x << 3) // 3), I),
        "halves": (lambda x: (x.astype(jnp.float16) * 2 + 1).astype(jnp.float32), lambda x: (x.astype(np.float16) * 2 + 1).astype(np.float32), A),
        "select and clip": (*both(lambda n, x: n.clip(n.where(x > 0, x, -2 * x), 0.5, 2.5)), A),
        "transposed and broadcast": (*both(lambda n, x: x.T * 2 + x[:, 0] * x[0, 1]), M),
        "sum": (*both(lambda n, x: x.sum(axis=0)), M),
        "sum of rows": (*both(lambda n, x: x.sum(axis=1)), M),
        "least and greatest": (*both(lambda n, x: x.max() - x.min(axis=1)), M),
        "index of the greatest": (*both(lambda n, x: n.argmax(x, axis=1)), M),
        "softmax": (*both(softmax), M),
        "norm of layers": (*both(lambda n, x: (x - x.mean(axis=1, keepdims=True)) / n.sqrt(x.var(axis=1, keepdims=True) + 1e-5)), M),
        "cumulated sum": (*both(lambda n, x: n.cumsum(x)), A),
        "sort": (*both(lambda n, x: n.sort(x)), I),
        "positions in order": (lambda x: jnp.argsort(x, stable=True), lambda x: np.argsort(x, kind="stable"), I),
        "gather": (*both(lambda n, x, i: x[i % 1000]), A, I),
        "scatter": (lambda i: jnp.zeros(1009, jnp.int32).at[i].add(1), lambda i: np.bincount(i, minlength=1009), I),
        "histogram": (lambda x: jnp.histogram(x, bins=20)[0], lambda x: np.histogram(x, bins=20)[0], A),
        "loop": (loop, lambda x: steps(np, x), A),
        "loops of different lengths": (collatz, lambda x: np.array([collatz_of(int(n)) for n in x]), I[1:200]),
        "gradient": (jax.jit(jax.grad(lambda x: (jnp.sin(x) * x).sum())), lambda x: np.cos(x) * x + np.sin(x), A),
        "random numbers": (lambda x: jnp.histogram(jax.random.uniform(jax.random.key(7), (4096,)), bins=4, range=(0, 1))[0] > 900, lambda x: np.ones(4, bool), A),
        "convolution in 1D": (lambda x: jnp.convolve(x, x[:5]), lambda x: np.convolve(x, x[:5]), A),
        "matrix times vector": (*both(lambda n, x: x @ x[0]), M),
        "matrix product": (*both(lambda n, x: x @ x.T), M),
        "batched product": (lambda x: jnp.einsum("bij,bkj->bik", x, x), lambda x: np.einsum("bij,bkj->bik", x, x), M.reshape(4, 16, 48)),
        "convolution in 2D": (lambda x, w: jax.lax.conv(x, w, (1, 1), "VALID"), lambda x, w: np.einsum("nchwij,ocij->nohw", windows, w), image, weights),
        "FFT": (lambda x: abs(jnp.fft.fft(x)), lambda x: abs(np.fft.fft(x)), A),
        "Cholesky": (lambda x: jnp.linalg.cholesky(x), np.linalg.cholesky, S),
        "solve": (lambda x: jnp.linalg.solve(x, x[0]), lambda x: np.linalg.solve(x, x[0]), S),
        "eigenvalues": (lambda x: jnp.linalg.eigvalsh(x), np.linalg.eigvalsh, S),
        "singular values": (lambda x: jnp.linalg.svd(x, compute_uv=False), lambda x: np.linalg.svd(x, compute_uv=False), M),
    }


def run(name, program):
    here, there, *arguments = program
    try:
        got, wanted = np.asarray(here(*arguments)), np.asarray(there(*arguments))
        scale = max(np.abs(wanted).max(), 1) if wanted.dtype.kind == "f" else 0
        np.testing.assert_allclose(got, wanted, rtol=1e-4 if scale else 0, atol=2e-5 * scale)
        return f"PASS {name}"
    except Exception as error:
        said = [line for line in str(error).splitlines() if line.strip()]
        return f"FAIL {name}: {type(error).__name__}: {' '.join(said[:2])[:200]}"


def main():
    names = list(programs()) if not sys.argv[1:] else sys.argv[1:]
    first = 0
    while first < len(names):
        command = [sys.executable, __file__, "--these", *names[first:]]
        done = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
        noise = []
        listener = threading.Thread(target=lambda: noise.extend(done.stderr))
        listener.start()
        for line in done.stdout:
            print(line, end="", flush=True)
            first += 1
        done.wait()
        listener.join()
        if done.returncode:
            fatal = [line.strip() for line in noise if "rror" in line or "Check failed" in line or line.startswith("F")]
            why = " ".join((fatal or ["nothing is said"])[0].split())[-200:]
            print(f"FAIL {names[min(first, len(names) - 1)]}: the process ends with {done.returncode}: {why}", flush=True)
            first += 1


if sys.argv[1:2] == ["--these"]:
    here = programs()
    for name in sys.argv[2:]:
        print(run(name, here[name]), flush=True)
else:
    main()
