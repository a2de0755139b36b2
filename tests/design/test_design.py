import pickle
from itertools import combinations, pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.design.design import Design
from suffice.design.levels import Census, Levels
from suffice.design.roles import Roles
from suffice.errors import InputError
from suffice.rows.arrow import columns_of
from suffice.rows.memory import MemoryRows
from suffice.rows.rows import Block
from suffice.rows.sightings import Sightings

SECRET = "the only one of its kind"


def block(table: pa.Table, design: Design, start: int = 0) -> Block:
    return Block(start, columns_of(table, design.columns))


def learnt(table: pa.Table, given, confidential=("y",), **roles) -> tuple[Design, np.ndarray]:
    design = Design.learn(MemoryRows(table), Roles(confidential=confidential, given=given, **roles))
    return design, design.matrix(block(table, design))


def level_counts(matrix: np.ndarray) -> np.ndarray:
    """Records of every level of one factor: the first level has no dummy."""
    ones, *dummies = matrix[:, :-1].sum(axis=0)
    return np.array([ones - sum(dummies), *dummies])


def complaint(table: pa.Table, given="", **roles) -> str:
    design = Design.learn(MemoryRows(table), Roles(confidential=["y"], given=given, **roles))
    with pytest.raises(InputError) as caught:
        design.complain(MemoryRows(table))
    return str(caught.value)


@pytest.fixture
def firms() -> pa.Table:
    generator = np.random.default_rng(1)
    n = 60
    return pa.table(
        {
            "region": generator.choice(["south", "north", "east"], n),
            "size": generator.integers(1, 5, n),
            "listed": generator.integers(0, 2, n) == 1,
            "employees": generator.lognormal(3, 1, n),
            "y": generator.normal(size=n),
            "z": generator.normal(size=n).astype(np.float32),
            "w": generator.uniform(1, 9, n),
        }
    )


def test_numbers_are_copied_as_they_are(firms):
    design, matrix = learnt(firms, ["employees", "size"], ["y", "z"])
    assert matrix.flags.f_contiguous
    assert matrix.dtype == np.float64
    expected = [np.ones(60), firms["employees"], firms["size"], firms["y"], firms["z"]]
    for j, column in enumerate(expected):
        assert np.array_equal(matrix[:, j], np.asarray(column, dtype=np.float64))
    assert (design.m, design.k, design.confidential) == (3, 2, ("y", "z"))
    assert design.names == ("1", "employees", "size")
    assert design.term_of == (-1, 0, 1)
    assert np.array_equal(design.given(block(firms, design)), matrix[:, :3])


def test_no_pass_where_there_is_no_category(firms):
    class Untouchable(MemoryRows):
        def runs(self, columns):
            raise AssertionError("a pass")

    Design.learn(Untouchable(firms), Roles(confidential=["y"], given=["employees"]))


def test_one_pass_over_the_categories_alone(firms):
    passes = []

    class Watched(MemoryRows):
        def runs(self, columns):
            passes.append(tuple(columns))
            return super().runs(columns)

    Design.learn(Watched(firms), Roles(confidential=["y"], given="region*listed + C(size) + employees"))
    assert passes == [("region", "listed", "size")]


@pytest.mark.parametrize(
    ("transform", "of"),
    [("log", np.log), ("log1p", np.log1p), ("log10", np.log10), ("sqrt", np.sqrt), ("square", np.square)],
)
def test_transforms(firms, transform, of):
    design, matrix = learnt(firms, f"{transform}(employees)")
    assert design.names == ("1", f"{transform}(employees)")
    assert np.array_equal(matrix[:, 1], of(firms["employees"].to_numpy()))


def test_treatment_coding_by_hand():
    table = pa.table({"g": ["b", "a", "c", "b"], "x": [2.0, 3.0, 5.0, 7.0], "y": [0.0, 0, 0, 0]})
    design, matrix = learnt(table, "g*x")
    assert design.names == ("1", "g[2]", "g[3]", "x", "g[2]:x", "g[3]:x")
    assert design.terms == ("C(g)", "x", "C(g):x")
    assert design.term_of == (-1, 0, 0, 1, 2, 2)
    assert matrix[:, :6].tolist() == [
        [1, 1, 0, 2, 2, 0],
        [1, 0, 0, 3, 0, 0],
        [1, 0, 1, 5, 0, 5],
        [1, 1, 0, 7, 7, 0],
    ]


def test_without_intercept_a_category_still_spans_one_and_is_coded_so(firms):
    design, matrix = learnt(firms, "- 1 + C(region)")
    assert design.intercept
    assert design.names == ("1", "region[2]", "region[3]")
    assert np.array_equal(matrix[:, 0], np.ones(60))


def test_without_intercept_numbers_do_not_span_one(firms):
    design, _ = learnt(firms, "- 1 + employees + C(region):employees")
    assert not design.intercept


def test_an_empty_cell_keeps_its_column():
    table = pa.table({"a": ["p", "p", "q"], "b": ["r", "s", "r"], "y": [1.0, 2, 3]})
    design, matrix = learnt(table, "a*b")
    assert design.names[-1] == "a[2]:b[2]"
    assert not matrix[:, 3].any()


def full_dummies(table: pa.Table, terms, intercept: bool) -> np.ndarray:
    """Every term by the book: products of one column per level, none dropped."""
    parts = [np.ones((table.num_rows, 1))] if intercept else []
    for term in terms:
        product = np.ones((table.num_rows, 1))
        for name in term:
            values = np.array(table[name].to_pylist())
            columns = values[:, None].astype(float) if name == "x" else values[:, None] == np.unique(values)
            product = (product[:, :, None] * columns[:, None, :]).reshape(table.num_rows, -1)
        parts.append(product)
    return np.hstack(parts) if parts else np.zeros((table.num_rows, 0))


ALL_TERMS = [term for size in (1, 2, 3) for term in combinations(["a", "b", "c", "x"], size)]


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from(ALL_TERMS), min_size=1, max_size=6, unique=True), st.booleans())
def test_the_span_is_that_of_full_dummies(terms, intercept):
    generator = np.random.default_rng(7)
    n = 200
    columns = {name: generator.choice(["p", "q", "r"][: 2 + (name != "c")], n) for name in "abc"}
    table = pa.table({**columns, "x": generator.normal(size=n), "y": np.zeros(n)})
    formula = " + ".join(["1" if intercept else "0", *(":".join(term) for term in terms)])
    design, matrix = learnt(table, formula)
    ours, full = matrix[:, :-1], full_dummies(table, terms, intercept)
    rank = np.linalg.matrix_rank(full)
    assert np.linalg.matrix_rank(ours) == rank
    assert np.linalg.matrix_rank(np.hstack([ours, full])) == rank
    assert len(design.names) == len(design.term_of) == ours.shape[1]


def test_text_is_a_category_with_or_without_c(firms):
    plain, one = learnt(firms, "region + C(region) + region:employees + C(region):employees")
    other, two = learnt(firms, "C(region) + C(region):employees")
    assert plain.names == other.names
    assert np.array_equal(one, two)


def test_an_integer_is_a_number_unless_c(firms):
    assert learnt(firms, "size")[0].names == ("1", "size")
    assert learnt(firms, "C(size)")[0].names == ("1", "size[2]", "size[3]", "size[4]")


def test_names_notes_and_repr_hold_no_level():
    table = pa.table({"g": [SECRET, *["a", "b"] * 6], "y": np.arange(13.0)})
    design, _ = learnt(table, "g", merge_below=3)
    assert SECRET not in repr(design) + "".join(design.names + design.notes + design.terms)
    assert SECRET not in repr(Levels.of(table["g"].chunk(0), 0))


def test_small_levels_are_joined_and_told():
    table = pa.table({"g": [*"aaaaabbbbbbccd"], "y": np.arange(14.0)})
    design, matrix = learnt(table, "C(g)", merge_below=3)
    assert design.notes == ("g: 2 small levels (3 records) joined: regressions are kept on the levels as joined",)
    assert level_counts(matrix).tolist() == [5, 6, 3]
    assert learnt(table, "C(g)", merge_below=0)[0].notes == ()


def test_a_lone_small_level_takes_the_next_smallest_with_it():
    table = pa.table({"g": [*"aaaabbbbbbc"], "y": np.arange(11.0)})
    design, matrix = learnt(table, "C(g)", merge_below=3)
    assert design.notes == ("g: 2 small levels (5 records) joined: regressions are kept on the levels as joined",)
    assert level_counts(matrix).tolist() == [6, 5]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=40), st.integers(0, 8))
def test_after_joining_no_level_is_small(values, below):
    table = pa.table({"g": pa.array(values, pa.int64()), "y": np.zeros(len(values))})
    _, matrix = learnt(table, "C(g)", merge_below=below)
    counts = level_counts(matrix)
    assert counts.sum() == len(values)
    assert (counts >= min(below, len(values))).all()


def test_an_unseen_level_is_told_by_column_count_and_rows_never_by_name():
    design, _ = learnt(pa.table({"g": ["a", "b"], "y": [1.0, 2]}), "g")
    for text in (SECRET, None):
        other = pa.table({"g": pa.array(["a", text, "b", text]), "y": np.zeros(4)})
        with pytest.raises(InputError, match=r"'g' .* 2 records, first in rows 102, 104") as caught:
            design.matrix(block(other, design, start=100))
        assert SECRET not in str(caught.value)


@pytest.mark.parametrize("values", [[1, 9, 2], [1, None, 2], [-5, 1, 2]])
def test_an_unseen_whole_number(values):
    design, _ = learnt(pa.table({"g": [1, 2, 5], "y": [1.0, 2, 3]}), "C(g)")
    with pytest.raises(InputError, match=r"'g' .* 1 record, first in row"):
        design.matrix(block(pa.table({"g": values, "y": np.zeros(3)}), design))


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint8(), pa.int32(), pa.uint64(), pa.int64()])
def test_whole_numbers_of_any_width(kind):
    table = pa.table({"g": pa.array([3, 1, 3, 100], kind), "y": np.zeros(4)})
    assert learnt(table, "C(g)")[1][:, :3].tolist() == [[1, 1, 0], [1, 0, 0], [1, 1, 0], [1, 0, 1]]


def test_weights(firms):
    design, _ = learnt(firms, "", weight="w")
    assert np.array_equal(design.weights(block(firms, design)), firms["w"].to_numpy())
    assert "w" in design.columns
    plain, _ = learnt(firms, "")
    assert plain.weights(block(firms, plain)) is None


def test_a_design_survives_pickling(firms):
    design, matrix = learnt(firms, "region*C(size) + log(employees)", weight="w")
    again = pickle.loads(pickle.dumps(design))
    assert np.array_equal(again.matrix(block(firms, again)), matrix)


def test_matrix_does_not_look_at_numbers():
    table = pa.table({"x": [-1.0, 0.0, 1e200], "y": [np.nan, np.inf, 1.0]})
    for transform in ("log", "sqrt", "square"):
        learnt(table, f"{transform}(x)")


def test_blocks_give_the_rows_of_the_whole(firms):
    design, matrix = learnt(firms, "region*employees + C(size)")
    cuts = [0, 7, 8, 40, 60]
    parts = [design.matrix(block(firms.slice(a, b - a), design)) for a, b in pairwise(cuts)]
    assert np.array_equal(np.vstack(parts), matrix)


def test_too_many_columns_are_refused_with_the_numbers():
    for size, allowed in (
        (64, "4,000"),
        (70, "1,000"),
    ):  # fewer where a factor has many levels
        table = pa.table({"a": np.arange(size), "b": np.arange(size), "y": np.zeros(size)})
        said = rf"(?s){size**2 + 1:,} columns and {allowed} are allowed.*C\(a\):C\(b\) alone needs {size**2:,}"
        with pytest.raises(InputError, match=said):
            learnt(table, "C(a):C(b)")


def test_no_records():
    with pytest.raises(InputError, match="no records"):
        learnt(pa.table({"y": pa.array([], pa.float64())}), "")


# ---- what is wrong with the values


def test_nothing_to_complain_about(firms):
    rows = MemoryRows(firms)
    roles = Roles(confidential=["y", "z"], given="region*C(size) + log(employees) + sqrt(w)")
    assert Design.learn(rows, roles).complain(rows) is None


def test_missing_and_infinite_numbers():
    y = np.zeros(20_000)
    y[[4, 9_000, 9_001, 15_000, 15_001, 15_002]] = np.nan
    y[19_999] = -np.inf
    message = complaint(pa.table({"y": y}))
    assert "y: missing in 6 records, first in rows 5, 9001, 9002, 15001, 15002." in message
    assert "y: infinite in 1 record, first in row 20000." in message


def test_all_missing_and_nulls():
    assert "y: missing in 3 records" in complaint(pa.table({"y": pa.array([None] * 3, pa.float64())}))
    assert "y: missing in 1 record" in complaint(pa.table({"y": pa.array([1, None], pa.int64())}))
    assert "x: missing in 1 record, first in row 2" in complaint(pa.table({"x": [1.0, None], "y": [1.0, 2]}), ["x"])


@pytest.mark.parametrize("value", [2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63)])
def test_whole_numbers_that_no_float_holds(value):
    message = complaint(pa.table({"y": [1, value, 2]}))
    assert "y: a whole number beyond 2^53 in 1 record, first in row 2." in message
    assert str(abs(value)) not in message


def test_whole_numbers_that_a_float_holds():
    table = pa.table({"y": [2**53, -(2**53), 0]})
    learnt(table, "")[0].complain(MemoryRows(table))


@pytest.mark.parametrize(
    ("transform", "values"),
    [
        ("log", [1.0, 0.0, -2.0]),
        ("log10", [5.0, 0.0, -1.0]),
        ("log1p", [0.0, -1.0, -3.0]),
        ("sqrt", [0.0, -1.0, -4.0]),
    ],
)
def test_outside_the_domain(transform, values):
    message = complaint(pa.table({"x": values, "y": np.zeros(3)}), f"{transform}(x)")
    assert f"{transform}(x): outside the domain in 2 records, first in rows 2, 3." in message


def test_numbers_too_large_to_square():
    assert "y: too large to be squared in 1 record" in complaint(pa.table({"y": [1.0, 1e308]}))
    message = complaint(pa.table({"x": [1e100, 1.0], "y": [1.0, 2]}), "square(x)")
    assert "square(x): too large to be squared in 1 record, first in row 1." in message


def test_a_product_that_overflows():
    table = pa.table({"x": [1e100, 1.0], "z": [1e100, -1e100], "g": ["a", "b"], "y": [1.0, 2]})
    message = complaint(table, "g:x:z + square(x):z")
    assert "x:z: too large to be squared in 1 record, first in row 1." in message
    assert "square(x): too large to be squared in 1 record, first in row 1." in message


def test_weights_negative_or_missing():
    message = complaint(pa.table({"y": [1.0, 2, 3], "w": [-1.0, np.nan, 0.0]}), weight="w")
    assert "w: negative in 1 record, first in row 1." in message
    assert "w: missing in 1 record, first in row 2." in message


def test_everything_at_once_and_a_missing_category_already_when_learning():
    table = pa.table({"g": ["a", None, "b"], "x": [0.0, 1, 2], "y": [np.nan, 1, 2], "c": [1, 2, None]})
    with pytest.raises(InputError) as caught:
        learnt(table, "g + C(c) + log(x)")
    lines = str(caught.value).splitlines()
    for line in (
        "g: missing in 1 record, first in row 2.",
        "c: missing in 1 record, first in row 3.",
        "y: missing in 1 record, first in row 1.",
        "log(x): outside the domain in 1 record, first in row 1.",
    ):
        assert line in lines


def test_tiny_and_signed_zeros_are_fine():
    table = pa.table({"y": [1e-320, -0.0, 5e-324, 1e-8, 1e12]})
    design, matrix = learnt(table, "")
    design.complain(MemoryRows(table))
    assert np.array_equal(matrix[:, 1].view(np.int64), table["y"].to_numpy().view(np.int64))


# ---- the folds are monoids

texts = st.lists(st.sampled_from(["a", "b", "c", None]), max_size=12)


@settings(max_examples=60, deadline=None)
@given(texts, texts, texts)
def test_levels_merge_as_the_rows_do(one, two, three):
    def of(values, start):
        return Levels.of(pa.array(values, pa.string()), start)

    a, b, c = of(one, 0), of(two, len(one)), of(three, len(one + two))
    whole = of(one + two + three, 0)
    assert (a + b) + c == a + (b + c) == whole
    assert whole + Levels() == whole == Levels() + whole


@settings(max_examples=60, deadline=None)
@given(st.lists(st.booleans(), max_size=20), st.integers(0, 20))
def test_sightings_merge_as_the_rows_do(seen, cut):
    parts = Sightings.of(seen[:cut], 0) + Sightings.of(seen[cut:], min(cut, len(seen)))
    assert parts == Sightings.of(seen, 0)


def test_an_identifier_among_the_categories(monkeypatch):
    monkeypatch.setattr("suffice.design.levels.CAP", 1_000)

    def census(start):
        return Census({"id": Levels.of(np.arange(start, start + 501), start)})

    with pytest.raises(InputError, match=r"'id' has more than 1,000 levels. An identifier among the categories\?"):
        census(0) + census(501)
