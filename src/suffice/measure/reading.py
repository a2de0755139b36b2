"""Two files, or more, made a pair: columns checked, records joined, missing cells left out, large files sampled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from suffice.algebra.array import Flags
from suffice.design.coding import Coding
from suffice.design.inspection import LARGEST
from suffice.design.roles import NUMERIC, Roles
from suffice.errors import InputError, count_of, escaped, suggest
from suffice.measure.pair import Columns, FilePair, sample_places, taken
from suffice.rows.arrow import as_float
from suffice.rows.bridge import arrow, flags, numbers
from suffice.rows.rows import Kind, Rows

CELLS = 2**25
"""Cells of a file that are held in memory; of a larger one a sample of its records is looked at."""
SURE = 4.0
"""Standard deviations beyond which records of the hold-out that stand in the original are no chance."""


def paired(
    before: Rows,
    after: Sequence[Rows],
    roles: Roles,
    aligned: bool | None = None,
    holdout: Rows | None = None,
    analyses: Sequence[str] = (),
    named: Sequence[str] = (),
) -> tuple[FilePair, tuple[str, ...]]:
    """The pair, and what must be said of it. Columns of dates count days, or what their type counts.

    aligned: whether all files have the same records in the same order; None: if identifiers join them
    named: columns that are wanted beside those that have roles
    """
    files = [("The original", before), *_named(after), *([("The hold-out", holdout)] if holdout is not None else [])]
    _check(files, roles)
    categories = tuple(_categories(files[: 1 + len(after)], roles))
    joinable = aligned is not False and _joinable(before, after, roles)
    joined = aligned is None and joinable
    if aligned and (other := [rows.n for rows in after if rows.n != before.n]):
        raise InputError(
            f"The original has {count_of(before.n, 'record')} and a release {other[0]:,}: they are not aligned.\n"
            "Leave `aligned` (--aligned) out, and measures that need no alignment are taken; or name identifiers."
        )
    mine = dict.fromkeys((*roles.columns, *named))
    names = [name for name in mine if before.kinds.get(name, "other") != "other"]
    coding = Coding.learn(before, roles, ("date",))
    held: list[Columns] = []
    notes = [*_lacking(files, roles)]
    sampled = ""
    wanted = [name for name in names if joinable or name not in roles.identifiers]
    for who, rows in files:
        columns, some = _gathered(coding.encoded(rows), [name for name in wanted if name in rows.kinds], joined)
        held.append(columns)
        if some:
            notes.append(f"{who} is sampled: {some}.")
            sampled = sampled or some
    first, *others = held
    aside = others.pop() if holdout is not None else None
    if joined:
        first, others, said = _joined(first, others, roles.identifiers)
        notes += said
    elif joinable and any(not _same(first, each, roles.identifiers) for each in others):
        notes.append(
            "The files are taken as aligned, and their identifiers stand in another order: is record i of a release "
            "made of record i of the original? Leave `aligned` (--aligned) out, and identifiers join them."
        )
    plain = tuple(name for name in roles.confidential if name not in categories)
    first, others, aside = _complete(
        first, others, aside, (*plain, *_weight(roles)), roles, bool(aligned or joined), notes
    )
    if any((as_float(each[name]) < 0).any() for each in (first, *others) for name in _weight(roles) if name in each):
        raise InputError(f"Cells of the weight {roles.weight!r} are negative.\nA weight must be 0 or more.")
    _small_enough([first, *others, *([aside] if aside is not None else [])], plain)
    varying = tuple(_varying(first, plain, notes))
    if not varying and not categories:
        raise InputError("No confidential column varies in the original: there is nothing to tell.\nName others.")
    if roles.weight:
        notes.append(f"The weight {escaped(roles.weight)} counts in measures that say so, and in no other.")
    pair = FilePair(
        roles, first, tuple(others), varying, categories, bool(aligned or joined), aside, tuple(analyses), sampled
    )
    pair = replace(pair, dates=tuple(name for name in before.kinds if before.kinds[name] == "date"))
    if aside is not None:
        _apart(pair)
    return pair, tuple(notes)


def _named(after: Sequence[Rows]) -> list[tuple[str, Rows]]:
    return [("The release" if len(after) == 1 else f"Release {i}", rows) for i, rows in enumerate(after, 1)]


def _weight(roles: Roles) -> list[str]:
    return [roles.weight] if roles.weight else []


def _check(files: Sequence[tuple[str, Rows]], roles: Roles) -> None:
    """Refuses files whose columns cannot have these roles, or are of different kinds in two of them."""
    kinds = files[0][1].kinds
    also = {n: "float" for n in roles.confidential if kinds.get(n) in ("category", "date")}
    roles.check({**kinds, **also})  # type: ignore[dict-item]
    mistakes = []
    for who, rows in files:
        if rows.n < 2:
            mistakes.append(f"{who} has {count_of(rows.n, 'record')}: there is nothing to compare. Give two at least.")
        for name in roles.columns:
            mistakes += _mistaken(who, name, kinds[name], rows.kinds, name in roles.confidential)
    if mistakes:
        raise InputError("\n".join(mistakes))


def _mistaken(who: str, name: str, kind: Kind, kinds: Mapping[str, Kind], needed: bool) -> Iterator[str]:
    if name not in kinds:
        if needed:
            yield f"{who} has no column {name!r}.{suggest(name, kinds)}"
    elif (kind in NUMERIC) != (kinds[name] in NUMERIC) or (kind not in NUMERIC and kind != kinds[name]):
        yield f"{who} has {_kind(kinds[name])} in {name!r}, and the original {_kind(kind)}. Give both the same kind."


def _lacking(files: Sequence[tuple[str, Rows]], roles: Roles) -> Iterator[str]:
    """Columns with a role that not every file has: measures do without them."""
    for who, rows in files[1:]:
        gone = [name for name in roles.leaving if name not in rows.kinds]
        if gone:
            yield f"{who} has no column {escaped(', '.join(gone))}: measures do without."


def _kind(kind: Kind) -> str:
    return {"category": "text or categories", "date": "dates", "other": "another kind"}.get(kind, "numbers")


def _categories(files: Sequence[tuple[str, Rows]], roles: Roles) -> Iterator[str]:
    """Columns that every file has as text, or that the formula takes for factors."""
    factors = {factor.column for term in roles.terms.terms for factor in term if factor.transform == "C"}
    for name in roles.columns:
        coded = name in factors or name in roles.groups
        known = name not in (*roles.identifiers, roles.unit, roles.weight)
        if known and all(rows.kinds.get(name) == "category" or (coded and name in rows.kinds) for _, rows in files):
            yield name


def _joinable(before: Rows, after: Sequence[Rows], roles: Roles) -> bool:
    names = roles.identifiers
    return bool(names) and all(name in rows.kinds for rows in (before, *after) for name in names)


def _gathered(rows: Rows, names: Sequence[str], whole: bool) -> tuple[dict[str, Any], str]:
    """Columns in memory; and how many records they are of, where not all."""
    most = max(2, CELLS // max(1, len(names)))
    if whole or rows.n <= most:
        return rows.gather(names), ""
    kept = np.zeros(rows.n, dtype=bool)
    kept[sample_places(rows.n, most)] = True
    return rows.select(kept, names, {}).gather(names), f"{most:,} of {count_of(rows.n, 'record')}"


def _joined(
    first: Columns, others: Sequence[Columns], names: Sequence[str]
) -> tuple[Columns, list[Columns], list[str]]:
    """The records that all files have, in the order of the original."""
    own, *theirs = (_keys(columns, names) for columns in (first, *others))
    for keys in (own, *theirs):
        if keys.null_count:
            raise InputError(
                f"{count_of(keys.null_count, 'record')} of a file has no {', '.join(map(repr, names))}, so it cannot "
                "join them.\nDrop these records, or name identifiers that all have."
            )
        if pc.count_distinct(keys).as_py() < len(keys):
            raise InputError(
                f"{', '.join(map(repr, names))} names more than one record of a file, so it cannot join them.\n"
                "Name identifiers that tell every record."
            )
    places = [pc.index_in(own, value_set=keys) for keys in theirs]
    there = np.logical_and.reduce([flags(each.is_valid()) for each in places])
    if there.sum() < 2:
        raise InputError("Hardly a record of the original is found in the release by its identifiers.\nName others.")
    kept, said = np.flatnonzero(there), []
    if len(kept) < len(own):
        said.append(f"{len(kept):,} of {count_of(len(own), 'record')} are in all files and are compared.")
    found = [taken(c, numbers(p.take(arrow(kept))).astype(np.int64)) for c, p in zip(others, places, strict=True)]
    return taken(first, kept), list(found), said


def _same(first: Columns, other: Columns, names: Sequence[str]) -> bool:
    return bool(_keys(first, names).equals(_keys(other, names)))


def _keys(columns: Columns, names: Sequence[str]) -> Any:
    texts = [columns[n] if isinstance(columns[n], pa.Array) else arrow(columns[n]).cast(pa.string()) for n in names]
    return pc.binary_join_element_wise(*texts, "\0") if len(texts) > 1 else texts[0]


def _any(columns: Columns) -> Any:
    return next(iter(columns.values()))


def _complete(
    first: Columns,
    others: Sequence[Columns],
    aside: Columns | None,
    names: Sequence[str],
    roles: Roles,
    aligned: bool,
    notes: list[str],
) -> tuple[Columns, list[Columns], Columns | None]:
    """Without records that lack a number, or refused where the roles do not say what to do with them."""
    files = [first, *others, *([aside] if aside is not None else [])]
    holes = [_holes(columns, names) for columns in files]
    if any(where.any() for where in holes) and roles.missing == "error":
        which = [n for n in names if any(n in each and _holes(each, [n]).any() for each in files)]
        raise InputError(
            f"Cells of {escaped(', '.join(which))} are missing or infinite.\n"
            "Drop or impute these records first, or ask for missing='drop' (--missing drop)."
        )
    lost = [where.any(axis=1) for where in holes]
    if aligned:
        count = 1 + len(others)
        lost[:count] = [np.logical_or.reduce(lost[:count])] * count
    if not any(each.any() for each in lost):
        return first, list(others), aside
    gone = ", ".join(f"{np.sum(each):,} of {np.size(each):,}" for each in lost)
    notes.append(f"Records with missing cells are left out: {gone} in the files as they were given.")
    kept = [taken(columns, np.flatnonzero(~each)) for columns, each in zip(files, lost, strict=True)]
    if min(len(_any(each)) for each in kept) < 2:
        raise InputError("Fewer than two records have no missing cell.\nUse fewer confidential columns.")
    return kept[0], list(kept[1 : 1 + len(others)]), kept[-1] if aside is not None else None


def _holes(columns: Columns, names: Sequence[str]) -> Flags:
    none = np.zeros(len(_any(columns)), dtype=bool)
    return np.column_stack([none, *(~np.isfinite(as_float(columns[n])) for n in names if n in columns)])


def _small_enough(files: Sequence[Columns], names: Sequence[str]) -> None:
    for name in names:
        if any(np.abs(as_float(file[name])).max() > LARGEST for file in files if name in file):
            raise InputError(
                f"Numbers of {name!r} are too large to be squared.\nDivide the column by a constant first."
            )


def _varying(columns: Columns, names: Sequence[str], notes: list[str]) -> Iterator[str]:
    still = [name for name in names if as_float(columns[name]).std() == 0]
    if still:
        notes.append(f"Columns with one value in the original are left out: {escaped(', '.join(still))}.")
    return (name for name in names if name not in still)


def _apart(pair: FilePair) -> None:
    """Refuses a hold-out that has records of the original, beyond those that records have in common by chance."""
    names = (*pair.numbers, *pair.categories)
    if pair.aside is None or any(name not in pair.aside for name in names):
        return
    own, theirs = (_words(columns, names) for columns in (pair.before, pair.aside))
    values, times = np.unique(own, return_counts=True)
    found = int(np.isin(theirs, values).sum())
    chance = len(theirs) * float(times[times > 1].sum()) / len(own)
    if found > chance + SURE * np.sqrt(1.0 + chance * max(0.0, 1 - chance / len(theirs))):  # one or two are no sign
        raise InputError(
            f"{found:,} of {count_of(len(theirs), 'record')} of the hold-out are in the original too (by chance about "
            f"{chance:,.0f}): it was not kept back.\nGive records of which the release was not made."
        )


def _words(columns: Columns, names: Sequence[str]) -> NDArray[Any]:
    """A word for every record."""
    return np.asarray(_keys(columns, names).fill_null("").to_numpy(zero_copy_only=False)).astype(str)
