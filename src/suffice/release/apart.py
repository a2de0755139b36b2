"""Columns that one method drew, and those of another beside them."""

from __future__ import annotations

from typing import Any

from suffice.algorithms.margins import placed
from suffice.design.roles import Roles
from suffice.microdata.margins import levels_of
from suffice.protection.protected import Protected


def beside_numbers(drawn: Protected, roles: Roles) -> dict[str, Any]:
    """Drawn columns in the order of the rows; where numbers are given some of these, below what numbers are given.

    Every drawn record then goes to one that has its given columns, each once and at random: the file that it would be
    if numbers had gone to the drawn records, in another order. These columns stand there already.

    roles: of the numbers
    """
    columns, given = drawn.released.under(""), roles.terms.columns
    if not {*columns} & {*given}:
        return columns
    made = drawn.rows.with_columns(columns)
    after, before = ([levels_of(rows, name)[1] for name in (*given, *roles.groups)] for rows in (made, drawn.rows))
    places = placed(after, before, drawn.stream.generator("beside numbers").permutation(drawn.rows.n))
    held = made.gather([name for name in columns if name not in given])
    return {name: values[places] for name, values in held.items()}
