"""Readings: what is detected, what a reading makes of a file, and for each choice that cannot be right an error that names it.

Catches: a value read differently from how it was written, a cell that silently becomes another, a bad cell that is not named, a hash that
does not depend on the reading, memory that grows with the file.
"""

from __future__ import annotations

import csv
import io
import math
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.workloads import Conversion, DatasetError, inspect, to_parquet
from engine.workloads.reading import Preview, ReadingRefused, TextFile, choices_of, preview_text
from engine.workloads.reading import text as reading_text
from engine.workloads.reading.times import COMMON, format_problem, read_times

ABROAD = """Zeit;class;Preis (€);menge
31.01.2026 12:00:00;a;1,5;1
31.01.2026 12:00:01;b;n/a;2
31.01.2026 12:00:02;a;1.250,25;3
"""


def previewed(content: str | bytes, choices: Any = None, whole: bool = True) -> Preview:
    return preview_text(content if isinstance(content, bytes) else content.encode(), whole, choices_of(choices))


def uploaded(folder: Path, content: str | bytes, choices: Any = None) -> Conversion:
    file = folder / "upload.csv"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return to_parquet(file, folder / "normal.parquet", None if choices is None else choices_of(choices))


def rows_of(conversion: Conversion) -> list[dict[str, Any]]:
    table = parquet.read_table(conversion.info.path)
    stamps = [field.name for field in table.schema if pa.types.is_timestamp(field.type)]
    for name in stamps:
        table = table.set_column(table.schema.get_field_index(name), name, table[name].cast(pa.int64()))
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def types_of(preview: Preview) -> dict[str, str]:
    return {column.written: column.type for column in preview.reading.columns}


def messages(preview: Preview) -> dict[str, str]:
    return {problem["pointer"]: problem["message"] for problem in preview.problems}


def ns(text: str, zone: str = "UTC") -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()) * 10**9


# What is detected


def test_marks_types_and_formats_are_detected_with_reasons():
    shown = previewed(ABROAD)
    reading = shown.reading
    assert (reading.delimiter, reading.decimal, reading.thousands, reading.header) == (";", ",", ".", True)
    assert types_of(shown) == {"Zeit": "timestamp", "class": "string", "Preis (€)": "float", "menge": "int"}
    assert reading.columns[0].time_format == "%d.%m.%Y %H:%M:%S"
    assert {reason.pointer: reason.text for reason in shown.reasons} == {
        "/decimal": "column 'Preis (€)' has '1,5'",
        "/thousands": "a cell is '1.250,25'",
        "/columns/2/type": "1 of 3 rows hold 'n/a'",
    }
    assert messages(shown) == {
        "/columns/2/type": "column 'Preis (€)' (float) has no value in 1 of 3 rows, first in line 3; skip such rows, give a value for "
        "missing cells, or choose string"
    }
    assert shown.read[2] == ["2026-01-31T12:00:02.000000000Z", "a", 1250.25, 3]
    assert shown.written[2] == ["31.01.2026 12:00:02", "a", "1.250,25", "3"]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1,234", "5,678"], (".", "", "string")),  # one and a bit, or above a thousand: nobody knows
        (["1,234", "5,6"], (",", "", "float")),
        (["1,234.5", "7"], (".", ",", "float")),
        (["1,234,567", "7"], (".", ",", "int")),
        (["1.234.567,5", "7"], (",", ".", "float")),
        (["1.5", "2,5"], (".", "", "string")),
        (["1.5", "2"], (".", "", "float")),
        (["-,5", "1,5e3"], (",", "", "float")),
        (["a,b", "c"], (".", "", "string")),
    ],
)
def test_a_decimal_mark_is_proposed_only_where_it_is_clear(cells: list[str], expected: tuple[str, str, str]):
    shown = previewed("n;x\n" + "".join(f"1;{cell}\n" for cell in cells))
    assert (shown.reading.decimal, shown.reading.thousands, shown.reading.columns[1].type) == expected


def test_what_keeps_a_column_from_being_numbers_is_said():
    shown = previewed("n,x\n" + "1,5\n" * 40 + "1,-\n" * 3 + "1,?\n")
    assert [reason.text for reason in shown.reasons] == ["all but 4 of 44 cells are numbers: '-', '?'"]
    shown = previewed("n;x\n1;1,5\n1;2\n1;-\n")
    assert [reason.text for reason in shown.reasons] == ["all but 1 of 3 cells are numbers with a decimal comma: '-'"]
    shown = previewed("n;x\n1;1,234\n1;5,678\n")
    assert [reason.text for reason in shown.reasons] == ["all 2 cells are numbers with a decimal comma"]
    assert types_of(previewed("n,x\n" + "1,5\n" * 4 + "1,-\n", {"nulls": ["-"]}))["x"] == "int"


def test_a_file_without_a_header_is_proposed_and_only_read_so_if_somebody_says_it(tmp_path):
    shown = previewed("5,a\n6,b\n")
    assert (shown.reading.header, list(types_of(shown))) == (False, ["column_1", "column_2"])
    assert [reason.pointer for reason in shown.reasons] == ["/header"]
    with pytest.raises(DatasetError, match="line 1 looks like data: column 1 is named '5'"):
        uploaded(tmp_path, "5,a\n6,b\n")
    assert rows_of(uploaded(tmp_path, "5,a\n6,b\n", {"header": False})) == [
        {"column_1": 5, "column_2": "a"},
        {"column_1": 6, "column_2": "b"},
    ]


@pytest.mark.parametrize(
    ("cell", "format"),
    [
        ("2026-01-31T12:00:00Z", "iso"),
        ("1769860800", "s"),
        ("1769860800.25", "s"),
        ("1769860800123", "ms"),
        ("31.01.2026 12:00", "%d.%m.%Y %H:%M"),
        ("01/31/2026 1:30 PM", "%m/%d/%Y %I:%M %p"),
        ("31/01/2026", "%d/%m/%Y"),
        ("20260131 120000", "iso"),  # none fits: the first is as good as any
    ],
)
def test_a_time_format_is_proposed_once_somebody_says_that_a_column_has_times(cell: str, format: str):
    shown = previewed(f"n,t\n1,{cell}\n", {"columns": [{"written": "t", "type": "timestamp"}]})
    assert shown.reading.columns[1].time_format == format


# What a reading makes of a file


def test_columns_are_renamed_left_out_and_typed(tmp_path):
    choices = {
        "columns": [
            {"written": "Zeit", "type": "string"},
            {"written": "Preis (€)", "name": "price", "fill": -1},
            {"written": "menge", "name": "class", "type": "float"},
            {"written": "class", "keep": False},
        ]
    }
    made = uploaded(tmp_path, ABROAD, choices)
    assert rows_of(made)[1] == {"Zeit": "31.01.2026 12:00:01", "price": -1.0, "class": 2.0}
    assert made.counts.as_dict() == {"rows": 3, "rows_skipped": 0, "missing": {"price": 1}, "bad": {}}
    assert inspect(made.info.path) == made.info


def test_a_text_that_looks_like_a_time_stays_a_text_if_somebody_says_so(tmp_path):
    made = uploaded(tmp_path, "n,day\n1,2026-01-31\n", {"columns": [{"written": "day", "type": "string"}]})
    assert inspect(made.info.path).schema.type_of("day") == "string"


def test_rows_without_a_value_are_skipped_and_counted(tmp_path):
    made = uploaded(tmp_path, ABROAD, {"missing": "skip_row"})
    assert [row["menge"] for row in rows_of(made)] == [1, 3]
    assert made.counts.as_dict() == {"rows": 3, "rows_skipped": 1, "missing": {"Preis (€)": 1}, "bad": {}}
    with pytest.raises(DatasetError, match="each of the 1 rows lacks a value in some column"):
        uploaded(tmp_path, "n,x\n1,n/a\n", {"missing": "skip_row", "columns": [{"written": "x", "type": "int"}]})


BAD = [
    ("int", "2.5", "which is not a whole number such as 1234"),
    ("int", "9223372036854775808", "which does not fit; integers must be below 9,223,372,036,854,775,808"),
    ("int", "0x1F", "which is not a whole number"),
    ("float", "1e400", "which is not finite; only numbers below 1.8e308 are allowed"),
    ("float", "1,5", "which is not a finite number such as 1234.5"),
    ("float", "-inf", "which is not finite"),
    ("bool", "maybe", "which is not a bool; write true or 1 or yes, false or 0 or no"),
    ("timestamp", "2026-02-30", "which is not a date of the calendar"),
    ("timestamp", "3000-01-01", "a time outside the years 1678 to 2261"),
    ("timestamp", "yesterday", "which is not an ISO time such as 2026-01-31T12:00:00Z"),
]


@pytest.mark.parametrize(("type", "cell", "why"), BAD)
def test_a_bad_cell_is_named_or_taken_for_missing_and_counted(tmp_path, type: str, cell: str, why: str):
    good = {"int": "3", "float": "3", "bool": "yes", "timestamp": "2026-01-31"}[type]
    content = f'n,x\n1,{good}\n2,"{cell}"\n3,{good}\n'
    column = {"written": "x", "type": type, "time_format": "iso"}
    with pytest.raises(DatasetError) as raised:
        uploaded(tmp_path, content, {"columns": [column], "decimal": "."})
    assert f"column 'x' ({type}) has '{cell}' in line 3 (row 2), {why}" in str(raised.value)
    assert (raised.value.line, raised.value.column, raised.value.value) == (3, "x", cell)
    made = uploaded(tmp_path, content, {"columns": [column], "decimal": ".", "bad_cells": "null", "missing": "skip_row"})
    assert [row["n"] for row in rows_of(made)] == [1, 3]
    assert made.counts.as_dict() == {"rows": 3, "rows_skipped": 1, "missing": {}, "bad": {"x": 1}}
    shown = previewed(content, {"columns": [column], "decimal": ".", "bad_cells": "null"})
    assert (shown.bad, [row[1] is None for row in shown.read]) == ([0, 1], [False, True, False])


def test_times_of_a_zone_are_read_in_utc_and_one_that_never_was_is_named(tmp_path):
    column = {"written": "t", "type": "timestamp", "time_zone": "Europe/Berlin"}
    days = ["2026-01-31 12:00:00", "2026-07-31 12:00:00", "2026-10-25 02:30:00"]  # the last one twice: the earlier is meant
    made = uploaded(tmp_path, "t,n\n" + "".join(f"{day},1\n" for day in days), {"columns": [column]})
    assert [row["t"] for row in rows_of(made)] == [ns(day, "Europe/Berlin") for day in days]
    gap = "t,n\n2026-03-29 02:30:00,1\n"
    with pytest.raises(DatasetError, match=r"line 2 \(row 1\), which does not exist in Europe/Berlin: clocks are set forward over it"):
        uploaded(tmp_path, gap, {"columns": [column]})
    own = uploaded(tmp_path, "t,n\n2026-03-29T02:30:00Z,1\n2026-03-29 04:30:00,2\n", {"columns": [column]})
    assert [row["t"] for row in rows_of(own)] == [ns("2026-03-29T02:30:00"), ns("2026-03-29T02:30:00")]


# What can be wrong with a reading


@pytest.mark.parametrize(
    ("choices", "pointer", "message"),
    [
        ({"decimal": ";"}, "/decimal", "decimal is ';'; it must be '.' or ','"),
        ({"delimiter": "x"}, "/delimiter", "delimiter is 'x'; it must be"),
        ({"decimals": ","}, "/decimals", "'decimals' is not a field here; remove it or correct its name"),
        ({"bad_cells": "skip"}, "/bad_cells", "bad_cells is 'skip'; it must be 'refuse' or 'null'"),
        ({"header": "yes please"}, "/header", "header is 'yes please'; it must be true or false"),
        ({"nulls": ["x" * 101]}, "/nulls/0", "at most 100"),
        ({"columns": [{"name": "x"}]}, "/columns/0/written", "written is missing"),
        ({"columns": [{"written": "Zeitt"}]}, "/columns/0/written", "the file has no column 'Zeitt'"),
        ({"columns": [{"written": "Zeit"}, {"written": "Zeit"}]}, "/columns/1/written", "more often than the file, which has it once"),
        ({"columns": [{"written": "Zeit", "type": "time"}]}, "/columns/0/type", "type is 'time'; it must be"),
        ({"columns": [{"written": "Zeit", "name": "n" * 500}]}, "/columns/0/name", "with 500 characters; it must have at most 200"),
        ([], "", "it must be a mapping"),
    ],
)
def test_a_choice_that_cannot_be_is_refused_by_its_field(choices: Any, pointer: str, message: str):
    with pytest.raises(ReadingRefused) as raised:
        previewed(ABROAD, choices)
    assert [problem.pointer for problem in raised.value.problems] == [pointer]
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("choices", "pointer", "message"),
    [
        ({"decimal": ",", "thousands": ","}, "/thousands", "thousands is ',', as the decimal mark; the two must differ"),
        ({"columns": [{"written": "menge", "name": "class"}]}, "/columns/3/name", "columns 2 and 4 are both named 'class'"),
        ({"columns": [{"written": "menge", "name": " "}]}, "/columns/3/name", "column 4 has no name"),
        ({"columns": [{"written": "Zeit", "time_zone": "Mars/Olympus"}]}, "/columns/0/time_zone", "'Mars/Olympus', which is not known"),
        ({"columns": [{"written": "Zeit", "time_format": "%Q"}]}, "/columns/0/time_format", "time_format has '%Q', which is not known"),
        ({"columns": [{"written": "Zeit", "time_format": "%Y-%m"}]}, "/columns/0/time_format", "time_format has no day"),
        ({"columns": [{"written": "Zeit", "fill": "soon"}]}, "/columns/0/fill", "fill is 'soon'; it must be an ISO time in UTC"),
        ({"columns": [{"written": "menge", "fill": 1.5}]}, "/columns/3/fill", "fill is 1.5; it must be a whole number"),
        ({"columns": [{"written": "class", "fill": "x"}]}, "/columns/1/fill", "fill is for numbers, bools and times"),
        (
            {"columns": [{"written": name, "keep": False} for name in ("Zeit", "class", "Preis (€)", "menge")]},
            "/columns",
            "no column is kept",
        ),
        (
            {"columns": [{"written": name, "keep": False} for name in ("Zeit", "Preis (€)", "menge")]},
            "/columns",
            "no column is a timestamp or contains numbers (columns: 'class')",
        ),
    ],
)
def test_a_reading_that_contradicts_itself_is_shown_with_its_rows_and_not_uploaded(tmp_path, choices: Any, pointer: str, message: str):
    shown = previewed(ABROAD, choices)
    assert message in messages(shown)[pointer]
    assert len(shown.written) == len(shown.read) == 3
    with pytest.raises(ReadingRefused, match=r".") as raised:
        uploaded(tmp_path, ABROAD, choices if "columns" in choices else {**choices, "columns": [{"written": "Zeit"}]})
    assert pointer in [problem.pointer for problem in raised.value.problems]


# Files as they come


def test_a_hash_depends_on_the_bytes_and_the_reading(tmp_path):
    plain = uploaded(tmp_path, ABROAD, {"missing": "skip_row"})
    again = uploaded(tmp_path, ABROAD, plain.reading.as_dict())
    assert (again.hash, again.reading) == (plain.hash, plain.reading)
    assert parquet.read_table(again.info.path).equals(parquet.read_table(plain.info.path))
    other = uploaded(tmp_path, ABROAD, {"missing": "skip_row", "columns": [{"written": "menge", "name": "n"}]})
    bytes_differ = uploaded(tmp_path, ABROAD + "\n", {"missing": "skip_row"})
    assert len({plain.hash, other.hash, bytes_differ.hash}) == 3


ODD_NAMES = ["class", "Größe", "🚕", "שם", "\u202eabc", 'say "a"', "a\nb", "x" * 200, " padded "]


def test_names_of_any_script_are_kept(tmp_path):
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(ODD_NAMES)
    writer.writerow(range(len(ODD_NAMES)))
    made = uploaded(tmp_path, "\ufeff" + text.getvalue())
    assert rows_of(made) == [{name: value for value, name in enumerate(ODD_NAMES)}]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"a,b\n1,\xff\n", "byte 6 (line 2) is 0xff, which is not UTF-8"),
        (b"a,b\n1,2\x00\n", "byte 7 (line 2) is 0x00, so the file is not text"),
        (bytes(range(256)) * 10, "so the file is not text"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "so the file is not text"),
        ("a,b\n1,2\n".encode("utf-16"), "the file is in UTF-16"),
        (b'a,b\n1,"2\n', "starts with a quote in line 2 has no closing quote"),
        ("n" * 500 + ",b\n1,2\n", "the name of column 1 has 500 characters; use at most 200"),
        ("a\n" + "é" + "\n", "no column is a timestamp or contains numbers"),
    ],
)
def test_a_file_that_cannot_be_read_says_where(tmp_path, content: str | bytes, message: str):
    with pytest.raises(DatasetError) as raised:
        uploaded(tmp_path, content)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("content", "choices", "message"),
    [
        ("ts,v\n1700000000,1\n1700000001,2\n,3\n5,4\n", {"missing": "skip_row"}, "column 'ts' has 5 in line 5"),
        ("ts,v\n1700000000,1\nNA,3\n+1700000001,2\n 5,4\n", {"missing": "skip_row"}, "column 'ts' has 5 in line 5"),
        ("ts;v\n1.700.000.000;1,5\n1.700.000.001;2,5\n5;4,5\n", {"thousands": ".", "decimal": ","}, "column 'ts' has 5 in line 4"),
    ],
)
def test_the_value_that_keeps_a_column_from_being_times_is_named(tmp_path, content: str, choices: Any, message: str):
    with pytest.raises(DatasetError, match=message):
        uploaded(tmp_path, content, choices)


def test_the_row_of_a_parquet_file_is_named_by_the_same_rule(tmp_path):
    times = [f"2026-01-31T12:00:{second:02}Z" for second in range(40)]
    for values, message in ((["noon", *times], "has 'noon' in row 1"), ([*range(1_700_000_000, 1_700_000_300), 5], "has 5 in row 301")):
        parquet.write_table(pa.table({"ts": values}), tmp_path / "upload.parquet", row_group_size=100)
        with pytest.raises(DatasetError, match=f"column 'ts' {message}, which is not a timestamp like the others"):
            to_parquet(tmp_path / "upload.parquet", tmp_path / "normal.parquet")


def test_a_line_that_is_longer_than_a_block_is_refused(tmp_path, monkeypatch):
    with pytest.raises(DatasetError, match="a row has more than 4,194,304 bytes"):
        uploaded(tmp_path, "x" * 5_000_000)


def test_the_lines_of_all_problems_are_found_in_one_pass(monkeypatch):
    passes = []
    rows_of_file = TextFile._lines
    monkeypatch.setattr(TextFile, "_lines", lambda *given, **more: passes.append(1) or rows_of_file(*given, **more))
    names = [f"c{number}" for number in range(30)]
    content = "\n".join([",".join(names), "", *(",".join(row * 30) for row in (["1"], ["x"], [""]))])
    shown = previewed(content, {"columns": [{"written": name, "type": "int"} for name in names]})
    assert [problem["line"] for problem in shown.problems if problem["line"]] == [4, 5] * 30
    assert len(passes) <= 3, "one for the first row, one for all lines"
    ragged = previewed("a;b,c\n1;2,3\n4;5,6,7\nx,\n", {"delimiter": ",", "columns": [{"written": "c", "type": "int"}]})
    assert [problem["line"] for problem in ragged.problems if problem["column"] == "c"] == [4], "of the rows that are shown"


def test_a_character_cut_by_a_block_is_no_error_and_a_bad_byte_after_it_is_placed(tmp_path, monkeypatch):
    monkeypatch.setattr(reading_text, "BLOCK_BYTES", 16)
    assert len(TextFile.of("a,b\n1,ééééééééé\n2,🚕🚕\n".encode()).check()) == 32
    content = "a,b\n1,ééééé\n2,🚕🚕\n".encode() + b"3,\xfc\n"
    with pytest.raises(DatasetError, match=rf"byte {content.index(0xFC)} \(line 4\) is 0xfc"):
        TextFile.of(content).check()
    with pytest.raises(DatasetError, match="is 0xf0, which is not UTF-8"):
        TextFile.of("a,🚕".encode()[:-1]).check()


def test_ragged_rows_are_a_problem_of_the_preview_so_that_another_separator_can_be_chosen():
    shown = previewed("a;b,c\n1;2,3\n4;5,6,7\n", {"delimiter": ","})
    assert messages(shown)["/file"].startswith("line 3 has 3 cells, but the header has 2 columns")
    assert (shown.problems[0]["line"], shown.written) == (3, [["1;2", "3"]])
    assert "/file" not in messages(previewed("a;b,c\n1;2,3\n4;5,6,7\n", {"delimiter": ";"}))


def test_a_preview_of_the_beginning_leaves_out_the_row_that_was_cut():
    content = ('n,text\n1,"a\nb"\n2,c\n3,"cut\n' + "d").encode()
    shown = previewed(content, whole=False)
    assert shown.written == [["1", "a\nb"], ["2", "c"]]
    assert previewed("n\n").rows == 0
    assert messages(previewed("n\n"))["/file"] == "the file has no rows; it must have at least one"
    with pytest.raises(DatasetError, match="the first row does not end within"):
        previewed(b'"' + b"x" * 100, whole=False)


def test_a_file_is_read_in_blocks_and_gives_the_same_as_in_one(tmp_path, monkeypatch):
    rows = "".join(f"{number},{number / 7:.3f},text {number}\n" for number in range(5_000))
    whole = rows_of(uploaded(tmp_path, "n,x,t\n" + rows))
    monkeypatch.setattr(reading_text, "BLOCK_BYTES", 4096)
    made = uploaded(tmp_path, "n,x,t\n" + rows)
    assert parquet.ParquetFile(made.info.path).num_row_groups > 20
    assert rows_of(made) == whole
    with pytest.raises(DatasetError, match=r"'abc' in line 5,002 \(row 5,001\)"):
        uploaded(tmp_path, "n,x,t\n" + rows + "1,abc,t\n", {"columns": [{"written": "x", "type": "float"}]})


# Written by a reading and read back

NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8).filter(lambda name: bool(name.strip()))
TIMES = st.datetimes(datetime(1970, 1, 2), datetime(2200, 1, 1))  # noqa: DTZ001 - the zone is drawn
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "int": st.integers(-(2**63), 2**63 - 1),
    "float": st.floats(allow_nan=False, allow_infinity=False),
    "bool": st.booleans(),
    "string": st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)
    | st.sampled_from(['"', ";", ",", "a\nb", "n/a", "1,5", " x "]),
    "timestamp": TIMES,
}
FORMATS = ["%d.%m.%Y %H:%M:%S.%f", "%Y/%m/%d %H:%M:%S.%f", "%m/%d/%Y %I:%M:%S.%f %p", "iso", "us"]


@st.composite
def tables(draw: st.DrawFn) -> tuple[dict[str, Any], list[list[Any]]]:
    """A reading, and rows of values with None for those that are missing."""
    decimal, thousands = draw(st.sampled_from([(".", ""), (".", ","), (",", "."), (",", " "), (",", ""), (".", "'")]))
    types = ["int", *draw(st.lists(st.sampled_from(sorted(VALUES)), max_size=4))]
    names = draw(st.lists(NAMES, min_size=len(types), max_size=len(types), unique=True))
    columns = [
        {"written": f"c{at}", "name": name, "type": type, "keep": True}
        | (
            {"time_format": draw(st.sampled_from(FORMATS)), "time_zone": draw(st.sampled_from(["UTC", "Asia/Tokyo"]))}
            if type == "timestamp"
            else {}
        )
        for at, (name, type) in enumerate(zip(names, types, strict=True))
    ]
    reading = {
        "delimiter": draw(st.sampled_from([",", ";", "\t", "|"])),
        "decimal": decimal,
        "thousands": thousands,
        "nulls": ["missing", "n/a"],
        "header": draw(st.booleans()),
        "bad_cells": "refuse",
        "missing": "skip_row",
        "columns": columns,
    }
    if not reading["header"]:
        for at, column in enumerate(columns):
            column["written"] = f"column_{at + 1}"
    cell = [VALUES["int"], *(VALUES[type] if type == "string" else st.none() | VALUES[type] for type in types[1:])]
    rows = draw(st.lists(st.tuples(*cell).map(list), min_size=1, max_size=5))
    return reading, rows


def written(value: Any, column: dict[str, Any], reading: dict[str, Any]) -> str:
    """A value as the reading has it, by other means than the reader's."""
    if value is None:
        return str(reading["nulls"][len(column["name"]) % 2])
    match column["type"]:
        case "int":
            return f"{value:,}".replace(",", reading["thousands"]) if reading["thousands"] else str(value)
        case "float":
            return repr(value).replace(".", reading["decimal"])
        case "bool":
            return "TRUE" if value else "no"
        case "timestamp" if column["time_format"] == "us":
            return str((value - datetime(1970, 1, 1)) // timedelta(microseconds=1))  # noqa: DTZ001
        case "timestamp" if column["time_format"] == "iso":
            return str(value.isoformat(" ", "microseconds"))
        case "timestamp":
            return str(value.strftime(column["time_format"]))
    return str(value)


def expected(value: Any, column: dict[str, Any]) -> Any:
    if column["type"] != "timestamp":
        return value
    zone = "UTC" if column["time_format"] == "us" else column["time_zone"]
    return (value.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 1000


@given(tables())
@settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_written_by_a_reading_is_read_back_equal(tmp_path, table: tuple[dict[str, Any], list[list[Any]]]):
    reading, rows = table
    columns = reading["columns"]
    text = io.StringIO()
    writer = csv.writer(text, delimiter=reading["delimiter"], lineterminator="\n")
    if reading["header"]:
        writer.writerow(column["written"] for column in columns)
    for row in rows:
        writer.writerow(written(value, column, reading) for value, column in zip(row, columns, strict=True))
    kept = [row for row in rows if None not in row]
    if not kept:
        return
    made = uploaded(tmp_path, text.getvalue(), reading)
    assert made.reading.as_dict() == made.reading.as_dict() | {key: reading[key] for key in ("delimiter", "decimal", "thousands", "header")}
    found = rows_of(made)
    assert [list(row) for row in found] == [[column["name"] for column in columns]] * len(kept)
    for row, values in zip(found, kept, strict=True):
        for (_, value), column, was in zip(row.items(), columns, values, strict=True):
            right = expected(was, column)
            assert value == right, (column, was)
            assert not isinstance(right, float) or math.copysign(1, value) == math.copysign(1, right)
    assert made.counts.rows_skipped == len(rows) - len(kept)


@given(st.text(max_size=60) | st.binary(max_size=60), st.booleans())
@settings(deadline=None, derandomize=True)
def test_any_bytes_are_previewed_or_refused(content: str | bytes, whole: bool):
    """Nothing but a refusal ever comes out."""
    given_bytes = content if isinstance(content, bytes) else content.encode("utf-8", "ignore")
    try:
        shown = preview_text(given_bytes, whole, choices_of(None))
    except (DatasetError, ReadingRefused):
        return
    again = preview_text(given_bytes, whole, choices_of(shown.reading.as_dict()))
    assert (again.reading, again.read) == (shown.reading, shown.read)


@pytest.mark.parametrize("format", [*COMMON, "%d %b %Y %H:%M:%S", "%y%m%d %H:%M", "%d/%b/%Y:%H:%M:%S %z"])
def test_formats_mean_what_python_means_by_them(format: str):
    assert format_problem(format) == ""
    moments = [datetime(2024, 2, 29, 23, 59, 58, 123456, UTC), datetime(1999, 12, 31, 0, 5, 7, 0, UTC)]
    texts = [moment.strftime(format) for moment in moments]
    right = [datetime.strptime(text, format).replace(tzinfo=UTC) for text in texts]
    found = read_times(pa.array([*texts, "31.13.2024", "", f"{texts[0]}x"]), format, "UTC").cast(pa.int64()).to_pylist()
    assert found == [
        *((moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 1000 for moment in right),
        None,
        None,
        None,
    ]
