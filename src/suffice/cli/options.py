"""Options that commands share; those of the roles follow from `Roles`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from suffice.design.role import Role, declared
from suffice.design.roles import Roles
from suffice.errors import UsageError

Texts = list[str] | None


def _option(metavar: str, help: str, *names: Any, **more: Any) -> Any:
    return typer.Option(*names, metavar=metavar, help=help, **more)


MethodName = Annotated[
    Texts,
    _option(
        "NAME",
        "See 'suffice methods'; also romm:correlation=0.5. Without: ipso, or rotate if there are bounds or edits.",
        "--method",
    ),
]
Param = Annotated[Texts, _option("NAME=VALUE", "A parameter of --method; may repeat.")]
Then = Annotated[Texts, _option("NAME", "A second step, fed with the first: --then restore. More steps: a plan.")]
ThenParam = Annotated[Texts, _option("NAME=VALUE", "A parameter of --then; may repeat.")]
KeyFile = Annotated[
    Path | None, _option("FILE", "Secret key, from 'suffice key new'. Without one the release cannot be repeated.")
]
Accept = Annotated[
    Texts,
    _option("RULE=REASON", "Release in spite of a finding; the reason stands in the public certificate. May repeat."),
]
Output = Annotated[Path, _option("FILE", "The release.", "--output", "-o")]
PlanFile = Annotated[Path | None, _option("PLAN.toml", "The plan; without, it is printed.", "--output", "-o")]
Report = Annotated[Path | None, _option("FILE.html", "A private before-and-after report, for the data holder only.")]
Among = Annotated[
    Path | None,
    _option("FILE.json", "comparison.json of 'suffice compare': the report shows the release among its methods."),
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Encoding = Annotated[str | None, _option("NAME", "Of text files that are not UTF-8: latin-1, cp1252, utf-16.")]
Keeps = Annotated[
    Texts,
    _option(
        "A,B,...",
        "In place of mean,covariance,fit: third-moment, distribution, tables (sex*age), mean by sex. May repeat.",
    ),
]
Threads = Annotated[int | None, _option("N", "Threads; they do not change a digit.", min=1)]


def once(words: Texts, option: str, advice: str) -> str | None:
    """What an option was given that may not repeat; without a word the first one would be lost."""
    if words and len(words) > 1:
        raise UsageError(f"{option} was given more than once: {', '.join(words)}.\n{advice}")
    return words[0] if words else None


Holdout = Annotated[Path | None, _option("FILE", "Records of the same kind, kept back before the release was made.")]
MeasureName = Annotated[Texts, _option("NAME", "A measure; may repeat. Without it: all that can be taken.")]
AnalysisText = Annotated[Texts, _option("MODEL", "What an analyst would fit: 'lm: wages ~ turnover'. May repeat.")]
Where = Annotated[str | None, _option("CONDITION", "Only records for which it holds: \"wages > 900 and sex == 'f'\".")]
Aligned = Annotated[bool, typer.Option("--aligned", help="All files have the same records in the same order.")]
ScoresFile = Annotated[
    Path | None, _option("FILE", "Write the scores: .json, .csv or .html. They are private.", "--output", "-o")
]

ComparisonFolder = Annotated[
    Path | None,
    _option(
        "FOLDER",
        "Keep finished runs there, go on where an earlier call was ended, and write all results.",
        "--output",
        "-o",
    ),
]
ComparisonCsv = Annotated[Path | None, _option("FILE.csv", "Write all numbers.", "--csv")]
MapFile = Annotated[Path | None, _option("FILE.png", "Draw the risk-utility map: .png or .svg.", "--map")]
ComparisonReport = Annotated[Path | None, _option("FILE.html", "Write a private page.", "--report")]
Repeats = Annotated[int | None, _option("N", "Runs of each method, in place of what the plan says.", min=1)]
Workers = Annotated[int | None, _option("N", "Processes; they do not change a digit.", min=1)]

Formula = Annotated[str, _option("TEXT", "The analysis: 'income ~ C(sex) + age', or with lm:, glm-binomial: before.")]
RuleName = Annotated[
    str | None, _option("NAME", "T_p, T_f, T_s, T_d or T_o, for files that have no certificate beside them.")
]
Records = Annotated[
    int | None, _option("N", "Records of the original, where files without a certificate have another number.")
]
Level = Annotated[float, _option("SHARE", "Level of the intervals.")]
PoolFile = Annotated[Path | None, _option("FILE", "Write what is found: .json or .html.", "--output", "-o")]


def with_roles(command: Callable[..., None]) -> Callable[..., None]:
    """A command that takes `roles`, with an option for each role that it asks for in their place."""
    asked = [role for role in declared(Roles) if command.__name__ in role.asked]

    def roles(given: dict[str, Any]) -> dict[str, Any]:
        words = [(role, given[role.name]) for role in asked]
        return {role.name: role.rule.parse(word, role.option) for role, word in words if word is not None}

    return in_place_of("roles", list(map(_of_role, asked)), roles)(command)


def in_place_of(
    name: str, options: Sequence[inspect.Parameter], gather: Callable[[dict[str, Any]], dict[str, Any]] = dict
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command with options in the place of its parameter `name`, which is what is gathered from them."""

    def asking(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(**given: Any) -> None:
            words = {option.name: given.pop(option.name) for option in options}
            command(**{name: gather(words)}, **given)

        signature = inspect.signature(command, eval_str=True)
        listed = [options if key == name else [each] for key, each in signature.parameters.items()]
        parameters = [each.replace(kind=each.KEYWORD_ONLY) for some in listed for each in some]
        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return run

    return asking


def _of_role(role: Role) -> inspect.Parameter:
    rule, repeats = role.rule, role.rule.words == list[str]
    default = None if repeats and role.default is not ... else role.default
    option = _option(rule.metavar, f"{role.doc}{' May repeat.' * repeats}", default, role.option, min=rule.low)
    return inspect.Parameter(role.name, inspect.Parameter.KEYWORD_ONLY, default=option, annotation=rule.words | None)
