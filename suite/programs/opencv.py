"""OpenCV's T-API: each operation on the OpenCL device against the same operation on the CPU."""

import cv2
import numpy as np

rng = np.random.default_rng(7)
cv2.ocl.setUseOpenCL(True)
if not cv2.ocl.useOpenCL():
    print("FAIL opencl: OpenCV finds no OpenCL device")
    raise SystemExit(1)

W, H = 157, 101
gray = rng.integers(0, 256, (H, W), dtype=np.uint8)
gray2 = rng.integers(0, 256, (H, W), dtype=np.uint8)
smooth = cv2.GaussianBlur(gray, (0, 0), 3)
color = rng.integers(0, 256, (H, W, 3), dtype=np.uint8)
real = rng.random((H, W), dtype=np.float32) + 0.25
real2 = rng.random((H, W), dtype=np.float32) + 0.25
square = rng.random((96, 96), dtype=np.float32)
square2 = rng.random((96, 96), dtype=np.float32)
affine = np.float32([[0.9, 0.2, 3], [-0.1, 1.1, 5]])
perspective = np.float32([[0.9, 0.1, 3], [-0.1, 1.1, 5], [0.0003, 0.0002, 1]])
map_x, map_y = np.meshgrid(np.arange(W, dtype=np.float32)[::-1], np.arange(H, dtype=np.float32))
lut = rng.permutation(256).astype(np.uint8)
kernel = np.ones((5, 3), np.uint8)
clahe = cv2.createCLAHE(2.0, (4, 4))

# Name, operation, inputs, tolerance: of 8-bit values where pages allow another rounding, of floats relative.
TESTS = [
    ("add", cv2.add, (gray, gray2), 0),
    ("subtract", cv2.subtract, (gray, gray2), 0),
    ("multiply", lambda a, b: cv2.multiply(a, b), (real, real2), 1e-6),
    ("divide", lambda a, b: cv2.divide(a, b), (real, real2), 1e-5),
    ("absdiff", cv2.absdiff, (gray, gray2), 0),
    ("addWeighted", lambda a, b: cv2.addWeighted(a, 0.3, b, 0.7, 2), (gray, gray2), 1),
    ("bitwise_and", cv2.bitwise_and, (gray, gray2), 0),
    ("bitwise_xor", cv2.bitwise_xor, (gray, gray2), 0),
    ("bitwise_not", cv2.bitwise_not, (gray,), 0),
    ("compare", lambda a, b: cv2.compare(a, b, cv2.CMP_GT), (gray, gray2), 0),
    ("min", cv2.min, (gray, gray2), 0),
    ("max", cv2.max, (real, real2), 0),
    ("inRange", lambda a: cv2.inRange(a, (20, 30, 40), (200, 210, 220)), (color,), 0),
    ("threshold", lambda a: cv2.threshold(a, 100, 255, cv2.THRESH_BINARY)[1], (gray,), 0),
    ("adaptiveThreshold", lambda a: cv2.adaptiveThreshold(a, 255, 0, 0, 7, 5), (gray,), 0),
    ("GaussianBlur", lambda a: cv2.GaussianBlur(a, (5, 5), 1.5), (gray,), 1),
    ("GaussianBlur float", lambda a: cv2.GaussianBlur(a, (7, 7), 2), (real,), 1e-5),
    ("blur", lambda a: cv2.blur(a, (5, 3)), (color,), 1),
    ("boxFilter", lambda a: cv2.boxFilter(a, -1, (3, 3)), (gray,), 1),
    ("medianBlur", lambda a: cv2.medianBlur(a, 3), (gray,), 0),
    ("bilateralFilter", lambda a: cv2.bilateralFilter(a, 5, 30, 3), (gray,), 1),
    ("filter2D", lambda a: cv2.filter2D(a, -1, np.float32([[1, 2, 1], [0, 0, 0], [-1, -2, -1]])), (real,), 1e-5),
    ("sepFilter2D", lambda a: cv2.sepFilter2D(a, cv2.CV_32F, np.float32([1, 2, 1]), np.float32([1, 0, -1])), (real,), 1e-5),
    ("Sobel", lambda a: cv2.Sobel(a, cv2.CV_16S, 1, 0), (gray,), 0),
    ("Scharr", lambda a: cv2.Scharr(a, cv2.CV_32F, 0, 1), (gray,), 1e-5),
    ("Laplacian", lambda a: cv2.Laplacian(a, cv2.CV_16S, ksize=3), (gray,), 0),
    ("erode", lambda a: cv2.erode(a, kernel), (gray,), 0),
    ("dilate", lambda a: cv2.dilate(a, kernel), (color,), 0),
    ("morphologyEx", lambda a: cv2.morphologyEx(a, cv2.MORPH_GRADIENT, kernel), (gray,), 0),
    ("Canny", lambda a: cv2.Canny(a, 50, 100), (smooth,), 0),
    ("cornerHarris", lambda a: cv2.cornerHarris(a, 2, 3, 0.04), (smooth,), 1e-4),
    ("resize nearest", lambda a: cv2.resize(a, (80, 60), interpolation=cv2.INTER_NEAREST), (color,), 0),
    ("resize linear", lambda a: cv2.resize(a, (200, 160), interpolation=cv2.INTER_LINEAR), (gray,), 1),
    ("resize area", lambda a: cv2.resize(a, (50, 40), interpolation=cv2.INTER_AREA), (gray,), 1),
    ("warpAffine", lambda a: cv2.warpAffine(a, affine, (W, H)), (gray,), 3),
    ("warpPerspective", lambda a: cv2.warpPerspective(a, perspective, (W, H)), (gray,), 3),
    ("remap", lambda a: cv2.remap(a, map_x, map_y, cv2.INTER_LINEAR), (gray,), 1),
    ("pyrDown", cv2.pyrDown, (gray,), 1),
    ("pyrUp", cv2.pyrUp, (gray,), 1),
    ("cvtColor gray", lambda a: cv2.cvtColor(a, cv2.COLOR_BGR2GRAY), (color,), 1),
    ("cvtColor HSV", lambda a: cv2.cvtColor(a, cv2.COLOR_BGR2HSV), (color,), 1),
    ("cvtColor Lab", lambda a: cv2.cvtColor(a, cv2.COLOR_BGR2Lab), (color,), 1),
    ("cvtColor YUV", lambda a: cv2.cvtColor(a, cv2.COLOR_BGR2YUV), (color,), 1),
    ("transpose", cv2.transpose, (color,), 0),
    ("flip", lambda a: cv2.flip(a, -1), (color,), 0),
    ("repeat", lambda a: cv2.repeat(a, 2, 3), (gray,), 0),
    ("copyMakeBorder", lambda a: cv2.copyMakeBorder(a, 3, 4, 5, 6, cv2.BORDER_REFLECT), (gray,), 0),
    ("extractChannel", lambda a: cv2.extractChannel(a, 1), (color,), 0),
    ("LUT", lambda a: cv2.LUT(a, lut), (gray,), 0),
    ("normalize", lambda a: cv2.normalize(a, None, 0, 1, cv2.NORM_MINMAX), (real,), 1e-5),
    ("convertScaleAbs", lambda a: cv2.convertScaleAbs(a, alpha=-1.3, beta=7), (gray,), 1),
    ("exp", cv2.exp, (real,), 1e-5),
    ("log", cv2.log, (real,), 1e-4),
    ("sqrt", cv2.sqrt, (real,), 1e-5),
    ("pow", lambda a: cv2.pow(a, 3), (real,), 1e-5),
    ("magnitude", cv2.magnitude, (real, real2), 1e-5),
    ("phase", cv2.phase, (real, real2), 1e-3),
    ("cartToPolar", lambda a, b: cv2.cartToPolar(a, b)[0], (real, real2), 1e-5),
    ("gemm", lambda a, b: cv2.gemm(a, b, 1.5, None, 0), (square, square2), 1e-4),
    ("dft", lambda a: cv2.dft(a, flags=cv2.DFT_COMPLEX_OUTPUT), (square,), 1e-4),
    ("mulSpectrums", lambda a, b: cv2.mulSpectrums(a, b, 0), (square, square2), 1e-4),
    ("integral", cv2.integral, (gray,), 0),
    ("equalizeHist", cv2.equalizeHist, (gray,), 0),
    ("CLAHE", clahe.apply, (gray,), 1),
    ("matchTemplate", lambda a: cv2.matchTemplate(a, smooth[10:26, 20:40], cv2.TM_CCORR_NORMED), (smooth,), 1e-4),
    ("sumElems", lambda a: np.float64(cv2.sumElems(a)), (color,), 1e-9),
    ("mean", lambda a: np.float64(cv2.mean(a)), (color,), 1e-9),
    ("meanStdDev", lambda a: np.concatenate([np.ravel(host(x)) for x in cv2.meanStdDev(a)]), (gray,), 1e-6),
    ("countNonZero", lambda a: np.float64(cv2.countNonZero(a)), (gray,), 0),
    ("norm", lambda a: np.float64(cv2.norm(a, cv2.NORM_L2)), (real,), 1e-5),
    ("minMaxLoc", lambda a: np.float64(cv2.minMaxLoc(a)[:2]), (real,), 0),
    ("reduce", lambda a: cv2.reduce(a, 0, cv2.REDUCE_SUM, dtype=cv2.CV_32F), (real,), 1e-5),
    ("calcHist", lambda a: cv2.calcHist([a], [0], None, [256], [0, 256]), (gray,), 0),
    ("accumulateWeighted", lambda a: cv2.accumulateWeighted(a, cv2.multiply(a, 0.5), 0.3), (real,), 1e-5),
    ("setIdentity", lambda a: cv2.setIdentity(a, 3.0), (square.copy(),), 0),
]


def host(value):
    if isinstance(value, tuple):
        return np.concatenate([host(v).ravel() for v in value])
    return np.asarray(value.get() if isinstance(value, cv2.UMat) else value).astype(np.float64)


for name, operation, inputs, tolerance in TESTS:
    try:
        cv2.ocl.setUseOpenCL(False)
        want = host(operation(*[i.copy() for i in inputs]))
        cv2.ocl.setUseOpenCL(True)
        got = host(operation(*[cv2.UMat(i.copy()) for i in inputs]))
        cv2.ocl.finish()
    except Exception as e:  # noqa: BLE001
        print(f"FAIL {name}: {' '.join(str(e).split())}", flush=True)
        continue
    if want.size != got.size:
        print(f"FAIL {name}: {got.size} elements instead of {want.size}", flush=True)
        continue
    want, got = want.ravel(), got.ravel()
    off = np.abs(want - got)
    if tolerance < 1:
        off = off / np.maximum(1, np.abs(want))
    worst = off.max()
    # Interpolation rounds its weights as it likes: single texels may be further off.
    if worst <= tolerance:
        print(f"PASS {name}", flush=True)
    else:
        print(f"FAIL {name}: off by {worst:g} at {int(off.argmax())}, {int((off > tolerance).sum())} of {off.size}", flush=True)
