"""The codes of one dimension of a table and which of them are sums of others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy import sparse

from suffice.errors import InputError

Sum = tuple[str, Mapping[str, int]]
"""A code, and the codes that it is the sum of, each with its sign."""


@dataclass(frozen=True)
class Axis:
    """One dimension: codes, sums among them, and second names of codes that are one cell.

    >>> axis = Axis.of("region", [("Total", {"north": 1, "south": 1}), ("south", {"a": 1})])
    >>> axis.codes, axis.same, axis.total
    (('Total', 'north', 'a'), {'south': 'a'}, 'Total')
    """

    name: str
    codes: tuple[str, ...]
    sums: tuple[tuple[int, tuple[tuple[int, int], ...]], ...]
    same: Mapping[str, str] = field(default_factory=dict)
    coarser: tuple[str, ...] = field(default=(), compare=False)
    """Columns of the records that were taken as levels of it."""

    @classmethod
    def of(cls, name: str, sums: Sequence[Sum], more: Iterable[str] = ()) -> Axis:
        """The axis of some sums and of codes in none of them; a code with one child is that child."""
        order = dict.fromkeys([code for parent, children in sums for code in (parent, *children)] + [*more])
        same = _one_child(name, sums)
        places = {code: place for place, code in enumerate(code for code in order if code not in same)}

        def at(code: str) -> int:
            return places[same.get(code, code)]

        lines: dict[tuple[int, tuple[tuple[int, int], ...]], None] = {}
        for parent, children in sums:
            if list(children.values()) != [1]:
                lines[at(parent), tuple(sorted((at(child), sign) for child, sign in children.items()))] = None
        axis = cls(name, tuple(places), tuple(lines), same)
        axis.member  # noqa: B018  # refuses what no table can have
        return axis

    @cached_property
    def place(self) -> dict[str, int]:
        """Where each code stands, by any of its names."""
        found = {code: place for place, code in enumerate(self.codes)}
        return found | {other: found[code] for other, code in self.same.items()}

    @cached_property
    def leaves(self) -> list[int]:
        """Codes that are no sum."""
        parents = {parent for parent, _ in self.sums}
        return [place for place in range(len(self.codes)) if place not in parents]

    @cached_property
    def member(self) -> sparse.csr_array:
        """Codes x leaves: 1 where the code holds the leaf."""
        rows: dict[int, dict[int, int]] = {leaf: {k: 1} for k, leaf in enumerate(self.leaves)}
        waiting = list(self.sums)
        while waiting:
            left = [line for line in reversed(waiting) if not self._put(rows, *line)]
            if len(left) == len(waiting):
                raise InputError(f"The hierarchy of {self.name} goes in a circle: {self._circle(left)}.\nCorrect it.")
            waiting = left[::-1]
        triples = [(place, leaf, sign) for place, row in rows.items() for leaf, sign in row.items()]
        where, leaf, sign = np.array(triples, dtype=np.int64).reshape(-1, 3).T
        return sparse.csr_array((sign, (where, leaf)), shape=(len(self.codes), len(self.leaves)))

    def _put(self, rows: dict[int, dict[int, int]], parent: int, children: Sequence[tuple[int, int]]) -> bool:
        """Whether the children are known, and so their sum."""
        if not all(child in rows for child, _ in children):
            return False
        held: Counter[int] = Counter()
        for child, sign in children:
            for leaf in rows[child]:
                held[leaf] += sign
        row = {leaf: times for leaf, times in held.items() if times}
        code = self.codes[parent]
        if set(row.values()) - {1}:
            raise InputError(
                f"In the hierarchy of {self.name} the code {code!r} counts another code twice, or takes away what it "
                "does not hold.\nCorrect its children."
            )
        if rows.setdefault(parent, row) != row:
            raise InputError(
                f"In the hierarchy of {self.name} the code {code!r} is two sums that do not hold the same codes.\n"
                "Correct its children."
            )
        return True

    def _circle(self, waiting: Sequence[tuple[int, tuple[tuple[int, int], ...]]]) -> str:
        below = {parent: [child for child, _ in children] for parent, children in waiting}
        seen = [next(iter(below))]
        while True:
            step = next(child for child in below[seen[-1]] if child in below)
            if step in seen:
                return " > ".join(self.codes[place] for place in [*seen[seen.index(step) :], step])
            seen.append(step)

    @property
    def total(self) -> str | None:
        """The code that holds every leaf."""
        full = np.flatnonzero(np.diff(self.member.indptr) == len(self.leaves))
        return self.codes[full[0]] if len(full) and len(self.codes) > 0 else None

    def names(self, place: int) -> list[str]:
        """All names of a code."""
        return [other for other, code in self.same.items() if code == self.codes[place]] + [self.codes[place]]

    def within(self, place: int) -> list[int]:
        """The codes that hold nothing beyond this one."""
        inside = self.member[[place]].toarray()[0]
        return [int(k) for k in np.flatnonzero((self.member @ (1 - inside)) == 0)]

    def joined(self, other: Axis) -> Axis:
        """One axis of the codes and sums of two."""
        sums = [*self._words(), *other._words()]
        return Axis.of(self.name, sums, [*self.codes, *other.codes])

    def _words(self) -> list[Sum]:
        given = [(self.codes[parent], {self.codes[child]: sign for child, sign in line}) for parent, line in self.sums]
        return [*given, *((name, {code: 1}) for name, code in self.same.items())]


def _one_child(name: str, sums: Sequence[Sum]) -> dict[str, str]:
    """Codes with one child, and the code at the end of such a chain."""
    below = {parent: next(iter(children)) for parent, children in sums if list(children.values()) == [1]}
    found = {}
    for code in below:
        end, steps = code, 0
        while end in below:
            end, steps = below[end], steps + 1
            if steps > len(below):
                raise InputError(f"The hierarchy of {name} goes in a circle: {code} > {below[code]}.\nCorrect it.")
        found[code] = end
    return found
