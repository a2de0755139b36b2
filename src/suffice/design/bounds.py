"""What a confidential column may not leave: bounds as they are written, {"turnover": (0, None)} or "turnover=0:"."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from suffice.design.role import RoleRule, pairs
from suffice.errors import UsageError, suggest

OBSERVED = "observed-sign"
"""Columns without negatives stay without. The observed extremes are never bounds: a bound is public."""
WRITTEN = 'Write (low, high) with None where there is no end, or "low:high" with nothing there.'

Span = tuple[float | None, float | None]
Bounds = tuple[str | tuple[str, Span], ...]
"""By column, sorted; before them the word observed-sign, where that is said of all others."""


def parse(words: list[str] | None, option: str) -> dict[str, str] | list[str] | str:
    """['a=0:', 'b=:1'] -> {'a': '0:', 'b': ':1'}; the word observed-sign stays, alone or before them."""
    named = pairs([word for word in words or () if word != OBSERVED], option)
    if OBSERVED not in (words or ()):
        return named
    return [OBSERVED, *(f"{name}={span}" for name, span in named.items())] if named else OBSERVED


def spelt(bounds: Bounds | str) -> list[str]:
    """What `parse` and `read` make these bounds of."""
    return [*([OBSERVED] if observed(bounds) else []), *(f"{name}={ends}" for name, ends in _ends(bounds).items())]


def written(bounds: Bounds | str) -> str | list[str] | dict[str, str]:
    """As a plan has them, which may name any column."""
    return bounds if isinstance(bounds, str) else spelt(bounds) if observed(bounds) else _ends(bounds)


def _ends(bounds: Bounds | str) -> dict[str, str]:
    """low:high of every column, with nothing where there is no end."""
    spans = by_column(bounds).items()
    return {name: ":".join("" if end is None else f"{end:.17g}" for end in span) for name, span in spans}


def observed(bounds: Bounds | str) -> bool:
    """Whether columns without negatives stay without, those with bounds of their own aside."""
    return OBSERVED in ([bounds] if isinstance(bounds, str) else bounds)


def by_column(bounds: Bounds | str) -> dict[str, Span]:
    """The bounds that are named."""
    return {} if isinstance(bounds, str) else dict(pair for pair in bounds if not isinstance(pair, str))


BOUNDS = RoleRule("NAME=LOW:HIGH", list[str], option="--bound", parse=parse, spell=spelt)
"""Bounds by confidential column, or the word observed-sign; `read` settles them when these columns are known."""


def read(bounds: Any, confidential: Sequence[str]) -> Bounds | str:
    """The bounds by column, sorted; or the word that says that they follow from the data; None is none.

    >>> read({"turnover": (0, None), "share": "0:1"}, ["turnover", "share"])
    (('share', (0.0, 1.0)), ('turnover', (0.0, None)))
    >>> read(["observed-sign", "share=0:1"], ["turnover", "share"])
    ('observed-sign', ('share', (0.0, 1.0)))
    """
    if bounds == OBSERVED or bounds is None:
        return bounds or ()
    if isinstance(bounds, str) or not isinstance(bounds, Mapping | Sequence):
        raise UsageError(f"`bounds` must be bounds by column name, or {OBSERVED!r}, or a list of both.")
    given = list(bounds.items() if isinstance(bounds, Mapping) else bounds)
    signs, listed = OBSERVED in given, [each for each in given if each != OBSERVED]
    words = [each for each in listed if isinstance(each, str) and "=" in each]
    found = [*(each for each in listed if each not in words), *pairs(words, "`bounds`").items()]
    mistakes = list(_mistakes(found, confidential))
    if mistakes:
        raise UsageError("\n".join(mistakes))
    spans = {name: _span(value) for name, value in found}
    named = tuple((name, spans[name]) for name in sorted(spans) if signs or spans[name] != (None, None))
    return (OBSERVED, *named) if signs and named else OBSERVED if signs else named


def _mistakes(found: Sequence[Any], confidential: Sequence[str]) -> Iterator[str]:
    for pair in found:
        if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str) and pair[0]):
            yield "`bounds` must name columns, each a text that is not empty."
            continue
        if pair[0] not in confidential:
            yield f"`bounds` names {pair[0]!r}, which is not confidential.{suggest(pair[0], confidential)}"
        try:
            low, high = _span(pair[1])
        except ValueError:
            yield f"The bounds of {pair[0]!r} are not understood. {WRITTEN}"
            continue
        if low is not None and high is not None and low > high:
            yield f"The bounds of {pair[0]!r} contradict each other: the lower one is above the upper one."


def _span(value: Any) -> Span:
    if isinstance(value, str):
        value = value.split(":")
    if not isinstance(value, Sequence) or len(value) != 2:
        raise ValueError
    return _end(value[0], -math.inf), _end(value[1], math.inf)


def _end(value: Any, nowhere: float) -> float | None:
    """One end as a number; None where there is none. -0 is 0."""
    if isinstance(value, str):
        text = value.strip().lower()
        value = None if text in ("", "none") else float(text)
    if value is None or value == nowhere:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError
    return float(value) + 0.0


def whole(span: Span) -> Span:
    """The same bounds for whole numbers."""
    low, high = span
    return None if low is None else float(math.ceil(low)), None if high is None else float(math.floor(high))
