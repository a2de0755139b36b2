"""What is compared: methods with their parameters, each under one name, however it was asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

from suffice.catalogue import build, chosen, methods
from suffice.design.roles import Roles
from suffice.errors import SufficeError, UsageError, suggest
from suffice.method.method import Method
from suffice.method.written import spelt, steps

EXACT, DEFAULT = "restore", "default"
"""A step that makes moments exact; and what is done where no method is named."""
QUICK: tuple[Any, ...] = (
    DEFAULT,
    "ipso",
    "rotate",
    "pca-mask",
    ("pca-mask", EXACT),
    "microaggregate-noise:k=5",
    "micro-hybrid",
    "rank-swap:p=0.2",
    ("rank-swap:p=0.2", EXACT),
    "shuffle",
)
"""One or two of each kind."""
MOST = 1_000
"""Methods at once."""
DRAWN = (3, 5, 7, 10, 25, 50, 75)
SWAPPED = (0.05, 0.1, 0.15, 0.2, 0.5, 1.0)
"""Sizes of groups and shares of ranks in Calvino (2017), Table 4."""


@dataclass(frozen=True)
class Candidate:
    """A method that takes part: its name, and its steps as a plan writes them."""

    name: str
    method: Method

    @classmethod
    def of(cls, method: Method) -> Candidate:
        if method.companion is not None:
            raise UsageError(
                f"{method.name} starts from a data set of its own, and methods that are compared start from the data.\n"
                f"Put it behind another one: ['pca-mask', '{method.name}']."
            )
        return cls(spelt(method), method)

    @property
    def steps(self) -> list[dict[str, Any]]:
        """As [[method]] of a plan."""
        return steps(self.method)


def candidates(asked: Any, roles: Roles) -> list[Candidate]:
    """Every method that is asked for, once, in order of their names.

    asked: "quick", "all" or "paper"; a method, by name or as an object; {"rank-swap": {"p": [.1, .2]}}: every
        combination of the parameters; or a list of these, in which a list is methods in order
    """
    listed = list(_preset(asked, roles)) if isinstance(asked, str) and asked in PRESETS else [asked]
    if isinstance(asked, list | tuple):
        listed = [each for one in asked for each in (_preset(one, roles) if _is_preset(one) else [one])]
    every = list(islice((each for one in listed for each in _each(one, roles)), MOST + 1))
    if len(every) > MOST:
        raise UsageError(f"More than {MOST:,} methods are asked for. Compare a coarser grid.")
    found = {each.name: each for each in every}
    if not found:
        raise UsageError("No method is named. Name one at least, or a preset: " + ", ".join(PRESETS) + ".")
    return [found[name] for name in sorted(found)]


def _each(asked: Any, roles: Roles) -> Iterator[Candidate]:
    if isinstance(asked, Mapping):
        for name, grid in asked.items():
            if not isinstance(grid, Mapping):
                raise UsageError(
                    f"{name}: a grid has lists by name of parameters. Write {{{name!r}: {{'k': [3, 5]}}}}."
                )
            lists = [value if isinstance(value, list | tuple) else [value] for value in grid.values()]
            for values in product(*lists):
                yield Candidate.of(build(str(name), dict(zip(grid, values, strict=True))))
        return
    if isinstance(asked, str) and ":" not in asked and asked not in (known := methods()) and asked != DEFAULT:
        raise UsageError(
            f"There is no method and no preset {asked!r}.{suggest(asked, [*known, *PRESETS])} Presets: "
            f"{', '.join(PRESETS)}; methods: {', '.join(known)}."
        )
    yield Candidate.of(chosen(None if asked == DEFAULT else list(asked) if isinstance(asked, tuple) else asked, roles))


def _preset(name: Any, roles: Roles) -> Iterator[Any]:
    yield from QUICK if name == "quick" else _all() if name == "all" else _paper(len(roles.confidential))


def _is_preset(asked: Any) -> bool:
    return isinstance(asked, str) and asked in PRESETS


def _all() -> Iterator[Any]:
    """Every method with the parameters of its examples, but for those that need a data set."""
    yield from QUICK
    for each in methods().values():
        yield from (method for method in each.examples() if method.companion is None and not _needs(method))


def _needs(method: Method) -> bool:
    """Whether an example is for columns of its own: a value for each."""
    return any(isinstance(value, list | tuple) for value in method.parameters().values())


def _paper(count: int) -> Iterator[Any]:
    """Calvino (2017), Table 4: components swapped, the largest first; groups drawn anew; ranks swapped."""
    yield {"pca-mask": {"components": list(range(1, count + 1))}}
    yield {"microaggregate-draws": {"k": list(DRAWN)}}
    yield {"rank-swap": {"p": list(SWAPPED), "partner": "behind"}}


PRESETS = ("quick", "all", "paper")


def refusal_of(problem: SufficeError) -> str:
    """Why a method does not take part, on one line."""
    return " ".join(str(problem).split())
