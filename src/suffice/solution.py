"""From rows to the small factor, from the method's answer back to the rows: fold, solve, map."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.absorption import Absorbed, Codes, LevelSums
from suffice.algebra.basis import EPS, Basis, Isometry, Sample
from suffice.algebra.decomposition import split
from suffice.algebra.factor import Factor
from suffice.algebra.moments import Spread
from suffice.design import Design
from suffice.digest import Digest
from suffice.errors import InfeasibleError, InputError
from suffice.method import Isometric
from suffice.parameter import Data, parameter
from suffice.rows import BLOCK, Block, Both, Rows
from suffice.seed import Stream
from suffice.statistic import Standing
from suffice.watch import Giants, Leverage, Peak, Watch, copies, negatives, outliers

Array = NDArray[np.float64]

SAMPLES = 8
"""Blocks from which the coordinates are chosen."""
LABELLED = 2**27
"""Records whose level of an absorbed factor is kept, at four bytes each; of more it is looked up in every pass."""
STEEP = 20.0
"""Coordinates whose condition is above this are made anew from all rows."""
COMPANION = "companion\0"
"""Marks the columns of a row-aligned data set that a method was given."""


@dataclass(frozen=True, repr=False)
class Survey:
    """The first pass: spread of every column, blocks to choose coordinates from, digests."""

    spread: Spread
    sample: Sample
    digest: Digest
    unweighted: int
    heaviness: float
    """Sum of squared weights; 0 without weights."""

    @property
    def effective(self) -> float | None:
        """Kish's effective number of records; None without weights."""
        return self.spread.weight**2 / self.heaviness if self.heaviness else None

    def __add__(self, other: Self) -> Survey:
        return Survey(
            self.spread + other.spread,
            self.sample + other.sample,
            self.digest + other.digest,
            self.unweighted + other.unweighted,
            self.heaviness + other.heaviness,
        )


@dataclass(frozen=True)
class Frame:
    """The numeric side of a block: W = [X Y G] and the weights, G being a companion's columns."""

    design: Design
    companion: bool

    @property
    def columns(self) -> tuple[str, ...]:
        names = self.design.confidential if self.companion else ()
        return (*self.design.columns, *(COMPANION + name for name in names))

    def matrix(self, block: Block, room: int = 0) -> Array:
        """W, and columns left free behind it."""
        if not self.companion:
            return self.design.matrix(block, room)
        k, first = self.design.k, self.design.m + self.design.k
        W = self.design.matrix(block, k + room)
        W[:, first : first + k] = companion_columns(block, self.design)
        return W

    def survey(self, rows: Rows) -> Survey:
        blocks = -(-rows.n // BLOCK)
        chosen = {int(i) * BLOCK for i in np.linspace(0, blocks - 1, min(SAMPLES, blocks)).round()}

        def of(block: Block) -> Survey:
            with np.errstate(all="ignore"):  # what is not finite is found below, with its place
                W, w = self.matrix(block), self.design.weights(block)
                spread = Spread.of(W, w)
                sane = bool(np.isfinite(spread.squares).all())
                sample = Sample.of(W, w) if block.start in chosen and sane else Sample()
                zero = 0 if w is None else int((w == 0).sum())
                heaviness = 0.0 if w is None else float(w @ w)
                return Survey(spread, sample, Digest.of(block, self.columns), zero, heaviness)

        with np.errstate(all="ignore"):
            found = rows.fold(of, self.columns, "reading")
        self._check(rows, found)
        return found

    def _check(self, rows: Rows, found: Survey) -> None:
        spread = found.spread
        names = (*self.design.names, *self.design.confidential)
        p = len(names)
        if not np.isfinite(spread.low + spread.high).all() or _beyond(rows, self.design, spread):
            self.design.complain(rows)
        if self.design.roles.weight is not None:
            usable = 0 < spread.weight < 1e150
            if not usable or _negative_weights(rows, self.design):
                self.design.complain(rows)
            if not usable:
                raise InputError("The weights add up to 0, or to more than can be squared.\nScale them to a sum of n.")
        if not np.isfinite(spread.squares[:p]).all() or (spread.size[:p] > 1e150).any():
            wide = [name for name, size in zip(names, spread.size, strict=False) if not size < 1e150]
            raise InputError(
                f"Values too large to be squared in {', '.join(wide)}.\nDivide the column by a power of ten."
            )
        tiny = np.flatnonzero((spread.high[:p] > spread.low[:p]) & (spread.high[:p] - spread.low[:p] < 1e-140))
        if len(tiny):
            small = ", ".join(names[j] for j in tiny)
            raise InputError(f"Values too small to be squared in {small}.\nMultiply the column by a power of ten.")
        coarse = [
            n
            for n, d in zip(names[-self.design.k :], precision(spread.columns(slice(self.design.m, p))), strict=True)
            if d > 1e-4
        ]
        if coarse:
            raise InputError(
                f"Too few digits are left to protect {', '.join(coarse)}: its values differ only in their last digits"
                ", or in records of weight zero alone.\nSubtract an offset, drop these records, or drop the column."
            )
        if not np.isfinite(spread.low + spread.high).all():
            raise InputError("The candidate has missing or infinite values in confidential columns.\nFill them first.")


def _beyond(rows: Rows, design: Design, spread: Spread) -> bool:
    return any(
        rows.kinds[name] == "integer" and size > 2.0**53
        for name, size in zip(design.confidential, spread.size[design.m :], strict=False)
    )


def _negative_weights(rows: Rows, design: Design) -> bool:
    def lowest(block: Block) -> Spread:
        w = design.weights(block)
        assert w is not None
        return Spread.of(w[:, None])

    assert design.roles.weight is not None
    found = rows.fold(lowest, (design.roles.weight,), "reading")
    return not found.low[0] >= 0


@dataclass(frozen=True)
class Supplied(Isometric):
    """Y* that another method has made: nothing is left to solve."""

    made: Any = parameter(Data(), "the released rows", None)

    def draws(self, k: int) -> int:
        return 0

    def solve(self, X: Array, Y: Array, Z: Array, n: int | None = None) -> Array:
        return self.aligned(Y)

    @classmethod
    def examples(cls) -> tuple[Supplied, ...]:
        return ()


@dataclass(frozen=True, repr=False)
class Solution:
    """The answer, ready to be mapped over rows; `small` keeps what was solved, for the guards."""

    frame: Frame
    survey: Survey
    isometry: Isometry
    original: Standing
    draws: Draws
    M: Array
    E: Array
    Estar: Array
    remarks: tuple[str, ...]
    shift: Array | None = None
    """The change of a whole level of the absorbed factor, by methods that do not keep its means."""
    supplied: bool = False
    """The rows have been made already: they are the companion, and leave as they are."""

    @classmethod
    def find(cls, rows: Rows, frame: Frame, survey: Survey, method: Isometric, draws: Draws) -> Solution:
        spread = survey.spread
        basis = coordinates(rows, frame, survey, draws)
        isometry, original = fold(rows, frame, basis, draws, spread)
        for _ in range(2):
            if isometry.condition > STEEP:
                isometry, _ = fold(rows, frame, isometry.refined(), draws, spread)
        small = Small.of(frame, isometry, spread, method, draws.columns)
        Ystar, remarks = small.solved(method, frame)
        E, Estar = split(small.Y, small.X)[1], split(Ystar, small.X)[1]
        explained = ~E.any(axis=0)
        change = np.where(explained, 0.0, Ystar - small.Y)  # what X explains, and constants, stay bit for bit
        first = len(small.above)
        M, shift = isometry.carry(change[first:]), small.shift(isometry, change[:first])
        known = frame, survey, isometry, original, draws
        return cls(*known, M, E[first:], Estar[first:], remarks, shift, isinstance(method, Supplied))

    @property
    def design(self) -> Design:
        return self.frame.design

    @property
    def confidential(self) -> slice:
        return slice(self.design.m, self.design.m + self.design.k)

    @property
    def rank(self) -> int:
        """Independent columns of X, those of the absorbed factor among them."""
        absorbed = self.isometry.basis.absorbed
        return sum(j < self.design.m for j in self.isometry.pivots) + (0 if absorbed is None else absorbed.rank)

    @property
    def nu(self) -> int:
        return self.survey.spread.rows - self.rank

    def mapped(self, block: Block) -> tuple[Array, Array, Array, Array]:
        """Y, the change, Y* and the coordinates A of a block: where nothing changes, the digits stay."""
        A = self.frame.matrix(block, self.draws.columns)
        p = A.shape[1] - self.draws.columns
        Y = A[:, self.confidential].copy(order="F")
        made = A[:, self.confidential.stop : p].copy(order="F") if self.supplied else None
        A[:, :p] -= self.isometry.basis.centre
        A[:, p:] = self.draws.take(block)
        labels = labels_of(self.design, self.isometry.basis, block)
        self.isometry.basis.divide(A, labels)
        change = A @ self.M if made is None else made - Y
        if self.shift is not None and made is None:
            change += self.shift[labels]
        return Y, change, Y + change if made is None else made, A

    def released(self, block: Block) -> Array:
        """Y* of a block."""
        return self.mapped(block)[2]

    def watching(self, sampled: NDArray[np.int64], independent: bool) -> Watching:
        """The map that is watched; `sampled` rows are kept whole. Where nothing is carried over, no giant can be."""
        return Watching(
            self,
            self.survey.spread.columns(self.confidential),
            np.sort(sampled),
            Hat.of(self.design, self.isometry, self.survey.spread),
            self.isometry.carry(np.hstack([self.E, self.Estar])),
            independent,
        )


@dataclass(frozen=True, repr=False)
class Small:
    """What a method is given in place of the rows.

    Where a factor is absorbed and the method does not keep the fits, the factor of P_D [W Z] stands above that of
    (I - P_D) [W Z], and X spans the former: the method then sees what it would see with the dummies.
    """

    X: Array
    Y: Array
    Z: Array
    G: Array
    n: int
    """Records, less the dimensions of the absorbed factor that are not among these rows."""
    above: Array
    """The rows that stand above, with the columns of [W Z]."""

    @classmethod
    def of(cls, frame: Frame, isometry: Isometry, spread: Spread, method: Isometric, q: int) -> Small:
        m, k, p = frame.design.m, frame.design.k, len(spread.mean)
        absorbed = isometry.basis.absorbed
        X, within = isometry.spanning(range(m)), isometry.columns(range(p + q))
        n = spread.rows - (0 if absorbed is None else absorbed.rank)
        above = np.zeros((0, p + q))
        if absorbed is not None and "fit" not in method.promises:
            above = absorbed.factor(spread.weight / spread.rows)
            X = np.block(
                [[np.eye(len(above)), np.zeros((len(above), X.shape[1]))], [np.zeros((len(X), len(above))), X]]
            )
        W = np.vstack([above, within])
        return cls(X, W[:, m : m + k], W[:, p:], W[:, m + k : p], n + len(above), above)

    def solved(self, method: Isometric, frame: Frame) -> tuple[Array, tuple[str, ...]]:
        """Y*, and what must be said about it."""
        small = method.with_companion(self.G) if frame.companion else method
        try:
            return small.solve(self.X, self.Y, self.Z, self.n), small.remarks(self.X, self.Y, self.Z, self.n)
        except InfeasibleError as problem:
            if frame.design.absorbed is None or hasattr(problem, "named"):
                raise
            term, levels = frame.design.terms[-1], frame.design.levels
            raise InfeasibleError(f"{problem}\n  (apart from the {levels:,} levels of {term})") from None

    def shift(self, isometry: Isometry, change: Array) -> Array | None:
        """The change of each level: P_D [W Z] M with R M = change."""
        absorbed = isometry.basis.absorbed
        if absorbed is None or not len(self.above):
            return None
        size = np.linalg.norm(self.above, axis=0)
        size[size == 0] = 1.0
        M = np.linalg.lstsq(self.above / size, change)[0]
        return np.asarray(absorbed.mean @ (M / size[:, None]))


@dataclass(frozen=True, repr=False)
class Hat:
    """Leverages of the rows of sqrt(w) X, with what an absorbed factor adds."""

    design: Design
    given: list[int] | slice
    leverage: Leverage
    mean_weight: float
    basis: Basis

    @classmethod
    def of(cls, design: Design, isometry: Isometry, spread: Spread) -> Hat:
        first = 0 if isometry.basis.absorbed is None else 1  # the ones lie in the span of the levels
        given = [j for j in isometry.pivots if first <= j < design.m]
        last = first + len(given)
        leading = given == list(range(first, last))  # a slice is not copied
        leverage = Leverage.of(isometry.R[first:last, given])
        mean_weight = spread.weight / spread.rows
        return cls(design, slice(first, last) if leading else given, leverage, mean_weight, isometry.basis)

    def __call__(self, A: Array, block: Block) -> tuple[NDArray[np.int64], Peak]:
        """Counts and the highest of a block, from its coordinates."""
        w, labels = self.design.weights(block), labels_of(self.design, self.basis, block)
        own = None if labels is None or self.basis.absorbed is None else self.basis.absorbed.leverage(labels, w)
        return self.leverage(A[:, self.given], None if w is None else w / self.mean_weight, block.start, own)


@dataclass(frozen=True, repr=False)
class Watching:
    """Maps a block and watches it at the same time."""

    solution: Solution
    spread: Spread
    sampled: NDArray[np.int64]
    leverage: Hat
    ME: Array
    independent: bool

    def __call__(self, block: Block) -> tuple[Array, Watch]:
        solution, k = self.solution, self.solution.design.k
        Y, change, Ystar, A = solution.mapped(block)
        first, last = np.searchsorted(self.sampled, [block.start, block.start + len(block)])
        rows, w = self.sampled[first:last] - block.start, self.weights(block)
        residuals = A[rows] @ self.ME
        if w is not None:
            residuals *= np.sqrt(w[rows])[:, None]
        explained = np.asarray(~solution.E.any(axis=0))
        watch = Watch(
            *self.leverage(A, block),
            copies(self.spread, explained, Y, change, block.start),
            *outliers(self.spread, explained, Y, change),
            negatives(self.spread, explained, Ystar),
            ((residuals[:, :k], residuals[:, k:]),),
            self.giants(explained, Y, Ystar),
        )
        return Ystar, watch

    def giants(self, constant: NDArray[np.bool_], Y: Array, Ystar: Array) -> tuple[Giants, Giants]:
        if self.independent:
            return Giants(Y[:0]), Giants(Y[:0])
        return Giants.of(self.spread, constant, Y), Giants.of(self.spread, constant, Ystar)

    def weights(self, block: Block) -> Array | None:
        w = self.solution.design.weights(block)
        return None if w is None else w * (self.spread.rows / self.spread.weight)


def centre_of(design: Design, spread: Spread) -> Array:
    """The means, where 1 lies in the span of X; the column of ones itself stays."""
    return (
        np.where(np.arange(len(spread.mean)) > 0, spread.mean, 0.0) if design.intercept else np.zeros(len(spread.mean))
    )


def coordinates(rows: Rows, frame: Frame, survey: Survey, draws: Draws) -> Basis:
    """The centre and coordinates that the survey suggests, and the means in the levels of an absorbed factor."""
    centre = centre_of(frame.design, survey.spread)
    if frame.design.absorbed is None:
        return Basis.choose(survey.sample, survey.spread, centre)
    return Basis.scaled(survey.spread, centre, absorbed(rows, frame, centre, draws))


def absorbed(rows: Rows, frame: Frame, centre: Array, draws: Draws) -> Absorbed:
    """Means of [W Z] in the levels of the absorbed factor, about a centre: an offset costs them no digits."""
    design, p = frame.design, len(centre)
    kept = np.empty(rows.n, dtype=np.int32) if rows.n <= LABELLED else None

    def of(block: Block) -> LevelSums:
        A, labels = frame.matrix(block, draws.columns), design.labels(block)
        assert labels is not None
        if kept is not None:
            kept[block.start : block.start + len(block)] = labels
        A[:, :p] -= centre
        A[:, p:] = draws.of(block)
        return LevelSums.of(A, design.weights(block), labels)

    runs = rows.map(lambda run: [of(block) for block in run], frame.columns, "absorbing")
    return Absorbed.learn(runs, design.levels, p + draws.columns, kept)


def labels_of(design: Design, basis: Basis, block: Block) -> Codes | None:
    """The level of every record of a block, as kept or looked up anew; None where no factor is absorbed."""
    if basis.absorbed is None or basis.absorbed.labels is None:
        return design.labels(block)
    return basis.absorbed.labels[block.start : block.start + len(block)]


def companion_columns(block: Block, design: Design) -> Array:
    """The confidential columns of the row-aligned data set beside a block."""
    return np.column_stack([block.columns[COMPANION + name] for name in design.confidential])


class Draws:
    """Z of every block: drawn anew in each pass, or kept from the first to the last where rows are in memory.

    The room that kept numbers take is given to Y* block by block, as the map has used them: memory that was
    touched before is several times faster than new memory.
    """

    def __init__(self, stream: Stream, columns: int, kept: int = 0) -> None:
        """kept: how many rows to keep numbers for."""
        self.stream, self.columns = stream, columns
        self.room = np.empty((kept, columns), order="F") if kept and columns else None
        self.filled: set[int] = set()

    def of(self, block: Block) -> Array:
        """For a fold: other passes follow."""
        number, rows = block.start // BLOCK, slice(block.start, block.start + len(block))
        if self.room is None:
            return self.stream.normals(number, len(block), self.columns)
        if number not in self.filled:
            self.room[rows] = self.stream.normals(number, len(block), self.columns)
            self.filled.add(number)
        return self.room[rows]

    def take(self, block: Block) -> Array:
        """For the map: the last pass that needs them."""
        number = block.start // BLOCK
        if self.room is not None and number in self.filled:
            self.filled.remove(number)
            return self.room[block.start : block.start + len(block)]
        return self.stream.normals(number, len(block), self.columns)

    def room_for(self, rows: int, columns: int) -> Array:
        """Room for Y*: where Z is until the map has used it, if that has the right size."""
        if self.room is not None and self.room.shape == (rows, columns):
            return self.room
        return np.empty((rows, columns), order="F")

    def forget(self) -> None:
        """Nothing is kept any longer."""
        self.room, self.filled = None, set()


def fold(rows: Rows, frame: Frame, basis: Basis, draws: Draws, spread: Spread) -> tuple[Isometry, Standing]:
    """The small factor of all rows in these coordinates, and what the certificate will compare with."""
    mean_weight, plain, p = spread.weight / spread.rows, frame.design.m + frame.design.k, len(basis.centre)

    def of(block: Block) -> Both:
        A, w = frame.matrix(block, draws.columns), frame.design.weights(block)
        A[:, :p] -= basis.centre
        original = Standing.of(block, frame.design, A[:, :plain])
        A[:, p:] = draws.of(block)
        basis.divide(A, labels_of(frame.design, basis, block))
        if w is not None:
            A *= np.sqrt(w / mean_weight)[:, None]
        return Both(Factor.of(A), original)

    both = rows.fold(of, frame.columns, "folding")
    return Isometry.of(basis, Factor(spread.rows, both.one.R)), both.two


class Joined(Rows):
    """Rows beside a row-aligned data set: the runs of both are cut at the same rows."""

    def __init__(self, rows: Rows, other: Rows, columns: Sequence[str]) -> None:
        check_aligned(rows, other, columns)
        self.rows, self.other = rows, other
        self.n, self.threads, self.progress = rows.n, rows.threads, rows.progress
        self.kinds = rows.kinds

    def runs(self, columns: Sequence[str]) -> Iterator[Sequence[Block]]:
        own = [name for name in columns if not name.startswith(COMPANION)]
        theirs = [name.removeprefix(COMPANION) for name in columns if name.startswith(COMPANION)]
        if not theirs:
            yield from self.rows.runs(own)
            return
        for mine, other in zip(self.rows.runs(own), self.other.runs(theirs), strict=True):
            yield [
                Block(a.start, {**a.columns, **{COMPANION + name: column for name, column in b.columns.items()}})
                for a, b in zip(mine, other, strict=True)
            ]


def check_aligned(rows: Rows, other: Rows, columns: Sequence[str]) -> None:
    """Refuses a data set that cannot stand beside the rows."""
    if rows.n != other.n:
        raise InputError(
            f"The candidate has {other.n} rows and the data {rows.n}.\nBoth must have the same rows in the same order."
        )
    missing = [name for name in columns if other.kinds.get(name) not in ("float", "integer")]
    if missing:
        raise InputError(f"The candidate lacks numeric columns {', '.join(map(repr, missing))}.")


def precision(spread: Spread) -> Array:
    """eps max|y| / sd: the share of a standard deviation that the last digit is worth."""
    constant = spread.low == spread.high
    with np.errstate(divide="ignore"):  # values that differ and have no spread left: nothing of them can be protected
        return np.where(constant, 0.0, EPS * spread.size / np.where(constant, 1.0, spread.sd))
