"""A method is a formula on matrices. Its name, its parameters and its promises are declared once, here."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import Field, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.decomposition import Array, gqr, split
from suffice.errors import InfeasibleError, UsageError
from suffice.parameter import Data, Rule

if TYPE_CHECKING:
    from suffice.design import Design
    from suffice.level import Level
    from suffice.residual_level import Residuals
    from suffice.roles import Roles
    from suffice.rows import Progress, Rows
    from suffice.seed import Stream
    from suffice.task import Task


@dataclass(frozen=True)
class Method(ABC):
    """A way to protect the confidential columns; its fields are its parameters, declared with `parameter`."""

    promises: ClassVar[tuple[str, ...]] = ()
    """Of "mean", "covariance" and "fit" (cross-products with the given columns, hence coefficients)."""
    independent: ClassVar[bool] = False
    """True where nothing of the original residuals is released but their covariance matrix."""
    shared: ClassVar[bool] = False
    """True where every released value is that of a group of records: these hide each other, and are judged as such."""
    references: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for declared in declared_parameters(type(self)):
            try:
                value = rule_of(declared).read(getattr(self, declared.name))
            except ValueError:
                raise refused(self.name, declared) from None
            object.__setattr__(self, declared.name, value)

    @property
    def name(self) -> str:
        """The class name in kebab case: residual-correlation."""
        return kebab(type(self))

    def parameters(self) -> dict[str, object]:
        """Parameter values by name; a data set is none of them (it is the `companion`)."""
        plain = (f.name for f in declared_parameters(type(self)) if not isinstance(rule_of(f), Data))
        return {name: getattr(self, name) for name in plain}

    @classmethod
    @abstractmethod
    def examples(cls) -> tuple[Self, ...]:
        """Representative instances, right for any number of columns: the laws are tried on these."""

    def then(self, *methods: Method) -> Method:
        """This method, and then others that start from its result."""
        return in_order((self, *methods))

    def asked(self) -> tuple[float | None, ...]:
        """The correlations with the original that the method was told to have, for all or each; None: not told."""
        return ()

    def levels(self, design: Design) -> tuple[Level, ...]:
        """Groups of the method's own in which statistics are kept."""
        return ()

    def residuals(self, design: Design) -> Residuals | None:
        """What is kept of residuals and slopes in these groups."""
        return None

    def given(self, roles: Roles) -> Roles:
        """The roles, with the columns that the method names: they count as given."""
        return roles

    @property
    def apart_of(self) -> tuple[Method, ...]:
        """The methods for parts of the records that `apart` tells; none: all records are protected alike."""
        return ()

    def apart(self, rows: Rows, design: Design, stream: Stream) -> NDArray[np.int64]:
        """For every record which of `apart_of` protects it."""
        return np.zeros(rows.n, dtype=np.int64)

    @property
    def companion(self) -> object | None:
        """The row-aligned data set that the user gave, or None."""
        place = _companion(type(self))
        return getattr(self, place) if place else None

    def each(self, parameter: str, count: int, of: str = "confidential columns") -> tuple[Any, ...]:
        """The parameter's value for each of `count` columns."""
        value = getattr(self, parameter)
        entries = value if isinstance(value, tuple) else (value,) * count
        if len(entries) != count:
            raise UsageError(
                f"{self.name}: {parameter} has {len(entries)} entries and there are {count} {of}. "
                f"Give one number for all, or {count}."
            )
        return entries


@dataclass(frozen=True)
class Isometric(Method):
    """A method that sees data through inner products: solve(QA, QB, QC) = Q solve(A, B, C) where Q'Q = I."""

    @abstractmethod
    def draws(self, k: int) -> int:
        """How many columns of Z `solve` uses at most for k confidential columns."""

    @abstractmethod
    def solve(self, X: Array, Y: Array, Z: Array, n: int | None = None) -> Array:
        """Y*, the released values of Y.

        X: given columns, with the intercept among them.
        Y: confidential columns.
        Z: standard normal numbers; the first columns are used.
        n: how many records there are, where the arrays are a small factor of more.
        """

    def remarks(self, X: Array, Y: Array, Z: Array, n: int | None = None) -> tuple[str, ...]:
        """What a reader of the certificate must know about this release."""
        return ()

    def with_companion(self, G: Array) -> Self:
        """The same method with its companion replaced by the array G."""
        place = _companion(type(self))
        if place is None:
            raise UsageError(f"{self.name} takes no data set, so it cannot follow another method.")
        return replace(self, **cast(dict[str, Any], {place: G}))

    def aligned(self, Y: Array) -> Array:
        """The companion as an array with the rows and columns of Y."""
        G, place = self.companion, _companion(type(self))
        if G is None:
            raise UsageError(f"{self.name} needs {place}, or a method before it.")
        if not isinstance(G, np.ndarray) or G.shape != Y.shape:
            raise UsageError(f"{self.name}: {place} must be {Data().allowed} ({Y.shape[1]} columns).")
        return G

    def new_scores(self, Z: Array, count: int, X: Array, *others: Array, n: int | None = None) -> Array:
        """T*: `count` scores from the first columns of Z, orthogonal to X and to the others (3), (27)."""
        if Z.shape[1] < count:
            raise UsageError(f"{self.name} needs {count} random columns and Z has {Z.shape[1]}.")
        _, Es = split(Z[:, :count], np.hstack([X, *others]))
        T = gqr(Es).Q
        if T.shape[1] < count:
            raise self._too_few(count, T.shape[1], X, others, len(X) if n is None else n)
        return T

    def _too_few(self, count: int, left: int, X: Array, others: tuple[Array, ...], n: int) -> InfeasibleError:
        rank, apart = gqr(X).rank, sum(gqr(other).rank for other in others)
        dropped = f" ({X.shape[1] - rank} dropped)" if rank < X.shape[1] else ""
        kept = f" . original scores kept apart {apart}" if others else ""
        return InfeasibleError(
            f"{type(self).__name__} needs {count} new residual directions and the data leave {left}.\n"
            f"  rows {n} . independent columns of X {rank}{dropped}{kept}\n"
            "Use fewer given terms, merge small groups, or mask fewer variables together."
        )


class Answer(Protocol):
    """What a method that needs all rows gives back."""

    @property
    def Ystar(self) -> Array: ...

    @property
    def unmoved(self) -> tuple[int, ...]:
        """Rows released where they were, all-zero ones aside."""
        ...

    def remarks(self) -> tuple[str, ...]:
        """What a reader of the certificate must know."""
        ...


@runtime_checkable
class Labelled(Protocol):
    """An answer with columns of its own."""

    @property
    def labels(self) -> Mapping[str, NDArray[np.int64]]:
        """Columns that the method made to tell groups, and that leave with the release."""
        ...


@dataclass(frozen=True)
class Whole(Method):
    """A method that needs all rows at once, or all rows of one super-block of a larger file."""

    by_parts: ClassVar[bool] = True
    """Whether what it promises of every super-block holds of the file."""
    rounds: ClassVar[int] = 2
    """How often the records of a large file are dealt into super-blocks."""

    def matrices(self, roles: Roles) -> Mapping[str, str]:
        """Formulas of the columns that the method wants as the file has them, by a name of its own."""
        return {}

    def groupings(self) -> Mapping[str, tuple[str, ...]]:
        """Columns that tell groups to the method, by a name of its own."""
        return {}

    @abstractmethod
    def answer(self, task: Task, stream: Stream, progress: Progress | None = None) -> Answer:
        """The released values, and what must be said about them."""

    def part(self, task: Task, stream: Stream) -> tuple[Answer, NDArray[np.int64]]:
        """The answer for one super-block, and the rows that wait for those of all super-blocks."""
        return self.answer(task, stream), np.empty(0, dtype=np.int64)

    def rest(self, task: Task, stream: Stream, n: int) -> Answer:
        """The answer for those that waited, out of a file of n records."""
        return self.answer(task, stream)

    def mask(self, task: Task, stream: Stream, progress: Progress | None = None) -> Array:
        """Y* alone."""
        return self.answer(task, stream, progress).Ystar


@dataclass(frozen=True)
class Redrawn(Method):
    """A method that draws records anew from the moments of each group: the release has a number of rows of its own."""

    @property
    @abstractmethod
    def records(self) -> int:
        """How many records the release has."""

    @abstractmethod
    def draw(self, mean: Array, R: Array, Z: Array) -> Array:
        """As many records as Z has rows.

        mean: of the columns
        R: their covariance matrix is R'R; fewer rows where columns are dependent
        Z: standard normal numbers; the first columns are used
        """


@dataclass(frozen=True)
class Several(Method):
    """Methods in order: the promises of the last, the independence of the first."""

    steps: tuple[Any, ...]

    @property
    def name(self) -> str:
        return " then ".join(step.name for step in self.steps)

    @property
    def promises(self) -> tuple[str, ...]:  # type: ignore[override]  # of the class elsewhere, of the steps here
        return tuple(self.steps[-1].promises)

    @property
    def independent(self) -> bool:  # type: ignore[override]
        return bool(self.steps[0].independent)

    @property
    def shared(self) -> bool:  # type: ignore[override]
        return bool(self.steps[-1].shared)

    @property
    def references(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(dict.fromkeys(reference for step in self.steps for reference in step.references))

    def parameters(self) -> dict[str, object]:
        return {"steps": [{"name": step.name, **step.parameters()} for step in self.steps]}

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        return ()

    def asked(self) -> tuple[float | None, ...]:
        return tuple(self.steps[0].asked())

    def given(self, roles: Roles) -> Roles:
        for step in self.steps:
            roles = step.given(roles)
        return roles

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
        *_, (step, own) = self._dealt(X, Y, Z, n)
        return step.solve(X, Y, own, n)

    def remarks(self, X: Array, Y: Array, Z: Array, n: int | None = None) -> tuple[str, ...]:
        return tuple(said for step, own in self._dealt(X, Y, Z, n) for said in step.remarks(X, Y, own, n))

    def _dealt(self, X: Array, Y: Array, Z: Array, n: int | None) -> Iterator[tuple[Isometric, Array]]:
        """Each step with its companion, and the columns of Z that are its own."""
        step, used = self.steps[0], 0
        for following in (*self.steps[1:], None):
            own = Z[:, used : used + step.draws(Y.shape[1])]
            yield step, own
            used += own.shape[1]
            if following is not None:
                step = following.with_companion(step.solve(X, Y, own, n))


@dataclass(frozen=True)
class Steps(Several):
    """Methods in order, some of which need all rows: each starts from the rows that the one before it made."""

    steps: tuple[Method, ...]


def in_order(methods: tuple[Method, ...]) -> Method:
    """Methods one after the other: neighbours that see inner products only are one formula."""
    flat = [step for method in methods for step in getattr(method, "steps", (method,))]
    for step in flat:
        if step.apart_of:
            raise UsageError(f"{step.name} protects parts of the records: let its parts be several steps instead.")
    parts: list[Method] = []
    for step in flat:
        if not isinstance(step, Isometric | Whole):
            raise UsageError(f"{step.name} cannot be one step of several.")
        last = parts[-1] if parts else None
        if isinstance(step, Isometric) and isinstance(last, Isometric):
            parts[-1] = Chain((*getattr(last, "steps", (last,)), step))
        else:
            if isinstance(step, Isometric) and parts:
                follow(step)
            parts.append(step)
    return parts[0] if len(parts) == 1 else Steps(tuple(parts))


def follow(step: Isometric) -> None:
    """Refuses a step that cannot start from another's result."""
    if _companion(type(step)) is None:
        raise UsageError(f"{step.name} takes no data set, so it cannot follow another method.")
    if step.companion is not None:
        raise UsageError(f"{step.name} has a data set already, so it cannot follow another method.")


def kebab(method: type[Method]) -> str:
    """ResidualCorrelation -> residual-correlation."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", method.__name__).lower()


def declared_parameters(method: type[Method]) -> list[Field[Any]]:
    """The fields that are parameters."""
    return [declared for declared in fields(method) if "rule" in declared.metadata]


def rule_of(declared: Field[Any]) -> Rule:
    """What a parameter may be."""
    return cast(Rule, declared.metadata["rule"])


def refused(name: str, declared: Field[Any]) -> UsageError:
    """The error for a value that a parameter cannot have."""
    return UsageError(f"{name}: {declared.name} must be {rule_of(declared).allowed}.")


def _companion(method: type[Method]) -> str | None:
    """The name of the parameter that is a data set, if there is one."""
    return next((each.name for each in declared_parameters(method) if isinstance(rule_of(each), Data)), None)
