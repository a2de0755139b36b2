"""One file per rule: a function of what was assessed that makes a finding, or nothing."""

from __future__ import annotations

from suffice.guards.canonical_correlation import canonical_correlation
from suffice.guards.changed_records import changed_records
from suffice.guards.companion import companion
from suffice.guards.copies import copies
from suffice.guards.degrees_of_freedom import degrees_of_freedom
from suffice.guards.dependent_columns import dependent_columns
from suffice.guards.digits import digits
from suffice.guards.domain import domain
from suffice.guards.dominance import dominance
from suffice.guards.equal_cells import equal_cells
from suffice.guards.explained_columns import explained_columns
from suffice.guards.extremes import extremes
from suffice.guards.finding import Guard
from suffice.guards.former_role import former_role
from suffice.guards.giants import giants
from suffice.guards.group_size import group_size
from suffice.guards.householder import householder
from suffice.guards.information import information
from suffice.guards.kept_columns import kept_columns
from suffice.guards.kept_scores import kept_scores
from suffice.guards.leaf import leaf
from suffice.guards.leverage import leverage
from suffice.guards.limits import limits
from suffice.guards.linkage import linkage
from suffice.guards.membership import membership
from suffice.guards.nearness import nearness
from suffice.guards.outliers import outliers
from suffice.guards.parts import parts
from suffice.guards.precision import precision
from suffice.guards.rank_intersection import rank_intersection
from suffice.guards.rank_linkage import rank_linkage
from suffice.guards.rare_cells import rare_cells
from suffice.guards.rare_values import rare_values
from suffice.guards.repeated_identifiers import repeated_identifiers
from suffice.guards.repeated_release import repeated_release
from suffice.guards.replicated_records import replicated_records
from suffice.guards.residual_correlation import residual_correlation
from suffice.guards.row_order import row_order
from suffice.guards.seed import seed
from suffice.guards.shape import shape
from suffice.guards.spreadsheet import spreadsheet
from suffice.guards.stacked_leverage import stacked_leverage
from suffice.guards.tight_limits import tight_limits
from suffice.guards.unique_records import unique_records
from suffice.guards.unmoved_records import unmoved_records
from suffice.guards.zero_weights import zero_weights
from suffice.guards.zeros import zeros

GUARDS: dict[str, Guard] = {
    "degrees-of-freedom": degrees_of_freedom,
    "group-size": group_size,
    "dominance": dominance,
    "leverage": leverage,
    "stacked-leverage": stacked_leverage,
    "changed-records": changed_records,
    "former-role": former_role,
    "explained-columns": explained_columns,
    "information": information,
    "equal-cells": equal_cells,
    "kept-columns": kept_columns,
    "tight-limits": tight_limits,
    "copies": copies,
    "rare-cells": rare_cells,
    "rare-values": rare_values,
    "leaf": leaf,
    "replicated-records": replicated_records,
    "unmoved-records": unmoved_records,
    "limits": limits,
    "seed": seed,
    "companion": companion,
    "row-order": row_order,
    "residual-correlation": residual_correlation,
    "canonical-correlation": canonical_correlation,
    "kept-scores": kept_scores,
    "householder": householder,
    "repeated-release": repeated_release,
    "outliers": outliers,
    "giants": giants,
    "membership": membership,
    "nearness": nearness,
    "linkage": linkage,
    "rank-intersection": rank_intersection,
    "rank-linkage": rank_linkage,
    "extremes": extremes,
    "digits": digits,
    "zeros": zeros,
    "parts": parts,
    "precision": precision,
    "domain": domain,
    "shape": shape,
    "zero-weights": zero_weights,
    "spreadsheet": spreadsheet,
    "dependent-columns": dependent_columns,
    "unique-records": unique_records,
    "repeated-identifiers": repeated_identifiers,
}
"""By the name that `accept` takes, in the order in which findings of one level are shown."""
