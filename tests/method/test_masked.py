"""What a method of one's own gives that is no release: a sentence, whatever the shape, with groups and without."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from suffice import Ipso, Roles, protect
from suffice.algebra.array import Array
from suffice.demo import firms
from suffice.design.design import Design
from suffice.errors import UsageError
from suffice.method.isometric import Isometric
from suffice.method.masked import Masked, finite
from suffice.method.method import Method
from suffice.method.records import Records
from suffice.method.recordwise import Recordwise
from suffice.method.rowwise import Rowwise
from suffice.method.synthetic import Synthetic
from suffice.progress import Progress
from suffice.rows.derived import Computation
from suffice.rows.rows import Block, Rows
from suffice.seed import Stream

AMOUNTS = ("turnover", "wages")


def holed(Y: Array) -> Array:
    return np.where(np.arange(Y.size).reshape(Y.shape) == 1, np.nan, Y)


@dataclass(frozen=True)
class Formula(Isometric):
    """A formula that fails."""

    keeps: ClassVar = ("mean",)

    def draws(self, k: int) -> int:
        return 0

    def solve(self, X: Array, Y: Array, Z: Array, n: int | None = None) -> Array:
        return holed(Y)

    @classmethod
    def examples(cls) -> tuple[Formula, ...]:
        return (cls(),)


@dataclass(frozen=True)
class Stacked(Formula):
    """A formula that fails for many groups at once."""

    stacks: ClassVar = True


@dataclass(frozen=True)
class RowByRow(Rowwise):
    """Columns with a hole."""

    keeps: ClassVar = ("mean",)

    def columns(self, rows: Rows, design: Design, stream: Stream) -> Mapping[str, Any]:
        def of(block: Block) -> Array:
            return holed(np.column_stack([block.columns[name] for name in AMOUNTS]))

        return dict.fromkeys(AMOUNTS, Computation(AMOUNTS, of, AMOUNTS, stream))

    @classmethod
    def examples(cls) -> tuple[RowByRow, ...]:
        return (cls(),)


@dataclass(frozen=True)
class Anew(Synthetic):
    """New records with a hole."""

    keeps: ClassVar = ("mean",)

    @property
    def records(self) -> None:
        return None

    def draw(self, mean: Array, R: Array, model: Any, count: int, stream: Stream) -> Array:
        return holed(np.tile(mean, (count, 1)))

    @classmethod
    def examples(cls) -> tuple[Anew, ...]:
        return (cls(),)


def told(made: Any) -> Method:
    """A recordwise method that gives something of its records."""

    @dataclass(frozen=True)
    class Told(Recordwise):
        """Something."""

        keeps: ClassVar = ("mean",)

        def mask(self, records: Records, stream: Stream, progress: Progress | None = None) -> Masked:
            return made(records.Y)  # type: ignore[no-any-return]

        @classmethod
        def examples(cls) -> tuple[Told, ...]:
            return (cls(),)

    return Told()


CASES: dict[str, tuple[Method, str]] = {
    "formula": (Formula(), r"formula gave 1 values of [\d,]+ that are missing or infinite"),
    "stack": (Stacked(), "stacked gave 1 values"),
    "step": (Ipso().then(told(lambda Y: Masked(holed(Y)))), "told gave 1 values"),
    "records": (told(lambda Y: Masked(holed(Y))), "told gave 1 values"),
    "infinite": (told(lambda Y: Masked(Y + np.inf)), "told gave .* infinite"),
    "fewer rows": (told(lambda Y: Masked(Y[:-1])), r"told gave a table of \d+ x 2: it must give numbers, \d+ x 2"),
    "fewer columns": (told(lambda Y: Masked(Y[:, :1])), r"table of \d+ x 1"),
    "no Masked": (told(lambda Y: Y), r"told gave ndarray: its `mask` must give Masked\(Ystar\)"),
    "text": (told(lambda Y: Masked(Y.astype(str))), "must give numbers"),
    "rows": (RowByRow(), "The method gave 1 values"),
    "anew": (Anew(), "anew gave 1 values"),
}


@pytest.mark.parametrize("groups", [(), ("region",)])
@pytest.mark.parametrize("case", CASES)
def test_what_is_no_release_is_said(case: str, groups: tuple[str, ...]) -> None:
    method, says = CASES[case]
    with pytest.raises(UsageError, match=says):
        protect(firms(400), Roles(confidential=AMOUNTS, groups=groups), method)


def test_numbers_pass():
    assert finite(np.zeros((3, 2)), (3, 2), "mine").shape == (3, 2)
