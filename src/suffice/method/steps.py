"""Methods in order: each starts from the result of the one before it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self, cast

from suffice.errors import UsageError

if TYPE_CHECKING:
    from suffice.design.roles import Roles
from suffice.algebra.array import Array
from suffice.method.isometric import Isometric
from suffice.method.method import Method, _companion
from suffice.method.recordwise import Recordwise


@dataclass(frozen=True)
class Several(Method):
    """Methods in order: the promises of the last, the independence of the first."""

    steps: tuple[Any, ...]

    @property
    def name(self) -> str:
        return " then ".join(step.name for step in self.steps)

    @property
    def kept(self) -> tuple[str, ...]:
        return tuple(self.steps[-1].kept)

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
        if not isinstance(step, Isometric | Recordwise):
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
