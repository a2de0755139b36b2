"""Slice sampling on a circle: a bracket that shrinks towards where the records are."""

from __future__ import annotations

import numpy as np

from suffice.algorithms.rotation.trigonometry import narrowed


def test_a_bracket_shrinks_towards_the_start_from_either_side() -> None:
    left, right = narrowed(np.full(4, -0.5), np.full(4, 0.5), np.array([-0.4, -0.1, 0.2, 0.45]))
    assert left.tolist() == [-0.4, -0.1, -0.5, -0.5]
    assert right.tolist() == [0.5, 0.5, 0.2, 0.45]
    assert (left < 0).all()
    assert (right > 0).all()  # 0, where all stay, is always left
