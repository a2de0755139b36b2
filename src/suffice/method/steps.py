"""Methods in order: each starts from the result of the one before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from suffice.errors import UsageError

if TYPE_CHECKING:
    from suffice.design.design import Design
    from suffice.design.roles import Roles
    from suffice.rows.rows import Kind, Rows
    from suffice.statistics.statistic import Promise
from suffice.algebra.array import Array
from suffice.method.isometric import Isometric
from suffice.method.masked import Masked
from suffice.method.method import Method, companion_of
from suffice.method.recordwise import Recordwise
from suffice.method.rowwise import Rowwise
from suffice.method.synthetic import Synthetic
from suffice.statistics.table import counted


@dataclass(frozen=True)
class Several(Method):
    """Methods in order: the promises of the last, the independence of the first unless a later one mixes."""

    steps: tuple[Any, ...]

    @property
    def name(self) -> str:
        return " then ".join(step.name for step in self.steps)

    @property
    def kept(self) -> tuple[str, ...]:
        return tuple(self.steps[-1].kept)

    @property
    def independent(self) -> bool:  # type: ignore[override]
        return bool(self.steps[0].independent) and not self.mixes

    @property
    def mixes(self) -> bool:  # type: ignore[override]
        return any(step.mixes for step in self.steps)

    @property
    def sets(self) -> int:
        return int(max(step.sets for step in self.steps))

    @property
    def kinds(self) -> tuple[Kind, ...]:  # type: ignore[override]
        return tuple(kind for kind in self.steps[0].kinds if all(kind in step.kinds for step in self.steps))

    @property
    def holes(self) -> bool:  # type: ignore[override]
        return all(step.holes for step in self.steps)

    def replaced(self, rows: Rows, design: Design) -> NDArray[np.bool_] | None:
        if any(step.redraws or step.replaced(rows, design) is not None for step in self.steps):
            raise UsageError(
                f"{self.steps[0].name} of some records, or of a number of its own, takes no further step.\n"
                "Leave `where` and `records` out."
            )
        return None

    def about(self, design: Design) -> dict[str, Any]:
        told = self.steps[0].about(design)
        return {**told, "exact": [name for name in self.kept if name != "limits"]} if told else {}

    @property
    def shared(self) -> bool:  # type: ignore[override]
        return bool(self.steps[-1].shared)

    @property
    def ranks(self) -> bool:  # type: ignore[override]
        return any(step.ranks for step in self.steps)

    @property
    def references(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(dict.fromkeys(reference for step in self.steps for reference in step.references))

    def parameters(self) -> dict[str, object]:
        return {"steps": [{"name": step.name, **step.parameters()} for step in self.steps]}

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        return ()

    def asked(self) -> tuple[float | None, ...]:
        return () if self.mixes else tuple(self.steps[0].asked())

    def tables(self, design: Design) -> tuple[tuple[str, ...], ...]:
        return tuple(table for step in self.steps for table in step.tables(design))

    def given(self, roles: Roles) -> Roles:
        for step in self.steps:
            roles = step.given(roles)
        return roles

    def for_columns(self, places: Sequence[int], k: int) -> Method:
        return replace(self, steps=tuple(step.for_columns(places, k) for step in self.steps))

    @property
    def companion(self) -> object | None:
        return cast(Method, self.steps[0]).companion


@dataclass(frozen=True)
class Chain(Several, Isometric):
    """Formulas in order: each takes the result of the one before it as its companion.

    **Promises** what the last step promises: mask by any method, then `Restore`.
    """

    steps: tuple[Isometric, ...]

    def __post_init__(self) -> None:
        for step in self.steps:
            if not isinstance(step, Isometric) or isinstance(step, Chain):
                raise UsageError(f"{step.name} cannot be one step of several.")
        for step in self.steps[1:]:
            follow(step)

    def with_companion(self, G: Array) -> Self:
        return replace(self, steps=(self.steps[0].with_companion(G), *self.steps[1:]))

    def draws(self, k: int) -> int:
        return sum(step.draws(k) for step in self.steps)

    def solve(self, X: Array, Y: Array, Z: Array, n: int | None = None) -> Array:
        return self.mask(X, Y, Z, n).Ystar

    def mask(self, X: Array, Y: Array, Z: Array, n: int | None = None) -> Masked:
        made, used, said = None, 0, tuple[str, ...]()
        for step in self.steps:
            own = Z[:, used : used + step.draws(Y.shape[1])]  # the columns of Z that are its own
            made = (step if made is None else step.with_companion(made.Ystar)).mask(X, Y, own, n)
            used, said = used + own.shape[1], (*said, *made.remarks)
        assert made is not None
        return replace(made, remarks=said)


@dataclass(frozen=True)
class Steps(Several):
    """Methods in order, some of which need all rows: each starts from the rows that the one before it made."""

    steps: tuple[Method, ...]

    def given(self, roles: Roles) -> Roles:
        """Refuses a step that is to keep what its start has lost: only formulas look at the original again."""
        words = ("mean", "covariance", "fit") if roles.given else ("mean", "covariance")
        for before, step in pairwise(self.steps):
            lost = [word for word in words if word in step.kept and word not in before.kept]
            if lost and not isinstance(step, Isometric):
                raise UsageError(
                    f"{step.name} keeps the {' and '.join(lost)} of its start, and {before.name} does not keep that of "
                    f"the original.\nPut restore between them: {before.name} then restore then {step.name}."
                )
        return super().given(roles)


@dataclass(frozen=True)
class ByColumns(Several):
    """A method that draws columns of its own, and behind it one for all others: categories, then numbers.

    What both are given stays with its records, so that numbers are right in the levels of it; of what was drawn they
    know no more than the given columns carry over. Numbers may be given what was drawn, too, where a kept table has all
    of their given columns together: what was drawn is then, in these columns, the original in another order, P X, and
    Y0 = P Y has (P X)'Y0 = X'Y and Y's covariances. So numbers are made beside X as it stands, from Y as it stands, and
    the drawn records are dealt below X: the same file, in the order of the numbers.
    """

    steps: tuple[Method, Method]

    def __post_init__(self) -> None:
        first, rest = self.steps
        if self.sets > 1 or rest.redraws or rest.apart_of or rest.companion is not None:
            raise UsageError(f"{rest.name} draws records of its own, or has a data set: it cannot follow {first.name}.")

    def parameters(self) -> dict[str, object]:
        every = (step for each in self.steps for step in getattr(each, "steps", (each,)))
        return {"steps": [{"name": step.name, **step.parameters()} for step in every]}

    def given(self, roles: Roles) -> Roles:
        for step, own in self.requests(roles):
            step.given(own)
        return roles

    def requests(self, roles: Roles) -> tuple[tuple[Method, Roles], ...]:
        (first, rest), names = self.steps, tuple(roles.confidential)
        taken = {name for table in first.takes for name in table}
        drawn = tuple(name for name in names if name in taken)
        others = tuple(name for name in names if name not in drawn)
        if not drawn or not others:
            none = f"has all confidential columns in its tables, and leaves none for {rest.name}"
            none = none if drawn else "has none of the confidential columns in its tables"
            raise UsageError(f"{first.name} {none}.\nName in `confidential` what it draws, and numbers beside it.")
        if roles.missing == "patterns":
            raise UsageError(f"{self.name} draws all cells, so patterns of missing cells cannot stay. Use drop.")
        if roles.drawn:
            self._check_drawn(roles)
        return (first, roles.part(drawn)), (rest, roles.part(others))

    def _check_drawn(self, roles: Roles) -> None:
        """Refuses numbers given what was drawn, where no kept table makes them exact or other columns would tell it."""
        (first, rest), given = self.steps, roles.terms.columns
        if not any({*given} <= {*table} for table in first.takes):
            drawn, more = ", ".join(roles.drawn), ", ".join(given)
            raise UsageError(
                f"{rest.name} is given {more}, of which {first.name} draws {drawn}, and no kept table has "
                f"{'it' if len(given) == 1 else 'all of them'}: no numbers would have the regressions of the original."
                f"\nKeep [{more}] too, or leave what is not in one table with the others out of `given`."
            )
        if roles.keep:
            raise UsageError(
                f"{', '.join(roles.keep)} would stay with the records of numbers, and these with what was drawn "
                f"({', '.join(roles.drawn)}): what stays would tell it.\nLeave `keep` out, or draw these columns too."
            )

    def promises(self, design: Design) -> tuple[Promise, ...]:
        """Of a design of the other columns: what is promised of these, and the tables of those that were drawn."""
        first, rest = self.steps
        taken = tuple(dict.fromkeys(name for table in first.takes for name in table))
        tables = first.tables(replace(design, roles=replace(design.roles, confidential=taken)))
        return (*rest.promises(design), *counted(tables, design))


def in_order(methods: tuple[Method, ...]) -> Method:
    """Methods one after the other: neighbours that see inner products only are one formula."""
    flat = [step for method in methods for step in getattr(method, "steps", (method,))]
    first, second = flat[0], flat[1] if len(flat) > 1 else None
    could = type(first).takes is not Method.takes and not first.takes
    if could and isinstance(second, Isometric) and companion_of(type(second)) is None:
        raise UsageError(f"Name the tables of {first.name} (keep): other columns are then for {second.name}.")
    if second is not None and first.takes:
        rest = in_order(tuple(flat[1:]))
        dealt = isinstance(rest, Synthetic) and rest.records is None  # to the rows that there are
        return ByColumns((flat[0], Steps((rest,)) if dealt else rest))
    for step in flat:
        if step.apart_of:
            raise UsageError(f"{step.name} protects parts of the records: let its parts be several steps instead.")
    parts: list[Method] = []
    for step in flat:
        first = not parts and isinstance(step, Synthetic) and step.records is None  # dealt to the rows that there are
        if not (first or isinstance(step, Isometric | Recordwise | Rowwise)):
            raise UsageError(f"{step.name} cannot be one step of several.")
        last = parts[-1] if parts else None
        if isinstance(step, Isometric) and isinstance(last, Isometric):
            parts[-1] = Chain((*getattr(last, "steps", (last,)), step))
        else:
            if parts and (isinstance(step, Isometric) or step.companion is not None):
                follow(step)
            parts.append(step)
    return parts[0] if len(parts) == 1 else Steps(tuple(parts))


def follow(step: Method) -> None:
    """Refuses a step that cannot start from another's result."""
    if companion_of(type(step)) is None:
        raise UsageError(f"{step.name} takes no data set, so it cannot follow another method.")
    if step.companion is not None:
        raise UsageError(f"{step.name} has a data set already, so it cannot follow another method.")
