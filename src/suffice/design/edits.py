"""Linear edits as text: `cost: wages + 0.5*taxes <= turnover`. They are read by hand, never evaluated."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from suffice.design.tokens import NAME, QUOTED, Reader, tokens
from suffice.errors import UsageError

ACCEPTED = (
    "An edit may hold column names (`in backquotes` where needed), decimal numbers, +, -, *, / by a number, brackets "
    "and one of <=, >=, ==; a name and a colon may stand before it."
)
TOKEN = re.compile(
    rf"\s*(?:(?P<number>\d{{1,40}}(?:\.\d{{0,40}})?(?:[eE][+-]?\d{{1,3}})?|\.\d{{1,40}}(?:[eE][+-]?\d{{1,3}})?)"
    rf"|(?P<column>{NAME.pattern})|{QUOTED}|(?P<sign><=|>=|==|[-+*/()<>=]))"
)
LABEL = re.compile(r"\s*([^:`<>=]*?)\s*:(.*)", re.DOTALL)
COMPARISONS = ("<=", ">=", "==")


@dataclass(frozen=True)
class LinearForm:
    """A constant and a coefficient per column, as exact fractions."""

    constant: Fraction
    columns: Mapping[str, Fraction]

    def __add__(self, other: LinearForm) -> LinearForm:
        return total([self, other])

    def __mul__(self, by: Fraction) -> LinearForm:
        return LinearForm(self.constant * by, {name: c * by for name, c in self.columns.items() if by})


def total(terms: Iterable[LinearForm]) -> LinearForm:
    """All of them added in one pass: a sum may have thousands."""
    constant, columns = Fraction(0), dict[str, Fraction]()
    for term in terms:
        constant += term.constant
        for name, c in term.columns.items():
            columns[name] = columns.get(name, Fraction(0)) + c
    return LinearForm(constant, {name: c for name, c in columns.items() if c})


@dataclass(frozen=True)
class Edit:
    """A linear condition on every record: sum_j c_j y_j <= constant, or == (what was written >= is negated).

    **Promises** that equal conditions are equal however they are written: columns are sorted, decimals are exact.

    name: what messages call it
    coefficients: (column, c_j) in the order of the names
    equality: == rather than <=

    >>> one, two = parse("cost: wages + 0.1*taxes <= turnover"), parse("turnover - taxes/10 >= wages")
    >>> one.name, one.condition == two.condition
    ('cost', True)
    """

    name: str
    coefficients: tuple[tuple[str, Fraction], ...]
    constant: Fraction
    equality: bool

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.coefficients)

    @property
    def condition(self) -> str:
        """The condition as text, its name aside."""
        terms = " + ".join(f"{c}*`{name}`" for name, c in self.coefficients)
        return f"{terms} {'==' if self.equality else '<='} {self.constant}"

    def of(self, names: Iterable[str]) -> list[float]:
        """The coefficients of these columns, 0 where the edit does not name one."""
        known = dict(self.coefficients)
        return [float(known.get(name, 0)) for name in names]


def parse(text: str) -> Edit:
    """One edit.

    text: such as "wages + taxes <= turnover" or "sum: total == wages + taxes"

    >>> parse("2*(a - b) + 3 == 1").condition
    '2*`a` + -2*`b` == -2'
    """
    label = LABEL.fullmatch(text)
    name, body = (label[1], label[2]) if label else ("", text)
    try:
        return _EditReader(tokens(body, TOKEN, ACCEPTED)).edit(name or " ".join(text.split()))
    except UsageError as problem:
        raise UsageError(f"The edit {' '.join(text.split())!r} {problem}") from None


class LinearReader(Reader):
    """Recursive descent over sums of columns times numbers."""

    accepted: ClassVar[str] = ACCEPTED

    def sum(self) -> LinearForm:
        terms = [self.product()]
        while self.next() in ("+", "-"):
            by = Fraction(1 if self.take() == "+" else -1)
            terms.append(self.product() * by)
        return total(terms)

    def product(self) -> LinearForm:
        found = self.factor()
        while self.next() in ("*", "/"):
            sign, other = self.take(), self.factor()
            if sign == "/":
                found = found * _reciprocal(other)
            elif found.columns and other.columns:
                raise UsageError("is not linear: it multiplies columns.")
            else:
                found = found * other.constant if not other.columns else other * found.constant
        return found

    def factor(self) -> LinearForm:
        by = Fraction(1)
        while self.next() in ("+", "-"):
            by = by if self.take() == "+" else -by
        return self.atom() * by

    def atom(self) -> LinearForm:
        kind, text = self.token
        if kind == "number":
            self.take()
            return LinearForm(Fraction(text), {})
        if kind in ("column", "quoted"):
            self.take()
            if kind == "column" and self.next() == "(":
                raise UsageError("calls a function. Only sums of columns times numbers are linear.")
            return LinearForm(Fraction(0), {text: Fraction(1)})
        if text != "(":
            raise self.lost()
        return self.bracket(self.sum)

    def lost(self) -> UsageError:
        kind, text = self.token
        if kind == "end":
            return UsageError(f"ends too early. {self.accepted}")
        return UsageError(f"is not understood at {text!r}. {self.accepted}")


class _EditReader(LinearReader):
    """One edit: two sums, compared."""

    def edit(self, name: str) -> Edit:
        left = self.sum()
        sign = self.take()
        if sign not in COMPARISONS:
            raise UsageError("needs one of <=, >=, == between its two sides.")
        right = self.sum()
        if self.next() in COMPARISONS:
            raise UsageError("has more than one comparison. Write two edits.")
        if self.next():
            raise self.lost()
        return _settled(name, left + right * Fraction(-1), sign)


def _reciprocal(other: LinearForm) -> Fraction:
    if other.columns:
        raise UsageError("is not linear: it divides by a column.")
    if not other.constant:
        raise UsageError("divides by 0.")
    return 1 / other.constant


def _settled(name: str, gap: LinearForm, sign: str) -> Edit:
    """left - right (sign) 0, with what is >= turned round, and an equality by the sign of its first column."""
    if not gap.columns:
        raise UsageError("holds for every record or for none: no column is left in it.")
    names = sorted(gap.columns)
    turned = sign == ">=" or (sign == "==" and gap.columns[names[0]] < 0)
    gap = gap * Fraction(-1 if turned else 1)
    try:
        numbers = [float(c) for c in (*gap.columns.values(), gap.constant)]
    except OverflowError:
        numbers = [0.0]
    if not all(numbers[:-1]) or len(numbers) == 1:
        raise UsageError("has a number that is too large or too small.")
    return Edit(name, tuple((n, gap.columns[n]) for n in names), -gap.constant, sign == "==")
