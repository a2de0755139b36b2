"""What models that records are drawn from tell of the records that they were fitted to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.method.method import Method
from suffice.protection.protected import Protected
from suffice.rows.arrow import as_float
from suffice.rows.derived import RELEASED
from suffice.rows.memory import ArrayRows
from suffice.rows.rows import Rows
from suffice.seed import Seed

if TYPE_CHECKING:
    from suffice.synthesis.synthesis import Synthesis

FALSE = 0.01
HALF, RECORDS, SPLITS, FEWEST = 2000, 4000, 4, 40
"""Records that a trial is fitted to, at most; of all trials, about; trials, at most; records that it takes."""
FILES = 20
"""Files of a trial, at most: those that leave together are looked at together, and one of many records is many."""
SHOWN = 20
"""Levels of a category that a distance counts."""
FEW, LIKE_NAMES = 2, 0.2
"""A level of so many records is theirs; a category of which so many records have such levels is a name."""
LEVELS = 10
"""More of such levels than these are names, too, if they are most of all: the other records may have none."""


@dataclass(frozen=True)
class DrawnModels:
    """Counts, shares and names of columns; nothing where records were neither drawn from models nor by tables.

    leaf: different records of the smallest leaf of all trees
    handed: values of one record that models may hand on, or that methods which draw no others did, by column
    names: categories whose levels are mostly those of one or two records
    found: share of the records behind a trial release that are told by it where 1 % of others are
    sd: of that share, if nobody were told
    """

    leaf: int | None = None
    handed: Mapping[str, int] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    found: float = FALSE
    sd: float = 0.0

    @classmethod
    def of(cls, done: Protected, method: Method, first: bool) -> DrawnModels:
        """first: of several files, which are drawn from the same models: trials are made for one"""
        model: Any = getattr(method, "steps", (method,))[0]
        facts = done.strata[0].facts
        if not facts and not model.learns and not model.tables(done.design):
            return cls()
        if facts and not first:  # what is said of the first one is so of all
            return cls(facts["leaf"])
        handed: dict[str, int] = {}
        names: list[str] = []
        levels = done.rows.coding.levels
        for name in done.design.confidential:
            y = as_float(done.rows.gather([name])[name])
            values, counts = np.unique(y, return_counts=True)
            if name in levels:
                names += [name] if _like_names(counts[values > 0]) else []
            elif name in facts.get("rough", ()):  # what may be drawn counts, not what this key has drawn
                own = (counts == 1) & (values != done.rows.coding.holes.get(name))
                handed |= {name: int(own.sum())} if own.any() else {}
            elif not facts and model.learns:
                after = done.aligned.gather([RELEASED + name]) if done.drawn is None else done.drawn.columns
                released = as_float(after[name if done.drawn is not None else RELEASED + name])
                again = int(np.isin(values[counts == 1], released).sum())
                if again and np.isin(released, values).all():  # not met by chance
                    handed[name] = again
        if not facts:
            return cls(handed=handed, names=tuple(names))
        return cls(facts["leaf"], handed, tuple(names), *_trials(done, model))


def _like_names(counts: NDArray[np.int64]) -> bool:
    """Whether a fifth of the records that have a level, or most of many levels, are alone with theirs, or nearly."""
    rare = counts <= FEW
    return bool(counts[rare].sum() > LIKE_NAMES * counts.sum() or rare.sum() > max(LEVELS, 0.5 * len(counts)))


def _trials(done: Protected, model: Synthesis) -> tuple[float, float]:
    """Half of the records are fitted and drawn, the other half was never seen; the same whatever the key."""
    from suffice.risk.membership import membership  # SciPy's trees, where they are wanted

    n, design = done.rows.n, done.design
    half = min(n // 2, HALF)
    if n < FEWEST:
        return FALSE, 0.0
    stream = Seed.for_tests(0).derive("hold-out")
    splits, found = int(np.clip(RECORDS // (2 * half), 1, SPLITS)), []
    columns = {*design.roles.columns}
    needs = [name for name in done.rows.kinds if name in columns]
    for number in range(splits):
        chosen = stream.generator("hold-out", number).permutation(n)
        sides = [_some(done.rows, np.sort(places), needs) for places in (chosen[:half], chosen[half : 2 * half])]
        files = [stream.child(f"hold-out {number}:{file}") for file in range(_files(model, n))]
        trial = model.of_set(0, stream.child(f"hold-out {number}"))  # no numbers of the key
        released = np.vstack([y for file in files for y in trial.drawn(sides[0], design, file)])
        levels = [name in done.rows.coding.levels for name in design.confidential]
        own = [np.column_stack([as_float(y) for y in side.gather(design.confidential).values()]) for side in sides]
        found.append(membership(*(_apart(Y, released, levels) for Y in (*own, released))).found)
    return float(np.mean(found)), sqrt(2 * FALSE * (1 - FALSE) / (half * splits))


def _files(model: Synthesis, n: int) -> int:
    """As many as there are draws for each record."""
    share = 1.0 if model.records is None else model.records / n
    return int(np.clip(ceil(model.sets * share), 1, FILES))


def _some(rows: Rows, places: NDArray[np.int64], names: Sequence[str]) -> Rows:
    """Some of the records, with the columns that are asked for, in memory."""
    if not rows.held:
        kept = np.zeros(rows.n, dtype=bool)
        kept[places] = True
        rows, coding, places = rows.select(kept, names, {}), rows.coding, np.arange(len(places))
        rows.coding = coding
    some = ArrayRows({name: y.take(places) for name, y in rows.gather(names).items()}, rows.kinds)
    some.coding = rows.coding
    return some


def _apart(Y: Array, released: Array, levels: list[bool]) -> Array:
    """Numbers as they are, the most frequent levels of categories as columns of 0 and 1."""
    columns = []
    for j, category in enumerate(levels):
        if not category:
            columns.append(Y[:, j])
            continue
        values, counts = np.unique(released[:, j], return_counts=True)
        columns += [(Y[:, j] == each) * 1.0 for each in values[np.argsort(-counts, kind="stable")[:SHOWN]]]
    return np.column_stack(columns)
