"""Assessments by flat names: a quiet release, and releases that differ from it in a few results."""

from __future__ import annotations

from typing import Any

from suffice.risk.assessment import Assessment
from suffice.risk.cells import CellsSeen
from suffice.risk.closeness import Closeness
from suffice.risk.drawn_models import DrawnModels
from suffice.risk.explained_columns import ExplainedColumns
from suffice.risk.freedom import Freedom
from suffice.risk.held_out import HeldOut
from suffice.risk.history import History
from suffice.risk.leverage import Leverage
from suffice.risk.matches import Matches
from suffice.risk.rare_cells import RareCells
from suffice.risk.reflection import OneDirection
from suffice.risk.request import Request
from suffice.risk.resemblance import Resemblance
from suffice.risk.row_order import RowOrder
from suffice.risk.shape import LEAST, ColumnShape
from suffice.risk.stacked_leverage import StackedLeverage
from suffice.risk.unique_records import UniqueRecords
from suffice.risk.weights import WeightSummary

RESULTS: dict[str, tuple[type, dict[str, str]]] = {
    "request": (
        Request,
        {
            **{name: name for name in ("confidential", "promises", "independent", "shared", "d", "seed", "columns")},
            **{name: name for name in ("parts", "signs", "mixed")},
        },
    ),
    "freedom": (Freedom, {"n": "n", "rank": "rank", "residual_rank": "residual_rank"}),
    "leverage": (
        Leverage,
        {
            "leverage": "highest",
            "leverage_counts": "counts",
            "leverage_term": "term",
            "leverage_units": "units",
            "leverage_unjudged": "unjudged",
        },
    ),
    "stacked": (
        StackedLeverage,
        {"stacked_leverage": "highest", "stacked_alone": "alone", "unstacked": "unstacked", "equations": "equations"},
    ),
    "history": (
        History,
        {
            "ledger": "ledger",
            "earlier": "earlier",
            "records_changed": "changed",
            "singled": "singled",
            "several": "several",
            "revealed": "revealed",
            "public": "public",
        },
    ),
    "resemblance": (
        Resemblance,
        {
            "canonical": "canonical",
            "canonical_null": "null",
            "correlations": "correlations",
            "kept_scores": "kept_scores",
            "scores": "scores",
            "altered_share": "altered_share",
            "ranked": "ranked",
            "alike_columns": "columns",
        },
    ),
    "direction": (OneDirection, {name: name for name in ("reflected", "whole_numbers", "correlations")}),
    "explained": (
        ExplainedColumns,
        {"explained": "explained", "constant": "constant", "constant_within": "within", "zero_within": "nothing"},
    ),
    "closeness": (
        Closeness,
        {name: name for name in ("outliers", "giants", "nearness", "linkage", "ranks", "releases")},
    ),
    "order": (RowOrder, {"order": "correlation", "places": "places"}),
    "weights": (WeightSummary, {"unweighted": "unweighted", "effective": "effective"}),
}
"""Every result that has parts: its class, and the name of each part by its flat name."""
SINGLE: dict[str, tuple[str, Any]] = {
    "kept": ("groups", ()),
    "dependent": ("dependent", {}),
    "copies": ("copies", 0),
    "copies_by_chance": ("copies_by_chance", 0.0),
    "zeros": ("zeros", {}),
    "digits": ("digits", {}),
    "extremes": ("extremes", ((), 4)),
    "told_apart": ("told_apart", 0.5),
    "negatives": ("negatives", {}),
    "usual": ("usual", ()),
    "multiplied": ("multiplied", {}),
    "shapes": ("shapes", {}),
    "two_values": ("two_values", ()),
    "zeros_lost": ("zeros_lost", {}),
    "broken": ("broken", {}),
    "unmoved": ("unmoved", 0),
    "precision": ("precision", {}),
    "told": ("told", ()),
    "told_in_groups": ("told_in_groups", {}),
    "told_by_kept": ("told_by_kept", ()),
    "unread": ("unread", ()),
    "told_by_limits": ("told_by_limits", ()),
    "equal": ("equal", ()),
    "unique": ("unique", UniqueRecords()),
    "repeated": ("repeated", {}),
    "cells": ("cells", CellsSeen()),
    "few_bits": ("few_bits", ()),
    "rare": ("rare", RareCells()),
    "held_out": ("held_out", HeldOut()),
    "models": ("models", DrawnModels()),
}
"""The others, by their flat names, and what they are in a quiet release."""
CALM: dict[str, Any] = {
    "n": 1000,
    "rank": 3,
    "residual_rank": 2,
    "confidential": ("turnover", "wages"),
    "promises": ("mean", "covariance", "fit"),
    "independent": False,
    "scores": 2,
    "ledger": True,
}


def near(of: float, found: float, chance: float = 0.0) -> Matches:
    return Matches(of, found, chance)


def shaped(above: float = 0.0, **found: float) -> ColumnShape:
    """A column that is so far from the original, by kind, and another sample `above`."""
    return ColumnShape({**dict.fromkeys(LEAST, 0.0), **found}, dict.fromkeys(LEAST, above))


def changed(**changes: Any) -> Assessment:
    """A release that is quiet but for these, by their flat names."""
    known = {name for _, parts in RESULTS.values() for name in parts} | {*SINGLE}
    assert {*changes} <= known, f"no result is called {sorted({*changes} - known)}"
    told = {**CALM, **changes}
    parts = {
        result: made(**{own: told[flat] for flat, own in names.items() if flat in told})
        for result, (made, names) in RESULTS.items()
    }
    return Assessment(**parts, **{result: told.get(flat, quiet) for flat, (result, quiet) in SINGLE.items()})
