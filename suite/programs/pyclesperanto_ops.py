"""pyclesperanto: operations on the OpenCL device beside scipy's and NumPy's."""

import numpy as np
import pyclesperanto as cle
from scipy import ndimage

cle.select_device("")
rng = np.random.default_rng(3)
flat = rng.random((43, 57), dtype=np.float32)
deep = rng.random((9, 21, 33), dtype=np.float32)
blobs = (ndimage.gaussian_filter(rng.random((60, 70)), 3) > 0.5).astype(np.float32)
other = rng.random(flat.shape, dtype=np.float32)

TESTS = [
    ("push and pull", lambda: cle.push(deep), deep, 0),
    ("add_images_weighted", lambda: cle.add_images_weighted(flat, other, factor1=2, factor2=-1), 2 * flat - other, 1e-6),
    ("multiply_images", lambda: cle.multiply_images(flat, other), flat * other, 1e-6),
    ("subtract_images", lambda: cle.subtract_images(flat, other), flat - other, 1e-6),
    ("absolute", lambda: cle.absolute(flat - 0.5), np.abs(flat - 0.5), 1e-7),
    ("add_image_and_scalar", lambda: cle.add_image_and_scalar(flat, scalar=3), flat + 3, 1e-6),
    ("power", lambda: cle.power(flat, scalar=2), flat**2, 1e-5),
    ("greater_constant", lambda: cle.greater_constant(flat, scalar=0.5), flat > 0.5, 0),
    ("binary_not", lambda: cle.binary_not(blobs), 1 - blobs, 0),
    ("maximum_images", lambda: cle.maximum_images(flat, other), np.maximum(flat, other), 0),
    ("transpose_xy", lambda: cle.transpose_xy(flat), flat.T, 0),
    ("flip", lambda: cle.flip(flat, flip_x=True, flip_y=False, flip_z=False), flat[:, ::-1], 0),
    ("sum_z_projection", lambda: cle.sum_z_projection(deep), deep.sum(0), 1e-5),
    ("maximum_y_projection", lambda: cle.maximum_y_projection(flat), None, 0),
    ("mean_of_all_pixels", lambda: cle.mean_of_all_pixels(deep), deep.mean(), 1e-5),
    ("maximum_of_all_pixels", lambda: cle.maximum_of_all_pixels(deep), deep.max(), 0),
    ("minimum_of_all_pixels", lambda: cle.minimum_of_all_pixels(flat), flat.min(), 0),
    ("sum_of_all_pixels", lambda: cle.sum_of_all_pixels(flat), flat.sum(), 1e-4),
    ("mean_box", lambda: cle.mean_box(flat, radius_x=1, radius_y=1), ndimage.uniform_filter(flat, 3, mode="nearest"), 1e-5),
    ("maximum_box", lambda: cle.maximum_box(flat, radius_x=1, radius_y=1), ndimage.maximum_filter(flat, 3, mode="nearest"), 0),
    ("minimum_box 3d", lambda: cle.minimum_box(deep, radius_x=1, radius_y=1, radius_z=1), ndimage.minimum_filter(deep, 3, mode="nearest"), 0),
    ("gaussian_blur", lambda: cle.gaussian_blur(flat, sigma_x=2, sigma_y=2), ndimage.gaussian_filter(flat, 2, mode="nearest", truncate=4), 2e-3),
    ("threshold_otsu", lambda: cle.threshold_otsu(flat), None, 0),
    ("connected_components", lambda: cle.max_of_all_pixels(cle.connected_components_labeling(blobs)) if hasattr(cle, "max_of_all_pixels") else cle.maximum_of_all_pixels(cle.connected_component_labeling(blobs)), ndimage.label(blobs, np.ones((3, 3)))[1], 0),
    ("voronoi_labeling", lambda: cle.voronoi_labeling(blobs), None, 0),
    ("histogram", lambda: cle.sum_of_all_pixels(cle.histogram(flat, num_bins=64)), flat.size, 0),
    ("affine_transform", lambda: cle.translate(flat, translate_x=3, translate_y=2), ndimage.shift(flat, (2, 3), order=0), 1e-6),
    ("scale", lambda: cle.scale(flat, factor_x=2, factor_y=2), None, 0),
    ("rotate", lambda: cle.rotate(flat, angle_z=30), None, 0),
    ("sobel", lambda: cle.sobel(flat), None, 0),
]

for name, operation, want, tolerance in TESTS:
    try:
        got = operation()
        got = np.asarray(got if np.isscalar(got) else cle.pull(got), dtype=np.float64)
    except Exception as e:  # noqa: BLE001
        print(f"FAIL {name}: {' '.join(str(e).split())}", flush=True)
        continue
    if not np.isfinite(got).all():
        print(f"FAIL {name}: infinities or NaN", flush=True)
        continue
    if want is None:
        # No other tool has quite the same: it must run, and give more than one value.
        print(f"PASS {name}" if np.unique(got).size > 1 else f"FAIL {name}: one value throughout", flush=True)
        continue
    want = np.asarray(want, dtype=np.float64)
    if got.shape != want.shape:
        print(f"FAIL {name}: shape {got.shape} instead of {want.shape}", flush=True)
        continue
    off = (np.abs(got - want) / np.maximum(1, np.abs(want))).max()
    print(f"PASS {name}" if off <= tolerance else f"FAIL {name}: off by {off:g}", flush=True)
