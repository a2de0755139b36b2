"""Bounds and edits that cannot be kept: a sentence, an exit code, and no file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from suffice import Roles, Rotate, Seed, protect
from suffice.errors import InfeasibleError, InputError, SufficeError, UsageError


def firms() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    y = rng.exponential(size=60)
    return pd.DataFrame({"x": rng.normal(size=60), "y": y, "z": 0.5 * y, "t": 1.5 * y})


def asked(more: dict[str, object]) -> None:
    roles = Roles(confidential=["y", "z", "t"], given="x", **more)  # type: ignore[arg-type]
    protect(firms(), roles, Rotate(sweeps=1), seed=Seed.for_tests(1))


@pytest.mark.parametrize(
    ("more", "error", "said"),
    [
        ({"bounds": {"y": (3, 1)}}, UsageError, "y"),
        ({"edits": ["y + nobody <= 3"]}, UsageError, "nobody"),
        ({"edits": ["y * z <= 3"]}, UsageError, "linear"),
        ({"edits": ["y <= 3 <= z"]}, UsageError, "edit"),
        ({"edits": ["rule: z >= y"]}, InputError, "rule"),
        ({"bounds": {"y": (1, None)}}, InputError, "bounds of y"),
        ({"edits": ["sum: t == y + 2 * z"]}, InputError, "sum"),
        ({"bounds": {"x": (0, None)}}, UsageError, "x"),
    ],
)
def test_what_cannot_be_asked(more: dict[str, object], error: type[SufficeError], said: str) -> None:
    with pytest.raises(error) as caught:
        asked(more)
    assert said in str(caught.value)
    assert not any(f"{value:.6g}" in str(caught.value) for value in firms()["y"])


def test_a_group_larger_than_the_file() -> None:
    with pytest.raises(InfeasibleError, match="groups of 4 records and the file has 3"):
        protect(firms().head(3), Roles(confidential=["y"], given="x"), Rotate(sweeps=1), seed=Seed.for_tests(1))


def test_records_that_all_stand_at_a_corner_have_no_other_place() -> None:
    """Zeros and ones between bounds of 0 and 1: any turn but a swap leaves them."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.integers(0, 2, size=(40, 3)).astype(float), columns=["y", "z", "t"])
    roles = Roles(confidential=["y", "z", "t"], bounds=dict.fromkeys(frame, (0, 1)))
    with pytest.raises(InfeasibleError, match="y, z, t stand at one of two bounds in every record"):
        protect(frame, roles, Rotate(sweeps=10, zeros="free"))


def test_the_command_line_says_it_with_its_exit_code(tmp_path: Path) -> None:
    from suffice.cli.app import app

    data, out = tmp_path / "firms.csv", tmp_path / "out.csv"
    firms().to_csv(data, index=False)
    words = ["protect", str(data), "-o", str(out), "--confidential", "y,z,t", "--given", "x", "--method", "rotate"]
    for more, code in (
        (["--bound", "y=3:1"], 2),
        (["--edit", "y * z <= 1"], 2),
        (["--edit", "z >= y"], 3),
        (["--bound", "y=1:"], 3),
    ):
        result = CliRunner().invoke(app, [*words, *more])
        assert isinstance(result.exception, SufficeError)
        assert result.exception.exit_code == code
        assert not out.exists()
