"""pool(): the rule that certificates name, formulas, functions and fits, and what is refused."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice import Ipso, Resize, Roles, pool, protect
from suffice.certificate.paper import paper_of
from suffice.errors import InputError, UsageError
from suffice.files.source import digest_of
from suffice.release.known_rule import KnownRule
from suffice.utility.combination import RULES

N = 120


def frame(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x, sex = rng.normal(size=N), rng.choice(["f", "m"], N)
    return pd.DataFrame({"x": x, "sex": sex, "y": 2 * x + (sex == "m") + rng.normal(size=N)})


def written(folder, frames, **synthesis) -> list:
    """Files with their certificate beside the first, as a release has them."""
    paths = [folder / f"out-{number}.csv" for number in range(1, len(frames) + 1)]
    for path, each in zip(paths, frames, strict=True):
        each.to_csv(path, index=False)
    files = [{"file": path.name, "digest": digest_of(path)} for path in paths]
    paper = {"suffice": "certificate", "rows": len(frames[0]), **files[0], "files": files, "synthesis": synthesis}
    paper_of(paths[0]).write_text(json.dumps(paper))
    return paths


def fit(data: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    X = np.column_stack([np.ones(len(data)), data["sex"] == "m", data["x"]]).astype(float)
    b, rest = np.linalg.lstsq(X, data["y"], rcond=None)[:2]
    return b, np.linalg.inv(X.T @ X) * rest[0] / (len(data) - 3)


def test_formula_function_and_fits_are_one(tmp_path):
    frames = [frame(seed) for seed in (1, 2, 3)]
    paths = written(tmp_path, frames, kind="partial", m=3)
    q, U = map(np.array, zip(*map(fit, frames), strict=True))
    right = RULES["T_p"](q, np.array([np.diag(each) for each in U]), 1.0, N - 3)
    found = pool(paths, "y ~ C(sex) + x")
    assert found.rule == "T_p"
    assert found.names == ("1", "sex[m]", "x")
    assert found.estimates == pytest.approx(right.mean)
    assert found.errors**2 == pytest.approx(right.variance)
    assert found.freedom == pytest.approx(right.freedom)
    statsmodels = [
        SimpleNamespace(params=pd.Series(b, found.names), cov_params=lambda V=V: V, df_resid=N - 3)
        for b, V in zip(q, U, strict=True)
    ]
    for other in (pool(paths, statsmodels), pool(frames, statsmodels, rule="T_p")):
        assert other.names == found.names
        assert other.errors == pytest.approx(found.errors)
        assert other.joint.p == pytest.approx(found.joint.p)
    assert pool(paths, fit).errors == pytest.approx(found.errors)
    assert pool(paths, fit).freedom.max() > N  # a pair of numbers does not tell its degrees of freedom
    assert pool(paths, lambda data: (data["y"].mean(), data["y"].var() / N)).names == ("q1",)


@pytest.mark.parametrize(
    ("made", "m", "rule", "share"),
    [
        ({"kind": "partial", "m": 5}, 5, "T_p", 1.0),
        ({"kind": "full", "m": 5, "proper": True, "frame": True, "records": 50}, 5, "T_f", 2.0),
        ({"kind": "full", "m": 5, "proper": True, "frame": True, "exact": ["mean"]}, 5, "T_p", 1.0),
        ({"kind": "full", "m": 5, "proper": False, "frame": True}, 5, "T_p", 1.0),
        ({"kind": "full", "m": 5, "proper": True}, 5, "T_p", 1.0),
        ({"kind": "full", "m": 5, "records": 200}, 5, "T_p", 0.5),
        ({"kind": "full", "m": 1}, 1, "T_s", 1.0),
        ({"kind": "full", "m": 1, "proper": True}, 1, "T_d", 1.0),
        ({"kind": "partial", "m": 5, "proper": True}, 1, "T_d", 1.0),
        ({"kind": "full", "m": 1, "proper": True, "exact": ["mean"]}, 1, "T_o", 1.0),
        ({"kind": "partial", "m": 3, "two_stage": 2}, 6, "T_M", 1.0),
        ({"kind": "full", "m": 1, "exact": ["mean"]}, 1, "T_o", 1.0),
        (None, 1, "T_o", 1.0),
        (None, 3, "T_p", 1.0),
    ],
)
def test_the_certificate_names_the_rule(made, m, rule, share):
    known = KnownRule.read(made, m, 100)
    assert (known.name, known.share) == (rule, share)


def test_one_ipso_file_analysed_as_the_original_is_right():
    data = frame(4)
    release = protect(data, Roles(confidential=["y"], given="C(sex) + x"), Ipso())
    found = pool(release, "y ~ C(sex) + x")
    b, V = fit(data)
    assert found.rule == "T_o"
    assert found.estimates == pytest.approx(b, rel=1e-9)
    assert found.errors == pytest.approx(np.sqrt(np.diag(V)), rel=1e-9)
    assert found.freedom.tolist() == [N - 3] * 3


def test_two_stages_take_their_files_in_order(tmp_path):
    frames = [frame(seed) for seed in range(6)]
    paths = written(tmp_path, frames, kind="partial", m=3, two_stage=2)
    q, u = (np.array([[each[part]] for each in map(mean, frames)]).reshape(3, 2, 1) for part in (0, 1))
    found = pool(paths, mean)
    assert found.errors**2 == pytest.approx(RULES["T_M"](q, u, 1.0, np.inf).variance)
    for some in (paths[:4], paths[:1]):
        with pytest.raises(UsageError, match="all together"):
            pool(some, mean)


def test_one_imputation_is_not_pooled(tmp_path):
    paths = written(tmp_path, [frame(1), frame(2)], kind="partial", m=1, two_stage=2)
    with pytest.raises(UsageError, match="One imputation"):
        pool(paths, mean)


def mean(data: pd.DataFrame) -> tuple[float, float]:
    return data["y"].mean(), data["y"].var() / len(data)


def test_text_json_and_page_hold_the_same(tmp_path):
    paths = written(tmp_path, [frame(seed) for seed in (1, 2)], kind="partial", m=5)
    found = pool(paths, "y ~ C(sex) + x")
    assert "2 of 5 files are used" in found.text()
    assert "T_p" in found.text()
    told = json.loads(found.to_json())
    assert told["rule"] == "T_p"
    assert [row["name"] for row in told["estimates"]] == list(found.names)
    assert f"{told['estimates'][2]['estimate']:.5g}" in found.to_html()
    assert "sex[m]" in found._repr_html_()
    found.write(tmp_path / "found.html")
    with pytest.raises(UsageError, match=r"\.json or \.html"):
        found.write(tmp_path / "found.txt")
    with pytest.raises(UsageError):
        found.write(paths[0].with_name(f"{paths[0].name}.certificate.json"), force=True)


def test_what_is_refused(tmp_path):
    paths = written(tmp_path, [frame(seed) for seed in (1, 2)], kind="partial", m=2)
    with pytest.raises(UsageError, match="names the rule"):
        pool(paths, "y ~ x", rule="T_p")
    with pytest.raises(InputError, match="twice"):
        pool([paths[0], paths[0]], "y ~ x")
    with pytest.raises(InputError, match="names 'z'"):
        pool(paths, "y ~ z")
    with pytest.raises(UsageError, match="give one each"):
        pool(paths, [fit(frame(1))])
    with pytest.raises(UsageError, match="negative"):
        pool(paths, lambda data: (1.0, -1.0))
    with pytest.raises(UsageError, match="No certificate"):
        pool([frame(1), frame(2)], "y ~ x")
    with pytest.raises(UsageError, match="two files"):
        pool([frame(1)], "y ~ x", rule="T_p")
    frame(9).to_csv(paths[1], index=False)
    with pytest.raises(InputError, match="not the file"):
        pool(paths, "y ~ x")
    paths[1] = paths[1].rename(tmp_path / "other.csv")
    with pytest.raises(InputError, match="no certificate"):
        pool(paths, "y ~ x")


def test_a_level_that_one_file_lacks_is_said(tmp_path):
    one, two = frame(1), frame(2)
    two["sex"] = "f"
    found = pool([one, two], "y ~ sex + x", rule="T_p")
    assert np.isnan(found.errors[1])
    assert any("not every file tells: sex[m]" in note for note in found.notes)


def test_the_command(tmp_path, capsys):
    from typer.testing import CliRunner

    from suffice.cli.app import app

    paths = written(tmp_path, [frame(seed) for seed in (1, 2)], kind="partial", m=2)
    out = tmp_path / "out.json"
    result = CliRunner().invoke(app, ["pool", *map(str, paths), "--formula", "y ~ C(sex) + x", "-o", str(out)])
    assert result.exit_code == 0, result.output
    assert json.loads(out.read_text())["estimates"][2]["estimate"] == pytest.approx(
        suffice.pool(paths, "y ~ C(sex) + x").estimates[2]
    )
    assert "sex[m]" in result.output


def test_another_number_of_records_is_told_and_counted(monkeypatch):
    monkeypatch.setattr(Resize, "about", lambda self, design: {"kind": "full", "m": 1})
    release = protect(frame(5)[["x", "y"]], Roles(confidential=["x", "y"]), Resize(m=3 * N))
    assert release.certificate.synthesis["records"] == N
    one = pool([release.frame], mean, rule="T_s")
    assert pool(release, mean).errors ** 2 == pytest.approx(one.errors**2 * (3 + 1) / 2)


def test_drawn_records_of_another_number_have_the_errors_of_the_original():
    """Exact ones have its own; others add the chance of the draws."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=400)
    data = pd.DataFrame({"x": x, "y": x + rng.normal(size=400)})
    own = suffice.pool([data], "y ~ x", rule="T_o").errors
    exact, drawn = (
        suffice.pool(suffice.protect(data, Roles(confidential=["x", "y"]), method), "y ~ x")
        for method in (suffice.Resize(m=4000), suffice.Bootstrap(m=4000))
    )
    assert (exact.rule, drawn.rule) == ("T_o", "T_s")
    assert np.abs(exact.errors / own - 1).max() < 0.01
    assert np.abs(drawn.errors / own - np.sqrt(1.1)).max() < 0.1


def test_files_of_two_requests_are_refused_and_their_order_is_that_of_the_certificate(tmp_path):
    """The same method and roles, so that nothing but the list of files tells them apart."""
    folders = [tmp_path / name for name in ("one", "two")]
    both = []
    for seed, folder in enumerate(folders):
        folder.mkdir()
        both.append(written(folder, [frame(10 * seed + i) for i in range(4)], kind="partial", m=2, two_stage=2))
    with pytest.raises(InputError, match="different requests"):
        pool([*both[0][:2], *both[1][2:]], "y ~ x")
    found, turned = (pool(paths, "y ~ x") for paths in (both[0], both[0][::-1]))
    assert found.rule == "T_M"
    assert (found.errors == turned.errors).all()


def test_files_without_certificate_can_tell_how_many_records_the_original_has():
    frames = [frame(seed) for seed in (1, 2)]
    plain, wider = (pool(frames, "y ~ x", rule="T_p", records=records) for records in (None, N // 2))
    assert wider.errors[1] ** 2 - plain.errors[1] ** 2 == pytest.approx(plain.within[1])
    assert wider.freedom.max() <= N // 2 - 2
    with pytest.raises(UsageError, match="whole number"):
        pool(frames, "y ~ x", rule="T_p", records=0)
