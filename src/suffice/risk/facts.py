"""What is known of a release when the guards judge it: numbers, counts and column names, no values."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class GroupSummary:
    """Groups of records in which something is kept, in counts."""

    name: str
    """What tells the groups, in a word."""
    statistics: tuple[str, ...]
    groups: int
    smallest: int
    """Records of the smallest group."""
    small: tuple[int, int] = (0, 0)
    """Groups with fewer than 3 and with fewer than 5 records."""
    nu: int | None = None
    """The fewest degrees of freedom that a group has, where a covariance is kept in it."""
    thin: tuple[int, int, int] = (0, 0, 0)
    """Groups with at most 1, fewer than 5, and fewer than max(10, rank E + 1) degrees of freedom."""
    residual_rank: int = 0
    dominated: int = 0
    """Groups whose total gives their largest record away in some column."""
    narrow: int = 0
    """Groups whose mean and variance do."""


@dataclass(frozen=True)
class Facts:
    """Everything that the guards may look at, so that each of them is a function of plain numbers."""

    n: int
    """Records that count (weight above zero)."""
    rank: int
    """Independent columns of X."""
    residual_rank: int
    """Independent residual columns of Y."""
    confidential: tuple[str, ...]
    promises: tuple[str, ...]
    independent: bool
    """The released residuals carry nothing of the original ones but their covariance."""
    kept: tuple[GroupSummary, ...] = ()
    """Groups in which something is kept: those asked for, clusters, pieces, the levels of an absorbed factor."""
    shared: bool = False
    """Every released value is that of a group of records, which hide each other."""
    leverage: float = 0.0
    leverage_counts: tuple[int, int, int] = (0, 0, 0)
    """Records above .2, from .5 on, and from .999 on."""
    leverage_term: str = ""
    stacked_leverage: float = 0.0
    """With the given terms of all earlier releases of the same columns added."""
    unstacked: int = 0
    """Given terms of earlier releases that could not be added: their columns are not in this file, say."""
    canonical: float = 0.0
    canonical_null: float = 0.0
    """The 99.9 % point over random permutations of the released rows."""
    correlations: tuple[float, ...] = ()
    """Residual correlation of original and released, per confidential column."""
    d: tuple[float | None, ...] = ()
    """The correlations that a hybrid was asked for, as used (alpha included)."""
    kept_scores: int = 0
    scores: int = 0
    altered_share: float = 1.0
    """Share of the residual variance in scores that are not kept."""
    seed: str = "entropy"
    copies: int = 0
    outlying: int = 0
    outlying_near: int = 0
    giants: int = 0
    """The few records that lie farthest out."""
    giants_handed_on: int = 0
    """Those of them whose values some released record, of whatever row, has nearly."""
    negatives: dict[str, int] = field(default_factory=dict)
    """Columns that had no negative value: how many the release has."""
    dependent: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Confidential columns that are a combination of others (and of the given ones), exactly."""
    explained: tuple[str, ...] = ()
    """Confidential columns that are a function of the given ones."""
    constant: tuple[str, ...] = ()
    constant_within: dict[str, int] = field(default_factory=dict)
    """Other columns that are constant in groups: in how many."""
    order: float = 0.0
    """Correlation of a row's place in the release with its place in the original."""
    places: int = 0
    """Rows of which that was computed; 0: of all."""
    precision: dict[str, float] = field(default_factory=dict)
    """eps max|y| / sd of each confidential column."""
    unweighted: int = 0
    """Records of weight zero."""
    effective: float | None = None
    """Kish's effective number of records, (sum w)^2 / sum w^2; None without weights."""
    earlier: tuple[float, ...] = ()
    """d of every earlier release of a confidential column of this one, by the ledger."""
    ledger: bool = False
    unmoved: int = 0
    """Records that a method which moves them one by one has never moved."""
    broken: dict[str, int] = field(default_factory=dict)
    """Released records that leave a bound or an edit."""
    reflected: bool = False
    """All records, or all of one group, moved along one direction."""
    whole_numbers: tuple[str, ...] = ()
    """Confidential columns that hold nothing but whole numbers; looked for where records are reflected."""
    alike_columns: tuple[str, ...] = ()
    """The columns in which released and original residuals are most alike."""
    columns: tuple[str, ...] = ()
    """Names of the released columns."""

    @property
    def nu(self) -> int:
        return self.n - self.rank

    @property
    def reach(self) -> float:
        """The largest residual correlation that this release carries by intent."""
        if self.independent:
            return 0.0
        told = max((abs(d) for d in (self.d or self.correlations) if d is not None), default=0.0)
        return max(told, self.canonical) if self.canonical > max(self.canonical_null, 0.7) else told
