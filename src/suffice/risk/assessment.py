"""Everything that the guards may look at: the results of all measures, without any value of the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algebra.decomposition import gqr
from suffice.method.isometric import Isometric
from suffice.method.method import Method
from suffice.protection.aligned import AlignedBlock, BlockMeasure
from suffice.protection.protected import Protected
from suffice.protection.strata import Strata
from suffice.risk.account import Account
from suffice.risk.cells import CellsSeen
from suffice.risk.closeness import RANKS, Closeness, Seen, closeness
from suffice.risk.copies import by_chance, drawn_again
from suffice.risk.dependent_columns import dependent, loosened
from suffice.risk.digits import digits
from suffice.risk.distance_linkage import SOME, LinkMeasure
from suffice.risk.distance_linkage import WORTH as LINKED
from suffice.risk.drawn_models import DrawnModels
from suffice.risk.equal_cells import EqualCells, equal_cells
from suffice.risk.explained_columns import ExplainedColumns
from suffice.risk.freedom import Freedom
from suffice.risk.group_summary import GroupSummary, summaries
from suffice.risk.held_out import HeldOut, held_out
from suffice.risk.history import History
from suffice.risk.information import FewBits, few_bits, stacked_bits
from suffice.risk.leaving import LeavingSample
from suffice.risk.leverage import Leverage
from suffice.risk.matches import Matches
from suffice.risk.parts import told_apart
from suffice.risk.precision import digits_lost
from suffice.risk.ranks import RankMeasure, rank_matches
from suffice.risk.rare_cells import RareCells, rare_cells
from suffice.risk.reflection import OneDirection, reflected
from suffice.risk.request import Request
from suffice.risk.resemblance import WORTH, Resemblance
from suffice.risk.residuals import ResidualPair
from suffice.risk.row_order import RowOrder
from suffice.risk.sample import RecordSample
from suffice.risk.shape import ColumnShape, shapes
from suffice.risk.signs import SignCounts
from suffice.risk.stacked_leverage import StackedLeverage, by_units
from suffice.risk.tight_limits import by_limits
from suffice.risk.told import Told, by_given, by_kept, in_groups
from suffice.risk.trials import KEPT, SHORT, TRIALS, TrialSight, settled
from suffice.risk.unique_records import UniqueRecords
from suffice.risk.units import repeated_identifiers
from suffice.risk.weights import WeightSummary
from suffice.risk.whole_numbers import FractionMeasure
from suffice.rows.derived import RELEASED
from suffice.seed import Seed
from suffice.statistics.promise import domains


@dataclass(frozen=True)
class Assessment:
    """Numbers, counts and column names, each result as its measure defines it: a guard is a function of these."""

    request: Request
    freedom: Freedom
    groups: tuple[GroupSummary, ...]
    """Groups in which something is kept."""
    leverage: Leverage
    stacked: StackedLeverage
    history: History
    resemblance: Resemblance
    direction: OneDirection
    explained: ExplainedColumns
    dependent: Mapping[str, tuple[str, ...]]
    """Confidential columns that are a combination of others (and of the given ones), exactly."""
    copies: int
    """Records released with their own values, which no other record has."""
    copies_by_chance: float
    """How many there would be if released rows were dealt to any records."""
    closeness: Closeness
    zeros: Mapping[str, Matches]
    """Exact zeros that stay, by column."""
    digits: Mapping[str, tuple[int, int]]
    """Columns in which cells that leave unchanged are told by their digits: how many, of how many sampled ones."""
    extremes: tuple[tuple[str, ...], int]
    """Columns with an end that stays one record's own, near the same value; how many ends are one record's."""
    told_apart: float
    """How well released records tell the two parts of a file apart that methods of their own protect."""
    negatives: Mapping[str, int]
    """Columns that had no negative value: how many the release has."""
    usual: tuple[str, ...]
    """Those that have some with every key."""
    multiplied: Mapping[str, tuple[int, int]]
    """Columns with more negative values than before: how many they had and have."""
    shapes: Mapping[str, ColumnShape]
    """Columns that change: how far their distributions are from the original's."""
    zeros_lost: Mapping[str, tuple[int, int]]
    """Columns of other than two values with many exact zeros, half of which are gone: how many they had and have."""
    two_values: tuple[str, ...]
    """Columns of two values, one of them zero, that leave with others and were not to be whole numbers."""
    broken: Mapping[str, int]
    """Released records that leave a bound or an edit."""
    unmoved: int
    """Records that a method which moves them one by one has never moved."""
    order: RowOrder
    precision: Mapping[str, float]
    """eps max|y| / sd of each confidential column."""
    weights: WeightSummary
    told: tuple[Told, ...] = ()
    """Confidential columns that the given ones tell, or nearly."""
    told_in_groups: Mapping[str, int] = field(default_factory=dict)
    """Those that are nearly one value, or one function of the given ones, in some groups: in how many."""
    told_by_kept: tuple[Told, ...] = ()
    """Those that kept columns tell."""
    unread: tuple[str, ...] = ()
    """Kept columns that nobody looks into."""
    told_by_limits: tuple[Told, ...] = ()
    """Those that bounds and edits tell."""
    equal: tuple[EqualCells, ...] = ()
    """Values that stand beside themselves."""
    cells: CellsSeen = field(default_factory=CellsSeen)
    """Cells of given factors, and the whole file."""
    few_bits: tuple[FewBits, ...] = ()
    """Columns of few values whose products tell more than they hold."""
    held_out: HeldOut = field(default_factory=HeldOut)
    """What draws that learnt from half of the records tell of these."""
    rare: RareCells = field(default_factory=RareCells)
    """What tables tell that the method goes by."""
    drawn: int = 0
    """Records of the release where these are drawn anew."""
    models: DrawnModels = field(default_factory=DrawnModels)
    unique: UniqueRecords = field(default_factory=UniqueRecords)
    repeated: Mapping[str, float] = field(default_factory=dict)
    """Identifiers that several records have: how many on average."""
    loosened: tuple[str, ...] = ()
    """Those of the dependent columns that are no such combination in the release."""

    @property
    def reach(self) -> float:
        """The largest residual correlation that this release carries by intent, of values or of ranks."""
        request, alike = self.request, self.resemblance
        if request.independent:
            return 0.0
        told = max(request.d_told if request.d else map(abs, alike.correlations + alike.ranked), default=0.0)
        return max(told, alike.canonical) if alike.canonical > max(alike.null, WORTH) else told


def assess(
    done: Protected,
    method: Method,
    seed: Seed,
    columns: tuple[str, ...],
    order: NDArray[np.int64] | None,
    account: Account,
    beside: tuple[float, ...] = (),
    dates: tuple[str, ...] = (),
) -> Assessment:
    """What was seen while records were protected, and what is looked at now.

    columns: those that leave
    order: which row stands where in the release
    account: what it is to leave in the ledger
    dates: confidential columns that count days, or what their type counts
    """
    design, seen = done.design, done.seen
    judging = partial(done.rows.progress or (lambda *_: None), "judging")
    judging(0, 4)
    pair, history = ResidualPair.of(done, method), History.of(account, beside)
    sample = LeavingSample.of(done, dates)
    judging(1, 4)
    zeros = _zeros(done, sample)
    cells = CellsSeen.of(done, sample.traits, zeros, method.shapes)
    groups = summaries(done, method, sample.traits)
    judging(2, 4)
    freedom = Freedom(done.spread.rows, _rank(done, method, groups), gqr(pair.E).rank)
    some, like = _sample(done, seen), _likeness(done, method, pair, freedom, dates)
    judging(3, 4)
    signs: SignCounts = seen["signs"]
    positive = (done.profile.spread.low[design.m : design.m + design.k] >= 0).all()  # known without a pass
    signs = signs if done.drawn is None or positive else signs.of_drawn(done.rows, design.confidential)
    below, apart = like.signs or signs, held_out(done, method)
    related, count = dependent(pair.E, design.confidential), done.rows.n
    drawn = 0 if done.drawn is None else len(next(iter(done.drawn.columns.values())))
    levels = done.rows.coding.levels if done.rows.coding else {}
    by_trees = done.strata[0].facts.get("regressed") == ()  # no record decides what a leaf of several gives it
    emptied = {} if done.drawn is not None else seen["zeros"].lost(design.confidential)
    request = Request.of(method, design, seed, columns)
    if all(
        each.anew for each in done.strata
    ):  # what still follows the original are zeros that are kept: a rule says so
        request = replace(request, independent=True)
    found = Assessment(
        request=request,
        freedom=freedom,
        groups=groups,
        leverage=Leverage() if by_trees else by_units(done.marked, account, Leverage.of(done.strata)),
        stacked=StackedLeverage.of(done.marked, account, history, freedom.rank),
        history=history,
        resemblance=like.resemblance,
        direction=_direction(done, method, pair, freedom),
        explained=ExplainedColumns.of(done, zeros, seen.get("changed")),
        dependent=related,
        copies=like.copies,
        copies_by_chance=like.by_chance,
        closeness=like.closeness,
        zeros={} if done.drawn is not None else seen["zeros"].matches(design.confidential),
        digits=digits(some),
        extremes=_extremes(design.confidential, like.ends or apart.ends, seen),
        told_apart=told_apart(some) if method.apart_of else 0.5,
        negatives=signs.new(design.confidential),
        usual=below.usual(design.confidential, drawn or freedom.n),
        multiplied=signs.counts(below.among(count, drawn).multiplied(design.confidential), design.confidential),
        shapes=_shapes(done, some, sample),
        zeros_lost={  # of a category 0 is no number but a missing cell
            name: each for name, each in emptied.items() if name not in sample.traits and name not in levels
        },
        two_values=_two_values(some, sample.traits, design.roles.integer),
        broken=dict(seen.get("limits", {})),
        unmoved=like.unmoved,
        order=RowOrder.of(done, order),
        precision=digits_lost(done),
        weights=WeightSummary.of(done.profile),
        told=by_given(sample),
        told_in_groups=in_groups(sample),
        told_by_kept=by_kept(sample),
        unread=sample.unread,
        told_by_limits=by_limits(sample),
        equal=equal_cells(sample),
        cells=cells,
        few_bits=(*few_bits(done, method, sample, cells.factors), *stacked_bits(done.marked, account, history)),
        held_out=apart,
        rare=rare_cells(done, method),
        drawn=drawn,
        models=DrawnModels.of(done, method, not beside),
        unique=UniqueRecords.of(done.rows, sample, done.beside),
        repeated=repeated_identifiers(account.rows, design.roles),
        loosened=loosened(pair.E, pair.Estar, design.confidential, related),
    )
    judging(4, 4)
    return found


def assessed_again(risk: Assessment, done: Protected, account: Account) -> Assessment:
    """With the ledger as it is now."""
    history = History.of(account, risk.history.beside)
    stacked = StackedLeverage.of(done.marked, account, history, risk.freedom.rank)
    alone = (found for found in risk.few_bits if not found.releases)
    return replace(
        risk, history=history, stacked=stacked, few_bits=(*alone, *stacked_bits(done.marked, account, history))
    )


def _zeros(done: Protected, sample: LeavingSample) -> Array:
    """Cells of every confidential column, and those that are zero; some of them where records are drawn anew."""
    if done.drawn is None:
        return np.asarray(done.seen["zeros"].before, dtype=np.float64)
    share = done.rows.n / max(len(sample), 1)
    return share * np.array([np.isfinite(sample.Y).sum(axis=0), (sample.Y == 0).sum(axis=0)])


def _extremes(names: tuple[str, ...], ends: tuple[float, ...], seen: Seen) -> tuple[tuple[str, ...], int]:
    """Columns that keep an end in half of the trials, and ends of one record."""
    kept = tuple(name for name, share in zip(names, ends, strict=False) if share >= KEPT)
    return kept, seen["extremes"].alone if ends else 0


def _two_values(some: RecordSample, traits: tuple[str, ...], whole: Sequence[str]) -> tuple[str, ...]:
    columns = {name: (y, released) for name, _, y, released in some.columns() if name in traits and name not in whole}
    return tuple(name for name, (y, released) in columns.items() if not np.isin(released, y).all())


def folded(done: Protected, measure: BlockMeasure) -> Any:
    """What a measure sees of all records, in a pass of its own."""
    design = done.design
    columns = (*design.confidential, *(RELEASED + name for name in design.confidential))
    return done.aligned.fold(lambda block: measure.of(AlignedBlock.read(block, design)), columns, "comparing")


def _sample(done: Protected, seen: Seen) -> RecordSample:
    return RecordSample.of(done.design.confidential, () if done.drawn is not None else seen["sample"].found)


def _likeness(
    done: Protected, method: Method, pair: ResidualPair, freedom: Freedom, dates: tuple[str, ...]
) -> TrialSight:
    """Of the release, or of trial releases; who seems linked among some is looked for among all."""
    names, n = done.design.confidential, done.rows.n
    if done.drawn is not None:
        copied, chance = _drawn_copies(done, method)
        return TrialSight(resemblance=Resemblance.of(done, pair, freedom), copies=copied, by_chance=chance)

    # What gave every value back is followed by a step that may leave a column as it is: Restore, the first one.
    handed = not method.independent or any("distribution" in each.kept for each in getattr(method, "steps", (method,)))
    asked = any(d is not None for d in method.asked())
    formula = isinstance(method, Isometric)
    carried = not (method.independent or method.shared or (asked and not method.apart_of))

    def of(made: Protected, pair: ResidualPair) -> TrialSight:
        sample, copied = _sample(made, made.seen), _copies(made)
        old = not all(each.anew for each in made.strata)  # records that are drawn anew carry nothing over
        ends = () if method.independent or method.shared or not old else made.seen["extremes"].reproduced()
        return TrialSight(
            closeness(made.seen, sample, names, handed and old, method.ranks, dates),
            Resemblance.of(made, pair, freedom, method.ranks),
            copied,
            by_chance(made.aligned, made.design, _strata(made)) if copied else 0.0,
            sum(stratum.unmoved for stratum in made.strata),
            tuple(map(float, ends)),
            made.seen["signs"] if formula or n <= SHORT else None,  # a long walk is not made again for these
            carried and old,
            not formula,
        )

    assert done.again is not None
    again = done.again

    def trial(number: int) -> TrialSight:
        made = again(number)
        return of(made, ResidualPair.of(made, method))

    like = settled(of(done, pair), trial, TRIALS, n, len(done.strata), done.rows.progress)
    found, sample = like.closeness, _sample(done, done.seen)
    places = tuple(names.index(name) for name in sample.names)
    if LINKED * found.linkage.of < found.linkage.found and found.linkage.of < n:
        measure = LinkMeasure.of_sample(sample, places, SOME)
        found = replace(found, linkage=measure.matches(folded(done, measure), n))
    large = sample.inside(-1)
    if 0 < len(large.Y) < n and max(found.ranks.linked.excess, found.ranks.alone.excess) > RANKS:
        ranks = RankMeasure.of_sample(large, places)
        found = replace(found, ranks=rank_matches(sample, least=0) + ranks.matches(folded(done, ranks), n))
    return replace(like, closeness=found)


def _shapes(done: Protected, sample: RecordSample, leaving: LeavingSample) -> dict[str, ColumnShape]:
    """Of the sampled records; of drawn ones where groups have their shares, and some of the original were looked at."""
    names, m = done.design.confidential, done.design.m
    if done.drawn is not None:
        some = np.column_stack([done.drawn.columns[name][: len(leaving)] for name in names])
        like = done.drawn.proportional and done.design.roles.weight is None and len(leaving)
        return shapes(RecordSample(names, leaving.Y, some, np.zeros(0, dtype=np.int64)), {}) if like else {}
    mean = done.profile.spread.mean[m : m + done.design.k]
    found = shapes(sample, done.seen["extremes"].farthest(names, mean))
    levels = {} if done.rows.coding is None else done.rows.coding.levels  # places of levels have no shape
    return {name: each for name, each in found.items() if name not in levels}


def _direction(done: Protected, method: Method, pair: ResidualPair, freedom: Freedom) -> OneDirection:
    """Whole numbers are looked for where records are reflected."""
    if not reflected(done, method):
        return OneDirection()
    pairs = zip(done.design.confidential, folded(done, FractionMeasure()), strict=True)
    whole = tuple(name for name, fractions in pairs if not fractions)
    return OneDirection(True, whole, Resemblance.of(done, pair, freedom).correlations)


def _strata(done: Protected) -> NDArray[np.int32] | None:
    """Of every record, where groups or patterns of missing cells are protected each by itself."""
    found = Strata.of(done.rows, done.design)
    return None if found is None else found.labels


def _copies(done: Protected) -> int:
    """Records of the original, of values that no other has, that the release has in the same row."""
    return int(done.seen["copies"].unique(done.rows, done.design.confidential))


def _drawn_copies(done: Protected, method: Method) -> tuple[int, float]:
    """Those that were drawn anew, and how many there would be if every drawn column were dealt by itself.

    What goes by tables draws the combinations that these have: rare ones are judged by a rule of their own.
    """
    assert done.drawn is not None
    if not method.learns or method.tables(done.design) or done.strata[0].facts:
        return 0, 0.0
    names, rng = done.design.confidential, np.random.default_rng(1)
    drawn = [done.drawn.columns[name] for name in names]
    found = drawn_again(done.rows, names, np.column_stack(drawn))
    dealt = np.column_stack([rng.permutation(column) for column in drawn]) if found else np.empty((0, len(names)))
    return found, float(drawn_again(done.rows, names, dealt))


def _rank(done: Protected, method: Method, groups: tuple[GroupSummary, ...]) -> int:
    """Independent columns of X; means in the method's own groups are kept too."""
    levels, own = domains(method.promises(done.design)), method.own_promises(done.design)
    added = groups[len(levels) - 1].groups - 1 if own else 0
    return sum(stratum.rank for stratum in done.strata) + added
