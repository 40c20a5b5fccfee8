"""Files that hold much more than their size tells. Catches: copying a text for every row, parsing cells that are then refused, work that
grows with the square of the columns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from engine.workloads import DatasetError, inspect, to_parquet
from engine.workloads.datasets import read
from engine.workloads.reading import Choices, preview_text, text

TIME_MS = 1_767_225_600_000


def texts(folder: Path, rows: int, size: int) -> Path:
    """One text, which all rows share."""
    shared = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array(["x" * size]))
    return written(folder, {"t": pa.array(np.arange(rows) + TIME_MS), "s": shared})


def written(folder: Path, columns: dict[str, pa.Array]) -> Path:
    path = folder / "x.parquet"
    parquet.write_table(pa.table(columns), path, compression="zstd")
    return path


def csv(folder: Path, content: str) -> Path:
    path = folder / "x.csv"
    path.write_text(content)
    return path


HOSTILE: dict[str, tuple[Callable[[Path], Path], str]] = {
    "a long text in every row": (
        lambda folder: texts(folder, 3000, 1_000_000),
        r"column 's' has a text of 1,000,000 bytes in row 1; at most 65,536 are allowed",
    ),
    "many texts": (
        lambda folder: texts(folder, 40_000, 60_000),
        "the texts of the file have more than 1,000,000,000 bytes when each row has its own",
    ),
    "many columns of Parquet": (
        lambda folder: written(folder, {f"c{n}": pa.array([n]) for n in range(10_001)}),
        "the file has 10,001 columns; at most 10,000 are allowed",
    ),
    "200,000 columns of text": (
        lambda folder: csv(folder, ",".join(f"c{n}" for n in range(200_000)) + "\n" + ",".join(["1"] * 200_000)),
        "line 1 has 200,000 cells; a file may have at most 10,000 columns",
    ),
    "a first line without end": (lambda folder: csv(folder, "a" + ",c" * 20_000_000), "a row has more than 4,194,304 bytes"),
    "a long text in a file of text": (
        lambda folder: csv(folder, f"t,s\n2026-01-01,a\n2026-01-01,{'x' * 70_000}\n"),
        "column 's' has a text of 70,000 bytes in row 2; at most 65,536 are allowed; shorten it, or leave the column out",
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_file_that_holds_too_much_is_refused(tmp_path: Path, case: str) -> None:
    make, message = HOSTILE[case]
    path = make(tmp_path)
    with pytest.raises(DatasetError, match=message):
        to_parquet(path, tmp_path / "normal.parquet")
    assert list(tmp_path.iterdir()) == [path]


def test_numbers_in_lists_count_before_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.workloads.limits.CELLS_MAX", 1_000_000)
    path = written(tmp_path, {"t": pa.array([TIME_MS]), "v": pa.array([np.zeros(1_000_000)])})
    assert path.stat().st_size < 2000
    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", None)
    with pytest.raises(DatasetError, match="at most 1,000,000 cells are allowed"):
        inspect(path)


def test_what_a_file_unpacks_to_counts_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.workloads.parquet_files.UNPACKED_BYTES_MAX", 1_000_000)
    path = written(tmp_path, {"t": pa.array(np.arange(200_000) + TIME_MS)})
    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", None)
    with pytest.raises(DatasetError, match=r"the file unpacks to \d,\d+,\d+ bytes; at most 1,000,000 are allowed; upload a sample of it"):
        inspect(path)


def test_the_files_of_texts_are_small(tmp_path: Path) -> None:
    assert texts(tmp_path, 3000, 1_000_000).stat().st_size < 15_000


def test_long_texts_that_are_shared_are_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.workloads.parquet_files.BATCH_TEXT_BYTES", 100_000)
    path = texts(tmp_path, 50, 30_000)
    table = read(path)
    assert (table.num_rows, max(len(chunk) for chunk in table["s"].chunks)) == (50, 3)
    assert table["s"].to_pylist() == ["x" * 30_000] * 50
    assert table["t"].to_pylist() == [TIME_MS + n for n in range(50)]


def test_what_is_wrong_in_a_later_batch_has_its_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.workloads.parquet_files.BATCH_ROWS", 7)
    times = pa.array(np.arange(40) + TIME_MS)
    numbers = np.ones(40)
    numbers[30] = np.nan
    cases = {
        "column 'c' has nan in row 31": pa.array(numbers),
        "column 'c' (int64) has no value in 2 of 40 rows, first in row 31": pa.array([None if n in (30, 38) else n for n in range(40)]),
        "column 'c' has 9223372036854775808 in row 31": pa.array([2**63 if n == 30 else n for n in range(40)], pa.uint64()),
        "column 'c' has 2 numbers in row 1 and 3 in row 31": pa.array([[1.0] * (3 if n == 30 else 2) for n in range(40)]),
        "column 'c2' has no number in row 31": pa.array([[1.0, None if n == 30 else 2.0] for n in range(40)]),
        "column 'c' has a vector with a missing number in row 31": pa.array([[None if n == 30 else 1.0, *[2.0] * 50] for n in range(40)]),
        "column 'c' has a text of 70,000 bytes in row 31": pa.array(["x" * (70_000 if n == 30 else 1) for n in range(40)]),
    }
    for message, column in cases.items():
        with pytest.raises(DatasetError) as raised:
            inspect(written(tmp_path, {"t": times, "c": column}))
        assert message in str(raised.value)
    spoilt = written(tmp_path, {"c": pa.array(["abc" if n == 30 else "2026-01-01" for n in range(40)]), "b": pa.array(["x"] * 40)})
    with pytest.raises(DatasetError, match="column 'c' has 'abc' in row 31, which is not a timestamp like the others"):
        inspect(spoilt)


def test_texts_are_times_only_if_all_batches_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.workloads.parquet_files.BATCH_ROWS", 7)
    days = [f"2026-01-{n % 28 + 1:02}" for n in range(40)]
    columns = {"t": pa.array(np.arange(40) + TIME_MS), "all": pa.array(days), "most": pa.array([*days[:39], "x"])}
    assert [field.type for field in inspect(written(tmp_path, columns)).schema.fields] == ["int", "timestamp", "string"]


@pytest.mark.parametrize("type", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())])
def test_texts_of_all_kinds(tmp_path: Path, type: pa.DataType) -> None:
    names = pa.array(["a", None, "b.c"], pa.string()).cast(type)
    table = read(written(tmp_path, {"t": pa.array([TIME_MS] * 3), "s.t": names}))
    assert (table["s.t"].type, table["s.t"].to_pylist()) == (pa.string(), ["a", "", "b.c"])


def test_a_file_is_read_once_for_all_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file without event time is searched for the value that spoils a column of times."""
    opened = 0
    rows = text.TextFile.rows

    def counted(*arguments):
        nonlocal opened
        opened += 1
        return rows(*arguments)

    monkeypatch.setattr(text.TextFile, "rows", counted)
    found = []
    for columns in (2, 50):
        header = ",".join(f"c{n}" for n in range(columns))
        path = csv(tmp_path, "\n".join([header, *(",".join([cell] * columns) for cell in ("2026-01-01", "2026-01-02", "x"))]))
        opened = 0
        with pytest.raises(DatasetError, match=r"column 'c0' has 'x' in line 4"):
            to_parquet(path, tmp_path / "normal.parquet")
        found.append(opened)
    assert found[0] == found[1] <= 4


def test_a_preview_says_that_a_text_is_too_long() -> None:
    content = f"t,s\n2026-01-01,a\n2026-01-01,{'x' * 70_000}\n".encode()
    [problem] = preview_text(content, True, Choices()).problems
    assert (problem["pointer"], problem["line"], problem["column"]) == ("/columns/1/type", 3, "s")
    assert "column 's' has a text of 70,000 bytes in row 2" in problem["message"]
