"""Attribute inference: a record's secret by a model that was trained on the release."""

from __future__ import annotations

import numpy as np

from suffice.algebra.array import Array
from suffice.measure.measure import SHARE, Measure
from suffice.risk.attack import RISK, AttackRates, MixedRecords, said, tried
from suffice.risk.inference import column, compared, worst

TREES, LEARNT = 50, 20_000


def model_inference(original: MixedRecords, control: MixedRecords, released: MixedRecords, secret: int) -> AttackRates:
    """The guess of column `secret` is that of 50 extremely random trees, grown out, of all other columns."""
    from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

    known = np.delete(np.arange(released.width), secret)
    some = released.rows(tried(len(released), LEARNT))
    kind = ExtraTreesClassifier if secret >= released.numbers.shape[1] else ExtraTreesRegressor
    model = kind(TREES, random_state=0).fit(_plain(some, known), column(some, secret))

    def guessed(records: MixedRecords) -> Array:
        return np.asarray(model.predict(_plain(records, known)), dtype=np.float64)

    return compared(original, control, released, secret, guessed)


def _plain(records: MixedRecords, known: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Array:
    return np.column_stack([column(records, int(j)) for j in known])


MEASURES = (
    Measure(
        "model-inference",
        lambda pair: said(worst(pair, model_inference)),
        frozenset({"hold-out", "numbers"}),
        SHARE,
        "higher is riskier",
        RISK
        + "for which a forest learnt from the release tells a confidential column from all others, or a number within "
        "5 %: of the column where it is largest",
        most=2_000,
    ),
)
