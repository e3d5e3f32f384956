"""OpenVINO's GPU plugin: small models, made here, beside its CPU plugin."""

import numpy as np
import openvino as ov
from openvino import opset13 as op

rng = np.random.default_rng(1)


def weights(*shape):
    return op.constant((rng.random(shape, dtype=np.float32) - 0.5) / 2)


def dense():
    x = op.parameter([4, 32], np.float32)
    y = op.relu(op.add(op.matmul(x, weights(32, 16), False, False), weights(1, 16)))
    return ov.Model([op.softmax(op.matmul(y, weights(16, 8), False, False), 1)], [x])


def elementwise():
    x = op.parameter([2, 3, 5, 7], np.float32)
    return ov.Model([op.tanh(op.multiply(op.sigmoid(x), op.exp(op.negative(x))))], [x])


def convolution():
    x = op.parameter([1, 3, 16, 16], np.float32)
    y = op.relu(op.convolution(x, weights(8, 3, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1]))
    return ov.Model([op.reduce_mean(y, op.constant(np.array([2, 3])), False)], [x])


core = ov.Core()
for name, model in [("elementwise", elementwise()), ("dense layers", dense()), ("convolution", convolution())]:
    x = rng.random(model.input(0).shape, dtype=np.float32)
    want = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})(x)[0]
    try:
        got = core.compile_model(model, "GPU", {"INFERENCE_PRECISION_HINT": "f32"})(x)[0]
    except Exception as e:  # noqa: BLE001
        print(f"FAIL {name}: {' '.join(str(e).split())}", flush=True)
        continue
    good = np.allclose(got, want, rtol=1e-3, atol=1e-4)
    print(f"PASS {name}" if good else f"FAIL {name}: off by {abs(got - want).max():.3g}", flush=True)
