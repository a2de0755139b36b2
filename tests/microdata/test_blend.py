"""Blends of original and synthetic records: pairs, mixtures, ends, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from suffice import Blend, Ipso, Restore, Roles, Rotate, Seed, protect
from suffice.errors import InfeasibleError, UsageError
from suffice.microdata.blend import nearest

COLUMNS = ["a", "b"]


def people(n: int = 500, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    Y = np.exp(rng.normal(size=(n, 2)) + np.array([1, 5]))
    return pd.DataFrame(Y, columns=COLUMNS).assign(g=rng.choice(["x", "y"], n))


def made(method: Any, frame: pd.DataFrame | None = None, **roles: Any) -> Any:
    given = {"confidential": COLUMNS, **roles}
    return protect(people() if frame is None else frame, Roles(**given), method, seed=Seed.for_tests(1))


def numbers(frame: Any) -> Any:
    return frame[COLUMNS].to_numpy()


def test_mixtures_by_row() -> None:
    Y, Ys = numbers(people()), numbers(people(seed=2))
    assert np.allclose(numbers(made(Blend(people(seed=2), 0.3)).aligned()), 0.3 * Y + 0.7 * Ys)
    product = numbers(made(Blend(people(seed=2), 0.3, "multiplicative")).aligned())
    assert np.allclose(product, Y**0.3 * Ys**0.7)


def test_ends_and_the_original_is_stopped() -> None:
    Y, Ys = numbers(people()), numbers(people(seed=2))
    assert np.allclose(numbers(made(Blend(people(seed=2), 0)).aligned()), Ys)
    for pair in ("row", "nearest"):
        release = made(Blend(people(seed=2), 1, pair=pair))  # type: ignore[arg-type]
        assert np.allclose(numbers(release.aligned()), Y)
        assert {f.rule for f in release.findings if f.blocks} >= {"copies", "residual-correlation", "kept-scores"}


def test_the_nearest_is_the_nearest() -> None:
    Y, Ys = numbers(people()), numbers(people(seed=2))
    far = cdist(Y / Y.std(axis=0), Ys / Y.std(axis=0))
    assert np.array_equal(nearest(Y, Ys, once=False), far.argmin(axis=1))
    once = nearest(Y, Ys, once=True)
    assert sorted(once) == list(range(len(Y)))
    first = np.unravel_index(far.argmin(), far.shape)
    assert once[first[0]] == first[1]
    assert far[np.arange(len(Y)), once].mean() < 0.3 * far.mean()
    blended = numbers(made(Blend(people(seed=2), 0.5, pair="nearest", once=True)).aligned())
    assert np.allclose(blended, (Y + Ys[once]) / 2)


def test_pairs_of_unlike_files_are_found_part_by_part() -> None:
    rng = np.random.default_rng(1)
    Y, Ys = rng.lognormal(sigma=1.5, size=(900, 3)), 3 * rng.normal(size=(900, 3))
    far = cdist(Y / Y.std(axis=0), Ys / Y.std(axis=0))
    once, best = nearest(Y, Ys, once=True), far[linear_sum_assignment(far)].mean()
    assert sorted(once) == list(range(900))
    assert best <= far[np.arange(900), once].mean() < 1.2 * best


def test_nearest_pairs_give_more_away_than_rows() -> None:
    """The pair follows the record: with alpha = 0 nothing of the original is mixed in, and its place is still told."""
    rows, near = (made(Blend(people(seed=2), 0, pair=pair)) for pair in ("row", "nearest"))  # type: ignore[arg-type]
    assert not any(f.rule == "nearness" for f in rows.findings)
    assert any(f.rule in ("residual-correlation", "nearness", "linkage") and f.blocks for f in near.findings)


def test_exact_after_restore_in_groups_and_with_bounds() -> None:
    blend = Ipso().then(Blend(alpha=0.2, pair="nearest"), Restore())
    assert made(blend, groups=["g"]).certificate.holds
    assert made(Ipso().then(Blend(alpha=0.2), Restore()), groups=["g"]).certificate.holds
    release = made(Ipso().then(Blend(alpha=0.2), Restore(), Rotate(sweeps=20)), bounds="observed-sign")
    assert release.certificate.holds
    assert numbers(release.frame).min() >= 0


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="blend needs other, or a method before it"):
        made(Blend())
    with pytest.raises(UsageError, match="blend has a data set already"):
        Ipso().then(Blend(people(seed=2)))
    with pytest.raises(InfeasibleError, match=r"positive columns: zeros .* in 'a', 'b'"):
        made(Ipso().then(Blend(how="multiplicative")))
    with pytest.raises(UsageError, match="alpha must be"):
        Blend(alpha=1.2)


def test_super_blocks_blend_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.protection.super_blocks.SUPER", 200)
    Y, Ys = numbers(people()), numbers(people(seed=2))
    assert np.allclose(numbers(made(Blend(people(seed=2), 0.3)).aligned()), 0.3 * Y + 0.7 * Ys)
