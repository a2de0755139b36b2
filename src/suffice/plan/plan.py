"""The whole request as data: TOML <-> Plan. Python, the command line and every later face share it."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

from pydantic import BaseModel, ConfigDict, PrivateAttr, ValidationError, create_model

from suffice.design.role import declared
from suffice.design.roles import Roles
from suffice.errors import FileError, UsageError, escaped, path_of
from suffice.files import toml
from suffice.plan import mistakes
from suffice.progress import Progress

if TYPE_CHECKING:
    from suffice.comparison.comparison import Comparison
    from suffice.files.draft import Labelled
    from suffice.method.method import Method
    from suffice.release.places import Places
    from suffice.release.release import Release
    from suffice.seed import Seed

BEST = "recommended.toml"
COMPANIONS = ("candidate", "frame", "other", "start")
"""Parameters that name a row-aligned file, relative to the plan."""


class Section(BaseModel):
    """A table of the plan: its keys and no others."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class DataSection(Section):
    """[data]: where the confidential rows are, and how their text is written where it is not UTF-8."""

    path: str
    encoding: str | None = None


def _with_keys(section: type[Section]) -> type[Section]:
    """The section with a key for each role that a plan may name."""
    asked = [role for role in declared(Roles) if "protect" in role.asked]
    keys: dict[str, Any] = {role.name: (Any, role.default) for role in asked}
    return create_model(section.__name__, __base__=section, __doc__=section.__doc__, **keys)


@_with_keys
class RolesSection(Section):
    """[roles]: what each column is. The keys follow from `Roles`, which says what is wrong with them."""

    def build(self) -> Roles:
        """The roles of the columns."""
        return Roles(**self.model_dump())


class Step(BaseModel):
    """[[method]]: a name, and the method's own parameters beside it."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)
    name: str


class SeedSection(Section):
    """[seed]: the file with the secret key."""

    key_file: str


class ReleaseSection(Section):
    """[release]: what is written."""

    path: str
    force: bool = False


class CompareSection(Section):
    """[compare]: methods side by side, and what is asked of the one that is recommended; see `suffice.compare`."""

    methods: Any = "quick"
    repeats: int = 100
    limits: dict[str, float] | None = None
    loss: list[str] | None = None
    keep: list[str] = []
    measures: list[str] = []


class AnyPlan(Section):
    """What plans of records and of tables share: where they are, and how they are read and run."""

    if TYPE_CHECKING:
        data: DataSection
        method: list[Step]
        seed: SeedSection | None
        accept: dict[str, str]
        release: ReleaseSection
    _folder: Path = PrivateAttr(default=Path())
    _file: Path | None = PrivateAttr(default=None)

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """The plan in a TOML file; its paths are relative to the file's folder."""
        where = path_of(path)
        try:
            text = where.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise UsageError(f"The plan {where.name} is not UTF-8 text.\nSave it as UTF-8.") from None
        except OSError as error:
            raise FileError(f"The plan {where.name} cannot be read: {error.strerror}.") from None
        plan = cls.parse(text, folder=where.parent)
        plan._file = where
        return plan

    @classmethod
    def parse(cls, text: str, folder: Path = Path()) -> Self:
        """The plan written in `text`."""
        try:
            tables = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise UsageError(f"The plan is not TOML: {error}.") from None
        return cls.of(tables, folder)

    @classmethod
    def of(cls, tables: Mapping[str, Any], folder: Path = Path()) -> Self:
        """The plan in parsed tables, or one error that lists every mistake with its path; [table] tells a table's."""
        if "table" in tables and cls is Plan:
            from suffice.plan.table import TablePlan

            return cast(Self, TablePlan.of(tables, folder))
        found: list[str] = []
        try:
            plan = cls.model_validate(dict(tables))
        except ValidationError as error:
            found += mistakes.of_shape(error.errors(), {key: s.model_fields for key, s in cls.sections().items()})
        found += cls.mistakes(tables)
        if found:
            raise mistakes.refusal(found)
        plan._folder = folder
        plan.check()
        return plan

    @classmethod
    def sections(cls) -> dict[str, type[Section]]:
        """Tables of the plan by name; its own keys stand under no name."""
        raise NotImplementedError

    @classmethod
    def mistakes(cls, tables: Mapping[str, Any]) -> Iterator[str]:
        """What is wrong beyond keys and types."""
        raise NotImplementedError

    def check(self) -> None:
        """Refuses what fits no other part of the plan."""

    def to_toml(self) -> str:
        """The plan as TOML; reading it gives an equal plan."""
        return toml.write(self.model_dump(exclude_none=True, exclude_defaults=True))

    def path(self, name: str) -> Path:
        """A path of the plan, seen from where the program runs."""
        return path_of(self._folder / name)

    def ready(self, force: bool = False, report: Path | None = None) -> Places:
        """Where the release and all that belongs to it go; refuses before the work what would be refused after it."""
        from suffice.release.places import Places

        places = Places.of(self.path(self.release.path), report, self.count_sets())
        own = [("the plan", self._file)] if self._file else []
        places.refuse([*own, *self.kept_files()], force, self.pattern_file())
        return places

    def count_sets(self) -> int:
        """How many data sets are numbered; 0: there is one."""
        return 0

    def pattern_file(self) -> Path | None:
        """A file for the holder alone, which is written with a table."""
        return None

    def kept_files(self) -> list[Labelled]:
        """Files that nothing may replace."""
        raise NotImplementedError

    def key(self) -> Seed | None:
        """The secret key that the plan names."""
        from suffice.seed import Seed

        return Seed.from_file(self.path(self.seed.key_file)) if self.seed else None

    def protect(self, progress: Progress | bool | None = None, threads: int | None = None) -> Any:
        """The release, computed and judged but not written."""
        raise NotImplementedError

    def run(self, progress: Progress | bool | None = None, threads: int | None = None) -> Any:
        """The release, computed, judged and written."""
        self.ready(self.release.force)
        release = self.protect(progress, threads)
        release.write(self.path(self.release.path), force=self.release.force, progress=progress)
        return release


class Plan(AnyPlan):
    """One request: data, roles, methods in order (or none: what suits the roles), seed, accepted findings, release.

    [compare] says which methods `suffice compare` tries; a release is made without looking at it.

    >>> plan = Plan.of({"data": {"path": "firms.csv"}, "roles": {"confidential": ["wages"]},
    ...                 "method": [{"name": "ipso"}], "release": {"path": "out.csv"}})
    >>> Plan.parse(plan.to_toml()) == plan
    True
    """

    data: DataSection
    roles: RolesSection
    method: list[Step] = []
    seed: SeedSection | None = None
    accept: dict[str, str] = {}
    compare: CompareSection | None = None
    release: ReleaseSection

    @classmethod
    def sections(cls) -> dict[str, type[Section]]:
        return SECTIONS

    @classmethod
    def mistakes(cls, tables: Mapping[str, Any]) -> Iterator[str]:
        yield from mistakes.of_roles(tables.get("roles"))
        yield from mistakes.of_steps(tables.get("method"))
        yield from mistakes.of_rules(tables.get("accept"))

    def check(self) -> None:
        self.build_method()  # refuses a step that cannot follow

    def count_sets(self) -> int:
        sets = self.build_method().sets
        return sets if sets > 1 else 0

    def kept_files(self) -> list[Labelled]:
        from suffice.release.places import kept_files

        key = self.path(self.seed.key_file) if self.seed else None
        return kept_files(self.path(self.data.path), self.build_method(), key)

    def build_method(self) -> Method:
        """The method: the steps, each fed with the result of the one before it; without any, what suits the roles."""
        from suffice.catalogue import chosen

        return chosen(self._steps(), self.roles.build())

    def _steps(self) -> list[Method | str] | None:
        from suffice.catalogue import build

        return [build(step.name, _parameters(step, self._folder)) for step in self.method] or None

    def protect(self, progress: Progress | bool | None = None, threads: int | None = None) -> Release:
        """The release, computed and judged but not written."""
        from suffice.release.protect import protect

        data, roles, method, told = self.path(self.data.path), self.roles.build(), self._steps(), self.data.encoding
        return protect(data, roles, method, self.key(), self.accept, progress=progress, threads=threads, encoding=told)

    def side_by_side(
        self,
        folder: Path | None = None,
        progress: Progress | bool | None = None,
        workers: int | None = None,
        repeats: int | None = None,
    ) -> Comparison:
        """The comparison that [compare] asks for; without that table, the preset "quick".

        folder: where finished runs are kept
        repeats: in place of what the plan says
        """
        from suffice.comparison.compare import compare

        if folder is not None and self._file is not None and (folder / BEST).absolute() == self._file.absolute():
            raise UsageError(f"The folder has this plan as {BEST}, which would be replaced.\nName another folder.")
        asked = (self.compare or CompareSection()).model_dump() | ({} if repeats is None else {"repeats": repeats})
        given: dict[str, Any] = {"seed": self.key(), "accept": self.accept, "encoding": self.data.encoding}
        data = self.path(self.data.path)
        return compare(data, self.roles.build(), **asked, **given, folder=folder, progress=progress, workers=workers)

    def write_comparison(self, comparison: Comparison, folder: Path) -> list[Path]:
        """All that a comparison tells, into the folder of its runs: what an earlier one told there is replaced."""
        from suffice.files.draft import Draft, commit
        from suffice.release.scores import OWNER

        files = [folder / f"comparison{kind}" for kind in (".json", ".csv", ".html", ".png")]
        for path in files:
            comparison.write(path, force=True)
        plan = folder / BEST
        if not comparison.recommendation:
            plan.unlink(missing_ok=True)
            return files
        with Draft(plan, True, OWNER) as draft:
            draft.write(self.recommended(comparison, folder).encode())
            draft.settle()
            commit([draft])
        return [*files, plan]

    def recommended(self, comparison: Comparison, folder: Path) -> str:
        """The plan of the release that is recommended, to be written into `folder`, with the reasons."""
        found = comparison.recommendation
        if not found:
            raise UsageError(f"Nothing is recommended.\n{found.reasons[0]}")
        tables = self.model_dump(exclude_none=True, exclude_defaults=True, exclude={"compare"})
        for table, key in (("data", "path"), ("release", "path"), ("seed", "key_file")):
            if table in tables:
                tables[table][key] = os.path.relpath(self.path(tables[table][key]), folder)
        plan = Plan.of({**tables, "method": list(found.steps)}, folder)
        told = [f"# {line}" for line in map(escaped, (f"Recommended: {found.name}", *found.reasons))]
        return "\n".join([*told, "", plan.to_toml()])


def _parameters(step: Step, folder: Path) -> dict[str, Any]:
    given = step.model_extra or {}
    return {name: folder / value if name in COMPANIONS else value for name, value in given.items()}


SECTIONS: dict[str, type[Section]] = {
    "": Plan,
    "data": DataSection,
    "roles": RolesSection,
    "seed": SeedSection,
    "compare": CompareSection,
    "release": ReleaseSection,
}
