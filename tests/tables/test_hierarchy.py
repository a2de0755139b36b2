"""Hierarchies in every spelling, and those that are none, refused with the place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from suffice.errors import FileError, InputError, UsageError
from suffice.tables.axis import Axis
from suffice.tables.hierarchy import levels, maps, nested, parents, read_hierarchy
from suffice.tables.table import Table
from tests.places import SHARED, needs_shared

TREE = ["Total", ["north", "a", "b"], ["south", "c", ["east", "d", "e"]]]
PAIRS = [("north", "Total"), ("south", "Total"), ("a", "north"), ("b", "north"), ("c", "south"), ("east", "south")]
PAIRS += [("d", "east"), ("e", "east")]
LINES = ["north", "@a", "@b", "south", "@c", "@east", "@@d", "@@e"]


def held(axis: Axis) -> dict[str, set[str]]:
    """What each code holds."""
    rows, leaves = axis.member.toarray(), [axis.codes[leaf] for leaf in axis.leaves]
    return {
        code: {leaf for leaf, one in zip(leaves, row, strict=True) if one}
        for code, row in zip(axis.codes, rows, strict=True)
    }


def test_every_spelling_is_one_hierarchy(tmp_path: Path):
    (tmp_path / "region.hrc").write_text("\n".join(LINES) + "\n")
    (tmp_path / "pairs.csv").write_text("child,parent\n" + "\n".join(map(",".join, PAIRS)))
    (tmp_path / "maps.csv").write_text("mapsFrom,mapsTo,sign,level\n" + "\n".join(f"{a},{b},1,1" for a, b in PAIRS))
    deep = [f"{'@' * (line.count('@') + 2)},{line.lstrip('@')}" for line in LINES]
    (tmp_path / "levels.csv").write_text("\n".join(["levels,codes", "@,Total", *deep]))
    files = [
        read_hierarchy("region", tmp_path / name) for name in ("region.hrc", "pairs.csv", "maps.csv", "levels.csv")
    ]
    for axis in [nested("region", TREE), parents("region", PAIRS), levels("region", LINES, "Total"), *files]:
        assert held(axis) == held(nested("region", TREE))
        assert axis.total == "Total"
    assert held(files[0])["south"] == {"c", "d", "e"}


def test_a_map_may_take_away():
    lines = [("IS", "Europe", 1), ("PT", "Europe", 1), ("ES", "Europe", 1), ("IS", "non", 1)]
    axis = maps("geo", [*lines, ("Europe", "EU", 1), ("non", "EU", -1)])
    assert held(axis)["EU"] == {"PT", "ES"}
    assert axis.total == "Europe"
    assert axis.same == {"non": "IS"}


def test_a_chain_of_single_children_is_one_cell():
    axis = nested("region", ["Total", ["n", ["m", "a"]], "b"])
    assert axis.codes == ("Total", "b", "a")
    assert axis.names(axis.place["n"]) == ["n", "m", "a"]


def test_two_hierarchies_of_one_dimension():
    county, size = parents("r", [("a", "1"), ("b", "1"), ("c", "2"), ("d", "2"), ("1", "T"), ("2", "T")]), ["T"]
    joined = county.joined(nested("r", [*size, ["big", "a", "c"], ["small", "b", "d"]]))
    assert len(joined.sums) == 6
    assert held(joined)["big"] == {"a", "c"}


@pytest.mark.parametrize(
    ("make", "place"),
    [
        (lambda: parents("r", [("a", "b"), ("b", "c"), ("c", "a")]), "circle: .*a.*b"),
        (lambda: maps("r", [("a", "b", 1), ("x", "b", 1), ("b", "a", 1), ("y", "a", 1)]), "(a > b > a|b > a > b)"),
        (lambda: maps("r", [("a", "b", 1), ("b", "a", 1)]), "circle"),
        (lambda: parents("r", [("a", "x"), ("a", "y"), ("x", "T"), ("y", "T")]), "'a' has two parents: 'x' and 'y'"),
        (lambda: nested("r", ["T", ["x", "a", "b"], ["y", "a", "c"]]), "'a' has two parents"),
        (lambda: maps("r", [("a", "x", 1), ("b", "x", 1), ("x", "T", 1), ("a", "T", 1)]), "'T' counts another"),
        (lambda: maps("r", [("a", "x", 1), ("b", "x", 1), ("c", "y", -1), ("x", "y", 1)]), "'y' counts another"),
        (lambda: maps("r", [("a", "x", 2)]), "sign of 'x'"),
        (lambda: levels("r", ["a", "@@b"], "T"), "Line 2"),
        (lambda: nested("r", ["T", "a", "b"]).joined(nested("r", ["T", "a", "c"])), "'T' is two sums"),
    ],
)  # fmt: skip
def test_what_is_no_hierarchy_is_refused_with_the_place(make, place):
    with pytest.raises(InputError, match=place):
        make()


def test_files_that_are_no_hierarchy(tmp_path: Path):
    with pytest.raises(FileError, match="no file"):
        read_hierarchy("r", tmp_path / "none.csv")
    for text, said in [
        ("x,y\n1,2\n", "no columns"),
        ("child,parent\na\n", "Line 2"),
        ("levels,codes\n@@,a\n", "total"),
    ]:
        (tmp_path / "h.csv").write_text(text)
        with pytest.raises(InputError, match=said):
            read_hierarchy("r", tmp_path / "h.csv")
    (tmp_path / "h.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="UTF-8"):
        read_hierarchy("r", tmp_path / "h.csv")
    with pytest.raises(UsageError, match="begin with a code"):
        nested("r", ["T", [["x"], "a"]])


def test_hierarchies_of_any_depth():
    tree: list[object] = ["bottom"]
    for level in range(1500):
        tree = [f"n{level}", tree, *(["side"] if level == 700 else [])]
    axis = nested("r", tree)
    assert axis.codes == ("n700", "side", "bottom")
    assert axis.place["n1499"] == axis.place["n700"]
    with pytest.raises(InputError, match="circle"):
        parents("r", [(f"n{k}", f"n{(k + 1) % 1500}") for k in range(1500)])


@needs_shared
def test_the_maps_of_the_reference_are_hierarchies_of_its_records():
    assert SHARED is not None
    folder = SHARED / "data"
    trees = {name: read_hierarchy(name, folder / f"SSB_sprt_emp_{name}Hier.csv") for name in ("age", "geo")}
    table = Table.of_records(
        folder / "SSB_sprt_emp.csv", ["age", "geo", "year"], ["ths_per"], hierarchies=trees, total={"year": "all"}
    )
    x = table.values["ths_per"]
    europe, eu, non = (x[table.find("Y15-64", code, "all")] for code in ("Europe", "EU", "nonEU"))
    assert np.isclose(europe, eu + non)
    assert np.isclose(x[table.find("Y15-64", "Iceland", "all")], non)  # one child is one cell
