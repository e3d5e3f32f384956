"""A plugin for pytest: scikit-image's photograph, which its package carries, instead of SciPy's, which is downloaded."""

import scipy.datasets
import skimage.data

scipy.datasets.ascent = skimage.data.camera
