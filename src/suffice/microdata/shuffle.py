"""Data shuffling: every column's own values, dealt by a normal copula that follows no record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from suffice.algebra.array import Array
from suffice.algebra.decomposition import split
from suffice.algebra.factor import RFactor
from suffice.design.design import Design
from suffice.method.masked import MaskedColumns
from suffice.method.rowwise import Rowwise
from suffice.microdata.ipso import Ipso
from suffice.rows.derived import ORIGINAL, Beside
from suffice.rows.ranks import Ranked, by_rank, middles
from suffice.rows.rows import Block, Product, Rows, Run
from suffice.rows.spool import stored
from suffice.seed import Stream

LEAST = 1e-9
"""Of the trace: no eigenvalue of what the given columns leave may be smaller."""


@dataclass(frozen=True)
class Shuffle(Rowwise):
    """Draw new normal scores with the fit and the rank correlations of the original; give them its values in order.

    S  = Phi^-1((rank Y - .5) / n),   R = 2 sin(pi r_S / 6)
    S* = Shat + T* W,   W'W = R - Shat'Shat                          (Ipso)
    y*_i = y_(r),   r the rank of s*_i                               (ReverseMap)

    **Promises** the distribution of every column, value by value. Rank correlations, and what the given columns tell,
    are kept nearly: better with more records. No record is followed: values go wherever the given columns allow.

    Muralidhar & Sarathy (2006). Equal values share the middle of their ranks.

    >>> W, raised = positive(np.array([[1.0, 0.5], [0.5, 1.0]]))
    >>> np.round(W.T @ W, 9).tolist(), raised
    ([[1.0, 0.5], [0.5, 1.0]], 0)
    """

    keeps: ClassVar = ("distribution",)
    kinds: ClassVar = ("integer", "date")
    independent: ClassVar = True
    ranks: ClassVar = True
    references: ClassVar = ("Muralidhar & Sarathy (2006)",)

    def columns(self, rows: Rows, design: Design, stream: Stream) -> MaskedColumns:
        names, m, k, draws = design.confidential, design.m, design.k, stream.child("latent")

        inorder: dict[str, Array] = {}  # where all ranks are worked on together, a column is sorted once

        def scored(name: str) -> Any:
            def normal(ranks: NDArray[np.int64], y: Array, _: Array, __: Any) -> Array:
                if len(y) == rows.n:
                    inorder[name] = y
                return np.asarray(ndtri(middles(ranks, y) / rows.n))

            return by_rank(rows, name, name, normal, stream.child(f"scores of {name}"))

        S = {name: scored(name) for name in names}

        def of(block: Block) -> Product:
            assert block.key is not None
            W = design.matrix(block, room=k)
            U = ndtr(W[:, m : m + k]) - 0.5
            W[:, m + k :] = block.key.normals(len(W), k)
            return Product(RFactor.of(W), U.T @ U, U.sum(axis=0))

        factor, products, total = rows.with_columns(S).fold(of, design.columns, "learning", draws)
        C = products - np.outer(total, total) / rows.n
        size = np.sqrt(np.where(np.diag(C) > 0, np.diag(C), 1.0))
        R = 2 * np.sin(np.pi / 6 * np.clip(C / np.outer(size, size), -1, 1))
        M, raised = self._latent(factor.R, R, m, k, rows.n)

        def latent(run: Run) -> Array:
            parts = []
            for block in run:
                assert block.key is not None
                parts.append(design.given(block) @ M[:m] + block.key.normals(len(block), k) @ M[m + k :])
            return np.vstack(parts)

        masked = stored(rows, rows.map(latent, design.columns, "mapping", draws), names)
        both = masked.with_columns({ORIGINAL + name: Beside(rows, name) for name in names})

        def shuffled(name: str) -> Any:
            own = inorder.get(name)
            other = ORIGINAL + name if own is None else name
            of: Ranked = lambda ranks, y, theirs, draws: theirs if own is None else own  # noqa: E731
            return by_rank(both, name, other, of, stream.child(f"values of {name}"))

        made = {name: shuffled(name) for name in names}
        said = f"shuffle: {raised} of {k} directions of the correlations were made positive." if raised else ""
        return MaskedColumns(made, (said,) if said else ())

    def _latent(self, R: Array, correlations: Array, m: int, k: int, n: int) -> tuple[Array, int]:
        """How new scores follow from the rows of [X S Z], and how many directions had to be made positive."""
        size = np.linalg.norm(R, axis=0)
        A = R / np.where(size > 0, size, 1.0)
        X, S, Z = A[:, :m], R[:, m : m + k], A[:, m + k :]
        Shat, _ = split(S, X)
        length = np.linalg.norm(S, axis=0)
        W, raised = positive(correlations * np.outer(length, length) - Shat.T @ Shat)
        Sstar = Shat + Ipso().new_scores(Z, k, X, n=n) @ W
        M = np.linalg.lstsq(A[:, np.r_[:m, m + k : m + 2 * k]], Sstar, rcond=1e-10)[0]
        M = np.insert(M, [m] * k, 0.0, axis=0)
        return M / np.where(size > 0, size, 1.0)[:, None], raised

    @classmethod
    def examples(cls) -> tuple[Shuffle, ...]:
        return (cls(),)


def positive(C: Array) -> tuple[Array, int]:
    """W with W'W = C, where C is made positive definite if need be; and how many directions that took."""
    values, V = np.linalg.eigh(C)
    least = LEAST * max(float(np.trace(C)), 0.0)
    return np.asarray((V * np.sqrt(np.maximum(values, least))) @ V.T), int((values < -least).sum())
