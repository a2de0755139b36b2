"""Two releases of one file, each harmless, that give a record when they are subtracted: the ledger knows of both."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from suffice import Ipso, Microaggregate, MicroHybrid, ResidualCorrelation, Roles, Seed, protect
from suffice.errors import GuardError
from suffice.method.method import Method
from tests.attacks.victims import rules
from tests.tolerances import ENGINE

Frame = pd.DataFrame
IPSO = Ipso()


def victims() -> Frame:
    """Cells of 33 and more by a and by b, which differ in the first record; x is missing there, and w is 2."""
    rng = np.random.default_rng(0)
    a = np.repeat(["p", "q", "r"], [34, 33, 33])
    b = np.where(np.arange(100) == 0, "q", a)
    x = np.where(np.arange(100) == 0, np.nan, rng.normal(size=100))
    w = np.where(np.arange(100) == 0, 2.0, 1.0)
    y, z = rng.normal(100, 10, 100), rng.normal(50, 5, 100)
    return Frame({"a": a, "b": b, "w": w, "x": x, "y": y, "z": z})


def total(column: str) -> Callable[[Frame], float]:
    """What is kept of the records that are in cell p of a column."""
    return lambda released: released.groupby(column)["y"].sum()["p"]


def weighed(released: Frame) -> float:
    """The kept mean, times the weights that were released with it."""
    return float((released["y"] * released["w"]).sum())


def whole(released: Frame) -> float:
    return float(released["y"].sum())


def again(**more: Any) -> Roles:
    return Roles(confidential=["y"], **more)


@dataclass(frozen=True)
class Attack:
    """Two requests, what is read off each release, and the rule that stops the second."""

    first: tuple[Roles, Method]
    second: tuple[Roles, Method]
    read: tuple[Callable[[Frame], float], Callable[[Frame], float]]
    rule: str = "stacked-leverage"
    file: Callable[[Frame], Frame] = lambda frame: frame
    """The file as it is by the second release."""
    unit: float = 1.0

    def frames(self) -> tuple[Frame, Frame]:
        return victims(), self.file(victims())


def corrected(frame: Frame) -> Frame:
    return frame.assign(a=frame["b"])


ATTACKS = {
    "groups by a, then by b": Attack(
        (again(groups=["a"]), IPSO), (again(groups=["b"]), IPSO), (total("a"), total("b"))
    ),
    "given, then groups": Attack((again(given="C(a)"), IPSO), (again(groups=["b"]), IPSO), (total("a"), total("b"))),
    "weighted, then not": Attack((again(weight="w"), IPSO), (again(), IPSO), (weighed, whole)),
    "a given cell corrected": Attack(
        (again(given="C(a)"), IPSO), (again(given="C(a)"), IPSO), (total("a"), total("a")), "changed-records", corrected
    ),
    "records dropped": Attack((again(missing="drop"), IPSO), (again(given="x", missing="drop"), IPSO), (whole, whole)),
    "clusters by a, then by b": Attack(
        (again(), MicroHybrid(clusters="a")), (again(), MicroHybrid(clusters="b")), (total("a"), total("b"))
    ),
    "sorted anew": Attack(
        (again(given="C(a)"), IPSO),
        (again(given="C(b)"), IPSO),
        (total("a"), total("b")),
        file=lambda frame: frame.sample(frac=1, random_state=1),
    ),
    "a record left out": Attack(
        (again(), IPSO), (again(), IPSO), (whole, whole), "changed-records", lambda frame: frame[1:]
    ),
    "another unit": Attack(
        (again(given="C(a)"), IPSO),
        (again(given="C(b)"), IPSO),
        (total("a"), total("b")),
        file=lambda frame: frame.assign(y=1000 * frame["y"]),
        unit=1000.0,
    ),
}


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_two_releases_give_a_record_by_subtraction(attack: Attack) -> None:
    made = zip(attack.frames(), (attack.first, attack.second), strict=True)
    releases = [protect(frame, *request, seed=Seed()) for frame, request in made]  # no key file: no ledger
    assert all(rules(release, "stop", "never") == set() for release in releases)
    one, two = (read(release.frame) for read, release in zip(attack.read, releases, strict=True))
    assert one - two / attack.unit == pytest.approx(victims()["y"][0], rel=ENGINE * 100)


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_the_ledger_stops_the_second(attack: Attack, tmp_path: Path) -> None:
    key, (before, now) = Seed.new_file(tmp_path / "key"), attack.frames()
    protect(before, *attack.first, seed=key).write(tmp_path / "one.csv")
    second = protect(now, *attack.second, seed=key)
    assert {attack.rule} <= rules(second, "stop", "never") <= {attack.rule, "changed-records"}
    with pytest.raises(GuardError, match=attack.rule):
        second.write(tmp_path / "two.csv")
    assert not (tmp_path / "two.csv").exists()


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_the_same_request_again_is_free(attack: Attack, tmp_path: Path) -> None:
    key = Seed.new_file(tmp_path / "key")
    first = protect(victims(), *attack.first, seed=key)
    first.write(tmp_path / "one.csv")
    first.write(tmp_path / "two.parquet")  # another name, another format
    assert (tmp_path / "key.ledger").read_text().count("\n") == 1
    shuffled = protect(victims().sample(frac=1, random_state=2), *attack.first, seed=key)
    assert rules(shuffled, "warn", "stop", "never") == set()
    assert shuffled.assessment.history.earlier == (0.0,)  # another release, of the same columns


def test_what_adds_nothing_is_free_whatever_is_out(tmp_path: Path) -> None:
    """A cell of four in the first release, accepted; the second keeps less."""
    frame = victims().assign(c=np.where(np.arange(100) < 4, "few", "many"))
    key = Seed.new_file(tmp_path / "key")
    for given in ("C(a) + C(c)", "C(c)", "C(a)", "1"):
        release = protect(frame, again(given=given), IPSO, seed=key)
        assert "stacked-leverage" not in rules(release, "warn", "stop", "never")
        release.write(tmp_path / "out.csv", force=True)
    assert "stacked-leverage" in rules(protect(frame, again(given="C(b)"), IPSO, seed=key), "never")


def test_another_year_is_another_file(tmp_path: Path) -> None:
    key, frame = Seed.new_file(tmp_path / "key"), victims()
    protect(frame, again(given="C(a)"), IPSO, seed=key).write(tmp_path / "one.csv")
    grown = frame.assign(y=frame["y"] * np.random.default_rng(1).normal(1.03, 0.05, 100))
    assert not protect(grown, again(given="C(b)"), IPSO, seed=key).findings


def test_many_changed_records_hide_each_other(tmp_path: Path) -> None:
    key, frame = Seed.new_file(tmp_path / "key"), victims()
    protect(frame, again(), IPSO, seed=key).write(tmp_path / "one.csv")
    release = protect(frame[20:], again(), IPSO, seed=key)
    assert release.assessment.history.changed >= 20
    assert not release.findings


PARTS = {
    "all, then two parts": (slice(None), slice(0, 50), slice(51, None)),
    "two parts, then all": (slice(0, 50), slice(51, None), slice(None)),
    "two parts that share a record": (slice(None), slice(0, 51), slice(50, None)),
    "three parts": (slice(None), slice(0, 30), slice(30, 50), slice(51, None)),
    "four parts": (slice(None), slice(0, 15), slice(15, 30), slice(30, 50), slice(51, None)),
}


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
def test_parts_of_a_file_and_all_of_it_leave_a_record(
    parts: tuple[slice, ...], weight: str | None, tmp_path: Path
) -> None:
    frame, roles = victims().assign(w=np.arange(100) % 3 + 1.0), again(weight=weight)
    files = [frame[part] for part in parts]
    loose = [protect(file, roles, IPSO, seed=Seed()) for file in files]
    assert all(rules(release, "stop", "never") == set() for release in loose)
    signs = [1 if len(file) == 100 else -1 for file in files]
    sums = [float((each.frame["y"] * (each.frame["w"] if weight else 1.0)).sum()) for each in loose]
    told = abs(sum(sign * each for sign, each in zip(signs, sums, strict=True)))
    assert told == pytest.approx(frame["y"][50] * (frame["w"][50] if weight else 1.0), rel=ENGINE * 1000)
    key = Seed.new_file(tmp_path / "key")
    for number, file in enumerate(files[:-1]):
        protect(file, roles, IPSO, seed=key).write(tmp_path / f"{number}.csv")
    last = protect(files[-1], roles, IPSO, seed=key)
    assert rules(last, "stop", "never") == {"changed-records"}
    assert not rules(protect(frame[70:95], roles, IPSO, seed=key), "stop", "never")  # a part that leaves many
    assert not rules(protect(files[0].sample(frac=1, random_state=1), roles, IPSO, seed=key), "stop", "never")


@pytest.mark.parametrize("by", [{"given": "C(a)"}, {"groups": ["a"]}], ids=["given", "groups"])
def test_one_changed_record_of_a_cell_among_many_elsewhere(by: dict[str, Any], tmp_path: Path) -> None:
    frame, key = victims(), Seed.new_file(tmp_path / "key")
    one, two = (protect(file, again(**by), IPSO, seed=Seed()).frame for file in (frame, frame[1:80]))
    assert total("a")(one) - total("a")(two) == pytest.approx(frame["y"][0], rel=ENGINE * 100)
    protect(frame, again(**by), IPSO, seed=key).write(tmp_path / "one.csv")
    assert rules(protect(frame[1:80], again(**by), IPSO, seed=key), "stop", "never") == {"changed-records"}
    assert not rules(protect(frame[3:80], again(**by), IPSO, seed=key), "stop", "never")


def test_three_changed_records_of_a_cell_among_many_elsewhere(tmp_path: Path) -> None:
    """Two of the three subtract their own values, and have the third's; a cell of three in one release is warned of."""
    frame, key, roles = victims(), Seed.new_file(tmp_path / "key"), again(given="C(a)")
    fewer = frame.drop(index=[0, 1, 2, *range(40, 60)])
    one, two = (total("a")(protect(file, roles, IPSO, seed=Seed()).frame) for file in (frame, fewer))
    assert one - two - frame["y"][:2].sum() == pytest.approx(frame["y"][2], rel=ENGINE * 1000)
    protect(frame, roles, IPSO, seed=key).write(tmp_path / "one.csv")
    corrected = fewer.assign(y=fewer["y"].where(fewer.index != 3, 1.5))
    for file, warned in ((fewer, True), (corrected.drop(index=4), False), (frame.drop(index=range(50)), False)):
        found = protect(file, roles, IPSO, seed=key)
        assert ("changed-records" in rules(found, "warn")) == warned
        assert "changed-records" not in rules(found, "stop")
    two_and_one = frame.assign(y=frame["y"].where(frame.index != 3, 1.5)).drop(index=[0, 1, *range(40, 60)])
    assert "changed-records" in rules(protect(two_and_one, roles, IPSO, seed=key), "warn")


@pytest.mark.parametrize("role", ["keep", "given", "groups", "weight"])
def test_once_confidential_always(role: str, tmp_path: Path) -> None:
    """y beside the release that protected it: every record, exactly."""
    frame = victims().assign(y=np.arange(100) % 4 + 1)
    named = {"given": "y", "weight": "y"}.get(role, ["y"])
    roles = Roles(confidential=["z"], **{role: named})
    loose = protect(frame, roles, IPSO, seed=Seed())
    assert sorted(loose.frame["y"]) == sorted(frame["y"])  # without a ledger it leaves as it is
    key = Seed.new_file(tmp_path / "key")
    protect(frame, again(), IPSO, seed=key).write(tmp_path / "one.csv")
    release = protect(frame, roles, IPSO, seed=key)
    assert "former-role" in rules(release, "stop")
    with pytest.raises(GuardError, match="y would leave unchanged"):
        release.write(tmp_path / "two.csv")


@pytest.mark.parametrize("share", [0.5, 0.3])
def test_once_confidential_always_in_a_part_of_the_file_too(share: float, tmp_path: Path) -> None:
    (tmp_path / "key").write_text(sha256(b"parts").hexdigest())  # which records are looked at follows from the key
    (tmp_path / "key").chmod(0o600)
    rng, key = np.random.default_rng(6), Seed.from_file(tmp_path / "key")
    frame = Frame({"y": rng.normal(50, 9, 2000), "z": rng.normal(50, 9, 2000)})
    protect(frame, again(), ResidualCorrelation(d=0.6), seed=key).write(tmp_path / "one.csv")
    part = frame.sample(frac=share, random_state=1)
    kept = protect(part, Roles(confidential=["z"], keep=["y"]), IPSO, seed=key)
    assert "former-role" in rules(kept, "stop")
    assert protect(part, again(), IPSO, seed=key).assessment.history.earlier == pytest.approx((0.6,))
    other = frame.assign(y=rng.permutation(frame["y"] * 1.01))[: int(2000 * share)]
    assert protect(other, again(), IPSO, seed=key).assessment.history.earlier == ()


def test_what_has_left_is_not_protected_by_calling_it_confidential(tmp_path: Path) -> None:
    key = Seed.new_file(tmp_path / "key")
    protect(victims(), Roles(confidential=["z"], keep=["y"]), IPSO, seed=key).write(tmp_path / "one.csv")
    assert "former-role" in rules(protect(victims(), again(), IPSO, seed=key), "warn")


def test_protected_together_and_written_one_after_the_other(tmp_path: Path) -> None:
    key, frame = Seed.new_file(tmp_path / "key"), victims()
    one, two = (protect(frame, again(given=f"C({name})"), IPSO, seed=key) for name in "ab")
    assert not one.findings
    assert not two.findings  # neither has left
    one.write(tmp_path / "one.csv")
    with pytest.raises(GuardError, match="stacked-leverage"):
        two.write(tmp_path / "two.csv")
    assert not (tmp_path / "two.csv").exists()
    assert total("a")(one.frame) - total("b")(two.frame) == pytest.approx(frame["y"][0], rel=ENGINE * 100)


def test_of_two_that_write_at_once_one_is_stopped(tmp_path: Path) -> None:
    key, frame = Seed.new_file(tmp_path / "key"), victims()
    releases = [protect(frame, again(given=f"C({name})"), IPSO, seed=key) for name in "ab"]

    def written(place: int) -> bool:
        try:
            releases[place].write(tmp_path / f"{place}.csv")
        except GuardError:
            return False
        return True

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(written, range(2))) == [False, True]


def test_clusters_that_a_method_made_are_stacked(tmp_path: Path) -> None:
    """Releases with clusters of 12, 13 and more: the released labels make equations, and most records follow."""
    frame = Frame({"x": np.arange(60.0), "y": np.random.default_rng(3).normal(100, 10, 60)})
    roles = Roles(confidential=["y"], keep=["x"])
    rows, sides = [], []
    for k in range(12, 24):
        released = protect(frame, roles, MicroHybrid(clusters=Microaggregate(k=k)), seed=Seed()).frame
        by = released.sort_values("x")["cluster"].to_numpy()
        sums = released.groupby("cluster")["y"].sum()
        rows += [by == cluster for cluster in sums.index]
        sides += sums.tolist()
    A = np.array(rows, dtype=float)
    told = np.linalg.pinv(A) @ A
    exact = np.isclose(told.diagonal(), 1)
    assert exact.mean() > 0.2
    assert np.allclose((np.linalg.pinv(A) @ sides)[exact], frame["y"][exact])
    key = Seed.new_file(tmp_path / "key")
    first, second, same = (MicroHybrid(clusters=Microaggregate(k=k)) for k in (12, 13, 12))
    protect(frame, roles, first, seed=key).write(tmp_path / "one.csv")
    assert "stacked-leverage" in rules(protect(frame, roles, second, seed=key), "never")
    coarser = protect(frame, Roles(confidential=["y"]), same, seed=key)
    assert coarser.assessment.stacked.highest == 0  # the same clusters


def test_clusters_of_another_order_are_counted(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    frame = Frame({"y": rng.normal(100, 10, 120)})
    key, method = Seed.new_file(tmp_path / "key"), MicroHybrid(clusters=Microaggregate(k=6))
    accept = dict.fromkeys(
        ("outliers", "giants", "dominance", "degrees-of-freedom", "copies", "nearness", "linkage"), "a test"
    )
    protect(frame, again(), method, seed=key, accept=accept).write(tmp_path / "one.csv")
    other = MicroHybrid(clusters=Microaggregate(k=7))
    release = protect(frame.sample(frac=1, random_state=1), again(), other, seed=key, accept=accept)
    assert "stacked-leverage" in rules(release, "warn")  # 20 and 17 equations of 120 records
    assert release.assessment.stacked.equations == 37


def test_a_link_to_a_key_has_the_same_ledger(tmp_path: Path) -> None:
    key, frame = Seed.new_file(tmp_path / "key"), victims()
    (tmp_path / "link").symlink_to(tmp_path / "key")
    protect(frame, again(given="C(a)"), IPSO, seed=key).write(tmp_path / "one.csv")
    second = protect(frame, again(given="C(b)"), IPSO, seed=Seed.from_file(tmp_path / "link"))
    assert "stacked-leverage" in rules(second, "never")
    assert not (tmp_path / "link.ledger").exists()


def test_the_reason_for_accepting_goes_into_the_ledger(tmp_path: Path) -> None:
    key = Seed.new_file(tmp_path / "key")
    reason = {"residual-correlation": "the board has agreed"}
    hybrid = protect(victims(), again(), ResidualCorrelation(d=0.95), seed=key, accept={**reason, "outliers": "-"})
    hybrid.write(tmp_path / "one.csv")
    assert hybrid.account.ledger is not None
    assert hybrid.account.ledger.entries()[0].accepted == reason


def test_hybrids_without_a_key_file_average_back_and_are_warned_of() -> None:
    frame = victims()[["y", "z"]].assign(x=np.arange(100.0))
    roles, method = Roles(confidential=["y", "z"], keep=["x"]), ResidualCorrelation(d=0.7)
    releases = [protect(frame, roles, method, seed=Seed()) for _ in range(60)]
    mean = np.mean([release.frame.sort_values("x")["y"] for release in releases], axis=0)
    around = (mean - frame["y"].mean()) / 0.7
    assert np.std(around - (frame["y"] - frame["y"].mean())) < 0.2 * frame["y"].std()
    assert all("repeated-release" in rules(release, "warn") for release in releases)
    assert rules(protect(frame, roles, IPSO, seed=Seed()), "warn") == set()
