"""What the columns that leave unchanged tell of the confidential ones: how near a regression on them comes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.risk.leaving import LeavingSample
from suffice.risk.matches import CLOSE, SPREAD, near
from suffice.risk.products import NearestPair, log_size, saying_most
from suffice.risk.trimmed import trimmed_fit, usual

FEW = 20
"""Levels of a kept column, at most, that count as categories."""
SPAN = 1e-10
"""Smallest eigenvalue of what is no dependence, of columns of length one."""
GIVEN_AWAY, TELLING = (0.5, 0.99), (0.25, 0.95)
"""From these shares of what chance does not tell, or of the variance, on a column is given away, or nearly."""
FEWEST = 10
"""Records of a group, other than zero, that are judged by themselves."""
LEAST = 30
"""Records that a share is judged by, at least."""
MANY = 10
"""Records to each coefficient of a fit to half of them, at least."""
PRODUCTS = 12
"""Products and quotients that a fit takes in, at most; one for so many records as LEAST says."""


@dataclass(frozen=True)
class Told:
    """How near guesses come to the values of a column.

    r2: share of its variance that they explain
    near, chance: share of the values other than zero that a guess is within 5 % of; and that the guesses of other
        records, or one for all, are
    by: kept columns that tell it
    """

    column: str
    r2: float
    near: float
    chance: float
    by: tuple[str, ...] = ()

    @classmethod
    @np.errstate(over="ignore", invalid="ignore")  # guesses may be anywhere
    def of(cls, column: str, y: Array, guess: Array, dates: tuple[str, ...] = ()) -> Told | None:
        """None where nothing is told, or there are too few values to judge by."""
        y, guess = _where(np.isfinite(y) & np.isfinite(guess), y, guess)
        there = (y != 0) | (column in dates)
        if there.sum() < LEAST or y.min() == y.max():  # what a constant seems to spread is rounding
            return None
        apart, gap = y - y.mean(), np.abs(y - guess)
        spread = float(apart @ apart)
        r2 = max(0.0, 1 - float(gap @ gap) / spread) if spread else 0.0
        within, gap, y, guess = _where(there, near(y, column in dates), gap, y, guess)

        def share(gap: Array) -> float:
            return float(np.count_nonzero(gap <= within) / len(gap))

        found = cls(column, r2, share(gap), 0.0)
        if found.telling:  # even if nothing is near by chance, which takes as long as all guesses to say
            rng = np.random.default_rng(0)
            others = float(np.mean([share(np.abs(y - rng.permutation(guess))) for _ in range(4)]))
            found = replace(found, chance=max(others, share(np.abs(y - np.median(y)))))
        return found if found.telling else None

    @property
    def gain(self) -> float:
        """Of the values that are not near by chance, the share that are."""
        return (self.near - self.chance) / (1 - self.chance) if self.chance < 0.5 else 0.0

    @property
    def given_away(self) -> bool:
        return self.gain >= GIVEN_AWAY[0] or self.r2 >= GIVEN_AWAY[1]

    @property
    def telling(self) -> bool:
        return self.gain >= TELLING[0] or self.r2 >= TELLING[1]


def _where(there: Flags, *columns: Array) -> tuple[Array, ...]:
    """Some records of the columns; of all, without a copy."""
    return columns if there.all() else tuple(column[there] for column in columns)


def by_given(sample: LeavingSample) -> tuple[Told, ...]:
    """Columns that the given ones tell, by the fits that a release keeps."""
    if not len(sample) or (not sample.design.fixed and sample.strata is None):
        return ()  # the mean of the others is one guess for all
    columns = [(name, x) for name, x in _columns(sample) if name in sample.design.fixed]
    guesses = _in_logs(sample, columns), _by_products(sample, columns), _for_most(sample, columns)
    ratios = _in_proportion(sample, sample.design.fixed)
    alike = _of_like_records(sample, (x for name, x in sample.numbers.items() if name not in sample.kept))
    fits = _fits(sample, sample.X)
    found = _telling(sample, fits, *guesses, *ratios, *alike, *_of_neighbours(sample, sample.design.fixed))
    return _more(sample, found, _by_pairs(sample, sample.design.fixed))


def in_groups(sample: LeavingSample) -> dict[str, int]:
    """Columns that are nearly one value, or one function of what is given, in some groups: in how many.

    There the fits are within 5 % of half of the values that the file's others are not near: mean and variance say so.
    The chance of as many, by Chernoff's bound, is small even of all groups and columns.
    """
    design = sample.design
    if not len(sample) or design.absorbed or (strata := sample.strata) is None:
        return {}
    found, fits = {}, _fits(sample, sample.X)
    for name, y, guess in zip(design.confidential, sample.Y.T, fits.T, strict=True):
        there = np.flatnonzero(np.isfinite(y) & np.isfinite(guess) & (y != 0))
        if len(there) < LEAST or name in sample.traits:
            continue
        y, guess, place = y[there], guess[there], strata.place[there]
        own, values = near(y, name in sample.dates), np.sort(y)
        reach = own if name in sample.dates else np.minimum(CLOSE * np.abs(guess), SPREAD * y.std())
        around = np.searchsorted(values, guess + reach, "right") - np.searchsorted(values, guess - reach, "left")
        n = np.bincount(place, minlength=len(strata.labels)).astype(np.float64)
        hits, near_all = (np.bincount(place, a, minlength=len(n)) for a in (np.abs(y - guess) <= own, around))
        with np.errstate(divide="ignore", invalid="ignore"):
            share = hits / n
            chance = np.maximum(near_all / n - hits, 1.0) / np.maximum(len(y) - n, 1.0)
            apart = share * np.log(share / chance) + np.where(
                share < 1, (1 - share) * np.log((1 - share) / (1 - chance)), 0.0
            )
            rare = -n * apart < np.log(1e-3 / (fits.shape[1] * len(n)))
        told = (n >= FEWEST) & (chance < 0.5) & (share - chance >= GIVEN_AWAY[0] * (1 - chance)) & rare
        if told.any():
            found[name] = int(told.sum())
    return found


def by_kept(sample: LeavingSample) -> tuple[Told, ...]:
    """Columns that given and kept ones tell together, and which of these do."""
    if not sample.kept or not len(sample):
        return ()
    columns = list(_columns(sample))
    fits = _fits(sample, np.column_stack([sample.X, *(column for _, column in columns)]))
    guesses = _in_logs(sample, columns), _by_products(sample, columns), _for_most(sample, columns)
    ratios = _in_proportion(sample, sample.numbers)
    alike = _of_like_records(sample, sample.levels.values())
    found = _telling(sample, fits, *guesses, *ratios, *alike, *_of_neighbours(sample, sample.kept))
    names = sample.design.confidential
    by = (_matter(sample, columns, sample.Y[:, names.index(each.column)]) or sample.kept for each in found)
    found = tuple(replace(each, by=own) for each, own in zip(found, by, strict=True))
    return _more(sample, found, _by_pairs(sample, sample.numbers))


def _telling(sample: LeavingSample, *guesses: Array) -> tuple[Told, ...]:
    """By the guess that says most of each column."""
    found = []
    for name, y, *each in zip(sample.design.confidential, sample.Y.T, *(guess.T for guess in guesses), strict=True):
        told = [told for guess in each if (told := Told.of(name, y, guess, sample.dates)) is not None]
        found += [max(told, key=_says)] if told else []
    return tuple(found)


def _says(told: Told) -> tuple[bool, float, float]:
    return told.given_away, told.gain, told.r2


def _more(sample: LeavingSample, found: tuple[Told, ...], pairs: tuple[Told, ...]) -> tuple[Told, ...]:
    """What says most of each column; pairs, which name two columns, where they say as much."""
    best = {each.column: each for each in found}
    for each in pairs:
        known = best.get(each.column, each)
        as_much = each.near >= known.near and each.given_away >= known.given_away
        best[each.column] = each if as_much else max(known, each, key=_says)
    return tuple(best[name] for name in sample.design.confidential if name in best)


def _by_pairs(sample: LeavingSample, names: Iterable[str]) -> tuple[Told, ...]:
    """By products and quotients of two columns."""
    columns, found = [(name, sample.numbers[name]) for name in names if name in sample.numbers], []
    for name, y in zip(sample.design.confidential, sample.Y.T, strict=True):
        pair = NearestPair.of(y, columns, name in sample.dates)
        told = None if pair is None else Told.of(name, y, pair.guess, sample.dates)
        found += [] if pair is None or told is None else [replace(told, by=pair.names)]
    return tuple(found)


def _in_logs(sample: LeavingSample, columns: list[tuple[str, Array]]) -> Array:
    """Products and powers: logarithms of the values of one sign, fitted to the columns and to their sizes' logarithms.

    Zeros have none; columns with many are left out, so that half of the records have all others.
    """
    numbers = [sample.numbers[name] for name, _ in columns if name in sample.numbers]
    logs = [log_size(x) for x in numbers]
    plain = np.column_stack([sample.X, *(column for _, column in columns)])
    guess, there = np.full_like(sample.Y, np.nan), np.isfinite(plain).all(axis=1)
    for y, out in zip(sample.Y.T, guess.T, strict=True):
        side = 1 if 2 * (y > 0).sum() >= np.isfinite(y).sum() - (y == 0).sum() else -1
        rows = np.flatnonzero((np.nan_to_num(side * y) > 0) & there)
        used: list[Array] = []
        least = len(rows) / 2
        for x in sorted(logs, key=lambda x: -int(np.isfinite(x[rows]).sum())):
            if (left := rows[np.isfinite(x[rows])]).size >= least:
                rows, used = left, [*used, x]
        if len(rows) > 2 * (plain.shape[1] + len(used)) + LEAST:
            X = np.column_stack([plain[rows], *(x[rows] for x in used)])
            with np.errstate(over="ignore"):
                out[rows] = side * np.exp(_others(X, np.log(side * y[rows])[:, None])[:, 0])
    return guess


@np.errstate(over="ignore", invalid="ignore")
def _by_products(sample: LeavingSample, columns: list[tuple[str, Array]]) -> Array:
    """Sums of products and quotients: fits to the columns and to those of two that say most of what the columns leave.

    Chosen among many, they follow the giants, whose variance they explain: only fits near half of the values count.
    """
    numbers = [sample.numbers[name] for name, _ in columns if name in sample.numbers]
    plain = np.column_stack([sample.X, *(column for _, column in columns)])
    guess, there = np.full_like(sample.Y, np.nan), np.asarray(np.isfinite(plain).all(axis=1))
    whole = np.isfinite(sample.Y) & there[:, None]
    alike: dict[bytes, list[int]] = {}  # columns with the same holes together
    for j, holds in enumerate(whole.T):
        alike.setdefault(holds.tobytes(), []).append(j)
    for together in alike.values():
        rows = np.flatnonzero(whole[:, together[0]])
        most = min(PRODUCTS, len(rows) // LEAST - plain.shape[1] // 2)
        if len(numbers) < 2 or most < 1:
            continue
        known, Y = plain[rows], sample.Y[rows][:, together]
        for j, y, more in zip(together, Y.T, saying_most(known, [x[rows] for x in numbers], Y, most), strict=True):
            if more is not None:
                usable = np.isfinite(more).all(axis=1)
                fit = _others(np.hstack([known, more])[usable], y[usable, None])[:, 0]
                _taken(guess[:, j], rows[usable], fit, y[usable])
    return guess


@np.errstate(over="ignore", invalid="ignore")
def _for_most(sample: LeavingSample, columns: list[tuple[str, Array]]) -> Array:
    """Fits to the half of the records that they fit best: the others, and codes of missing cells, hide nothing."""
    plain = np.column_stack([sample.X, *(column for _, column in columns)])
    guess, there = np.full_like(sample.Y, np.nan), np.isfinite(plain).all(axis=1)
    numbers = [sample.numbers[name] for name, _ in columns if name in sample.numbers]
    alike: dict[bytes, list[int]] = {}  # columns with the same holes and zeros together
    for j, y in enumerate(sample.Y.T):
        alike.setdefault((there & np.isfinite(y) & (y != 0)).tobytes(), []).append(j)
    for flags, together in alike.items():
        rows = np.flatnonzero(np.frombuffer(flags, dtype=np.bool_))
        some = rows[np.all([usual(x[rows]) for x in numbers], axis=0)] if numbers else rows[:0]
        if len(some) > MANY * plain.shape[1] + LEAST:
            scale = np.linalg.norm(plain[some], axis=0)
            X = plain[some] / np.where(scale > 0, scale, np.inf)
            for j in together:
                y = sample.Y[some, j]
                _taken(guess[:, j], some, X @ trimmed_fit(X, y), y)
    return guess


def _taken(out: Array, rows: NDArray[np.intp], fit: Array, y: Array) -> None:
    """Only where half of the values are near."""
    if 2 * (np.abs(fit - y) <= near(y)).sum() >= len(rows):
        out[rows] = fit


def _in_proportion(sample: LeavingSample, names: Iterable[str]) -> Iterator[Array]:
    """A column times the middle ratio: near for most records, though others may be far from every line."""
    for x in (sample.numbers[name] for name in names if name in sample.numbers):
        there = np.flatnonzero(np.isfinite(x) & (x != 0))
        guess = np.full_like(sample.Y, np.nan)
        for y, out in zip(sample.Y.T, guess.T, strict=True):
            with np.errstate(over="ignore"):
                ratios = y[there] / x[there]
            ratios = ratios[np.isfinite(ratios) & (ratios != 0)]
            out[there] = x[there] * np.median(ratios) if len(ratios) else np.nan
        yield guess


def _of_like_records(sample: LeavingSample, columns: Iterable[NDArray[Any]]) -> Iterator[Array]:
    """Means of the other records with the same value of a column of many values."""
    there = np.isfinite(sample.Y)
    for words in columns:
        levels, place = np.unique(words, return_inverse=True)
        if len(levels) > FEW:
            totals, counts = (
                np.array([np.bincount(place, a) for a in A.T]).T[place] for A in (np.where(there, sample.Y, 0), there)
            )
            with np.errstate(divide="ignore", invalid="ignore"):
                yield np.where(counts > 1, (totals - sample.Y) / (counts - 1), np.nan)


def _of_neighbours(sample: LeavingSample, names: Iterable[str]) -> Iterator[Array]:
    """Means of the records before and after in the order of a column: any smooth function of it tells so much."""
    for name in names:
        x = sample.numbers.get(name, np.empty(0))
        rows = np.flatnonzero(np.isfinite(x))
        if len(np.unique(x[rows])) > max(FEW, len(rows) / 2):
            rows, guess = rows[np.argsort(x[rows], kind="stable")], np.full_like(sample.Y, np.nan)
            for y, out in zip(sample.Y.T, guess.T, strict=True):
                order = rows[np.isfinite(y[rows])]
                out[order[1:-1]] = (y[order[:-2]] + y[order[2:]]) / 2
            yield guess


def _columns(sample: LeavingSample) -> Iterator[tuple[str, Array]]:
    """Numbers that leave, in units of their spread, and dummies of kept columns with few levels.

    Columns with holes, the fewest first, as long as half of the records have all of them.
    """
    whole = np.ones(len(sample), dtype=np.bool_)
    for name, x in sorted(sample.numbers.items(), key=lambda pair: -int(np.isfinite(pair[1]).sum())):
        there = whole & np.isfinite(x)
        if 2 * there.sum() >= len(there) and (scale := x[there].std()) > 0:
            whole = there
            yield name, (x - x[there].mean()) / scale
    for name, words in sample.levels.items():
        levels = np.unique(words[: 50 * FEW])
        if len(levels) <= FEW:
            yield from ((name, (words == level).astype(np.float64)) for level in levels[1:])


def _matter(sample: LeavingSample, columns: list[tuple[str, Array]], y: Array) -> tuple[str, ...]:
    """Columns whose share in a regression is more than a hundredth of the column's spread, kept ones first."""
    Z = np.column_stack([*(column for _, column in columns), np.empty((len(y), 0))])
    there = np.isfinite(y) & np.isfinite(sample.X).all(axis=1) & np.isfinite(Z).all(axis=1)
    Z = Z[there]
    apart = y[there] - y[there].mean()
    slopes: Array = np.linalg.lstsq(Z - Z.mean(axis=0), apart)[0]
    parts: Flags = np.asarray(np.abs(slopes) > 0.01 * apart.std())
    names = dict.fromkeys(name for (name, _), part in zip(columns, parts, strict=True) if part)
    return tuple(sorted(names, key=lambda name: name not in sample.kept))


def _fits(sample: LeavingSample, X: Array) -> Array:
    """What regression on the other records says of each: y less e / (1 - h); not a number where it says nothing."""
    Y, strata, design = sample.Y, sample.strata, sample.design
    there: Flags = np.asarray(np.isfinite(X).all(axis=1) & np.isfinite(Y).any(axis=1))
    guess = np.full_like(Y, np.nan)
    if strata is None:
        groups = [np.flatnonzero(there)]
    else:
        split = (rows[there[rows]] for rows in np.split(strata.order, strata.starts[1:]))
        groups = [rows for rows in split if len(rows)]
    if design.absorbed:  # slopes are common to all levels, means are not
        rows = np.concatenate(groups)
        label = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
        own = np.bincount(label).astype(np.float64)
        means = [np.array([np.bincount(label, a) / own for a in A[rows].T]).T[label] for A in (X, Y)]
        apart = X[rows] - means[0]
        scale = apart.std(axis=0)
        guess[rows] = _others(apart / np.where(scale > 0, scale, 1.0), Y[rows] - means[1], 1 / own[label]) + means[1]
        return guess
    for rows in groups:
        holes = np.isnan(Y[rows]).all(axis=0)  # a pattern lacks the same cells in all its records
        guess[np.ix_(rows, ~holes)] = _others(X[rows], Y[np.ix_(rows, ~holes)])
    return guess


def _others(X: Array, Y: Array, own: Array | float = 0.0) -> Array:
    """Fits to each record from all others; `own`: leverage that X does not show."""
    size = np.linalg.norm(X, axis=0)
    A = X[:, size > 0] / size[size > 0]
    values, V = np.linalg.eigh(A.T @ A)  # half of the digits are enough here, and this is many times faster
    Q = A @ (V[:, values > SPAN] / np.sqrt(values[values > SPAN]))
    E = Y - Q @ (Q.T @ Y)
    left = 1 - (Q**2).sum(axis=1) - own
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(left[:, None] > 1e-6, Y - E / left[:, None], np.nan)
