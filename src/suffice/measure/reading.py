"""Two files, or more, made a pair: columns checked, records joined, missing cells left out, large files sampled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import sqrt
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.design.coding import Coding
from suffice.design.condition import parse
from suffice.design.inspection import LARGEST
from suffice.design.roles import NUMERIC, Roles
from suffice.errors import InputError, count_of, escaped, suggest
from suffice.measure.numbers import FileNumbers, sample_places, stacked
from suffice.measure.pair import Columns, FilePair, length, taken
from suffice.rows.bridge import arrow, flags, numbers
from suffice.rows.memory import ArrayRows
from suffice.rows.rows import Block, Kind, Product, Rows

CELLS = 2**25
"""Cells of a file that are held in memory; of a larger one a sample, for measures that do not go by blocks."""
FEWEST = 2
"""Records of a file that are compared."""
SURE = 4.0
"""Standard deviations beyond which records of the hold-out that stand in the original are no chance."""
SHARED = 0.5
"""Of the records: if so many have the values of others, a hold-out that overlaps looks like one that does not."""


def paired(
    before: Rows,
    after: Sequence[Rows],
    roles: Roles,
    aligned: bool | None = None,
    holdout: Rows | None = None,
    analyses: Sequence[str] = (),
    named: Sequence[str] = (),
    where: str | None = None,
) -> tuple[FilePair, tuple[str, ...]]:
    """The pair, and what must be said of it. Columns of dates count days, or what their type counts.

    aligned: whether all files have the same records in the same order; None: if identifiers join them
    named: columns that are wanted beside those that have roles
    where: a condition; only records of every file for which it holds there
    """
    count = 1 + len(after)
    files = [("The original", before), *_named(after), *([("The hold-out", holdout)] if holdout is not None else [])]
    _check(files, roles)
    categories = tuple(_categories(files[:count], roles))
    joinable = aligned is not False and _joinable(before, after, roles)
    joined = aligned is None and joinable
    if aligned and (other := [f"{who.lower()} {rows.n:,}" for who, rows in files[1:count] if rows.n != before.n]):
        raise InputError(
            f"The original has {count_of(before.n, 'record')} and {other[0]}: they are not aligned.\n"
            "Leave `aligned` (--aligned) out, and measures that need no alignment are taken; or name identifiers."
        )
    mine = dict.fromkeys((*roles.columns, *named))
    names = [name for name in mine if before.kinds.get(name, "other") != "other"]
    told = joinable or (holdout is not None and all(name in holdout.kinds for name in roles.identifiers))
    wanted = [name for name in names if told or name not in roles.identifiers]
    coding, notes = Coding.learn(before, roles, ("date",)), [*_lacking(files, roles)]
    read = [_read(coding.encoded(rows), wanted, joined) for _, rows in files]
    if joined:
        read[:count], said = _joined(read[:count], wanted, roles.identifiers)
        notes += said
    plain, same = tuple(name for name in roles.confidential if name not in categories), bool(aligned or joined)
    holed = read
    read = _complete(read, count if same else 0, (*plain, *_weight(roles)), wanted, roles, notes)
    kept = roles.missing == "patterns" and read != holed
    _small_enough(read, plain, roles.weight)
    if where is not None:
        holed = _within(holed, 0, where, wanted, [])[0] if kept else []
        read, lost = _within(read, count if same else 0, where, wanted, notes)
        same = same and not lost
    held = [_held(rows, wanted) for rows in read]
    some = [f"{length(columns):,} of {count_of(rows.n, 'record')}" for columns, rows in zip(held, read, strict=True)]
    apart = [i for i, rows in enumerate(read) if length(held[i]) < rows.n]
    notes += [f"{files[i][0]} is sampled, where a measure says so: {some[i]}." for i in apart]
    if aligned and joinable and any(_unlike(held[0], each, roles.identifiers) for each in held[1:count]):
        notes.append(
            "The files are taken as aligned, and their identifiers stand in another order: is record i of a release "
            "made of record i of the original? Leave `aligned` (--aligned) out, and identifiers join them."
        )
    varying = tuple(_varying(read[0], plain, notes))
    if not varying and not categories:
        raise InputError("No confidential column varies in the original: there is nothing to tell.\nName others.")
    if roles.weight:
        notes.append(f"The weight {escaped(roles.weight)} counts in measures that say so, and in no other.")
    pair = FilePair(
        roles,
        held[0],
        tuple(held[1:count]),
        varying,
        categories,
        same,
        held[-1] if holdout is not None else None,
        tuple(analyses),
        some[apart[0]] if apart else "",
        dates=tuple(name for name in before.kinds if before.kinds[name] == "date"),
        rows=tuple(read[:count]) if apart else (),
        holed=tuple(holed[:count]) if kept else (),
    )
    if holdout is not None:
        notes += _apart(pair)
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


def _read(rows: Rows, names: Sequence[str], whole: bool) -> Rows:
    """In memory, where they are few enough or must be."""
    there = [name for name in names if name in rows.kinds]
    if not whole and rows.n * max(1, len(there)) > CELLS:
        return rows
    return ArrayRows(rows.gather(there), {name: rows.kinds[name] for name in there}, rows.threads)


def _held(rows: Rows, names: Sequence[str]) -> Columns:
    """Columns in memory: of all records, or of some."""
    there = [name for name in names if name in rows.kinds]
    most = max(2, CELLS // max(1, len(there)))
    if rows.n <= most or not there:
        return rows.gather(there)
    chosen = np.zeros(rows.n, dtype=bool)
    chosen[sample_places(rows.n, most)] = True
    return _kept(rows, chosen, there).gather(there)


def _kept(rows: Rows, chosen: Flags, names: Sequence[str]) -> Rows:
    """Some of the records, in memory where all are."""
    there = [name for name in names if name in rows.kinds]
    if not rows.held:
        return rows.select(chosen, there, {})
    kinds = {name: rows.kinds[name] for name in there}
    return ArrayRows(taken(rows.gather(there), np.flatnonzero(chosen)), kinds, rows.threads)


def _joined(files: Sequence[Rows], wanted: Sequence[str], names: Sequence[str]) -> tuple[list[Rows], list[str]]:
    """The records that all files have, in the order of the original."""
    held = [rows.gather([name for name in wanted if name in rows.kinds]) for rows in files]
    own, *theirs = (_keys(columns, names) for columns in held)
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
    found = [kept, *(numbers(each.take(arrow(kept))).astype(np.int64) for each in places)]
    return [
        ArrayRows(taken(columns, at), rows.kinds, rows.threads)
        for columns, at, rows in zip(held, found, files, strict=True)
    ], said


def _unlike(first: Columns, other: Columns, names: Sequence[str]) -> bool:
    return not _keys(first, names).equals(_keys(other, names))


def _keys(columns: Columns, names: Sequence[str]) -> Any:
    texts = [columns[n] if isinstance(columns[n], pa.Array) else arrow(columns[n]).cast(pa.string()) for n in names]
    return pc.binary_join_element_wise(*texts, "\0") if len(texts) > 1 else texts[0]


def _complete(
    files: Sequence[Rows], alike: int, names: Sequence[str], wanted: Sequence[str], roles: Roles, notes: list[str]
) -> list[Rows]:
    """Without records that lack a number, or refused where the roles do not say what to do with them.

    alike: how many of the files, the first ones, are aligned
    """
    lost, which = [], set[str]()
    for rows in files:
        hole, here = _holes(rows, [name for name in names if name in rows.kinds])
        lost.append(hole)
        which |= here
    if which and roles.missing == "error":
        raise InputError(
            f"Cells of {escaped(', '.join(name for name in names if name in which))} are missing or infinite.\n"
            "Drop or impute these records first, or ask for missing='drop' (--missing drop), or for 'patterns', where "
            "holes are to be compared too."
        )
    if not which:
        return list(files)
    lost[:alike] = [np.logical_or.reduce(lost[:alike])] * alike
    gone = ", ".join(f"{np.sum(each):,} of {np.size(each):,}" for each in lost)
    but = ", but where missing cells count" if roles.missing == "patterns" else ""
    notes.append(f"Records with missing cells are left out{but}: {gone} in the files as they were given.")
    if any(np.sum(~each) < 2 for each in lost):
        raise InputError("Fewer than two records have no missing cell.\nUse fewer confidential columns.")
    return [_kept(rows, ~each, wanted) for rows, each in zip(files, lost, strict=True)]


def _holes(rows: Rows, names: Sequence[str]) -> tuple[Flags, set[str]]:
    """Records that lack one of the numbers, and which these are."""
    if not names:
        return np.zeros(rows.n, dtype=bool), set()

    def of(block: Block) -> Product:
        hole = ~np.isfinite(stacked(block, names))
        return Product([hole.any(axis=1)], hole.any(axis=0))

    lost, which = rows.fold(of, names, "reading")
    return np.concatenate(lost), {name for name, here in zip(names, which, strict=True) if here}


def _within(
    files: Sequence[Rows], alike: int, text: str, wanted: Sequence[str], notes: list[str]
) -> tuple[list[Rows], bool]:
    """The records for which a condition holds; and whether files that were aligned are not any more."""
    condition = parse(text)
    chosen = []
    for rows in files:
        if any(name not in rows.kinds for name in condition.columns):
            condition.of(dict.fromkeys(rows.kinds))  # which says so
        chosen.append(np.concatenate(rows.fold(lambda b: [condition.of(b.columns)], condition.columns, "reading")))
    if min(int(each.sum()) for each in chosen) < FEWEST:
        raise InputError(f"The condition {text!r} leaves fewer than {FEWEST} records of a file.\nGive a wider one.")
    lost = any(not np.array_equal(chosen[0], each) for each in chosen[1:alike])
    counts = ", ".join(f"{each.sum():,} of {len(each):,}" for each in chosen)
    told = " These are others in each file, so that none stands for another." * lost
    notes.append(f"Only records where {' '.join(text.split())}: {counts} in the files.{told}")
    return [_kept(rows, each, wanted) for rows, each in zip(files, chosen, strict=True)], lost


def _small_enough(files: Sequence[Rows], names: Sequence[str], weight: str | None) -> None:
    for rows in files:
        there = [name for name in (*names, weight) if name is not None and name in rows.kinds]
        if not there:
            continue
        ends = rows.fold(partial(_ends, names=there), there, "reading")
        low, high = np.min([each[0] for each in ends], axis=0), np.max([each[1] for each in ends], axis=0)
        if weight in there and low[there.index(weight)] < 0:
            raise InputError(f"Cells of the weight {weight!r} are negative.\nA weight must be 0 or more.")
        for name, size in zip(there, np.maximum(-low, high), strict=True):
            if size > LARGEST and name != weight:
                raise InputError(
                    f"Numbers of {name!r} are too large to be squared.\nDivide the column by a constant first."
                )


def _ends(block: Block, names: Sequence[str]) -> list[Array]:
    A = stacked(block, names)
    return [np.array([A.min(axis=0), A.max(axis=0)])]


def _varying(rows: Rows, names: tuple[str, ...], notes: list[str]) -> Iterator[str]:
    if not names:
        return iter(())
    spread = FileNumbers(rows, names).spread
    varies = dict(zip(names, spread.high > spread.low, strict=True))
    if tiny := [name for name, width in zip(names, spread.high - spread.low, strict=True) if 0 < width < 1 / LARGEST]:
        raise InputError(
            f"Numbers of {tiny[0]!r} are too small to be squared.\nMultiply the column by a constant first."
        )
    if still := [name for name in names if not varies[name]]:
        notes.append(f"Columns with one value in the original are left out: {escaped(', '.join(still))}.")
    return (name for name in names if varies[name])


def _apart(pair: FilePair) -> Iterator[str]:
    """Refuses a hold-out that has records of the original, beyond those that records have in common by chance."""
    names, known = (*pair.numbers, *pair.categories), pair.roles.identifiers
    if pair.aside is None or any(name not in pair.aside for name in names):
        return
    own, theirs = (_words(columns, names) for columns in (pair.before, pair.aside))
    values, times = np.unique(own, return_counts=True)
    shared, n = float(times[times > 1].sum()) / len(own), len(theirs)
    found, likely = int(np.isin(theirs, values).sum()), shared
    if known and all(name in file for name in known for file in (pair.before, pair.aside)):
        mine, other = (_words(columns, known) for columns in (pair.before, pair.aside))
        _, one, two = np.intersect1d(mine, other, return_indices=True)  # the same record, or both count from one
        same = int((own[one] == theirs[two]).sum())
        if not len(one):
            return
        if _beyond(same, len(one), equal := float(((times / len(own)) ** 2).sum())):
            found, n, likely = same, len(one), equal
    if _beyond(found, n, likely):
        raise InputError(
            f"{found:,} of {count_of(len(theirs), 'record')} of the hold-out are in the original too (by chance about "
            f"{n * likely:,.0f}): it was not kept back.\nGive records of which the release was not made."
        )
    if shared > SHARED:
        yield (
            "Most records have values that others have too, so that nothing tells whether the hold-out was kept back: "
            "name identifiers that both it and the original have."
        )


def _beyond(found: int, of: int, likely: float) -> bool:
    """Whether so many are more than chance; one or two are no sign."""
    return found > of * likely + SURE * sqrt(1.0 + of * likely * (1 - likely))


def _words(columns: Columns, names: Sequence[str]) -> NDArray[Any]:
    """A word for every record."""
    return np.asarray(_keys(columns, names).fill_null("").to_numpy(zero_copy_only=False)).astype(str)
