"""Which cells are asked for: columns or a formula, their hierarchies, and the axes that follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Flags
from suffice.design.formula import Terms, parse
from suffice.errors import InputError, UsageError
from suffice.tables.axis import Axis, Sum
from suffice.tables.grid import Grid
from suffice.tables.hierarchy import nested

Codes = NDArray[np.str_]
Total = str | Sequence[str] | Mapping[str, str | Sequence[str] | None]
"""Codes of totals, for all dimensions or by dimension; None: there is none."""


@dataclass(frozen=True)
class Dimensions:
    """Columns, the products of them that are asked for, and what is known of their hierarchies."""

    columns: tuple[str, ...]
    terms: tuple[tuple[str, ...], ...] | None
    hierarchies: Mapping[str, Axis]
    total: Total

    @classmethod
    def of(
        cls,
        dims: Sequence[str] | None,
        formula: str | None,
        hierarchies: Mapping[str, Axis | Sequence[Any]],
        total: Total,
    ) -> Dimensions:
        """From columns that are crossed, or from a formula."""
        if (dims is None) == (formula is None):
            raise UsageError("A table has either columns that are crossed, or a formula.\nGive `dims` or `formula`.")
        known = {name: each if isinstance(each, Axis) else nested(name, each) for name, each in hierarchies.items()}
        if formula is None:
            columns = tuple(dict.fromkeys(dims or ()))
            if not columns:
                raise UsageError("A table needs at least one dimension.\nName columns.")
            found = cls(columns, None, known, total)
        else:
            terms = parse(formula)
            found = cls(terms.columns, _plain(terms), known, total)
        for name in known:
            if name not in found.columns:
                raise UsageError(f"There is a hierarchy of {name!r}, which is no dimension of the table.")
        return found

    @staticmethod
    def axis_of_cells(
        name: str,
        codes: Codes,
        total: Total,
        given: Axis | Sequence[Any] | None,
    ) -> Axis:
        """The axis of a column of cells: its hierarchy, or one total of all other codes."""
        if given is not None:
            return given if isinstance(given, Axis) else nested(name, given)
        known, words = total_codes(total, name), list(dict.fromkeys(str(code) for code in codes))
        if not known:
            return Axis.of(name, [], words)
        tops = [code for code in known if code in words]
        if not tops:
            raise InputError(
                f"A total is missing: no cell of {name} has the code {' or '.join(map(repr, known))}.\n"
                "Name the code of its total, or give a hierarchy."
            )
        leaves = [code for code in words if code not in tops]
        return Axis.of(name, [(top, dict.fromkeys(leaves, 1)) for top in tops] if leaves else [], words)

    def grid(self, text: Mapping[str, Codes]) -> tuple[Grid, Flags, NDArray[np.int64]]:
        """The cells, which of them were asked for, and the leaves of every record."""
        codes = {name: _Column.of(text[name]) for name in self.columns}
        bases = self._bases(codes)
        axes = tuple(self._axis(base, members, codes) for base, members in bases.items())
        parts = self._parts(axes, bases, codes)
        asked = len(Grid.crossed(axes, parts).codes)
        grid = Grid.crossed(axes, [*parts, [axis.leaves for axis in axes]])
        leaves = np.column_stack([self._leaves(axis, codes[axis.name]) for axis in axes])
        return grid, np.arange(len(grid.codes)) < asked, leaves

    def _bases(self, codes: Mapping[str, _Column]) -> dict[str, list[str]]:
        """The finest columns in the order given, each with the columns that follow from it."""
        bases: dict[str, list[str]] = {}
        for name in sorted(self.columns, key=lambda name: -len(codes[name].words)):
            own = name in self.hierarchies or len(codes[name].words) == 1
            base = None if own else next((b for b in bases if codes[b].tells(codes[name])), None)
            if base is None or base in self.hierarchies:
                bases[name] = [name]
            else:
                bases[base].append(name)
        return dict(sorted(bases.items(), key=lambda item: min(self.columns.index(name) for name in item[1])))

    def _axis(self, base: str, members: Sequence[str], codes: Mapping[str, _Column]) -> Axis:
        if base in self.hierarchies:
            return self.hierarchies[base]
        held = {name: codes[base].levels(codes[name]) for name in members}
        everything = frozenset(codes[base].words)
        tops = total_codes(self.total, base)
        if not tops:
            raise UsageError(f"A table of records has totals: {base} needs a code for them.")
        total = tops[0]
        seen = {total: everything}
        for name, levels in held.items():
            for word, leaves in levels.items():
                if seen.setdefault(word, leaves) != leaves:
                    raise InputError(
                        f"{base} has the code {word!r} for two things (in {name} too, or as its total).\n"
                        "Rename one of them, or give the total another code."
                    )
        finer = {name: [o for o in members if o != name and codes[o].finer(codes[name])] for name in members}
        sums: list[Sum] = []
        below: Sequence[str]
        for level, below in ((None, members), *finer.items()):
            near = [one for one in below if not any(one in finer[other] for other in below)]
            for word, leaves in ({total: everything} if level is None else held[level]).items():
                for child in near:
                    sums.append((word, {w: 1 for w, some in held[child].items() if some <= leaves and w != word}))
        sums += [(other, {total: 1}) for other in tops[1:] if other not in seen]  # a second name of the total
        axis = Axis.of(base, [(word, parts) for word, parts in sums if parts], codes[base].words)
        return replace(axis, coarser=tuple(name for name in members if name != base))

    def _parts(
        self, axes: Sequence[Axis], bases: Mapping[str, Sequence[str]], codes: Mapping[str, _Column]
    ) -> list[list[Sequence[int]]]:
        """Products of codes, one for each term."""
        if self.terms is None:
            return [[range(len(axis.codes)) for axis in axes]]
        parts: list[list[Sequence[int]]] = []
        for term in self.terms:
            part: list[Sequence[int]] = []
            for axis in axes:
                named = [name for name in bases[axis.name] if name in term]
                finest = max(named, key=lambda name: len(codes[name].words), default=None)
                part.append(self._some(axis, finest, codes))
            parts.append(part)
        return parts

    def _some(self, axis: Axis, column: str | None, codes: Mapping[str, _Column]) -> list[int]:
        if column is None:
            if axis.total is None:
                raise InputError(f"The hierarchy of {axis.name} has no code that stands for all.\nAdd one at its top.")
            return [axis.place[axis.total]]
        if column in self.hierarchies:
            return [place for place, code in enumerate(axis.codes) if code != axis.total or len(axis.codes) == 1]
        return list(dict.fromkeys(axis.place[word] for word in codes[column].words))

    def _leaves(self, axis: Axis, column: _Column) -> NDArray[np.int64]:
        lost = [word for word in column.words if axis.place.get(word, -1) not in axis.leaves]
        if lost:
            raise InputError(
                f"{len(lost):,} codes of {axis.name} in the records are no lowest codes of its hierarchy, such as "
                f"{lost[0]!r}.\nAdd them to it, or correct the records."
            )
        return np.array([axis.place[word] for word in column.words], dtype=np.int64)[column.places]


@dataclass(frozen=True)
class _Column:
    """Codes of a column, and where each record has which."""

    words: tuple[str, ...]
    places: NDArray[np.int64]

    @classmethod
    def of(cls, text: Codes) -> _Column:
        words, places = np.unique(text, return_inverse=True)
        return cls(tuple(str(word) for word in words), np.asarray(places, dtype=np.int64))

    def tells(self, other: _Column) -> bool:
        """Whether the other column follows from this one."""
        pairs = np.unique(self.places * len(other.words) + other.places)
        return len(pairs) == len(self.words)

    def finer(self, other: _Column) -> bool:
        """Whether the other column is a coarser one; of two with the same levels, the first by name."""
        if not self.tells(other):
            return False
        return not other.tells(self) or self.words < other.words

    def levels(self, other: _Column) -> dict[str, frozenset[str]]:
        """The words of this column under every word of the other."""
        found: dict[str, set[str]] = {}
        for pair in np.unique(other.places * len(self.words) + self.places):
            found.setdefault(other.words[pair // len(self.words)], set()).add(self.words[pair % len(self.words)])
        return {word: frozenset(words) for word, words in found.items()}


def total_codes(total: Total, name: str) -> list[str]:
    """The codes of one dimension's totals."""
    own = total.get(name, "Total") if isinstance(total, Mapping) else total
    return [own] if isinstance(own, str) else list(own or ())


def _plain(terms: Terms) -> tuple[tuple[str, ...], ...]:
    """Terms as columns; the grand total first, unless it is taken away."""
    if any(factor.transform not in (None, "C") for term in terms.terms for factor in term):
        raise UsageError("The formula of a table crosses columns as they are, without log() and the like.")
    found = [tuple(factor.column for factor in term) for term in terms.terms]
    return tuple([(), *found] if terms.intercept else found)
