"""A plan for a table: make it, find what is sensitive, audit the pattern, publish."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import Field

from suffice.errors import UsageError
from suffice.files.format import in_encoding
from suffice.plan import mistakes
from suffice.plan.plan import AnyPlan, DataSection, ReleaseSection, Section, SeedSection, Step
from suffice.progress import Progress

if TYPE_CHECKING:
    from pathlib import Path

    from suffice.algebra.array import Flags
    from suffice.files.draft import Labelled
    from suffice.release.tables import TableRelease
    from suffice.tables.publication import TableMethod
    from suffice.tables.sensitivity import Sensitivity
    from suffice.tables.table import Table


class TableSection(Section):
    """[table]: how it is made of the data, what is sensitive in it, and which cells are suppressed.

    cells: the data are cells with their totals, not records
    pattern: a file of cells that says which are suppressed: by its column `suppressed`, or by their having no value.
        Without one the sensitive cells alone are, and the audit says whether that is enough
    bounds: two columns of the cells, between which everybody knows them; else `beforehand`, a share of each
    protection, capacities: columns of the cells, one for every value: levels, and what an adjustment may change
    fixed: a column of the cells that marks those that an adjustment leaves, and that no pattern suppresses
    costs, last: columns of the cells: what suppressing one costs, and those that an earlier pattern suppressed
    """

    dims: list[str] = Field(default_factory=list)
    values: list[str] = Field(default_factory=list)
    formula: str | None = None
    total: str | list[str] = "Total"
    hierarchies: dict[str, str] = Field(default_factory=dict)
    frequency: str | None = None
    contributor: str | None = None
    holding: str | None = None
    weight: str | None = None
    asked: str | None = None
    waived: str | None = None
    cells: bool = False
    counts: list[str] = Field(default_factory=list)
    contributors: str | None = None
    largest: list[str] = Field(default_factory=list)
    rules: list[str] = Field(default_factory=list)
    zeros: bool = False
    weights: str = "largest"
    priors: str | None = None
    pattern: str | None = None
    suppressed: str | None = None
    beforehand: float | None = None
    bounds: list[str] = Field(default_factory=list)
    protection: list[str] = Field(default_factory=list)
    fixed: str | None = None
    capacities: list[str] = Field(default_factory=list)
    costs: str | None = None
    last: str | None = None


class TableReleaseSection(ReleaseSection):
    """[release]: what is written.

    pattern: for the holder alone, all cells with their status: .csv, .sdmx.csv, .tab of tau-ARGUS or .jj
    """

    pattern: str | None = None


RECORDS = ("formula", "contributor", "holding", "weight", "asked", "waived")
CELLS = ("counts", "contributors", "largest", "bounds", "protection", "fixed", "capacities", "costs", "last")
"""Keys that go with records, and with cells."""


class TablePlan(AnyPlan):
    """One request: data, table, a method for it (or none: crosses), seed, accepted findings, release.

    >>> plan = TablePlan.of({"data": {"path": "firms.csv"}, "table": {"dims": ["region"], "rules": ["frequency=3"]},
    ...                      "method": [{"name": "decimals"}], "release": {"path": "out.csv"}})
    >>> TablePlan.parse(plan.to_toml()) == plan
    True
    """

    data: DataSection
    table: TableSection
    method: list[Step] = Field(default_factory=list)
    seed: SeedSection | None = None
    accept: dict[str, str] = Field(default_factory=dict)
    release: TableReleaseSection

    @classmethod
    def sections(cls) -> dict[str, type[Section]]:
        return {
            "": cls,
            "data": DataSection,
            "table": TableSection,
            "seed": SeedSection,
            "release": TableReleaseSection,
        }

    @classmethod
    def mistakes(cls, tables: Mapping[str, Any]) -> Iterator[str]:
        from suffice.catalogue import table_methods
        from suffice.guards.tables import TABLE_GUARDS

        steps, given = tables.get("method"), tables.get("table")
        yield from mistakes.of_steps(steps, table_methods())
        yield from mistakes.of_rules(tables.get("accept"), TABLE_GUARDS)
        if isinstance(steps, list) and len(steps) > 1:
            yield "method: a table is published by one method."
        if isinstance(given, dict):
            yield from _of_table(given)

    def build_method(self) -> TableMethod:
        """The method: crosses, unless told."""
        from suffice.catalogue import build_table_method

        step = self.method[0] if self.method else Step(name="suppress")
        return build_table_method(step.name, step.model_extra or {})

    def pattern_file(self) -> Path | None:
        return None if self.release.pattern is None else self.path(self.release.pattern)

    def kept_files(self) -> list[Labelled]:
        from suffice.ledger import Ledger

        given = self.table
        found = [("the data", self.path(self.data.path))]
        others = [("the pattern", given.pattern), ("the decisions", given.priors)]
        others += [("a hierarchy", name) for name in given.hierarchies.values()]
        found += [(what, self.path(name)) for what, name in others if name]
        key = self.path(self.seed.key_file) if self.seed else None
        return found if key is None else [*found, ("the key", key), ("the ledger", Ledger.of(key).path)]

    def make(self) -> Table:
        """The table, before anything is suppressed."""
        from suffice.tables.hierarchy import read_hierarchy
        from suffice.tables.table import Table

        given, first = self.table, self.table.total
        total = first if isinstance(first, str) else first[0]
        hierarchies = {
            name: read_hierarchy(name, self.path(file), total, self.data.encoding)
            for name, file in given.hierarchies.items()
        }
        if given.cells:
            return Table.of_cells(
                self._source(self.data.path),
                given.dims,
                given.values,
                total=first,
                hierarchies=hierarchies,
                counts=given.counts,
                records=given.frequency,
                units=given.contributors,
                largest=given.largest,
            )
        return Table.of_records(
            self._source(self.data.path),
            given.dims or None,
            [name for name in given.values if name != "count"],
            hierarchies=hierarchies,
            total=total,
            frequency=given.frequency,
            **{name: getattr(given, name) for name in RECORDS},
        )

    def protect(self, progress: Progress | bool | None = None, threads: int | None = None) -> TableRelease:
        """The table, audited and judged but not written."""
        from suffice.release.tables import publish

        table = self.make()
        rules = self._sensitive(table)
        return publish(
            table,
            self._pattern(table, rules),
            rules,
            self.table.values or None,
            method=self.build_method(),
            seed=self.key(),
            accept=self.accept,
            beforehand=self._known(table),
            sources=[path for _, path in self.kept_files()],
            pattern=self.pattern_file(),
            encoding=self.data.encoding,
            threads=threads,
            progress=progress,
        )

    def _source(self, name: str) -> Any:
        return in_encoding(self.path(name), self.data.encoding)

    def _sensitive(self, table: Table) -> list[Sensitivity]:
        from suffice.tables.pattern import levels_of, limited, preferred
        from suffice.tables.rules import rules_of
        from suffice.tables.sensitivity import find_sensitive, read_priors

        given = self.table
        names: list[Any] = given.values or [None]
        if given.protection:
            file = self._source(self.data.path)
            found = [levels_of(table, file, *pair) for pair in zip(names, given.protection, strict=True)]
            found = limited(table, file, found, given.fixed, given.capacities)
            return preferred(table, file, found, given.costs, given.last)
        if not given.rules and given.priors is None:
            return []
        dims = [axis.name for axis in table.grid.axes]
        priors = read_priors(self.path(given.priors), dims, self.data.encoding) if given.priors else []
        rules = rules_of(given.rules, given.zeros)
        found = [find_sensitive(table, rules, name, weights=given.weights, priors=priors) for name in names]
        file = self._source(self.data.path)
        found = limited(table, file, found, given.fixed, given.capacities)
        return preferred(table, file, found, given.costs, given.last)

    def _known(self, table: Table) -> Any:
        """What everybody knows of the cells: a share of each, or bounds."""
        from suffice.tables.pattern import columns_of_cells

        ends = self.table.bounds
        return columns_of_cells(table, self._source(self.data.path), ends) if ends else self.table.beforehand

    def _pattern(self, table: Table, rules: list[Sensitivity]) -> Flags:
        import numpy as np

        from suffice.tables.pattern import pattern_of

        file = self.table.pattern or (self.data.path if self.table.cells else None)
        if file is not None:
            value = self.table.values[0] if self.table.values else None
            return pattern_of(table, self._source(file), value, self.table.suppressed)[0]
        if not rules:
            raise UsageError("Nothing says which cells are suppressed.\nGive rules or a pattern in [table].")
        return np.asarray(np.any([each.sensitive for each in rules], axis=0))


def _of_table(given: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with [table] beyond its keys."""
    from suffice.tables.rules import rule_of

    cells = given.get("cells") is True
    if not given.get("dims") and not given.get("formula"):
        yield "table: needs dims, or a formula."
    if cells and not given.get("values"):
        yield "table.values: missing; of cells, the columns that are published."
    if given.get("suppressed") and not (given.get("pattern") or cells):
        yield "table.suppressed: is a column of the pattern, and there is none."
    for key in [key for key in (RECORDS if cells else CELLS) if given.get(key)]:
        yield f"table.{key}: goes with {'records, and the data are cells' if cells else 'cells = true'}."
    for key, many in (("bounds", 2), ("protection", len(given.get("values") or ()))):
        if given.get(key) and (not isinstance(given[key], list) or len(given[key]) != many):
            yield f"table.{key}: needs {many} columns."
    for number, rule in enumerate(given["rules"] if isinstance(given.get("rules"), list) else [], 1):
        try:
            rule_of(str(rule))
        except UsageError as error:
            yield f"table.rules[{number}]: {' '.join(str(error).split())}"
