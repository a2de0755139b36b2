"""Every rule at its thresholds, just below and just above them: the level, and what it does to writing."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice import Ipso, Roles, Seed, protect
from suffice.errors import GuardError, UsageError
from suffice.guards import GUARDS
from suffice.guards.canonical_correlation import chance
from suffice.guards.finding import Finding, check_accepted, enforce, judge
from suffice.risk.assessment import Assessment
from suffice.risk.cells import CellsSeen, CellSummary
from suffice.risk.drawn_models import DrawnModels
from suffice.risk.equal_cells import EqualCells
from suffice.risk.group_summary import GroupSummary
from suffice.risk.held_out import HeldOut
from suffice.risk.information import FewBits
from suffice.risk.matches import Matches
from suffice.risk.ranks import RankMatches
from suffice.risk.rare_cells import RareCells
from suffice.risk.told import Told
from suffice.risk.unique_records import UniqueRecords
from tests.guards.assessments import changed, near, shaped


def above(x: float) -> float:
    return math.nextafter(x, math.inf)


def below(x: float) -> float:
    return math.nextafter(x, -math.inf)


def found(rule: str, **changes: Any) -> Finding | None:
    return GUARDS[rule](changed(**changes))


def level(rule: str, **changes: Any) -> str | None:
    finding = found(rule, **changes)
    assert finding is None or finding.rule == rule
    return None if finding is None else finding.level


@pytest.mark.parametrize("rule", GUARDS)
def test_a_quiet_release_has_no_findings(rule: str) -> None:
    assert found(rule) is None


FIVE = 5 / math.sqrt(1000)

LADDERS: list[tuple[str, dict[str, Any], str | None]] = [
    # rule, what differs from a quiet release, level
    ("degrees-of-freedom", {"n": 4}, "never"),  # nu = 1
    ("degrees-of-freedom", {"n": 3}, "never"),  # nu = 0
    ("degrees-of-freedom", {"n": 5}, "stop"),  # nu = 2
    ("degrees-of-freedom", {"n": 7}, "stop"),  # nu = 4
    ("degrees-of-freedom", {"n": 8}, "warn"),  # nu = 5
    ("degrees-of-freedom", {"n": 12}, "warn"),  # nu = 9
    ("degrees-of-freedom", {"n": 13}, None),  # nu = 10
    ("degrees-of-freedom", {"n": 23, "residual_rank": 20}, "warn"),  # nu = 20 = rank E
    ("degrees-of-freedom", {"n": 24, "residual_rank": 20}, None),  # nu = 21
    ("degrees-of-freedom", {"n": 4, "promises": ("mean", "fit")}, None),  # no covariance, no equation about E
    ("group-size", {"kept": (GroupSummary("region", ("mean",), 9, 2, (1, 3)),)}, "stop"),
    ("group-size", {"kept": (GroupSummary("region", ("mean",), 9, 5),)}, None),
    ("dominance", {"kept": (GroupSummary("region", ("mean",), 9, 50, dominated=1),)}, "stop"),
    ("dominance", {"kept": (GroupSummary("region", ("fit",), 9, 50, dominated=1),)}, None),  # no total is kept
    ("dominance", {"kept": (GroupSummary("region", ("mean",), 9, 50, counted=1),)}, "warn"),
    ("dominance", {"cells": CellsSeen(("wages",))}, "stop"),
    ("dominance", {"cells": CellsSeen(("wages",)), "promises": ("mean", "fit")}, None),  # no variance is kept
    ("dominance", {"cells": CellsSeen((), (CellSummary("region", 9, 1, 0, 5),))}, "stop"),
    ("dominance", {"cells": CellsSeen((), (CellSummary("region", 9, 0, 0, 5),))}, None),
    ("dominance", {"cells": CellsSeen((), (CellSummary("region", 9, 1, 0, 5),)), "promises": ("mean",)}, None),
    ("explained-columns", {"cells": CellsSeen((), (CellSummary("region", 9, 0, 1, 5),))}, "stop"),
    ("explained-columns", {"cells": CellsSeen((), (CellSummary("region", 9, 0, 1, 5),)), "promises": ("mean",)}, None),
    ("leverage", {"leverage": above(0.2)}, None),  # five in a cell, rounded
    ("leverage", {"leverage": 0.2 + 1e-8}, "warn"),
    ("leverage", {"leverage": 0.5 - 1e-8}, "warn"),
    ("leverage", {"leverage": below(0.5)}, "stop"),  # two in a cell, rounded
    ("leverage", {"leverage": below(0.999)}, "stop"),
    ("leverage", {"leverage": 0.999}, "never"),
    ("leverage", {"leverage": 1.0}, "never"),
    ("stacked-leverage", {"stacked_leverage": 0.2, "leverage": 0.1}, None),
    ("stacked-leverage", {"stacked_leverage": 0.2 + 1e-8, "leverage": 0.1}, "warn"),
    ("stacked-leverage", {"stacked_leverage": 0.5, "leverage": 0.1}, "stop"),
    ("stacked-leverage", {"stacked_leverage": 0.999, "leverage": 0.1}, "never"),
    (
        "stacked-leverage",
        {"stacked_leverage": 0.6, "leverage": 0.6 - 1e-9},
        None,
    ),  # earlier terms add nothing
    ("stacked-leverage", {"stacked_leverage": 0.51, "leverage": 0.499}, "stop"),
    ("stacked-leverage", {"unstacked": 1}, "note"),
    ("stacked-leverage", {"unstacked": 1, "stacked_leverage": 0.7}, "stop"),
    ("stacked-leverage", {"stacked_leverage": 0.6, "stacked_alone": 0.6, "leverage": 0.1}, None),
    ("stacked-leverage", {"unstacked": 2, "equations": 200}, "note"),
    ("stacked-leverage", {"unstacked": 2, "equations": 201}, "warn"),
    ("stacked-leverage", {"unstacked": 2, "equations": 500}, "stop"),
    ("changed-records", {"singled": 1}, "stop"),
    ("changed-records", {"several": 1}, "warn"),
    ("changed-records", {"records_changed": 15}, None),  # 3 equations: a mean leverage of .2
    ("changed-records", {"records_changed": 14}, "warn"),
    ("changed-records", {"records_changed": 7}, "warn"),
    ("changed-records", {"records_changed": 6}, "stop"),
    ("changed-records", {"records_changed": 1}, "stop"),
    ("repeated-identifiers", {"repeated": {"firm": 12.0}}, "note"),
    ("leverage", {"leverage": 0.5, "leverage_units": 42}, "stop"),
    ("leverage", {"leverage_unjudged": True}, "note"),
    ("leverage", {"leverage_unjudged": True, "leverage": 0.5}, "stop"),
    ("former-role", {"public": ("turnover",)}, "warn"),
    ("former-role", {"revealed": ("turnover",), "public": ("wages",)}, "stop"),
    ("canonical-correlation", {"canonical": 0.7, "canonical_null": 0.2}, None),
    ("canonical-correlation", {"canonical": above(0.7), "canonical_null": 0.2}, "warn"),
    ("canonical-correlation", {"canonical": 0.9, "canonical_null": 0.2}, "warn"),
    ("canonical-correlation", {"canonical": above(0.9), "canonical_null": 0.2}, "stop"),
    ("canonical-correlation", {"canonical": 0.95, "canonical_null": 0.2, "independent": True}, "stop"),
    (
        "canonical-correlation",
        {"canonical": 0.95, "canonical_null": 0.95},
        "note",
    ),  # at the null: cannot tell
    ("canonical-correlation", {"canonical": above(0.95), "canonical_null": 0.95}, "stop"),
    ("canonical-correlation", {"canonical": 0.5, "canonical_null": above(0.7)}, "note"),
    ("canonical-correlation", {"canonical": 0.5, "canonical_null": 0.7}, None),
    ("canonical-correlation", {"canonical": 0.95, "canonical_null": 0.2, "d": (0.95, -0.1)}, None),  # d rule
    ("canonical-correlation", {"canonical": 0.95, "canonical_null": 0.2, "d": (0.1, -0.95)}, None),
    ("canonical-correlation", {"canonical": 0.95, "canonical_null": 0.2, "d": (0.94, 0.1)}, "stop"),
    ("canonical-correlation", {"canonical": 0.95, "canonical_null": 0.2, "d": (None, None)}, "stop"),
    ("canonical-correlation", {"canonical": 0.8, "canonical_null": 0.2, "effective": 900.0}, "warn"),
    ("canonical-correlation", {"canonical": 0.8, "canonical_null": 0.2, "effective": 9.5}, "note"),  # few heavy weights
    ("residual-correlation", {"d": (0.7, 0.1)}, None),
    ("residual-correlation", {"d": (above(0.7), None)}, "warn"),
    ("residual-correlation", {"d": (0.9,)}, "warn"),
    ("residual-correlation", {"d": (above(0.9),)}, "stop"),
    ("residual-correlation", {"d": (0.0, -0.95)}, "stop"),  # a negative one gives as much away
    ("residual-correlation", {"d": (None,)}, None),
    ("residual-correlation", {"correlations": (0.1, 0.95)}, "stop"),  # carried over without a d
    ("residual-correlation", {"correlations": (0.1, 0.95), "d": (0.3,)}, None),
    ("residual-correlation", {"correlations": (0.1, 0.95), "independent": True}, None),
    ("kept-scores", {"kept_scores": 1}, "warn"),
    ("kept-scores", {"kept_scores": 2}, "stop"),  # all
    ("kept-scores", {"kept_scores": 1, "altered_share": 0.5}, "warn"),
    ("kept-scores", {"kept_scores": 1, "altered_share": below(0.5)}, "stop"),
    ("kept-scores", {"d": (1.0, 0.3)}, "warn"),
    ("kept-scores", {"d": (-1.0, 1.0)}, "stop"),
    ("kept-scores", {"kept_scores": 2, "independent": True}, None),
    ("kept-scores", {"kept_scores": 1, "n": 6}, None),  # nu = 3: any two planes share a line
    ("kept-scores", {"kept_scores": 1, "n": 7}, "warn"),  # nu = 4: they need not
    ("kept-scores", {"kept_scores": 2, "n": 6}, "stop"),
    ("householder", {"correlations": (0.95, 0.1)}, None),  # not a reflection
    ("householder", {"reflected": True, "correlations": (0.955, 0.1)}, None),  # a change of .3
    ("householder", {"reflected": True, "correlations": (0.955 + 1e-8, 0.1)}, "stop"),
    ("householder", {"reflected": True, "correlations": (0.9, 0.1), "whole_numbers": ("wages",)}, "stop"),
    ("householder", {"reflected": True, "correlations": (0.9, 0.1), "earlier": (0.0,)}, None),  # IPSO told nothing
    ("householder", {"reflected": True, "correlations": (0.9, 0.1), "earlier": (0.2,)}, "stop"),
    ("householder", {"reflected": True, "correlations": (0.99, 0.1), "independent": True}, None),
    ("householder", {"correlations": (0.9, 0.1), "whole_numbers": ("wages",), "earlier": (0.2,)}, None),
    ("seed", {"seed": "tests"}, "stop"),
    ("seed", {"seed": "file"}, None),
    ("companion", {"mixed": True}, "stop"),
    ("companion", {"mixed": False}, None),
    ("row-order", {"order": FIVE}, None),
    ("row-order", {"order": above(FIVE)}, "stop"),
    ("row-order", {"order": -1.0}, "stop"),
    ("row-order", {"order": 1.0, "n": 30}, "stop"),
    ("row-order", {"order": 0.004, "n": 10**7, "places": 10**5}, None),  # judged by the rows that were compared
    ("row-order", {"order": 0.02, "n": 10**7, "places": 10**5}, "stop"),
    ("row-order", {"order": 1.0, "n": 29}, None),
    ("copies", {"copies": 1}, "stop"),
    ("copies", {"copies": 1, "copies_by_chance": 0.15}, None),  # whole numbers meet by chance
    ("copies", {"copies": 5, "copies_by_chance": 0.15}, "stop"),
    ("copies", {"copies": 1000, "copies_by_chance": 40.0}, "stop"),
    ("copies", {"copies": 30, "copies_by_chance": 30.0}, None),
    ("copies", {"copies": 9, "shared": True}, None),  # the value of a group
    ("giants", {"giants": {"wages": near(9, 6)}}, None),
    ("giants", {"giants": {"wages": near(9, above(6))}}, "stop"),
    ("giants", {"giants": {"wages": near(9, 8, 6)}}, None),  # a heavy tail has values everywhere
    ("giants", {"giants": {"wages": near(9, 9, 6), "turnover": near(9, 0)}}, "stop"),  # column by column
    ("giants", {"giants": {"wages": near(1, 1)}}, None),  # one may be chance
    ("giants", {"giants": {"wages": near(2, 2)}, "releases": 2}, None),
    ("giants", {"giants": {"wages": near(4, 3)}, "releases": 4}, "stop"),  # in three trials of four it is not
    ("giants", {"giants": {"wages": near(4, 3, 1)}, "releases": 4}, None),
    ("giants", {"cells": CellsSeen(shown=("wages",))}, "stop"),
    ("giants", {"cells": CellsSeen(shown=("wages",)), "promises": ("mean",)}, None),  # no variance is kept
    ("nearness", {"nearness": {("wages", "value", 0): near(300, 100)}}, None),
    ("nearness", {"nearness": {("wages", "value", 0): near(300, 101)}}, "warn"),
    ("nearness", {"nearness": {("wages", "value", 0): near(300, 149)}}, "warn"),
    ("nearness", {"nearness": {("wages", "value", 0): near(300, 151)}}, "stop"),
    ("nearness", {"nearness": {("wages", "value", 0): near(300, 209)}, "shared": True}, "warn"),
    ("nearness", {"nearness": {("wages", "value", 0): near(300, 211)}, "shared": True}, "stop"),
    ("domain", {"two_values": ("wages",)}, "note"),
    ("domain", {"two_values": ("wages",), "negatives": {"turnover": 3}, "usual": ("turnover",)}, "warn"),
    ("dominance", {"cells": CellsSeen(three=("wages",))}, "stop"),
    ("dominance", {"cells": CellsSeen(three=("wages",)), "promises": ("mean",)}, None),
    ("explained-columns", {"told_in_groups": {"wages": 1}}, "stop"),
    (
        "nearness",
        {"nearness": {("wages", "value", 0): near(300, 219, 180)}},
        None,
    ),  # a third of what chance leaves is 40
    ("nearness", {"nearness": {("wages", "rank", 1): near(300, 211), ("wages", "rank", 0): near(300, 3)}}, "stop"),
    ("linkage", {"linkage": near(1000, 100, 1)}, None),
    ("linkage", {"linkage": near(1000, 101, 1)}, "warn"),
    ("linkage", {"linkage": near(40, 4.9, 1.0)}, None),  # less than five times chance
    ("linkage", {"linkage": near(900, 300, 1)}, "warn"),  # groups of three
    ("linkage", {"linkage": near(900, 301, 1)}, "stop"),
    ("linkage", {"linkage": near(900, 180, 1), "shared": True}, None),  # groups of five
    ("linkage", {"linkage": near(900, 181, 1), "shared": True}, "warn"),
    ("rank-linkage", {"ranks": RankMatches(linked=near(1001, 51, 1))}, None),
    ("rank-linkage", {"ranks": RankMatches(linked=near(1001, 51.1, 1))}, "stop"),
    ("rank-linkage", {"ranks": RankMatches(linked=near(48, 9, 4))}, None),  # luck: four trials of twelve records
    ("rank-linkage", {"ranks": RankMatches(linked=near(48, 10, 4))}, "stop"),
    ("rank-intersection", {"ranks": RankMatches(alone=near(48, 9, 4))}, None),
    ("rank-intersection", {"ranks": RankMatches(alone=near(1001, 51, 1))}, None),
    ("rank-intersection", {"ranks": RankMatches(alone=near(1001, 51.1, 1))}, "stop"),
    ("giants", {"giants": {"wages": near(10, 10)}, "promises": ("distribution",)}, "warn"),
    ("dominance", {"cells": CellsSeen(("wages",)), "promises": ("distribution",)}, "stop"),
    ("dominance", {"cells": CellsSeen(("wages",)), "promises": ("mean",)}, None),
    ("group-size", {"kept": (GroupSummary("g", ("distribution",), 3, 2, (1, 1)),)}, "stop"),
    ("extremes", {"extremes": (("wages",), 4)}, "warn"),
    ("extremes", {"extremes": (("wages",), 4), "shared": True}, None),
    ("extremes", {"extremes": (("wages",), 4), "independent": True}, None),
    ("extremes", {"extremes": (("wages",), 4), "confidential": ("wages", "a", "b")}, None),
    ("extremes", {"extremes": (("wages",), 4), "explained": ("wages",)}, None),
    ("digits", {"digits": {"wages": (3, 100)}}, "warn"),
    ("zeros", {"zeros": {"wages": near(100, 60, 20)}}, None),
    ("zeros", {"zeros": {"wages": near(100, 61, 20)}}, "warn"),
    ("zeros", {"zeros": {"wages": near(4, 4)}}, None),
    ("parts", {"told_apart": 0.7}, None),
    ("parts", {"told_apart": above(0.7)}, "warn"),
    (
        "residual-correlation",
        {"correlations": (0.1, 0.95), "d": (0.3,), "parts": True},
        "stop",
    ),  # one part hardly moves
    ("residual-correlation", {"correlations": (0.9 + 1e-9,), "d": (0.9,), "parts": True}, "warn"),
    ("unmoved-records", {"unmoved": 0}, None),
    ("unmoved-records", {"unmoved": 1}, "stop"),
    ("limits", {"broken": {}}, None),
    ("limits", {"broken": {"bounds of wages": 1}}, "stop"),
    ("outliers", {"outliers": {"wages": near(10, 2)}}, None),
    ("outliers", {"outliers": {"wages": near(10, above(2))}}, "stop"),
    ("outliers", {"outliers": {"wages": near(10, 6, 5)}}, None),  # as near to the other giants
    ("outliers", {"outliers": {"wages": near(10, 7, 5)}}, "stop"),
    ("outliers", {"outliers": {"wages": near(29, 9), "turnover": near(29, 0)}}, None),  # few cells are judged together
    ("outliers", {"outliers": {"wages": near(30, 9), "turnover": near(30, 0)}}, "stop"),  # many by themselves
    ("outliers", {"outliers": {"wages": near(1, 1)}}, "stop"),  # the giant
    ("domain", {"negatives": {"wages": 1}}, "note"),
    ("domain", {"negatives": {"wages": 3}, "usual": ("wages",)}, "warn"),
    ("domain", {"negatives": {"wages": 0}, "usual": ("wages",)}, None),
    ("domain", {"negatives": {"wages": 0}}, None),
    ("domain", {"zeros_lost": {"wages": (129, 0)}}, "warn"),
    ("domain", {"multiplied": {"wages": (1, 232)}}, "warn"),
    ("shape", {"shapes": {"wages": shaped(skewness=0.25)}}, None),
    ("shape", {"shapes": {"wages": shaped(skewness=above(0.25))}}, "note"),
    ("shape", {"shapes": {"wages": shaped(above=0.5, skewness=0.5)}}, None),  # as far as another sample
    ("dependent-columns", {"dependent": {"total": ("turnover", "wages")}}, "note"),
    ("dependent-columns", {"dependent": {"total": ()}}, None),
    ("explained-columns", {"explained": ("wages",)}, "stop"),
    ("explained-columns", {"explained": ("wages",), "constant": ("wages",)}, "note"),
    ("explained-columns", {"explained": ("wages", "turnover"), "constant": ("wages",)}, "stop"),
    ("explained-columns", {"constant": ("wages",)}, "note"),
    ("explained-columns", {"constant_within": {"wages": 1}}, "stop"),
    ("explained-columns", {"zero_within": {"wages": 1}}, "note"),
    ("explained-columns", {"told": (Told("wages", 0.95, 0.2, 0.1),)}, "warn"),
    ("explained-columns", {"told": (Told("wages", 0.9, 0.55, 0.1),)}, "stop"),  # half of what chance leaves
    ("explained-columns", {"told": (Told("wages", 0.9, below(0.55), 0.1),)}, "warn"),
    ("explained-columns", {"told": (Told("wages", 0.99, 0.1, 0.1),)}, "stop"),
    ("explained-columns", {"told": (Told("wages", below(0.99), 0.1, 0.1),)}, "warn"),
    ("explained-columns", {"told": (Told("year", 0.97, 1.0, 0.99),)}, "warn"),  # any guess is near a year
    ("kept-columns", {"told_by_kept": (Told("wages", 1.0, 1.0, 0.1, ("total",)),)}, "stop"),
    ("kept-columns", {"unread": ("list",)}, "warn"),
    ("kept-columns", {"told_by_kept": (Told("wages", 0.96, 0.2, 0.1, ("total",)),)}, "warn"),
    (
        "kept-columns",
        {"told_by_kept": (Told("wages", 1.0, 1.0, 0.1),), "told": (Told("wages", 1.0, 1.0, 0.1),)},
        None,
    ),  # the given columns do
    (
        "kept-columns",
        {"told_by_kept": (Told("wages", 0.96, 0.2, 0.1),), "told": (Told("wages", 0.96, 0.2, 0.1),)},
        None,
    ),
    (
        "kept-columns",
        {"told_by_kept": (Told("wages", 1.0, 1.0, 0.1, ("total",)),), "told": (Told("wages", 0.96, 0.2, 0.1),)},
        "stop",
    ),
    ("tight-limits", {"told_by_limits": (Told("wages", 0.9, 0.55, 0.1),)}, "stop"),
    ("tight-limits", {"told_by_limits": (Told("wages", 0.9, below(0.55), 0.1),)}, "warn"),
    ("information", {"few_bits": (FewBits("smokes", "", 1, 1, 40, 40.0, 48.0),)}, "stop"),
    ("equal-cells", {"equal": (EqualCells("wages", "paid", 0.06, 0.0, 60),)}, "stop"),
    ("unique-records", {"unique": UniqueRecords(("name",))}, "warn"),
    ("unique-records", {"unique": UniqueRecords(left=100, left_alone=5)}, "warn"),
    ("unique-records", {"unique": UniqueRecords(left=100, left_alone=4)}, None),
    ("unique-records", {"unique": UniqueRecords((), ("age", "sex"), 0.05)}, "note"),
    ("unique-records", {"unique": UniqueRecords((), ("age", "sex"), below(0.05))}, None),
    ("precision", {"precision": {"wages": 1e-8}}, None),
    ("precision", {"precision": {"wages": above(1e-8)}}, "warn"),
    ("precision", {"precision": {"wages": 1e-4, "turnover": 1e-16}}, "warn"),
    ("precision", {"precision": {"wages": above(1e-4)}}, "never"),
    ("repeated-release", {"ledger": False}, "note"),
    ("repeated-release", {"ledger": False, "d": (0.29,)}, "note"),
    ("repeated-release", {"ledger": False, "d": (0.3,)}, "warn"),
    ("repeated-release", {"ledger": False, "d": (1.0,)}, "warn"),
    ("repeated-release", {"d": (0.99,)}, None),  # the first release: the d rule judges it
    ("repeated-release", {"d": (0.5**0.5,), "earlier": (0.0,)}, "warn"),  # r = 1, a rounding above
    ("repeated-release", {"d": (0.7,), "earlier": (0.0,)}, None),  # r = .96
    ("repeated-release", {"d": (0.7,), "earlier": (0.2,)}, "warn"),  # r = 1.002
    ("repeated-release", {"d": (0.9,), "earlier": (0.9,)}, "warn"),  # r = 8.5
    ("repeated-release", {"d": (0.9,), "earlier": (0.9, 0.9)}, "stop"),  # r = 12.8
    ("repeated-release", {"d": (1.0,), "earlier": (0.1,)}, "stop"),
    ("repeated-release", {"ranked": (0.97,), "earlier": (0.1,)}, "stop"),
    ("repeated-release", {"ranked": (0.97,), "earlier": (0.1,), "independent": True}, None),
    ("repeated-release", {"earlier": (0.0,) * 1000, "independent": True}, None),  # IPSO may be repeated
    ("repeated-release", {"earlier": (0.99,), "independent": True}, None),  # it adds nothing to what is out
    ("leaf", {"models": DrawnModels(leaf=10)}, None),
    ("leaf", {"models": DrawnModels(leaf=9)}, "warn"),
    ("leaf", {"models": DrawnModels(leaf=3)}, "warn"),
    ("leaf", {"models": DrawnModels(leaf=2)}, "stop"),
    ("rare-values", {"models": DrawnModels(handed={"y": 1})}, "stop"),
    ("rare-values", {"models": DrawnModels(names=("town",))}, "stop"),
    ("membership", {"models": DrawnModels(found=0.03)}, None),
    ("membership", {"models": DrawnModels(found=0.05, sd=0.01)}, None),
    ("membership", {"models": DrawnModels(found=0.051, sd=0.01)}, "warn"),
    ("membership", {"held_out": HeldOut(0.55, 0.0)}, None),
    ("membership", {"held_out": HeldOut(0.551, 0.0)}, "warn"),
    ("membership", {"held_out": HeldOut(0.62, 0.01)}, "warn"),
    ("membership", {"held_out": HeldOut(0.621, 0.01)}, "stop"),
    ("rare-cells", {"rare": RareCells({"a x b": (0, 0)})}, None),
    ("rare-cells", {"rare": RareCells({"a x b": (0, 0)}, alike={"a x b": 3})}, "note"),
    ("rare-cells", {"rare": RareCells({"a x b": (1, 0)})}, "warn"),
    ("rare-cells", {"rare": RareCells({"a x b": (1, 1)})}, "stop"),
    ("replicated-records", {"rare": RareCells({}, 9, 9)}, None),
    ("replicated-records", {"rare": RareCells({}, 100, 60, 0.5)}, None),
    ("replicated-records", {"rare": RareCells({}, 100, 31)}, "warn"),
    ("replicated-records", {"rare": RareCells({}, 100, 51)}, "stop"),
    ("zero-weights", {"unweighted": 1}, "warn"),
    ("spreadsheet", {"columns": ("turnover", "a=b")}, None),
    ("spreadsheet", {"columns": ("=cmd",)}, "warn"),
    ("spreadsheet", {"columns": ("+a",)}, "warn"),
    ("spreadsheet", {"columns": ("-a",)}, "warn"),
    ("spreadsheet", {"columns": ("@a",)}, "warn"),
]


@pytest.mark.parametrize(("rule", "changes", "expected"), LADDERS)
def test_level(rule: str, changes: dict[str, Any], expected: str | None) -> None:
    assert level(rule, **changes) == expected


def test_every_rule_is_tried_quiet_and_loud() -> None:
    assert {rule for rule, _, expected in LADDERS if expected} == set(GUARDS)


LOUD = [(rule, changes) for rule, changes, expected in LADDERS if expected]


@pytest.mark.parametrize(("rule", "changes"), LOUD)
def test_a_finding_says_what_and_what_to_do_and_goes_into_json(rule: str, changes: dict[str, Any]) -> None:
    finding = found(rule, **changes)
    assert finding is not None
    assert finding.message.endswith(".")
    assert finding.remedy.endswith(".")
    assert "inf" not in json.dumps(dict(finding.numbers), allow_nan=False)
    assert not re.search(r"anonymous|differentially private|no risk", str(finding))


@pytest.mark.parametrize(("rule", "changes"), LOUD)
def test_what_stops_and_what_does_not(rule: str, changes: dict[str, Any]) -> None:
    """Notes and warnings are written; a stop is written with a reason; a never is not."""
    bare = [each for each in judge(changed(**changes), {}) if each.rule == rule]
    named = [each for each in judge(changed(**changes), {rule: "public already"}) if each.rule == rule]
    assert len(bare) == len(named) == 1
    for findings, stops in [(bare, ("stop", "never")), (named, ("never",))]:
        if findings[0].level in stops:
            with pytest.raises(GuardError) as caught:
                enforce(findings)
            assert caught.value.exit_code == 4
            assert rule in str(caught.value)
        else:
            enforce(findings)


def test_the_gravest_comes_first() -> None:
    levels = [each.level for each in judge(changed(n=4, copies=1, unweighted=1, ledger=False), {})]
    assert levels == sorted(levels, key=["never", "stop", "warn", "note"].index)
    assert len(set(levels)) == 4


def test_the_seed_finding_says_not_for_release() -> None:
    finding = found("seed", seed="tests")
    assert finding is not None
    assert "NOT FOR RELEASE" in finding.message


def test_observed_sign_is_named_where_it_was_asked_for() -> None:
    said = [str(found("domain", multiplied={"wages": (1, 232)}, signs=asked)) for asked in (False, True)]
    assert ["observed-sign" in each for each in said] == [False, True]


def test_leverage_names_the_term_and_counts() -> None:
    finding = found("leverage", leverage=1.0, leverage_counts=(40, 12, 3), leverage_term="C(region)")
    assert finding is not None
    assert "3 records of 1,000 (0.3 %)" in finding.message
    assert "C(region)" in finding.message
    assert "merge_below" in finding.remedy
    assert "log()" in finding.remedy
    assert "drop C(region)" in finding.remedy


def test_the_d_rule_says_what_stays_uncertain() -> None:
    finding = found("residual-correlation", d=(0.95,))
    assert finding is not None
    assert finding.numbers["uncertain"] == pytest.approx(math.sqrt(1 - 0.95**2))
    assert "31 %" in finding.message


def test_repeated_releases_say_what_their_average_leaves() -> None:
    """error sqrt((1 - d^2)/(1 - d^2 + m d^2)) with m = 100 and d = .9: 5 %."""
    finding = found("repeated-release", d=(0.9,), earlier=(0.9,) * 99)
    assert finding is not None
    assert finding.numbers["uncertain"] == pytest.approx(math.sqrt(0.19 / (0.19 + 100 * 0.81)))


def test_accepting_needs_a_known_rule_and_a_reason() -> None:
    check_accepted({"leverage": "the firm has agreed"})
    with pytest.raises(UsageError, match="leverage"):
        check_accepted({"leverege": "the firm has agreed"})
    with pytest.raises(UsageError, match="reason"):
        check_accepted({"leverage": " "})


shares = st.floats(0, 1)
counts = st.integers(0, 10**6)
matches = st.builds(near, st.integers(1, 10**6), shares, shares).map(
    lambda each: Matches(each.of, each.of * each.found, each.of * each.chance)
)
names = st.lists(st.sampled_from(["wages", "=cmd", "<b>", "a b", "n'"]), unique=True).map(tuple)


@given(
    assessment=st.builds(
        changed,
        n=st.integers(1, 10**7),
        rank=st.integers(0, 50),
        residual_rank=st.integers(0, 20),
        confidential=names,
        promises=st.sampled_from([(), ("mean", "covariance", "fit")]),
        independent=st.booleans(),
        leverage=shares,
        leverage_counts=st.tuples(counts, counts, counts),
        stacked_leverage=shares,
        canonical=shares,
        canonical_null=shares,
        correlations=st.lists(st.floats(-1, 1)).map(tuple),
        d=st.lists(st.none() | st.floats(-1, 1)).map(tuple),
        kept_scores=st.integers(0, 9),
        scores=st.integers(0, 9),
        altered_share=shares,
        copies=counts,
        copies_by_chance=st.floats(0, 10**6),
        outliers=st.dictionaries(st.sampled_from("abc"), matches),
        giants=st.dictionaries(st.sampled_from("abc"), matches),
        nearness=st.dictionaries(
            st.tuples(st.sampled_from("abc"), st.sampled_from(["value", "rank"]), counts), matches
        ),
        linkage=matches,
        zeros=st.dictionaries(st.sampled_from("abc"), matches),
        told_apart=shares,
        negatives=st.dictionaries(st.sampled_from("abc"), counts),
        multiplied=st.dictionaries(st.sampled_from("abc"), st.tuples(counts, counts)),
        shapes=st.dictionaries(st.sampled_from("abc"), st.floats(0, 9).map(lambda value: shaped(kurtosis=value))),
        explained=names,
        constant=names,
        order=st.floats(-1, 1),
        precision=st.dictionaries(st.sampled_from("abc"), st.floats(0, 1)),
        unweighted=counts,
        earlier=st.lists(shares).map(tuple),
        ledger=st.booleans(),
        columns=names,
    )
)
def test_any_assessment_is_judged_once_per_rule_in_plain_json(assessment: Assessment) -> None:
    findings = judge(assessment, {})
    assert len({finding.rule for finding in findings}) == len(findings)
    for finding in findings:
        json.dumps(dict(finding.numbers), allow_nan=False)
        assert "nan" not in finding.message.split()


@pytest.mark.parametrize(("k", "nu"), [(1, 10), (1, 100), (3, 11), (5, 27), (10, 24), (13, 39), (20, 99)])
def test_the_null_is_that_of_new_residuals(k: int, nu: int) -> None:
    """Not more than 3 in 1,000 pass it, and it is not far beyond: the odds of r^2 are less than e times as high."""
    rng = np.random.default_rng(1)
    new = [np.linalg.norm(np.linalg.qr(rng.normal(size=(nu, k)))[0][:k], 2) for _ in range(2000)]
    assert np.quantile(new, 0.997) <= chance(k, nu)
    odds = [r**2 / (1 - r**2) for r in (np.quantile(new, 0.99), chance(k, nu))]
    assert odds[1] < math.e * odds[0]


@pytest.mark.parametrize(("k", "nu", "expected"), [(0, 10, 0.0), (5, 9, 1.0), (5, 10, 1.0), (2, 10**6, 0.01)])
def test_the_null_at_its_limits(k: int, nu: int, expected: float) -> None:
    assert chance(k, nu) == pytest.approx(expected, abs=0.01)


def test_perfect_releases_with_many_given_terms_are_not_warned_of() -> None:
    """A permutation of residuals leaves the space of X; against it alone, every IPSO release of this size warned."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        rng.normal(size=(200, 120)), columns=[*(f"x{j}" for j in range(100)), *(f"y{j}" for j in range(20))]
    )
    roles = Roles(confidential=[f"y{j}" for j in range(20)], given=[f"x{j}" for j in range(100)])
    for key in range(3):
        release = protect(frame, roles, Ipso(), seed=Seed.for_tests(key))
        assert release.assessment.resemblance.canonical > 0.7
        assert [f.level for f in release.findings if f.rule == "canonical-correlation"] == ["note"]
