"""Measures that see all records: neither the engine nor the blocks change what they find."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import suffice
from suffice.measure.numbers import FileNumbers, sample_places, total
from suffice.release.measures import MEASURES

N = 300
WHOLE = [name for name, each in MEASURES.items() if each.whole]
ALONE = [name for name in WHOLE if "several releases" not in MEASURES[name].needs]
MODELS = ["lm: a ~ b + C(k)", "glm-binomial: a > 1 ~ c + C(l)"]
ROLES = suffice.Roles(confidential=["a", "b", "c"], given="C(k)", keep=["l"], weight="w", missing="patterns")


def files() -> tuple[pa.Table, pa.Table]:
    rng = np.random.default_rng(11)
    Y = np.round(np.exp(0.5 * rng.normal(size=(N, 3)) @ [[1, 0.4, 0.2], [0, 1, 0.3], [0, 0, 1]]), 2)
    Y[:5] = 0.0
    Ystar = Y + 0.05 * rng.normal(size=Y.shape) * (rng.uniform(size=(N, 1)) < 0.7)
    Y[7, 1] = np.nan
    texts = {"k": rng.choice(["u", "v", "w"], N), "l": rng.choice(list("abcdefgh"), N), "w": rng.uniform(1, 9, N)}
    return tuple(pa.table({**dict(zip("abc", A.T, strict=True)), **texts}) for A in (Y, Ystar))


@pytest.fixture(scope="module")
def found() -> suffice.Scores:
    return suffice.assess(*files(), ROLES, measures=ALONE, aligned=True, where="a < 5", analyses=MODELS)


def test_these_are_most_of_what_can_be_folded():
    asked = """distance-linkage interval-disclosure sd-intervals nearness rank-nearness copies copies-anywhere
        information-loss propensity-2 propensity-3 skewness-bias kurtosis-bias correlations eigenvalues
        standardised-change kolmogorov-smirnov wasserstein hellinger tables tables-divergence canonical-correlation
        k-anonymity l-diversity individual-risk model-risk replicated-uniques attribute-disclosure memory
        propensity-mixed interval-overlap model-choice"""
    assert {*asked.split()} <= {*WHOLE}


def test_files_that_are_not_held_have_the_same_scores(found, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name, each in zip(("before", "after"), files(), strict=True):
        pq.write_table(each, tmp_path / f"{name}.parquet", row_group_size=70)
    monkeypatch.setattr("suffice.measure.reading.CELLS", 100)  # 25 records
    scores = suffice.assess(
        tmp_path / "before.parquet",
        tmp_path / "after.parquet",
        ROLES,
        measures=ALONE,
        aligned=True,
        where="a < 5",
        analyses=MODELS,
    )
    assert any("sampled" in note for note in scores.notes)
    for each in scores:
        assert not each.sampled, each.name
        assert each.outcome == found[each.name].outcome, each.name  # to the last digit


def test_blocks_do_not_matter(found, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("suffice.rows.rows.BLOCK", 32)
    monkeypatch.setattr("suffice.rows.rows.spans.__defaults__", (32,))
    monkeypatch.setattr("suffice.measure.numbers.PIECE", 50)
    seen = total(lambda A: [len(A)], FileNumbers.of(np.zeros((N, 1))))
    assert len(seen) > 5
    scores = suffice.assess(*files(), ROLES, measures=ALONE, aligned=True, where="a < 5", analyses=MODELS)
    for each in scores:
        assert each.value == pytest.approx(found[each.name].value, rel=1e-7, abs=1e-12), each.name


def test_a_column_with_holes_and_a_release_of_its_own_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Files that are not aligned, of other lengths, and too large to be held."""
    before, after = files()
    after = after.slice(0, 200)
    names = [name for name in ALONE if "aligned rows" not in MEASURES[name].needs]
    there = suffice.assess(before, after, ROLES, measures=names, analyses=MODELS)
    pq.write_table(before, tmp_path / "before.parquet")
    pq.write_table(after, tmp_path / "after.parquet")
    monkeypatch.setattr("suffice.measure.reading.CELLS", 100)
    for each in suffice.assess(
        tmp_path / "before.parquet", tmp_path / "after.parquet", ROLES, measures=names, analyses=MODELS
    ):
        assert each.outcome == there[each.name].outcome, each.name


def test_some_records_are_the_same_of_files_of_one_length():
    Y = np.arange(600.0).reshape(N, 2)
    assert FileNumbers.of(Y).some(50)[:, 0].tolist() == (2 * sample_places(N, 50)).tolist()
    assert np.array_equal(np.vstack(list(FileNumbers.of(Y).pieces(7))), Y)


def test_several_releases_that_are_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    before, after = files()
    tables = [before, after, before.set_column(0, "a", after["b"])]
    names = ["memory", "kolmogorov-smirnov"]
    there = suffice.assess(tables[0], tables[1:], ROLES, measures=names, aligned=True)
    paths = [tmp_path / f"{i}.parquet" for i in range(3)]
    for path, each in zip(paths, tables, strict=True):
        pq.write_table(each, path)
    monkeypatch.setattr("suffice.measure.reading.CELLS", 100)
    scores = suffice.assess(paths[0], paths[1:], ROLES, measures=names, aligned=True)
    assert [each.outcome for each in scores] == [each.outcome for each in there]
    assert scores["kolmogorov-smirnov"].by_release == there["kolmogorov-smirnov"].by_release
