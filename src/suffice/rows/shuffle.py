"""The order of released rows: dealt to keyed buckets, then a keyed permutation of each (Rao, Sandelius).

The number of buckets depends on the number of rows only, so memory and disk give one order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.rows.rows import BLOCK, spans
from suffice.seed import Stream

BUCKET = 2**19
"""Rows in a bucket, about: what is held in memory at a time."""


def bucket_count(n: int) -> int:
    return min(max(1, -(-n // BUCKET)), 2**16 - 1)


def dealt(stream: Stream, start: int, stop: int, count: int) -> NDArray[np.uint16]:
    """The bucket of each row from `start`, a multiple of BLOCK, to `stop`."""
    if count == 1:
        return np.zeros(stop - start, dtype=np.uint16)
    return np.concatenate([stream.buckets(a // BLOCK, b - a, count) for a, b in spans(start, stop)])


def shuffled(stream: Stream, n: int) -> NDArray[np.int64]:
    """The whole order at once: row `order[i]` of the original stands at place i of the release."""
    count = bucket_count(n)
    if count == 1:
        return stream.permutation(0, n)
    buckets = dealt(stream, 0, n, count)
    places = (np.flatnonzero(buckets == bucket) for bucket in range(count))
    return np.concatenate([each[stream.permutation(bucket, len(each))] for bucket, each in enumerate(places)])
