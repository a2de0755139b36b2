"""The demonstration: a file of firms is protected, verified, shown before and after, and methods are compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suffice.cli.command import Command, refuse_differences
from suffice.cli.show import say
from suffice.demo import PLAN, firms
from suffice.errors import FileError

if TYPE_CHECKING:
    import pyarrow as pa

    from suffice.design.roles import Roles
    from suffice.plan.plan import Plan

SHOWN = 5


def tour(folder: Path, force: bool, quiet: bool) -> None:
    """Everything a first visitor should see, and every file to look at afterwards."""
    plan = _prepare(folder, force)
    compared = folder / "compared"
    last = folder / "report.html", None, compared / "comparison.json"
    if quiet:
        Command(quiet=True).compare(plan, compared, {}, True, {"workers": 1})
        Command(quiet=True).release(plan, True, *last)
        return
    say("1. firms.parquet holds invented firms, plan.toml says what to do with them", "bold")
    say(f"\n{PLAN.partition('[roles]')[2].partition('[seed]')[0].strip()}")
    say("\n2. Protect: suffice run plan.toml\n", "bold")
    Command(in_a_plan=True).release(plan, True, None, None)
    _verify(plan)
    _before_and_after(plan)
    say("\n6. Was it the right method? suffice compare plan.toml --output compared\n", "bold")
    Command().compare(plan, compared, {}, True, {"workers": 1})
    say("\n7. All on one page: suffice run plan.toml --report report.html --among compared/comparison.json\n", "bold")
    Command(quiet=True).release(plan, True, *last)
    say(f"\nIn {folder} look at report.html (private) and release.parquet.certificate.html (public),")
    say("and in compared at comparison.html (private), with the map of risk and loss.")


def _verify(plan: Plan) -> None:
    from suffice.certificate.verification import verify

    result = verify(plan.path(plan.data.path), plan.path(plan.release.path), plan.roles.build())
    say("\n3. Verify: suffice verify firms.parquet release.parquet ...\n", "bold")
    say(f"  the statistics, from the two files alone: {'kept' if result.holds else 'NOT KEPT'}")
    for item in result.unchecked:
        say(f"  not checked: {item}")
    refuse_differences(result, {})


def _prepare(folder: Path, force: bool) -> Plan:
    """A folder with data, plan and key; a key that is there already is used again."""
    import pyarrow.parquet as pq

    from suffice.plan.plan import Plan
    from suffice.seed import Seed

    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())) and not force:
        raise FileError(f"{folder} exists and is not empty.\nName another folder, or replace its files with --force.")
    folder.mkdir(parents=True, exist_ok=True)
    files = folder / "firms.parquet", folder / "plan.toml"
    earlier = [path.read_bytes() for path in files if path.exists()]
    pq.write_table(firms(), files[0])
    files[1].write_text(PLAN, encoding="utf-8")
    if earlier != [path.read_bytes() for path in files]:
        for name in ("runs.jsonl", "recommended.toml", "comparison.*"):  # of another request
            for path in (folder / "compared").glob(name):
                path.unlink()
    plan = Plan.read(folder / "plan.toml")
    if not (folder / "secret.key").exists():
        Seed.new_file(folder / "secret.key")
    return plan


def _before_and_after(plan: Plan) -> None:
    import pyarrow.parquet as pq

    before = pq.read_table(plan.path(plan.data.path))
    after = pq.read_table(plan.path(plan.release.path))
    say("\n4. Before and after; what is kept is weighted, by the plan", "bold")
    say(f"\n  {'':<52}{'original':>20}{'released':>20}")
    roles = replace(plan.roles.build(), identifiers=())
    for (name, one), (_, two) in zip(_statistics(before, roles), _statistics(after, roles), strict=True):
        say(f"  {name:<52}{one:>20.12g}{two:>20.12g}")
    say("\n5. The first rows of each: shuffled, and with new values", "bold")
    for title, table in (("original", before), ("released", after)):
        say(f"\n  {title}\n{_rows(table)}")


def _statistics(table: pa.Table, roles: Roles) -> Iterator[tuple[str, float]]:
    """Means, standard deviations, a correlation and a regression, each from one file alone."""
    import numpy as np

    from suffice.design.design import Design
    from suffice.rows.memory import MemoryRows

    rows = MemoryRows(table)
    design = Design.learn(rows, roles)
    block = next(iter(rows.runs(design.columns)))[0]
    W, w = design.matrix(block), design.weights(block)
    assert w is not None  # the plan names a weight
    X, Y = W[:, : design.m], W[:, design.m :]
    mean = np.average(Y, axis=0, weights=w)
    covariance = np.cov(Y, rowvar=False, aweights=w, ddof=0)
    for name, value in zip(roles.confidential, mean, strict=True):
        yield f"weighted mean of {name}", value
    yield f"unweighted mean of {roles.confidential[0]}, not promised", Y[:, 0].mean()
    yield f"smallest {roles.confidential[0]}, at least 0", Y[:, 0].min()
    for name, value in zip(roles.confidential, np.sqrt(np.diagonal(covariance)), strict=True):
        yield f"weighted sd of {name}", value
    one, two = roles.confidential[:2]
    yield f"weighted correlation of {one}, {two}", covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])
    parts = [roles.confidential.index(name) for name in ("wages", "taxes", "other_costs")]
    yield (
        "largest gap of total_costs and its parts",
        np.abs(Y[:, -1] - Y[:, parts].sum(axis=1)).max().round(6),
    )
    root = np.sqrt(w)[:, None]
    beta = np.linalg.lstsq(root * X, root * Y[:, :1], rcond=None)[0][:, 0]
    for name, value in list(zip(design.names, beta, strict=True))[-SHOWN:]:
        yield f"weighted regression of {one}: {name}", value


def _rows(table: pa.Table) -> str:
    """The first rows, as columns of text."""
    cells = [[name, *(_cell(value) for value in table[name][:SHOWN].to_pylist())] for name in table.column_names]
    wide = [max(map(len, column)) for column in cells]
    lines = zip(*cells, strict=True)
    return "\n".join("  " + "  ".join(f"{cell:>{w}}" for cell, w in zip(line, wide, strict=True)) for line in lines)


def _cell(value: Any) -> str:
    return f"{value:.1f}" if isinstance(value, float) else str(value)
