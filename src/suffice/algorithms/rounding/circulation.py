"""Fractions on the edges of a graph become 0 or 1, and every node keeps what flows through it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

NEAR = 1e-9
"""A fraction this near to a whole number is one."""


def settle(
    value: Sequence[float], tail: Sequence[int], head: Sequence[int], generator: np.random.Generator
) -> list[float]:
    """0 or 1 for every edge, with out - in of every node as it was; the expectation of each is its fraction.

    Where out - in of every node is whole, no node has a single fractional edge, so fractional edges hold a cycle.
    Along it edges are raised and lowered by turns until one of them is 0 or 1, up or down by chance in proportion.

    **Promises** that each fraction moves by less than one.

    value: the fraction of each edge, in (0, 1)
    tail, head: the nodes that it leaves and enters
    generator: decides the directions

    >>> settle([0.5, 0.5, 0.5], [0, 1, 2], [1, 2, 0], np.random.default_rng(1)) in ([0, 0, 0], [1, 1, 1])
    True
    """
    walk = _Walk(list(value), tail, head, generator)
    for node in list(walk.edges):
        walk.exhaust(node)
    return walk.value


@dataclass
class _Walk:
    """A path through fractional edges; where it meets itself, a cycle is turned and the path cut back."""

    value: list[float]
    tail: Sequence[int]
    head: Sequence[int]
    generator: np.random.Generator
    edges: dict[int, list[int]] = field(default_factory=dict)
    nodes: list[int] = field(default_factory=list)
    path: list[int] = field(default_factory=list)
    place: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for edge, ends in enumerate(zip(self.tail, self.head, strict=True)):
            for node in ends:
                self.edges.setdefault(node, []).append(edge)

    def exhaust(self, start: int) -> None:
        """Walk from here until no fractional edge is left at the start."""
        self._step_to(start)
        while self.nodes:
            edge = self._onward()
            if edge is None:
                self._back()
                continue
            here = self.nodes[-1]
            node = self.head[edge] if self.tail[edge] == here else self.tail[edge]
            self.path.append(edge)
            if node in self.place:
                self._turn(self.place[node])
            else:
                self._step_to(node)

    def _step_to(self, node: int) -> None:
        self.place[node] = len(self.nodes)
        self.nodes.append(node)

    def _onward(self) -> int | None:
        """A fractional edge of the last node other than the one that led here."""
        edges = self.edges[self.nodes[-1]]
        came = self.path[-1] if self.path else -1
        while edges and self._is_whole(edges[-1]):
            edges.pop()
        if edges and edges[-1] == came:
            edges[0], edges[-1] = edges[-1], edges[0]
            while len(edges) > 1 and self._is_whole(edges[-1]):
                edges.pop()
        return edges[-1] if edges and edges[-1] != came else None

    def _back(self) -> None:
        """A dead end: the edge that led here is whole but for rounding."""
        del self.place[self.nodes.pop()]
        if self.path:
            edge = self.path.pop()
            self.value[edge] = float(round(self.value[edge]))

    def _turn(self, first: int) -> None:
        """Turn the cycle that the path closes at its node number `first`, then cut the path before a whole edge."""
        cycle = self.path[first:]
        along = [self.tail[e] == node for e, node in zip(cycle, self.nodes[first:], strict=True)]
        up = min(1 - self.value[e] if on else self.value[e] for e, on in zip(cycle, along, strict=True))
        down = min(self.value[e] if on else 1 - self.value[e] for e, on in zip(cycle, along, strict=True))
        by = up if self.generator.random() * (up + down) < down else -down
        for e, on in zip(cycle, along, strict=True):
            moved = self.value[e] + (by if on else -by)
            self.value[e] = moved if NEAR < moved < 1 - NEAR else float(round(moved))
        cut = first + next(i for i, e in enumerate(cycle) if self._is_whole(e))
        for node in self.nodes[cut + 1 :]:
            del self.place[node]
        del self.nodes[cut + 1 :], self.path[cut:]

    def _is_whole(self, edge: int) -> bool:
        return self.value[edge] in (0.0, 1.0)
