"""Earlier releases of the same columns, by the ledger."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from suffice.ledger import Ledger
from suffice.protection.protected import Protected


@dataclass(frozen=True)
class History:
    """Whether there is a ledger, and what it tells of every earlier release of a confidential column of this one."""

    ledger: bool = False
    earlier: tuple[float, ...] = ()
    """The largest residual correlation of each."""
    terms: frozenset[str] = frozenset()
    """Their given terms."""

    @classmethod
    def of(cls, done: Protected, ledger: Ledger | None, keyed: Iterable[str]) -> Self:
        """keyed: digests of the confidential columns"""
        entries = () if ledger is None else ledger.earlier(keyed, done.stream.digest())
        terms = frozenset(term for entry in entries for term in entry.terms)
        return cls(ledger is not None, tuple(entry.reach for entry in entries), terms)
