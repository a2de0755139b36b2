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
Bounds = tuple[tuple[str, Span], ...]


def parse(words: list[str] | None, option: str) -> dict[str, str] | str:
    """['a=0:', 'b=:1'] -> {'a': '0:', 'b': ':1'}; the word observed-sign stays."""
    return OBSERVED if words == [OBSERVED] else pairs(words, option)


def spelt(bounds: Bounds | str) -> list[str]:
    """What `parse` and `read` make these bounds of."""
    if isinstance(bounds, str):
        return [bounds]
    ends = [(name, ["" if end is None else f"{end:.17g}" for end in span]) for name, span in bounds]
    return [f"{name}={':'.join(both)}" for name, both in ends]


BOUNDS = RoleRule("NAME=LOW:HIGH", list[str], option="--bound", parse=parse, spell=spelt)
"""Bounds by confidential column, or the word observed-sign; `read` settles them when these columns are known."""


def read(bounds: Any, confidential: Sequence[str]) -> Bounds | str:
    """The bounds by column, sorted; or the word that says that they follow from the data.

    >>> read({"turnover": (0, None), "share": "0:1"}, ["turnover", "share"])
    (('share', (0.0, 1.0)), ('turnover', (0.0, None)))
    """
    if bounds == OBSERVED:
        return OBSERVED
    if isinstance(bounds, str) or not isinstance(bounds, Mapping | Sequence):
        raise UsageError(f"`bounds` must be bounds by column name, or {OBSERVED!r}.")
    pairs = list(bounds.items() if isinstance(bounds, Mapping) else bounds)
    mistakes = list(_mistakes(pairs, confidential))
    if mistakes:
        raise UsageError("\n".join(mistakes))
    spans = {name: _span(value) for name, value in pairs}
    return tuple((name, spans[name]) for name in sorted(spans) if spans[name] != (None, None))


def _mistakes(pairs: Sequence[Any], confidential: Sequence[str]) -> Iterator[str]:
    for pair in pairs:
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
