"""A domain: which records something is kept of - the whole file, or every group, cluster, piece or pattern."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from suffice.algebra.array import Array
from suffice.design.design import Design
from suffice.rows.multiset import Words, fingerprints, hole_words, number_words, text_words
from suffice.rows.rows import Block

MISSING = "pattern of missing cells"


@dataclass(frozen=True)
class Domain:
    """Groups of records.

    name: what tells the groups, in a word
    by: columns whose values together tell the groups; none is the whole file
    holes: whether the pattern of missing confidential cells tells groups as well

    >>> Domain("region", ("region",)).said(7)
    'in each of 7 groups by region'
    """

    name: str = ""
    by: tuple[str, ...] = ()
    holes: bool = False

    @classmethod
    def by_columns(cls, by: tuple[str, ...], holes: bool) -> Domain:
        """Called as the columns are."""
        return cls(" and ".join([*by, *([MISSING] if holes else [])]), by, holes)

    @property
    def whole(self) -> bool:
        return not self.by and not self.holes

    def said(self, groups: int) -> str:
        """The domain in words."""
        if self.whole:
            return ""
        many = "the one group" if groups == 1 else f"each of {groups:,} groups"
        return f"in {many} by {self.name}"

    def labels(self, block: Block, Y: Array, design: Design | None = None) -> Words:
        """One word for each record, the same in the same group.

        Y: the confidential columns, one row a column
        design: where it has absorbed a column, that one has the levels of the design: small ones may be joined
        """
        words = [_words(name, block, design) for name in self.by]
        holes = map(hole_words, Y) if self.holes else ()
        return fingerprints(Y.shape[1], [*words, *holes])


WHOLE = Domain()


def _words(name: str, block: Block, design: Design | None) -> Words:
    column = block.columns[name]
    if design is not None and name == design.absorbed:
        return number_words(design.categories[name].codes(block))
    return text_words(column) if isinstance(column, pa.Array) else number_words(column)
