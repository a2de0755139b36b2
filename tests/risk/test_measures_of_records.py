"""Laws of the measures of risk: chance for an independent release, all for a copy, less with more noise between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, pairwise
from math import comb
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import suffice
from suffice.measure.pair import FilePair
from suffice.release import measures
from suffice.risk import probabilistic_linkage as of_patterns
from suffice.risk.attack import AttackRates, MixedRecords, Rate
from suffice.risk.identification import identification
from suffice.risk.individual_risk import individual_risk
from suffice.risk.inference import inference
from suffice.risk.k_anonymity import k_anonymity
from suffice.risk.keys import KeyCounts, key_counts, tenths
from suffice.risk.l_diversity import l_diversity, too_alike
from suffice.risk.linkability import linkability
from suffice.risk.matches import Matches
from suffice.risk.membership import membership, separation
from suffice.risk.model_inference import model_inference
from suffice.risk.model_risk import main_effects, model_risk, poisson_means
from suffice.risk.probabilistic_linkage import TOLERANCE, probabilistic_linkage
from suffice.risk.ranks import rank_matches
from suffice.risk.robust_intervals import robust_distances, robust_intervals
from suffice.risk.sample import RecordSample
from suffice.risk.sd_intervals import sd_intervals
from suffice.risk.singling_out import singling_out
from suffice.risk.sparse_records import neighbours, sparse_records
from suffice.risk.suda import special_uniques

N = 250
NOISE = (0.02, 0.1, 0.5)


def drawn(seed: int, n: int = N) -> np.ndarray:
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(n, 1))
    return np.exp(0.7 * shared + 0.7 * rng.normal(size=(n, 4)))


def mixed(Y: np.ndarray, levels: np.ndarray | None = None) -> MixedRecords:
    return MixedRecords(Y, np.zeros((len(Y), 0), dtype=np.int64) if levels is None else levels)


def identified(Y: np.ndarray, Ystar: np.ndarray) -> float:
    return identification(mixed(Y), [mixed(Ystar)], radius=0.05).expected


MEASURES: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "sd_intervals": sd_intervals,
    "robust_intervals": lambda Y, Ystar: robust_intervals(Y, Ystar).share,
    "probabilistic_linkage": lambda Y, Ystar: probabilistic_linkage(Y, Ystar).share,
    "identification": identified,
    "membership": lambda Y, Ystar: 2 * membership(Y, drawn(2), Ystar).auc - 1,
    "linkability": lambda Y, Ystar: linkability(mixed(Y), mixed(drawn(2)), mixed(Ystar)).risk,
    "inference": lambda Y, Ystar: inference(mixed(Y), mixed(drawn(2)), mixed(Ystar), 1).risk,
    "singling_out": lambda Y, Ystar: round(singling_out(mixed(Y), mixed(drawn(2)), mixed(Ystar)).risk, 1),
}


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_has_a_law(name: str):
    of, Y = MEASURES[name], drawn(1)
    E = np.random.default_rng(3).normal(size=Y.shape) * Y.std(axis=0)
    copied, *noisy, apart = (of(Y, Ystar) for Ystar in (Y, *(Y + a * E for a in NOISE), drawn(4)))
    assert copied > 0.9
    assert apart < 0.12
    assert all(more >= less for more, less in pairwise([copied, *noisy]))
    assert copied > noisy[-1]


def test_a_model_of_the_release_tells_what_holds_of_all():
    """Regressions hold of the hold-out too: that is no risk. Trees that have seen the records tell them."""
    Y, other = drawn(1), drawn(2)
    Y[:, 1], other[:, 1] = 2 * Y[:, 0], 2 * other[:, 0]
    rates = model_inference(mixed(Y), mixed(other), mixed(drawn(4)[:, [0, 0, 2, 3]] * [1, 2, 1, 1]), 1)
    assert rates.attack.share > 0.5 > rates.guess.share
    assert rates.interval[0] == 0 < rates.interval[1]
    Y[:, 1], other[:, 1] = drawn(5)[:, 0], drawn(6)[:, 0]
    seen, unseen = (model_inference(mixed(Y), mixed(other), mixed(Z), 1) for Z in (Y, drawn(4)))
    assert seen.risk > 0.9
    assert unseen.risk < 0.1


def test_categories_are_secrets_too():
    rng = np.random.default_rng(7)
    Y, other = drawn(1), drawn(2)
    own, others = rng.integers(4, size=(N, 1)), rng.integers(4, size=(N, 1))
    rates = inference(mixed(Y, own), mixed(other, others), mixed(Y, own), 4)
    assert rates.attack.share == 1
    assert rates.control.share < 0.4
    assert rates.guess.share < 0.4


def test_a_lone_column_has_no_halves():
    Y, other = drawn(1)[:, :1], drawn(2)[:, :1]
    assert linkability(mixed(Y), mixed(other), mixed(Y)).risk == 0
    roles = suffice.Roles(confidential=["y"])
    one, two = (pa.table({"y": A[:, 0]}) for A in (Y, other))
    scores = suffice.assess(one, one, roles, two, aligned=True, measures=["inference", "linkability", "singling-out"])
    assert [each.value for each in scores][:2] == [0, 0]


def test_interval_of_a_rate():
    for found, of in ((0, 10), (3, 10), (10, 10), (50, 1000)):
        low, high = Rate(found, of).interval
        assert 0 <= low <= found / of <= high <= 1
        for p in (low, high):  # Wilson: the p whose own interval ends at the share
            if 0 < p < 1:
                assert abs(found / of - p) == pytest.approx(1.959963984540054 * np.sqrt(p * (1 - p) / of))
    assert Rate(0, 0).interval == (0.0, 1.0)
    assert AttackRates(Rate(5, 10), Rate(10, 10), Rate(0, 10)).risk == 0


def test_membership_counts_by_hand():
    rng = np.random.default_rng(8)
    Y, other, Ystar = (rng.normal(size=(n, 2)).round(1) for n in (60, 45, 50))
    near = [np.abs(((A[:, None] - Ystar) / Ystar.std(axis=0)) ** 2).sum(axis=2).min(axis=1) for A in (Y, other)]
    close = np.isclose(near[0][:, None], near[1])
    wins = ((near[0][:, None] < near[1]) & ~close) + close / 2
    assert membership(Y, other, Ystar).auc == pytest.approx(wins.mean(), abs=0.01)


def test_one_more_rank_is_seen():
    """At most 1 % of the hold-out may be alarmed: the second of a hundred may not."""
    members, others = np.array([[3.0]] * 10), np.arange(100.0)[:, None] + 10
    assert membership(members, others, np.array([[3.0], [4.0]])).found == 1
    assert membership(members + 6.1, others, np.array([[9.9], [10.1]])).found == 1  # one is nearer
    assert membership(members + 5, others, np.array([[9.9], [10.1]])).found == 0  # two are


@pytest.mark.parametrize("n", [100, 200, 300, 700])
def test_one_in_a_hundred_may_be_alarmed(n: int):
    """Scores in between: the alarms that are allowed come first, then all but one of the members."""
    others = -np.r_[np.zeros(n // 100), np.full(n - n // 100, 9.0)]
    members = -np.r_[np.linspace(1, 2, 9), 10.0]
    assert separation(members, others).found == 0.9


def test_unrelated_records_of_groups_are_linked_as_often_as_by_chance():
    """The larger of two rankings finds more than 1 / n: an excess of .04 in tens, were chance put there."""
    rng, labels, found = np.random.default_rng(1), np.repeat(np.arange(50), 10), []
    for _ in range(3):
        Y, Ystar = rng.normal(size=(2, len(labels), 3))
        sample = RecordSample(("a", "b", "c"), Y, Ystar, np.zeros(len(labels), dtype=np.int64), labels)
        found.append(rank_matches(sample).linked.excess)
    assert abs(np.mean(found)) < 0.02
    copied = rank_matches(replace(sample, Ystar=Y)).linked
    assert copied.excess == 1
    assert copied.chance == pytest.approx(copied.of / 10)


def test_unrelated_records_of_small_groups_are_alone_as_often_as_by_chance():
    """Of eight records with eight columns one in forty is alone; one in eight, which chance was, would hide many."""
    rng, labels, alone = np.random.default_rng(2), np.repeat(np.arange(25), 8), []
    for _ in range(2):
        Y, Ystar = rng.normal(size=(2, len(labels), 8))
        sample = RecordSample(tuple("abcdefgh"), Y, Ystar, np.zeros(len(labels), dtype=np.int64), labels)
        alone.append(rank_matches(sample).alone)
    assert abs(np.mean([each.excess for each in alone])) < 0.03
    assert all(0.005 < each.chance / each.of < 0.06 for each in alone)
    assert not any(each.beyond(0.05) for each in alone)
    told = Y.copy()
    for column in told.T:  # a neighbour's value in every column
        for group in np.split(np.arange(len(labels)), 25):
            inorder = group[np.argsort(column[group])]
            column[inorder] = column[inorder].reshape(-1, 2)[:, ::-1].ravel()
    assert rank_matches(replace(sample, Ystar=told)).alone.excess > 0.9


def test_luck_of_few_records_is_doubted_and_stops_nothing():
    few = Matches(9, 4.0, 1.0)  # one release of nine records, which four trials then judge
    assert few.doubtful(0.05, luck=True)
    assert not few.doubtful(0.05)
    assert not Matches(36, 9.0, 4.0).beyond(0.05)
    assert Matches(9, 9.0, 1.0).beyond(0.05)
    assert not Matches(9, 9.0, 1.0).doubtful(0.05, luck=True)


@pytest.mark.parametrize("name", ["rank-linkage", "rank-intersection"])
def test_ranks_have_no_direction(name: str):
    """A little more and a little less are as near: values that fall between two ranks are half way."""
    Y = drawn(1)
    told = Y + 0.1 * Y.std(axis=0) * np.random.default_rng(4).normal(size=Y.shape)
    assert _score(name, Y, told) == _score(name, -Y, -told) > 0
    assert _score(name, Y[:, :2], 1.000001 * Y[:, :2]) == _score(name, Y[:, :2], 0.999999 * Y[:, :2]) > 0.9
    assert _score(name, Y[:, :1], 1.000001 * Y[:, :1]) == _score(name, Y[:, :1], 0.999999 * Y[:, :1])


def _score(name: str, Y: np.ndarray, Ystar: np.ndarray) -> float:
    return measures.taken(measures.MEASURES[name], FilePair.of_arrays(Y, Ystar)).value


def test_probabilistic_linkage_finds_what_agreement_is_worth():
    Y = drawn(1)
    rng = np.random.default_rng(9)
    told = Y + 0.02 * Y.std(axis=0) * rng.normal(size=Y.shape)
    told[:, 3] = rng.permutation(told[:, 3])
    found = probabilistic_linkage(Y, told, 0.1 * Y.std(axis=0))
    assert (found.m[:3] > 0.9).all()
    assert found.m[3] < 0.6
    assert found.share > 0.7
    assert probabilistic_linkage(Y, told, np.full(4, 1e9)).share < found.share


def test_robust_intervals_of_columns_that_are_sums():
    Y = drawn(1)
    E = 0.05 * np.random.default_rng(3).normal(size=Y.shape)
    plain, summed = robust_distances(Y), robust_distances(np.column_stack([Y, Y.sum(axis=1)]))
    assert np.allclose(plain, summed)
    assert robust_intervals(np.column_stack([Y, Y @ [1, 1, 1, 1]]), np.column_stack([Y + E, (Y + E).sum(axis=1)])).share
    assert not robust_distances(np.ones((9, 2))).any()


def test_counts_by_hand():
    rng = np.random.default_rng(10)
    columns = [rng.integers(-1, 3, size=40) for _ in range(3)]
    w, K = rng.uniform(1, 9, size=40), np.column_stack(columns)
    agree = ((K[:, None] == K) | (K[:, None] < 0) | (K < 0)).all(axis=2)
    less = ((K[None] < 0) & (K[:, None] >= 0)).any(axis=2)
    for alpha in (1.0, 0.5):
        found = key_counts(columns, w, alpha)
        share = np.where(less, alpha, 1.0) * agree
        assert np.allclose(found.sample, share.sum(axis=1))
        assert np.allclose(found.population, share @ w)
    assert k_anonymity(KeyCounts(np.array([2.0, 3.0]), np.ones(2)), 3) == 0.5


def test_individual_risk_is_a_mean():
    """Against the sum over the population counts of a negative binomial."""
    f, F = np.array([1.0, 2, 3, 7, 19, 20]), np.array([10.0, 9, 40, 8, 60, 60])
    found = individual_risk(KeyCounts(f, F))
    for i, (a, b) in enumerate(zip(f.astype(int), F, strict=True)):
        p = min(a / b, 1.0)
        terms = [comb(j - 1, a - 1) * p**a * (1 - p) ** (j - a) / j for j in range(a, 2000)]
        assert found[i] == pytest.approx(sum(terms), rel=1e-9)
    large = individual_risk(KeyCounts(np.array([1000.0]), np.array([1e6])))
    assert large == pytest.approx(1e-6, rel=2e-3)


def test_special_uniques_by_hand():
    rng = np.random.default_rng(11)
    columns = [rng.integers(4, size=30) for _ in range(4)]
    K = np.column_stack(columns)
    scores = np.zeros(30)
    for i in range(30):
        sets: list[set[int]] = []
        for m in range(1, 5):
            for chosen in combinations(range(4), m):
                alone = (K[:, chosen] == K[i, chosen]).all(axis=1).sum() == 1
                if alone and not any(part <= set(chosen) for part in sets):
                    sets.append(set(chosen))
                    scores[i] += (6, 2, 1, 1)[m - 1]
    found = special_uniques(columns)
    assert np.array_equal(found.scores, scores)
    assert ((found.dis > 0) == (scores > 0)).all()
    assert special_uniques(columns, sampled=0.5).dis.sum() > found.dis.sum()


def test_model_risk():
    """Uniques of a population drawn with the model's own means are found, about."""
    rng = np.random.default_rng(12)
    a, b = (rng.geometric(0.15, size=4000) for _ in range(2))
    cell = np.unique(np.column_stack([a, b]), axis=0, return_inverse=True)[1].ravel()
    there = rng.random(4000) < 0.25
    population = np.bincount(cell)
    inside = [np.unique(v[there], return_inverse=True)[1] for v in (a, b)]
    found = main_effects(inside, np.full(int(there.sum()), 4.0))
    ones = np.flatnonzero(np.bincount(cell[there], minlength=len(population)) == 1)
    assert found.uniques == len(ones)
    assert found.unique == pytest.approx((population[ones] == 1).sum(), rel=0.35)
    assert found.matches == pytest.approx((1 / population[ones]).sum(), rel=0.2)
    whole = main_effects(inside)
    assert (whole.unique, whole.matches) == (whole.uniques, whole.uniques)
    X = np.column_stack([np.ones(9), np.arange(9.0)])
    counts = rng.poisson(3.0, size=9).astype(float)
    assert np.allclose(X.T @ (counts - poisson_means(counts, X)), 0, atol=1e-8)
    assert model_risk(np.array([2.0]), np.array([2.0]), np.array([0.5])).uniques == 0


def test_diversity():
    distinct, entropy = l_diversity(np.array([3, 3, 3, 3, 9]), np.array([0, 1, 2, 3, 3]))
    assert distinct.tolist() == [4, 4, 4, 4, 1]
    assert np.allclose(entropy, distinct)
    assert too_alike(np.array([3, 3, 9]), np.array([0, 1, 3])) == pytest.approx(1 / 3)


def test_identification_of_several_releases():
    """Averages of matching probabilities: what two releases blur in different ways, both together tell."""
    one = MixedRecords(np.array([[10.0], [20.0], [30.0]]), np.zeros((3, 1), dtype=np.int64))
    first = MixedRecords(np.array([[10.0], [10.0], [30.0]]), one.levels)
    second = MixedRecords(np.array([[10.0], [20.0], [10.0]]), one.levels)
    single, both = identification(one, [first]), identification(one, [first, second])
    assert single.expected == pytest.approx((0.5 + 0 + 1) / 3)
    assert both.expected == 1
    assert both.wrong == 0
    swapped = MixedRecords(one.numbers[[1, 0, 2]], one.levels)
    assert identification(one, [swapped]).wrong == pytest.approx(2 / 3)
    sampled = identification(one, [one], weights=np.array([1.0, 4.0, 2.0]))
    assert sampled.expected == pytest.approx((1 + 1 / 4 + 1 / 2) / 3)
    assert sampled.right == pytest.approx(1 / 3)


def test_sparse_records_by_hand():
    rng = np.random.default_rng(13)
    X = np.round(rng.normal(size=(120, 2)) * 3, 1)
    X[:5] = 0
    stratum = rng.integers(2, size=120)
    near = (np.abs(X[:, None] - X) <= 0.3 * np.abs(X[:, None]) + 1e-9).all(axis=2) & (stratum[:, None] == stratum)
    assert np.array_equal(neighbours(X, stratum, 0.3), near.sum(axis=1) - 1)
    assert np.array_equal(sparse_records(X, stratum, 3, 0.3), np.flatnonzero(near.sum(axis=1) - 1 < 3))


def people(seed: int, n: int = 120) -> pa.Table:
    rng = np.random.default_rng(seed)
    Y = drawn(seed, n)
    sex, town = rng.choice(["f", "m"], n), rng.integers(60, size=n).astype(str)
    return pa.table({"a": Y[:, 0], "b": Y[:, 1], "sex": sex, "town": town, "w": rng.uniform(2, 9, n)})


def test_declared_measures_of_a_copy_and_of_others():
    """Through the door, with text, weights and a hold-out: every figure lies in its range; a copy is riskiest."""
    roles = suffice.Roles(confidential=["a", "b"], keep=["sex", "town"], weight="w")
    data, aside = people(1), people(2)
    copied = suffice.assess(data, data, roles, aside, aligned=True)
    others = suffice.assess(data, [people(3), people(4)], roles, aside, aligned=True)
    own = "sd-intervals robust-intervals probabilistic-linkage membership-auc membership-tpr singling-out linkability"
    for name in (*own.split(), "inference", "model-inference"):
        assert copied[name].value > 0.9
        assert others[name].value < (0.65 if name == "membership-auc" else 0.25)
    for name in ("identification-risk", "replicated-uniques"):
        assert copied[name].value > others[name].value
    assert others["identification-risk-joint"].value < copied["identification-risk"].value
    for each in (*copied, *others):
        assert each.measure.range[0] <= each.value <= each.measure.range[1]


def test_declared_measures_of_categories():
    """Those of single files are of the released one: of a copy the original's, by hand."""
    data = pa.table({"y": [1.0, 2, 3, 4], "k": ["a", "a", "b", None], "w": [2.0, 3, 4, 5]})
    roles = suffice.Roles(confidential=["y"], keep=["k"], weight="w")
    scores = suffice.assess(data, data, roles, aligned=True)
    assert dict(scores["k-anonymity"].outcome.parts) == {"alone": 0.0, "fewest": 2.0}
    assert scores["k-anonymity"].value == 0.25
    assert scores["l-diversity"].value == 0.5
    f, F = np.array([3.0, 3, 2, 4]), np.array([10.0, 10, 9, 14])
    assert scores["individual-risk"].value == pytest.approx(individual_risk(KeyCounts(f, F)).mean())
    assert scores["special-uniques"].outcome.parts["unique"] == 0.5
    assert scores["model-risk"].outcome.parts["sample uniques"] == 2
    assert scores["replicated-uniques"].value == 0.5
    assert scores["sparse-records"].value == 1


def test_the_ledger_is_scored_as_the_guards_judge_it(tmp_path: Path):
    """Two hybrids, averaged, and cells that differ in one record: the numbers of the findings."""
    rng = np.random.default_rng(14)
    a = np.repeat(["p", "q", "r"], [34, 33, 33])
    data = pa.table({"y": rng.normal(100, 10, 100), "a": a, "b": np.where(np.arange(100) == 0, "q", a)})
    key = suffice.Seed.new_file(tmp_path / "key")
    hybrid = suffice.ResidualCorrelation(d=0.6)
    for number, factor in enumerate(("a", "b")):
        roles = suffice.Roles(confidential=["y"], given=f"C({factor})")
        release = suffice.protect(data, roles, hybrid, seed=key)
        if not number:
            release.write(tmp_path / f"{number}.csv")
    scores = release.assess(measures=["averaging", "differencing"])
    told = {finding.rule: finding for finding in release.findings}
    assert scores["averaging"].value == pytest.approx(1 - told["repeated-release"].numbers["uncertain"])
    assert scores["averaging"].value == pytest.approx(1 - (1 + 2 * 0.36 / 0.64) ** -0.5, rel=0.05)
    assert scores["differencing"].value > 0.9
    assert "stacked-leverage" in told
    with pytest.raises(suffice.errors.InputError, match="ledger"):
        suffice.assess(data, data, roles, measures="averaging")


def test_a_file_turned_upside_down_is_told_by_its_ranks():
    """Whoever sorts the release and turns it back has every value, though no released record is near its own."""
    rng = np.random.default_rng(5)
    mixed = np.array([[1, 0.6, 0.5], [0, 0.8, 0.3], [0, 0, 0.8]])
    Y, other = (np.exp(2 * rng.normal(size=(400, 3)) @ mixed) for _ in range(2))
    turned = np.sort(Y, axis=0)[399 - Y.argsort(axis=0).argsort(axis=0), np.arange(3)]
    names, found = ["x0", "x1", "x2"], {}
    for what, released in (("copy", Y), ("turned", turned), ("other", other)):
        files = [pa.table(dict(zip(names, A.T, strict=True))) for A in (Y, released)]
        wanted = ["canonical-correlation", "rank-correlation", "distance-linkage"]
        found[what] = suffice.assess(*files, suffice.Roles(confidential=names), measures=wanted, aligned=True)
    assert found["copy"]["rank-correlation"].value == pytest.approx(1.0, abs=1e-12)
    assert found["turned"]["rank-correlation"].value == pytest.approx(1.0, abs=1e-12)
    assert found["turned"]["distance-linkage"].value < 0.02
    score = found["other"]["rank-correlation"]
    assert score.outcome.chance is not None
    assert score.value < score.outcome.chance < 0.4


def test_agreement_of_few_values_stands_beside_its_chance():
    rng = np.random.default_rng(2)
    few, other = (np.column_stack([rng.random(300) < 0.1, rng.random(300) < 0.5]).astype(float) for _ in range(2))
    roles = suffice.Roles(confidential=["a", "b"])
    for Y, Ystar, near in (
        (few, other, True),
        (rng.normal(size=(300, 2)), rng.normal(size=(300, 2)), True),
        (few, few, False),
    ):
        files = [pa.table({"a": A[:, 0], "b": A[:, 1]}) for A in (Y, Ystar)]
        for score in suffice.assess(*files, roles, measures=["copies", "sd-intervals"], aligned=True):
            assert score.outcome.chance is not None
            assert (abs(score.value - score.outcome.chance) < 0.1) == near


def test_values_that_digits_tell_are_scored() -> None:
    rng = np.random.default_rng(1)
    Y = np.round(rng.lognormal(3, 1, size=(200, 2)), 2)
    left = np.where(np.arange(200)[:, None] % 4 == 0, Y, Y + rng.normal(size=Y.shape))
    found = measures.taken(measures.MEASURES["digits"], FilePair.of_arrays(Y, left)).outcome
    assert found.parts == {"x0": 0.25, "x1": 0.25}
    noise = rng.normal(size=Y.shape)
    hidden = np.round(noise, 2) + 1e-6 * Y / Y.max()  # the original stands in the digits that nobody reads
    for released, told in ((hidden[:, ::-1], True), (noise, False), (np.round(noise), False)):
        score = measures.taken(measures.MEASURES["digit-correlation"], FilePair.of_arrays(Y, released)).outcome
        assert score.chance is not None
        assert (score.value > 0.99) == told
        assert (score.value > score.chance) == told
        assert score.parts["whole"] < score.chance


def test_em_finds_what_a_plain_implementation_finds_and_the_truth() -> None:
    rng = np.random.default_rng(1)
    for k, noise, near in ((3, 0.1, 0.02), (8, 0.5, 0.2)):
        Y = rng.normal(size=(150, k))
        Z = Y + noise * rng.normal(size=Y.shape)
        G = np.abs(Y[:, None] - Z) <= 0.5 * Y.std(axis=0)
        u, m = G.mean(axis=1), 0.9 + 0.1 * G.mean(axis=(0, 1))
        for _ in range(200):  # Fellegi & Sunter, every pair by itself
            m, u = (np.clip(each, 1e-6, 1 - 1e-6) for each in (m, u))
            ratio = np.where(G, (m / u)[:, None], ((1 - m) / (1 - u))[:, None]).prod(axis=2)
            ratio /= ratio.sum(axis=1, keepdims=True)
            m = np.einsum("ij,ijk->k", ratio, G) / len(Y)
        found = probabilistic_linkage(Y, Z)
        assert np.abs(found.m - m).max() < 1e-3
        truth = G[np.arange(150), np.arange(150)].mean(axis=0)
        assert np.abs(found.m - truth).max() < near  # u of all for each: .28 for 1


@pytest.mark.parametrize("noise", [0.3, 0.6])
def test_who_is_linked_hardly_depends_on_what_agreement_is_worth(noise: float, monkeypatch: pytest.MonkeyPatch):
    """EM takes m of columns that correlate for larger than it is; with the true one as many are found."""
    rng = np.random.default_rng(3)
    Y = rng.normal(size=(250, 1)) * 0.8**0.5 + rng.normal(size=(250, 5)) * 0.2**0.5
    Ystar = Y + noise * rng.normal(size=Y.shape)
    true = (np.abs(Ystar - Y) <= TOLERANCE * Y.std(axis=0)).mean(axis=0)
    found, estimated = probabilistic_linkage(Y, Ystar), of_patterns._estimated
    assert found.m.mean() - true.mean() > 0.05
    monkeypatch.setattr(of_patterns, "_estimated", lambda *given: (true, estimated(*given)[1]))
    assert abs(probabilistic_linkage(Y, Ystar).share - found.share) < 0.02


def test_tenths_begin_with_their_cut():
    one, two = tenths(np.arange(11.0), np.arange(11.0))
    assert one.tolist() == two.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9]
