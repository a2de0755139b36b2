"""Writes the table of docs/measures.md from the declarations: uv run python docs/measures_table.py"""

from __future__ import annotations

import re
from pathlib import Path

from suffice.release.measures import MEASURES

PAGE = Path(__file__).with_name("measures.md")
PLACE = re.compile(r"(<!-- measures: written by docs/measures_table.py -->\n).*(\n<!-- end of measures -->)", re.DOTALL)


def table() -> str:
    """A line for every measure: what it needs, where it lies, which end is which, and its definition."""
    lines = ["| measure | needs | range | definition |", "|---|---|---|---|"]
    for each in MEASURES.values():
        low, high = (f"{end:g}" for end in each.range)
        meaning = f"{low} to {high}, {each.direction}"
        said = each.definition.replace("|", "\\|") + (f" ({each.reference})" if each.reference else "")
        lines.append(f"| `{each.name}` | {', '.join(sorted(each.needs))} | {meaning} | {said} |")
    return "\n".join(lines)


def page() -> str:
    return PLACE.sub(lambda found: f"{found[1]}\n{table()}\n{found[2]}", PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
