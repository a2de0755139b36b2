"""What a notebook shows of an object, with the parts that the pages are made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from suffice.report.page import render


class Exhibit:
    """An object that a notebook shows as HTML."""

    def exhibit(self) -> Mapping[str, Any]:
        """What `notebook.html` is filled with: parts of a release, or a kind of its own."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return render("notebook.html", **{**EMPTY, **self.exhibit()})


EMPTY: Mapping[str, Any] = {
    "kind": "release",
    "title": "",
    "certificate": None,
    "findings": None,
    "private": (),
    "unchecked": (),
}
