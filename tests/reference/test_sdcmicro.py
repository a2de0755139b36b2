"""Risk measures against sdcMicro's numbers, and why they differ where they do."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from suffice.risk.distance_linkage import distance_linkage
from suffice.risk.individual_risk import individual_risk
from suffice.risk.keys import key_counts, levels
from suffice.risk.model_risk import model_risk, poisson_means
from suffice.risk.robust_intervals import robust_intervals
from suffice.risk.sd_intervals import sd_intervals
from suffice.risk.suda import special_uniques

from ..places import SHARED, matrix, needs_shared

pytestmark = needs_shared
CLOSE = 1e-8


def shared(name: str) -> pa.Table:
    assert SHARED is not None
    return csv.read_csv(SHARED / f"{name}.csv", convert_options=csv.ConvertOptions(null_values=["NA"]))


def numbers(table: pa.Table) -> np.ndarray:
    return np.column_stack([np.asarray(column, dtype=np.float64) for column in table.columns])


def francdat(holes: bool = False) -> tuple[list[np.ndarray], np.ndarray]:
    table = shared("data/francdat")
    keys = [levels(table[f"Key{i}"])[0].copy() for i in range(1, 5)]
    if holes:
        keys[0][0] = keys[1][3] = keys[2][4] = keys[3][4] = -1
    return keys, np.asarray(table["w"], dtype=np.float64)


def test_counts_and_individual_risk():
    keys, w = francdat()
    counts = key_counts(keys, w)
    f, F, _, exact = matrix("sdcmicro_francdat_freqCalc").T
    assert np.array_equal(counts.sample, f)
    assert np.array_equal(counts.population, F)
    assert np.allclose(individual_risk(counts), exact, atol=CLOSE)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_missing_keys(alpha: float):
    """sdcMicro gives 0 where a count is no whole number; ours goes on between 1 and 2."""
    counts = key_counts(*francdat(holes=True), alpha=alpha)
    f, F, r = matrix(f"sdcmicro_francdat_NA_alpha{alpha:g}").T
    whole = f == np.round(f)
    assert np.array_equal(counts.sample, f)
    assert np.array_equal(counts.population, F)
    assert np.allclose(individual_risk(counts)[whole], r[whole], atol=CLOSE)
    assert (r[~whole] == 0).all()
    assert (individual_risk(counts)[~whole] > 0).all()


def test_special_uniques():
    """The peer holds the file's DIS in single precision: 7 digits."""
    found = special_uniques(francdat()[0])
    reference = matrix("sdcmicro_francdat_suda2")
    assert np.array_equal(found.contributions, reference[:, :4])
    assert np.array_equal(found.scores, reference[:, 4])
    assert np.allclose(found.dis, reference[:, 5], atol=CLOSE)


def test_model_risk():
    """The peer fits sex, water and roof as numbers, takes the sample's mean for the population's, and divides by cells
    of up to five records: with that put in, the same figures. Ours are those of Skinner and Holmes."""
    table = shared("data/testdata")
    names, w = ("sex", "water", "roof"), np.asarray(table["sampling_weight"], dtype=np.float64)
    values = [np.asarray(table[name], dtype=np.float64) for name in names]
    grid = np.array(np.meshgrid(*(np.unique(v) for v in values), indexing="ij")).reshape(3, -1)
    place = {tuple(cell): i for i, cell in enumerate(grid.T)}
    cell = np.array([place[key] for key in zip(*values, strict=True)])
    counts = np.bincount(cell, minlength=len(place)).astype(float)
    weights, pi = (np.bincount(cell, v, minlength=len(place)) for v in (w, 1 / w))
    X = np.column_stack([np.ones(len(place)), grid.T])
    cells = ((counts > 0) & (counts <= 5)).sum()
    offset = np.log(np.divide(counts, weights, out=np.zeros(len(place)), where=weights > 0) + 0.1)
    for name, means in {
        "default": poisson_means(counts, X),
        "CE": poisson_means(counts, X, offset),
        "PML": poisson_means(np.round(weights * counts.sum() / weights.sum()), X),
        "weightedLLM": poisson_means(counts, np.column_stack([X, weights])),
    }.items():
        peer = model_risk(counts, means * np.where(pi > 0, pi, 1.0), np.where(pi > 0, pi, 1.0))
        assert np.allclose([peer.unique / cells, peer.matches / cells], matrix(f"sdcmicro_modRisk_{name}"), atol=CLOSE)
    own = model_risk(counts, poisson_means(counts, X), np.where(pi > 0, pi, 1.0))
    assert own.unique < own.matches < 0.1 * peer.matches


def test_sd_intervals():
    rows = shared("reference/sdcmicro_mdav_measures").to_pylist()[::2]
    for row, short in zip(rows, ("Tarragona", "CASC"), strict=True):
        Y, Ystar = numbers(shared(f"data/{row['data']}")), matrix(f"sdcmicro_mdav_{short}_k3")
        for k, name in ((0.05, "dRisk"), (0.01, "dRisk_k0.01"), (0.1, "dRisk_k0.1")):
            assert sd_intervals(Y, Ystar, k) == pytest.approx(row[name], abs=CLOSE)


def test_robust_intervals():
    """With the peer's covariance matrix, record by record; with our own the subsets are others, and so is the rank."""
    Y, Ystar = numbers(shared("data/CASCrefmicrodata")), matrix("sdcmicro_casc_noise5")
    some = [j for j, name in enumerate(shared("data/CASCrefmicrodata").column_names) if name != "POTHVAL"]
    found = robust_intervals(Y[:, some], Ystar[:, some], covariance=matrix("sdcmicro_casc_covMcd_cov"))
    risk1, risk2, weighted, _ = matrix("sdcmicro_casc_noise5_dRiskRMD")[0]
    assert found.share == pytest.approx(risk1, abs=CLOSE)
    assert found.lonely_share == pytest.approx(risk2, abs=CLOSE)
    assert found.unsafe.sum() * found.distances[found.unsafe].sum() / len(Y) == pytest.approx(weighted, abs=CLOSE)
    each = matrix("sdcmicro_casc_noise5_dRiskRMD_vec")
    assert np.allclose(np.column_stack([found.unsafe, found.lonely]) * found.distances[:, None], each, atol=CLOSE)
    assert abs(robust_intervals(Y, Ystar).share - risk1) < 0.1  # the peer stops at the column that is a sum


@pytest.mark.parametrize(("metric", "total"), [("euclidean", 32.455117456647038), ("cityblock", 60.749223561208311)])
def test_record_linkage(metric: str, total: float):
    """The peer links one to one with the least total distance, which takes n x n; ours takes the nearest of each."""
    x, y = matrix("sdcmicro_recordLinkage_x"), matrix("sdcmicro_recordLinkage_y")
    table = shared(f"reference/sdcmicro_recordLinkage_{metric.replace('cityblock', 'manhattan')}")
    D = cdist(x, y, metric)
    place = linear_sum_assignment(D)[1]
    assert np.array_equal(place, np.asarray(table["y_row"]) - 1)
    assert np.allclose(D[np.arange(300), place], np.asarray(table["distance"]), atol=CLOSE)
    assert D[np.arange(300), place].sum() == pytest.approx(total, abs=CLOSE)
    if metric == "euclidean":
        assert distance_linkage(x, y) == pytest.approx((D.argmin(axis=1) == np.arange(300)).mean()) == 296 / 300
