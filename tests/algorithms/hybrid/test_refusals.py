"""What cannot be done is said, with the numbers; nothing is changed silently."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from suffice.algorithms.hybrid.algorithm import hybrid
from suffice.algorithms.hybrid.slopes import BELOW, ClustersInfeasible
from suffice.errors import InputError, UsageError
from tests.algorithms.hybrid.cases import Request, asked, file


def uneven(seed: int = 1) -> tuple[Any, Any, Request]:
    """A file in which the clusters' own slopes differ much, and one cluster hardly varies: its C does not exist."""
    Y, Z, given = file(seed)
    Y += given["overall"][:, :1] * (given["clusters"][:, None] - 2.0)
    quiet = given["clusters"] == 3
    Y[quiet] = Y[quiet].mean(axis=0) + 1e-3 * Z[::-1][quiet]
    return Y, Z, asked(given, "clusters", "overall")


def test_where_C_does_not_exist() -> None:
    Y, Z, given = uneven()
    with pytest.raises(
        ClustersInfeasible, match=r"clusters \d of 6 . largest alpha 0\.\d+ \(itself excluded\)"
    ) as error:
        hybrid(Y, Z, **given, slopes=1)
    largest = error.value.largest
    assert largest is not None
    assert 1 <= error.value.clusters <= 6
    stated = float(str(error.value).split("largest alpha ")[1].split()[0])
    assert 0.998 * largest < stated < largest
    hybrid(Y, Z, **given, slopes=stated)  # what is stated is feasible
    with pytest.raises(ClustersInfeasible):
        hybrid(Y, Z, **given, slopes=largest)  # the limit itself is not
    with pytest.raises(ClustersInfeasible):
        hybrid(Y, Z, **given, slopes=1.001 * largest)


def test_as_many_clusters_as_fail_are_counted() -> None:
    Y, Z, given = uneven()
    limits = hybrid(Y, Z, **given, slopes=0)
    assert limits.held is not None
    each = np.sort(limits.held.largest)
    for count in (1, 2):
        with pytest.raises(ClustersInfeasible) as error:
            hybrid(Y, Z, **given, slopes=min(1.0, float(each[count - 1 : count + 1].mean())))
        assert error.value.clusters == count
    assert limits.impossible == (each <= 1).sum() >= 2
    assert limits.largest == each[0]


def test_largest_stays_a_margin_below_the_limit_and_is_never_more_than_one() -> None:
    Y, Z, given = uneven()
    found = hybrid(Y, Z, **given, slopes="largest")
    assert found.alpha == BELOW * found.largest < 1
    Y, Z, given = file(sizes=(200, 200))
    found = hybrid(Y, Z, **asked(given, "clusters", "overall"), slopes="largest")
    assert found.largest > 1 / BELOW
    assert found.alpha == 1.0


def test_too_few_dimensions() -> None:
    Y, Z, given = file(sizes=(5, 5, 30, 30))
    request = asked(given, "clusters", "local", "overall")
    for slopes in (0, 0.5, 1, "largest"):
        with pytest.raises(ClustersInfeasible, match=r"clusters 2 of 4 . no alpha is feasible") as error:
            hybrid(Y, Z, **request, slopes=slopes)
        assert (error.value.clusters, error.value.of, error.value.largest) == (2, 4, None)
    assert hybrid(Y, Z, **request).freedom.tolist() == [1, 1, 26, 26]  # the main algorithm needs no more


def saturated(seed: int) -> tuple[Any, Any, Request]:
    """Clusters of one or two records, in which nothing is left, beside large ones; groups of one cluster among them."""
    rng = np.random.default_rng(seed)
    k, b, small = rng.integers(1, 4), rng.integers(1, 3), rng.integers(1, 3, 6)
    sizes = np.concatenate([small, rng.integers(5, 25, rng.integers(2, 6))])
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.normal(size=(len(clusters), b + 1))
    given: Request = {"clusters": clusters, "local": X[:, :1], "overall": X[:, 1:]}
    if seed % 2:
        given |= {"cluster_groups": np.maximum(clusters, 3), "groups_given": rng.normal(size=(len(clusters), 1))}
    return rng.normal(size=(len(X), k)), rng.normal(size=(len(X), k)), given


def feasible(Y: Any, given: Request, found: Any, alpha: float) -> bool:
    """(10) in every cluster, with the eigenvalues of E'E - alpha^2 E_3*'E_3*; `found`: the parts at slopes=None."""
    for cluster in np.unique(given["clusters"]):
        r = given["clusters"] == cluster
        full = np.hstack(
            [np.ones((r.sum(), 1)), *(given[p][r] for p in ("local", "overall", "groups_given") if p in given)]
        )
        left = r.sum() - np.linalg.matrix_rank(full)
        E, Eg = (found.E3 + found.E4)[r], found.E3star[r]
        values = np.linalg.eigvalsh(E.T @ E - alpha**2 * Eg.T @ Eg)
        if values.min() < -1e-9 or (values > 1e-9).sum() > left:
            return False
    return True


def test_what_is_feasible_beside_saturated_clusters_is_done() -> None:
    """A cluster of one record has no residuals: rounding in it refused one request in 25."""
    done = 0
    for seed in range(150):
        Y, Z, given = saturated(seed)
        alpha = (0.05, 0.3, 0.7)[seed % 3]
        if feasible(Y, given, hybrid(Y, Z, **given), alpha):
            assert hybrid(Y, Z, **given, slopes=alpha).alpha == alpha
            done += 1
        else:
            with pytest.raises(ClustersInfeasible):
                hybrid(Y, Z, **given, slopes=alpha)
    assert 30 < done < 140


def test_a_relation_that_holds_in_one_cluster_only() -> None:
    Y, Z, given = file(sizes=(20, 30, 30))
    request = asked(given, "clusters", "overall")
    found = hybrid(Y, Z, **request, slopes=0)
    first, E = given["clusters"] == 0, found.E3 + found.E4
    Y[first, 2] += (E[:, 0] - E[:, 2])[first]  # the residuals of columns 1 and 3 are now nearly the same there
    for _ in range(60):  # as the fit moves with them
        E = (lambda f: f.E3 + f.E4)(hybrid(Y, Z, **request, slopes=0))
        Y[first, 2] += (E[:, 0] - E[:, 2])[first]
    with pytest.raises(ClustersInfeasible, match=r"clusters 1 of 3 . largest alpha 0 ") as error:
        hybrid(Y, Z, **request, slopes="largest")
    assert error.value.largest == 0
    with pytest.raises(ClustersInfeasible, match="slopes=0"):
        hybrid(Y, Z, **request, slopes=0.01)
    assert hybrid(Y, Z, **request, slopes=0).alpha == 0


@pytest.mark.parametrize(
    ("parts", "more", "says"),
    [
        (("pieces_given",), {}, "crossed with pieces, and there are none"),
        (("clusters", "groups_given"), {}, "belong together"),
        (("clusters", "cluster_groups"), {}, "belong together"),
        (("clusters", "local"), {"slopes": 0}, "there are none"),
        (("clusters", "overall"), {"slopes": 1.5}, "from 0 to 1"),
        (("clusters", "overall"), {"slopes": float("nan")}, "from 0 to 1"),
        (("clusters", "overall"), {"slopes": "most"}, "from 0 to 1"),
        ((), {"clusters": [1, 2]}, "clusters has 2 labels for 170 records"),
        ((), {"overall": np.ones((3, 1))}, "overall must be a matrix of 170 rows"),
    ],
)
def test_what_the_paper_does_not_define(parts: tuple[str, ...], more: dict[str, Any], says: str) -> None:
    Y, Z, given = file()
    with pytest.raises(UsageError, match=says):
        hybrid(Y, Z, **asked(given, *parts) | more)


def test_a_cluster_in_two_groups() -> None:
    Y, Z, given = file()
    groups = given["clusters"].copy()
    groups[:5] = 7 - groups[:5]
    torn = len(np.unique(given["clusters"][:5]))
    with pytest.raises(InputError, match=f"{torn} of 6 clusters have records in more than one group"):
        hybrid(Y, Z, **asked(given, "clusters", "groups_given"), cluster_groups=groups)


@pytest.mark.parametrize("weight", [0.0, -1.0, np.nan, np.inf])
def test_weights_are_positive(weight: float) -> None:
    Y, Z, given = file()
    w = np.ones(len(Y))
    w[3] = weight
    with pytest.raises(InputError, match="Weights must be positive"):
        hybrid(Y, Z, **asked(given, "clusters"), weights=w)


def test_random_matrix_of_another_shape() -> None:
    Y, Z, _ = file()
    with pytest.raises(UsageError, match=r"170 x 2; it must be 170 x 3"):
        hybrid(Y, Z[:, :2])


def test_no_value_in_a_repr() -> None:
    Y, Z, given = file()
    assert repr(hybrid(Y, Z, **asked(given, "clusters", "overall"))) == "Parts(170 x 3, 6 clusters, ranks (6, 2, 10))"
