"""The documentation is true: its commands, its tables, its names, its links. `test_pages.py` runs it."""

from __future__ import annotations

import importlib.util
import re
import shlex
from pathlib import Path

import pytest
import typer
from typer.main import get_command

import suffice
from suffice.catalogue import methods
from suffice.cli.app import app
from suffice.errors import SufficeError
from suffice.guards import GUARDS
from suffice.plan.plan import Plan

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(path: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)


def commands() -> list[str]:
    """Every suffice command in a block of shell or an indented line."""
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        lines = [
            *"\n".join(blocks(page, "sh")).replace("\\\n", " ").splitlines(),
            *re.findall(r"^    (suffice .*)$", text, re.M),
        ]
        found += [line[line.index("suffice ") :] for line in lines if re.search(r"(^|uv run )suffice ", line)]
    return found


def test_there_are_commands_to_check():
    assert len(commands()) >= 8


@pytest.mark.parametrize("line", commands())
def test_command_parses(line: str):
    """Options and arguments are known and complete; nothing is run."""
    words = shlex.split(line, comments=True)[1:]
    group = get_command(app)
    with group.make_context("suffice", list(words), resilient_parsing=False) as context:
        name, command, rest = group.resolve_command(context, [*context._protected_args, *context.args])
        while isinstance(command, typer.core.TyperGroup):
            with command.make_context(name, rest, parent=context) as inner:
                name, command, rest = command.resolve_command(inner, [*inner._protected_args, *inner.args])
        command.make_context(name, rest, parent=context).close()


def test_the_page_on_the_design_names_every_room():
    page = (ROOT / "docs" / "how_it_works.md").read_text(encoding="utf-8")
    text = page.partition("## The rooms")[2].partition("##")[0]
    said = {name.strip() for line in re.findall(r"^    (\S+(?: \| \S+)*)  ", text, re.M) for name in line.split("|")}
    source = Path(suffice.__file__).parent
    rooms = {path.parent.name for path in source.glob("*/__init__.py")}
    assert {name for name in said if "." not in name} == rooms
    assert all((source / name).exists() for name in said)


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_files_that_are_named_exist(page: Path):
    for name in re.findall(r"`((?:\w+/)+\w+\.\w+)`", page.read_text(encoding="utf-8")):
        assert (ROOT / name).exists() or (ROOT / "src" / "suffice" / name).exists(), name


@pytest.mark.parametrize("block", [text for page in PAGES for text in blocks(page, "toml")])
def test_plans_in_the_documentation_are_plans(block: str):
    plan = Plan.parse(block)
    assert plan.method or plan.compare


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_public_names_exist(page: Path):
    for name in re.findall(r"\bsuffice\.([A-Za-z_]+)\b(?!/)", page.read_text(encoding="utf-8")):
        assert hasattr(suffice, name) or importlib.util.find_spec(f"suffice.{name}"), name


def test_every_public_name_is_there_and_every_method_is_public():
    assert {method.__name__ for method in methods().values()} < set(dir(suffice))
    assert all(getattr(suffice, name) is not None for name in dir(suffice))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_every_guard_is_in_the_readme():
    assert re.findall(r"^\| `([a-z-]+)` \|", (ROOT / "README.md").read_text(), re.M) == list(GUARDS)


def test_every_exit_code_is_in_the_readme():
    text = (ROOT / "README.md").read_text().partition("## Exit codes")[2]
    said = {int(code) for code in re.findall(r"\d", text.splitlines()[2])}
    assert said == {0} | {error.exit_code for error in SufficeError.__subclasses__()}


def test_the_page_of_methods_is_current():
    spec = importlib.util.spec_from_file_location("methods_page", ROOT / "docs" / "methods.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (ROOT / "docs" / "methods.md").read_text(encoding="utf-8") == module.page(), (
        "run: uv run python docs/methods.py"
    )
    assert all(f"## {name}\n" in module.page() for name in methods())


def test_the_table_of_measures_is_that_of_the_declarations():
    spec = importlib.util.spec_from_file_location("measures_table", ROOT / "docs" / "measures_table.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.page() == module.PAGE.read_text(encoding="utf-8"), "run: uv run python docs/measures_table.py"
