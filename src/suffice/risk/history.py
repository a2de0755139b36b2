"""Earlier releases of the same columns, by the ledger."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np

from suffice.algebra.array import Array
from suffice.design.formula import Factor, label, parse
from suffice.ledger import Entry, Scheme, Trace, fewest
from suffice.risk.account import READ, Account, columns_of
from suffice.risk.kinship import Alignment, Relation, alignments, combination, partition, relations
from suffice.risk.power_sums import singled_out
from suffice.risk.sketch import Places, levelled
from suffice.rows.multiset import Words

RAW = ("given", "groups", "labels", "weight", "keep")
"""Roles of columns that leave as they are."""
PROTECTED = ("confidential", "drawn")
"""Roles of columns that do not; what was drawn may have been given to numbers."""
POOL = 48
"""Columns of earlier releases of which sums are looked for together, about."""


@dataclass(frozen=True)
class KeptBefore:
    """What earlier releases have kept of confidential columns, beyond this one; `exact`: to the last digits."""

    columns: tuple[str, ...]
    schemes: frozenset[Scheme]
    exact: frozenset[Scheme]


@dataclass(frozen=True)
class History:
    """Whether there is a ledger, and what it tells of every earlier release of a confidential column of this one.

    beside: the largest residual correlation of each other data set of the same request
    """

    ledger: bool = False
    earlier: tuple[float, ...] = ()
    """The largest residual correlation of each."""
    beside: tuple[float, ...] = ()
    changed: int = 0
    """How many records are others than in an earlier release, at least: the fewest, if any are; 0 where none."""
    singled: int = 0
    """Totals that differ from those of up to four earlier releases by one record or two."""
    several: int = 0
    """Those that differ by three or four."""
    revealed: tuple[str, ...] = ()
    """Columns that leave as they are and were confidential, or tell one that was."""
    public: tuple[str, ...] = ()
    """Confidential columns that have left as they are."""
    kept: tuple[KeptBefore, ...] = field(default=(), repr=False)
    lost: tuple[int, ...] = ()
    """Equations of each earlier release that cannot be made again from the file."""
    entries: int = 0
    """Other releases in the ledger, of whatever columns."""

    @classmethod
    def of(cls, account: Account, beside: tuple[float, ...] = ()) -> Self:
        if account.ledger is None:
            return cls(beside=beside)
        others = account.ledger.others(account.entry.release)
        left = [trace for entry in others for trace in entry.traces if trace.role in RAW]
        fresh = [
            place
            for place, mine in enumerate(account.entry.traces)
            if mine.role in RAW and not any(mine.same(each) for each in left)
        ]
        earlier = [Earlier.of(account, entry, fresh) for entry in others]
        found = _Sum(account, *_former_roles(account, others))
        found.by_traces([each for each in earlier if each.pairs])
        for each in earlier:
            told = [found.add(relation, [(each, relation.former)]) for relation in each.kin]
            found.reach += [each.entry.reach] if each.pairs or any(told) else []
        telling = [account.names[trace.name] for trace in account.entry.confidential if trace.telling]
        singled = singled_out(account.totals(account.entry), map(account.totals, others), telling)
        found.pooled([each for each in earlier if each.aligned], fresh)
        return cls(
            True,
            tuple(found.reach),
            beside,
            min(found.changed, default=0),
            *singled,
            tuple(dict.fromkeys(found.revealed)),
            tuple(dict.fromkeys(found.public)),
            found.kept(),
            tuple(found.lost.values()),
            len(others),
        )


@dataclass(frozen=True, repr=False)
class Earlier:
    """An earlier release beside this one.

    pairs: places of the confidential columns that both have; kin: other columns of which one tells the other
    aligned: how records of both are known to be the same
    """

    account: Account
    entry: Entry
    pairs: tuple[tuple[int, int], ...]
    aligned: tuple[Alignment, ...]
    kin: frozenset[Relation]

    @classmethod
    def of(cls, account: Account, entry: Entry, fresh: Sequence[int]) -> Self:
        """fresh: columns that leave as they are and have not left before"""
        pairs, former = tuple(_shared(account.entry, entry)), account.opened(entry)
        if former is None or account.sketch is None:
            return cls(account, entry, pairs, (), frozenset())
        aligned = tuple(alignments(account.sketch, former, abs(account.rows.n - entry.records)))
        own = range(len(account.entry.confidential)), fresh
        theirs = range(len(entry.confidential)), [j for j, each in enumerate(entry.traces) if each.role in RAW]
        known = {i for i, _ in pairs}, {j for _, j in pairs}
        return cls(account, entry, pairs, aligned, frozenset(relations(aligned, own, theirs, known)))

    @cached_property
    def again(self) -> Scheme | int | None:
        """What it kept, as the columns of this file tell it; or how many records are others, at least; or neither.

        By the records that it remembers: groups by which of them fall together, whatever the groups are called.
        """
        beyond = abs(self.account.rows.n - self.entry.records)
        if not self.aligned or (beyond and not self.aligned[0].named):
            return beyond or None
        found, scheme = self.aligned[0], self.entry.scheme
        if beyond or found.gone:
            return max(beyond, self.changed(found.gone))
        moved = (found.own.places[found.mine] != found.former.places[found.theirs]).any()
        if scheme.holes or (scheme.made and (moved or not all(text for _, text in scheme.made))):
            return None
        names = {}
        for name in columns_of(scheme):
            now = self._now(name, found)
            if now is None or isinstance(now, int):
                return now
            names[name] = now
        if scheme.settled and (any(one != two for one, two in names.items()) or not self.account.has(scheme)):
            return None
        return _renamed(scheme, names)

    def changed(self, seen: int) -> int:
        """Of all records, at least, where so many of those that are remembered are others."""
        return max(seen, int(fewest(seen) * self.entry.records / len(self.aligned[0].former.places)))

    def _now(self, name: str, found: Alignment) -> str | int | None:
        """The column that is what another one was; or in how many records it is not."""
        account, keyed = self.account, self.account.keyed(name)
        j = next((place for place, trace in enumerate(self.entry.traces) if trace.name == keyed), None)
        if j is None:
            return None
        then, labels = found.former.words[found.theirs, j], name in _categories(self.entry.scheme)
        if name in account.rows.kinds:
            now = self._words([name], found)[name]
            if (now == then).all() or (labels and partition(now, then)):
                return name
            if 0 < (differ := int((now != then).sum())) <= len(then) / 2:
                return differ
        others = [each for each, kind in account.rows.kinds.items() if kind in READ and each != name]
        for each, now in self._words(others, found).items():
            if (now == then).all() or (labels and partition(now, then)):
                return each
        return None

    def column(self, j: int, rows: Places) -> Array:
        """Values of one of its columns in rows of the sketch of this file."""
        found = self.aligned[0]
        order = np.argsort(found.mine)
        return np.asarray(found.former.values[found.theirs[order[np.searchsorted(found.mine, rows, sorter=order)]], j])

    def _words(self, names: Sequence[str], found: Alignment) -> dict[str, Words]:
        """Of columns of this file; those without a role are read."""
        places = found.own.places[found.mine]
        order = np.argsort(places)
        known = {each: found.own.words[found.mine, place] for place, each in enumerate(self.account.columns)}
        unread = [each for each in names if each not in known]
        read = self.account.words_at(places[order], unread) if unread else {}
        return {each: known[each] if each in known else read[each][np.argsort(order)] for each in names}


Told = Sequence[tuple[Earlier, tuple[int, ...]]]
"""Columns of earlier releases, by their places."""


@dataclass(repr=False)
class _Sum:
    """What is found, one earlier release after the other."""

    account: Account
    revealed: list[str]
    public: list[str]
    changed: list[int] = field(default_factory=list)
    lost: dict[Scheme, int] = field(default_factory=dict)
    reach: list[float] = field(default_factory=list)
    stacks: dict[tuple[int, ...], dict[Scheme, bool]] = field(default_factory=dict)
    """By the confidential columns that are the same, or add up to it: what was kept, and whether to the last digits."""
    met: set[int] = field(default_factory=set)
    """Columns of this file that tell others, or are told."""

    def add(self, relation: Relation, told: Told) -> bool:
        """Whether these are confidential columns now and before."""
        own = relation.own
        self.met |= {*own}
        now = {self.account.entry.traces[i].role for i in own}
        before = {each.entry.traces[j].role for each, former in told for j in former}
        names = [self.account.columns[i] for i in own]
        if now != {"confidential"}:
            self.revealed += names
            return False
        if before != {"confidential"}:
            self.public += names
            return False
        if relation.broken:
            self.changed.append(max(each.changed(relation.broken) for each, _ in told))
        elif relation.linear:
            again, exact = _together([each.again for each, _ in told]), all(map(_exact, told))
            self._stand(own, again, told[0][0].entry, exact)
        return True

    def _stand(self, own: tuple[int, ...], again: Scheme | int | None, entry: Entry, exact: bool) -> None:
        if isinstance(again, Scheme):
            known = self.stacks.setdefault(own, {})
            known[again] = exact or known.get(again, False)
        elif again is None:
            self.lost[entry.scheme] = entry.rank
        else:
            self.changed.append(again)

    def by_traces(self, earlier: Sequence[Earlier]) -> None:
        """Of the columns that both have: how few records have changed, what can be stacked, and what cannot."""
        own, account = self.account.entry, self.account
        schemes = dict.fromkeys(each.entry.scheme for each in earlier if each.entry.ties)
        wanted = [scheme for scheme in schemes if account.has(scheme)]
        prints = account.fingerprints(wanted) if wanted else {}
        ties = {scheme: account.ties(prints, place) for place, scheme in enumerate(wanted)}
        for each in earlier:
            entry = each.entry
            mine = ties.get(entry.scheme)
            for i, j in each.pairs:
                exact = _exact((each, (j,))) if entry.traces else True
                if not entry.ties:
                    self._stand((i,), Scheme((((), entry.terms),)), entry, exact)
                    continue
                told = (own.confidential[i], entry.confidential[j]) if mine is None else (mine[i], entry.ties[j])
                same = told[0].total == told[1].total
                if not same and told[0].alike(told[1]):
                    self.changed.append(told[0].changed(told[1]))
                elif mine is not None and same and _again(entry.scheme, own, entry, (i, j)):
                    self._stand((i,), entry.scheme, entry, exact)
                else:
                    self._stand((i,), each.again, entry, exact)

    def pooled(self, earlier: Sequence[Earlier], fresh: Sequence[int]) -> None:
        """Columns that are sums of what several releases have protected, and of no single one."""
        known = self.met | {i for each in earlier for i, _ in each.pairs}
        wanted = [i for i in (*range(len(self.account.entry.confidential)), *fresh) if i not in known]
        if len(earlier) < 2 or not wanted:
            return
        columns: list[tuple[Earlier, int]] = []
        rows, seen = earlier[-1].aligned[0].mine, set[str]()
        for each in reversed(earlier):
            common = np.intersect1d(rows, each.aligned[0].mine)
            if len(common) > len(rows) / 2 and len(columns) < POOL:
                new = [(each, j) for j, trace in enumerate(each.entry.confidential) if trace.total not in seen]
                rows, columns = common, columns + new
                seen |= {trace.total for trace in each.entry.confidential}
        U = np.column_stack([each.column(j, rows) for each, j in columns])
        V = self.account.sketch.values[rows] if self.account.sketch is not None else U
        for i in wanted:
            found = combination(levelled(V[:, [i]])[:, 0], levelled(U))
            if found is not None:
                told = [(columns[place][0], (columns[place][1],)) for place in found[0]]
                if self.add(Relation((i,), (), True), told):
                    self.reach.append(min(each.entry.reach for each, _ in told))

    def kept(self) -> tuple[KeptBefore, ...]:
        found = []
        for columns, schemes in self.stacks.items():
            if beyond := schemes.keys() - {self.account.entry.scheme}:
                exact = frozenset(scheme for scheme in beyond if schemes[scheme])
                names = tuple(self.account.design.confidential[i] for i in columns)
                found.append(KeptBefore(names, frozenset(beyond), exact))
        return tuple(found)


def _exact(told: tuple[Earlier, tuple[int, ...]]) -> bool:
    """Whether columns left with all their digits."""
    return not any(told[0].entry.traces[j].name in told[0].entry.rounded for j in told[1])


def _together(again: Sequence[Scheme | int | None]) -> Scheme | int | None:
    """What several releases all have kept: of a sum of their columns no more is known."""
    schemes = [each for each in again if isinstance(each, Scheme)]
    if len(schemes) < len(again):
        return min((each for each in again if isinstance(each, int)), default=None)
    first = schemes[0]
    if all(each == first for each in schemes):
        return first
    if len({(each.weight, each.settled, each.merge, each.groups, each.unit) for each in schemes}) > 1:
        return Scheme((((), ()),)) if not any(each.weight or each.settled for each in schemes) else None
    common = tuple(part for part in first.parts if all(part in each.parts for each in schemes))
    return replace(first, parts=common or (((), ()),), made=())


def _categories(scheme: Scheme) -> set[str]:
    """Columns of which only the groups count that they tell."""
    terms = [term for _, given in scheme.parts for text in given for term in parse(text).terms]
    numbers = {factor.column for term in terms for factor in term if factor.transform != "C"} | {scheme.weight}
    return {*columns_of(scheme)} - numbers


def _renamed(scheme: Scheme, names: Mapping[str, str]) -> Scheme:
    def renamed(text: str) -> str:
        terms = (label(tuple(Factor(names[f.column], f.transform) for f in term)) for term in parse(text).terms)
        return " + ".join(terms)

    parts = ((tuple(names.get(n, n) for n in by), tuple(map(renamed, given))) for by, given in scheme.parts)
    return replace(
        scheme,
        parts=tuple(parts),
        weight=names.get(scheme.weight, ""),
        groups=tuple(names[name] for name in scheme.groups),
        unit=names.get(scheme.unit, ""),
    )


def _shared(own: Entry, entry: Entry) -> list[tuple[int, int]]:
    """Places of the confidential columns that two releases share, in each."""
    if not entry.traces:  # of an older ledger
        return [(i, entry.columns.index(digest)) for i, digest in enumerate(own.columns) if digest in entry.columns]
    return [
        (i, j)
        for i, mine in enumerate(own.confidential)
        for j, theirs in enumerate(entry.confidential)
        if own.columns[i] == entry.columns[j] or mine.same(theirs)
    ]


def _former_roles(account: Account, others: Iterable[Entry]) -> tuple[list[str], list[str]]:
    """Columns that leave as they are and were confidential, and the other way round."""
    own, others = account.entry.traces, tuple(others)
    before = [trace for entry in others for trace in entry.traces]

    def met(mine: Trace, roles: Sequence[str]) -> bool:
        return mine.role not in roles and any(mine.same(each) for each in before if each.role in roles)

    raw = [mine for mine in own if mine.role in RAW and met(mine, PROTECTED)]
    known = [mine for mine in own if mine.role in PROTECTED and met(mine, RAW)]
    return [account.names[each.name] for each in raw], [account.names[each.name] for each in known]


def _again(scheme: Scheme, own: Entry, entry: Entry, pair: tuple[int, int]) -> bool:
    """Whether the groups of a scheme can be told again: those that a method made where records stand as they did."""
    aligned = own.columns[pair[0]] == entry.columns[pair[1]] and all(text for _, text in scheme.made)
    return scheme == own.scheme or (not scheme.holes and (aligned or not scheme.made))
