"""The functions' descriptions are right, and what the published queries filter and compute can be said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter

from engine.spec import RecordSchema, parse
from engine.spec.experiment.streams import AnyStream
from engine.spec.expressions.functions import INSTEAD
from engine.spec.expressions.parser import FUNCTIONS
from tests.support.expressions import run
from tests.workloads.made import columns

FIELDS = RecordSchema.of(
    a="int", b="int", price="float", dx="float", dy="float", longitude="float", seconds_left="float", count="int", created_ms="int",
    name="string", email="string", title="string", city="string", state="string", user="int", ad="int", query="int", time="timestamp",
)  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=lambda function: function.name)
def test_a_function_says_what_it_takes(function):
    assert parse(function.example, FIELDS)
    assert f"{function.name}(" in function.example
    assert function.help[-1] in ".?"
    assert function.group
    counts = {(len(signature.parameters), signature.repeated) for signature in function.signatures}
    assert len(counts) == 1
    for signature in function.signatures:
        values = {"int": "7", "float": "a / b", "bool": "a > b", "string": "name", "timestamp": "time", "any": "price"}
        constants = {"int": "7", "string": "'x'"}
        arguments = [(constants if parameter.constant else values)[parameter.type] for parameter in signature.parameters]
        expression = parse(f"{function.name}({', '.join(arguments)})", FIELDS)
        assert expression.type == signature.result
        written = [
            f"{parameter.name}: {'constant ' if parameter.constant else ''}{parameter.type}" for parameter in signature.parameters
        ] + ["..."] * signature.repeated
        assert signature.text == f"({', '.join(written)}) -> {signature.result}"


def test_no_function_has_a_stand_in():
    assert not set(INSTEAD) & set(FUNCTIONS)


STREAMS = (
    # stream, expression, what share of the records (None: it is no condition)
    ("nexmark_bid", "price * 0.82", None),  # Q1
    ("nexmark_bid", "auction % 123 == 0", (0.0, 0.05)),  # Q2
    ("nexmark_bid", "auction in (1007, 1020, 2001, 2019, 2087)", (0.0, 0.2)),
    ("nexmark_person", "state in ('OR', 'ID', 'CA')", (0.45, 0.55)),  # Q3
    ("nexmark_auction", "category == 10", (0.15, 0.25)),
    ("nexmark_auction", "time < expires <= time + minutes(2)", (1.0, 1.0)),  # Q4
    ("nexmark_bid", "'day' if 8 <= hour(time) <= 18 else 'night' if hour(time) <= 6 or hour(time) >= 20 else 'other'", None),  # Q14
    ("nexmark_person", "endswith(email, '.com') or length(name) > 12", None),
    ("yahoo_event", "event_type == 'view'", (0.3, 0.37)),
    ("yahoo_event", "ad // 10", None),
    ("ad_click", "not startswith(url, '---')", (1.0, 1.0)),
    ("ad_impression", "hash(ad, query)", None),
    ("sensor_reading", "temperature != -1 and temperature > 27.0", None),
    ("smart_plug_reading", "house * 100 + household", None),
    ("taxi_trip", "distance_miles > 0 and fare > 2.5 and dropoff > pickup and -75 < pickup_longitude < -72", (0.95, 0.99)),
    ("taxi_trip", "floor((pickup_longitude + 74.913585) / 0.005986) + 300 * floor((41.474937 - pickup_latitude) / 0.00449)", None),
    ("taxi_trip", "distance_miles / ((dropoff - pickup) / hours(1)) if dropoff > pickup else 0", None),
    ("taxi_trip", "like(payment, 'C%') and weekday(pickup) <= 5", None),
    ("linear_road_report", "lane != 4 and speed < 40", None),
    ("linear_road_report", "(xway * 2 + direction) * 100 + segment", None),
    ("linear_road_report", "position // 5280 == segment", None),
)


@pytest.mark.parametrize(("kind", "text", "share"), STREAMS, ids=[text for _, text, _ in STREAMS])
def test_what_published_queries_say_of_their_streams(kind: str, text: str, share: tuple[float, float] | None) -> None:
    count = 1500
    decoded = columns({"kind": kind}, count, event_ns=np.arange(count) * 1_000_000)
    schema = TypeAdapter(AnyStream).validate_python({"kind": kind}).record_schema()
    rows = [dict(zip(decoded, row, strict=True)) for row in zip(*(np.asarray(column).tolist() for column in decoded.values()), strict=True)]
    results = run(text, schema, rows, "compiled")
    assert sum(errors for _, errors, _ in results) == 0
    if share is not None:
        assert parse(text, schema).type == "bool"
        assert share[0] <= sum(word for word, _, _ in results) / count <= share[1]


LINEAR_ROAD_TOLL = "2 * (cars - 50) * (cars - 50) if speed < 40 and cars > 50 and not accident else 0"
NEXMARK_Q7 = "price == highest and window_end - seconds(10) < time <= window_end"
RESULTS: tuple[tuple[dict[str, Any], str, str], ...] = (
    ({"cars": "int", "speed": "float", "accident": "bool"}, LINEAR_ROAD_TOLL, "int"),
    ({"price": "int", "highest": "int", "time": "timestamp", "window_end": "timestamp"}, NEXMARK_Q7, "bool"),
    ({"bids": "int", "most": "int"}, "bids >= most", "bool"),  # NexMark Q5
    ({"mean": "float"}, "mean > 27.0", "bool"),  # spike detection
    ({"x": "float", "y": "float"}, "sqrt((x - 0.5) * (x - 0.5) + y * y) / 2", "float"),  # distance of a point
    ({"f0": "int", "f4": "int"}, "f0 < 50 and not f4 >= 20", "bool"),  # ad-hoc queries
    ({"i": "int", "d": "float", "s": "string"}, "i <= -3 or d > 0.02 or s != 'a' and s >= '7'", "bool"),  # synthetic filters
    ({"s": "string"}, "not endswith(s, 'f') and not startswith(s, '0') and contains(s, '5')", "bool"),
)


@pytest.mark.parametrize(("fields", "text", "type"), RESULTS, ids=[text for _, text, _ in RESULTS])
def test_what_published_queries_say_of_results(fields: dict[str, Any], text: str, type: str) -> None:
    assert parse(text, RecordSchema.of(**fields)).type == type
