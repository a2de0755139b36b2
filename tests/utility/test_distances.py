"""Tables, trees and distances of two files: their laws, and plain versions written from the definitions."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats
from scipy.spatial.distance import jensenshannon

import suffice
from suffice.measure.pair import FilePair
from suffice.release.measures import MEASURES, taken
from suffice.utility.correlations import correlation, correlation_loss
from suffice.utility.discrimination import Discrimination
from suffice.utility.eigenvalues import eigenvalue_loss
from suffice.utility.hellinger import hellinger
from suffice.utility.propensity import mixed_propensity, polynomial_propensity
from suffice.utility.propensity_tree import tree_propensity
from suffice.utility.standardised_change import standardised_change
from suffice.utility.table_fit import TableFit
from suffice.utility.two_files import TwoFiles, column_terms
from suffice.utility.wasserstein import wasserstein

NEW = [
    "propensity-mixed",
    "propensity-tree",
    "correlations",
    "eigenvalues",
    "standardised-change",
    "wasserstein",
    "hellinger",
    "tables",
    "tables-divergence",
    "interval-overlap",
    "model-choice",
]


def numbers(seed: int, n: int = 200, k: int = 3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, k)) @ np.array([[1.0, 0.5, 0.2], [0, 1, 0.3], [0, 0, 1]])[:k, :k]


def keys(seed: int, n: int = 200):
    rng = np.random.default_rng(seed)
    return {"r": pa.array(rng.choice(["n", "s", "w"], n)), "t": pa.array(rng.choice(["u", None], n))}


@pytest.mark.parametrize("name", NEW)
def test_a_copy_loses_nothing_and_more_noise_loses_more(name: str):
    Y, known, measure = numbers(1), keys(1), MEASURES[name]
    analyses = ["lm: x0 ~ x1 + x2 + r"]
    noise, flip = np.random.default_rng(3).normal(size=Y.shape), np.random.default_rng(4).random(200)

    def lost(size: float) -> float:
        other = {
            "r": pa.array(np.where(flip < size / 4, "w", known["r"].to_numpy(zero_copy_only=False))),
            "t": known["t"],
        }
        pair = FilePair.of_arrays(
            Y, Y * (1 + size) + size * noise, keys=known, released_keys=[other], analyses=analyses
        )
        return abs(taken(measure, pair).value - measure.of_a_copy)

    found = [lost(size) for size in (0.0, 0.5, 2.0)]
    assert found[0] == pytest.approx(0, abs=1e-12)
    assert found[0] <= found[1] <= found[2]
    assert found[2] > 0 or name == "model-choice"


def test_tables_by_other_hands():
    o, s = np.array([30.0, 12.0, 0.0, 8.0]), np.array([25.0, 14.0, 3.0, 8.0])
    fit = TableFit.of(o, s)
    assert fit.freedom == 3
    assert fit.jensen_shannon == pytest.approx(jensenshannon(o, s, 2) ** 2)
    assert fit.hellinger == pytest.approx(np.linalg.norm(np.sqrt(o / 50) - np.sqrt(s / 50)) / np.sqrt(2))
    assert fit.told.pmse == pytest.approx(fit.voas_williamson / 100 / 8)  # pMSE is VW / (8 N) for files of one size
    assert fit.ratios["pMSE"] == pytest.approx(fit.ratios["VW"])
    assert all(
        value == pytest.approx(0, abs=1e-7) for name, value in TableFit.of(o, o).statistics.items() if name != "U"
    )
    assert TableFit.of(o, 3 * o).voas_williamson == pytest.approx(0)  # shares count, not how many records there are


def test_a_table_of_synthpop():
    """SD2011, sex by education, original and synthetic, and what synthpop 1.9-3 prints of them."""
    o = np.array([358, 604, 890, 723, 612, 870, 318, 618, 4, 3], dtype=float)
    s = np.array([374, 612, 824, 760, 580, 854, 331, 652, 9, 4], dtype=float)
    theirs = {"VW": 16.222067806520357, "FT": 16.380339022041717, "JSD": 0.00058883392898724236, "SPECKS": 0.0228}
    theirs |= {"G": 16.951157469958702, "WMabsDD": 14.032600664738634, "U": 12856821, "dBhatt": 0.020236315760313223}
    found = TableFit.of(o, s).statistics
    assert {name: found[name] for name in theirs} == pytest.approx(theirs, rel=1e-8)


def test_ratios_of_tables_are_one_where_the_release_is_drawn_from_the_original():
    rng = np.random.default_rng(2)
    o = np.array([100.0, 200.0, 300.0, 400.0])
    found = [TableFit.of(o, rng.multinomial(1000, o / 1000).astype(float)).ratios for _ in range(300)]
    for name in found[0]:
        assert np.mean([each[name] for each in found]) == pytest.approx(1, rel=0.15), name


def test_discrimination_is_that_of_scipy():
    rng = np.random.default_rng(1)
    score, released = rng.integers(0, 20, 300) / 20, (rng.random(300) < 0.4).astype(float)
    told = Discrimination.of(score, released)
    one, two = score[released == 0], score[released == 1]
    assert told.specks == pytest.approx(stats.ks_2samp(one, two).statistic)
    assert told.wilcoxon == stats.mannwhitneyu(two, one).statistic
    assert told.pmse == pytest.approx(np.mean((score - released.mean()) ** 2))


def plain_split(x, t):
    """The lowest Gini index of a cut of numbers, by trying all that leave five on each side."""
    best = (np.inf, 0.0)
    for cut in np.unique(x)[1:]:
        sides = [t[x < cut], t[x >= cut]]
        if min(map(len, sides)) >= 5:
            best = min(best, (sum(len(s) * s.mean() * (1 - s.mean()) for s in sides), cut))
    return best[1]


def test_a_tree_splits_where_all_splits_say():
    rng = np.random.default_rng(7)
    one, two = rng.normal(size=60), rng.normal(1.5, size=60)
    x, t = np.r_[one, two], np.repeat([0.0, 1.0], 60)
    told = tree_propensity(TwoFiles.of({"x": one}, {"x": two}), 0).told
    cut = plain_split(x, t)
    assert told.score[0] <= t[x < cut].mean() <= t[x >= cut].mean() <= told.score[-1]
    assert told.pmse >= np.mean((np.where(x < cut, t[x < cut].mean(), t[x >= cut].mean()) - 0.5) ** 2)


def test_trees_see_what_moments_do_not():
    """Two humps with the mean and the variance of one: degree 2 tells nothing, a tree nearly all."""
    rng = np.random.default_rng(1)
    one = rng.normal(size=300)
    two = np.sign(rng.normal(size=300)) + 0.1 * rng.normal(size=300)
    two = (two - two.mean()) / two.std() * one.std() + one.mean()
    assert polynomial_propensity(one[:, None], two[:, None]).pmse < 1e-20
    tree = tree_propensity(TwoFiles.of({"x": one}, {"x": two}), 10)
    assert tree.pmse > 0.1
    assert tree.ratio > 3
    assert tree_propensity(TwoFiles.of({"x": one}, {"x": one}), 0).pmse == 0


def test_levels_of_a_category_have_no_order_for_a_tree():
    level = pa.array(["a", "b", "c", "d"] * 30)
    odd = pa.array(["a", "c"] * 60)
    told = tree_propensity(TwoFiles.of({"r": level}, {"r": odd}), 0)
    assert told.leaves == 2  # {a, c} against {b, d}: one split
    again = tree_propensity(TwoFiles.of({"r": np.tile(np.arange(4), 30)}, {"r": np.tile([0, 2], 60)}, ["r"]), 0)
    assert again.pmse == told.pmse


def test_two_samples_have_twice_the_propensity_of_a_synthesis():
    rng = np.random.default_rng(4)
    files = [(rng.normal(size=(200, 2)), rng.normal(size=(200, 2))) for _ in range(30)]
    found = [polynomial_propensity(*pair) for pair in files]
    assert found[0].parameters == 6
    assert np.mean([each.ratio for each in found]) == pytest.approx(2, rel=0.3)
    assert np.std([each.pmse for each in found]) == pytest.approx(2 * found[0].sd, rel=0.5)


def test_separation_is_said():
    Y = numbers(1, 100, 1)
    score = taken(MEASURES["propensity-2"], FilePair.of_arrays(Y, Y + 100))
    assert "separation, or nearly: 100" in score.outcome.said
    assert score.value == pytest.approx(0.25, abs=1e-3)
    assert not taken(MEASURES["propensity-2"], FilePair.of_arrays(Y, numbers(2, 100, 1))).outcome.said


def test_mixed_terms_are_dummies_numbers_and_holes():
    one = {"x": np.array([1.0, np.nan, 3.0, 4.0] * 10), "r": pa.array(["a", "b", None, "a"] * 10)}
    two = {"x": np.array([2.0, 2.0, np.nan, 1.0] * 10), "r": pa.array(["a", "c", None, "b"] * 10)}
    files = TwoFiles.of(one, two)
    assert mixed_propensity(files).parameters == 1 + 2 + 3
    before, after = files.counts(["x", "r"])
    assert (before.sum(), after.sum()) == (40, 40)


@pytest.mark.parametrize("missing", ["drop", "patterns"])
def test_missing_numbers_count_where_they_are_kept(missing: str):
    """Files whose numbers are of one law, and miss in the half of one and in a tenth of the other."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(2, 300))
    x[0, ::10], x[1, ::2] = np.nan, np.nan
    one, two = (pa.table({"x": each, "r": rng.choice(["a", "b"], 300)}) for each in x)
    roles = suffice.Roles(confidential=["x"], keep=["r"], missing=missing)
    scores = suffice.assess(one, two, roles, measures=["propensity-mixed", "tables", "hellinger", "propensity-2"])
    told = mixed_propensity(TwoFiles.of(*({"x": np.asarray(t["x"]), "r": t["r"].combine_chunks()} for t in (one, two))))
    kept = missing == "patterns"
    assert (scores["propensity-mixed"].outcome.parts["ratio"] > 20) is kept
    assert (scores["propensity-mixed"].value == told.pmse) is kept
    assert (scores["tables"].value > 10) is kept
    assert (scores["hellinger"].value > 0.3) is kept
    assert scores["propensity-2"].outcome.parts["ratio"] < 6
    assert ("but where missing cells count" in scores.notes[0]) is kept


def test_a_category_of_many_levels_has_dummies_of_its_most_frequent_ones():
    one = {"r": pa.array(["a"] * 50 + ["b"] * 30 + [f"{i}" for i in range(400)])}
    files = TwoFiles.of(one, one)
    codes = files.codes["r"]
    assert column_terms(codes, True, 2)(codes).sum(axis=0).tolist() == [100, 60]
    assert mixed_propensity(files).parameters == 301


def test_distances_by_other_hands():
    Y, Ystar = numbers(1), numbers(2, 150)
    found = wasserstein(Y, Ystar)
    assert found == pytest.approx(
        [stats.wasserstein_distance(a, b) / a.std() for a, b in zip(Y.T, Ystar.T, strict=True)]
    )
    assert wasserstein(Y, Y + Y.std(axis=0)) == pytest.approx(np.ones(3))
    assert hellinger(TwoFiles.of({"a": Y[:, 0]}, {"a": Y[::-1, 0]})) == pytest.approx([0], abs=1e-7)
    assert correlation(Y) == pytest.approx(np.corrcoef(Y.T))
    apart = [abs(np.corrcoef(Y.T)[i, j] - np.corrcoef(Ystar.T)[i, j]) for i, j in combinations(range(3), 2)]
    loss = correlation_loss(Y, Ystar)
    assert (loss.mean, loss.largest) == pytest.approx((np.mean(apart), max(apart)))
    assert standardised_change(Y, Y + np.sqrt(2) * Y.std(axis=0, ddof=1)) == pytest.approx(1)


def test_dependent_and_constant_columns_are_no_trouble():
    Y, Ystar = numbers(1), numbers(2)
    total, after = (np.column_stack([A, A.sum(axis=1)]) for A in (Y, Ystar))
    assert np.isfinite(eigenvalue_loss(total, after))
    assert np.isnan(correlation_loss(total, after).inverse)
    still = np.column_stack([Y, np.ones(200)])
    assert correlation(still)[3].tolist() == [0, 0, 0, 1]
    assert standardised_change(still, still) == 0
