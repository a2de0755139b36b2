"""Columns of a released file, as they can be compared with those of the original."""

from __future__ import annotations

import numpy as np

from suffice.algebra.array import Array
from suffice.design.design import Design
from suffice.design.profile import Matrices, centre_of
from suffice.design.roles import Roles
from suffice.errors import InputError
from suffice.rows.rows import Rows


def check_columns(rows: Rows, design: Design, roles: Roles, valued: bool = False) -> None:
    """Refuses columns that are not there, are no numbers, or hold what cannot be compared.

    valued: the confidential columns are no numbers, and whatever they hold is compared
    """
    absent = [name for name in (*design.columns, *roles.keep) if name not in rows.kinds]
    if absent:
        raise InputError(f"The released file has no column {', '.join(map(repr, absent))}.")
    wrong = [name for name in design.confidential if rows.kinds[name] not in ("float", "integer")]
    if wrong:
        raise InputError(f"The released file's column {', '.join(map(repr, wrong))} is not numeric.")
    if not valued:
        scale(rows, design)  # refuses what is missing, infinite or of an unknown level


def scale(rows: Rows, design: Design) -> tuple[Array, Array]:
    """Means and largest values of all columns; where cells may be missing, nothing is compared about these."""
    if design.roles.missing == "patterns":
        design.complain(rows)
        return np.zeros(design.m + design.k), np.ones(design.m + design.k)
    spread = Matrices(design, False).profile(rows).spread
    return centre_of(design, spread), spread.size
