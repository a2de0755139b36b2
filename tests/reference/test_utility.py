"""Utility measures of sdcMicro 5.8.1 and synthpop 1.9-3 in R, number for number, or with the reason why not."""

from __future__ import annotations

import csv
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from suffice.utility.analysis import Analysis, ModelMatrix
from suffice.utility.combination import combined
from suffice.utility.correlations import correlation_loss
from suffice.utility.eigenvalues import eigenvalue_loss
from suffice.utility.interval_overlap import NORMAL, AnalysisLoss, interval_overlap
from suffice.utility.propensity import mixed_propensity
from suffice.utility.propensity_tree import tree_propensity
from suffice.utility.standardised_change import standardised_change
from suffice.utility.table_fit import TableFit
from suffice.utility.two_files import TwoFiles, column_terms
from tests.places import SHARED, matrix, needs_shared

pytestmark = needs_shared
R = 1e-8
SEX, EDU = ["MALE", "FEMALE"], ["PRIMARY/NO EDUCATION", "VOCATIONAL/GRAMMAR", "SECONDARY", "POST-SECONDARY OR HIGHER"]
MARITAL = ["SINGLE", "MARRIED", "WIDOWED", "DIVORCED", "LEGALLY SEPARATED", "DE FACTO SEPARATED"]
ORDER = {"sex": SEX, "edu": EDU, "marital": MARITAL}
"""Levels as R has them: the first is the one that others are compared with."""


def records(name: str) -> list[dict[str, str]]:
    assert SHARED is not None
    with (SHARED / "reference" / f"{name}.csv").open() as lines:
        return list(csv.DictReader(lines))


def file(name: str, *names: str) -> dict[str, Any]:
    rows = records(f"synthpop_{name}")
    found: dict[str, Any] = {}
    for each in names or tuple(rows[0]):
        cells = [None if row[each] == "NA" else row[each] for row in rows]
        if each in ("age", "income"):
            found[each] = np.array([np.nan if cell is None else float(cell) for cell in cells])
        else:
            known = ORDER.get(each)
            found[each] = pa.array(
                [cell if cell is None or known is None else str(known.index(cell)) for cell in cells]
            )
    return found


def files(*names: str) -> TwoFiles:
    return TwoFiles.of(file("obs", *names), file("syn_m1", *names))


def peer(label: str) -> dict[str, str]:
    return next(row for row in records("synthpop_utility_gen") if row["label"] == label)


@pytest.mark.parametrize(("data", "k"), [("Tarragona", 3), ("CASCrefmicrodata", 3)])
def test_sdcmicro_losses(data: str, k: int):
    assert SHARED is not None
    Y = matrix(data, SHARED / "data")
    Ystar = matrix(f"sdcmicro_mdav_{data.removesuffix('refmicrodata')}_k{k}")
    row = next(r for r in records("sdcmicro_mdav_measures") if (r["data"], r["aggr"]) == (data, str(k)))
    assert standardised_change(Y, Ystar) * Y.size == pytest.approx(float(row["IL1s"]), rel=R)
    if data == "Tarragona":
        assert eigenvalue_loss(Y, Ystar) == pytest.approx(float(row["eigen"]), rel=R)
        assert correlation_loss(Y, Ystar).inverse == pytest.approx(float(row["IL_correl"]), rel=R)
    else:  # PTOTVAL = PEARNVAL + POTHVAL: one eigenvalue is 0, and the peer adds its rounding error over itself
        assert eigenvalue_loss(Y, Ystar) < float(row["eigen"])


MIX = ("sex", "age", "edu", "income")


@pytest.mark.parametrize(("label", "names"), [("cat", ("sex", "edu", "marital")), ("mix", MIX)])
def test_synthpop_propensity_by_a_logistic_model(label: str, names: tuple[str, ...]):
    """R stops where the deviance falls by less than 1e-8 of itself, after two or three steps; ours are converged.

    A fit that stops as R does has R's number to 1e-12.
    """
    both, row = files(*names), peer(f"logit_{label}_maxorder0")
    found = mixed_propensity(both)
    assert found.parameters - 1 == int(row["df"])
    assert found.pmse == pytest.approx(float(row["pMSE"]), abs=R)
    assert found.pmse == pytest.approx(float(row["pMSE"]), rel=3e-6)
    assert found.ratio == pytest.approx(float(row["S_pMSE"]), rel=3e-6)
    assert found.told.specks == pytest.approx(float(row["SPECKS"]), rel=R)
    assert found.told.correct == pytest.approx(float(row["PO50"]), rel=R)
    assert found.told.wilcoxon == float(row["U"])
    columns = [(both.codes.get(name, both.numbers.get(name)), name in both.codes) for name in names]
    A = np.hstack([np.ones((both.n, 1)), *(column_terms(*each)(each[0]) for each in columns)])
    assert np.mean((stopped(A, both.released) - 0.5) ** 2) == pytest.approx(float(row["pMSE"]), rel=1e-10)


def stopped(A: Any, t: Any) -> Any:
    mean, deviance = (t + 0.5) / 2, np.inf
    eta = np.log(mean / (1 - mean))
    while True:
        root = np.sqrt(mean * (1 - mean))
        eta = A @ np.linalg.lstsq(root[:, None] * A, root * (eta + (t - mean) / root**2), rcond=None)[0]
        mean, before = 1 / (1 + np.exp(-eta)), deviance
        deviance = 2 * np.logaddexp(0, np.where(t > 0, -eta, eta)).sum()
        if abs(deviance - before) < 1e-8 * (deviance + 0.1):
            return mean


def test_synthpop_propensity_with_products():
    row = peer("logit_mix_maxorder1")
    found = mixed_propensity(files(*MIX), pairs=True)
    assert found.parameters - 1 == int(row["df"])
    assert found.pmse == pytest.approx(float(row["pMSE"]), abs=R)
    assert found.told.wilcoxon == float(row["U"])


@pytest.mark.parametrize(("label", "names"), [("cat", ("sex", "edu", "marital")), ("mix", MIX), ("all", ())])
def test_synthpop_propensity_by_a_tree(label: str, names: tuple[str, ...]):
    """The trees of rpart, of numbers, categories and missing cells."""
    row = peer(f"cart_{label}")
    found = tree_propensity(files(*names), 0)
    assert found.pmse == pytest.approx(float(row["pMSE"]), rel=R)
    assert found.told.specks == pytest.approx(float(row["SPECKS"]), rel=R)
    assert found.told.correct == pytest.approx(float(row["PO50"]), rel=R)
    assert found.told.wilcoxon == float(row["U"])


def test_synthpop_tables():
    """All statistics; of the ratios all but JSD, whose expectation is df / (8 n log 2) and not df log(2) / (4 n)."""
    both = files()
    rows = {row["vars"]: row for row in records("synthpop_utility_tab_stats")}
    assert len(rows) == 6
    for names, row in rows.items():
        fit = TableFit.of(*both.counts(names.split(":")))
        assert fit.freedom == int(row["df"])
        for name, value in fit.statistics.items():
            assert value == pytest.approx(float(row[name]), rel=R), (names, name)
        theirs = {name: float(row[f"S_{name}"]) for name in fit.ratios}
        theirs["JSD"] *= (np.log(2) / 4) / (1 / (8 * np.log(2)))
        assert fit.ratios == pytest.approx(theirs, rel=R)


def coefficients(name: str) -> np.ndarray:
    return np.array([[float(cell) for cell in list(row.values())[1:]] for row in records(f"synthpop_{name}")])


def test_synthpop_regressions_of_five_releases():
    names = ("sex", "age", "edu", "income")
    original, released = file("obs", *names), [file(f"syn_m5_{i}", *names) for i in range(1, 6)]
    analysis = Analysis.parse("lm: income ~ sex + age + edu")
    model = ModelMatrix.of(analysis, [original, *released])
    before, *after = (model.coefficients(each) for each in (original, *released))
    assert np.column_stack([before.estimates, before.errors]) == pytest.approx(
        coefficients("lm_income_orig")[:, :2], rel=R
    )
    assert np.array([each.estimates for each in after]) == pytest.approx(matrix("synthpop_lm_income_m5_mcoef"), rel=R)
    found = combined(after, np.mean([each.records for each in after]))  # the peer takes k/n to be 1
    assert np.column_stack([found.estimates, found.errors]) == pytest.approx(
        coefficients("lm_income_m5_obs")[:, :2], rel=R
    )
    loss = AnalysisLoss.of(analysis, original, released)
    assert loss.differences == pytest.approx(coefficients("compare_fit_coefdiff")[:, 3], rel=R)
    theirs_too = coefficients("compare_fit_cioverlap")[:, 0]
    assert 1 - np.abs(loss.differences) / (2 * NORMAL) == pytest.approx(
        theirs_too, rel=R
    )  # both lengths the original's
    assert loss.overlaps == pytest.approx(theirs_too, abs=0.01)
    assert interval_overlap(before, before).tolist() == [1.0] * 6


def test_synthpop_logistic_regressions():
    """Estimates to 1e-8; variances to 1e-7, as R's curvature is that before its last step; not of separated levels."""
    names = ("sex", "age", "marital", "wkabint")
    released = [file(f"syn_m5_{i}", *names) for i in (1, 3)]
    model = ModelMatrix.of(Analysis.parse("glm-binomial: wkabint == 'NO' ~ sex + age + marital"), released)
    estimates, variances = (matrix(f"synthpop_glm_m5_{each}") for each in ("mcoef", "mvar"))
    for at, each in zip((0, 2), released, strict=True):
        found, told = model.coefficients(each), variances[at] < 100
        assert told.sum() == 7
        assert found.estimates[told] == pytest.approx(estimates[at][told], rel=R)
        assert found.errors[told] ** 2 == pytest.approx(variances[at][told], rel=1e-7)
