"""The commands. Heavy modules are imported inside them, so that --help answers at once."""

from __future__ import annotations

from copy import copy
from pathlib import Path
from typing import Annotated, Any

import typer

from suffice.cli import options as o
from suffice.cli.table import table
from suffice.cli.table_adjust import adjust as _adjust_table  # noqa: F401  # a command of `table`
from suffice.cli.table_suppress import suppress as _suppress_table  # noqa: F401
from suffice.cli.table_verify import verify as _verify_table  # noqa: F401  # a command of `table`
from suffice.design.role import names, pairs
from suffice.design.roles import Roles
from suffice.errors import FileError, UsageError, addresses

app = typer.Typer(
    name="suffice",
    help="Protect confidential data and keep means, covariances and regressions exactly as they were.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # plain help answers in half the time
    pretty_exceptions_enable=False,  # a traceback may hold data
    context_settings={"help_option_names": ["-h", "--help"]},
)
key = typer.Typer(help="The secret key that decides a release.", no_args_is_help=True)
app.add_typer(key, name="key")
app.add_typer(table, name="table")


ROOM = 2**30
"""Bytes of addresses below which the libraries may wait for memory for ever, or end the process without a word."""


def _roomy() -> None:
    """Refuses to begin where the system lets the process have too few addresses (ulimit -v)."""
    from suffice.rows.threads import take_buffers

    most = addresses()
    if most is None:
        return
    if most < ROOM:
        raise FileError(
            f"There is not enough memory for this request: the process may have {most // 2**20:,} MB, and the "
            f"libraries alone want {ROOM // 2**20:,}.\nRaise the limit (ulimit -v {ROOM // 2**10} or more)."
        )
    take_buffers()


def _version(asked: bool) -> None:
    if asked:
        import suffice
        from suffice.cli.show import say

        say(f"suffice {suffice.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which.")] = False,
) -> None:
    """Protect confidential data and keep means, covariances and regressions exactly as they were."""


@table.callback()
def _table() -> None:
    """Tables: make, find sensitive cells, suppress, audit, publish with decimals or adjusted, ask."""
    _roomy()


@app.command()
def run(
    plan: Annotated[Path, typer.Argument(metavar="PLAN.toml", show_default=False)],
    report: o.Report = None,
    among: o.Among = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
    threads: o.Threads = None,
) -> None:
    """Do what a plan says: read, protect, judge, write, certify."""
    _roomy()
    from suffice.cli.command import Command
    from suffice.plan.plan import Plan

    Command(quiet, as_json, in_a_plan=True).release(Plan.read(plan), force, report, threads, among)


def _step(text: str, words: o.Texts, option: str) -> dict[str, Any]:
    """A step of a plan; parameters stand beside the name, as Python takes them, or in options of their own."""
    from suffice.catalogue import spelt

    (name, beside), given = spelt(text), pairs(words, option)
    if twice := [key for key in beside if key in given]:
        raise UsageError(f"{name}: {twice[0]} is given twice, beside the name and with {option}.")
    return {"name": name, **beside, **given}


@app.command()
def propose(
    data: Annotated[Path, typer.Argument(metavar="DATA", show_default=False)],
    output: o.PlanFile = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
    encoding: o.Encoding = None,
) -> None:
    """Look at DATA and propose a plan: what each column is, and why. Nothing is released."""
    _roomy()
    from suffice.cli.command import Command

    Command(quiet).propose(data, output, force, encoding)


@app.command()
@o.with_roles
def protect(
    data: Annotated[Path, typer.Argument(metavar="DATA", show_default=False)],
    output: o.Output,
    roles: dict[str, Any],
    method: o.MethodName = None,
    param: o.Param = None,
    then: o.Then = None,
    then_param: o.ThenParam = None,
    key_file: o.KeyFile = None,
    accept: o.Accept = None,
    report: o.Report = None,
    among: o.Among = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
    threads: o.Threads = None,
    encoding: o.Encoding = None,
) -> None:
    """Protect DATA and write a certified release."""
    _roomy()
    from suffice.catalogue import PLAIN
    from suffice.cli.command import Command
    from suffice.plan.plan import Plan

    first = o.once(method, "--method", "Name the second step with --then NAME.")
    second = o.once(then, "--then", "More than two steps: a plan, with a [[method]] for each, and 'suffice run'.")
    if first is None and (param or second):
        first = PLAIN
    steps = [] if first is None else [_step(first, param, "--param")]
    if second is not None:
        steps.append(_step(second, then_param, "--then-param"))
    elif then_param:
        raise UsageError("--then-param needs --then.\nName the second step with --then NAME.")
    tables: dict[str, Any] = {
        "data": {"path": str(data), **({"encoding": encoding} if encoding else {})},
        "roles": roles,
        "method": steps,
        "accept": pairs(accept, "--accept", "REASON"),
        "release": {"path": str(output), "force": force},
    }
    if key_file is not None:
        tables["seed"] = {"key_file": str(key_file)}
    Command(quiet, as_json).release(Plan.of(tables), force, report, threads, among)


@app.command()
@o.with_roles
def verify(
    original: Annotated[Path, typer.Argument(metavar="ORIGINAL", show_default=False)],
    released: Annotated[Path, typer.Argument(metavar="RELEASE", show_default=False)],
    roles: dict[str, Any],
    quiet: o.Quiet = False,
    as_json: o.Json = False,
    threads: o.Threads = None,
    encoding: o.Encoding = None,
    keeps: o.Keeps = None,
) -> None:
    """Check any pair of files: are the statistics of ORIGINAL in RELEASE?"""
    _roomy()
    from suffice.cli.command import Command

    asked = keeps and [name for text in keeps for name in names(text)]
    Command(quiet, as_json).verify(original, released, Roles(**roles), threads, encoding, asked)


@app.command()
@o.with_roles
def assess(
    original: Annotated[Path, typer.Argument(metavar="ORIGINAL", show_default=False)],
    released: Annotated[list[Path], typer.Argument(metavar="RELEASE", show_default=False)],
    roles: dict[str, Any],
    holdout: o.Holdout = None,
    measure: o.MeasureName = None,
    analysis: o.AnalysisText = None,
    where: o.Where = None,
    aligned: o.Aligned = False,
    output: o.ScoresFile = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
    threads: o.Threads = None,
    encoding: o.Encoding = None,
) -> None:
    """Measure what RELEASE gives away and what it is still good for: private scores for the data holder."""
    _roomy()
    from suffice.cli.command import Command

    asked = {"holdout": holdout, "measures": measure or None, "analyses": analysis or (), "where": where}
    given = {"aligned": aligned or None, "threads": threads, "encoding": encoding}
    Command(quiet, as_json).assess(original, released, Roles(**roles), output, force, {**asked, **given})


@app.command()
def compare(
    plan: Annotated[Path, typer.Argument(metavar="PLAN.toml", show_default=False)],
    output: o.ComparisonFolder = None,
    csv: o.ComparisonCsv = None,
    map_file: o.MapFile = None,
    report: o.ComparisonReport = None,
    repeats: o.Repeats = None,
    workers: o.Workers = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
) -> None:
    """Try many methods on the data of a plan, many times each: risk against utility, and which is recommended."""
    _roomy()
    from suffice.cli.command import Command
    from suffice.plan.plan import Plan

    read = Plan.read(plan)
    if not isinstance(read, Plan):
        raise UsageError("Methods for tables are not compared. Give a plan of records, with [roles].")
    kinds = (csv, (".csv",)), (map_file, (".png", ".svg")), (report, (".html",))
    files = {path: kind for path, kind in kinds if path is not None}
    Command(quiet, as_json).compare(read, output, files, force, {"workers": workers, "repeats": repeats})


@app.command()
def pool(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", show_default=False)],
    formula: o.Formula,
    rule: o.RuleName = None,
    records: o.Records = None,
    level: o.Level = 0.95,
    output: o.PoolFile = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
    encoding: o.Encoding = None,
) -> None:
    """Analyse all FILEs of a synthetic release, and combine by the rule that their certificate names."""
    _roomy()
    from suffice.cli.command import Command

    asked = {"rule": rule, "records": records, "level": level, "encoding": encoding}
    Command(quiet, as_json).pool(files, formula, output, force, asked)


@app.command()
def methods(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", show_default=False)] = None,
    as_json: o.Json = False,
) -> None:
    """List the methods, or describe one: parameters, promises, references."""
    _roomy()
    from suffice.cli import methods as listing

    listing.show(name, as_json)


@key.command("new")
def key_new(file: Annotated[Path, typer.Argument(metavar="FILE", show_default=False)]) -> None:
    """Write a new secret key of 256 bits, readable by you alone."""
    from suffice.cli.show import say
    from suffice.seed import Seed

    Seed.new_file(file)
    say(f"{file}: a new secret key. Whoever has it may undo a release: keep it apart from the data.")


@app.command()
def demo(
    folder: Annotated[Path, typer.Argument(metavar="[FOLDER]")] = Path("suffice-demo"),
    force: o.Force = False,
    quiet: o.Quiet = False,
) -> None:
    """Make a file of firms, protect it, verify it, show before and after, and compare methods."""
    _roomy()
    from suffice.cli.demo import tour

    tour(folder, force, quiet)


def ready_for(words: list[str]) -> typer.Typer:
    """The commands; where the first word names one, that one alone: making the others ready takes long."""
    named = [each for each in app.registered_commands if each.callback and [each.callback.__name__] == words[:1]]
    if not named:
        return app
    alone = copy(app)
    alone.registered_commands, alone.registered_groups = named, []
    return alone
