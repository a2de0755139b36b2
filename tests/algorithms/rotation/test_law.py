"""The law of a walk, against drawing from it directly; and the grids that it is made of."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from suffice.algebra.array import Array
from suffice.algorithms.rotation import densities
from suffice.algorithms.rotation.compass import Compass
from suffice.algorithms.rotation.constraints import Constraints
from suffice.algorithms.rotation.dealing import deal, in_classes, near_order, random_order
from suffice.algorithms.rotation.densities import Densities, cell_density, log_density
from suffice.algorithms.rotation.turn import Chance, turn
from suffice.method.records import Records
from tests.algorithms.rotation.cases import limits
from tests.tolerances import CHANCE

SIZE, FILES, SWEEPS = 6, 3000, 40
"""Records of a small file, how many files are walked side by side, and how long."""


def money(n: int, k: int = 1, seed: int = 1) -> Array:
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(n, 1))
    return np.exp(0.7 * (0.8 * common + 0.6 * rng.normal(size=(n, k))))


def law_of(Y: Array, shape: str = "copula") -> Densities:
    return Densities.of(Y, np.zeros(Y.shape[1]), np.full(Y.shape[1], np.inf), shape)


def walked(start: Array, law: Densities, near: bool = False, held: bool | None = None) -> Array:
    """Many small files with the same sums and squares, walked side by side.

    held: whether records that meet by their size are held in their class; None: they do not.
    """
    Y = np.tile(start, (FILES, 1))
    task = Records(np.ones((len(Y), 1)), Y, Y, limits=limits(Y, 0.0))
    ground, compass, strata = Constraints.of(task), Compass.of(Y), np.repeat(np.arange(FILES, dtype=np.uint16), SIZE)
    rng, Y = np.random.default_rng(5), Y.copy()
    for sweep in range(SWEEPS):
        groups, limited = deal(near_order(Y, compass, rng) if near else random_order(len(Y), rng), 3, strata), ground
        if held is not None and sweep % 4:
            cuts = np.array([1.0 + rng.random()])
            groups = in_classes(Y[:, 0], cuts, 3, strata, rng)
            limited = ground.between(Y[:, 0], 0, cuts) if held else ground
        turn(Y, limited, law, groups, Chance.drawn(rng, limited, groups))
    return Y.reshape(FILES, SIZE, -1)


def drawn(start: Array, law: Densities) -> Array:
    """The same files by rejection: uniform with these sums and products, kept with probability p / max p."""
    rng, k = np.random.default_rng(6), start.shape[1]
    centred = start - start.mean(axis=0)
    root = np.linalg.cholesky(centred.T @ centred)
    Z = rng.normal(size=(400_000, SIZE, k))
    Z -= Z.mean(axis=1, keepdims=True)
    Q = np.linalg.qr(Z)[0]
    Q *= np.sign(rng.normal(size=(len(Q), 1, k)))  # the signs of a decomposition are not random
    Y = start.mean(axis=0) + Q @ root.T
    Y = Y[(Y >= 0).all(axis=(1, 2))]
    total = sum(log_density(Y[:, e].T, law.arrays, np.empty((len(law.P), len(Y)))) for e in range(SIZE))
    return Y[np.log(rng.random(len(Y))) < total - total.max()]


def features(Y: Array) -> Array:
    """Means of powers, extremes and products: what tells laws apart."""
    y = np.sort(Y, axis=1)
    found = [y[:, -1], y[:, -2], y[:, 0], (y**3).mean(axis=1), np.log(y + 0.01).mean(axis=1)]
    return np.hstack([*found, (Y**2 * Y[:, :, ::-1]).mean(axis=1)])


def apart(one: Array, other: Array) -> float:
    """The largest difference of mean features, in standard errors."""
    a, b = features(one), features(other)
    error = np.sqrt(a.var(axis=0) / len(a) + b.var(axis=0) / len(b))
    return float(np.abs((a.mean(axis=0) - b.mean(axis=0)) / error).max())


@pytest.mark.parametrize(("shape", "k"), [("marginals", 1), ("marginals", 2), ("copula", 2)])
def test_a_long_walk_draws_from_its_law(shape: str, k: int) -> None:
    law, start = law_of(money(400, k), shape), money(SIZE, k, seed=3)
    truth = drawn(start, law)
    assert len(truth) > 1000
    assert apart(walked(start, law), truth) < CHANCE


def test_records_that_meet_by_their_size_keep_the_law_where_they_are_held_in_their_class() -> None:
    law, start = law_of(money(400)), money(SIZE, seed=3)
    truth = drawn(start, law)
    assert apart(walked(start, law, held=True), truth) < CHANCE
    assert apart(walked(start, law, held=False), truth) > 2 * CHANCE


def test_the_check_tells_laws_apart() -> None:
    """Near groups, a density without its Jacobian and brackets around another angle have other laws, and it is seen."""
    law, start = law_of(money(400)), money(SIZE, seed=3)
    truth = drawn(start, law)
    assert apart(walked(start, law, near=True), truth) > 2 * CHANCE
    assert apart(walked(start, Densities.uniform()), truth) > 2 * CHANCE
    table = law.table.copy()
    y = np.exp(np.linspace(-3, 3, densities.GRID))
    table[0, :, 0] += np.log(y)
    table[0, :-1, 1] = np.diff(table[0, :, 0])
    assert apart(walked(start, replace(law, table=table)), truth) > 2 * CHANCE


@pytest.mark.parametrize("shift", [0.0, -3.0])
def test_a_grid_is_the_density_of_its_column(shift: float) -> None:
    values = money(4000, seed=7) + shift
    law = Densities.of(values, np.array([shift]), np.array([np.inf]))
    y = np.linspace(shift, 12 + shift, 20_001)[1:]
    p = np.exp(cell_density(y, law.arrays, 0)[0])
    share = np.cumsum(p) / p.sum()
    seen = np.searchsorted(np.sort(values[:, 0]), y) / len(values)
    assert np.abs(share - seen).max() < 0.03
    score = cell_density(np.quantile(values, [0.1, 0.5, 0.9]), law.arrays, 0)[1]
    assert np.abs(score - [-1.2816, 0, 1.2816]).max() < 0.1


def test_no_record_can_be_read_off_a_grid() -> None:
    """A giant has no peak, and one record more or less changes no density by much where others are."""
    Y = money(500)
    Y[0] = 40.0
    law, without = law_of(Y), law_of(np.delete(Y, 17, axis=0))
    far = np.linspace(10, 60, 500)
    log = cell_density(far, law.arrays, 0)[0]
    assert (np.diff(log) <= 1e-6).all()  # it falls all the way, through the giant
    y = np.quantile(Y, np.linspace(0.02, 0.98, 200))
    gap = cell_density(y, law.arrays, 0)[0] - cell_density(y, without.arrays, 0)[0]
    assert np.abs(gap - gap.mean()).max() < 0.05


def test_zeros_and_bounds_are_part_of_a_grid() -> None:
    Y = money(600)
    Y[:200] = 0.0
    law = Densities.of(Y, np.zeros(1), np.array([6.0]))
    assert abs(law.atom[0] - -0.967) < 1e-3  # the middle of the lowest third
    lowest = cell_density(np.array([0.05]), law.arrays, 0)[1]
    assert lowest[0] > -0.45  # what is above zero begins at a third
    assert cell_density(np.array([9.0]), law.arrays, 0)[0] < cell_density(np.array([5.9]), law.arrays, 0)[0] - 50


def test_columns_that_go_together_have_a_copula() -> None:
    P = law_of(money(3000, 2)).P
    rho = 0.64
    assert np.allclose(P[0, 1], -rho / (1 - rho**2), rtol=0.1)
    assert law_of(money(100, 2), "marginals").P.shape == (0, 0)
    one = money(300)
    assert np.linalg.eigvalsh(law_of(np.hstack([one, one])).P + np.eye(2)).max() < 1.1 / densities.LOOSE


@pytest.mark.parametrize("column", [np.full(50, 3.0), np.repeat([0.0, 1.0], 25), np.r_[np.zeros(48), 1.0, 2.0]])
def test_columns_of_few_values_have_no_law(column: Array) -> None:
    law = law_of(column[:, None])
    assert np.isfinite(law.table).all()
    assert (cell_density(np.array([0.0, 0.7, 5.0]), law.arrays, 0)[0] <= 0).all()


def test_grids_are_a_secret() -> None:
    law = law_of(money(50))
    with pytest.raises(TypeError, match="secret"):
        pickle.dumps(law)
    assert repr(law) == "Densities(1 columns)"


@pytest.mark.parametrize("parts", [1, 2, 7])
def test_a_file_in_parts_has_the_law_of_the_whole(parts: int) -> None:
    """Bit for bit while all values are held."""
    Y, ends = money(700, 2), (np.zeros(2), np.full(2, np.inf))
    Y[::9, 1] = 0.0
    whole = Densities.of(Y, *ends)
    found = Densities.of_parts(lambda: iter(np.array_split(Y, parts)), len(Y), *ends)
    assert all((one == other).all() for one, other in zip(found.arrays, whole.arrays, strict=True))
    assert (found.empty == [False, True]).all()


def test_a_large_file_has_the_law_of_its_quantiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of values that are too many to be held, every eighth, in order: nearly the same shares, and tails as far."""
    Y, ends, share = money(4000, 2), (np.zeros(2), np.full(2, np.inf)), np.linspace(0.02, 0.98, 25)
    whole = Densities.of(Y, *ends)
    monkeypatch.setattr(densities, "HELD", 500)
    found = Densities.of_parts(lambda: iter(np.array_split(Y, 8)), len(Y), *ends)
    for j, y in enumerate(Y.T):
        at = [np.interp(law.quantiles(j, share, y), np.sort(y), np.arange(4000) / 4000) for law in (whole, found)]
        assert np.abs(at[0] - at[1]).max() < 0.02  # kernels are wider, by 8^.2
    assert np.allclose(found.P, whole.P, atol=0.05)
    top = np.stack([law.quantiles(0, np.array([0.9999]), Y[:, 0]) for law in (whole, found)])
    assert abs(np.log(top[0] / top[1])) < 0.25
