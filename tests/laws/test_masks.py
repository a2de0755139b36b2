"""Every masking method with all that a request may have: groups, weights, missing cells, steps, plans and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from suffice import (
    AlphaMatrix,
    Blend,
    Ipso,
    MicroaggregateDraws,
    Noise,
    Optimise,
    PcaMask,
    RankSwap,
    Restore,
    ReverseMap,
    Roles,
    Rotate,
    Seed,
    Shuffle,
    protect,
)
from suffice.method.method import Method
from suffice.plan.plan import Plan
from suffice.release.release import Release

NAMES = ["a", "b", "c"]
MASKS: dict[str, Method] = {
    "pca-mask": PcaMask(),
    "noise": Noise(),
    "microaggregate-draws": MicroaggregateDraws(k=4),
    "rank-swap": RankSwap(p=0.4),
    "reverse-map": Ipso().then(ReverseMap()),
    "shuffle": Shuffle(),
    "alpha-matrix": AlphaMatrix([[0.4, 0.05, 0.0], [0.0, 0.3, 0.0], [0.0, 0.05, 0.4]]),
    "blend": Ipso().then(Blend(alpha=0.3)),
    "optimise": Noise().then(Optimise(batches=5)),
}
every = pytest.mark.parametrize("method", MASKS.values(), ids=MASKS.keys())


def people(n: int = 160) -> pd.DataFrame:
    """Two groups, weights, and a column that every fourth record lacks."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(np.exp(0.5 * rng.normal(size=(n, 3)) + 0.5 * rng.normal(size=(n, 1))), columns=NAMES)
    frame.loc[::4, "b"] = np.nan
    return frame.assign(x=rng.normal(size=n), g=np.where(np.arange(n) % 8 < 4, "u", "v"), w=rng.gamma(4.0, size=n) / 4)


def roles(**more: Any) -> Roles:
    return Roles(confidential=NAMES, given="x", groups=["g"], weight="w", missing="patterns", **more)


def released(data: Any, method: Method, **more: Any) -> Release:
    return protect(data, roles(**more), method, seed=Seed.for_tests(1))


def moments(frame: pd.DataFrame) -> np.ndarray:
    """Weighted means and products of every group and pattern, with x."""
    found = []
    for _, part in frame.groupby([frame["g"], frame["b"].isna()]):
        W = part[[name for name in (*NAMES, "x") if part[name].notna().all()]].to_numpy().astype(float)
        w = part["w"].to_numpy()[:, None]
        found += [(w * W).sum(axis=0), (W.T @ (w * W)).ravel()]
    return np.concatenate(found)


@every
def test_groups_weights_and_missing_cells(method: Method) -> None:
    frame, release = people(), released(people(), method)
    after = release.aligned()
    assert release.certificate.holds
    assert (after["b"].isna() == frame["b"].isna()).all()
    assert (after[NAMES] != frame[NAMES]).to_numpy()[frame[NAMES].notna().to_numpy()].mean() > 0.7
    if "distribution" in method.kept:
        told = [claim for claim in release.certificate.claims if claim.statistic == "distribution"]
        assert [bool(claim.level) for claim in told] == [False, True]
        for group in ("u", "v"):
            for name in NAMES:
                both = (np.sort(each.loc[each["g"] == group, name].dropna()) for each in (frame, after))
                assert np.array_equal(*both)


@every
def test_restored_and_rotated(method: Method) -> None:
    """Exact in every group and pattern; then no value below zero."""
    frame = people()
    restored = released(frame, method.then(Restore()))
    rotated = released(frame, method.then(Restore(), Rotate(sweeps=5)), bounds="observed-sign")
    for release in (restored, rotated):
        assert release.certificate.holds
        assert np.allclose(moments(release.aligned()), moments(frame), rtol=1e-9, atol=1e-9)
    assert np.nanmin(rotated.frame[NAMES].to_numpy()) >= 0


@every
def test_plans_and_files(method: Method, tmp_path: Path) -> None:
    """A plan names the same release, from a Parquet file as from memory."""
    frame, path = people(), tmp_path / "people.parquet"
    frame.to_parquet(path)
    steps = getattr(method, "steps", (method,))
    tables = {
        "data": {"path": str(path)},
        "roles": {"confidential": NAMES, "given": "x", "groups": ["g"], "weight": "w", "missing": "patterns"},
        "method": [{"name": step.name, **step.parameters()} for step in steps],
        "release": {"path": str(tmp_path / "out.parquet")},
    }
    plan = Plan.parse(Plan.of(tables).to_toml())
    own = released(frame, method).frame
    other = protect(str(path), plan.roles.build(), plan.build_method(), seed=Seed.for_tests(1)).frame
    pd.testing.assert_frame_equal(own.reset_index(drop=True), other.to_pandas())


@every
def test_files_that_are_dealt_to_parts(method: Method, monkeypatch: pytest.MonkeyPatch) -> None:
    """As those larger than memory are: what is promised holds, and moments are exact after Restore."""
    for module, name in (("protection.super_blocks", "SUPER"), ("rows.ranks", "TOGETHER")):
        monkeypatch.setattr(f"suffice.{module}.{name}", 60)
    frame = people().drop(columns="b").assign(b=lambda each: each["a"] + each["x"] ** 2)
    plain = Roles(confidential=NAMES, given="x")
    assert protect(frame, plain, method, seed=Seed.for_tests(1)).certificate.holds
    release = protect(frame, plain, method.then(Restore()), seed=Seed.for_tests(1))
    both = (each[[*NAMES, "x"]].to_numpy() for each in (frame, release.aligned()))
    assert release.certificate.holds
    assert np.allclose(*(np.cov(each.T) for each in both), rtol=1e-9)
