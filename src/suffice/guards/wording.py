"""Counts, shares and lists as the findings word them."""

from __future__ import annotations

from collections.abc import Iterable

from suffice.errors import count_of as count
from suffice.risk.told import Told

__all__ = ["beyond", "count", "listed", "share", "told_of"]

SHOWN = 6
"""Names that a message lists before it counts the rest."""


def share(part: float, whole: float = 1.0) -> str:
    """A share in percent; what is not nothing is never written as nothing.

    >>> share(1, 3), share(0), share(1, 100_000)
    ('33 %', '0 %', 'less than 0.1 %')
    """
    percent = 100 * part / whole if whole else 0.0
    if 0 < percent < 0.1:
        return "less than 0.1 %"
    return f"{percent:.0f} %" if percent >= 10 or percent == 0 else f"{percent:.1f} %"


def beyond(value: float, bound: float) -> str:
    """A number with as many decimals as tell it from a bound, three at least.

    >>> beyond(0.25, 0.2), beyond(0.2000004, 0.2), beyond(0.5, 0.5)
    ('0.250', '0.2000004', '0.500')
    """
    told = (text for digits in range(3, 12) if float(text := f"{value:.{digits}f}") != bound)
    return next(told, f"{value:.3f}")


def listed(names: Iterable[str]) -> str:
    """Names in a row, the last of a long list counted.

    >>> listed(["a", "b", "c"]), listed("abcdefgh")
    ('a, b and c', 'a, b, c, d, e, f and 2 more')
    """
    names = list(names)
    if len(names) > SHOWN:
        names = [*names[:SHOWN], f"{len(names) - SHOWN} more"]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def told_of(told: Told) -> str:
    """How near a column is told.

    >>> told_of(Told("y", 0.99931, 0.83, 0.02))
    'y (R2 .9993; 83 % of its values within 5 %, 2.0 % by chance)'
    """
    r2 = f"{min(told.r2, 0.9999):.4f}".lstrip("0")
    return f"{told.column} (R2 {r2}; {share(told.near)} of its values within 5 %, {share(told.chance)} by chance)"
