"""Laws of the generators: the key decides, engine and blocks do not; groups, weights, numbers of records, Restore."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from suffice import Bootstrap, Distort, LatinHypercube, Loglinear, Restore, Roles, Seed, cli, protect
from suffice.errors import UsageError
from suffice.method.synthetic import Synthetic

NAMES = ["a", "b", "c"]
MADE: dict[str, Synthetic] = {
    "bootstrap": Bootstrap(),
    "latin-hypercube": LatinHypercube(),
    "distort": Distort(families=("normal", "gamma")),
    "loglinear": Loglinear(keep=[["a", "b"], ["b", "c"]]),
}
every = pytest.mark.parametrize("method", MADE.values(), ids=MADE.keys())


def people(n: int = 200) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    values = np.exp(0.6 * rng.normal(size=(n, 3)) + 0.5 * rng.normal(size=(n, 1))).round(1)
    frame = pd.DataFrame(values, columns=NAMES)
    return frame.assign(g=np.where(np.arange(n) % 5 < 2, "u", "v"), w=rng.choice([1.0, 2.0], n))


def made(data: object, method: object, key: int = 1, **roles: object) -> pd.DataFrame:
    release = protect(data, Roles(confidential=NAMES, **roles), method, seed=Seed.for_tests(key))  # type: ignore[arg-type]
    assert release.certificate.holds
    return release.frame if isinstance(release.frame, pd.DataFrame) else release.frame.to_pandas()


@every
def test_the_key_decides_and_neither_engine_nor_blocks(
    method: Synthetic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = people()
    frame.to_parquet(tmp_path / "in.parquet", row_group_size=70)
    one = made(frame, method)
    assert not one.equals(made(frame, method, key=2))
    monkeypatch.setattr("suffice.rows.rows.RUN", 1)
    pd.testing.assert_frame_equal(one, made(str(tmp_path / "in.parquet"), method), rtol=1e-9)


@every
def test_groups_and_weights(method: Synthetic) -> None:
    found = made(people(), method, groups=["g"], weight="w")
    assert set(found["g"]) == {"u", "v"}
    assert abs((found["g"] == "u").mean() - 0.4) < 0.1
    assert "w" not in found


@every
def test_restored_is_exact(method: Synthetic) -> None:
    frame, after = people(), made(people(), method.then(Restore()))
    assert np.allclose(np.cov(after[NAMES].T), np.cov(frame[NAMES].T), rtol=1e-9)
    assert np.allclose(after[NAMES].mean(), frame[NAMES].mean(), rtol=1e-9)


@pytest.mark.parametrize("name", ["bootstrap", "latin-hypercube", "distort", "loglinear"])
def test_any_number_of_records_from_the_command_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = people()
    if name == "loglinear":  # it draws values, which many must share
        data = data.assign(a=data.a.clip(1, 2).round(), b=data.b.clip(1, 3).round())
    data.to_csv(tmp_path / "in.csv", index=False)
    out = tmp_path / "out.csv"
    asked = ["suffice", "protect", str(tmp_path / "in.csv"), "-o", str(out), "--confidential", "a,b", "--quiet"]
    monkeypatch.setattr("sys.argv", [*asked, "--method", name, "--param", "m=37"])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert not end.value.code
    assert pd.read_csv(out).shape == (37, 2)


@every
def test_what_new_records_cannot_have(method: Synthetic) -> None:
    for roles in ({"given": "w"}, {"keep": ["g"]}, {"integer": ["a"]}):
        with pytest.raises(UsageError, match="draws new records"):
            protect(people(), Roles(confidential=NAMES, **roles), method)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="cannot be one step"):
        Bootstrap(m=20).then(Restore())
    with pytest.raises(UsageError, match="cannot be one step"):
        Restore().then(method)
