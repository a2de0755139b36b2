"""The given columns as terms: a formula is parsed, never evaluated."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from suffice.errors import UsageError

TRANSFORMS = ("C", "log", "log1p", "log10", "sqrt", "square")
ACCEPTED = (
    "A formula may hold column names (`in backquotes` where needed), "
    + ", ".join(f"{name}()" for name in TRANSFORMS)
    + " of one column, +, :, *, brackets and - 1."
)
ALLOWED = {"OPERATOR": ("+", "-", "+-", "++", ":", "*"), "CONTEXT": ("(", ")"), "VALUE": ("1",)}
"""Tokens by kind, as the parser cuts them: it puts `1 +` first, joins signs and writes 0 as -1."""
NAME = re.compile(r"[^\W\d][\w.]*")
CALL = re.compile(rf"({'|'.join(TRANSFORMS)})\((?:({NAME.pattern})|`([^`]+)`)\)")

Token = tuple[str, str]
END: Token = ("", "")
ONE: tuple[Token, ...] = (("1", "literal"),)


@dataclass(frozen=True)
class Factor:
    """A column, or one of the named transforms of it."""

    column: str
    transform: str | None = None

    def __str__(self) -> str:
        name = self.column if NAME.fullmatch(self.column) else f"`{self.column}`"
        return f"{self.transform}({name})" if self.transform else name


Term = tuple[Factor, ...]


def label(term: Term) -> str:
    """A term as a formula writes it."""
    return ":".join(map(str, term))


@dataclass(frozen=True)
class Terms:
    """The terms of a formula in the order given; as text they are sorted, so that equal models read alike."""

    intercept: bool
    terms: tuple[Term, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(factor.column for term in self.terms for factor in term))

    def __str__(self) -> str:
        written = sorted(":".join(sorted(map(str, term))) for term in self.terms)
        return " + ".join(["1" if self.intercept else "0", *written])


def parse(given: str | Sequence[str]) -> Terms:
    """The terms of a formula, or of a list of column names.

    The intercept is there unless the formula says `- 1`.

    **Promises** that nothing in the text is evaluated, and that what is not understood is refused.

    given: a formula, or column names taken literally

    >>> print(parse("C(region) * log(employees)"))
    1 + C(region) + C(region):log(employees) + log(employees)
    >>> print(parse(["net income"]))
    1 + `net income`
    """
    return _parse(given if isinstance(given, str) else tuple(given))


@lru_cache(maxsize=64)
def _parse(given: str | tuple[str, ...]) -> Terms:
    if isinstance(given, tuple):
        return Terms(True, tuple((Factor(name),) for name in given))
    if not given.strip():
        return Terms(True, ())
    return _parse_formula(given)


def _parse_formula(given: str) -> Terms:
    from formulaic.parser import DefaultFormulaParser  # brings pandas: seconds, so only where a formula is

    parser = DefaultFormulaParser()
    try:
        tokens = [(str(token.token), token.kind.name) for token in parser.get_tokens(given)]
        _check_tokens(tokens)
        parsed = [term.factors for term in parser.get_terms(given)]
    except UsageError:
        raise
    except Exception:  # whatever the parser says, it says about its own syntax, which is not ours
        raise UsageError(f"The formula {given!r} is not understood.\n{ACCEPTED}") from None
    found = [tuple((factor.expr, factor.eval_method.value) for factor in factors) for factors in parsed]
    return _terms(tokens, found)


def _terms(tokens: Sequence[Token], found: Sequence[tuple[Token, ...]]) -> Terms:
    products = [pieces for pieces in found if pieces != ONE]
    terms = [tuple(_factor(*piece) for piece in pieces) for pieces in products]
    _check_nothing_lost(tokens, products)
    distinct = {frozenset(term): term for term in reversed(terms)}
    return Terms(ONE in found, tuple(reversed(distinct.values())))


def _check_tokens(tokens: Sequence[Token]) -> None:
    """The parser knows more operators than are accepted, and drops a subtracted column without a word."""
    depth = 0
    ends = [*tokens, END, END]
    for (text, kind), (after, _), (beyond, _) in zip(tokens, ends[1:], ends[2:], strict=False):
        depth += (text == "(") - (text == ")") if kind == "CONTEXT" else 0
        subtracts = kind == "OPERATOR" and text in ("-", "+-")
        if subtracts and (depth or after != "1" or beyond[:1] not in ("", "+", "-")):
            raise UsageError(f"The formula subtracts more than 1, or has 0 inside a term.\n{ACCEPTED}")
        if text not in ALLOWED.get(kind, (text,)):
            raise _not_accepted(text)


def _check_nothing_lost(tokens: Sequence[Token], products: Sequence[tuple[Token, ...]]) -> None:
    """The parser takes a column named like a number or a call for that number or call: refuse such a pair."""
    ways = {"NAME": "lookup", "PYTHON": "python"}
    written = {(text, ways[kind]) for text, kind in tokens if kind in ways}
    if written != {piece for pieces in products for piece in pieces}:
        raise UsageError(f"The formula has a column whose name reads like another piece of it.\n{ACCEPTED}")


def _factor(text: str, way: str) -> Factor:
    if way == "lookup":
        return Factor(text)
    if way == "python" and (call := CALL.fullmatch(text)):
        return Factor(call[2] or call[3], call[1])
    raise _not_accepted(f"{{{text}}}" if way == "python" and "(" not in text else text)


def _not_accepted(piece: str) -> UsageError:
    return UsageError(f"The formula has {piece!r}, which is not accepted.\n{ACCEPTED}")
