"""Files as streams: order, own times, speeds, and every value as the file has it."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from engine.spec.base.problems import Refusal
from engine.workloads import Strings

from .documents import DATA, feed

SECOND = 10**9
START = datetime(2026, 1, 1)  # noqa: DTZ001 - files may hold times without a zone


@pytest.fixture
def data(tmp_path):
    """Five rows out of order, two of them at the same time."""
    seconds = [3, 0, 1, 3, 2]
    table = pa.table(
        {
            "t": [START + timedelta(seconds=second) for second in seconds],
            "other": [START + timedelta(seconds=second, milliseconds=5) for second in seconds],
            "epoch": [1_800_000_000 + second for second in seconds],
            "i": [30, 0, 10, 31, 20],
            "f": [3.5, -0.0, 1e-300, -7.25, 2.0],
            "b": [True, False, True, False, True],
            "s": ["c", "a", "b", "a", "ü"],
        }
    )
    parquet.write_table(table, tmp_path / "small.parquet")
    return tmp_path


def source(rate: dict | None = None, **stream) -> dict:
    return {
        "stream": {"kind": "file", "dataset": "small", "timestamp": "t", **stream},
        "rate": rate or {"kind": "recorded", "speed": 1.0},
    }


def test_rows_come_in_the_order_of_their_times_with_every_value_as_it_was(data):
    strings = Strings(["x"])
    made = feed(source(), data=data, horizon_s=10.0, strings=strings)
    chunk = made.chunk(0, 10 * SECOND)
    assert chunk.append_ns.tolist() == chunk.event_ns.tolist() == [0, SECOND, 2 * SECOND, 3 * SECOND, 3 * SECOND]
    columns = dict(zip(made.schema.names, chunk.words.T, strict=True))
    assert columns["t"].tolist() == chunk.event_ns.tolist()
    assert (columns["other"] - columns["t"]).tolist() == [5_000_000] * 5  # on the clock of the first record, too
    assert columns["epoch"].tolist() == [1_800_000_000 + second for second in (0, 1, 2, 3, 3)]
    assert columns["i"].tolist() == [0, 10, 20, 30, 31]  # ties keep the file's order
    assert np.ascontiguousarray(columns["f"]).view(np.float64).tolist() == [0.0, 1e-300, 2.0, 3.5, -7.25]
    assert np.signbit(np.ascontiguousarray(columns["f"]).view(np.float64)[0])
    assert columns["b"].tolist() == [0, 1, 1, 1, 0]
    assert strings.texts(columns["s"]) == ["a", "b", "ü", "c", "a"]
    assert strings.as_list() == ["x", "c", "a", "b", "ü"]  # as they come in the file
    assert [field.type for field in made.schema.fields] == ["timestamp", "timestamp", "int", "int", "float", "bool", "string"]


def test_a_whole_number_column_can_be_the_clock(data):
    made = feed(source(timestamp="epoch", columns=["i", "epoch"]), data=data, horizon_s=10.0)
    chunk = made.chunk(0, 10 * SECOND)
    assert chunk.words.tolist() == [[0, 0], [10, SECOND], [20, 2 * SECOND], [30, 3 * SECOND], [31, 3 * SECOND]]
    assert [(field.name, field.type) for field in made.schema.fields] == [("i", "int"), ("epoch", "timestamp")]


def test_the_timestamp_column_need_not_be_read(data):
    chunk = feed(source(columns=["i"]), data=data, horizon_s=10.0).chunk(0, 10 * SECOND)
    assert chunk.words.tolist() == [[0], [10], [20], [30], [31]]
    assert chunk.event_ns.tolist() == [0, SECOND, 2 * SECOND, 3 * SECOND, 3 * SECOND]


@pytest.mark.parametrize(("speed", "last_ns"), [(1.0, 3 * SECOND), (2.0, 3 * SECOND // 2), (0.5, 6 * SECOND), (7.0, 428_571_428)])
def test_a_speed_moves_the_records_and_leaves_their_event_times(data, speed, last_ns):
    made = feed(source({"kind": "recorded", "speed": speed}), data=data, horizon_s=10.0)
    chunk = made.chunk(0, 10 * SECOND)
    assert chunk.append_ns[-1] == made.closes_ns == last_ns
    assert chunk.event_ns.tolist() == [0, SECOND, 2 * SECOND, 3 * SECOND, 3 * SECOND]


def test_a_rate_replays_the_rows_evenly_until_they_end(data):
    made = feed(source({"kind": "constant", "per_s": 2.0}), data=data, horizon_s=10.0)
    assert made.chunk(0, 10 * SECOND).append_ns.tolist() == [0, SECOND // 2, SECOND, 3 * SECOND // 2, 2 * SECOND]
    assert (made.count, made.closes_ns) == (5, 2 * SECOND)


def test_the_horizon_cuts_a_file_off(data):
    made = feed(source(), data=data, horizon_s=3.0)
    assert len(made.chunk(0, 10 * SECOND)) == made.count == 3
    assert made.closes_ns == 3 * SECOND


@pytest.mark.slow
def test_disorder_moves_records_back_and_keeps_their_own_times():
    disorder = {"kind": "uniform", "max_ms": 600_000.0}
    stream = {"kind": "file", "dataset": "flights", "timestamp": "time"}
    made = feed({"stream": stream, "rate": {"kind": "recorded", "speed": 1000.0}, "disorder": disorder}, horizon_s=1e4)
    chunk = made.chunk(0, 10**13)
    late = np.maximum.accumulate(chunk.event_ns) - chunk.event_ns
    assert 500 * SECOND < late.max() <= 600 * SECOND
    delays = chunk.append_ns * 1000 - chunk.event_ns
    assert delays.min() > -1000  # rounded down to a nanosecond of virtual time
    assert delays.max() <= 600 * SECOND
    in_order = feed({"stream": stream, "rate": {"kind": "recorded", "speed": 1000.0}}, horizon_s=1e4).chunk(0, 10**13)
    assert sorted(map(tuple, chunk.words.tolist())) == sorted(map(tuple, in_order.words.tolist()))


def test_the_flights_are_what_the_file_holds():
    strings = Strings()
    stream = {"kind": "file", "dataset": "flights", "timestamp": "time", "columns": ["origin", "delay"]}
    made = feed({"stream": stream, "rate": {"kind": "recorded", "speed": 24_000.0}}, horizon_s=30.0, strings=strings)
    chunk = made.chunk(0, 30 * SECOND)
    table = parquet.read_table(DATA / "flights.parquet")
    assert len(chunk) == table.num_rows == 113_493
    assert (DATA / "flights.parquet").stat().st_size < 2_000_000
    assert chunk.words[:, 1].tolist() == table["delay"].to_pylist()  # many flights share a minute and keep their order
    totals = np.zeros(len(strings), np.int64)
    np.add.at(totals, chunk.words[:, 0], chunk.words[:, 1])
    grouped = table.group_by("origin").aggregate([("delay", "sum")]).to_pydict()
    assert dict(zip(strings.as_list(), totals.tolist(), strict=True)) == dict(zip(grouped["origin"], grouped["delay_sum"], strict=True))


@pytest.mark.parametrize(
    ("changes", "at"),
    [({"dataset": "missing"}, ("dataset",)), ({"timestamp": "s"}, ("timestamp",)), ({"columns": ["i", "nothing"]}, ("columns", 1))],
)
def test_a_stream_that_does_not_fit_its_file_is_refused(data, changes, at):
    with pytest.raises(Refusal) as raised:
        feed(source(**changes), data=data)
    assert raised.value.at == ("stream", *at)
