"""Columns of few values whose kept products tell more than they hold."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import count, listed
from suffice.risk.assessment import Assessment
from suffice.risk.information import FewBits


def information(risk: Assessment) -> Finding | None:
    """n records with H bits each, and up to 48 bits told by each kept product: 1.25 times as many told as held: stop.

    Products that earlier releases have kept of the same column are told too, those that are the same once. Whoever
    has the release then finds the one column of such values that has these products, by lattice reduction.
    """
    if not risk.few_bits:
        return None
    worst = min(risk.few_bits, key=lambda found: found.held / found.told)
    names = listed(dict.fromkeys(found.column for found in risk.few_bits))
    return Finding(
        "information",
        "stop",
        f"{names}: few values, and what is kept {_with(worst)}tells more than they hold {_where(worst)}: "
        f"{worst.held:.0f} bits in {count(worst.records, 'record')}, {worst.told:.0f} told. Exact products with "
        "numbers of many digits have one solution.",
        "Name the column in `integer`, so that it is rounded; or give classes (C()) in place of numbers with many "
        "digits, fewer terms, larger groups, a rounded weight.",
        {"column": worst.column, "records": worst.records, "held": worst.held, "told": worst.told},
    )


def _with(found: FewBits) -> str:
    return f"with {count(found.releases, 'earlier release')} " if found.releases else ""


def _where(found: FewBits) -> str:
    return f"in {found.places:,} of {found.of:,} groups or cells by {found.where}" if found.where else "in the file"
