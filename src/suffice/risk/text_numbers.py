"""What text says in numbers: to whoever reads "EUR 1.234,56" or "31/12/2020", it is an amount, or a day."""

from __future__ import annotations

import unicodedata

import pyarrow as pa
import pyarrow.compute as pc

from suffice.algebra.array import Array

PLAIN = r"^-?[0-9]*[.]?[0-9]+([eE][-+]?[0-9]+)?$"
FIRST = r"^(?P<number>-?[0-9]*[.]?[0-9]+)"
DECIMALS = r"([0-9]{1,2}|[0-9]{4,})$"
DAYS = ("%Y-%m-%d", "%Y/%m/%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%d %B %Y", "%B %d, %Y", "%d-%b-%Y")
"""%B and %b: months by their English names."""
MOMENTS = ("%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M")
SIGNS = {"\u066b": ".", "\u066c": ",", "\uff0e": ".", "\uff0c": ",", "\uff0d": "-", "\u2212": "-"}
"""Of Arabic and of wide decimals and thousands, and the minus of typesetters."""


def text_numbers(words: pa.Array) -> Array | None:
    """Cells as plain numbers, as dates in seconds, or by their digits: as most of them can be read, and else nan."""
    text = _digits(pc.utf8_trim_whitespace(words.cast(pa.string())))
    dates = [pc.strptime(text, format=each, unit="s", error_is_null=True) for each in (*DAYS, *MOMENTS)]
    missing = pa.nulls(1, text.type)[0]  # a None of Python would be made a scalar, which loads pandas
    plain = pc.if_else(pc.match_substring_regex(text, PLAIN), text, missing)
    read = [plain, *(each.cast(pa.int64()) for each in dates), _amounts(text)]
    best = min(read, key=lambda each: each.null_count)  # the first of equals
    return best.cast(pa.float64()).to_numpy(zero_copy_only=False) if best.null_count < len(best) else None


def _digits(text: pa.Array) -> pa.Array:
    """Digits of any script as those of ours."""
    if not pc.any(pc.invert(pc.string_is_ascii(text))).as_py():
        return text
    signs = {sign for cell in text.unique().to_pylist() if cell for sign in cell if not sign.isascii()}
    ours = str.maketrans({each: SIGNS.get(each, str(unicodedata.decimal(each, each))) for each in signs})
    return pa.array([cell and cell.translate(ours) for cell in text.to_pylist()], text.type)


def _amounts(text: pa.Array) -> pa.Array:
    """The first number in each cell, letters and signs of thousands left out."""
    digits = pc.replace_substring_regex(text, r"[^0-9.,-]|[^0-9]+$", "")
    comma, point = (pc.sum(pc.match_substring_regex(digits, f"[{sign}]{DECIMALS}")).as_py() or 0 for sign in ",.")
    digits = pc.replace_substring(digits, *(".", "") if comma > point else (",", ""))
    return pc.struct_field(pc.extract_regex(pc.replace_substring(digits, ",", "."), FIRST), 0)
