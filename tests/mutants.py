"""Deliberate faults, each of which some test must notice: uv run python -m tests.mutants [WORD ...]

A mutant is a place in the source, what stands there, what is put there instead, and the tests that must fail then.
Each is tried in a copy of the tree; words choose mutants by file or name. `tests/test_mutants.py` sees to it that
every place still exists.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]


class Mutant(NamedTuple):
    """A fault put in place of a text that stands once in a file of the source."""

    name: str
    file: str
    old: str
    new: str
    tests: str
    """Files of tests, of which one must fail."""


def without(rule: str, attack: str) -> Mutant:
    """A guard that is switched off; the attack that it stops must fail its test."""
    line = f'    "{rule}": {rule.replace("-", "_")},\n'
    return Mutant(f"without {rule}", "guards/__init__.py", line, "", f"tests/attacks/test_{attack}.py")


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "tables without an audit",
        "guards/tables/__init__.py",
        '    "audit": audit,\n',
        "",
        "tests/release/test_tables.py",
    ),
    Mutant(
        "tables without a memory",
        "guards/tables/__init__.py",
        '    "repeated-release": repeated_release,\n',
        "",
        "tests/attacks/test_tables.py",
    ),
    Mutant(
        "tables whose published cells nobody compares",
        "statistics/cells.py",
        "errors = np.abs(after - before) / _size(self.size)",
        "errors = np.abs(after - after) / _size(self.size)",
        "tests/release/test_tables.py",
    ),
    Mutant(
        "tables that are drawn with the original",
        "release/table_picture.py",
        "if private and (gap or changed)",
        "if gap",
        "tests/release/test_tables.py",
    ),
    Mutant(
        "every step has the same numbers",
        "protection/steps.py",
        "stream = self.stream if len(steps) == 1 else self.stream.child(str(number))",
        "stream = self.stream",
        "tests/test_key_derivation.py",
    ),
    Mutant(
        "every group of Resize has the same numbers",
        "protection/drawing.py",
        'original.stream.child(f"resize {number}")',
        'original.stream.child("resize")',
        "tests/test_key_derivation.py",
    ),
    Mutant(
        "every group has the same numbers, one by one",
        "protection/runner.py",
        'stream = self.original.stream.child(f"group {number}")',
        'stream = self.original.stream.child("group")',
        "tests/test_key_derivation.py",
    ),
    Mutant(
        "every group has the same numbers, in stacks",
        "protection/runner.py",
        'streams = [self.original.stream.child(f"group {number}") for number, _ in members]',
        'streams = [self.original.stream.child("group") for number, _ in members]',
        "tests/test_key_derivation.py",
    ),
    Mutant(
        "a release has its name before its certificate",
        "files/draft.py",
        "            for draft in drafts:\n                draft.name()",
        "            for draft in reversed(drafts):\n                draft.name()",
        "tests/faults/test_kill.py",
    ),
    Mutant(
        "what columns tell together by their product is not looked for",
        "risk/told.py",
        "return _more(sample, found, _by_pairs(sample, sample.numbers))",
        "return found",
        "tests/attacks/test_columns_that_leave.py",
    ),
    Mutant(
        "what some records are hides what most are",
        "risk/trimmed.py",
        "half = (len(y) + X.shape[1] + 1) // 2",
        "half = len(y)",
        "tests/attacks/test_columns_that_leave.py",
    ),
    Mutant(
        "absorbed factors have no cells",
        "risk/cells.py",
        "[*families(design), *([(design.absorbed,)] if design.absorbed else [])]",
        "[*families(design)]",
        "tests/attacks/test_cells_and_giants.py",
    ),
    Mutant(
        "zeros of a whole town are no news",
        "risk/explained_columns.py",
        "2 * (zeros - here) < cells - here",
        "2 * (zeros - here) < 0 * cells",
        "tests/attacks/test_cells_and_giants.py",
    ),
    Mutant(
        "a copy by luck leaves",
        "release/protect.py",
        "if not release.unlucky:",
        "if release.seed:",
        "tests/risk/test_trials.py::test_a_release_with_a_copy_by_luck_is_drawn_anew",
    ),
    Mutant(
        "a short walk leaves a record where it was",
        "microdata/rotate.py",
        "PATIENCE = 20",
        "PATIENCE = 0",
        "tests/attacks/test_rotation.py::test_a_walk_of_few_sweeps_goes_on_until_every_record_has_moved",
    ),
    Mutant(
        "every data set has the same numbers",
        "release/protect.py",
        'stream.child(f"set {number}")',
        "stream",
        "tests/method/test_shapes.py",
    ),
    Mutant(
        "children without a domain of their own",
        "seed.py",
        'f"child:{label}".encode()',
        'f"{label}".encode()',
        "tests/test_key_derivation.py",
    ),
    Mutant(
        "every block has the same numbers",
        "seed.py",
        'f"{label}:{number}".encode()',
        'f"{label}".encode()',
        "tests/test_seed.py",
    ),
    Mutant(
        "the name of a release is its key",
        "seed.py",
        'hmac.digest(self._key, b"digest", "sha256").hex()[:32]',
        "self._key.hex()[:32]",
        "tests/test_key_derivation.py",
    ),
    Mutant(
        "keyed digests are keys of releases",
        "seed.py",
        'self.derive("digest", *parts)._key',
        "self.derive(*parts)._key",
        "tests/test_key_derivation.py",
    ),
    Mutant(
        "requests are joined without their lengths",
        "seed.py",
        'len(part.encode()).to_bytes(8, "big") + part.encode()',
        "part.encode()",
        "tests/test_seed.py",
    ),
    Mutant(
        "values do not decide the numbers",
        "release/protect.py",
        "json.dumps(method.parameters()), *values",
        "json.dumps(method.parameters())",
        "tests/test_seed.py",
    ),
    Mutant(
        "roles do not decide the numbers",
        "release/protect.py",
        "request = roles.canonical(), method.name",
        "request = method.name",
        "tests/test_seed.py",
    ),
    Mutant(
        "a seed shows its key",
        "seed.py",
        'return "Seed(...)"',
        'return f"Seed({self._key.hex()})"',
        "tests/test_seed.py",
    ),
    Mutant(
        "a stream is pickled",
        "seed.py",
        'raise TypeError("The random numbers of a release are a secret and are not pickled or copied.")',
        "return Stream, (self._key,)",
        "tests/test_seed.py",
    ),
    Mutant(
        "rows of a bucket stay in order",
        "release/delivery.py",
        "return table.take(arrow(stream.permutation(number, len(table))))",
        "return table",
        "tests/rows/test_shuffle.py tests/attacks/test_row_order.py",
    ),
    Mutant(
        "drawn records repaired among those alike",
        "algorithms/rotation/repair.py",
        'kind="random" if still else "near"',
        'kind="near"',
        "tests/algorithms/rotation/test_repair.py",
    ),
    Mutant(
        "a turn may leave the bounds",
        "algorithms/rotation/turn.py",
        "failed = _any(outside) | _edits_fail(new, ground, rows)",
        "failed = _edits_fail(new, ground, rows)",
        "tests/algorithms/rotation/test_turn.py tests/microdata/test_rotate.py",
    ),
    Mutant(
        "a turn may break an edit",
        "algorithms/rotation/turn.py",
        "failed = _any(outside) | _edits_fail(new, ground, rows)",
        "failed = _any(outside)",
        "tests/algorithms/rotation/test_turn.py tests/microdata/test_rotate.py",
    ),
    Mutant(
        "the same angle is tried again",
        "algorithms/rotation/turn.py",
        "t = left + angle(seeds, attempt) * (right - left)",
        "t = left + angle(seeds, 0) * (right - left)",
        "tests/algorithms/rotation/test_law.py",
    ),
    Mutant(
        "a bracket does not shrink towards the start",
        "algorithms/rotation/trigonometry.py",
        "return choose(t > 0.0, left, t), choose(t > 0.0, t, right)",
        "return choose(t > left, left, t), choose(t > left, t, right)",
        "tests/algorithms/rotation/test_bracket.py",
    ),
    Mutant(
        "every fall of the law is allowed",
        "algorithms/rotation/turn.py",
        "level, seeds = _log_density(y, law) - chance.drops",
        "level, seeds = _log_density(y, law) - 100 * chance.drops",
        "tests/algorithms/rotation/test_law.py",
    ),
    Mutant(
        "the law only rises",
        "algorithms/rotation/turn.py",
        "level, seeds = _log_density(y, law) - chance.drops",
        "level, seeds = _log_density(y, law) - 0 * chance.drops",
        "tests/algorithms/rotation/test_law.py",
    ),
    Mutant(
        "a density without its Jacobian",
        "algorithms/rotation/densities.py",
        " - 0.5 * np.log1p(np.sinh(grid) ** 2)",
        "",
        "tests/algorithms/rotation/test_law.py",
    ),
    Mutant(
        "turns may raise sums twice as far",
        "algorithms/rotation/column_sums.py",
        "- height > drop",
        "- height > 2 * drop",
        "tests/algorithms/rotation/test_column_sums.py",
    ),
    Mutant(
        "sums of powers have no walls",
        "algorithms/rotation/column_sums.py",
        "STEEP if closely else 0.0",
        "0.0",
        "tests/algorithms/rotation/test_column_sums.py",
    ),
    Mutant(
        "compiled loops know no walls",
        "algorithms/rotation/compiled.py",
        "steep / 2 * out * out",
        "0.0 * steep * out",
        "tests/algorithms/rotation/test_column_sums.py",
    ),
    Mutant(
        "fourth powers lean down",
        "algorithms/rotation/column_sums.py",
        "- self.lean @ powers",
        "+ self.lean @ powers",
        "tests/algorithms/rotation/test_column_sums.py",
    ),
    Mutant(
        "every super-block has a law of its own",
        "protection/super_blocks.py",
        "replace(self.layout.task(records), learnt=self.learnt)",
        "self.layout.task(records)",
        "tests/protection/test_super_blocks.py",
    ),
    Mutant(
        "turns that are refused stay",
        "algorithms/rotation/column_sums.py",
        "Y[undone] = before[undone]",
        "Y[undone] = Y[undone]",
        "tests/algorithms/rotation/test_column_sums.py",
    ),
    Mutant(
        "what a turn changes counts twice",
        "algorithms/rotation/compiled.py",
        "total += 0.5 * each * each",
        "total += 1.0 * each * each",
        "tests/algorithms/rotation/test_column_sums.py",
    ),
    Mutant(
        "turns that are refused count",
        "algorithms/rotation/column_sums.py",
        "            else:\n                d += each\n",
        "            d += each\n            if kept[i]:\n",
        "tests/algorithms/rotation/test_column_sums.py",
    ),
    Mutant(
        "what was turned back is as likely as what was turned",
        "algorithms/rotation/column_sums.py",
        "known[undone] = np.nan",
        "known[undone] += 0.0",
        "tests/microdata/test_rotate.py",
    ),
    Mutant(
        "records have turned by twice their steps",
        "algorithms/rotation/stopping.py",
        "(step * step).sum(axis=0) / 2",
        "(step * step).sum(axis=0)",
        "tests/algorithms/rotation/test_stopping.py",
    ),
    Mutant(
        "drawn records may be negative where none was",
        "microdata/rotate.py",
        "np.maximum(ground.low, 0.0), ground.low)",
        "ground.low, ground.low)",
        "tests/microdata/test_rotate.py",
    ),
    Mutant(
        "one record far beyond all others is not seen",
        "risk/cells.py",
        "whole.shown & amounts & kept",
        "whole.shown & amounts & False",
        "tests/attacks/test_rotation.py",
    ),
    Mutant(
        "third powers tell a giant",
        "algorithms/rotation/column_sums.py",
        "LEAST * size, 3 * TOLD * three",
        "LEAST * size, 0 * three",
        "tests/algorithms/rotation/test_column_sums.py",
    ),
    Mutant(
        "fourth powers tell a giant",
        "algorithms/rotation/column_sums.py",
        "(weight @ Z**4), 4 * TOLD * four)",
        "(weight @ Z**4), 0 * four)",
        "tests/algorithms/rotation/test_column_sums.py",
    ),
    Mutant(
        "the original's own records are on a heap",
        "algorithms/rotation/heaps.py",
        "inside = (new >= low) & (new <= high) & (new != 0)",
        "inside = (y == value) & (low <= high)",
        "tests/algorithms/rotation/test_heaps.py",
    ),
    Mutant(
        "heaps break edits",
        "algorithms/rotation/heaps.py",
        "np.flatnonzero(free & ~(ground.C != 0).any(axis=0))",
        "np.flatnonzero(free)",
        "tests/algorithms/rotation/test_heaps.py",
    ),
    Mutant(
        "moments are not given back",
        "algorithms/rotation/heaps.py",
        "return (made, left) if left <= max(ENOUGH, ratio) else (Ystar, ratio)",
        "return heaped, ratio",
        "tests/algorithms/rotation/test_heaps.py",
    ),
    Mutant(
        "columns go together as their inverse does",
        "algorithms/rotation/densities.py",
        "total = total - along * q[a]",
        "total = total + along * q[a]",
        "tests/algorithms/rotation/test_law.py",
    ),
    Mutant(
        "groups are chosen by the state",
        "algorithms/rotation/dealing.py",
        "return compass.given_order(generator) if sweep // 4 % 2 else random_order(len(compass.X), generator)",
        "return compass.order(compass.X, generator)",
        "tests/algorithms/rotation/test_dealing.py",
    ),
    Mutant(
        "a walk does not ask who is linked",
        "algorithms/rotation/stopping.py",
        "return linked > 2 and linked > likeness.chance(generator) + 1",
        "return False",
        "tests/algorithms/rotation/test_stopping.py",
    ),
    Mutant(
        "the law never counts fully",
        "algorithms/rotation/stopping.py",
        "if sweep > self.before:\n            return 1.0",
        "if sweep > self.before:\n            return LITTLE",
        "tests/algorithms/rotation/test_stopping.py",
    ),
    Mutant(
        "records that never moved are not told",
        "algorithms/rotation/walk.py",
        "still & (Y[:, open_] != 0).any(axis=1)",
        "still & (Y[:, open_] != Y[:, open_]).any(axis=1)",
        "tests/attacks/test_rotation.py tests/microdata/test_rotate.py",
    ),
    Mutant(
        "records leave their class within a sweep",
        "microdata/rotate.py",
        "ground.between(self.Y[:, column], column, cuts)",
        "ground.between(self.Y[:, column], column, cuts[:0])",
        "tests/microdata/test_rotate.py",
    ),
    without("degrees-of-freedom", "few_degrees_of_freedom"),
    without("group-size", "groups"),
    without("dominance", "cells_and_giants"),
    without("leverage", "leverage"),
    without("stacked-leverage", "ledger"),
    without("changed-records", "ledger"),
    without("former-role", "ledger"),
    without("explained-columns", "columns_that_leave"),
    without("information", "whole_numbers"),
    without("equal-cells", "columns_that_leave"),
    without("kept-columns", "columns_that_leave"),
    without("tight-limits", "tight_limits"),
    without("copies", "copies_and_outliers"),
    without("rare-cells", "rare_cells"),
    without("replicated-records", "rare_cells"),
    without("membership", "membership"),
    without("leaf", "synthesis"),
    without("rare-values", "synthesis"),
    Mutant(
        "columns below a separator are dealt without mixing",
        "algorithms/margins.py",
        'mixed[np.argsort(before[mixed], kind="stable")]',
        'np.argsort(before, kind="stable")',
        "tests/microdata/test_margins.py",
    ),
    Mutant(
        "draws that are not shrunk",
        "microdata/bootstrap.py",
        "mean + moved / np.sqrt(1 + h * h)",
        "mean + moved",
        "tests/microdata/test_bootstrap.py",
    ),
    Mutant(
        "a table that is not compared",
        "statistics/table.py",
        "0.0 if before.columns == after.columns else inf",
        "0.0",
        "tests/microdata/test_margins.py",
    ),
    without("unmoved-records", "rotation"),
    without("row-order", "row_order"),
    without("residual-correlation", "kept_components"),
    without("canonical-correlation", "kept_components"),
    without("kept-scores", "kept_components"),
    without("householder", "householder"),
    without("repeated-release", "averaging"),
    without("outliers", "copies_and_outliers"),
    without("giants", "rotation"),
    without("nearness", "nearness"),
    without("linkage", "nearness"),
    without("zeros", "nearness"),
    without("parts", "nearness"),
    without("extremes", "nearness"),
    without("digits", "nearness"),
    Mutant(
        "zeros count among the records that stay near",
        "risk/nearness.py",
        "there = (y != 0) | date",
        "there = (y == y) | date",
        "tests/attacks/test_nearness.py",
    ),
    Mutant(
        "a giant is handed on wherever values are dense",
        "risk/giants.py",
        "float(np.mean([_found(c * top, after) for c in ELSEWHERE]))",
        "0.0",
        "tests/attacks/test_nearness.py",
    ),
    Mutant(
        "few genuine values among many that look so are told by their digits",
        "risk/digits.py",
        " and on_lattice(released, decimals).sum() <= 2 * same.sum()",
        "",
        "tests/attacks/test_nearness.py",
    ),
    without("unique-records", "columns_that_leave"),
    without("repeated-identifiers", "units"),
    without("seed", "known_key"),
    Mutant(
        "copies are not looked for",
        "risk/looks.py",
        '"copies": CopyMeasure(spread, still),',
        '"copies": CopyMeasure(spread, still | True),',
        "tests/test_key_derivation.py",
    ),
    Mutant(
        "far cells are not looked for",
        "risk/looks.py",
        '"far": FarMeasure(spread, still),',
        '"far": FarMeasure(spread, still | True),',
        "tests/test_key_derivation.py",
    ),
    Mutant(
        "pairs dominate at 99 %",
        "risk/dominance.py",
        "PRIOR, PAIR, WIDTH = 0.10, 0.90, 0.10",
        "PRIOR, PAIR, WIDTH = 0.10, 0.99, 0.10",
        "tests/guards/test_dominance.py",
    ),
    Mutant(
        "the largest is told at p % = 1",
        "risk/dominance.py",
        "PRIOR, PAIR, WIDTH = 0.10, 0.90, 0.10",
        "PRIOR, PAIR, WIDTH = 0.01, 0.90, 0.10",
        "tests/guards/test_dominance.py tests/attacks/test_cells_and_giants.py",
    ),
    Mutant(
        "intervals are narrow at 1 %",
        "risk/dominance.py",
        "PRIOR, PAIR, WIDTH = 0.10, 0.90, 0.10",
        "PRIOR, PAIR, WIDTH = 0.10, 0.90, 0.01",
        "tests/guards/test_dominance.py",
    ),
    Mutant(
        "an accepted reason lifts every rule",
        "guards/finding.py",
        'self.level == "never" or (self.level == "stop" and self.accepted is None)',
        'self.level == "stop" and self.accepted is None',
        "tests/guards",
    ),
    Mutant(
        "a certificate holds whatever differs",
        "statistics/statistic.py",
        "return not self.promised or self.ratio <= BOUND",
        "return True",
        "tests/certificate tests/attacks/test_certificate_figures.py",
    ),
    Mutant(
        "a ratio of a thousand is kept",
        "statistics/statistic.py",
        "BOUND = 30.0",
        "BOUND = 30000.0",
        "tests/certificate tests/attacks/test_certificate_figures.py",
    ),
    Mutant(
        "errors are told with all digits",
        "statistics/statistic.py",
        'near = float(f"{error:.0e}")',
        "return error",
        "tests/certificate tests/attacks/test_certificate_figures.py src/suffice/statistics/statistic.py",
    ),
    Mutant(
        "missing rows are no matter",
        "certificate/certificate.py",
        "self.same_rows is not False and all(claim.holds for claim in self.claims)",
        "all(claim.holds for claim in self.claims)",
        "tests/certificate tests/attacks/test_certificate_figures.py",
    ),
    Mutant(
        "other records are no matter",
        "certificate/verification.py",
        "return self.certificate.holds and self.same_multiset is not False",
        "return self.certificate.holds",
        "tests/certificate tests/attacks/test_certificate_figures.py",
    ),
    Mutant(
        "one record in a difference is no matter",
        "risk/power_sums.py",
        "return np.asarray(one | pair | other)",
        "return np.asarray(pair | other)",
        "tests/attacks/test_ledger.py",
    ),
    Mutant(
        "lines of a ledger are anybody's",
        "ledger.py",
        'return "" if self.seed is None else self.seed.digest("line", before, blank)',
        'return ""',
        "tests/test_ledger.py",
    ),
    Mutant(
        "a part of a file is another file",
        "ledger.py",
        "return len(few & {*whole.sample}) >= max(SURE, PART * len(few))",
        "return False",
        "tests/attacks/test_ledger.py",
    ),
    Mutant(
        "zeros may go without a word",
        "risk/zeros.py",
        "(2 * after < before)",
        "(after < 0)",
        "tests/guards/test_remedies.py",
    ),
    Mutant(
        "moments are compared, whatever is to be",
        "certificate/comparands.py",
        "(*(name for name in COMPARED if name in told), *rest)",
        '("mean", "covariance", "fit", *rest)',
        "tests/certificate/test_verification.py",
    ),
    Mutant(
        "copies of the original verify",
        "certificate/verification.py",
        "*([overlap] if overlap else []), ",
        "",
        "tests/certificate tests/attacks/test_certificate_figures.py",
    ),
    Mutant(
        "the end of a ledger may go",
        "ledger.py",
        "if len(found) < marks:",
        "if len(found) < 0:",
        "tests/test_ledger.py",
    ),
    Mutant(
        "one hole hides a column",
        "risk/told.py",
        "if 2 * there.sum() >= len(there) and",
        "if there.all() and",
        "tests/attacks/test_columns_that_leave.py",
    ),
    Mutant(
        "columns that are nearly the same for most tell nothing",
        "risk/told.py",
        "x[there] * np.median(ratios) if len(ratios) else np.nan",
        "np.nan",
        "tests/attacks/test_columns_that_leave.py",
    ),
    Mutant(
        "rounded values are another column",
        "risk/kinship.py",
        "CLOSE = 0.05",
        "CLOSE = 0.00005",
        "tests/attacks/test_kin_columns.py",
    ),
    Mutant(
        "three records are many",
        "risk/power_sums.py",
        "found[near] = _determinant(",
        "found[near] = 1 + 0 * _determinant(",
        "tests/attacks/test_ledger.py",
    ),
    Mutant(
        "four earlier releases are too many",
        "risk/power_sums.py",
        "(1, 2, 3, 4), POOL",
        "(1, 2, 3, 3), POOL",
        "tests/attacks/test_ledger.py",
    ),
    Mutant(
        "dates count from 1970",
        "risk/matches.py",
        "SPREAD * sd) if date else",
        "SPREAD * sd) if date and not date else",
        "tests/attacks/test_nearness.py",
    ),
    Mutant(
        "the second largest learns nothing by itself",
        "tables/rules.py",
        "self.p / 100 * target - (cells.size - target - attacker)",
        "self.p / 100 * target - (cells.size - target)",
        "tests/tables",
    ),
    Mutant(
        "what was not judged is safe",
        "tables/audit.py",
        "return not self.unjudged and all(",
        "return all(",
        "tests/tables",
    ),
    Mutant(
        "any number of whole numbers hides a cell",
        "tables/auditor.py",
        " or (target.numbers is not None and target.numbers < POSSIBLE)",
        "",
        "tests/tables",
    ),
    Mutant(
        "windows of ranks are open",
        "risk/interval_disclosure.py",
        "(low <= value)",
        "(low < value)",
        "tests/risk/test_two_files.py",
    ),
    Mutant(
        "a release is ranked among the original's values only",
        "risk/ranks.py",
        "for A in (Y, Ystar))",
        "for A in (Y, Y))",
        "tests/attacks/test_ranks.py",
    ),
    Mutant(
        "interval disclosure is one rank wider",
        "risk/interval_disclosure.py",
        "width = n * p // 100",
        "width = n * p // 100 + 1",
        "tests/release/test_calvino.py",
    ),
    Mutant(
        "the last of equal values is one rank higher",
        "risk/ranks.py",
        'np.searchsorted(y, v, "right") - 1.0',
        'np.searchsorted(y, v, "right")',
        "tests/release/test_calvino.py",
    ),
    Mutant(
        "windows of the intersection are one rank wider",
        "risk/ranks.py",
        "<= (high[:, [j]] + reach)",
        "<= (high[:, [j]] + reach + 1)",
        "tests/release/test_calvino.py",
    ),
    Mutant(
        "ranks are near one rank further",
        "risk/nearness.py",
        "max(RANKS * len(y), 1.0)",
        "max(RANKS * len(y), 1.0) + 1",
        "tests/release/test_calvino.py",
    ),
    Mutant(
        "membership is ranked from zero",
        "risk/membership.py",
        "n * (n + 1) / 2",
        "n * (n - 1) / 2",
        "tests/risk/test_measures_of_records.py",
    ),
    Mutant(
        "alarms end one rank early",
        "risk/membership.py",
        'FALSE, "right")) - 1',
        'FALSE, "right")) - 2',
        "tests/risk/test_measures_of_records.py",
    ),
    Mutant(
        "ranks below a digit are about another middle",
        "risk/digits.py",
        "(len(A) + 1) / 2",
        "len(A) / 2",
        "tests/release/test_calvino.py",
    ),
    Mutant(
        "distribution functions leave out the value itself",
        "utility/kolmogorov_smirnov.py",
        'side="right"',
        'side="left"',
        "tests/utility",
    ),
    Mutant(
        "groups of a table leave out their cut",
        "utility/two_files.py",
        'np.searchsorted(cuts, values, side="right")',
        'np.searchsorted(cuts, values, side="left")',
        "tests/utility tests/reference/test_utility.py",
    ),
    Mutant(
        "tenths leave out their cut",
        "risk/keys.py",
        'np.searchsorted(cuts, both, "right")',
        'np.searchsorted(cuts, both, "left")',
        "tests/risk/test_measures_of_records.py",
    ),
    Mutant(
        "quantiles are a percent further",
        "utility/information_loss.py",
        "np.quantile(z, QUANTILES)",
        "np.quantile(z, QUANTILES + 0.01)",
        "tests/release/test_calvino.py tests/utility",
    ),
    Mutant(
        "copies by chance are those of the whole file",
        "risk/copies.py",
        "np.bincount(labels)[inside] - 1",
        "np.full(len(inside), n)",
        "tests/attacks/test_copies_and_outliers.py",
    ),
    Mutant(
        "chance tells files apart by more",
        "utility/propensity.py",
        "(self.parameters - 1) * c * (1 - c) ** 2 / N",
        "self.parameters * c * (1 - c) / N",
        "tests/utility tests/risk",
    ),
)


def noticed(mutant: Mutant) -> bool:
    """Whether a test fails in a copy of the tree that has the fault."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "tree"
        left_out = shutil.ignore_patterns(".git", ".venv", "*.pyc", ".*_cache", "benchmarks")
        shutil.copytree(ROOT, copy, ignore=left_out)
        if (ROOT.parent / "shared").is_dir():
            (copy.parent / "shared").symlink_to(ROOT.parent / "shared")
        place = copy / "src" / "suffice" / mutant.file
        place.write_text(place.read_text("utf-8").replace(mutant.old, mutant.new), "utf-8")
        known = {**os.environ, "PYTHONPATH": str(copy / "src"), "CI": "true"}
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *mutant.tests.split()]
        done = subprocess.run(command, cwd=copy, env=known, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):  # 2 and more: no test ran, or the tests themselves broke
            raise RuntimeError(f"{mutant.name}: the tests could not be run\n{done.stdout[-2000:]}")
        return done.returncode == 1


def main(words: list[str]) -> int:
    chosen = [each for each in MUTANTS if not words or any(word in each.file + each.name for word in words)]
    survivors = 0
    for mutant in chosen:
        caught = noticed(mutant)
        survivors += not caught
        print(f"{'caught  ' if caught else 'SURVIVED'}  {mutant.file}: {mutant.name}", flush=True)
    print(f"{len(chosen) - survivors} of {len(chosen)} mutants are caught")
    return int(survivors > 0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
