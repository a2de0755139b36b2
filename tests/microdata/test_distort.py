"""Distort: Liew's example, families by likelihood, frequencies where none fits, ranks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.stats as s

from suffice import Distort, Roles, protect
from suffice.algorithms.families import COUNTS, CRITERIA, FAMILIES, FamilyFit, fitted
from suffice.algorithms.frequencies import INTERVALS, frequencies
from suffice.errors import UsageError

LIEW = np.array([186.0, 693, 830, 1177, 1219, 1428, 1902, 1903, 2496, 3406])
KS = "kolmogorov-smirnov"


def test_the_example_of_liew() -> None:
    fits = {fit.family: fit for fit in fitted(LIEW, [*FAMILIES], KS)}
    mode, scale = fits["extreme-value"].law.args
    assert [round(float(each), 2) for each in (mode, scale)] == [1105.78, 732.43]
    assert round(fits["extreme-value"].statistics[KS], 4) == 0.1138
    assert round(fits["weibull"].statistics[KS], 4) == 0.1086  # which the report does not choose
    assert {*fits} == {*FAMILIES}
    assert next(iter(fits)) == "weibull"
    assert fitted(LIEW, [*FAMILIES], "anderson-darling")[0].family == "extreme-value"


@pytest.mark.parametrize(
    ("family", "law"),
    [
        ("normal", s.norm(5, 2)),
        ("triangular", s.triang(0.3, 2, 4)),
        ("exponential", s.expon(scale=3)),
        ("lognormal", s.lognorm(0.8, scale=5)),
        ("weibull", s.weibull_min(1.7, scale=4)),
        ("uniform", s.uniform(-1, 3)),
        ("beta", s.beta(2, 5)),
        ("gamma", s.gamma(2.5, scale=2)),
        ("logistic", s.logistic(3, 2)),
        ("pareto", s.pareto(2.5, scale=2)),
        ("extreme-value", s.gumbel_r(10, 3)),
        ("binomial", s.binom(60, 0.4)),
        ("poisson", s.poisson(30)),
        ("geometric", s.geom(0.05, -1)),
        ("hypergeometric", s.hypergeom(90, 40, 30)),
    ],
)
def test_every_family_is_found_again(family: str, law: object) -> None:
    """Its own sample is no farther from it than samples are."""
    x = np.asarray(law.rvs(size=400, random_state=np.random.default_rng(4)), dtype=float)  # type: ignore[attr-defined]
    found = {fit.family: fit for fit in fitted(x, [family], KS)}[family]
    assert all(found.p[each] > 0.001 for each in CRITERIA[: 2 if family in COUNTS else 3])
    assert np.abs(np.quantile(found.draw(4000, np.random.default_rng(1)), 0.5) - np.median(x)) < 0.2 * x.std()


def test_a_likelihood_is_the_largest() -> None:
    for family in ("weibull", "gamma"):
        fit = fitted(LIEW, [family], KS)[0]
        at = fit.law.logpdf(LIEW).sum()
        shape, scale = fit.law.args[0], fit.law.kwds["scale"]
        for more in (0.97, 1.03):
            assert fit.law.dist(shape * more, scale=scale).logpdf(LIEW).sum() < at
            assert fit.law.dist(shape, scale=scale * more).logpdf(LIEW).sum() < at


def test_frequencies_where_no_family_fits() -> None:
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.normal(0, 1, 150), rng.normal(50, 1, 150)])
    found = frequencies(x)
    assert INTERVALS[0] <= len(found.share) <= INTERVALS[1]
    drawn = found.draw(300, rng)
    ends = np.append(found.low, found.high[-1])
    assert np.array_equal(np.histogram(drawn, ends)[0], np.histogram(x, ends)[0])  # overflow is discarded
    few = frequencies(rng.integers(3, size=99).astype(float)).draw(99, rng)
    assert {*few} == {0.0, 1.0, 2.0}
    frame = pd.DataFrame({"x": x})
    told = protect(frame, Roles(confidential=["x"]), Distort(families=("normal", "gamma"))).certificate.private
    assert any("drawn from frequencies" in each and "\nnormal\t0." in each for each in told)


def test_values_of_one_record_are_not_handed_on() -> None:
    """Few records have few values, and a column of few may have one that is somebody's own."""
    ten = protect(pd.DataFrame({"x": LIEW}), Roles(confidential=["x"]), Distort()).frame
    assert not {*ten.x} & {*LIEW}
    fines = pd.DataFrame({"fine": np.append(np.tile([0.0, 100.0, 250.0], 50), 987_654.0)})
    assert {*protect(fines, Roles(confidential=["fine"]), Distort()).frame.fine} == {0.0, 100.0, 250.0}


def test_ranks_are_kept_or_not() -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(200, 2)), columns=["x", "y"]).assign(z=1.0)
    roles = Roles(confidential=["x", "y"])
    mapped = protect(frame, roles, Distort(order="rank", families=("normal",))).aligned()
    assert (mapped["x"].rank() == frame["x"].rank()).all()
    free = protect(frame, roles, Distort(families=("normal",), m=500)).frame
    assert len(free) == 500
    assert abs(free["x"].std() - frame["x"].std()) < 0.2
    with pytest.raises(UsageError, match="Leave m out"):
        Distort(order="rank", m=5)
    with pytest.raises(UsageError, match="families must be some of normal"):
        Distort(families=("cauchy",))


def test_a_fit_that_is_too_far_is_refused() -> None:
    x = np.random.default_rng(2).exponential(size=300)
    frame = pd.DataFrame({"x": x})
    for level, family in ((0.0, "normal"), (0.05, "frequencies")):
        release = protect(frame, Roles(confidential=["x"]), Distort(families=("normal",), level=level))
        assert any(f"drawn from {family}" in each for each in release.certificate.private)
    assert isinstance(fitted(x, ["normal"], CRITERIA[1])[0], FamilyFit)


def test_one_record_in_a_gap_brings_few_others_there() -> None:
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.normal(0, 1, 700), rng.normal(30, 2, 700), [12.0]])
    drawn = frequencies(x).draw(len(x), rng)
    assert ((drawn > 8) & (drawn < 22)).mean() < 0.02  # joined to the fuller neighbour they would be 7 %


def test_categories_are_drawn_by_their_frequencies() -> None:
    frame = pd.DataFrame({"sex": ["f"] * 60 + ["m"] * 38 + ["x"] * 2, "age": np.arange(100.0) + 0.5})
    made = protect(frame, Roles(confidential=["sex", "age"]), Distort(m=1000)).frame
    assert made["sex"].value_counts().to_dict() == {"f": 612, "m": 388}
    with pytest.raises(UsageError, match="identifiers"):
        protect(frame.assign(sex=[f"p{i}" for i in range(100)]), Roles(confidential=["sex", "age"]), Distort())


@pytest.mark.parametrize("by", CRITERIA)
def test_the_criterion_that_chooses_also_refuses(by: str) -> None:
    rng = np.random.default_rng(3)
    good, bad = (pd.DataFrame({"x": x}) for x in (rng.normal(size=300), rng.exponential(size=300) ** 2))
    method = Distort(families=("normal",), by=by)
    said = [protect(frame, Roles(confidential=["x"]), method).certificate.private[0] for frame in (good, bad)]
    assert "drawn from normal" in said[0]
    assert "drawn from frequencies" in said[1]
    assert "(p 0." in said[0]


def test_counts_have_the_likeliest_parameters_and_their_own_anderson_and_darling() -> None:
    """No number of trials is likelier; by the statistic of continuous values every law of counts would be refused."""
    rng = np.random.default_rng(4)
    for law in (s.binom(60, 0.4), s.hypergeom(90, 40, 30), s.poisson(30), s.geom(0.05, -1)):
        x = law.rvs(size=2000, random_state=rng).astype(float)
        family = {"binom": "binomial", "hypergeom": "hypergeometric", "geom": "geometric"}.get(law.dist.name, "poisson")
        fit = fitted(x, [family], CRITERIA[2])[0]
        assert fit.law.logpmf(x).sum() >= law.logpmf(x).sum()
        assert fit.p["anderson-darling"] > 0.05
        if family == "binomial":
            others = [s.binom.logpmf(x, n, x.mean() / n).sum() for n in range(int(x.max()), 50 * int(x.max()))]
            assert fit.law.logpmf(x).sum() >= max(others) - 1e-9
        u = law.cdf(np.sort(x))
        with np.errstate(divide="ignore"):
            plain = -len(x) - ((2 * np.arange(1, len(x) + 1) - 1) * (np.log(u) + np.log1p(-u[::-1]))).mean()
        assert plain > 4  # beyond the point of 1 %


def test_what_many_share_stays_what_it_is() -> None:
    """A fifth of the wages are 0, and -8 says that there is none: neither is spread over an interval."""
    rng = np.random.default_rng(6)
    wage = np.concatenate([np.zeros(100), np.full(60, -8.0), np.exp(rng.normal(7, 0.5, 340))])
    made = protect(pd.DataFrame({"wage": wage}), Roles(confidential=["wage"]), Distort()).frame["wage"]
    assert abs((made == 0).mean() - 0.2) < 0.01
    assert abs((made == -8).mean() - 0.12) < 0.01
    assert (made[(made != -8)] >= 0).all()


def test_whole_numbers_and_dates_leave_as_such() -> None:
    rng = np.random.default_rng(7)
    born = pd.Timestamp("1960-01-01") + pd.to_timedelta(rng.integers(0, 15_000, 300), "D")
    frame = pd.DataFrame({"age": rng.integers(18, 90, 300), "born": born})
    for method in (Distort(m=500), Distort(order="rank", families=("uniform",))):
        release = protect(frame, Roles(confidential=["age", "born"]), method)
        made = release.frame if release.done.drawn is not None else release.aligned()
        assert (made.dtypes == frame.dtypes).all()
        assert (made["born"].dt.normalize() == made["born"]).all()


def test_a_type_holds_what_is_drawn() -> None:
    """A byte is never negative; what a normal distribution has below zero is drawn again, and makes no heap there."""
    frame = pd.DataFrame({"score": np.random.default_rng(3).integers(0, 256, 300).astype(np.uint8)})
    made = protect(frame, Roles(confidential=["score"]), Distort(families=("normal",), level=0.0, m=5000)).frame[
        "score"
    ]
    assert made.dtype == np.uint8
    assert (made == 0).mean() < 0.01
    assert made.max() > 250


def test_a_family_that_is_named_is_tried_on_few_values() -> None:
    frame = pd.DataFrame({"children": np.random.default_rng(8).poisson(1.5, 400)})
    for families, told in ((("poisson",), "drawn from poisson"), (None, "drawn from frequencies")):
        release = protect(frame, Roles(confidential=["children"]), Distort(families=families))
        assert told in release.certificate.private[0]


def test_the_private_report_has_a_table_of_fits(tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    frame = pd.DataFrame({"sex": rng.choice(["female", "male"], 200), "x": rng.gamma(2.0, size=200)})
    release = protect(frame, Roles(confidential=["sex", "x"]), Distort(families=("normal", "gamma")))
    release.write(tmp_path / "out.csv", report=tmp_path / "private.html")
    page = (tmp_path / "private.html").read_text()
    assert '<tr><td>gamma</td><td class="number">0.' in page
    assert page.index("<td>gamma</td>") < page.index("<td>normal</td>")  # the nearest first
    assert "sex drawn from frequencies of 2" in page
    assert "normal\t" not in release.certificate.text()  # there in a word
    assert "drawn from gamma, kolmogorov-smirnov 0." in release.certificate.text()
