"""Bootstrap: moments that are right on average, which they are not without the shrinkage; bounds."""

from __future__ import annotations

import numpy as np
import pandas as pd

from suffice import Bootstrap, Roles, Seed, protect
from suffice.microdata.bootstrap import SmoothKernel


def skewed(n: int = 300) -> np.ndarray:
    rng = np.random.default_rng(1)
    return np.exp(rng.normal(size=(n, 2)) @ np.array([[0.5, 0.3], [0.0, 0.4]]))


def test_moments_within_sampling_error() -> None:
    """20,000 draws: the standard error of a variance is (kurtosis - 1)^.5 / 141 of it; unshrunk it is 1.64."""
    Y, h, count = skewed(), 0.8, 20_000
    mean, S = Y.mean(axis=0), np.cov(Y.T, bias=True)
    none = np.full(2, np.inf)
    drawn = Bootstrap(h=h).draw(
        mean, np.linalg.cholesky(S).T, SmoothKernel(Y, None, -none, none), count, Seed().derive()
    )
    z = (drawn - mean) / np.sqrt(np.diag(S))
    error = np.sqrt((z**4).mean(axis=0) / count)
    assert (np.abs(z.mean(axis=0)) < 5 / np.sqrt(count)).all()
    assert (np.abs((z**2).mean(axis=0) - 1) < 5 * error).all()
    assert ((1 + h * h) * (z**2).mean(axis=0) - 1 > 5 * error).all()  # what it would be without the shrinkage
    assert abs(np.corrcoef(drawn.T)[0, 1] - np.corrcoef(Y.T)[0, 1]) < 0.05


def test_bandwidth_is_the_rule_of_normal_data() -> None:
    assert np.isclose(Bootstrap().bandwidth(1080, 13), (4 / (15 * 1080)) ** (1 / 17))
    assert Bootstrap(h=0.2).bandwidth(5, 3) == 0.2


def test_bounds_are_reflected_and_said() -> None:
    frame = pd.DataFrame(skewed(), columns=["a", "b"])
    roles = Roles(confidential=["a", "b"], bounds={"a": (0, None), "b": (0, 20)})
    release = protect(frame, roles, Bootstrap(h=1.0))
    assert release.certificate.holds
    assert "limits" in {claim.statistic for claim in release.certificate.claims}
    assert release.frame["a"].min() >= 0
    assert release.frame["b"].between(0, 20).all()
    assert "reflected at the bounds of a, b" in release.certificate.text()
    assert protect(frame, Roles(confidential=["a", "b"]), Bootstrap(h=1.0)).frame["a"].min() < 0


def test_reflection_is_said_to_users() -> None:
    frame, bounds = pd.DataFrame(skewed(), columns=["a", "b"]), ({"a": (0, None)}, ())
    bound, free = (protect(frame, Roles(confidential=["a", "b"], bounds=each), Bootstrap()) for each in bounds)
    assert any("reflected" in note for note in bound.certificate.notes)
    assert not any("reflected" in note for note in free.certificate.notes)
