"""What the commands on tables read: files of our own and of other programs, as the options say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suffice.design.role import names
from suffice.errors import UsageError

if TYPE_CHECKING:
    from suffice.tables.sensitivity import Sensitivity
    from suffice.tables.table import Table


def files(cells: Path | None, given: dict[str, Any]) -> list[Path]:
    """Files that no output may replace."""
    trees = [Path(text.partition("=")[2]) for text in given["hierarchy"] or ()]
    return [path for path in (cells, given["records"], given.get("priors"), given["metadata"], *trees) if path]


def understood(cells: Path | None, given: dict[str, Any]) -> dict[str, Any]:
    """What is asked for, with what a file of another program says itself where nothing else is said."""
    from suffice.tables.argus import read_argus
    from suffice.tables.jj import read_jj
    from suffice.tables.sdmx import is_sdmx, read_sdmx

    encoding, path = given["encoding"], given.get("records") or cells
    if given["metadata"] is not None and path is not None:
        file = read_argus(path, given["metadata"], encoding)
    elif cells is not None and cells.suffix.lower() == ".jj":
        file, path = read_jj(cells, encoding), cells
    elif cells is not None and not given["dims"] and is_sdmx(_columns(cells, given)):
        file, path = read_sdmx(source(cells, given)), cells
    else:
        return given
    said = {**file.roles, "value": next(iter(file.roles["values"]), None), "marked": file.roles.get("sensitive")}
    kept = {name: said.get(name) for name in given if name not in ("total", "hierarchy", "formula")}
    found = {name: given[name] or kept.get(name) or given[name] for name in given} | {"files": {path: file.frame}}
    ends = (said["low"], said["high"]) if "low" in said and given.get("beforehand") is None else None
    return found | {"totals": said.get("total"), "trees": said.get("hierarchies"), "ends": ends}


def _columns(path: Path, given: dict[str, Any]) -> list[str]:
    """The columns of a text file."""
    from suffice.files.csv import Dialect
    from suffice.files.kind import kind_by_suffix

    if kind_by_suffix(path) != "csv" or not path.is_file():
        return []
    file = source(path, given)
    return list(Dialect.find(path, None, getattr(file, "encoding", None)).names)


def bounds(made: Table, cells: Path, given: dict[str, Any]) -> Any:
    """Between which numbers everybody knows each cell: a share of it, or what the file says."""
    from suffice.tables.pattern import columns_of_cells

    ends = names(given.get("bounds") or "") or given.get("ends")
    if ends is None:
        return given.get("beforehand")
    if len(ends) != 2:
        raise UsageError("--bounds needs two columns: LOW,HIGH.")
    return columns_of_cells(made, source(cells, given), ends)


def source(path: Path | None, given: dict[str, Any]) -> Any:
    """A file with the encoding of its text, unless its kind says that; or what was read of it."""
    from suffice.files.format import in_encoding
    from suffice.files.kind import kind_by_suffix

    if path in given.get("files", {}):
        return given["files"][path]
    says = path is None or kind_by_suffix(path) in ("parquet", "feather", "excel")
    return path if says else in_encoding(path, given["encoding"])


def listed(given: str | list[str] | None) -> list[str]:
    return given if isinstance(given, list) else names(given or "")


def hierarchies(given: dict[str, Any]) -> dict[str, Any]:
    from suffice.tables.hierarchy import read_hierarchy

    found: dict[str, Any] = {}
    trees = dict(given.get("trees") or {})
    for text in given["hierarchy"] or ():
        name, sign, path = text.partition("=")
        if not sign:
            raise UsageError("--hierarchy needs DIMENSION=FILE.")
        total = given["total"].split(",")[0].rpartition("=")[2]
        one = read_hierarchy(name, path, total, given["encoding"])
        found[name] = found[name].joined(one) if name in found else one
    return trees | found


def totals(given: dict[str, Any], dims: Sequence[str]) -> dict[str, list[str] | None]:
    """Codes for all dimensions, or by dimension: an empty one says that it has none."""
    by: dict[str, list[str]] = {}
    common: list[str] = []
    for word in names(given["total"]):
        name, sign, code = word.partition("=")
        if sign and name in dims:
            by.setdefault(name, []).extend([code] if code else [])
        else:
            common.append(word)
    said = given.get("totals") or {}  # of the file itself, where nobody has said it
    usual = {name: said[name] if name in said and common in ([], ["Total"]) else common or ["Total"] for name in dims}
    return {name: by.get(name, usual[name]) or None for name in dims}


def of_records(path: Path, given: dict[str, Any]) -> Table:
    from suffice.design.formula import parse
    from suffice.tables.table import Table

    dims, formula = [] if given["formula"] else listed(given["dims"]), given["formula"]
    people = ("frequency", "contributor", "holding", "weight", "asked", "waived")
    return Table.of_records(
        source(path, given),
        dims or None,
        listed(given["values"]),
        formula=formula,
        hierarchies=hierarchies(given),
        total=totals(given, [*dims, *(parse(formula).columns if formula else ())]),
        **{name: given[name] for name in people if name in given},
    )


def table_of(cells: Path | None, given: dict[str, Any], values: Sequence[str] = ()) -> Table:
    """The table of a file of cells, or of the records behind it."""
    from suffice.tables.table import Table

    value = list(values) or ([given["value"]] if given["value"] else [])
    if given["records"] is not None:
        return of_records(given["records"], given | {"values": [name for name in value if name != "count"]})
    if not given["dims"] or not value:
        raise UsageError("A file of cells needs --dims and --value.")
    dims = listed(given["dims"])
    return Table.of_cells(
        source(cells, given),
        dims,
        value,
        total=totals(given, dims),
        hierarchies=hierarchies(given),
        counts=value if given["counts"] else [],
        records=given["frequency"],
        units=given["contributors"],
        largest=listed(given["largest"]),
        impossible=given["impossible"],
    )


def judge(made: Table, given: dict[str, Any]) -> Sensitivity:
    from suffice.tables.rules import rules_of
    from suffice.tables.sensitivity import find_sensitive, read_priors

    rule, priors = given["rule"], given["priors"]
    if not rule and priors is None:
        raise UsageError("No rule says what is sensitive.\nGive --rule frequency=4, --rule p=10, or others.")
    rules = rules_of(rule or (), given["zeros"])
    laid = read_priors(priors, [axis.name for axis in made.grid.axes], given["encoding"]) if priors else []
    return find_sensitive(made, rules, given["value"], weights=given["weights"], priors=laid)


def pattern(
    made: Table, cells: Path, given: dict[str, Any], values: Sequence[str] = ()
) -> tuple[Any, list[Sensitivity]]:
    """Which cells are suppressed, and which are sensitive in each value: rules say it, or the file itself.

    Where a column of protection levels is all that the file says, the cells that have one are suppressed.
    """
    from suffice.tables.pattern import limited, pattern_of, preferred

    file, asked = source(cells, given), list(values) or [given["value"]]
    columns = (given[name] for name in ("suppressed", "marked", "lower", "upper"))
    gaps, told = pattern_of(made, file, asked[0], *columns)
    found = [] if told is None else [told]
    if given["rule"] or given["priors"]:
        found = [judge(made, given | {"value": value}) for value in asked]
    elif given.get("protection"):
        gaps, found = _by_levels(made, file, given, asked, gaps)
    if given.get("fixed") or given.get("capacities"):
        found = limited(made, file, found, given["fixed"], names(given.get("capacities") or ""))
    return gaps, preferred(made, file, found, given.get("costs"), given.get("last"))


def _by_levels(made: Table, file: Any, given: dict[str, Any], asked: list[str], gaps: Any) -> tuple[Any, Any]:
    import numpy as np

    from suffice.tables.pattern import levels_of

    levels = names(given["protection"])
    if len(levels) != len(asked):
        raise UsageError("--protection needs a column of levels for every value.")
    found = [levels_of(made, file, *pair) for pair in zip(asked, levels, strict=True)]
    if not (given["suppressed"] or gaps.any()):
        gaps = np.any([each.sensitive for each in found], axis=0)
    return gaps, found
