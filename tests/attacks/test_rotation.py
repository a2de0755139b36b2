"""Rotate under attack: averages, the key, the order of rows, and a record that cannot move."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from suffice import Ipso, Roles, Rotate, Seed, protect
from suffice.algebra.array import Array
from suffice.algebra.decomposition import split
from suffice.algorithms.rotation import dealing
from suffice.algorithms.rotation.circles import turned
from suffice.algorithms.rotation.constraints import Constraints
from suffice.algorithms.rotation.dealing import deal, random_order
from suffice.algorithms.rotation.trigonometry import angle, direction
from suffice.algorithms.rotation.turn import Chance, beside, radii
from suffice.demo import firms
from suffice.errors import GuardError
from suffice.method.records import Records
from suffice.seed import Stream
from tests.attacks.victims import confidential, linked, profile, public, residuals, uncertain
from tests.tolerances import CHANCE

N, K, MANY = 120, 2, 100


def victims(n: int = N) -> pd.DataFrame:
    frame = profile(n, K)
    return frame.assign(**{name: np.exp(frame[name] / 2) for name in ("y0", "y1")})


def rotated(frame: pd.DataFrame, key: int, method: Rotate, given: str = "x"):
    roles = Roles(confidential=["y0", "y1"], given=given, bounds="observed-sign")
    off = {"seed": "an attack is tried", "residual-correlation": "an attack is tried"}
    off |= {"canonical-correlation": "an attack is tried", "copies": "an attack is tried"}
    off |= {"outliers": "an attack is tried", "unmoved-records": "an attack is tried"}
    return protect(frame, roles, method, seed=Seed.for_tests(key), accept=off)


def averaged(frame: pd.DataFrame, method: Rotate) -> float:
    released = (linked(rotated(frame, key, method).frame, frame) for key in range(MANY))
    return uncertain(np.asarray(sum(residuals(each) for each in released)), residuals(frame))


@pytest.mark.usefixtures("one_trial")
def test_few_sweeps_average_back() -> None:
    """With the guards off a hundred short walks from one start show where it was."""
    assert averaged(victims(), Rotate(sweeps=1)) < 0.35


def test_the_ledger_knows_short_walks(tmp_path: Path) -> None:
    frame, key = victims(), Seed.new_file(tmp_path / "key")
    roles = Roles(confidential=["y0", "y1"], given="x", bounds="observed-sign")
    levels = []
    for number in range(40):  # the same walk with other random numbers: `most` decides nothing else here
        accept = dict.fromkeys(
            ("residual-correlation", "canonical-correlation", "outliers", "copies", "giants", "nearness", "linkage"),
            "tried",
        )
        accept["unmoved-records"] = "tried"
        release = protect(frame, roles, Rotate(sweeps=1, most=400 + number), seed=key, accept=accept)
        found = {finding.rule: finding.level for finding in release.findings}
        levels.append(found.get("repeated-release"))
        if levels[-1] == "stop":
            break
        release.write(tmp_path / f"{number}.csv")
    assert levels[0] is None
    assert levels[-1] == "stop"


@pytest.mark.usefixtures("one_trial")
def test_a_walk_until_chance_does_not_average_back() -> None:
    left = averaged(victims(), Rotate(sweeps=60))
    assert left > 0.9


def test_with_the_random_numbers_the_walk_is_run_backwards() -> None:
    """Reversible steps: whoever has the key and the file's digest repeats them; without the digest, nobody."""
    frame = victims()
    one, two = (rotated(frame, 1, Rotate(sweeps=3)).aligned() for _ in range(2))
    assert np.array_equal(confidential(one), confidential(two))  # the key decides every angle
    nudged = frame.assign(y0=frame["y0"].where(frame.index != 0, frame["y0"] * 1.001))
    other = rotated(nudged, 1, Rotate(sweeps=3)).aligned()
    moved = np.abs(confidential(other) - confidential(one)).max(axis=1)
    assert np.median(moved) > 0.1 * confidential(frame).std()  # one corrected record gives other angles everywhere


def undone(Ystar: Array, task: Records, stream: Stream, sweeps: int) -> Array:
    """A walk of random groups without limits or a law, turned back sweep by sweep by whoever has the random numbers."""
    Y, ground = Ystar.copy(), Constraints.of(task)
    for sweep in range(sweeps, 0, -1):
        generator = stream.generator("sweep", sweep)
        groups = deal(random_order(len(Y), generator), 3)
        angles = angle(Chance.drawn(generator, ground, groups).seeds, 0)
        y = beside(Y[groups])
        b, d = radii(y, ground, groups, np.empty((0, 2, 3)))
        cos, sin = direction(-angles)
        Y[groups] = turned(y, b, d, cos, sin).transpose(2, 0, 1)
    return Y


def test_who_has_the_key_undoes_a_walk_from_the_original_and_learns_no_record_from_drawn_ones() -> None:
    rng = np.random.default_rng(6)
    Y = np.exp(rng.normal(size=(90, 2)))
    task, stream = Records(np.ones((90, 1)), Y, Y), Seed.for_tests(1).derive("known key")
    walked = Rotate(sweeps=5, groups="random", shape="uniform").walk(task, stream).Ystar
    assert np.abs(walked - Y).max() > 0.5
    assert np.abs(undone(walked, task, stream, 5) - Y).max() < 1e-9
    # with the same random numbers any order of the original's records gives the same release: none is told
    other = Y[rng.permutation(90)]
    one, two = (Rotate(most=20).walk(replace(task, Y=each, original=each), stream).Ystar for each in (Y, other))
    assert np.allclose(one, two, rtol=1e-5, atol=1e-8)
    assert uncertain(one, Y) > 0.9


def test_a_hundred_releases_of_drawn_records_do_not_average_back() -> None:
    """Few sweeps, so that what a start had would still be there; walks from the original show the attack."""
    frame = victims(60)
    X, Y = public(frame), confidential(frame)
    task = Records(X, Y, Y)

    def left(method: Rotate) -> float:
        made = (method.walk(task, Seed.for_tests(key).derive("hundred")).Ystar for key in range(MANY))
        return uncertain(split(np.asarray(sum(made)), X)[1], split(Y, X)[1])

    assert left(Rotate(sweeps=2)) < 0.5
    assert left(Rotate(most=10)) > 0.85  # one fit, and values that are never negative, leave something in any release


def test_a_sorted_file_does_not_leak_by_position() -> None:
    frame = victims(2000).sort_values("y0", ignore_index=True)
    release = rotated(frame, 1, Rotate(sweeps=1, groups="near"), given="")
    place = np.arange(2000)
    kept = np.corrcoef(release.aligned()["y0"].rank(), place)[0, 1]
    left = np.corrcoef(release.frame["y0"].rank(), place)[0, 1]
    assert kept > 0.4  # the attack succeeds on rows that stand where they stood
    assert abs(left) < CHANCE / np.sqrt(2000)


def test_a_record_that_cannot_move_stops_the_release(tmp_path: Path) -> None:
    """Alone in its cell, a record meets nobody: with the guard off it is released as it is."""
    frame = victims().assign(cell=["alone", *["many"] * (N - 1)])
    roles = Roles(confidential=["y0", "y1"], given="C(cell)")
    release = protect(frame, roles, Rotate(sweeps=20))
    rules = {finding.rule: finding.level for finding in release.findings}
    assert rules["unmoved-records"] == "stop"
    assert np.allclose(release.aligned().loc[0, ["y0", "y1"]].astype(float), frame.loc[0, ["y0", "y1"]].astype(float))
    with pytest.raises(GuardError):
        release.write(tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


def test_a_walk_of_few_sweeps_goes_on_until_every_record_has_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many stand near their limits: where the walk ends with its last sweep, some are released as they are."""
    rng = np.random.default_rng(7)
    x, z = rng.uniform(1, 10, 60), rng.lognormal(size=60)
    frame = pd.DataFrame({"x": x, "y": x * rng.beta(0.15, 0.15, 60), "z": z})
    roles = Roles(confidential=["y", "z"], given="x", bounds={"y": (0, None), "z": (0, None)}, edits=["y <= x"])

    def left(key: int) -> int:
        return protect(frame, roles, Rotate(sweeps=1), seed=Seed.for_tests(key)).assessment.unmoved

    assert not any(map(left, range(4)))
    monkeypatch.setattr("suffice.microdata.rotate.PATIENCE", 0)
    assert any(map(left, range(4)))


def test_bounds_that_ipso_breaks_are_mended() -> None:
    frame = victims()
    roles = Roles(confidential=["y0", "y1"], given="x", bounds="observed-sign")
    plain = {finding.rule: finding.level for finding in protect(frame, roles, Ipso()).findings}
    assert plain["limits"] == "stop"
    mended = protect(frame, roles, Ipso().then(Rotate(sweeps=5)))
    assert (confidential(mended.frame) >= 0).all()
    assert mended.certificate.holds


def lone() -> pd.DataFrame:
    """One record has .6 of the variance of y0, and no other is far out."""
    frame = pd.DataFrame(np.exp(np.random.default_rng(1).normal(3, 0.5, (400, 2))), columns=["y0", "y1"])
    frame.loc[0, "y0"] = 400.0
    return frame


@pytest.mark.parametrize(
    "method",
    [
        Rotate(sweeps=20),
        Rotate(correlation=0.5),
        Rotate(groups="near"),
        Rotate(shape="uniform", sweeps=10),
    ],
    ids=str,
)
def test_one_giant_is_handed_on_and_seen(method: Rotate) -> None:
    """A walk from the original that keeps shapes, or is short, hands on a giant's value: others need not be far out."""
    roles = Roles(confidential=["y0", "y1"], bounds="observed-sign")
    for key in range(3):
        release = protect(lone(), roles, method, seed=Seed.for_tests(key))
        assert {each.rule: each.level for each in release.findings}["giants"] == "stop"
    if method.groups != "near":  # a longer walk, in which it grows and shrinks
        assert abs(release.frame["y0"].max() / lone()["y0"].max() - 1) < 0.05


def test_a_giant_is_judged_whether_or_not_drawn_records_come_inside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """That is luck, and a walk from the original keeps shapes too."""
    roles = Roles(confidential=["y0", "y1"], bounds="observed-sign")
    monkeypatch.setattr(Rotate, "_drawn", lambda *_: None)
    release = protect(lone(), roles, Rotate(), seed=Seed.for_tests(1))
    assert {each.rule: each.level for each in release.findings}["giants"] == "stop"


def test_giants_are_handed_on_and_seen() -> None:
    """Without a law a giant's whole record is given to another row; a walk under the law leaves nobody with it."""
    frame = firms(2000).to_pandas()[["turnover", "wages", "taxes", "other_costs"]]
    roles = Roles(confidential=list(frame), bounds="observed-sign")
    levels, looked_up = {}, {}
    handed = Rotate(sweeps=4, groups="random", shape="uniform")
    for name, method in {"handed on": handed, "law": Rotate(), "ipso": Ipso().then(Rotate(sweeps=30))}.items():
        release = protect(frame, roles, method, seed=Seed.for_tests(1))
        levels[name] = {finding.rule: finding.level for finding in release.findings}.get("giants")
        truth, released = ((each - frame.mean()).to_numpy() for each in (frame, release.frame))
        top = truth[np.argsort(-np.abs(truth / frame.std().to_numpy()).max(axis=1))[:10]]
        looked_up[name] = sum((np.abs(released - giant) <= 0.1 * np.abs(giant)).all(axis=1).any() for giant in top)
    assert looked_up["handed on"] >= 5
    assert max(looked_up["law"], looked_up["ipso"]) < 5
    assert levels == {"handed on": "stop", "law": None, "ipso": None}


@pytest.mark.parametrize(("share", "told"), [(0.6, True), (0.1, False)])
def test_the_size_of_one_giant_shows_and_is_stopped(share: float, told: bool) -> None:
    """New records hand nothing on, but what the variance has beyond the shape of the others is the giant's."""
    y = np.random.default_rng(8).exponential(size=300)
    y[0] = y.mean() + np.sqrt(share / (1 - share) * ((y - y.mean()) ** 2).sum())
    frame, roles, found, size = pd.DataFrame({"y": y}), Roles(confidential=["y"]), 0, y.max() - y.mean()
    for key in range(4):
        release = protect(frame, roles, Rotate(), seed=Seed.for_tests(key))
        found += abs(release.frame["y"].max() - y.mean() - size) < 0.1 * size
        assert ("giants" in {each.rule for each in release.findings if each.level == "stop"}) is told
    assert found >= 3 or not told
    assert "giants" not in {each.rule for each in protect(frame, roles, Ipso(), seed=Seed.for_tests(1)).findings}


def two_kinds_of_zeros() -> pd.DataFrame:
    """Fourteen firms with research and no export: one has nearly all of their turnover, and little of the file's."""
    rng, n = np.random.default_rng(11), 500
    amounts = {"turnover": 5, "export": 3, "rd": 3}
    frame = pd.DataFrame({name: rng.lognormal(mean, 1, n) for name, mean in amounts.items()})
    frame.loc[250:, "export"] = 0.0
    frame.loc[[*range(25, 250), *range(264, n)], "rd"] = 0.0
    frame.loc[250:263, "turnover"] = [1500.0, *rng.uniform(1, 20, 13)]
    return frame.assign(region=np.arange(n) % 4)


@pytest.mark.parametrize("seen", [False, True])
def test_a_giant_among_those_with_the_same_zeros_does_not_show(seen: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Zeros that stay tell who they are, and their sums and squares stay with them."""
    if not seen:
        monkeypatch.setattr(dealing, "telling", lambda *_: False)
    roles = Roles(confidential=["turnover", "export", "rd"], bounds="observed-sign")
    release = protect(two_kinds_of_zeros(), roles, Rotate(), seed=Seed.for_tests(1))
    after = release.frame
    own = after["turnover"][(after["rd"] != 0) & (after["export"] == 0)]
    told = len(own) > 1 and abs(own.mean() + own.std(ddof=0) * np.sqrt(len(own) - 1) - 1500) < 15
    assert told is not seen
    assert {each.rule for each in release.findings if each.level == "stop"} == {"seed"}
    assert release.certificate.holds


@pytest.mark.parametrize("seen", [False, True])
def test_two_of_a_region_with_the_same_zeros_stay_apart(seen: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each would subtract itself from what is kept of the region among those with these zeros."""
    if not seen:
        monkeypatch.setattr(dealing, "telling", lambda *_: False)
    frame = two_kinds_of_zeros()
    frame.loc[:249, "region"] = [3, 3, *[0, 1, 2] * 8, *[3] * 224]
    roles = Roles(confidential=["turnover", "export", "rd"], given="C(region)", bounds="observed-sign")
    after = protect(frame, roles, Rotate(sweeps=5), seed=Seed.for_tests(1)).aligned()
    pair = (frame["region"] == 3) & (frame["rd"] != 0) & (frame["export"] != 0)
    assert pair.sum() == 2
    assert (abs(after["turnover"][pair].sum() / frame["turnover"][pair].sum() - 1) < 1e-9) is not seen
