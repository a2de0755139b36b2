"""Text cut into tokens, and the tokens taken one after the other: for formulas and for edits."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from suffice.errors import UsageError

NAME = re.compile(r"[^\W\d][\w.]*")
"""A column's name that needs no backquotes."""
QUOTED = r"`(?P<quoted>[^`]+)`"
DEEPEST = 20
"""Brackets inside brackets."""

Token = tuple[str, str]
Result = TypeVar("Result")


def tokens(text: str, pattern: re.Pattern[str], accepted: str) -> Iterator[Token]:
    """(kind, text) of every token.

    pattern: one named group for each kind
    accepted: said where no token is found
    """
    place, end = 0, len(text.rstrip())
    while place < end:
        found = pattern.match(text, place)
        if found is None:
            raise UsageError(f"is not understood at {text[place:].split()[0][:1]!r}. {accepted}")
        assert found.lastgroup is not None
        yield found.lastgroup, found[found.lastgroup]
        place = found.end()


class Reader:
    """Recursive descent over tokens: what comes next is the text of a sign, else the kind of the token."""

    def __init__(self, found: Iterable[Token]) -> None:
        self.tokens = [*found, ("end", "")]
        self.place = self.depth = 0

    @property
    def token(self) -> Token:
        return self.tokens[self.place]

    def next(self) -> str:
        kind, text = self.token
        return text if kind in ("sign", "end") else kind

    def take(self) -> str:
        found = self.next()
        self.place = min(self.place + 1, len(self.tokens) - 1)
        return found

    def bracket(self, inside: Callable[[], Result]) -> Result:
        self.take()
        self.depth += 1
        if self.depth > DEEPEST:
            raise UsageError(f"has more than {DEEPEST} brackets inside each other.")
        found = inside()
        if self.take() != ")":
            raise UsageError("has a bracket that is not closed.")
        self.depth -= 1
        return found
