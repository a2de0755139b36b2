"""A table drawn: what a certificate's page shows of it, and the page for the data holder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from suffice.report.page import Document, render


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class DrawnCell:
    """One cell: what is written in it, and how it is shaded (suppressed, sensitive, total), in words of its own."""

    text: str
    shades: tuple[str, ...] = ()
    original: str = ""


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class TablePicture:
    """A value of a table: codes of the last dimension across, those of the others down.

    more, beyond: rows and columns that are not drawn
    """

    value: str
    dims: tuple[str, ...]
    across: tuple[str, ...]
    down: tuple[tuple[tuple[str, ...], tuple[DrawnCell, ...]], ...]
    more: int = 0
    beyond: int = 0


def private_table(
    certificate: Document,
    findings: Iterable[object],
    pictures: Sequence[TablePicture],
    accounts: Sequence[tuple[str, Sequence[tuple[str, str]]]],
) -> str:
    """The page for the data holder as HTML.

    accounts: under each heading, by name, what was found: a value's audit, or what the method did
    """
    told = certificate.as_dict(exact=True)
    return render("private_table.html", certificate=told, findings=list(findings), pictures=pictures, accounts=accounts)
