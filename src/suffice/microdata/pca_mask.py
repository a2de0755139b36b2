"""PCA masking: principal components are swapped or replaced one by one, and the columns made of them again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np

from suffice.algebra.array import Array
from suffice.algebra.factor import RFactor
from suffice.algebra.moments import Spread
from suffice.algorithms.components import Components, Rotation, principal, standardising, unmixing, varimax
from suffice.design.design import Design
from suffice.design.roles import Roles
from suffice.errors import UsageError
from suffice.method.masked import MaskedColumns
from suffice.method.parameter import Choice, Number, parameter
from suffice.method.rowwise import Rowwise
from suffice.rows.arrow import as_float
from suffice.rows.derived import all_beside
from suffice.rows.rows import Block, Rows, Run
from suffice.rows.spool import stored
from suffice.seed import Stream

Alteration = Literal["swap", "smooth", "normal", "noise"]
SAMPLED = 2**16
"""Records from which independent components are learnt, at most."""
DONE = {"swap": "swapped", "noise": "given noise", "smooth": "drawn anew, smoothed", "normal": "drawn anew, normal"}


@dataclass(frozen=True)
class WhichComponents:
    """How many components, how much of the variance, or the column whose components they are."""

    allowed: str = "a number of components, a share of the variance below 1, a confidential column, or none (all)"

    def read(self, value: object) -> int | float | str | None:
        if value is None or (isinstance(value, str) and value):
            return value
        whole, number = isinstance(value, Integral), float(value) if isinstance(value, Real) else 0.0
        if isinstance(value, bool) or not number > 0 or (number >= 1 and not whole):
            raise ValueError
        return int(number) if whole else number

    def parse(self, text: str) -> int | float | str | None:
        text = text.strip()
        try:
            return self.read(int(text) if text.isdecimal() else float(text))
        except ValueError:
            if text.lstrip("+-").replace(".", "", 1).isdecimal():
                raise
            return None if text.lower() == "none" else self.read(text)


@dataclass(frozen=True)
class ColumnName:
    """A confidential column, or none."""

    allowed: str = "a confidential column, or none"

    def read(self, value: object) -> str | None:
        if value is None or (isinstance(value, str) and value):
            return value
        raise ValueError

    def parse(self, text: str) -> str | None:
        return self.read(None if text.strip().lower() == "none" else text.strip())


@dataclass(frozen=True)
class PcaMask(Rowwise):
    """Take principal components of the z-scores, change some or all of them one by one, and go back.

    X1 = (X - M) S,  X2 = X1 A                                       (5), (6)
    X3 = X2 B + eps,  B zero for the components that are altered     (7)
    X* = X3 A' S^-1 + M = X + (eps - X2 (I - B)) A' S^-1             (8), (9)

    **Promises** means where components are swapped, and nothing else exactly: covariances are right on average, and
    exact after `Restore`. The distribution of every component is kept by a swap. A component that is left as it is
    links every record for whoever learns the loadings: alter all of them unless there is a reason.

    components: the first so many, those with a share of the variance, or a column's: its components with the largest
        absolute loadings, until `share` of their sum is reached; none: all. Few components alter little.
    how: swap gives every record the component of another, in an order of each component's own; smooth draws from the
        smoothed distribution, x_i + h e with h = .9 min(sd, IQR/1.34) n^(-1/5); normal draws from a normal
        distribution; noise adds some and scales it back.
    share: of a column's absolute loadings, where `components` names it.
    delta: variance of the noise, in variances of the component.
    rotation: varimax turns the components so that each has few large loadings; ica makes them least normal.
    omit: which of the columns that depend on each other is left out and rebuilt from the others; none: the last.
        Records that lack one of these columns have nothing to leave out.

    Calvino (2017), (5)-(9); Fienberg (1994); Kaiser (1958); Hyvarinen (1999).

    >>> Y = np.array([[1.0, 2.0], [2.0, 3.0], [4.0, 1.0], [5.0, 6.0]])
    >>> Ystar = swapped(Y, {0: [1, 2, 3, 0], 1: [3, 2, 1, 0]})
    >>> np.allclose(Ystar.mean(axis=0), Y.mean(axis=0))
    True
    """

    keeps: ClassVar = ("mean",)
    references: ClassVar = ("Calvino (2017), equations (5)-(9)", "Fienberg (1994)")

    components: int | float | str | None = parameter(WhichComponents(), "the components that are altered", None)
    how: Alteration = parameter(Choice(("swap", "smooth", "normal", "noise")), "how a component is altered", "swap")
    share: float = parameter(Number(0, 1), "share of the column's absolute loadings, if components names one", 0.5)
    delta: float = parameter(Number(0, 1000, closed=False), "variance of the noise, in variances of the component", 2.0)
    rotation: Rotation = parameter(Choice(("none", "varimax", "ica")), "how the components are turned", "none")
    omit: str | None = parameter(ColumnName(), "the dependent column that is rebuilt from others", None)
    parts: bool = field(default=False, repr=False)
    """Whether the records lack some of the columns, so that `omit` may depend on none that are left."""

    @property
    def kept(self) -> tuple[str, ...]:
        return ("mean",) if self.how == "swap" else ()

    def for_columns(self, places: Sequence[int], k: int) -> PcaMask:
        return replace(self, parts=True)

    def given(self, roles: Roles) -> Roles:
        """The roles as they are, if they have the columns that are named."""
        for place, name in (("components", self.components), ("omit", self.omit)):
            if isinstance(name, str) and name not in roles.confidential:
                raise UsageError(f"{self.name}: {place} names {name!r}, which is not confidential.")
        return roles

    def columns(self, rows: Rows, design: Design, stream: Stream) -> MaskedColumns:
        names, weight = design.confidential, (design.roles.weight,) if design.roles.weight else ()
        found, rests = self._learnt(rows, design)
        which = self._which(found, names)
        labels = [f"component {j + 1}" for j in which]
        scores = stored(rows, rows.map(lambda run: _stacked(run, names, found, which), names, "learning"), labels)
        w = as_float(rows.gather(weight)[weight[0]]) if weight else None
        changes: dict[str, Any] = {}
        for j, label in zip(which, labels, strict=True):
            x = as_float(scores.gather([label])[label])
            draws = stream.generator(label)
            change = altered(x, self.how, draws, found.sd[j], self.delta)
            change -= x
            if self.how == "swap" and w is not None:  # weighted means stay as well
                change -= np.average(change, weights=w)
            changes |= all_beside(stored(rows, [change[:, None]], [label]), [label])
        moved = rows.with_columns(changes)
        made = moved.map(lambda run: _changed(run, names, labels, found, which), [*names, *labels], "masking")
        every = "synthetic" if len(which) == len(found.sd) else "hybrid"
        called = "masked" if self.how in ("swap", "noise") else every
        said = self._said(found, which, names, rests)
        return MaskedColumns(all_beside(stored(rows, made, names), names), said, called)

    def _learnt(self, rows: Rows, design: Design) -> tuple[Components, bool]:
        """The components of these rows, and whether their rotation came to rest."""
        names, weight = design.confidential, design.roles.weight
        needs = names if weight is None else (*names, weight)
        spread = rows.fold(lambda block: Spread.of(_values(block, names), design.weights(block)), needs, "learning")
        mean, scale = spread.mean, standardising(spread)

        def factor(block: Block) -> RFactor:
            Z, w = _values(block, names), design.weights(block)
            Z -= mean
            Z /= scale if w is None else scale / np.sqrt(w)[:, None]
            return RFactor.of(Z)

        R = rows.fold(factor, needs, "learning").R / np.sqrt(max(spread.weight, 1e-300))
        last = names.index(self.omit) if self.omit in names else None
        found = principal(spread, R, last)
        if last is not None and last not in found.left_out and not self.parts:
            raise UsageError(f"{self.name}: {self.omit!r} does not depend on the other columns and is not left out.")
        if self.rotation == "none" or not found.sd.size:
            return found, True
        if self.rotation == "varimax":
            return found.turned(varimax(found.L[found.used] * found.sd)), True
        step = -(-rows.n // SAMPLED)

        def some(run: Run) -> Array:
            return np.vstack([found.scores(_values(b, names)[-b.start % step :: step]) / found.sd for b in run])

        G, rests = unmixing(np.vstack(list(rows.map(some, names, "learning"))))
        return found.turned(G), rests

    def _which(self, found: Components, names: Sequence[str]) -> list[int]:
        """The components that are altered; where a column is named that these records have not, all."""
        asked, size = self.components, len(found.sd)
        if isinstance(asked, str) and asked in names:
            weights = found.weights(names.index(asked))
            order = np.argsort(-weights, kind="stable")
            return sorted(order[: _reached(weights[order], self.share)].tolist())
        if isinstance(asked, float):
            return list(range(_reached(found.shares, asked)))
        return list(range(min(asked, size) if isinstance(asked, int) else size))

    def _said(self, found: Components, which: list[int], names: Sequence[str], rests: bool) -> tuple[str, ...]:
        variance = f"{found.shares[which].sum():.2%} of the variance"
        told = f"{len(which)} of {len(found.sd)} components {DONE[self.how]}: {variance}"
        constant = np.isinf(found.scale)
        left = ", ".join(names[j] for j in found.left_out if not constant[j])
        return (
            told,
            *([f"rebuilt from the columns that they depend on: {left}"] if left else []),
            *([] if rests else ["independent components did not come to rest: the last ones found are used"]),
        )

    @classmethod
    def examples(cls) -> tuple[PcaMask, ...]:
        return (
            cls(),
            cls(components=0.6, how="smooth"),
            cls(how="normal", rotation="varimax"),
            cls(components=2, how="noise"),
        )


def swapped(Y: Array, orders: Mapping[int, Sequence[int]], rotation: Literal["none", "varimax"] = "none") -> Array:
    """Columns whose components were swapped by any permutations: record i gets the score of orders[j][i], from 0."""
    found, which = components_of(Y, rotation), list(orders)
    X2 = found.scores(Y, which)
    new = np.column_stack([x[list(order)] for x, order in zip(X2.T, orders.values(), strict=True)])
    return Y + found.change(new - X2, which)


def components_of(Y: Array, rotation: Literal["none", "varimax"] = "none") -> Components:
    """The components of an array; `weights(j)` of them, and their loadings L, are what a choice is made by."""
    spread = Spread.of(Y)
    R = RFactor.of((Y - spread.mean) / standardising(spread)).R / np.sqrt(len(Y))
    found = principal(spread, R)
    return found if rotation == "none" else found.turned(varimax(found.L[found.used] * found.sd))


def altered(x: Array, how: Alteration, draws: np.random.Generator, sd: float, delta: float) -> Array:
    """What takes the place of one component: a column of eps in (7)."""
    n = len(x)
    if how == "swap":
        return exchanged(x, draws)
    if how == "smooth":
        low, high = np.percentile(x, [25, 75])
        h = 0.9 * min(x.std(), (high - low) / 1.34) * n**-0.2  # Silverman
        return np.asarray(x[draws.integers(n, size=n)] + h * draws.standard_normal(n))
    z = sd * draws.standard_normal(n)
    return np.asarray(z if how == "normal" else (x + np.sqrt(delta) * z) / np.sqrt(1 + delta))


def exchanged(x: Array, draws: np.random.Generator) -> Array:
    """Values in random order, none in its own place; those that fell there change places along a random cycle.

    >>> moved = exchanged(np.arange(9.0), np.random.default_rng(1))
    >>> sorted(moved.tolist()) == list(range(9)), bool((moved == np.arange(9)).any())
    (True, False)
    """
    moved = x.copy()
    draws.shuffle(moved)  # the values, not their places: nothing is gathered or scattered
    own = np.flatnonzero(moved == x)  # about one, and those that got an equal value
    if len(own) == 1 < len(x):
        own = np.append(own, (own + draws.integers(1, len(x))) % len(x))
    order = draws.permutation(own)
    moved[np.roll(order, 1)] = moved[order]
    return moved


def _reached(shares: Array, wanted: float) -> int:
    """How many of them, in order, add up to what is wanted."""
    return min(int(np.searchsorted(np.cumsum(shares), wanted * (1 - 1e-12))) + 1, len(shares))


def _values(block: Block, names: Sequence[str]) -> Array:
    """A copy, column by column in memory."""
    return np.array([as_float(block.columns[name]) for name in names]).T


def _stacked(run: Run, names: Sequence[str], found: Components, which: list[int]) -> Array:
    return np.vstack([found.scores(_values(block, names), which) for block in run])


def _changed(run: Run, names: Sequence[str], labels: list[str], found: Components, which: list[int]) -> Array:
    """(9)"""
    made = [_values(block, names) for block in run]
    for Y, block in zip(made, run, strict=True):
        Y += found.change(_values(block, labels), which)
    return np.vstack(made)
