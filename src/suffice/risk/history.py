"""Earlier releases of the same columns, by the ledger."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self

from suffice.ledger import Entry, Scheme, Trace
from suffice.risk.account import Account

RAW = ("given", "groups", "labels", "weight", "keep")
"""Roles of columns that leave as they are."""


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
    revealed: tuple[str, ...] = ()
    """Columns that leave as they are and were confidential."""
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
        found = [(entry, pairs) for entry in others if (pairs := _shared(account.entry, entry))]
        revealed, public = _former_roles(account, others)
        changed, kept, lost = _compared(account, found)
        reach = tuple(entry.reach for entry, _ in found)
        return cls(True, reach, beside, changed, revealed, public, kept, lost, len(others))


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


def _former_roles(account: Account, others: Iterable[Entry]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Columns that leave as they are and were confidential, and the other way round."""
    own, others = account.entry.traces, tuple(others)
    before = [trace for entry in others for trace in entry.traces]

    def met(mine: Trace, roles: Sequence[str]) -> bool:
        return mine.role not in roles and any(mine.same(each) for each in before if each.role in roles)

    raw = [mine for mine in own if mine.role in RAW and met(mine, ("confidential",))]
    known = [mine for mine in own if mine.role == "confidential" and met(mine, RAW)]
    return tuple(account.names[each.name] for each in raw), tuple(account.names[each.name] for each in known)


def _compared(
    account: Account, found: Sequence[tuple[Entry, list[tuple[int, int]]]]
) -> tuple[int, tuple[KeptBefore, ...], tuple[int, ...]]:
    """How few records have changed, what can be stacked of each column, and equations of what cannot."""
    own = account.entry
    wanted = [scheme for scheme in {entry.scheme: None for entry, _ in found if entry.ties} if account.has(scheme)]
    prints = account.fingerprints(set(), wanted) if wanted else {}
    ties = {scheme: account.ties(prints, place) for place, scheme in enumerate(wanted)}
    stacks: dict[int, dict[Scheme, bool]] = {}  # whether to the last digits
    changed, lost = [], {}

    def stack(i: int, scheme: Scheme, exact: bool) -> None:
        known = stacks.setdefault(i, {})
        known[scheme] = exact or known.get(scheme, False)

    for entry, pairs in found:
        scheme = entry.scheme if entry.ties else Scheme((((), entry.terms),))
        mine = ties.get(scheme)
        for i, j in pairs:
            if not entry.ties:
                stack(i, scheme, True)
                continue
            told = (own.confidential[i], entry.confidential[j]) if mine is None else (mine[i], entry.ties[j])
            if told[0].total != told[1].total and told[0].alike(told[1]):
                changed.append(told[0].changed(told[1]))
            elif mine is not None and told[0].total == told[1].total and _again(scheme, own, entry, (i, j)):
                stack(i, scheme, entry.confidential[j].name not in entry.rounded)
            else:
                lost[scheme] = entry.rank
    kept = []
    for i, schemes in stacks.items():
        if beyond := schemes.keys() - {own.scheme}:
            exact = frozenset(scheme for scheme in beyond if schemes[scheme])
            kept.append(KeptBefore((account.design.confidential[i],), frozenset(beyond), exact))
    return min(changed, default=0), tuple(kept), tuple(lost.values())


def _again(scheme: Scheme, own: Entry, entry: Entry, pair: tuple[int, int]) -> bool:
    """Whether the groups of a scheme can be told again: those that a method made where records stand as they did."""
    aligned = own.columns[pair[0]] == entry.columns[pair[1]] and all(text for _, text in scheme.made)
    return scheme == own.scheme or (not scheme.holes and (aligned or not scheme.made))
