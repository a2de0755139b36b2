"""What the guards are given: results of measures, plain and without values, in few passes."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from suffice import Householder, Ipso, Microaggregate, MicroHybrid, ResidualCorrelation, Roles, Seed, protect
from suffice.method.method import Method
from suffice.protection.aligned import AlignedBlock
from suffice.release.release import Release
from suffice.risk.assessment import Assessment
from suffice.risk.explained_columns import ExplainedColumns
from suffice.risk.reflection import one_direction, reflected
from suffice.risk.row_order import RowOrder
from suffice.risk.trials import TrialSight
from suffice.risk.whole_numbers import FractionMeasure
from suffice.rows.rows import Block

N = 400


def people() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.lognormal(3, 2, size=(N, 3)), columns=["y0", "y1", "y2"])
    return frame.assign(g=np.arange(N) % 8, h=np.arange(N) % 40, x=rng.normal(size=N))


def made(frame: pd.DataFrame, method: Method, **more: Any) -> tuple[Release, Counter[str]]:
    """A release of files in one block, where a pass speaks once, and how often each stage did."""
    stages: Counter[str] = Counter()
    roles = Roles(confidential=["y0", "y1", "y2"], **more)
    release = protect(frame, roles, method, Seed.for_tests(1), progress=lambda stage, *_: stages.update([stage]))
    return release, stages


def leaves(thing: Any) -> Iterator[Any]:
    if is_dataclass(thing):
        for each in fields(thing):
            yield from leaves(getattr(thing, each.name))
    elif isinstance(thing, Mapping):
        yield from (leaf for pair in thing.items() for part in pair for leaf in leaves(part))
    elif isinstance(thing, tuple | frozenset):
        yield from (leaf for part in thing for leaf in leaves(part))
    else:
        yield thing


@pytest.mark.parametrize(
    ("method", "more"),
    [
        (Ipso(), {"given": "x"}),
        (Ipso(), {"groups": ["g"]}),
        (ResidualCorrelation(d=0.95), {}),
        (Householder(change=0.6), {}),
        (Microaggregate(k=5), {"groups": ["g"]}),
        (MicroHybrid(clusters="h"), {}),
    ],
    ids=str,
)
def test_results_are_plain_numbers_and_names(method: Method, more: dict[str, Any]) -> None:
    """No array, hence no record, is in what the guards see; and what they see shows no value when it is printed."""
    frame = people()
    release, _ = made(frame, method, **more)
    assert {type(leaf) for leaf in leaves(release.assessment)} <= {int, float, str, bool, type(None)}
    figures = {leaf for leaf in leaves(release.assessment) if type(leaf) is float}
    values = np.concatenate([frame[name] for name in ("y0", "y1", "y2")])
    assert not figures & {*values.tolist()}
    assert not any(repr(value) in repr(release.assessment) for value in values.tolist())


def test_every_result_lives_with_its_measure() -> None:
    """One file a measure: a class in the module that its name is taken from, none in that of the assessment."""
    results = [each for each in vars(inspect.getmodule(Assessment)).values() if is_dataclass(each)]
    homes = [each.__module__ for each in results if each.__module__.startswith("suffice.risk.")]
    assert homes.count("suffice.risk.assessment") == 1
    assert len(homes) == len({*homes})
    assert len(homes) > 12


@pytest.mark.parametrize(
    ("method", "more", "passes"),
    [
        (Ipso(), {}, 0),
        (Ipso(), {"groups": ["g"]}, 1),
        (Microaggregate(k=5), {}, 1),  # the released values of all columns together
        (Microaggregate(k=5), {"groups": ["g"]}, 2),
        (MicroHybrid(clusters="h"), {}, 3),  # groups, their means, what is left about these
        (MicroHybrid(clusters="h", cluster_groups="g", groups_given="x"), {}, 3),
        (MicroHybrid(clusters="g", pieces="h"), {}, 3),
    ],
    ids=str,
)
def test_groups_of_all_levels_and_columns_are_seen_in_few_passes(
    method: Method, more: dict[str, Any], passes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TrialSight, "doubtful", lambda *_: False)  # a trial release would be looked at as well
    release, stages = made(people(), method, **more)
    assert stages["looking at groups"] == passes
    assert bool(release.assessment.groups) == (passes > 0)


def test_a_column_that_is_constant_or_explained_in_some_groups() -> None:
    frame = people()
    frame.loc[frame["g"] < 3, "y1"] = 7.0
    release, _ = made(frame, Ipso(), groups=["g"])
    assert release.assessment.explained == ExplainedColumns((), (), {"y1": 3})
    frame["y2"] = np.where(frame["g"] == 5, 2 * frame["x"] + 1, frame["y2"])
    release, _ = made(frame.assign(y1=7.0), Ipso(), groups=["g"], given="x")
    assert release.assessment.explained == ExplainedColumns(("y2",), ("y1",), {})


def test_whole_numbers_are_told_by_what_is_no_fraction_and_holes_are_none() -> None:
    Y = np.array([[1.0, 0.5, np.nan], [2.0, 3.0, 4.0], [-3.0, 1e-9, 1e300]])
    block = Block(0, {f"{mark}y{j}": y for mark in ("", "released\0") for j, y in enumerate(Y.T)})
    aligned = AlignedBlock.read(block, SimpleNamespace(confidential=("y0", "y1", "y2")))  # type: ignore[arg-type]
    assert FractionMeasure().of(aligned).tolist() == [0, 2, 0]


def test_one_group_that_is_reflected_among_many_is_found() -> None:
    rng = np.random.default_rng(2)
    E = rng.normal(size=(30, 6, 2))
    Estar = rng.normal(size=E.shape)
    strata = [SimpleNamespace(E=one, Estar=two) for one, two in zip(E, Estar, strict=True)]
    done: Any = SimpleNamespace(strata=strata)
    assert not reflected(done, Ipso())
    strata[17].Estar = E[17] - 0.3 * rng.normal(size=(6, 1)) * np.array([[1.0, 1e5]])
    assert one_direction(strata[17].E, strata[17].Estar)
    assert reflected(done, Ipso())
    strata[17:18] = [SimpleNamespace(E=E[17][:, :1], Estar=strata[17].Estar[:, :1])]  # one column: every change is
    assert not reflected(done, Ipso())


def test_places_are_compared() -> None:
    done: Any = SimpleNamespace(rows=SimpleNamespace(n=50))
    assert RowOrder.of(done, np.arange(50)) == RowOrder(pytest.approx(1.0), 50)
    assert RowOrder.of(done, np.arange(50)[::-1]).correlation == pytest.approx(-1.0)
    assert RowOrder.of(done, np.arange(2)) == RowOrder(0.0, 50)  # of two places nothing can be said


def test_the_ledger_tells_of_earlier_releases(tmp_path: Path) -> None:
    (tmp_path / "key").touch(0o600)
    (tmp_path / "key").write_text("8f3c01d97ae25b64c0187d3f92e6ab45")
    key, frame = Seed.from_file(tmp_path / "key"), people()
    roles = Roles(confidential=["y0", "y1"], given="x")
    first = protect(frame, roles, ResidualCorrelation(d=0.4), key)
    assert first.assessment.history.earlier == ()
    assert first.assessment.reach == pytest.approx(0.4)
    accept = dict.fromkeys((f.rule for f in first.findings if f.level == "stop"), "a test")
    protect(frame, roles, ResidualCorrelation(d=0.4), key, accept).write(tmp_path / "out.csv")
    second = protect(frame, Roles(confidential=["y0"], given="h"), Ipso(), key).assessment
    assert second.history.ledger
    assert second.history.earlier == (pytest.approx(0.4),)
    assert [scheme.parts for scheme in second.history.kept[0].schemes] == [(((), ("x",)),)]
    assert second.stacked.highest > second.leverage.highest
