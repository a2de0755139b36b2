"""Options that commands share; those of the roles follow from `Roles`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from suffice.design.role import Role, declared
from suffice.design.roles import Roles

Texts = list[str] | None
File = Path | None
MethodName = Annotated[str, typer.Option("--method", metavar="NAME", help="See 'suffice methods'.")]
Param = Annotated[Texts, typer.Option(metavar="NAME=VALUE", help="A parameter of --method; may repeat.")]
Then = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="A second step, fed with the first: --then restore. More steps: a plan."),
]
ThenParam = Annotated[Texts, typer.Option(metavar="NAME=VALUE", help="A parameter of --then; may repeat.")]
KeyFile = Annotated[
    File,
    typer.Option(
        metavar="FILE", help="Secret key, from 'suffice key new'. Without one the release cannot be repeated."
    ),
]
Accept = Annotated[
    Texts,
    typer.Option(metavar="RULE=REASON", help="Release in spite of a finding; the reason is recorded. May repeat."),
]
Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The release.")]
Report = Annotated[
    File, typer.Option(metavar="FILE.html", help="A private before-and-after report, for the data holder only.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Threads = Annotated[int | None, typer.Option(metavar="N", min=1, help="Threads; they do not change a digit.")]


def with_roles(command: Callable[..., None]) -> Callable[..., None]:
    """A command that takes `roles`, with an option for each role that it asks for in their place."""
    asked = [role for role in declared(Roles) if command.__name__ in role.asked]

    @wraps(command)
    def run(**given: Any) -> None:
        words = {role: given.pop(role.name) for role in asked}
        roles = {role.name: role.rule.parse(word, role.option) for role, word in words.items() if word is not None}
        command(roles=roles, **given)

    signature = inspect.signature(command, eval_str=True)
    listed = [[each] if each.name != "roles" else map(_option, asked) for each in signature.parameters.values()]
    parameters = [each.replace(kind=each.KEYWORD_ONLY) for some in listed for each in some]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return run


def _option(role: Role) -> inspect.Parameter:
    default = ... if role.required else None if role.rule.words == list[str] else role.default
    low = getattr(role.rule, "low", None)
    option = typer.Option(default, role.option, metavar=role.rule.metavar, min=low, help=role.doc)
    return inspect.Parameter(
        role.name, inspect.Parameter.KEYWORD_ONLY, default=option, annotation=role.rule.words | None
    )
