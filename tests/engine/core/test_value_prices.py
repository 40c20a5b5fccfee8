"""What values cost (docs/event-core.md, section 3.3): services worked out by hand, and what changes them."""

from __future__ import annotations

import math
from typing import Any

import pytest

from engine.core import layout as L
from engine.lowering.prices import serialises
from engine.prices import PRICE_LISTS
from engine.spec import load
from engine.spec.expressions.parser import parse
from engine.spec.rules.validation import schemas

from ...support.agreement import assert_agreement, traced
from ...support.corner_cases import bids, document, host, watermarks

VALUES = PRICE_LISTS["costream_2024"].values
BID_VALUES = 4
PARSED_US, SENT_US, RECEIVED_US = 3.0, 5.0, 5.0  # per value

Document = dict[str, Any]
ONE_HOST = {"bids": ["edge"], "keep": ["edge"], "sink": ["edge"]}


def chain(
    places: dict[str, list[str]], partitioning: Document, predicate: str = "bidder % 2 >= 0", keepers: int = 1, stream: str = "nexmark_bid"
) -> Document:
    operators = [
        {"id": "bids", "kind": "source"},
        {"id": "keep", "kind": "filter", "parallelism": keepers, "params": {"predicate": predicate}},
        {"id": "sink", "kind": "sink"},
    ]
    edges = [
        {"source": "bids", "target": "keep", "partitioning": partitioning},
        {"source": "keep", "target": "sink", "partitioning": {"kind": "rebalance"}},
    ]
    hosts = [host("edge"), host("cloud")]
    placement = {"kind": "explicit", "hosts": places}
    return document(operators, edges, hosts, {"bids": bids(1000, stream={"kind": stream})}, prices="costream_2024", placement=placement)


def record_services_us(experiment: Document) -> dict[str, set[float]]:
    """How long records are served, by operator, us."""
    simulation = traced(experiment)
    inst = simulation._world.arrays.inst
    ids = [operator["id"] for operator in experiment["query"]["operators"]]
    found: dict[str, set[float]] = {id: set() for id in ids}
    for i, start_ns, end_ns, kind in simulation.service_trace().tolist():
        if kind == L.RECORD:
            found[ids[inst[i, L.I_OP]]].add((end_ns - start_ns) / 1000)
    return found


def test_the_records_of_the_example_have_four_values() -> None:
    experiment = load(chain({"bids": ["edge"], "keep": ["cloud"], "sink": ["cloud"]}, {"kind": "rebalance"}))
    assert len(schemas(experiment)["bids.out"].fields) == BID_VALUES


def test_a_service_by_hand() -> None:
    """A source reads and parses its values, a filter compares two ints; the link between them costs both ends."""
    apart = record_services_us(chain({"bids": ["edge"], "keep": ["cloud"], "sink": ["cloud"]}, {"kind": "rebalance"}))
    assert apart == {
        "bids": {125 + 20 + BID_VALUES * (PARSED_US + SENT_US)},
        "keep": {10 + 1 + 20 + BID_VALUES * RECEIVED_US},
        "sink": {25.0},
    }
    together = record_services_us(chain({"bids": ["edge"], "keep": ["edge"], "sink": ["cloud"]}, {"kind": "rebalance"}))
    assert together == {
        "bids": {125 + 20 + BID_VALUES * PARSED_US},
        "keep": {10 + 1 + 20 + BID_VALUES * SENT_US},
        "sink": {25 + BID_VALUES * RECEIVED_US},
    }


def test_whoever_chooses_among_receivers_pays_for_the_share_that_is_away() -> None:
    """Two of three receivers are away: a record costs two thirds of what its values cost, rounded down; a copy for each costs both."""
    places = {"bids": ["edge"], "keep": ["edge", "cloud", "cloud"], "sink": ["cloud"]}
    own_us = 125 + 20 + BID_VALUES * PARSED_US
    two_thirds = BID_VALUES * SENT_US * 2 / 3
    for partitioning in ({"kind": "rebalance"}, {"kind": "hash", "key": "bidder"}):
        assert record_services_us(chain(places, partitioning, keepers=3))["bids"] == {math.ceil(1000 * (own_us + two_thirds)) / 1000}
    assert record_services_us(chain(places, {"kind": "broadcast"}, keepers=3))["bids"] == {own_us + BID_VALUES * SENT_US * 2}


def test_own_prices_replace_what_is_listed_for_records_but_not_the_link() -> None:
    experiment = chain({"bids": ["edge"], "keep": ["cloud"], "sink": ["cloud"]}, {"kind": "rebalance"})
    experiment["query"]["operators"][1]["cost"] = {"record_us": 50}
    assert record_services_us(experiment)["keep"] == {50 + 20 + BID_VALUES * RECEIVED_US}


@pytest.mark.parametrize(
    ("predicate", "types"),
    [
        ("True", ()),
        ("id > 3", ("int",)),
        ("3 <= id < 9.5", ("int", "float")),
        ("state != 'OR' and startswith(name, 'A')", ("string", "string")),
        ("not contains(name, 'q') or city in ('a', 'b', 'c')", ("string", "string")),
        ("length(name) * id > 100 if id == 1 else False", ("int", "int")),
    ],
)
def test_comparisons_of_a_predicate(predicate: str, types: tuple[str, ...]) -> None:
    experiment = chain(ONE_HOST, {"kind": "rebalance"}, predicate, stream="nexmark_person")
    schema = schemas(load(experiment))["bids.out"]
    assert sorted(parse(predicate, schema).comparisons) == sorted(types)
    us = {"int": 1.0, "float": 1.5, "string": 3.0}
    assert record_services_us(experiment)["keep"] <= {round(10 + sum(us[type] for type in types) + emitted, 3) for emitted in (0, 20)}


def windowed(kind: str, **params: Any) -> Document:
    window = {"kind": "tumbling", "size_s": 0.004, "clock": "event"}
    inputs = ["bids"] if kind == "aggregate" else ["bids", "others"]
    ports = [{}] if kind == "aggregate" else [{"target_port": "left"}, {"target_port": "right"}]
    return document(
        [
            *({"id": id, "kind": "source"} for id in inputs),
            {"id": "window", "kind": kind, "params": {"window": window, **params}},
            {"id": "sink", "kind": "sink"},
        ],
        [
            *(
                {"source": id, "target": "window", "partitioning": {"kind": "rebalance"}, **port}
                for id, port in zip(inputs, ports, strict=True)
            ),
            {"source": "window", "target": "sink"},
        ],
        [host("edge")],
        {id: bids(2000, watermarks=watermarks(1)) for id in inputs},
        prices="costream_2024",
        horizon_s=0.02,
    )


@pytest.mark.parametrize(
    ("experiment", "insert_us", "read_us"),
    [
        (windowed("aggregate", key="bidder", emit="on_close", evaluation="at_firing"), 15 + 1, 1.5),
        (windowed("window_join", left_key="auction", right_key="auction"), 15 + 1, 7.5),
    ],
    ids=["aggregate", "window_join"],
)
def test_a_firing_pays_for_every_record_of_its_windows(experiment: Document, insert_us: float, read_us: float) -> None:
    """All that was stored is read once: services of records, watermarks and firings add up to the hosts' busy time."""
    oracle = assert_agreement(experiment)
    simulation = traced(experiment)
    counts = simulation.summary()["operators"]["window"]
    number = [operator["id"] for operator in experiment["query"]["operators"]].index("window")
    first = int(simulation._world.arrays.op[number, L.O_FIRST])
    services = [(end_ns - start_ns, kind) for i, start_ns, end_ns, kind in simulation.service_trace().tolist() if i == first]
    watermarks_served = sum(kind != L.RECORD for _, kind in services)
    assert counts["in"] > 30
    assert oracle.served["window"] == counts["in"]
    work_us = counts["in"] * (insert_us + read_us) + counts["out"] * 20 + watermarks_served * 25
    assert sum(lasts_ns for lasts_ns, _ in services) / 1000 == pytest.approx(work_us, abs=0.001 * len(services))


def test_only_lists_with_prices_of_values_serialise() -> None:
    experiment = chain({"bids": ["edge"], "keep": ["cloud"], "sink": ["cloud"]}, {"kind": "rebalance"})
    assert [name for name in PRICE_LISTS if serialises(load(experiment | {"prices": name}))] == ["costream_2024", "costream_2024_changed"]
