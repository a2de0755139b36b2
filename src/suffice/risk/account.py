"""What a release is to leave in the ledger, and the rows by which earlier ones can be compared with it."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Flags
from suffice.design.design import Design
from suffice.design.formula import parse
from suffice.design.levels import missing
from suffice.design.roles import Roles
from suffice.ledger import Entry, Ledger, Scheme, Trace
from suffice.method.method import Method
from suffice.protection.protected import Protected
from suffice.rows.fingerprint import Fingerprint, Fingerprints, value_words
from suffice.rows.multiset import Words, fingerprints, number_words, text_words
from suffice.rows.rows import Block, Rows
from suffice.seed import Seed
from suffice.statistics.statistic import Promise

READ = ("float", "integer", "category")
"""Kinds of columns that are looked at."""
PACKED = 2**17
"""Records whose clusters are remembered, at most."""
LINEAR = ("mean", "fit")
"""Statistics that are sums over records, each times something that is known."""


@dataclass(frozen=True, repr=False)
class Account:
    """The entry of a release, before it is written, and the file that it is made of, with all its records."""

    seed: Seed
    ledger: Ledger | None
    rows: Rows
    design: Design
    entry: Entry

    @classmethod
    def of(cls, seed: Seed, rows: Rows, done: Protected, method: Method, digests: Iterable[str], name: str) -> Account:
        """The entry, with fingerprints of all columns where there is a ledger.

        rows: before records were dropped; digests: of the confidential columns in their order; name: of the release
        """
        design = done.design
        keyed = tuple(seed.digest("column", each) for each in digests)
        entry = Entry.now(method.name, tuple(design.terms), 0.0, keyed, name)
        account = cls(seed, Ledger.beside(seed), rows, design, entry)
        if account.ledger is None:
            return account
        account = replace(account, entry=replace(entry, scheme=_scheme(seed, done, done.rows.n < rows.n, method)))
        named = [(role, column) for role, column in _named(design.roles) if rows.kinds.get(column) in READ]
        found = account.fingerprints({column for _, column in named}, [account.entry.scheme])
        traces = tuple(Trace.of(seed, role, column, found[column]) for role, column in named)
        return replace(account, entry=replace(account.entry, traces=traces, ties=account.ties(found, 0)))

    @cached_property
    def names(self) -> Mapping[str, str]:
        return {self.seed.digest("name", name)[:16]: name for name in self.rows.kinds}

    def has(self, scheme: Scheme) -> bool:
        """Whether the file has all columns that a scheme names."""
        known = all(self.rows.kinds.get(name) in READ for name in columns_of(scheme))
        return known and all(name in self.names for name in scheme.dropped)

    def ties(self, found: Mapping[Any, Fingerprint], place: int) -> tuple[Trace, ...]:
        """Of each confidential column with a scheme."""
        pairs = [(name, found[place, name]) for name in self.design.confidential]
        return tuple(Trace.of(self.seed, "tie", name, each) for name, each in pairs)

    def fingerprints(self, columns: set[str], schemes: Sequence[Scheme]) -> Fingerprints:
        """Of columns, and of every confidential column with what each scheme names, in one pass."""
        key, design = int(self.seed.digest("words")[:16], 16), self.design
        names = [columns_of(scheme) for scheme in schemes]
        dropped = [[self.names[name] for name in scheme.dropped] for scheme in schemes]
        needed = {*columns, *design.confidential, *(name for each in (*names, *dropped) for name in each)}

        def of(block: Block) -> Fingerprints:
            words = {name: value_words(block.columns[name]) for name in {*columns, *design.confidential}}
            found = Fingerprints({name: Fingerprint.of(words[name], key) for name in columns})
            for place, (by, gone) in enumerate(zip(names, dropped, strict=True)):
                there = present(block, gone)
                beside = [exact_words(block.columns[name])[there] for name in by]
                for name in design.confidential:
                    both = [words[name][there], *beside]
                    found[place, name] = Fingerprint.of(fingerprints(len(both[0]), both), key)
            return found

        return self.rows.fold(of, sorted(needed), "looking at the ledger")


def exact_words(values: Any) -> Words:
    """A word for each cell: of what tells groups every digit counts."""
    return number_words(values) if isinstance(values, np.ndarray) else text_words(values)


def present(block: Block, names: Sequence[str]) -> Flags:
    """Records of which none of these cells is missing."""
    there: Flags = np.ones(len(block), dtype=bool)
    for name in names:
        there &= ~missing(block.columns[name])
    return there


def columns_of(scheme: Scheme) -> list[str]:
    """Columns of the file that a scheme names, those that the method made aside."""
    made = [name for name, _ in scheme.made]
    by = {name for groups, _ in scheme.parts for name in groups if name not in made}
    given = {name for _, terms in scheme.parts for term in terms for name in parse(term).columns}
    return sorted(by | given | ({scheme.weight} if scheme.weight else set()))


def packed(labels: NDArray[np.int64]) -> str:
    """Groups of records, the same however they are numbered."""
    _, first, place = np.unique(labels, return_index=True, return_inverse=True)
    ranks = np.argsort(np.argsort(first))[place]
    return base64.b64encode(zlib.compress(ranks.astype("<u4").tobytes())).decode("ascii")


def unpacked(text: str) -> NDArray[np.int64]:
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype="<u4").astype(np.int64)


def _named(roles: Roles) -> Iterator[tuple[str, str]]:
    """Every column with its role, the confidential ones first."""
    for role, value in roles.items():
        if not role.rule.of_confidential:
            yield from ((role.name, name) for name in role.rule.columns(value))


def _scheme(seed: Seed, done: Protected, dropped: bool, method: Method) -> Scheme:
    design, roles, few = done.design, done.design.roles, done.rows.n <= PACKED
    gone = [name for name in roles.columns if name not in (*roles.keep, *roles.identifiers)] if dropped else []
    kept = [promise for promise in method.promises(design) if promise.name in LINEAR]
    parts: dict[tuple[str, ...], dict[str, None]] = {}
    for promise in kept:
        terms = parts.setdefault(promise.domain.by, {})
        terms.update(dict.fromkeys(_terms(design, promise)))
    return Scheme(
        tuple((by, tuple(sorted(terms))) for by, terms in sorted(parts.items())),
        roles.weight or "",
        tuple(sorted(seed.digest("name", name)[:16] for name in gone)) if roles.missing == "drop" else (),
        roles.merge_below,
        tuple((name, packed(labels) if few else "") for name, labels in done.labels.items()),
        any(promise.domain.holes for promise in kept),
    )


def _terms(design: Design, promise: Promise) -> Iterator[str]:
    """The terms whose fits are kept."""
    if promise.name == "fit":
        wanted = design.names if promise.terms is None else promise.terms
        of = dict(zip(design.names, design.term_of, strict=True))
        yield from (design.terms[of[name]] for name in wanted if of[name] >= 0)
        if promise.terms is None and design.absorbed is not None:
            yield design.terms[-1]
