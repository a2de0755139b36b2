"""The rows that leave: dealt to keyed buckets and put in their final order, a bucket at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.errors import failing
from suffice.protection.protected import Protected
from suffice.rows.bridge import arrow
from suffice.rows.shuffle import bucket_count, dealt
from suffice.rows.threads import one_ahead


def delivered(done: Protected, names: Sequence[str], folder: str | None) -> Iterator[pa.Table]:
    """The release in its final order, one bucket at a time; `folder` is where the buckets lie meanwhile."""
    count, stream = bucket_count(done.rows.n), done.stream

    def label(start: int, batch: Any) -> NDArray[np.uint16]:
        return dealt(stream, start, start + len(batch), count)

    with failing("The release cannot be written"):
        buckets = done.leaving.deal(label, count, names, "dealing", folder)

        def ordered(number: int) -> pa.Table:
            table = pa.Table.from_batches(buckets[number].batches(names))
            return table.take(arrow(stream.permutation(number, len(table))))

        for number, table in enumerate(one_ahead(ordered, range(count))):
            yield table
            buckets[number].empty()
