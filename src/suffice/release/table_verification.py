"""verify_table(): the cells of an original against those of a released file, whoever made it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.algebra.array import Flags
from suffice.certificate.paper import paper_beside
from suffice.certificate.tables import CHANGED, NOT_PROMISED, TableCertificate, certify_cells
from suffice.certificate.verification import Verification
from suffice.errors import UsageError, count_of
from suffice.guards.finding import Finding, gravest
from suffice.statistics.cells import ALIKE, Additivity, CellPromise, PublishedCells
from suffice.statistics.safe_cells import SafeCells
from suffice.tables.adjust.adjust import KEEPS, refuse_words
from suffice.tables.adjust.adjustment import LEVELS
from suffice.tables.adjust.moments import CellSets
from suffice.tables.columns import columns_of_file
from suffice.tables.methods.adjust import slices
from suffice.tables.publication import MARK, CellsOfFile
from suffice.tables.sdmx import columns_of_sdmx, tells_sensitive
from suffice.tables.sensitivity import Sensitivity, value_of
from suffice.tables.table import Table

if TYPE_CHECKING:
    import pyarrow as pa

PRIVATE_COLUMNS = (
    "sensitive",
    "rule",
    "forced",
    "cost",
    "lower",
    "upper",
    "low",
    "high",
    "numbers",
    "verdict",
    "contributors",
    "largest",
)
"""Beginnings of columns that our own files for the data holder have."""


def verify_table(
    original: Table,
    released: Any,
    values: str | Sequence[str] | None = None,
    suppressed: Sequence[bool] | Flags | None = None,
    changed: bool = False,
    sensitivity: Sequence[Sensitivity] = (),
    keep: str | None = None,
    planes: Sequence[str] | None = None,
) -> Verification:
    """Whether the released cells add up and published ones are the original's; and whether a suppressed one is there.

    released: a file of cells, or a frame; totals that it does not list are sums of its lowest cells
    suppressed: the pattern; without it: cells without a number, cells that the file marks, counts that are not whole,
        and sums with such cells in them that are not the original's
    changed: cells were adjusted, and no cell is to be the original's: sums are looked at, and what follows
    sensitivity: of every value, cells that must be their level away from the original's
    keep, planes: statistics of cells that must be the original's, as the method `Adjust` has them

    >>> table = Table.of_cells({"a": ["Total", "x", "y", "z"], "v": [9, 2, 3, 4]}, ["a"], ["v"])
    >>> verify_table(table, {"a": ["Total", "x", "y", "z"], "v": [9, None, None, 4]}).holds
    True
    >>> verify_table(table, {"a": ["Total", "x", "y", "z"], "v": [9, None, None, 5]}).holds
    False
    """
    asked = [values] if isinstance(values, str) or values is None else values
    names = tuple(value_of(original, name) for name in asked)
    file = columns_of_file(_framed(released), [])
    after = CellsOfFile.read(original, file, names)
    before = np.column_stack([original.values[name] for name in names])
    known = ~np.isnan(before).any(axis=1) & ~original.hidden & ~original.impossible
    alike = (np.abs(after.cells - before) <= ALIKE * np.maximum(after.size, np.abs(before))).any(axis=1)
    told = after.gaps([name in original.counts for name in names])
    gaps = told & ~(alike & ~after.stored) if suppressed is None else original.gaps(suppressed)
    labels = [original.label(cell) for cell in range(len(original))]
    promises: tuple[CellPromise, ...] = (
        Additivity(original.relations, [labels[cell] for cell in original.totals]),
        *_adjusted(original, names, labels, sensitivity, keep, planes),
        *([] if changed else [PublishedCells(known & ~gaps, after.stored, after.size, labels)]),
    )
    dims = tuple(axis.name for axis in original.grid.axes)
    bare = TableCertificate(
        (),
        file.num_rows,
        dims,
        names,
        "unknown",
        "both files",
        None,
        (),
        CHANGED if changed else NOT_PROMISED,
        True,
        cells=int((~original.hidden).sum()),
        suppressed=int(gaps.sum()),
        equations=original.relations.shape[0],
    )
    found = certify_cells(before, after.cells, promises, bare)
    own, unchecked = paper_beside(released)
    extra = [name for name in file.column_names if name not in (*dims, *names, MARK, *columns_of_sdmx(file))]
    findings = gravest([*own, *_there(gaps & known & alike), *_columns(extra), *_letters(file)])
    open_ = ["how well suppressed cells are protected: suffice table audit", "the key, the method and earlier releases"]
    open_ += ["which cells are to be suppressed: none were named"] * (suppressed is None)
    if changed:
        first = ["how far sensitive cells are from the original's: --protection"] * (not sensitivity)
        open_ = [*first, *["which statistics were kept: --keep"] * (keep is None), open_[1]]
    return Verification(found, findings, (*open_, *unchecked), None)


def _adjusted(
    table: Table,
    names: Sequence[str],
    labels: Sequence[str],
    sensitivity: Sequence[Sensitivity],
    keep: str | None,
    planes: Sequence[str] | None,
) -> Iterator[CellPromise]:
    """What an adjusted table promises beside its sums."""
    if sensitivity:
        given = {each.value: each for each in sensitivity}
        if set(given) != set(names):
            raise UsageError("Protection levels are needed for every value, or for none.")
        columns = [np.column_stack([getattr(given[n], word) for n in names]) for word in ("sensitive", *LEVELS)]
        yield SafeCells(columns[0] & ~table.hidden[:, None], columns[1], columns[2], labels)
    if keep is not None:
        refuse_words(keep=(keep, KEEPS))
        sets = slices(table, planes[0], planes[1:]) if planes else None
        yield CellSets.of(table, names, sets).promise(keep)


def _framed(released: Any) -> Any:
    import pyarrow as pa

    return pa.table(released) if isinstance(released, dict) else released


def _there(cells: Flags) -> Iterator[Finding]:
    if cells.any():
        yield Finding(
            "suppressed-cells",
            "stop",
            f"{count_of(int(cells.sum()), 'suppressed cell')} with the original's value in the released file",
            "Release the file that was certified.",
        )


def _letters(file: pa.Table) -> Iterator[Finding]:
    if tells_sensitive(file):
        said = "CONF_STATUS tells which suppressed cells are sensitive (C), and which stand beside them (D)"
        yield Finding("private-columns", "stop", said, "Release the published table, where all of them have N.")


def _columns(extra: Sequence[str]) -> Iterator[Finding]:
    private = [name for name in extra if name.startswith(PRIVATE_COLUMNS)]
    if private:
        said = f"columns for the data holder alone: {', '.join(private)}"
        yield Finding("private-columns", "stop", said, "Leave them out.")
    if len(extra) > len(private):
        others = [name for name in extra if name not in private]
        yield Finding("unknown-columns", "warn", f"columns that are no dimension and no value: {', '.join(others)}")
