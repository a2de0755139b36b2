"""The methods for people and programs: everything follows from the classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast, overload

from suffice import microdata, synthesis
from suffice.design.roles import Roles
from suffice.errors import UsageError, suggest
from suffice.method.method import AMethod, Method, declared_parameters, kebab, refused, rule_of
from suffice.method.parameter import Data
from suffice.report.exhibit import Exhibit
from suffice.statistics import STATISTICS

if TYPE_CHECKING:
    from suffice.tables.publication import TableMethod

AnyMethod = TypeVar("AnyMethod", bound=Method)
PLAIN, BOUNDED = "ipso", "rotate:zeros=free"
"""What is done where no method is named: without bounds and edits, and with them. No zero stays a record's own."""


@dataclass(frozen=True)
class ParameterDescription:
    """One parameter of a method, for people and programs."""

    name: str
    doc: str
    allowed: str
    required: bool
    default: object
    data: bool


@dataclass(frozen=True)
class Description:
    """A method, for people and programs."""

    name: str
    summary: str
    parameters: tuple[ParameterDescription, ...]
    promises: tuple[str, ...]
    independent: bool
    references: tuple[str, ...]


def describe(method: type[Method]) -> Description:
    """What `method` does, may be given and promises."""
    given = tuple(_describe(declared) for declared in declared_parameters(method))
    name, said = method.word(), method.summary()
    return Description(name, said, given, method.keeps, method.independent, method.references)


def _describe(declared: Field[Any]) -> ParameterDescription:
    rule, required = rule_of(declared), declared.default is MISSING
    default = None if required else declared.default
    return ParameterDescription(
        declared.name, declared.metadata["doc"], rule.allowed, required, default, isinstance(rule, Data)
    )


class Catalogue(Mapping[str, type[Method]], Exhibit):
    """Methods by name, each imported when it is asked for; printed, they come with parameters and references."""

    classes: ClassVar = {kebab(name): name for name in (*microdata.__all__, "Synthesis")}

    def __getitem__(self, name: str) -> type[Method]:
        found: type[Method] = getattr(synthesis if name == "synthesis" else microdata, self.classes[name])
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self.classes)

    def __len__(self) -> int:
        return len(self.classes)

    def __repr__(self) -> str:
        return "\n\n".join("\n".join(in_full(describe(method))) for method in self.values())

    def exhibit(self) -> dict[str, Any]:
        described = map(describe, self.values())
        return {"kind": "methods", "methods": [{**vars(each), "kept": kept(each)} for each in described]}


def methods() -> Catalogue:
    """Every method by name: those that `suffice.microdata` names."""
    return Catalogue()


def chosen(method: Method | str | Sequence[Method | str] | None, roles: Roles) -> Method:
    """The method that was asked for, as an object, by name or step by step; without one, what suits the roles.

    That is new values with the same statistics, and where every record must keep bounds or edits, records that are
    drawn anew and turned inside these: by a number of sweeps that does not depend on the original.

    >>> from suffice.design.roles import Roles
    >>> chosen(None, Roles(confidential=["y"]))
    Ipso(by='qr')
    >>> chosen("romm:correlation=0.5", Roles(confidential=["y"])).correlation
    0.5
    """
    if method is None:
        method = BOUNDED if roles.bounds or roles.edits else PLAIN
    listed = list(method) if isinstance(method, list | tuple) and method else [method]
    steps = [written(step) if isinstance(step, str) else step for step in listed]
    for step in steps:
        if not isinstance(step, Method):
            raise UsageError(f"{type(step).__name__} is not a method. See suffice.methods().")
    first, *rest = cast("list[Method]", steps)
    return first.then(*rest) if rest else first


def table_methods() -> Mapping[str, type[TableMethod]]:
    """Every method for tables, by name."""
    from suffice.tables.methods import TABLE_METHODS  # the solver and all, where tables are

    return TABLE_METHODS


def build_table_method(name: str, given: Mapping[str, object]) -> TableMethod:
    """The method for tables of that name."""
    return build(name, given, table_methods())


@overload
def build(name: str, given: Mapping[str, object], known: None = None) -> Method: ...
@overload
def build(name: str, given: Mapping[str, object], known: Mapping[str, type[AnyMethod]]) -> AnyMethod: ...
def build(name: str, given: Mapping[str, object], known: Mapping[str, type[Any]] | None = None) -> Any:
    """The method of that name, with parameters as a plan or a command line gives them.

    known: the methods that there are; without any, those for records
    """
    known = methods() if known is None else known
    if name not in known:
        raise UsageError(f"There is no method {name!r}.{suggest(name, known)} Known: {', '.join(known)}.")
    declared = {each.name: each for each in declared_parameters(known[name])}
    for key in given:
        if key not in declared:
            has = ", ".join(declared) or "none"
            raise UsageError(f"{name} has no parameter {key!r}.{suggest(key, declared)} It has: {has}.")
    for key, each in declared.items():
        if each.default is MISSING and key not in given:
            raise UsageError(f"{name} needs {key}: {rule_of(each).allowed}.")
    return known[name](**{key: _read(name, declared[key], value) for key, value in given.items()})


def _read(name: str, declared: Field[Any], value: object) -> object:
    """A value as a program would give it; "none" stands for None, which TOML does not have."""
    if isinstance(value, list):
        return [None if entry == "none" else entry for entry in value]
    if not isinstance(value, str):
        return value
    rule = rule_of(declared)
    try:
        return rule.read(written(value)) if isinstance(rule, AMethod) else rule.parse(value)
    except ValueError:
        raise refused(name, declared) from None


def written(text: str) -> Method:
    """A method from its name and parameters: microaggregate:k=5,by=median."""
    return build(*spelt(text))


def spelt(text: str) -> tuple[str, dict[str, str]]:
    """The name and the parameters of a method that is written in a line.

    >>> spelt("microaggregate:k=5, by=median")
    ('microaggregate', {'k': '5', 'by': 'median'})
    """
    name, _, given = text.strip().partition(":")
    pairs = [item.partition("=") for item in given.split(",") if item]
    return name, {key.strip(): value.strip() for key, _, value in pairs}


def in_full(method: Description) -> Iterator[str]:
    """Everything about a method, line by line."""
    yield method.name
    yield fill(method.summary, 100, initial_indent="  ", subsequent_indent="  ")
    yield f"\n  keeps      {kept(method)}"
    for number, parameter in enumerate(method.parameters):
        yield f"  {'' if number else 'parameters':<10} {_parameter(parameter)}"
    for number, reference in enumerate(method.references):
        yield f"  {'' if number else 'references':<10} {reference}"


def kept(method: Description) -> str:
    """What a method promises, in words."""
    said = ", ".join(STATISTICS[each].words if each in STATISTICS else each for each in method.promises)
    return said or "nothing exactly; follow it with restore"


def _parameter(parameter: ParameterDescription) -> str:
    default = "required" if parameter.required else f"default {str(parameter.default).lower() or 'empty'}"
    return f"{parameter.name}: {parameter.doc} - {parameter.allowed} ({default})"
