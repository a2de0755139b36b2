"""Leverage: what the kept statistics say of single records, alone and with earlier releases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from suffice.algebra.decomposition import gqr
from suffice.design.design import Design
from suffice.design.formula import parse
from suffice.design.profile import Matrices
from suffice.errors import SufficeError
from suffice.protection.fold import Draws, coordinates, fold, labels_of
from suffice.protection.solution import Solution
from suffice.protection.watch import Peak, Tally
from suffice.protection.watching import Hat
from suffice.rows.rows import Block, Rows
from suffice.seed import Stream


def responsible(solution: Solution, peak: Peak) -> str:
    """The term without which the record with the highest leverage has the least."""
    design, q = solution.design, np.array(peak.q)
    if design.absorbed and peak.own >= 0.5 * peak.leverage:
        return design.terms[-1]
    if not design.terms or not len(q):
        return ""
    S = solution.isometry.columns(range(design.m))[: len(q)]
    of = np.array(design.term_of)
    left = [float(((gqr(S[:, of != t]).Q.T @ q) ** 2).sum()) for t in range(len(design.terms))]
    return design.terms[int(np.argmin(left))]


def stacked(rows: Rows, design: Design, terms: set[str]) -> tuple[float, int]:
    """The highest leverage when the terms of earlier releases are given as well, and how many could not be."""
    new = sorted(terms - set(design.terms))
    earlier = [term for term in new if _usable(term, rows, design)]
    if not earlier:
        return 0.0, len(new)
    formula = " + ".join([*design.terms, *earlier])
    try:
        wide = Design.learn(rows, replace(design.roles, given=formula, keep=(), identifiers=()))
        return highest_leverage(rows, wide), len(new) - len(earlier)
    except SufficeError:  # the stacked design is too large, or no longer fits the file
        return 0.0, len(new)


def _usable(term: str, rows: Rows, design: Design) -> bool:
    columns = parse(term).columns
    return all(name in rows.kinds and name not in design.confidential for name in columns)


def highest_leverage(rows: Rows, design: Design) -> float:
    matrices, none = Matrices(design, False), Draws(Stream(b""), 0)
    profile = matrices.profile(rows)
    basis = coordinates(rows, matrices, profile, none)
    hat = Hat.of(design, fold(rows, matrices, basis, none, profile.spread)[0], profile.spread)

    def of(block: Block) -> Tally:
        A = matrices.matrix(block)
        A -= basis.centre
        basis.divide(A, labels_of(design, basis, block))
        return Tally(hat(A, block)[1])

    return rows.fold(of, matrices.columns, "stacking").peak.leverage
