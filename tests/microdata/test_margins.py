"""Margins: kept tables to the last count, and all else drawn from what has these."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare, hypergeom

from suffice import Loglinear, Margins, Roles, Seed, protect, verify
from suffice.algorithms.margins import Branch, branches, cell_numbers, dealt_below, fitted_table, lacking
from suffice.errors import InfeasibleError, UsageError
from tests.places import SHARED, needs_shared

NAMES = ["a", "b", "c", "d"]
KEEP = [["a", "b"], ["b", "c"]]


def people(n: int = 300, seed: int = 1) -> pd.DataFrame:
    """Columns that hang together: text, whole numbers, a date."""
    rng = np.random.default_rng(seed)
    a, b, g = rng.integers(3, size=n), rng.integers(4, size=n), rng.integers(2, size=n)
    c, d = (b + rng.integers(2, size=n)) % 4, (a + b) % 2
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(c, "D")
    return pd.DataFrame({"a": np.array(["x", "y", "z"])[a], "b": b, "c": days, "d": np.array(["no", "yes"])[d], "g": g})


def counts(frame: Any, by: list[str]) -> dict[Any, int]:
    frame = frame if isinstance(frame, pd.DataFrame) else frame.to_pandas()
    return dict(frame[by].astype(str).groupby(by).size())


def same(one: Any, two: Any, by: list[str]) -> bool:
    return counts(one, by) == counts(two, by)


def test_kept_tables_are_kept_and_others_are_not() -> None:
    frame = people()
    release = protect(frame, Roles(confidential=NAMES), Margins(keep=KEEP))
    assert release.certificate.holds
    assert [claim.sentence for claim in release.certificate.claims if claim.statistic == "table"] == [
        "the table a x b, to the last count",
        "the table b x c, to the last count",
    ]
    assert all(same(frame, release.frame, table) for table in [*KEEP, ["d"]])
    assert not same(frame, release.frame, ["a", "d"])
    assert (release.frame.dtypes == frame[NAMES].dtypes).all()


def test_in_groups_with_given_columns_and_missing_cells() -> None:
    frame = people()
    frame.loc[::5, "d"] = None
    roles = Roles(confidential=["b", "c", "d"], given="C(a)", groups=["g"], missing="patterns")
    release = protect(frame, roles, Margins(keep=[["a", "b"], ["b", "c"], ["b", "d"]]))
    after = release.aligned()
    assert release.certificate.holds
    assert (after["a"] == frame["a"]).all()
    assert (after["d"].isna() == frame["d"].isna()).all()
    for table in (["a", "b"], ["b", "c"], ["b", "d"]):
        assert same(frame, after, [*table, "g"])
    assert (after["b"] != frame["b"]).mean() > 0.4
    levels = {claim.level for claim in release.certificate.claims if claim.statistic == "table"}
    assert len(levels) == 2


def test_files_and_their_certificates(tmp_path: Path) -> None:
    frame = people().drop(columns="g")
    frame.to_parquet(tmp_path / "in.parquet")
    method, roles = Margins(keep=KEEP), Roles(confidential=NAMES)
    one = protect(frame, roles, method, seed=Seed.for_tests(3))
    two = protect(str(tmp_path / "in.parquet"), roles, method, seed=Seed.for_tests(3))
    pd.testing.assert_frame_equal(one.frame.reset_index(drop=True), two.frame.to_pandas(), check_dtype=False)
    written = protect(frame, roles, method)
    certificate = written.write(tmp_path / "out.parquet")
    assert "a*b,b*c" in certificate.verify
    asked = ["distribution", "a*b", "b*c"]
    assert verify(frame, tmp_path / "out.parquet", roles, keeps=asked).holds
    assert not verify(frame, tmp_path / "out.parquet", roles, keeps=[*asked, "a*d"]).holds
    changed = pd.read_parquet(tmp_path / "out.parquet")
    first = changed.index[(changed["a"] != changed["a"][0]) & (changed["b"] != changed["b"][0])][0]
    changed.loc[[0, first], "a"] = changed.loc[[first, 0], "a"].to_numpy()  # its distribution stays
    assert not verify(frame, changed, roles, keeps=asked).holds
    with pytest.raises(UsageError, match="not in both files"):
        verify(frame, changed, roles, keeps=["a*nothing"])


def test_what_is_not_kept_has_its_conditional_distribution() -> None:
    """Given a x b and b x c, in each b the records of a = 1 and c = 1 are hypergeometric; and not if a step is left."""
    b = np.repeat([0, 1], [12, 9])
    a, c = (np.arange(21) % 2, np.arange(21) % 3 // 2)
    codes = {"a": a, "b": b, "c": c}
    draws = np.random.default_rng(5)

    def p(steps: list[Branch]) -> float:
        found = np.zeros((2, 13))
        for _ in range(1500):
            made = dealt_below(codes, steps, draws)
            for level in (0, 1):
                found[level, ((made["a"] == 1) & (made["c"] == 1) & (made["b"] == level)).sum()] += 1
        expected, seen = [], []
        for level in (0, 1):
            n, ones, others = (b == level).sum(), a[b == level].sum(), c[b == level].sum()
            pmf = hypergeom(n, ones, others).pmf(np.arange(13))
            keep = pmf > 0.005
            expected += [*1500 * pmf[keep], 1500 * pmf[~keep].sum() + 1e-9]
            seen += [*found[level, keep], found[level, ~keep].sum() + 1e-9]
        scale = sum(seen) / sum(expected)
        return float(chisquare(seen, np.array(expected) * scale, ddof=1).pvalue)

    steps = branches([("a", "b"), ("b", "c")])
    assert steps is not None
    assert p(steps) > 1e-4
    together = branches([("a", "b", "c")])  # the second step left out: a and c stay side by side
    assert together is not None
    assert p(together) < 1e-10


@pytest.mark.parametrize(
    ("tables", "missing"),
    [
        ([("a", "b"), ("b", "c"), ("c", "a")], [("a", "b", "c")]),
        ([("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")], 2),
        ([("a", "b"), ("c", "d")], []),
        ([("a", "b", "c"), ("c", "d"), ("b", "c", "e"), ("e", "f")], []),
    ],
)
def test_what_is_missing_makes_tables_decomposable(tables: list[tuple[str, ...]], missing: Any) -> None:
    assert (branches(tables) is None) == bool(missing)
    more = lacking(tables) if missing else []
    assert len(more) == missing if isinstance(missing, int) else more == missing
    both = [each for each in tables if not any({*each} < {*other} for other in more)]
    assert branches([*both, *more]) is not None


def test_bad_requests() -> None:
    frame, roles = people(), Roles(confidential=NAMES)
    with pytest.raises(InfeasibleError, match=r"Keep \[a, b, c\] too"):
        protect(frame, roles, Margins(keep=[["a", "b"], ["b", "c"], ["a", "c"]]))
    with pytest.raises(UsageError, match="'e' of keep is neither confidential nor given"):
        protect(frame, roles, Margins(keep=[["a", "e"]]))
    for wrong in ("a", [], [[]], [[1]], 3):
        with pytest.raises(UsageError, match="keep must be lists of columns"):
            Margins(keep=wrong)  # type: ignore[arg-type]
    assert Margins(keep=["a"]).keep == (("a",),)


def test_many_levels_have_numbers_of_their_own() -> None:
    columns = [np.arange(5) * (10**6) for _ in range(12)]
    assert len(np.unique(cell_numbers(columns, 5))) == 5


def test_a_ring_of_tables_is_drawn_from_its_model() -> None:
    frame = people(2000)
    method = Loglinear(keep=[["a", "b"], ["b", "d"], ["a", "d"]], m=2000)
    release = protect(frame, Roles(confidential=["a", "b", "d"]), method)
    for table in (["a", "b"], ["b", "d"], ["a", "d"]):
        one, two = (counts(each, table) for each in (frame, release.frame))
        assert sum(abs(one.get(cell, 0) - two.get(cell, 0)) for cell in {*one, *two}) < 400


def test_a_fitted_table_has_the_kept_margins() -> None:
    table = np.random.default_rng(1).integers(1, 9, size=(3, 2, 4)).astype(float)
    axes = [(0, 1), (1, 2), (0, 2)]
    fit = fitted_table(table, axes)
    for other in (2, 0, 1):
        assert np.allclose(fit.sum(axis=other), table.sum(axis=other), rtol=1e-6)
    assert not np.allclose(fit, table, atol=0.1)


@needs_shared
def test_persons() -> None:
    names = ["sex", "edu", "marital", "placesize", "region", "smoke"]
    frame = pd.read_csv(SHARED / "data" / "SD2011.csv")[names].dropna()
    keep = [["sex", "edu", "marital"], ["edu", "placesize"], ["placesize", "region"]]
    release = protect(frame, Roles(confidential=names), Margins(keep=keep))
    assert release.certificate.holds
    assert all(same(frame, release.frame, table) for table in keep)
    assert not same(frame, release.frame, ["sex", "region"])
