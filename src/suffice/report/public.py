"""Pages that may travel with a release: what the certificate holds, what the released file itself shows, no more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from suffice.report import pictures as drawn
from suffice.report.histograms import Histograms
from suffice.report.levels import FEWEST, LevelCounts
from suffice.report.page import Document, render
from suffice.report.tables import TablePicture


def page(certificate: Document, pictures: Sequence[TablePicture] = ()) -> str:
    """The page as HTML."""
    return render("public.html", certificate=certificate.as_dict(), pictures=pictures)


def report(certificate: Document, released: Histograms | None, levels: Sequence[LevelCounts] = ()) -> str:
    """The public report: the certificate, and the released columns as anyone can draw them from the file.

    released: of the released file beside itself, so that nothing of the original is in it, not even an axis
    levels: of its categories; those of few records are not named

    No quantile is told: methods that deal values anew release the original's.
    """
    matrix = None if released is None else drawn.correlations(None, released.correlations[1], released.names)
    return render(
        "public_report.html",
        certificate=certificate.as_dict(),
        columns=[] if released is None else _columns(released),
        categories=[(each.name, each.lines(FEWEST)) for each in levels],
        correlations=matrix,
    )


def _columns(released: Histograms) -> list[dict[str, Any]]:
    seen = released.figures[1]
    return [
        {
            "name": name,
            "picture": drawn.histogram(released.edges[j], released.bends[j], None, released.counts[1][j]),
            "lines": [
                ("mean", f"{seen.plain_mean[j]:,.6g}"),
                ("negative cells", f"{seen.negative[j]:,}"),
                ("missing cells", f"{seen.missing[j]:,}"),
            ],
        }
        for j, name in enumerate(released.names)
    ]
