"""What a release is to leave in the ledger, and the rows by which earlier ones can be compared with it."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Flags
from suffice.design.design import Design
from suffice.design.formula import parse
from suffice.design.missing import complete
from suffice.design.roles import Roles
from suffice.design.units import exact_words
from suffice.errors import FileError
from suffice.ledger import Entry, Ledger, Scheme, Trace
from suffice.method.method import Method
from suffice.protection.protected import Protected
from suffice.risk.leaving import cells_at
from suffice.risk.power_sums import FORM, PowerSums, cells_of
from suffice.risk.sketch import Search, Sketch, keyed
from suffice.rows.fingerprint import Fingerprint, Fingerprints, value_words
from suffice.rows.multiset import Words, fingerprints
from suffice.rows.rows import Block, Product, Rows
from suffice.seed import Seed
from suffice.statistics.statistic import Promise

READ = ("float", "integer", "category", "date")
"""Kinds of columns that are looked at."""
PACKED = 2**17
"""Records whose clusters are remembered, at most."""
SETTLED = (
    *("given", "weight", "groups", "labels", "merge_below", "unit"),
    *("missing", "smallest_pattern", "small_groups", "smallest_group"),
)
"""Roles that decide which records are left out, and which groups are joined."""
PLACE = "place of the record"
SUMS = b"2"
"""The form in which totals are remembered; one of another form is not compared."""
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
    sketch: Sketch | None = None
    """Some records of the columns with a role, those among them that earlier releases remember."""
    columns: tuple[str, ...] = ()
    """These columns, in their order."""

    @classmethod
    def of(
        cls,
        seed: Seed,
        rows: Rows,
        settled: bool,
        done: Protected,
        method: Method,
        digests: Iterable[str],
        name: str,
    ) -> Account:
        """The entry, with fingerprints of all columns where there is a ledger.

        rows: as they came; settled: whether some were left out, or groups joined, before they were protected
        digests: of the confidential columns in their order; name: of the release
        """
        keyed = tuple(seed.digest("column", each) for each in digests)
        scheme = _scheme(seed, done, settled, method)
        rounded = tuple(_keyed(seed, column) for column in done.design.roles.integer)
        entry = replace(
            Entry.now(method.name, tuple(done.design.terms), 0.0, keyed, name), scheme=scheme, rounded=rounded
        )
        account = cls(seed, Ledger.beside(seed), rows, done.design, entry)
        if account.ledger is None:
            return account
        named = [(role, column) for role, column in _named(done.design.roles) if rows.kinds.get(column) in READ]
        columns = [column for _, column in named]
        former = [each for other in account.ledger.others(name) if (each := account.opened(other)) is not None]
        by = [column for role, column in named if role == "identifiers"]
        look = partial(Sketch.of, columns=columns, by=by, key=account.key, wanted=Search.of(former) if former else None)
        cells, own = cells_of(scheme), done.design.confidential
        sums = partial(PowerSums.of, cells=cells, confidential=own, weight=scheme.weight, key=account.key)
        found, sketch, *more = account.looked({*columns}, [scheme], look, *([] if settled else [sums]))
        needed = sorted({*own, *(name for by in cells for name in by)} | {scheme.weight} - {""})
        totals = more[0] if more else done.rows.fold(sums, needed, "looking at the ledger")
        traces = tuple(Trace.of(seed, role, column, found[column]) for role, column in named)
        entry = replace(entry, traces=traces, ties=account.ties(found, 0))
        sealed = seed.seal(sketch.packed()), seed.seal(SUMS + totals.rows(own, scheme.merge).tobytes())
        entry = replace(entry, records=rows.n, sketch=sealed[0], totals=sealed[1])
        return replace(account, entry=entry, sketch=sketch, columns=tuple(columns))

    def keyed(self, name: str) -> str:
        """The name of a column as the ledger has it."""
        return _keyed(self.seed, name)

    @property
    def key(self) -> int:
        """Of words for values."""
        return int(self.seed.digest("words")[:16], 16)

    def opened(self, entry: Entry) -> Sketch | None:
        """The records that an earlier release remembers; None where it does not."""
        return Sketch.unpacked(self._unsealed(entry.sketch), len(entry.traces)) if entry.sketch else None

    def totals(self, entry: Entry) -> NDArray[Any]:
        """What a release remembers of the totals that it keeps."""
        found = self._unsealed(entry.totals) if entry.totals else b""
        return np.frombuffer(found[1:] if found[:1] == SUMS else b"", FORM)

    def _unsealed(self, text: str) -> bytes:
        try:
            return self.seed.unseal(text)
        except ValueError:
            raise FileError(
                "The ledger beside the key file is damaged, or was made with another key.\n"
                "Restore it from a backup; without it earlier releases cannot be judged."
            ) from None

    @cached_property
    def names(self) -> Mapping[str, str]:
        """The columns of the file by their keyed names."""
        return {_keyed(self.seed, name): name for name in self.rows.kinds}

    def has(self, scheme: Scheme) -> bool:
        """Whether the file has all columns that a scheme names."""
        known = all(self.rows.kinds.get(name) in READ for name in columns_of(scheme))
        return known and all(name in self.names for name in _confidential(scheme))

    def settled(self, scheme: Scheme) -> tuple[Rows, Flags]:
        """The records that a scheme is about, and which of all they are."""
        if not scheme.settled:
            return self.rows, np.ones(self.rows.n, dtype=bool)
        names = [self.names[name] for name in _confidential(scheme)]
        roles = Roles(**{**json.loads(scheme.settled), "confidential": names, "keep": [PLACE]})
        rows = complete(self.rows.with_columns({PLACE: np.arange(self.rows.n)}), roles)
        there: Flags = np.zeros(self.rows.n, dtype=bool)
        there[rows.gather([PLACE])[PLACE].astype(np.int64)] = True
        return rows, there

    def ties(self, found: Mapping[Any, Fingerprint], place: int) -> tuple[Trace, ...]:
        """Of each confidential column with a scheme."""
        pairs = [(name, found[place, name]) for name in self.design.confidential]
        return tuple(Trace.of(self.seed, "tie", name, each) for name, each in pairs)

    def fingerprints(self, schemes: Sequence[Scheme]) -> Fingerprints:
        """Of every confidential column with what each scheme names."""
        found: Fingerprints = self.looked(set(), schemes)[0]
        return found

    def looked(self, columns: set[str], schemes: Sequence[Scheme], *looks: Callable[[Block], Any]) -> Product:
        """Fingerprints of columns, and of every confidential column with what each scheme names, and other looks, in
        one pass."""
        key, own = self.key, self.design.confidential
        beside = [[*columns_of(each), *(self.names[name] for name in _confidential(each))] for each in schemes]
        needed = {*columns, *own, *(name for names in beside for name in names)}

        def of(block: Block) -> Product:
            words = {name: value_words(block.columns[name]) for name in {*columns, *own}}
            found = Fingerprints({name: Fingerprint.of(words[name], key) for name in columns})
            for place, names in enumerate(beside):
                others = [exact_words(block.columns[name]) for name in names]
                for name in own:
                    found[place, name] = Fingerprint.of(fingerprints(len(block), [words[name], *others]), key)
            return Product(found, *(look(block) for look in looks))

        return self.rows.fold(of, sorted(needed), "looking at the ledger")

    def words_at(self, places: NDArray[np.int64], columns: Sequence[str]) -> dict[str, Words]:
        """Keyed words of columns in some records, by their places in rising order."""
        key = self.key  # the seed itself goes nowhere

        def of(block: Block) -> list[dict[str, Words]]:
            first, last = np.searchsorted(places, [block.start, block.start + len(block)])
            rows = places[first:last] - block.start
            return [{name: keyed(cells_at(block.columns[name], rows), key) for name in columns}]

        parts = self.rows.fold(of, columns, "looking at the ledger")
        return {name: np.concatenate([part[name] for part in parts]) for name in columns}


def columns_of(scheme: Scheme) -> list[str]:
    """Columns of the file that a scheme names, those that the method made aside."""
    made = [name for name, _ in scheme.made]
    by = {name for groups, _ in scheme.parts for name in groups if name not in made}
    given = {name for _, terms in scheme.parts for term in terms for name in parse(term).columns}
    return sorted(by | given | {*scheme.groups} | {scheme.weight, scheme.unit} - {""})


def _confidential(scheme: Scheme) -> list[str]:
    """Keyed names of confidential columns whose missing cells count."""
    return list(json.loads(scheme.settled)["confidential"]) if scheme.settled else []


def _keyed(seed: Seed, name: str) -> str:
    return seed.digest("name", name)[:16]


def packed(labels: NDArray[np.int64]) -> str:
    """Groups of records, the same however they are numbered."""
    _, first, place = np.unique(labels, return_index=True, return_inverse=True)
    ranks = np.argsort(np.argsort(first))[place]
    return base64.b64encode(zlib.compress(ranks.astype("<u4").tobytes())).decode("ascii")


def unpacked(text: str) -> NDArray[np.int64]:
    """The number of every record's group."""
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype="<u4").astype(np.int64)


def _named(roles: Roles) -> Iterator[tuple[str, str]]:
    """Every column with its role, the confidential ones first."""
    for role, value in roles.items():
        if not role.rule.of_confidential:
            yield from ((role.name, name) for name in role.rule.columns(value))


def _scheme(seed: Seed, done: Protected, settled: bool, method: Method) -> Scheme:
    design, roles, few = done.design, done.design.roles, done.rows.n <= PACKED
    told = {name: getattr(roles, name) for name in SETTLED}
    told["confidential"] = [_keyed(seed, name) for name in roles.confidential]
    kept = [promise for promise in method.promises(design) if promise.name in LINEAR]
    parts: dict[tuple[str, ...], set[str]] = {}
    for promise in kept:
        parts.setdefault(promise.domain.by, set()).update(_terms(design, promise))
    return Scheme(
        tuple((by, tuple(sorted(terms))) for by, terms in sorted(parts.items())),
        roles.weight or "",
        json.dumps(told, sort_keys=True) if settled else "",
        roles.merge_below,
        tuple(roles.groups),
        tuple((name, packed(labels) if few else "") for name, labels in done.labels.items()),
        any(promise.domain.holes for promise in kept),
        (roles.merge_below and roles.unit) or "",
    )


def _terms(design: Design, promise: Promise) -> Iterator[str]:
    """The terms whose fits are kept."""
    if promise.name == "fit":
        wanted = design.names if promise.terms is None else promise.terms
        of = dict(zip(design.names, design.term_of, strict=True))
        yield from (design.terms[of[name]] for name in wanted if of[name] >= 0)
        if promise.terms is None and design.absorbed is not None:
            yield design.terms[-1]
