"""Released values that nearly are the records' own: read off, linked, told by digits; and releases that are not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from suffice import (
    Ipso,
    Microaggregate,
    MicroHybrid,
    OutliersApart,
    RankSwap,
    ResidualCorrelation,
    Roles,
    Romm,
    Rotate,
    Seed,
    protect,
)
from suffice.algebra.array import Array
from suffice.algorithms.rotation import dealing
from suffice.demo import firms
from suffice.guards.digits import digits as digits_rule
from suffice.method.method import Method
from suffice.release.release import Release
from suffice.risk.digits import digits
from suffice.risk.far_cells import FarCells
from suffice.risk.giants import giants
from suffice.risk.nearness import nearness
from suffice.risk.sample import RecordSample
from tests.attacks.victims import rules
from tests.guards.assessments import changed


def income(n: int = 1000, columns: int = 1, seed: int = 1) -> pd.DataFrame:
    """Log-normal money; a common part makes columns alike, as taxes are."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(n, 1))
    Y = np.exp(10 + 0.8 * common + 0.5 * rng.normal(size=(n, columns)))
    return pd.DataFrame({f"y{j}": Y[:, j].round(2) for j in range(columns)})


def released(frame: pd.DataFrame, method: Method, key: int = 1, **roles: object) -> Release:
    told = {"confidential": [name for name in frame if name.startswith("y")], **roles}
    return protect(frame, Roles(**told), method, seed=Seed.for_tests(key))  # type: ignore[arg-type]


def read_off(release: Release, frame: pd.DataFrame, name: str = "y0", within: float = 0.05) -> tuple[float, float]:
    """The share of records whose released value is near their own, and near another one's."""
    y, after = frame[name].to_numpy(float), release.aligned()[name].to_numpy(float)
    shuffled = np.random.default_rng(0).permutation(after)
    return tuple(float((np.abs(each - y) <= within * np.abs(y)).mean()) for each in (after, shuffled))  # type: ignore[return-value]


@pytest.mark.parametrize(
    "method",
    [Microaggregate(k=3), Microaggregate(k=10, partition="individual"), MicroHybrid(Microaggregate(k=12))],
    ids=lambda method: f"{method.name}",
)
def test_groups_of_neighbours_hardly_move(method: Method) -> None:
    frame = income()
    release = released(frame, method)
    own, others = read_off(release, frame)
    assert own > 0.9
    assert others < 0.1
    assert "nearness" in rules(release, "stop")


def test_a_logarithm_hides_nothing_from_the_rule() -> None:
    frame = np.log(income())
    release = released(frame, Microaggregate(k=3))
    assert np.abs(np.exp(release.aligned()["y0"]) / np.exp(frame["y0"]) - 1).quantile(0.9) < 0.05
    assert "nearness" in rules(release, "stop")


def test_groups_by_many_columns_are_released() -> None:
    frame = income(columns=6)
    release = released(frame, Microaggregate(k=5))
    assert read_off(release, frame)[0] < 0.4
    assert rules(release, "stop", "never") == {"seed"}


def test_a_part_that_hardly_moves_is_seen() -> None:
    """Giants protected by IPSO hide the others from correlations over all records."""
    frame = income(columns=3)
    frame.iloc[:40] *= 50
    release = released(frame, OutliersApart(rest=ResidualCorrelation(0.9999)))
    own, others = read_off(release, frame)
    assert own > 0.6
    assert others < 0.1
    assert {"residual-correlation", "nearness"} <= rules(release, "stop")


def test_what_a_part_does_without_being_asked_is_seen() -> None:
    frame = income(columns=3)
    frame.iloc[:40] *= 50
    release = released(frame, OutliersApart(rest=Romm(lam=0.0001)))
    assert read_off(release, frame)[0] > 0.5
    assert {"residual-correlation", "nearness"} <= rules(release, "stop")


def test_who_is_outlying_can_be_told_and_is_said_to_be() -> None:
    frame = income(columns=3)
    frame.iloc[:40] *= 50
    release = released(frame, OutliersApart())
    far = np.abs(np.log(np.abs(release.aligned()[["y0", "y1", "y2"]])) - 10).mean(axis=1)
    told = (far[:40].to_numpy()[:, None] > far[40:].to_numpy()).mean()
    assert told > 0.75
    assert release.assessment.told_apart > 0.75
    assert "parts" in rules(release, "warn")


def test_small_groups_that_hardly_move_are_seen_beside_a_large_one() -> None:
    """One town of 4,000 and ten villages of 50: what turns the town leaves the villages where they are."""
    frame = income(4500).assign(place=np.repeat(np.arange(11), [4000, *[50] * 10]))
    release = released(frame, Romm(lam=0.01), groups=["place"])
    village = frame["place"] > 0
    near = np.abs(release.aligned()["y0"] / frame["y0"] - 1) < 0.05
    assert near[village].mean() > 2 * near[~village].mean()
    assert rules(release, "stop") & {"residual-correlation", "nearness"}


def test_a_correlation_that_giants_decide_is_no_protection() -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"y0": np.exp(2 * rng.normal(size=800) + 10)})
    release = released(frame, Rotate(correlation=0.5, groups="near", shape="uniform"), bounds="observed-sign")
    after = release.aligned()["y0"]
    assert np.corrcoef(after, frame["y0"])[0, 1] <= 0.5
    assert read_off(release, frame)[0] > 0.5
    assert "nearness" in rules(release, "stop")


def test_a_column_of_noise_does_not_hide_that_giants_are_handed_on() -> None:
    frame = firms(1000).to_pandas()[["turnover", "wages"]].rename(columns={"turnover": "y0", "wages": "y1"})
    frame["y2"] = np.random.default_rng(1).normal(size=len(frame))
    handed = Rotate(sweeps=4, groups="random", shape="uniform")
    release = released(frame, handed, bounds={"y0": (0, None), "y1": (0, None)})
    top = frame["y0"].nlargest(10).to_numpy()
    assert (np.abs(release.frame["y0"].to_numpy() / top[:, None] - 1) < 0.05).any(axis=1).sum() >= 9
    assert "giants" in rules(release, "stop")


def test_records_are_linked_by_their_values() -> None:
    frame = income(columns=3)
    release = released(frame, Microaggregate(k=10, partition="individual"))
    Y, after = (np.log(each.to_numpy()) for each in (frame, release.aligned()))
    linked = np.array([np.linalg.norm(after - y, axis=1).argmin() for y in Y]) == np.arange(len(Y))
    assert linked.mean() > 0.8
    assert "linkage" in rules(release, "stop")
    assert "linkage" not in rules(released(frame, Ipso()), "warn", "stop")


def test_linkage_in_a_large_file_counts_all_records() -> None:
    frame = income(5000, columns=3)
    release = released(frame, ResidualCorrelation(0.99))
    links = release.assessment.closeness.linkage
    Y, after = (each.to_numpy() / frame.to_numpy().std(axis=0) for each in (frame, release.aligned()))
    linked = [np.linalg.norm(after - y, axis=1).argmin() == i for i, y in enumerate(Y[:600])]
    assert links.of == 200  # looked for among all, since among 2,000 more than a tenth were found
    assert links.chance == pytest.approx(200 / 5000)
    assert abs(links.found / links.of - np.mean(linked)) < 0.15


def test_the_largest_stays_the_largest() -> None:
    frame = pd.DataFrame({"y0": np.exp(2 * np.random.default_rng(1).normal(size=500))})
    release = released(frame, ResidualCorrelation(0.99))
    assert release.aligned()["y0"].idxmax() == frame["y0"].idxmax()
    assert "extremes" in rules(release, "warn")
    assert "extremes" not in rules(released(frame, Ipso()), "warn")


def test_genuine_rows_are_told_by_their_digits() -> None:
    y = income()["y0"].to_numpy()
    after = np.where(np.arange(len(y)) < 300, y, y * np.random.default_rng(1).normal(1, 0.3, size=len(y)))
    assert np.array_equal(np.round(after, 2) == after, np.arange(len(y)) < 300)  # the attack tells every one
    found = digits(sampled(y, after))
    assert found == {"y0": (300, 1000)}
    finding = digits_rule(changed(digits=found))
    assert finding is not None
    assert finding.level == "warn"
    assert not digits(sampled(y, after.round(2)))  # all are rounded: nobody can tell
    few = np.where(np.arange(len(y)) < 700, after.round(2), after)
    few[30:300] += 0.01
    assert not digits(sampled(y, few))  # thirty of seven hundred that look genuine


def test_groups_of_equal_values_are_told_by_their_digits() -> None:
    households, others = np.repeat(1000.0 * np.arange(1, 101), 3), np.random.default_rng(1).integers(2e5, 4e5, 300)
    frame = pd.DataFrame({"y0": np.concatenate([households, others])})
    release = released(frame, Microaggregate(k=3))
    after = release.aligned()["y0"].to_numpy()
    whole = np.round(after) == after
    assert (after == frame["y0"])[whole].mean() > 0.6
    assert "digits" in rules(release, "warn")


def test_zeros_are_aside_wherever_they_go() -> None:
    """Six of ten records have nothing: neither do they hide that all others stay, nor stand for them."""
    rng = np.random.default_rng(1)
    y = np.where(np.arange(1000) < 600, 0.0, income()["y0"])
    stay, go = y * rng.normal(1, 0.01, 1000), np.where(y == 0, 0.0, rng.permutation(income()["y0"]))
    stay[:600] = rng.normal(0, 100, 600)
    assert nearness(sampled(y, stay))["y0", "value", 0].excess > 0.9
    assert nearness(sampled(y, go))["y0", "value", 0].excess < 0.1


def test_giants_are_not_found_where_values_are_everywhere() -> None:
    own = np.column_stack([np.geomspace(5, 5e9, 10), np.zeros(10)])
    everywhere = np.geomspace(2.5, 1e10, 2000)[:, None]
    alone = own[:, :1] * 1.001
    dense, sparse = (giants(FarCells((own,), (after,)), ("y0",))["y0"] for after in (everywhere, alone[::5]))
    assert (dense.found, dense.chance, dense.excess) == (10, 10, 0)
    assert (sparse.found, sparse.chance) == (2, 0)


def sampled(y: Array, after: Array) -> RecordSample:
    where = np.zeros((2, len(y)), dtype=np.int64)
    return RecordSample.of(("y0",), [(y[:, None], after[:, None], *where)])


def money_with_zeros() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(np.exp(rng.normal(size=(400, 3))), columns=["y0", "y1", "y2"])
    frame.loc[:149, "y0"] = 0.0
    frame.loc[100:199, "y1"] = 0.0
    frame.loc[395:, ["y0", "y1"]] = 0.0  # with rows 100 to 149
    frame.loc[390:394, "y0"] = 0.0
    frame.loc[[0, 1, 2, 3, 150, 151, 152, 395, 396], "y2"] = 0.0  # rare patterns
    frame.loc[200:229, "y2"] = 0.0
    return frame


def test_zeros_that_stay_tell_who_has_none() -> None:
    frame = money_with_zeros()
    kept, free = (released(frame, Rotate(sweeps=5, zeros=each), bounds="observed-sign") for each in ("kept", "free"))
    same = (kept.aligned()["y0"] == 0) == (frame["y0"] == 0)
    assert same.mean() > 0.95
    assert "zeros" in rules(kept, "warn")
    assert "zeros" not in rules(free, "warn")


def test_small_patterns_of_zeros_are_no_level_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four records alone in their pattern keep their sums and squares, if patterns of any size meet only themselves."""
    frame = money_with_zeros()

    def kept_sum() -> bool:
        after = released(frame, Rotate(sweeps=5), bounds="observed-sign").aligned()
        return bool(np.isclose(after.loc[:3, "y1"].sum(), frame.loc[:3, "y1"].sum(), rtol=1e-9))

    assert not kept_sum()
    monkeypatch.setattr(dealing, "large_patterns", lambda pattern, *_: pattern)
    assert kept_sum()


@pytest.mark.parametrize("d", [0.5, 0.8, 0.9])
def test_one_verdict_for_all_keys(d: float) -> None:
    """Few far cells: counts differ from key to key, the verdict does not."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(np.exp(1.3 * rng.normal(size=(400, 2))), columns=["y0", "y1"])
    found = [rules(released(frame, ResidualCorrelation(d), key), "stop") for key in range(6)]
    assert all(each == found[0] for each in found)
    assert ("outliers" in found[0]) == (d == 0.9)


def test_giants_as_near_to_each_other_are_not_given_away() -> None:
    """Groups of five giants share a value near many of them; whoever names any other giant's is as near."""
    frame = income(columns=4)
    release = released(frame, Microaggregate(k=5))
    assert sum(each.found for each in release.assessment.closeness.outliers.values()) > 0
    assert "outliers" not in rules(release, "stop")


def test_whole_numbers_meet_their_own_values_by_chance() -> None:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"y0": rng.integers(1, 40, 500), "y1": rng.poisson(12, 500)})
    copies = 0
    for key in range(8):
        release = released(frame, Ipso(), key, integer=["y0", "y1"])
        copies += len(release.done.seen["copies"].rows)
        assert "copies" not in rules(release, "stop")
    assert copies > 0


def test_the_mean_of_a_group_may_be_a_member_s_value() -> None:
    frame = pd.DataFrame(np.random.default_rng(4).normal(100, 30, size=(600, 3)).round(0), columns=["y0", "y1", "y2"])
    one = released(frame[["y0"]], Microaggregate(k=5))
    assert one.assessment.copies > 0 or (one.aligned()["y0"] == frame["y0"]).any()
    assert "copies" not in rules(one, "stop")


@pytest.mark.parametrize("middle", ["1970-01-01", "2010-01-01"])
def test_dates_are_near_by_their_own_spread(middle: str) -> None:
    """Days are read off to a tenth of their spread, however far from 1970: 5 % of a number near 0 would be nothing."""
    days = np.rint(np.random.default_rng(5).normal(0, 3000, 300))
    frame = pd.DataFrame({"y0": pd.Timestamp(middle) + pd.to_timedelta(days, unit="D")})
    release = released(frame, RankSwap(p=0.04))
    moved = (release.aligned()["y0"] - frame["y0"]).dt.days.abs()
    assert (moved <= 300).mean() > 0.6
    assert "nearness" in rules(release, "stop")
