"""Uploaded files: what is inferred, the normal form, and for each thing that can be wrong an error that names it."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from engine.workloads import DatasetError, inspect, lookup, to_parquet
from engine.workloads.datasets import read
from engine.workloads.epochs import epoch_ns

from .documents import DATA

GOOD = "time,key,value\n2026-01-01T00:00:00Z,a,1\n2026-01-01T00:00:01Z,b,2.5\n"
TIMES = pa.array([datetime(2026, 1, 1), datetime(2026, 1, 2)])  # noqa: DTZ001 - files may hold times without a zone


def csv_file(folder: Path, content: str | bytes, name: str = "upload.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def parquet_file(folder: Path, **columns: pa.Array) -> Path:
    path = folder / "upload.parquet"
    parquet.write_table(pa.table(columns), path)
    return path


# What is inferred


@pytest.mark.parametrize(
    "content",
    [
        GOOD,
        GOOD.replace("\n", "\r\n"),
        GOOD.replace(",", ";"),
        GOOD.replace(",", "\t"),
        GOOD.replace(",", "|"),
        "\ufeff" + GOOD,
        "\n" + GOOD + "\n\n",
        GOOD.replace("key", '"key"'),
    ],
)
def test_a_csv_file_is_understood(tmp_path, content):
    path = csv_file(tmp_path, content)
    info = inspect(path)
    assert (info.rows, info.bytes, info.path, info.timestamps) == (2, path.stat().st_size, path, ("time",))
    assert [(column.name, column.type, column.sample) for column in info.columns] == [
        ("time", "timestamp", ("2026-01-01T00:00:00.000000000Z", "2026-01-01T00:00:01.000000000Z")),
        ("key", "string", ("a", "b")),
        ("value", "float", (1.0, 2.5)),
    ]
    assert info.schema.names == ("time", "key", "value")


@pytest.mark.parametrize(
    ("text", "expected_ns"),
    [
        ("2026-01-31", 1769817600 * 10**9),
        ("2026-01-31 12:00", 1769860800 * 10**9),
        ("2026-01-31T12:00:00", 1769860800 * 10**9),
        ("2026-01-31T12:00:00Z", 1769860800 * 10**9),
        ("2026-01-31T14:00:00+02:00", 1769860800 * 10**9),
        ("2026-01-31 12:00:00.123456789", 1769860800 * 10**9 + 123456789),
        ("1769860800", 1769860800 * 10**9),
        ("1769860800001", 1769860800001 * 10**6),
        ("1769860800000001", 1769860800000001 * 10**3),
        ("1769860800000000001", 1769860800000000001),
    ],
)
def test_timestamps_are_understood(tmp_path, text, expected_ns):
    path = csv_file(tmp_path, f"when,key\n{text},1\n{text},2\n")
    assert inspect(path).timestamps == ("when",)
    assert epoch_ns(read(path)["when"], "when").tolist() == [expected_ns] * 2


def test_timestamp_columns_come_before_whole_numbers(tmp_path):
    path = csv_file(tmp_path, "epoch,iso,other\n1769860800,2026-01-31,7\n")
    assert inspect(path).timestamps == ("iso", "epoch")


def test_types_of_the_whole_column_count_not_those_of_its_beginning(tmp_path):
    rows = "".join(f"2026-01-31,{number}\n" for number in range(200_000))
    assert inspect(csv_file(tmp_path, f"time,code\n{rows}2026-01-31,abc\n")).schema.type_of("code") == "string"


def test_numbers_without_timestamps_are_taken_for_traces(tmp_path):
    info = inspect(csv_file(tmp_path, "second,rate\n0,100\n60,250.5\n"))
    assert info.timestamps == ()
    assert [(field.name, field.type) for field in info.schema.fields] == [("second", "int"), ("rate", "float")]


def test_texts_stay_as_they_are(tmp_path):
    table = read(csv_file(tmp_path, 'time,text,clock\n2026-01-31,NA,9:05:00\n2026-01-31,,09:05:00\n2026-01-31,"a ""b""\nc",10:00:00\n'))
    assert table["text"].to_pylist() == ["NA", "", 'a "b"\nc']
    assert table["clock"].to_pylist() == ["9:05:00", "09:05:00", "10:00:00"]


def test_a_parquet_file_is_brought_to_the_normal_form(tmp_path):
    path = parquet_file(
        tmp_path,
        zoned=pa.array([datetime(2026, 1, 1, tzinfo=UTC)] * 2, pa.timestamp("us", "Europe/Berlin")),
        day=pa.array([date(2026, 1, 1), date(2026, 1, 2)]),
        iso=pa.array(["2026-01-01", "2026-01-02"]),
        small=pa.array([1, 2], pa.int8()),
        half=pa.array([1.5, -2.0], pa.float32()),
        flag=pa.array([True, False]),
        word=pa.array(["a", None]).dictionary_encode(),
    )
    to_parquet(path, tmp_path / "normal.parquet")
    table = parquet.read_table(tmp_path / "normal.parquet")
    stamp = pa.timestamp("ns")
    assert table.schema.types == [stamp, stamp, stamp, pa.int64(), pa.float64(), pa.bool_(), pa.string()]
    assert table["zoned"].cast(pa.int64()).to_pylist() == [1767225600 * 10**9] * 2
    assert table["word"].to_pylist() == ["a", ""]
    assert inspect(path).timestamps == ("zoned", "day", "iso")


@pytest.mark.parametrize("type", [pa.list_(pa.float32()), pa.list_(pa.float64(), 2), pa.large_list(pa.int16())])
def test_vectors_become_a_column_for_each_coordinate(tmp_path, type):
    vectors = pa.array([[1, 2], [3, -4]], type)
    path = parquet_file(tmp_path, t=TIMES, v=vectors, v2x=pa.array([0.5, 1.5]), w3=vectors)
    to_parquet(path, tmp_path / "normal.parquet")
    table = parquet.read_table(tmp_path / "normal.parquet")
    assert table.column_names == ["t", "v1", "v2", "v2x", "w3_1", "w3_2"]
    assert [table[name].to_pylist() for name in ("v1", "v2", "w3_1", "w3_2")] == [[1.0, 3.0], [2.0, -4.0]] * 2
    assert table["v1"].type == pa.float64()
    assert read(parquet_file(tmp_path, t=TIMES, v=pa.array([[1.0], [2.0]]))).column_names == ["t", "v1"]


def test_long_vectors_stay_whole(tmp_path):
    drawn = np.arange(2 * 768, dtype=np.float32).reshape(2, 768)
    path = parquet_file(tmp_path, t=TIMES, v=pa.array(drawn.tolist(), pa.list_(pa.float32())))
    info = to_parquet(path, tmp_path / "normal.parquet").info
    assert [(field.name, field.type, field.dimensions) for field in info.schema.fields] == [("t", "timestamp", 0), ("v", "vector", 768)]
    assert info.schema.bytes == 8 + 8 * 768
    assert info.columns[1].sample == ("[0, 1, 2, 3, … 768 in all]", "[768, 769, 770, 771, … 768 in all]")
    again = read(tmp_path / "normal.parquet")
    assert again["v"].to_pylist() == drawn.tolist()


def test_the_normal_form_of_the_normal_form_is_itself(tmp_path):
    first = to_parquet(csv_file(tmp_path, GOOD), tmp_path / "first.parquet").info
    second = to_parquet(first.path, tmp_path / "second.parquet").info
    assert parquet.read_table(first.path).equals(parquet.read_table(second.path))
    assert inspect(first.path) == first
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first.parquet", "second.parquet", "upload.csv"]


def test_data_sets_are_found_by_name_in_the_first_folder_that_has_them(tmp_path):
    to_parquet(csv_file(tmp_path, GOOD), tmp_path / "flights.parquet")
    assert lookup([DATA, tmp_path])("flights").rows == 113_493
    mine = lookup([tmp_path, DATA])
    assert mine("flights").rows == 2
    to_parquet(csv_file(tmp_path, GOOD + "2026-01-01T00:00:02Z,b,3\n"), tmp_path / "flights.parquet")
    assert mine("flights").rows == 3


@pytest.mark.parametrize("name", ["missing", "", "../data/flights", "/etc/passwd", ".flights", "a\\b", "flights\0", ".."])
def test_other_names_find_nothing(name):
    assert lookup([DATA])(name) is None


# What can be wrong

LATIN = GOOD.encode() + "2026-01-01T00:00:02Z,Zürich,3\n".encode("latin-1")
CSV_ERRORS = {
    "ragged, too few": (
        GOOD + "2026-01-01T00:00:02Z,c\n",
        4,
        None,
        "line 4 has 2 cells, but the header has 3 columns: '2026-01-01T00:00:02Z,c'",
    ),
    "ragged, too many": (GOOD + "\n2026-01-01T00:00:02Z,c,3,4\n", 5, None, "line 5 has 4 cells, but the header has 3 columns"),
    "ragged after a line break in a cell": (
        'time,key\n2026-01-01,"a\nb"\n2026-01-01\n',
        4,
        None,
        "line 4 has 1 cells, but the header has 2 columns",
    ),
    "open quote": (GOOD + '2026-01-01T00:00:02Z,"c,3\n' + GOOD, 4, None, "starts with a quote in line 4 has no closing quote"),
    "latin-1": (LATIN, 4, None, f"byte {LATIN.index(0xFC)} (line 4) is 0xfc, which is not UTF-8; save the file in UTF-8"),
    "utf-16": (GOOD.encode("utf-16"), None, None, "the file is in UTF-16; save it as CSV in UTF-8"),
    "excel": (b"PK\x03\x04" + bytes(100), None, None, "the file is a zip or Excel file; save it as CSV"),
    "no header": (GOOD.split("\n", 1)[1], 1, "2026-01-01T00:00:00Z", "line 1 looks like data: column 1 is named '2026-01-01T00:00:00Z'"),
    "no header, a number": (
        "a,-1.5e3\n2026-01-01,2\n",
        1,
        "-1.5e3",
        "column 2 is named '-1.5e3'; the first line must contain the column names",
    ),
    "duplicate names": (GOOD.replace("value", "time"), 1, "time", "line 1: columns 1 and 3 are both named 'time'; names must be unique"),
    "no name": (GOOD.replace("key", " "), 1, None, "line 1: column 2 has no name; every column needs one"),
    "empty": ("", None, None, "the file is empty; it must have a header line and at least one row"),
    "blank": (" \n\n", 1, None, "the file is empty"),
    "header only": ("time,key\n", None, None, "the file has no rows; it must have at least one"),
    "no timestamp": (
        "a,b\nx,true\ny,false\n",
        None,
        None,
        "no column is a timestamp or contains numbers (columns: 'a', 'b'); a data set needs one",
    ),
    "bad timestamp": (
        GOOD + "2026-13-01T00:00:00Z,a,1\n" + GOOD.split("\n", 1)[1],
        4,
        "time",
        "column 'time' has '2026-13-01T00:00:00Z' in line 4, which is not a timestamp like the others; use ISO texts",
    ),
    "bad epoch": ("t,k\n1769860800,a\n0,b\n1769860801,c\n", 3, "t", "column 't' has 0 in line 3, which is not a timestamp like the others"),
    "two zones": (
        "t,k\n2026-01-01T00:00:00Z,a\n2026-01-01T00:00:00Z,a\n2026-01-01T00:00:00,a\n",
        4,
        "t",
        "'2026-01-01T00:00:00' in line 4",
    ),
    "empty timestamp": (
        GOOD + ",a,1\n",
        4,
        "time",
        "has no value in line 4 (row 3); fill them in, or choose in the reading to skip such rows",
    ),
    "empty number": (
        GOOD + "2026-01-01T00:00:02Z,a,\n",
        4,
        "value",
        "column 'value' (float) has no value in line 4 (row 3)",
    ),
    "empty column": ("time,k\n2026-01-01,\n2026-01-02,\n", None, "k", "column 'k' has no values; fill it in or leave it out"),
    "infinity": (
        GOOD + "2026-01-01T00:00:02Z,a,inf\n",
        4,
        "value",
        "column 'value' (float) has 'inf' in line 4 (row 3), which is not finite",
    ),
    "far future": ("t,k\n3000-01-01,1\n", 2, "t", "column 't' has '3000-01-01' in line 2, a time outside the years 1678 to 2261"),
}


@pytest.mark.parametrize("case", sorted(CSV_ERRORS))
def test_what_is_wrong_with_a_csv_file_is_named(tmp_path, case):
    content, line, column, message = CSV_ERRORS[case]
    with pytest.raises(DatasetError) as raised:
        to_parquet(csv_file(tmp_path, content), tmp_path / "normal.parquet")
    assert message in str(raised.value)
    assert (raised.value.line, raised.value.column) == (line, column)
    assert not (tmp_path / "normal.parquet").exists()


PARQUET_ERRORS = {
    "list of texts": (
        {"t": TIMES, "c": pa.array([["a"], ["b"]])},
        "c",
        "column 'c' has the type list<element: string>, which is not supported; convert it to",
    ),
    "ragged vectors": (
        {"t": TIMES, "c": pa.array([[1.0, 2.0, 3.0], [1.0]])},
        "c",
        "column 'c' has 1 numbers in row 2 and 3 in row 1; vectors to be compared have equally many coordinates",
    ),
    "no vector": ({"t": TIMES, "c": pa.array([[1.0], None])}, "c", "column 'c' (list<element: double>) has no value in 1 of 2 rows"),
    "no coordinate": ({"t": TIMES, "c": pa.array([[1.0, 2.0], [1.0, None]])}, "c2", "column 'c2' has no number in row 2; fill it in"),
    "coordinate that is no number": (
        {"t": TIMES, "c": pa.array([[1.0, 2.0], [float("nan"), 1.0]])},
        "c1",
        "column 'c1' has nan in row 2; only finite numbers are allowed",
    ),
    "too many coordinates": (
        {"t": TIMES, "c": pa.array([[0.5] * 4097] * 2)},
        "c",
        "column 'c' has vectors of 4,097 numbers; give them 1 to 4,096, for example by projecting them",
    ),
    "long vectors with no number": (
        {"t": TIMES, "c": pa.array([[0.5] * 51, [float("nan"), *[0.5] * 50]])},
        "c",
        "column 'c' has nan in row 2; only finite numbers are allowed",
    ),
    "long vectors with a gap": (
        {"t": TIMES, "c": pa.array([[0.5] * 51, [*[0.5] * 50, None]])},
        "c",
        "column 'c' has a vector with a missing number in row 2; fill it in",
    ),
    "many columns of long vectors": (
        {"t": TIMES} | {f"c{n}": pa.array([[0.5] * 51] * 2) for n in range(9)},
        "c8",
        "column 'c8' is one of 9 with long vectors; keep at most 8 of them",
    ),
    "empty vectors": ({"t": TIMES, "c": pa.array([[], []], pa.list_(pa.float32()))}, "c", "column 'c' has vectors of 0 numbers"),
    "coordinates named as a column": (
        {"t": TIMES, "c": pa.array([[1.0, 2.0]] * 2), "c2": pa.array([1, 2])},
        "c",
        "column 'c' holds vectors, whose coordinates would be named as column 'c2'; rename one of the two",
    ),
    "decimal": ({"t": TIMES, "c": pa.array([Decimal("1.5"), Decimal(2)])}, "c", "has the type decimal128(2, 1), which is not supported"),
    "binary": ({"t": TIMES, "c": pa.array([b"a", b"b"])}, "c", "has the type binary, which is not supported"),
    "time of day": ({"t": TIMES, "c": pa.array([1, 2], pa.time64("us"))}, "c", "has the type time64[us], which is not supported"),
    "null": ({"t": TIMES, "c": pa.array([1, None])}, "c", "column 'c' (int64) has no value in 1 of 2 rows, first in row 2"),
    "null time": ({"t": pa.array([TIMES[0].as_py(), None])}, "t", "column 't' (timestamp[us]) has no value in 1 of 2 rows, first in row 2"),
    "all null": ({"t": TIMES, "c": pa.nulls(2)}, "c", "column 'c' has no values"),
    "nan": ({"t": TIMES, "c": pa.array([1.0, float("nan")])}, "c", "column 'c' has nan in row 2; only finite numbers are allowed"),
    "too large": (
        {"t": TIMES, "c": pa.array([1, 2**63], pa.uint64())},
        "c",
        "has 9223372036854775808 in row 2; integers must be below",
    ),
    "no rows": ({"t": TIMES.slice(0, 0)}, None, "the file has no rows"),
    "no timestamp": ({"c": pa.array(["a", "b"])}, None, "no column can serve as timestamp and none contains numbers (columns: 'c')"),
}


@pytest.mark.parametrize("case", sorted(PARQUET_ERRORS))
def test_what_is_wrong_with_a_parquet_file_is_named(tmp_path, case):
    columns, column, message = PARQUET_ERRORS[case]
    with pytest.raises(DatasetError) as raised:
        inspect(parquet_file(tmp_path, **columns))
    assert message in str(raised.value)
    assert (raised.value.line, raised.value.column) == (None, column)


def test_a_parquet_file_must_be_whole(tmp_path):
    whole = parquet_file(tmp_path, t=TIMES).read_bytes()
    for content in (b"time,key\n", whole[:-20], whole[:50]):
        with pytest.raises(DatasetError, match=r"'x\.parquet' is not a Parquet file or is truncated .*; upload a complete Parquet file"):
            inspect(csv_file(tmp_path, content, "x.parquet"))


def test_duplicate_names_in_a_parquet_file(tmp_path):
    path = tmp_path / "x.parquet"
    parquet.write_table(pa.table([TIMES, TIMES], names=["t", "t"]), path)
    with pytest.raises(DatasetError, match="the column name 't' occurs 2 times; names must be unique"):
        inspect(path)


def test_a_file_may_be_too_large(tmp_path, monkeypatch):
    path = csv_file(tmp_path, GOOD)
    with pytest.raises(DatasetError, match="the file has 67 bytes; at most 50 are allowed; upload a sample of it"):
        inspect(path, bytes_max=50)
    monkeypatch.setattr("engine.workloads.limits.CELLS_MAX", 5)
    with pytest.raises(DatasetError, match="the file has 2 rows of 3 columns or more; at most 5 cells are allowed"):
        inspect(path)


def test_a_parquet_file_may_have_any_suffix(tmp_path):
    path = parquet_file(tmp_path, t=TIMES).rename(tmp_path / "upload.bin")
    assert inspect(path).rows == 2


def test_random_tables_come_back_as_they_were(tmp_path):
    numbers = np.random.default_rng(1)
    table = pa.table(
        {
            "t": pa.array(numbers.integers(0, 2**60, 1000), pa.timestamp("ns")),
            "i": numbers.integers(-(2**63), 2**63 - 1, 1000),
            "f": numbers.standard_normal(1000) * 10.0 ** numbers.integers(-300, 300, 1000),
            "b": numbers.integers(0, 2, 1000).astype(bool),
            "s": [chr(int(code)) * 3 for code in numbers.integers(0x21, 0xD000, 1000)],
        }
    )
    parquet.write_table(table, tmp_path / "x.parquet")
    assert read(tmp_path / "x.parquet").equals(table)
