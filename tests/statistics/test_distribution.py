"""Distributions value by value: a method that swaps the values of each column keeps them, and nothing less does."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from suffice import Roles, Seed, protect
from suffice.errors import NotPreservedError
from suffice.method.masked import Masked
from suffice.method.parameter import Number, parameter
from suffice.method.records import Records
from suffice.method.recordwise import Recordwise
from suffice.seed import Stream
from suffice.statistics.domain import WHOLE
from tests.statistics.test_domain import at, frame

ROLES = Roles(confidential=["y", "z"], given="x")
GUARDS = {"seed": "a test", "giants": "a test"}


@dataclass(frozen=True)
class Swap(Recordwise):
    """Every column in an order of its own.

    **Promises** the distribution of every column.
    """

    keeps: ClassVar = ("distribution",)

    off: float = parameter(Number(0, 1), "what one value is changed by", 0.0)

    def mask(self, records: Records, stream: Stream, progress: Any = None) -> Masked:
        draws = stream.generator("orders")
        Ystar = np.column_stack([y[draws.permutation(records.n)] for y in records.Y.T])
        Ystar[7, 1] += self.off
        return Masked(Ystar)

    @classmethod
    def examples(cls) -> tuple[Swap, ...]:
        return (cls(),)


def swapped(method: Swap, data: Any, roles: Roles = ROLES) -> Any:
    return protect(data, roles, method, seed=Seed.for_tests(1), accept=GUARDS)


def test_swapped_columns_keep_their_distributions(tmp_path: Path) -> None:
    release = swapped(Swap(), frame((40, 20_000)))
    [claim, _] = release.certificate.claims
    assert claim.said == "distributions of the confidential columns, value by value"
    assert release.certificate.holds
    assert not any("shapes" in each for each in release.certificate.not_promised)
    assert "mean of the confidential columns" in release.certificate.not_promised
    assert release.write(tmp_path / "out.parquet").claims[0] == claim


@pytest.mark.parametrize("off", [1e-3, 1e-12])
def test_one_cell_that_is_another_is_seen(off: float, tmp_path: Path) -> None:
    release = swapped(Swap(off=off), frame())
    claim = release.certificate.claims[0]
    assert not claim.holds
    assert claim.where == "z"
    with pytest.raises(NotPreservedError, match="NOT KEPT at z"):
        release.write(tmp_path / "out.parquet")


def test_a_file_says_the_same(tmp_path: Path) -> None:
    frame((40, 20_000)).to_parquet(tmp_path / "data.parquet")
    assert swapped(Swap(), tmp_path / "data.parquet").write(tmp_path / "out.parquet").holds
    release = swapped(Swap(off=0.5), tmp_path / "data.parquet")
    assert not release.certificate.holds


def test_missing_cells_are_values_like_others() -> None:
    data = frame().assign(y=lambda d: d["y"].where(d["x"] < 1))
    release = swapped(Swap(), data, replace(ROLES, missing="patterns"))
    assert [claim.statistic for claim in release.certificate.claims if claim.promised][:1] == ["distribution"]
    assert release.certificate.holds


def test_in_groups_the_values_stay_in_their_group() -> None:
    data, kept = frame(), ("distribution",)
    within = data.assign(y=data.groupby("g")["y"].transform(lambda y: y.to_numpy()[::-1]))
    across = data.assign(y=data["y"].to_numpy()[::-1])
    assert at(data, within, kept=kept)["distribution"].holds
    assert at(data, within, kept=kept)["distribution"].level == "in each of 4 groups by g"
    assert not at(data, across, kept=kept)["distribution"].holds


def test_values_that_change_columns_or_come_twice_are_others() -> None:
    data = frame()
    turned = data.rename(columns={"y": "z", "z": "y"})
    twice = data.assign(y=[*data["y"][:1], *data["y"][:-1]])
    for other in (turned, twice):
        assert not at(data, other, WHOLE, kept=("distribution",))["distribution"].holds
