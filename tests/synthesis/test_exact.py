"""Synthetic files with tables and second moments of the original, promised, certified and pooled."""

from __future__ import annotations

import shlex

import numpy as np
import pandas as pd
import pytest

from suffice import Restore, Roles, Seed, Synthesis, pool, protect, verify
from suffice.errors import InfeasibleError, UsageError
from suffice.synthesis.exact import restored

MARGINS = ("sex", "edu", "work")
NUMBERS = ("age", "income")
ROLES = Roles(confidential=[*MARGINS, *NUMBERS])
N = 300


def people(seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    sex, edu = rng.choice(["f", "m"], N), rng.choice(["a", "b", "c"], N)
    work = np.where(rng.random(N) < 0.3 + 0.3 * (edu == "c"), "yes", "no")
    age = rng.integers(18, 80, N)
    income = np.round(rng.gamma(2, 400, N) + 300 * (work == "yes"), -1) * (rng.random(N) < 0.85)
    return pd.DataFrame({"sex": sex, "edu": edu, "work": work, "age": age, "income": income})


@pytest.fixture(scope="module")
def release():
    return protect(people(), ROLES, Synthesis(m=2, margins=MARGINS).then(Restore()))


def gram(frame: pd.DataFrame) -> np.ndarray:
    levels = pd.get_dummies(frame[list(MARGINS)], drop_first=True).to_numpy(dtype=float)
    scale = people()[list(NUMBERS)]
    Y = ((frame[list(NUMBERS)] - scale.mean()) / scale.std()).to_numpy()
    G = np.column_stack([np.ones(len(frame)), levels, Y])
    return G.T @ G


def test_the_whole_gram_matrix_is_the_original_s(release):
    assert len(release.frames) == 2
    for frame, certificate in zip(release.frames, release.certificates, strict=True):
        assert gram(frame) == pytest.approx(gram(people()), abs=1e-11 * N)
        assert certificate.holds
        assert frame["income"].min() >= 0
        assert (frame["income"] == 0).mean() == pytest.approx((people()["income"] == 0).mean(), abs=0.06)
        ages = frame["age"].to_numpy()
        assert (ages == np.round(ages)).mean() > 0.75  # most cells are as they were drawn
    one, two = release.frames
    assert not np.array_equal(np.sort(one["income"]), np.sort(two["income"]))


def test_codes_stay_apart_from_values_and_nothing_lies_beyond_what_was_drawn():
    data, rng = people(), np.random.default_rng(6)
    data["cigarettes"] = np.where(rng.random(N) < 0.6, -8, rng.integers(1, 40, N))
    data.loc[rng.random(N) < 0.08, "income"] = -9  # not so many that it is a spike
    roles = Roles(confidential=[*MARGINS, *NUMBERS, "cigarettes"])
    release = protect(data, roles, Synthesis(m=3, margins=MARGINS).then(Restore()), Seed.for_tests(3))
    for frame in release.frames:
        assert gram(frame)[-2:, :-2] == pytest.approx(gram(data)[-2:, :-2], abs=1e-11 * N)
        for name in ("cigarettes", "income"):
            code, plain = data[name].min(), data[name][data[name] >= 0]
            other = frame[name][frame[name] != code]
            assert 10 < len(frame) - len(other) < 250
            assert other.between(plain.min(), plain.max()).all()
        assert frame["age"].between(data["age"].min(), data["age"].max()).all()


@pytest.mark.parametrize("key", range(3))
def test_means_of_levels_with_small_numbers_are_kept_beside_large_ones(key: int):
    rng = np.random.default_rng(key)
    size = rng.choice(["a small", "b middle", "c large"], 900, p=[0.6, 0.3, 0.1])
    turnover = pd.Series(size).map({"a small": 1.0, "b middle": 1e2, "c large": 1e4}) * rng.gamma(3, 1, 900)
    data = pd.DataFrame({"size": size, "region": rng.choice(["x", "y"], 900), "turnover": turnover.round(2)})
    method = Synthesis(m=1, margins=["size", "region"]).then(Restore())
    release = protect(data, Roles(confidential=list(data)), method, Seed.for_tests(key))
    assert release.certificate.holds
    assert max(claim.ratio for claim in release.certificate.claims) < 10


def test_a_column_of_one_value_stays():
    data = people().assign(year=1996, code=0)
    roles = Roles(confidential=[*MARGINS, *NUMBERS, "year", "code"])
    release = protect(data, roles, Synthesis(m=1, margins=MARGINS).then(Restore()), Seed.for_tests(1))
    assert release.certificate.holds
    assert (release.frame[["year", "code"]] == [1996, 0]).all(axis=None)


@pytest.mark.parametrize(("largest", "told"), [(150.0, False), (1000.0, True)])
def test_a_giant_that_takes_cells_beyond_what_was_drawn_is_told(largest: float, told: bool):
    data = people()
    data["size"] = np.random.default_rng(7).gamma(2.0, 10.0, N)
    data.loc[5, "size"] = largest
    roles = Roles(confidential=[*MARGINS, "size"])
    release = protect(data, roles, Synthesis(m=1, margins=MARGINS).then(Restore()), Seed.for_tests(1))
    (said,) = (each for each in release.certificate.private if "moved until" in each)
    assert said.endswith("; 'size' beyond the values that were drawn.") == told
    assert (release.frame["size"].max() > 90) == told
    assert "giants" in {each.rule for each in release.findings if each.blocks}


def test_a_column_that_another_variance_was_drawn_of_is_named():
    rng = np.random.default_rng(8)
    before, drawn = 0.05 + 0.9 * rng.random((200, 1)), 0.45 + 0.1 * rng.random((200, 1))
    made, said = restored(before, drawn, (), np.zeros(1), np.ones(1), rng, ["share"])
    assert (made**2).sum() == pytest.approx((before**2).sum())
    assert made.min() >= 0
    assert made.max() <= 1
    assert "; more than half of 'share', of which another variance was drawn; 'share' beyond" in said


def test_promises_are_tables_moments_and_means_by_level(release):
    said = {(claim.statistic, claim.where or claim.sentence, claim.level) for claim in release.certificates[0].claims}
    assert {("table", " x ".join(pair), "") for pair in [("sex", "edu"), ("sex", "work"), ("edu", "work")]} <= said
    assert {each for each, *_ in said} >= {"table", "mean", "covariance"}
    assert sum(bool(level) for *_, level in said) == 3
    assert release.certificates[0].synthesis["exact"] == ["table", "mean", "covariance"]


def test_a_regression_that_is_kept_has_the_interval_of_the_original(release):
    formula = "income ~ age + sex + edu + work"
    found, original = pool(release, formula), pool([people()], formula, rule="T_o")
    assert found.rule == "T_p"
    assert found.names == original.names
    assert (np.abs(found.estimates - original.estimates) < 1e-9 * original.errors).all()
    assert found.errors == pytest.approx(original.errors, rel=1e-9)
    assert found.freedom == pytest.approx(original.freedom)


@pytest.mark.parametrize("margins", [MARGINS, ("sex",)])
def test_the_printed_command_checks_tables_and_means_by_level(margins):
    names, data = [*margins, *NUMBERS], people()
    made = protect(data, Roles(confidential=names), Synthesis(m=1, margins=margins).then(Restore()))
    command = shlex.split(made.certificate.verify)
    keeps = command[command.index("--keeps") + 1].split(",")
    assert {f"mean by {name}" for name in margins} <= {*keeps}
    assert ("sex" in keeps) == (len(margins) == 1)
    roles = Roles(confidential=command[command.index("--confidential") + 1].split(","))
    assert verify(data, made.frame, roles, keeps=keeps).holds
    other = made.frame.copy()
    other["income"] = other["income"].sample(frac=1, random_state=1).to_numpy()
    lost = {claim.level for claim in verify(data, other, roles, keeps=keeps).certificate.claims if not claim.holds}
    assert any("sex" in each for each in lost)


def test_a_table_of_one_column_is_asked_for_by_its_name():
    data, other = people(), people(2)
    drawn = protect(data, Roles(confidential=["sex", "edu"]), Synthesis(m=1, margins=["sex"])).frame
    assert verify(data, drawn, Roles(confidential=["sex", "edu"]), keeps=["sex"]).holds  # edu is not asked for
    assert not verify(data, other, Roles(confidential=["sex", "edu"]), keeps=["sex"]).holds
    with pytest.raises(UsageError, match="not in both files"):
        verify(data, data, Roles(confidential=["age"]), keeps=["mean by town"])


def test_records_with_missing_cells_are_dropped_where_that_is_asked():
    data = people()
    data.loc[::5, "income"] = np.nan
    data.loc[1::7, "sex"] = None
    roles, whole = Roles(confidential=[*MARGINS, *NUMBERS], missing="drop"), data.dropna()
    release = protect(data, roles, Synthesis(m=2, margins=MARGINS).then(Restore()))
    for frame in release.frames:
        assert gram(frame) == pytest.approx(gram(whole), abs=1e-11 * N)
    drawn = protect(data, roles, Synthesis(m=1)).frame
    assert len(drawn) == len(whole)
    assert not drawn.isna().any(axis=None)
    with pytest.raises(UsageError, match="use missing = drop"):
        protect(data, ROLES, Synthesis(m=2, margins=MARGINS).then(Restore()))


def test_margins_alone_leave_numbers_and_types_as_they_were_drawn():
    frame = protect(people(), ROLES, Synthesis(m=1, margins=MARGINS)).frame
    for pair in (["sex", "edu"], ["sex", "work"], ["edu", "work"]):
        assert frame.groupby(pair).size().equals(people().groupby(pair).size())
    assert frame["age"].dtype == people()["age"].dtype
    assert not frame.groupby([*MARGINS]).size().equals(people().groupby([*MARGINS]).size())


def test_a_plain_synthesis_has_none_of_it():
    frame = protect(people(), ROLES, Synthesis(m=1)).frame
    assert np.abs(gram(frame) - gram(people())).max() > 1


@pytest.mark.parametrize(
    ("roles", "method", "said"),
    [
        (Roles(confidential=["edu", "income"], given="C(sex)"), Synthesis(margins=["edu"]), "given"),
        (ROLES, Synthesis(margins=["age"]), "is none"),
        (ROLES, Synthesis(margins=["town"]), "not confidential"),
        (ROLES, Synthesis(margins=["sex"], exact=True), "name it in `margins`"),
        (ROLES, Synthesis(margins=MARGINS, exact=True, rules=["sex == 'f' -> income = 0"]), "leave out rules"),
    ],
)
def test_what_cannot_be_kept_is_a_sentence(roles, method, said):
    with pytest.raises(UsageError, match=said):
        protect(people(), roles, method)


def test_a_rare_level_is_to_be_joined_first():
    data = people()
    data["home"], data["place"] = ([f"p{i % of}" for i in range(N)] for of in (97, 89))
    with pytest.raises(InfeasibleError, match="Join levels"):
        protect(data, Roles(confidential=["home", "place"]), Synthesis(m=1, margins=["home", "place"]))
