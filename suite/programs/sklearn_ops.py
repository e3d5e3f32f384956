"""scikit-learn-intelex on the device that SYCL has: results beside scikit-learn's own."""

import dpctl
import numpy as np
from sklearn import covariance as host_covariance
from sklearn import decomposition as host_decomposition
from sklearn import ensemble as host_ensemble
from sklearn import linear_model as host_linear_model
from sklearn import neighbors as host_neighbors
from sklearn import svm as host_svm
from sklearn.cluster import DBSCAN, KMeans
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors
from sklearn.tree import DecisionTreeClassifier

from sklearnex import basic_statistics, cluster, config_context, covariance, decomposition, ensemble, linear_model
from sklearnex import neighbors, svm
from sklearnex.preview.covariance import EmpiricalCovariance
from sklearnex.preview.decomposition import IncrementalPCA

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


def tree_of_classes():
    # The same of classes.
    got = ensemble.RandomForestClassifier(1, bootstrap=False, max_features=None, random_state=0).fit(x, y)
    want = DecisionTreeClassifier(random_state=0).fit(x, y)
    return got.score(x, y) == want.score(x, y) == 1


def forest_of_values():
    # On what it was made of: the device puts a threshold at a sample's value, scikit-learn between two, so that scores of
    # samples between clusters are not the same.
    many = {"n_estimators": 20, "random_state": 0}
    got = ensemble.RandomForestRegressor(**many).fit(x, target).score(x, target)
    return abs(got - RandomForestRegressor(**many).fit(x, target).score(x, target)) < 0.02


# Two classes that overlap.
two = (target > np.median(target)).astype(np.int32)
noisy = x + rng.normal(scale=2, size=x.shape).astype(np.float32)
halves = [slice(0, 200), slice(200, 400)]


def in_parts(estimator, *data):
    for part in halves:
        estimator.partial_fit(*(d[part] for d in data))
    return estimator


def linear(make, host):
    got, want = make(linear_model), host.fit(x, target)
    return np.allclose(got.coef_, want.coef_, atol=1e-2) and np.allclose(got.predict(x), want.predict(x), atol=1e-1)


def ridge():
    return linear(lambda m: m.Ridge(alpha=0.5).fit(x, target), host_linear_model.Ridge(alpha=0.5))


def linear_in_parts():
    return linear(lambda m: in_parts(m.IncrementalLinearRegression(), x, target), LinearRegression())


def ridge_in_parts():
    return linear(lambda m: in_parts(m.IncrementalRidge(alpha=0.5), x, target), host_linear_model.Ridge(alpha=0.5))


def same_classes(got, want, data, classes):
    got, want = got.fit(data, classes), want.fit(data, classes)
    return np.mean(got.predict(data) == want.predict(data)) > 0.98


def logistic():
    got, want = (m.LogisticRegression(solver="newton-cg") for m in (linear_model, host_linear_model))
    return same_classes(got, want, noisy, two)


def vectors():
    return same_classes(svm.SVC(kernel="rbf", gamma=0.1), host_svm.SVC(kernel="rbf", gamma=0.1), noisy, two)


def neighbours_of_classes():
    got, want = (m.KNeighborsClassifier(5, algorithm="brute") for m in (neighbors, host_neighbors))
    return same_classes(got, want, noisy, y)


def neighbours_of_values():
    got, want = (m.KNeighborsRegressor(5, algorithm="brute").fit(noisy, target) for m in (neighbors, host_neighbors))
    return np.allclose(got.predict(noisy), want.predict(noisy), atol=1e-2)


def outliers():
    got, want = (m.LocalOutlierFactor(20, algorithm="brute").fit_predict(noisy) for m in (neighbors, host_neighbors))
    return np.mean(got == want) > 0.99


def extra_trees():
    got, want = (m.ExtraTreesClassifier(20, random_state=0).fit(x, y).score(x, y) for m in (ensemble, host_ensemble))
    return abs(got - want) < 0.02


def extra_trees_of_values():
    many = {"n_estimators": 20, "random_state": 0}
    got, want = (m.ExtraTreesRegressor(**many).fit(x, target).score(x, target) for m in (ensemble, host_ensemble))
    return abs(got - want) < 0.05


def same_covariance(got):
    want = host_covariance.EmpiricalCovariance().fit(x)
    close = np.allclose(got.covariance_, want.covariance_, rtol=1e-2, atol=1e-2)
    return close and np.allclose(got.location_, want.location_, atol=1e-3)


def covariances():
    return same_covariance(EmpiricalCovariance().fit(x))


def covariances_in_parts():
    return same_covariance(in_parts(covariance.IncrementalEmpiricalCovariance(), x))


def components_in_parts():
    got, want = in_parts(IncrementalPCA(3), x), in_parts(host_decomposition.IncrementalPCA(3), x)
    return np.allclose(got.explained_variance_, want.explained_variance_, rtol=1e-2)


def same_statistics(got):
    pairs = [(got.mean_, x.mean(0)), (got.max_, x.max(0)), (got.variance_, x.var(0, ddof=1)), (got.sum_, x.sum(0))]
    return all(np.allclose(a, b, rtol=1e-3, atol=1e-2) for a, b in pairs)


def statistics():
    return same_statistics(basic_statistics.BasicStatistics().fit(x))


def statistics_in_parts():
    return same_statistics(in_parts(basic_statistics.IncrementalBasicStatistics(), x))


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
    ("classification tree", tree_of_classes),
    ("ridge regression", ridge),
    ("linear regression in parts", linear_in_parts),
    ("ridge regression in parts", ridge_in_parts),
    ("logistic regression", logistic),
    ("support vectors", vectors),
    ("k-neighbours' classes", neighbours_of_classes),
    ("k-neighbours' values", neighbours_of_values),
    ("outliers", outliers),
    ("extra trees", extra_trees),
    ("extra trees of values", extra_trees_of_values),
    ("covariance", covariances),
    ("covariance in parts", covariances_in_parts),
    ("PCA in parts", components_in_parts),
    ("statistics", statistics),
    ("statistics in parts", statistics_in_parts),
]:
    try:
        # No falling back to the host: what the device cannot do is an error.
        with config_context(target_offload=queue, allow_fallback_to_host=False):
            good = test()
        print(f"PASS {name}" if good else f"FAIL {name}: other values than scikit-learn's", flush=True)
    except Exception as e:  # noqa: BLE001
        print(f"FAIL {name}: {' '.join(str(e).split())}", flush=True)
