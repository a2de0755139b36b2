"""One request from the command line: compute, judge, write, and say what was done."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suffice.cli import show
from suffice.errors import UsageError, escaped
from suffice.progress import Watch

if TYPE_CHECKING:
    from suffice.certificate.verification import Verification
    from suffice.comparison.neighbours import Neighbours
    from suffice.design.roles import Roles
    from suffice.plan.plan import AnyPlan, Plan
    from suffice.release.places import Places
    from suffice.release.release import Release
    from suffice.release.tables import TableRelease

NO_KEY = "No key file was given: this release cannot be repeated, and no ledger of releases was kept."


@dataclass(frozen=True)
class Command:
    """How a command speaks: to people, quietly, or as one JSON document."""

    quiet: bool = False
    as_json: bool = False
    in_a_plan: bool = False

    def release(
        self, plan: AnyPlan, force: bool, report: Path | None, threads: int | None, among: Path | None = None
    ) -> None:
        """Protect, judge, write; where findings forbid writing, only the private report is written.

        among: a comparison, whose methods the report shows beside the release
        """
        shown = {} if among is None else {"among": _neighbours(plan, report, among)}
        output, force = plan.path(plan.release.path), force or plan.release.force
        places = plan.ready(force, report)
        seeded = plan.seed is not None
        self.publish(lambda progress: plan.protect(progress, threads), output, force, places, seeded, shown)
        if not (self.quiet or self.as_json):
            for path in places.left:
                show.say(f"{escaped(path.name)} is of an earlier release with more data sets, and was left as it is.")

    def publish(
        self,
        work: Callable[[Watch | None], Release | TableRelease],
        output: Path,
        force: bool,
        places: Places,
        seeded: bool,
        shown: Mapping[str, Any] = {},  # nobody writes to it
    ) -> None:
        """What the work gives, written and told; where findings forbid writing, only the private report is written.

        shown: what the report is to show besides
        """
        with self.watch() as progress:
            release = work(progress)
            why = show.refusal(release.findings, self.in_a_plan)
            if why is None:
                release.write(output, force=force, report=places.report, progress=progress, **shown)
            elif places.report is not None:
                release.report(places.report, force=force, **shown)
        written = places.files if why is None else [places.report] if places.report else []
        document = show.document(release, written)
        if why is None and self.as_json:
            show.as_json(document)
        elif not (self.quiet or self.as_json):
            self._tell(release, written, seeded)
        if why is not None:
            raise show.BlockingFindings(why, document)

    def propose(self, data: Path, output: Path | None, force: bool, encoding: str | None) -> None:
        """A commented plan, printed or written; where records cannot be released so, what the columns look like."""
        from suffice.plan.proposal import propose

        with self.watch() as progress:
            found = propose(data, encoding=encoding, progress=progress)
        if not self.quiet and (output is not None or found.roles is None):
            show.say(found.text())
        if output is not None:
            found.write(output, force)
            if not self.quiet:
                written = escaped(str(output))
                show.say(f"\nWritten: {written}. Nothing is released: look through it, then 'suffice run {written}'.")
        elif found.roles is None:
            found.plan()  # says why there is none
        elif not self.quiet:
            show.say(found.to_toml())

    def watch(self) -> AbstractContextManager[Watch | None]:
        """A bar in a terminal, lines elsewhere, and nothing where that was asked for."""
        return nullcontext() if self.quiet or self.as_json else Watch(sys.stderr.isatty())

    def _tell(self, release: Release | TableRelease, written: list[Path], seeded: bool) -> None:
        show.say(release.certificate.text())
        if told := getattr(release, "told", ""):  # of a table's method, for its holder
            show.say(f"\n{told}")
        if release.findings:
            show.say("\nWhat an attacker could still do, and other findings", "bold")
            show.findings(release.findings)
        if written:
            show.say("\nWritten", "bold")
        for path in written:
            show.say(f"  {escaped(str(path))}")
        if not seeded:
            show.say(f"\n{NO_KEY}")

    def verify(
        self,
        original: Path,
        released: Path,
        roles: Roles,
        threads: int | None,
        encoding: str | None = None,
        keeps: Sequence[str] | None = None,
    ) -> None:
        """Certify a pair of files, and say whether they agree."""
        from suffice.certificate.verification import verify

        with self.watch() as progress:
            options = {"threads": threads, "encoding": encoding, "keeps": keeps}
            result = verify(original, released, roles, progress=progress, **options)  # type: ignore[arg-type]
        document = show.parsed(result.to_json())
        if self.as_json and result.passes:
            show.as_json(document)
        elif not (self.quiet or self.as_json):
            show.say(result.text())
        refuse_differences(result, document)

    def assess(
        self,
        original: Path,
        released: list[Path],
        roles: Roles,
        output: Path | None,
        force: bool,
        asked: dict[str, Any],
    ) -> None:
        """Scores of a pair of files, or of several releases of one original, shown and written."""
        from suffice.release.assess import assess
        from suffice.release.scores import scores_target

        files = [original, *released, *([asked["holdout"]] if asked["holdout"] else [])]
        if output is not None:
            scores_target(output, force, files)  # before the work, not after it
        with self.watch() as progress:
            scores = assess(original, released, roles, progress=progress, **asked)
        if output is not None:
            scores.write(output, force=force, apart=files)
        if self.as_json:
            show.as_json(scores.as_dict())
        elif not self.quiet:
            show.say(scores.text())

    def compare(
        self, plan: Plan, folder: Path | None, files: Mapping[Path, Sequence[str]], force: bool, asked: dict[str, Any]
    ) -> None:
        """Methods side by side, shown and written; into a folder with the plan of what is recommended.

        files: what each may end with
        """
        from suffice.release.scores import scores_target

        for path, kinds in files.items():  # before the work, not after it
            scores_target(path, force, [plan.path(plan.data.path)], kinds)
        with self.watch() as progress:
            found = plan.side_by_side(folder, progress, **asked)
        for path in files:
            found.write(path, force=force)
        written = [*files, *(plan.write_comparison(found, folder) if folder is not None else [])]
        if self.as_json:
            show.as_json(found.as_dict())
        elif not self.quiet:
            show.say(found.text())
            if written:
                show.say("\nWritten", "bold")
            for path in written:
                show.say(f"  {escaped(str(path))}")

    def pool(self, files: list[Path], formula: str, output: Path | None, force: bool, asked: dict[str, Any]) -> None:
        """One analysis of all files of a release, shown and written."""
        from suffice.release.pool import pool

        found = pool(files, formula, **asked)
        if output is not None:
            found.write(output, force=force)
        if self.as_json:
            show.as_json(found.as_dict())
        elif not self.quiet:
            show.say(found.text())


def _neighbours(plan: AnyPlan, report: Path | None, among: Path) -> Neighbours:
    from suffice.comparison.neighbours import Neighbours
    from suffice.plan.plan import Plan

    if report is None or not isinstance(plan, Plan):
        raise UsageError("--among is for the report of a release of records.\nName the report with --report FILE.html.")
    return Neighbours.read(among)


def refuse_differences(result: Verification, document: dict[str, Any]) -> None:
    """NotPreservedError where a statistic differs, else GuardError where a finding forbids to release the file."""
    if not result.holds:
        raise show.Differences("The released file does not keep the statistics of the original.", document)
    if not result.passes:
        rules = ", ".join(finding.rule for finding in result.findings if finding.blocks)
        raise show.BlockingFindings(f"The statistics are kept, and the file must not be released: {rules}.", document)
