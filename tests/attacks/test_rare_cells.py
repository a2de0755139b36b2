"""A kept table tells the last column of whoever is alone with the others; uniques that come back are records."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from suffice import Margins, Roles, protect
from suffice.errors import GuardError
from suffice.risk.nested_tables import nested_tables

NAMES = ["job", "town", "illness"]


def people(n: int = 300) -> pd.DataFrame:
    """Three persons are alone with their job in their town."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({name: rng.choice(list("pqrs")[: 2 + k], n) for k, name in enumerate(NAMES)})
    rare = pd.DataFrame({"job": ["judge"] * 3, "town": ["p", "q", "r"], "illness": ["q", "s", "p"]})
    more = pd.DataFrame({"job": ["judge"] * 30, "town": ["s"] * 30, "illness": rng.choice(list("pqrs"), 30)})
    towns = pd.DataFrame({"job": ["p"] * 9, "town": ["s"] * 9, "illness": ["p", "q", "r"] * 3})
    return pd.concat([frame, rare, more, towns], ignore_index=True)


def read(release: pd.DataFrame, frame: pd.DataFrame) -> list[bool]:
    """The attacker knows job and town of the three, and takes the illness that the release has there."""
    found = []
    for who in range(300, 303):
        known = frame.loc[who]
        there = release[(release["job"] == known["job"]) & (release["town"] == known["town"])]
        found.append(len(there) == 1 and there["illness"].iloc[0] == known["illness"])
    return found


def test_whoever_is_alone_with_two_columns_is_told_the_third(tmp_path) -> None:
    frame, roles = people(), Roles(confidential=NAMES)
    release = protect(frame, roles, Margins(keep=[NAMES]))
    assert all(read(release.frame, frame))
    assert {finding.rule: finding.level for finding in release.findings}["rare-cells"] == "stop"
    with pytest.raises(GuardError, match="rare-cells"):
        release.write(tmp_path / "out.csv")


def test_tables_of_fewer_columns_heal(tmp_path) -> None:
    frame, roles = people(), Roles(confidential=NAMES)
    release = protect(frame, roles, Margins(keep=[["job", "illness"], ["town", "illness"]]))
    assert not all(read(release.frame, frame))
    assert "rare-cells" not in {finding.rule for finding in release.findings if finding.level == "stop"}
    release.write(tmp_path / "out.csv")


def test_the_remedy_is_taken_at_its_word() -> None:
    """The tables that the finding names are kept, and tell nobody."""
    frame, roles = people(), Roles(confidential=NAMES)
    tables = protect(frame, roles, Margins(keep=[NAMES])).assessment.rare.instead
    stop = next(f for f in protect(frame, roles, Margins(keep=[NAMES])).findings if f.rule == "rare-cells")
    words = stop.remedy.split("(keep=")[1].split(")")[0]
    assert words == " + ".join("*".join(table) for table in tables)
    healed = protect(frame, roles, f"margins:keep={words}")
    assert not all(read(healed.frame, frame))
    assert not any(finding.blocks for finding in healed.findings)


def test_a_whole_town_that_is_ill_is_told() -> None:
    """Nobody is rare, and who knows that a person lives there knows what he has; where one has not, nobody knows."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"town": rng.choice(list("pqr"), 300), "ill": rng.choice(["no", "yes"], 300)})
    for well, level in ((0, "note"), (6, None)):
        there = np.flatnonzero(frame.town == "q")
        frame.loc[there, "ill"] = ["no"] * well + ["yes"] * (len(there) - well)
        release = protect(frame, Roles(confidential=["town", "ill"]), Margins(keep=[["town", "ill"]]))
        certain = (release.frame.ill[release.frame.town == "q"] == "yes").all()
        assert certain == (level is not None)
        assert {f.rule: f.level for f in release.findings}.get("rare-cells") == level


def test_a_rare_cell_of_common_parts_is_a_warning() -> None:
    frame = pd.DataFrame({"a": ["p"] * 50 + ["q"] * 50, "b": ["r"] * 49 + ["s"] * 51})
    release = protect(frame, Roles(confidential=["a", "b"]), Margins(keep=[["a", "b"]]))
    assert {finding.rule: finding.level for finding in release.findings}["rare-cells"] == "warn"


@pytest.mark.parametrize(("keep", "level"), [("all", "stop"), ("some", "")])
def test_uniques_that_come_back(keep: str, level: str) -> None:
    """Alone with six columns: where all are kept together, the release is the file in another order."""
    rng, names = np.random.default_rng(3), list("abcdef")
    x = rng.integers(4, size=(300, 6))
    x[:, 1:] = np.where(rng.random((300, 5)) < 0.3, x[:, :5], x[:, 1:])
    frame = pd.DataFrame(x, columns=names).astype(str)
    tables = [names] if keep == "all" else [["a", "b"], ["b", "c"], ["c", "d"], ["d", "e"], ["e", "f"]]
    release = protect(frame, Roles(confidential=names), Margins(keep=tables))
    rare = release.assessment.rare
    assert rare.again == rare.released if keep == "all" else rare.again < rare.released / 4
    assert {f.rule: f.level for f in release.findings}.get("replicated-records", "") == level


def test_numbers_of_levels_have_no_giants() -> None:
    """A code of 99 for what is unknown is no firm."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.integers(1, 5, size=(300, 2)), columns=["roof", "walls"])
    frame.loc[:9, "roof"], frame.loc[5:14, "walls"] = 99, 98
    found = protect(frame, Roles(confidential=["roof", "walls"]), Margins(keep=[["roof", "walls"]])).findings
    assert "giants" not in {finding.rule for finding in found}
    assert "giants" in {f.rule for f in protect(frame, Roles(confidential=["roof", "walls"]), Margins()).findings}


def bands(between: int) -> pd.DataFrame:
    """Up to 29 years and up to 30, which differ by so many persons."""
    rng = np.random.default_rng(4)
    age = np.r_[np.full(between, 30), rng.integers(20, 29, 200), rng.integers(31, 60, 400)]
    frame = pd.DataFrame({"young": age < 30, "younger": age < 31, "illness": rng.choice(list("pqrs"), len(age))})
    return frame.replace({True: "yes", False: "no"})


@pytest.mark.parametrize(("between", "level"), [(1, "stop"), (2, "stop"), (3, None), (60, None)])
def test_two_tables_whose_classes_differ_by_one_person(between: int, level: str | None) -> None:
    """Subtracted, they say what the one between them has, though no cell of either is rare."""
    frame, roles = bands(between), Roles(confidential=["young", "younger", "illness"])
    release = protect(frame, roles, Margins(keep=[["young", "illness"], ["illness", "younger"]]))
    one, other = (pd.crosstab(release.frame[name], release.frame["illness"]).loc["yes"] for name in frame.columns[:2])
    assert (other - one).sum() == between
    assert (other - one)[frame["illness"][0]] >= 1
    assert {finding.rule: finding.level for finding in release.findings}.get("rare-cells") == level


def test_classes_that_have_nothing_to_do_with_each_other_are_not_nested() -> None:
    rng = np.random.default_rng(5)
    for n in (20, 50, 200):
        for levels in (2, 5, 10):
            codes = {name: np.unique(rng.integers(levels, size=n), return_inverse=True)[1] for name in "abcd"}
            assert not nested_tables([("a", "b"), ("b", "c"), ("a", "d")], "abcd", codes.__getitem__)
