"""The certificate as a page that may travel with the release: what its JSON holds, no more; a table is drawn."""

from __future__ import annotations

from collections.abc import Sequence

from suffice.report.page import Document, render
from suffice.report.tables import TablePicture


def page(certificate: Document, pictures: Sequence[TablePicture] = ()) -> str:
    """The page as HTML."""
    return render("public.html", certificate=certificate.as_dict(), pictures=pictures)
