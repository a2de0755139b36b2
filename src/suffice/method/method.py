"""A method is a formula on matrices. Its name, its parameters and its promises are declared once, here."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import Field, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from suffice.design.roles import Roles, double_role
from suffice.errors import UsageError
from suffice.method.parameter import Data, Rule
from suffice.report.exhibit import Exhibit
from suffice.statistics.promise import promised
from suffice.statistics.statistic import Promise

if TYPE_CHECKING:
    from suffice.design.design import Design
    from suffice.rows.rows import Kind, Rows
    from suffice.seed import Stream


@dataclass(frozen=True)
class Method(Exhibit, ABC):
    """A way to protect the confidential columns; its fields are its parameters, declared with `parameter`."""

    keeps: ClassVar[tuple[str, ...]] = ()
    """Names of statistics: "mean", "covariance", "fit" (cross-products with the given columns, hence coefficients)."""
    independent: ClassVar[bool] = False
    """True where nothing of the original residuals is released but their covariance matrix."""
    mixes: ClassVar[bool] = False
    """True where the original's records come back into what a step before it made."""
    shared: ClassVar[bool] = False
    """True where every released value is that of a group of records: these hide each other, and are judged as such."""
    ranks: ClassVar[bool] = False
    """True where every value stays near its rank, or gets one of its column's own back, or a factor: judged by ranks,
    too."""
    kinds: ClassVar[tuple[Kind, ...]] = ()
    """Kinds of confidential columns, beside plain numbers, that the method releases as they came: category, integer,
    date. Others are refused, and whole numbers leave as numbers."""
    holes: ClassVar[bool] = False
    """Whether it draws which cells of confidential columns are missing: these are then numbers of their own."""
    shapes: ClassVar[bool] = False
    """Whether shapes are nearly kept beside the variance, which tells the size of one that is far beyond all others."""
    learns: ClassVar[bool] = False
    """Whether records are drawn from more than means and covariances, so that they may be those of the original."""
    references: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for declared in declared_parameters(type(self)):
            try:
                value = rule_of(declared).read(getattr(self, declared.name))
            except ValueError:
                raise refused(self.name, declared) from None
            object.__setattr__(self, declared.name, value)

    @property
    def name(self) -> str:
        """As plans and commands call it."""
        return self.word()

    @classmethod
    def word(cls) -> str:
        """The class name in kebab case: residual-correlation."""
        return kebab(cls.__name__)

    def parameters(self) -> dict[str, object]:
        """Parameter values by name: without the data set (the `companion`), and what was `added` and is not set."""
        plain = [f for f in declared_parameters(type(self)) if not isinstance(rule_of(f), Data)]
        told = [f.name for f in plain if not f.metadata["added"] or getattr(self, f.name) != f.default]
        return {name: getattr(self, name) for name in told}

    @classmethod
    def summary(cls) -> str:
        """What it does, in a sentence."""
        return " ".join((cls.__doc__ or "").strip().split("\n\n")[0].split())

    def exhibit(self) -> dict[str, Any]:
        return {"kind": "method", "name": self.name, "summary": self.summary(), "parameters": self.parameters()}

    @classmethod
    @abstractmethod
    def examples(cls) -> tuple[Self, ...]:
        """Representative instances, right for any number of columns: the laws are tried on these."""

    @property
    def sets(self) -> int:
        """How many data sets one request gives."""
        return 1

    def of_set(self, number: int, stream: Stream) -> Method:
        """As it makes one of its data sets; stream: that of the request, which all of them share."""
        return self

    def then(self, *methods: Method) -> Method:
        """This method, and then others that start from its result."""
        from suffice.method.steps import in_order  # which knows the shapes of methods

        return in_order((self, *methods))

    def asked(self) -> tuple[float | None, ...]:
        """The correlations with the original that the method was told to have, for all or each; None: not told."""
        return ()

    @property
    def kept(self) -> tuple[str, ...]:
        """What of `keeps` it keeps with these parameters."""
        return self.keeps

    def makes(self, before: str) -> str:
        """What the literature calls what the step before made - masked, hybrid, synthetic - once this step is done."""
        if "distribution" in self.kept and before:
            return "masked"  # values of the original, whatever decides their order
        return "hybrid" if before == "synthetic" and self.mixes else before  # the original is mixed in again

    def promises(self, design: Design) -> tuple[Promise, ...]:
        """What it keeps of a file: as a whole, in the groups of its roles, and in groups of its own."""
        return (*promised(self.kept, design), *self.own_promises(design))

    def about(self, design: Design) -> dict[str, Any]:
        """Of files that are analysed together, what decides how; nothing of others."""
        return {}

    def own_promises(self, design: Design) -> tuple[Promise, ...]:
        """Promises in groups of the method's own, the finest last."""
        return ()

    @property
    def takes(self) -> tuple[tuple[str, ...], ...]:
        """Tables of columns that it keeps to itself where other methods follow: these protect all others."""
        return ()

    def requests(self, roles: Roles) -> tuple[tuple[Method, Roles], ...]:
        """Methods for columns of their own, with their roles; itself, where all columns are protected together."""
        if roles.drawn:
            raise UsageError(
                f"{double_role(roles.drawn[0], ('confidential', 'given'))}\n"
                f"Only a category of a kept table is both, for a method behind margins: margins then {self.name}."
            )
        return ((self, roles),)

    def tables(self, design: Design) -> tuple[tuple[str, ...], ...]:
        """Tables of counts, each by its columns, that what is drawn goes by."""
        return ()

    def given(self, roles: Roles) -> Roles:
        """The roles, with the columns that the method names: they count as given."""
        return roles

    @property
    def apart_of(self) -> tuple[Method, ...]:
        """The methods for parts of the records that `apart` tells; none: all records are protected alike."""
        return ()

    def apart(self, rows: Rows, design: Design, stream: Stream) -> NDArray[np.int64]:
        """For every record which of `apart_of` protects it."""
        return np.zeros(rows.n, dtype=np.int64)

    @property
    def redraws(self) -> bool:
        """Whether it draws records of its own, as many as it was told, in place of those of the file."""
        return False

    def replaced(self, rows: Rows, design: Design) -> NDArray[np.bool_] | None:
        """The records that are protected, and judged, where all others leave as they are; None: all."""
        return None

    def for_columns(self, places: Sequence[int], k: int) -> Method:
        """The same for records that have only the columns at some places, of k: what is told of each goes with it."""
        return self

    @property
    def companion(self) -> object | None:
        """The row-aligned data set that the user gave, or None."""
        place = companion_of(type(self))
        return getattr(self, place) if place else None

    def each(self, parameter: str, count: int, of: str = "confidential columns") -> tuple[Any, ...]:
        """The parameter's value for each of `count` columns."""
        value = getattr(self, parameter)
        entries = value if isinstance(value, tuple) else (value,) * count
        if len(entries) != count:
            raise UsageError(
                f"{self.name}: {parameter} has {len(entries)} entries and there are {count} {of}. "
                f"Give one number for all, or {count}."
            )
        return entries


@dataclass(frozen=True)
class AMethod:
    """A parameter that is a method with its parameters; the catalogue, which knows all of them, reads it from text."""

    allowed: str = "a method (on the command line its name, with parameters: microaggregate:k=5,by=median)"

    def read(self, value: object) -> Method:
        if not isinstance(value, Method) or value.companion is not None:
            raise ValueError
        return value

    def parse(self, text: str) -> Method:
        raise ValueError


def kebab(name: str) -> str:
    """ResidualCorrelation -> residual-correlation."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()


def declared_parameters(method: type[Method]) -> list[Field[Any]]:
    """The fields that are parameters."""
    return [declared for declared in fields(method) if "rule" in declared.metadata]


def rule_of(declared: Field[Any]) -> Rule:
    """What a parameter may be."""
    return cast(Rule, declared.metadata["rule"])


def refused(name: str, declared: Field[Any]) -> UsageError:
    """The error for a value that a parameter cannot have."""
    return UsageError(f"{name}: {declared.name} must be {rule_of(declared).allowed}.")


def companion_of(method: type[Method]) -> str | None:
    """The name of the parameter that is a row-aligned data set, if there is one."""
    return next((each.name for each in declared_parameters(method) if type(rule_of(each)) is Data), None)
