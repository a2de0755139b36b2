"""The given columns as terms: a formula is parsed, never evaluated."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from keyword import iskeyword

from suffice.design.tokens import NAME, QUOTED, Reader, Token, tokens
from suffice.errors import UsageError

TRANSFORMS = ("C", "log", "log1p", "log10", "sqrt", "square")
ACCEPTED = (
    "A formula may hold column names (`in backquotes` where needed), "
    + ", ".join(f"{name}()" for name in TRANSFORMS)
    + " of one column, +, :, *, brackets and - 1."
)
COLUMN = rf"{NAME.pattern}|`[^`]+`"
CALL = re.compile(rf"({'|'.join(TRANSFORMS)})\(\s*({COLUMN})\s*\)")
TOKEN = re.compile(
    rf"\s*(?:(?P<call>(?:{'|'.join(TRANSFORMS)})\(\s*(?:{COLUMN})\s*\)(?![(\[]))"
    r"|(?P<foreign>[\w.]+(?:[(\[](?:[^()\[\]]|[(\[][^()\[\]]*[)\]])*[)\]])+|\{[^}]*\}|'[^']*'|\"[^\"]*\"|[\[\]])"
    rf"|(?P<number>[0-9.]+)(?![\w.])|(?P<column>[\w.]+)|{QUOTED}|%(?P<word>[^%]*)%"
    r"|(?P<sign>[()]|[^\w\s.()\[\]{`'\"%](?:\s*[^\w\s.()\[\]{`'\"%])*))"
)
"""Signs come in runs, such as +-; what is cut out as foreign is there to be named in a refusal."""
ALLOWED = {"sign": ("(", ")", "+", "-", "+-", "++", ":", "*"), "number": ("1",), "word": ()}
END: Token = ("", "")


@dataclass(frozen=True)
class Factor:
    """A column, or one of the named transforms of it."""

    column: str
    transform: str | None = None

    def __str__(self) -> str:
        name = self.column if NAME.fullmatch(self.column) else f"`{self.column}`"
        return f"{self.transform}({name})" if self.transform else name


Term = tuple[Factor, ...]
Model = dict[frozenset[str], Term]
"""Terms by what they read like, in the order written."""
ONE = Factor("1", "1")
"""The intercept, while a formula is read."""


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

    def without(self, columns: Iterable[str]) -> Terms:
        """The terms without the factors of some columns."""
        left = (tuple(factor for factor in term if factor.column not in columns) for term in self.terms)
        return Terms(self.intercept, tuple(dict.fromkeys(term for term in left if term)))

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
    try:
        found = _signed(tokens(given, TOKEN, ""))
        wrong = _wrong(found)
        terms = () if wrong else _FormulaReader(found).model()
    except UsageError:
        raise UsageError(f"The formula {given!r} is not understood.\n{ACCEPTED}") from None
    wrong = wrong or _wrong_terms(found, terms)
    if wrong:
        raise UsageError(f"The formula {wrong}.\n{ACCEPTED}")
    return Terms((ONE,) in terms, tuple(term for term in terms if term != (ONE,)))


def _signed(found: Iterable[Token]) -> list[Token]:
    """The tokens behind `1 +`, with 0 written as - 1, and with neighbouring signs in one."""
    signed: list[Token] = [("number", "1")]
    for kind, text in [("sign", "+"), *found]:
        piece = (kind, "".join(text.split()) if kind == "sign" else text)
        pieces = [("sign", "-"), ("number", "1")] if piece == ("number", "0") else [piece]
        if signed[-1][0] == pieces[0][0] == "sign" and {signed[-1][1][0], pieces[0][1][0]} <= {"+", "-"}:
            pieces[0] = ("sign", signed.pop()[1] + pieces[0][1])
        signed += pieces
    return signed


def _wrong(found: Sequence[Token]) -> str:
    """What is not accepted, if anything; only 1 is subtracted, outside brackets and not within a term."""
    depth = 0
    ends = [*found, END, END]
    for (kind, text), (_, after), (_, beyond) in zip(found, ends[1:], ends[2:], strict=False):
        if kind == "sign":
            depth += (text == "(") - (text == ")")
            if text in ("-", "+-") and (depth or after != "1" or beyond[:1] not in ("", "+", "-")):
                return "subtracts more than 1, or has 0 inside a term"
        if kind == "foreign" or text not in ALLOWED.get(kind, (text,)):
            return f"has {' '.join(text.split())!r}, which is not accepted"
    return ""


def _wrong_terms(found: Iterable[Token], terms: Iterable[Term]) -> str:
    """1 is no factor; and nothing is lost that reads like another piece, as a column `1` reads like 1."""
    if any(ONE in term for term in terms if len(term) > 1):
        return "has '1', which is not accepted"
    written = {_factor(*token) for token in found if token[0] != "sign"}
    if {ONE, *written} != {ONE, *(factor for term in terms for factor in term)}:
        return "has a column whose name reads like another piece of it"
    return ""


class _FormulaReader(Reader):
    """Recursive descent over the tokens of one formula."""

    def model(self) -> tuple[Term, ...]:
        found = self.sum()
        scaled = [tuple(factor for factor in term if factor != ONE) for term in found.values()]
        if self.next() or len(set(scaled)) < len(scaled):  # a and 1:a
            raise UsageError("goes on, or has a term twice.")
        return tuple(found.values())

    def sum(self) -> Model:
        if self.next() in ("+", "++"):
            self.take()
        found = self.product()
        while self.next() in ("+", "++", "-", "+-"):
            if "-" in self.take():
                self.take()
                found.pop(frozenset("1"), None)
            else:
                _join(found, self.product())
        return found

    def product(self) -> Model:
        found = self.interaction()
        while self.next() == "*":
            self.take()
            right = self.interaction()
            crossed = _crossed(found, right)
            _join(found, right)
            _join(found, crossed)
        return found

    def interaction(self) -> Model:
        found = self.atom()
        while self.next() == ":":
            self.take()
            found = _crossed(found, self.atom())
        return found

    def atom(self) -> Model:
        if self.next() == "(":
            return self.bracket(self.sum)
        kind, text = self.token
        if kind in ("sign", "end"):
            raise UsageError("has a sign too many.")
        self.take()
        factor = _factor(kind, text)
        return {frozenset([_reading(factor)]): (factor,)}


def _join(found: Model, other: Model) -> None:
    for key, term in other.items():
        found.setdefault(key, term)


def _crossed(left: Model, right: Model) -> Model:
    found: Model = {}
    for (one, first), (two, second) in product(left.items(), right.items()):
        extra = [factor for factor in second if _reading(factor) not in one]
        found.setdefault(one | two, (*first, *extra))
    return found


def _factor(kind: str, text: str) -> Factor:
    if kind == "number":
        return ONE
    call = CALL.fullmatch(text) if kind == "call" else None
    if call is None:
        return Factor(text)
    name = call[2].strip("`")
    if iskeyword(name):
        raise UsageError("has a word of Python in a call.")
    return Factor(name, call[1])


def _reading(factor: Factor) -> str:
    return str(factor) if factor.transform in TRANSFORMS else factor.column
