"""scikit-learn-intelex on the device that SYCL has: results beside scikit-learn's own."""

import dpctl
import numpy as np
from sklearn.cluster import DBSCAN, KMeans
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors

from sklearnex import cluster, config_context, decomposition, ensemble, linear_model, neighbors

rng = np.random.default_rng(1)
x, y = make_blobs(n_samples=400, centers=4, n_features=5, random_state=3)
x = x.astype(np.float32)
target = (x @ np.arange(1, 6) + 0.5).astype(np.float32)


def pca():
    got, want = decomposition.PCA(3).fit(x), PCA(3).fit(x)
    close = np.allclose(got.explained_variance_, want.explained_variance_, rtol=1e-3)
    return close and np.allclose(abs(got.components_), abs(want.components_), atol=1e-3)


def regression():
    got, want = linear_model.LinearRegression().fit(x, target), LinearRegression().fit(x, target)
    return np.allclose(got.coef_, want.coef_, atol=1e-3) and np.allclose(got.predict(x), want.predict(x), atol=1e-2)


def dbscan():
    got, want = cluster.DBSCAN(eps=1.5, min_samples=4).fit(x), DBSCAN(eps=1.5, min_samples=4).fit(x)
    return adjusted_rand_score(got.labels_, want.labels_) == 1


def nearest():
    got = neighbors.NearestNeighbors(n_neighbors=3, algorithm="brute").fit(x).kneighbors(x)
    want = NearestNeighbors(n_neighbors=3, algorithm="brute").fit(x).kneighbors(x)
    # A point's distance to itself is a difference of large numbers.
    return np.mean(got[1] == want[1]) > 0.99 and np.allclose(got[0][:, 1:], want[0][:, 1:], atol=1e-2)


def kmeans():
    start = x[[np.argmax(y == c) for c in range(4)]]
    got = cluster.KMeans(4, init=start, n_init=1).fit(x)
    want = KMeans(4, init=start, n_init=1).fit(x)
    return np.allclose(got.cluster_centers_, want.cluster_centers_, atol=1e-2) and (got.labels_ == want.labels_).all()


def forest():
    got = ensemble.RandomForestClassifier(n_estimators=10, random_state=0).fit(x, y).score(x, y)
    want = RandomForestClassifier(n_estimators=10, random_state=0).fit(x, y).score(x, y)
    return abs(got - want) < 0.02


def tree():
    # One tree that sees every sample and grows until its leaves are pure: R² is 1 on what it was made of.
    one = {"n_estimators": 1, "bootstrap": False, "max_features": 1.0, "random_state": 0}
    got = ensemble.RandomForestRegressor(**one).fit(x, target).score(x, target)
    return got > 0.9999 and RandomForestRegressor(**one).fit(x, target).score(x, target) > 0.9999


def forest_of_values():
    # On what it was made of: the device puts a threshold at a sample's value, scikit-learn between two, so that scores of
    # samples between clusters are not the same.
    many = {"n_estimators": 20, "random_state": 0}
    got = ensemble.RandomForestRegressor(**many).fit(x, target).score(x, target)
    return abs(got - RandomForestRegressor(**many).fit(x, target).score(x, target)) < 0.02


queue = dpctl.SyclQueue()
for name, test in [
    ("PCA", pca),
    ("linear regression", regression),
    ("DBSCAN", dbscan),
    ("k-neighbours", nearest),
    ("k-means", kmeans),
    ("random forest", forest),
    ("random forest of values", forest_of_values),
    ("regression tree", tree),
]:
    try:
        # No falling back to the host: what the device cannot do is an error.
        with config_context(target_offload=queue, allow_fallback_to_host=False):
            good = test()
        print(f"PASS {name}" if good else f"FAIL {name}: other values than scikit-learn's", flush=True)
    except Exception as e:  # noqa: BLE001
        print(f"FAIL {name}: {' '.join(str(e).split())}", flush=True)
