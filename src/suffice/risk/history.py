"""Earlier releases of the same columns, by the ledger."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from suffice.ledger import Ledger


@dataclass(frozen=True)
class History:
    """Whether there is a ledger, and what it tells of every earlier release of a confidential column of this one.

    beside: the largest residual correlation of each other data set of the same request
    """

    ledger: bool = False
    earlier: tuple[float, ...] = ()
    """The largest residual correlation of each."""
    terms: frozenset[str] = frozenset()
    """Their given terms."""
    beside: tuple[float, ...] = ()

    @classmethod
    def of(cls, release: str, ledger: Ledger | None, keyed: Iterable[str], beside: tuple[float, ...]) -> Self:
        """release: its name in the ledger; keyed: digests of the confidential columns"""
        entries = () if ledger is None else ledger.earlier(keyed, release)
        terms = frozenset(term for entry in entries for term in entry.terms)
        return cls(ledger is not None, tuple(entry.reach for entry in entries), terms, beside)
