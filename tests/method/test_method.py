"""What every method has without a line of its own: name, checks, description, building from text, chains."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.catalogue import build, describe, methods
from suffice.errors import UsageError
from suffice.method.method import Method
from suffice.microdata import (
    Addition,
    Fitted,
    Ipso,
    IpsoA,
    Mixture,
    ResidualCorrelation,
    Restore,
    Romm,
    ScoreCorrelation,
)


def test_names_are_class_names_in_kebab_case() -> None:
    assert list(methods()) == [
        "addition", "alpha-matrix", "blend", "bootstrap", "distort", "fitted", "householder", "ipso", "ipso-a",
        "ipso-b", "latin-hypercube", "loglinear", "margins", "micro-hybrid", "microaggregate",
        "microaggregate-draws", "microaggregate-noise", "mixture", "moment-householder", "noise", "optimise",
        "outliers-apart", "pca-mask", "rank-swap", "residual-correlation", "resize", "restore", "reverse-map",
        "romm", "rotate", "score-correlation", "shuffle", "synthesis",
    ]  # fmt: skip
    assert IpsoA().name == "ipso-a"


@pytest.mark.parametrize("method", methods().values(), ids=methods().keys())
def test_every_method_describes_itself(method: type[Method]) -> None:
    said = describe(method)
    assert said.summary.endswith(".")
    assert "\n" not in said.summary
    assert said.references
    assert set(said.promises) <= {"mean", "covariance", "fit", "third-moment", "limits", "distribution"}
    assert "**Promises**" in (method.__doc__ or "")
    assert ">>>" in (method.__doc__ or "")
    assert all(parameter.doc and parameter.allowed for parameter in said.parameters)
    assert method.examples()


def test_promises_and_independence() -> None:
    exact = {name for name, method in methods().items() if "covariance" in method.keeps}
    assert exact == {
        "addition", "alpha-matrix", "householder", "ipso", "micro-hybrid", "microaggregate-noise", "moment-householder",
        "outliers-apart", "residual-correlation", "resize", "restore", "romm", "rotate", "score-correlation",
    }  # fmt: skip
    unrelated = {name for name, method in methods().items() if method.independent}
    assert unrelated == {
        "fitted",
        "ipso",
        "ipso-a",
        "ipso-b",
        "loglinear",
        "margins",
        "micro-hybrid",
        "resize",
        "shuffle",
        "synthesis",
    }


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("ipso", {"by": "lu"}, "ipso: by must be one of qr, svd"),
        ("romm", {"lam": 0}, "lam = 0 is the original"),
        ("romm", {"lam": "0"}, r"must be a number above 0|lam = 0 is the original"),
        ("romm", {"lam": -1}, "lam must be a number above 0"),
        ("romm", {"lam": float("nan")}, "lam must be"),
        ("romm", {"lam": float("inf")}, "lam must be"),
        ("romm", {}, "either lam or correlation"),
        ("romm", {"lam": 1, "correlation": 0.5}, "either lam or correlation"),
        ("romm", {"correlation": 1}, r"correlation must be a number in \(0, 1\)"),
        ("residual-correlation", {"d": 1.1}, r"d must be a number in \[-1, 1\]; or a sequence"),
        ("residual-correlation", {"d": None}, "d must be"),
        ("residual-correlation", {"d": []}, "d must be"),
        ("residual-correlation", {"d": True}, "d must be"),
        ("residual-correlation", {"d": "high"}, "d must be"),
        ("residual-correlation", {}, "residual-correlation needs d"),
        ("residual-correlation", {"d": 0.5, "shrink": 1}, r"shrink must be a number in \(0, 1\), or none"),
        ("score-correlation", {"d": 0.5, "order": [0, 0]}, "order must be every column position once"),
        ("score-correlation", {"d": 0.5, "order": [1, 0], "by": "svd"}, "by = qr only"),
        ("mixture", {"d": -0.1}, r"d must be a number in \[0, 1\]"),
        ("restore", {"fill": "maybe"}, "fill must be true or false"),
        ("restore", {"fill": 1}, "fill must be true or false"),
        ("addition", {"alpha": 0}, "alpha must be a number above 0"),
        ("rom", {}, "There is no method 'rom'. Did you mean 'romm'"),
        ("romm", {"lamb": 1}, "no parameter 'lamb'. Did you mean 'lam'"),
        ("fitted", {"d": 1}, "It has: none"),
    ],
)
def test_bad_parameters_are_refused(name: str, given: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        build(name, given)


@pytest.mark.parametrize(
    ("name", "given", "method"),
    [
        ("ipso", {"by": "svd"}, Ipso("svd")),
        ("romm", {"lam": "0.3"}, Romm(0.3)),
        ("romm", {"correlation": 0.5, "lam": "none"}, Romm(correlation=0.5)),
        ("residual-correlation", {"d": "0.1,0.2", "shrink": "0.5"}, ResidualCorrelation((0.1, 0.2), 0.5)),
        ("residual-correlation", {"d": np.array([0.1, 0.2])}, ResidualCorrelation((0.1, 0.2))),
        ("score-correlation", {"d": "none"}, ScoreCorrelation(None)),
        ("score-correlation", {"d": [0.5, "none", 1]}, ScoreCorrelation((0.5, None, 1))),
        (
            "score-correlation",
            {"d": "0.5, none", "order": "1,0"},
            ScoreCorrelation((0.5, None), order=(1, 0)),
        ),
        ("restore", {"fill": "false"}, Restore(fill=False)),
        ("fitted", {}, Fitted()),
    ],
)
def test_built_from_text_and_from_values(name: str, given: dict[str, object], method: Method) -> None:
    assert build(name, given) == method


def test_parameters_leave_data_out_and_no_data_are_shown() -> None:
    method = Restore(candidate=np.array([[123.456]]))
    assert method.parameters() == {"fill": True}
    assert "123" not in repr(method)
    assert Romm(2).parameters() == {"lam": 2.0, "correlation": None, "by": "qr"}


def test_a_chain_deals_random_columns_in_order() -> None:
    rng = np.random.default_rng(1)
    X, Y, Z = np.ones((9, 1)), rng.normal(size=(9, 2)), rng.normal(size=(9, 4))
    chain = Mixture(0.5).then(Restore())
    assert (chain.name, chain.draws(2), chain.independent) == ("mixture then restore", 4, False)
    assert chain.kept == ("mean", "covariance", "fit")
    by_hand = Restore(candidate=Mixture(0.5).solve(X, Y, Z[:, :2])).solve(X, Y, Z[:, 2:])
    assert np.array_equal(chain.solve(X, Y, Z), by_hand)
    assert Ipso().then(Restore()).independent


def test_a_chain_passes_a_companion_to_its_first_step_and_joins_remarks() -> None:
    rng = np.random.default_rng(1)
    X, Y, Z = np.ones((9, 1)), rng.normal(size=(9, 2)), rng.normal(size=(9, 6))
    chain = Restore().then(Addition(alpha=0.5)).with_companion(Y)
    assert chain.companion is Y
    assert np.allclose(np.cov(chain.solve(X, Y, Z).T), np.cov(Y.T))
    assert len(Romm(0.1).then(Restore()).then(Addition(shrink=0.5)).mask(X, Y, Z).remarks) == 2


def test_what_takes_no_companion_cannot_follow() -> None:
    with pytest.raises(UsageError, match="romm takes no data set"):
        Ipso().then(Romm(1))
    with pytest.raises(UsageError, match="restore has a data set already"):
        Ipso().then(Restore(candidate=np.ones((3, 1))))
    with pytest.raises(UsageError, match="mixture takes no data set"):
        Ipso().then(Mixture(0.5).then(Restore()))
    with pytest.raises(UsageError, match="ipso takes no data set"):
        Ipso().with_companion(np.ones((3, 1)))


def test_a_missing_or_ill_shaped_companion_is_refused() -> None:
    X, Y, Z = np.ones((5, 1)), np.arange(5.0)[:, None], np.ones((5, 1))
    with pytest.raises(UsageError, match="restore needs candidate, or a method before it"):
        Restore().solve(X, Y, Z)
    with pytest.raises(UsageError, match="addition: start must be a data set"):
        Addition(start=np.ones((4, 1))).solve(X, Y, Z)


def test_too_few_random_columns_or_entries_are_refused() -> None:
    X, Y = np.ones((5, 1)), np.random.default_rng(1).normal(size=(5, 2))
    with pytest.raises(UsageError, match="ipso needs 2 random columns and Z has 1"):
        Ipso().solve(X, Y, np.ones((5, 1)))
    with pytest.raises(UsageError, match="d has 3 entries and there are 2 confidential columns"):
        Mixture((0.1, 0.2, 0.3)).solve(X, Y, np.ones((5, 2)))
    with pytest.raises(UsageError, match="d has 3 entries and there are 2 scores"):
        ScoreCorrelation((0.1, 0.2, 0.3)).solve(X, Y, np.ones((5, 2)))
