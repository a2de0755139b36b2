"""Analyses of a release: coefficients, their intervals, what AIC chooses; by plain versions, and refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from scipy import optimize

import suffice
from suffice.errors import InputError, UsageError
from suffice.utility.analysis import Analysis, Estimates, ModelMatrix
from suffice.utility.interval_overlap import NORMAL, AnalysisLoss, interval_overlap
from suffice.utility.model_choice import chosen_terms, same_choice

N = 200


def file(seed: int = 1, slope: float = 2.0) -> dict:
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=N), rng.normal(size=N)
    r = rng.choice(["n", "s", "w"], N)
    y = slope * x + (r == "w") + rng.normal(size=N)
    return {"x": x, "z": z, "r": pa.array(r), "y": y, "p": (y > 0).astype(float), "k": rng.poisson(np.exp(0.3 * x))}


def fitted(text: str, columns: dict, weight: str | None = None) -> Estimates:
    return ModelMatrix.of(replace(Analysis.parse(text), weight=weight), [columns]).coefficients(columns)


def plain(columns: dict) -> np.ndarray:
    r = columns["r"].to_numpy(zero_copy_only=False)
    return np.column_stack([np.ones(N), columns["x"], r == "s", r == "w"])


def test_least_squares_are_those_of_the_normal_equations():
    columns = file()
    X, y = plain(columns), columns["y"]
    found, b = fitted("lm: y ~ x + r", columns), np.linalg.solve(X.T @ X, X.T @ y)
    rest = np.sum((y - X @ b) ** 2)
    assert found.names == ("1", "x", "r[2]", "r[3]")  # a level is named by its place
    assert found.estimates == pytest.approx(b)
    assert found.errors == pytest.approx(np.sqrt(np.diag(np.linalg.inv(X.T @ X)) * rest / (N - 4)))
    assert found.aic == pytest.approx(N * (np.log(2 * np.pi * rest / N) + 1) + 2 * 5)


@pytest.mark.parametrize(("model", "response"), [("glm-binomial", "p"), ("glm-poisson", "k")])
def test_likelihoods_are_the_largest(model: str, response: str):
    columns = file()
    X, y = plain(columns), columns[response]

    def loss(beta):
        eta = X @ beta
        return np.sum(np.logaddexp(0, eta) - y * eta if response == "p" else np.exp(eta) - y * eta)

    best = optimize.minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-6})
    found = fitted(f"{model}: {response} ~ x + r", columns)
    assert found.estimates == pytest.approx(best.x, abs=1e-4)
    mean = 1 / (1 + np.exp(-X @ found.estimates)) if response == "p" else np.exp(X @ found.estimates)
    slope = mean * (1 - mean) if response == "p" else mean
    assert X.T @ (y - mean) == pytest.approx(np.zeros(4), abs=1e-6)
    assert found.errors == pytest.approx(np.sqrt(np.diag(np.linalg.inv(X.T @ (slope[:, None] * X)))), rel=1e-6)


def test_responses_are_conditions_categories_and_transforms():
    columns = file()
    asked = fitted("glm-binomial: y > 0 ~ x", columns).estimates
    assert asked == pytest.approx(fitted("glm-binomial: p ~ x", columns).estimates)
    spelt = {**columns, "t": pa.array(np.where(columns["p"] == 1, "yes", "no"))}
    assert fitted("glm-binomial: t ~ x", spelt).estimates == pytest.approx(asked)
    assert fitted("glm-binomial: t == 'yes' ~ x", spelt).estimates == pytest.approx(asked)
    assert fitted("square(x) ~ z", columns).estimates[0] == pytest.approx(1.0, abs=0.5)  # lm unless told


def test_records_with_missing_cells_do_not_count_and_dependent_columns_are_not_told():
    columns = file()
    holes = {**columns, "x": np.where(np.arange(N) < 20, np.nan, columns["x"])}
    rest = {name: column[20:] for name, column in columns.items()}
    assert fitted("lm: y ~ x", holes).estimates == pytest.approx(fitted("lm: y ~ x", rest).estimates)
    twice = fitted("lm: y ~ x + double", {**columns, "double": 2 * columns["x"]})
    assert np.isnan(twice.estimates).tolist() == [False, False, True]


def test_overlap_is_one_for_the_same_zero_where_they_touch_and_less_beyond():
    def at(b: float, se: float = 1.0) -> Estimates:
        return Estimates(("x",), np.array([b]), np.array([se]), 9, 0.0)

    assert interval_overlap(at(0.0), at(0.0)) == pytest.approx([1.0])
    assert interval_overlap(at(0.0), at(2 * NORMAL)) == pytest.approx([0.0], abs=1e-12)
    assert interval_overlap(at(0.0), at(3 * NORMAL)) == pytest.approx([-0.5])
    assert interval_overlap(at(0.0), at(0.0, 2.0)) == pytest.approx([0.75])  # all of one, half of the other


def test_several_releases_are_one_estimate():
    one, two, three = (file(seed) for seed in (1, 2, 3))
    loss = AnalysisLoss.of(Analysis.parse("lm: y ~ x"), one, [two, three])
    parts = [fitted("lm: y ~ x", each) for each in (two, three)]
    assert loss.after.estimates == pytest.approx(np.mean([each.estimates for each in parts], axis=0))
    assert loss.after.errors**2 == pytest.approx(np.mean([each.errors**2 for each in parts], axis=0))


def test_a_level_that_the_release_lost_overlaps_nowhere():
    one, two = file(1), file(1)
    two["r"] = pa.array(["n" if level == "w" else level for level in two["r"].to_pylist()])
    loss = AnalysisLoss.of(Analysis.parse("lm: y ~ x + r"), one, [two])
    assert loss.overlaps[-1] == 0
    assert AnalysisLoss.of(Analysis.parse("lm: y ~ x + r"), one, [one]).overlap == 1


def test_aic_drops_what_explains_nothing_and_never_a_part_of_an_interaction():
    columns = file()
    assert chosen_terms(ModelMatrix.of(Analysis.parse("lm: y ~ x + z + r"), [columns]), columns) == ("C(r)", "x")
    noise = {**columns, "y": columns["x"] * columns["z"] + 0.1 * np.random.default_rng(5).normal(size=N)}
    assert chosen_terms(ModelMatrix.of(Analysis.parse("lm: y ~ x * z"), [noise]), noise) == ("x", "x:z", "z")
    assert same_choice(Analysis.parse("lm: y ~ x + z + r"), columns, columns, noise) == 0.5


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("y", "not understood"),
        ("probit: y ~ x", "not understood"),
        ("net income ~ x", "The formula 'net income' is not understood."),
        ("lm: y + x ~ z", "needs one column"),
        ("lm: __import__('os') ~ x", "formula"),
        ("lm: y ~ eval(x)", "not accepted"),
        ("lm: y ~ x + y", "explains y by itself"),
        ("glm-binomial: r ~ C(r)", "explains r by itself"),
        ("glm-binomial: y > ~ x", "condition"),
    ],
)
def test_what_is_no_analysis_is_refused(text: str, match: str):
    with pytest.raises(UsageError, match=match):
        Analysis.parse(text)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("lm: y ~ xx", "'xx', no column"),
        ("lm: r ~ x", "needs numbers in 'r'"),
        ("lm: y ~ log(r)", "'r' is text"),
        ("lm: y ~ log(x)", "outside its range"),
        ("glm-binomial: y ~ x", "needs 0 and 1"),
        ("glm-binomial: r ~ x", "two levels"),
        ("glm-poisson: y ~ x", "needs counts"),
        ("lm: y ~ C(x):C(z)", "coefficients"),
    ],
)
def test_what_a_file_cannot_answer_gets_a_sentence_without_a_value(text: str, match: str):
    with pytest.raises(InputError, match=match):
        fitted(text, file())


def test_terms_that_are_not_kept_between_steps_give_the_same(monkeypatch: pytest.MonkeyPatch):
    for text in ("glm-binomial: p ~ x + r", "glm-poisson: k ~ x"):
        kept = fitted(text, file(), "p" if "k" in text else None)
        with monkeypatch.context() as patch:
            patch.setattr("suffice.utility.likelihood.CELLS", 0)
            again = fitted(text, file(), "p" if "k" in text else None)
        assert np.array_equal(kept.estimates, again.estimates)
        assert np.array_equal(kept.errors, again.errors)


def test_assess_takes_analyses_and_a_subdomain():
    roles = suffice.Roles(confidential=["y", "x"])
    original, released = (pa.table(file(seed)) for seed in (1, 2))
    scores = suffice.assess(original, original, roles, analyses=["lm: y ~ x + r", "glm-binomial: p ~ x"])
    assert scores["interval-overlap"].value == 1
    assert scores["model-choice"].value == 1
    assert "(-inf to 1, higher is better)" in scores.text()
    far = suffice.assess(original, [original, released], roles, analyses=["lm: y ~ x"], measures=["interval-overlap"])
    assert -1 < far["interval-overlap"].value < 1
    within = suffice.assess(original, released, roles, measures=["kolmogorov-smirnov"], where="r == 'n' and x > 0")
    whole = suffice.assess(original, released, roles, measures=["kolmogorov-smirnov"])
    assert within["kolmogorov-smirnov"].value != whole["kolmogorov-smirnov"].value
    with pytest.raises(InputError, match="fewer than 2 records"):
        suffice.assess(original, released, roles, where="x > 1000")
    with pytest.raises(InputError, match="which is no column"):
        suffice.assess(original, released, roles, where="income > 1000")


@pytest.mark.parametrize(
    ("text", "stands"),
    [
        ("glm-binomial: y > -99 ~ x", False),
        ("glm-binomial: x > 0 ~ x", False),
        ("glm-binomial: x > 0 ~ q", False),  # one level of q alone
        ("glm-poisson: q ~ C(h)", False),
        ("glm-poisson: o ~ x", False),
        ("glm-binomial: y > 0 ~ x + C(r)", True),
        ("glm-binomial: k > 4 ~ z", True),  # rare
        ("glm-poisson: k ~ x * z", True),
    ],
)
def test_a_likelihood_without_a_maximum_is_said(text: str, stands: bool):
    columns = file()
    columns |= {"q": ((columns["x"] > 0.5) * 1.0), "o": np.zeros(N), "h": columns["x"] > 0.5}
    data = pa.table(columns)
    roles = suffice.Roles(confidential=["x", "y"])
    score = suffice.assess(data, data, roles, analyses=text, measures="interval-overlap")["interval-overlap"]
    assert ("did not come to stand (separation)" in score.outcome.said) is not stands
    assert fitted(text, columns).converged is stands


def test_errors_of_a_release_of_another_size_are_those_of_the_originals_size():
    one, four = (pa.table({name: list(column) * times for name, column in file().items()}) for times in (1, 4))
    roles = suffice.Roles(confidential=["x", "y"])
    score = suffice.assess(one, four, roles, analyses="lm: y ~ x", measures="interval-overlap")["interval-overlap"]
    assert score.value > 0.99  # half as wide, were they not multiplied: .75


def test_a_fit_without_residuals_is_the_same_or_not_and_that_is_said():
    columns = file()
    total = pa.table({**columns, "t": 3 * columns["x"] - columns["z"] + 1e3})
    other = pa.table({**file(2), "t": file(2)["y"]})
    moved = pa.table({**file(2), "t": 3 * file(2)["x"] - file(2)["z"] + 1e3})  # others, and the same coefficients
    roles, asked = (
        suffice.Roles(confidential=["t", "x"]),
        {"analyses": ["lm: t ~ x + z"], "measures": "interval-overlap"},
    )
    for released, overlap in ((total, 1.0), (moved, 1.0), (other, 0.0)):
        score = suffice.assess(total, released, roles, **asked)["interval-overlap"]
        assert score.value == overlap
        assert "leaves no residual" in score.outcome.said
    few = total.slice(0, 3)
    with pytest.raises(InputError, match="and no error"):
        suffice.assess(few, few, roles, **asked)


def test_analyses_use_the_weight_where_every_file_has_it():
    columns, w = file(), np.random.default_rng(7).integers(0, 4, N).astype(float)
    roles = suffice.Roles(confidential=["y", "x"], weight="w")
    for model, response in (("lm", "y"), ("glm-binomial", "p"), ("glm-poisson", "k")):
        found = fitted(f"{model}: {response} ~ x + r", {**columns, "w": w}, "w")
        again = {name: pa.array(np.repeat(np.asarray(c), w.astype(int))) for name, c in columns.items()}
        copied = {n: c if n == "r" else c.to_numpy() for n, c in again.items()}  # a weight is so many records
        assert found.estimates == pytest.approx(fitted(f"{model}: {response} ~ x + r", copied).estimates)
        assert found.records == (w > 0).sum()
    data = pa.table({**columns, "w": w})
    release = suffice.protect(data, roles, seed=suffice.Seed.for_tests(1))
    score = release.assess(measures="interval-overlap", analyses=["lm: y ~ x"])["interval-overlap"]
    assert score.value == pytest.approx(1.0)  # weighted sums are kept, and so are weighted fits
    assert "weighted" in score.outcome.said
    bare = suffice.assess(data, data.drop_columns(["w"]), roles, measures="interval-overlap", analyses=["lm: y ~ x"])
    assert "no fit uses it" in bare["interval-overlap"].outcome.said
