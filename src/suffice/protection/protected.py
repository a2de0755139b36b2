"""What a release is made of, before it leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algebra.decomposition import gqr
from suffice.algebra.moments import Spread
from suffice.design.design import Design
from suffice.design.profile import Profile
from suffice.errors import count_of
from suffice.rows.derived import RELEASED, Beside, Computation
from suffice.rows.rows import Rows
from suffice.rows.shuffle import shuffled
from suffice.seed import Stream
from suffice.statistics.standing import Standing


@dataclass(frozen=True, repr=False)
class Stratum:
    """Records protected together - all of them, a group, a pattern of holes - and what is known of them."""

    design: Design
    spread: Spread
    """Of the confidential columns."""
    effective: float | None
    """Kish's effective number of records; None without weights."""
    rank: int
    """Independent columns of X, those of an absorbed factor among them."""
    pivots: tuple[int, ...]
    given: Array
    """The small factor of X."""
    E: Array
    Estar: Array
    sample: tuple[Array, Array]
    """Original and released residuals of some records."""
    seen: Mapping[str, Any]
    """What was seen of its records before and after, by the name of the measure."""
    remarks: tuple[str, ...] = ()
    unmoved: int = 0
    anew: bool = False
    """Whether its records were drawn, so that no value of the original is handed on."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Of the models that its records were drawn from, as counts and names."""
    makes: str = ""
    """What the literature calls what was made of it: masked, hybrid, synthetic."""

    @property
    def nu(self) -> int:
        return self.spread.rows - self.rank

    @property
    def moments(self) -> tuple[Array, Array]:
        """Mean and R of its records, S = R'R; the mean of a constant is that constant."""
        spread = self.spread
        return np.where(spread.low == spread.high, spread.low, spread.mean), gqr(self.E).R / np.sqrt(spread.rows)

    def among(self, names: tuple[str, ...], *matrices: Array) -> list[Array]:
        """Columns of the stratum where they belong among others, which are zero."""
        own = self.design.confidential
        if own == names:
            return list(matrices)
        found = [np.zeros((len(A), len(names))) for A in matrices]
        for out, A in zip(found, matrices, strict=True):
            out[:, [names.index(name) for name in own]] = A
        return found


@dataclass(frozen=True, repr=False)
class ReleasedColumns:
    """Released values of the confidential columns: an array in row order, rows of their own, or how to compute them."""

    names: tuple[str, ...]
    values: Array | Rows | Computation

    def under(self, prefix: str) -> dict[str, Any]:
        """The columns, for rows to take them in under these names."""
        if isinstance(self.values, Rows):
            return {prefix + name: Beside(self.values, name) for name in self.names}
        if isinstance(self.values, Computation):
            computed = replace(self.values, names=tuple(prefix + name for name in self.names))
            return dict.fromkeys(computed.names, computed)
        return {prefix + name: column for name, column in zip(self.names, self.values.T, strict=True)}


@dataclass(frozen=True, repr=False)
class Drawing:
    """Records of a release that stand for none of the original, and may be fewer or more."""

    columns: Mapping[str, Array]
    places: NDArray[np.int64]
    """For each a record of the original that is of its group: what tells the group is that one's."""
    n: int
    proportional: bool
    """Whether every group has its exact share of them, so that what is kept in each is kept overall."""
    notes: tuple[str, ...]
    beside: Mapping[str, Any] = field(default_factory=dict)
    """Their given columns, where they are those of units of a population."""


@dataclass(frozen=True, repr=False)
class Protected:
    """A file before and after."""

    rows: Rows
    """The original, with what the method was given beside it."""
    released: ReleasedColumns
    strata: tuple[Stratum, ...]
    design: Design
    profile: Profile
    stream: Stream
    centre: Array
    original: Standing | None
    """What the certificate compares with, about the centre; None where it has still to look."""
    seen: Mapping[str, Any]
    """What was seen of records before and after, by the name of the measure."""
    labels: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    """Columns that the method made, in the order of the rows; they leave with the release."""
    drawn: Drawing | None = None
    """What leaves in place of `rows`, where the method draws records of its own."""
    again: Callable[..., Protected] | None = None
    """A trial release, by its number: another one of the same request, whatever the key, or with numbers of its own."""
    first: tuple[str, ...] = ()
    """What is said of the request as a whole."""
    others: Mapping[str, Any] = field(default_factory=dict)
    """Confidential columns that another method drew: judged by themselves, they leave beside these."""
    beside: Rows | None = None
    """Records that leave as they are, where a method replaces others only."""

    @property
    def outgoing(self) -> Design:
        """The design of the records that leave: those of the original, or drawn ones, which have no weight."""
        roles = self.design.roles
        return self.design if self.drawn is None else replace(self.design, roles=replace(roles, weight=None))

    def order(self) -> NDArray[np.int64] | None:
        """Which row stands where in the release; None where that is settled as they leave, none where all are new."""
        if self.drawn is not None:
            return np.empty(0, dtype=np.int64)
        return shuffled(self.stream, self.rows.n) if self.rows.held else None

    @property
    def marked(self) -> Rows:
        """The original, with the columns that the method made."""
        return self.rows.with_columns(self.labels) if self.labels else self.rows

    @property
    def aligned(self) -> Rows:
        """The original beside what is released of it, record by record."""
        return self.rows.with_columns({**self.labels, **self.released.under(RELEASED)})

    @property
    def leaving(self) -> Rows:
        """The rows that leave, before they are shuffled and written."""
        return self.rows.with_columns({**self.labels, **self.others, **self.released.under("")})

    @property
    def spread(self) -> Spread:
        """Of the confidential columns."""
        return self.profile.spread.columns(slice(self.design.m, self.design.m + self.design.k))

    @property
    def remarks(self) -> tuple[str, ...]:
        """What must be said of the release; what several strata say, once, with how many of them say it."""
        found = Counter(remark for stratum in self.strata for remark in stratum.remarks)
        if len(self.strata) == 1:
            return *self.first, *found
        return *self.first, *(
            "\n".join([f"{said} ({times} of {count_of(len(self.strata), 'group')})", *table])
            for (said, *table), times in ((remark.split("\n"), times) for remark, times in found.most_common(8))
        )
