"""Engines that cannot be: where, what, and what would be right."""

from __future__ import annotations

from typing import Any

import pytest

from engine.spec import validate

from ..support.engine_examples import windowed_sum


def made(**parts: Any) -> dict[str, Any]:
    return windowed_sum(1e5) | parts


def policies(**policies: Any) -> dict[str, Any]:
    return made(policies={"engine": {"kind": "flink"}} | policies)


def hosts(**host: Any) -> dict[str, Any]:
    document = made()
    document["cluster"]["hosts"][0] |= host
    return document


def trunk() -> dict[str, Any]:
    document = made()
    document["cluster"]["trunks"] = [{"name": "driver", "mbit_per_s": 1000, "sources": ["w1"]}]
    return document


def receiver() -> dict[str, Any]:
    document = made()
    document["query"]["operators"][1]["id"] = "purchases-receiver"
    for edge, end in ((0, "target"), (1, "source")):
        document["query"]["edges"][edge][end] = "purchases-receiver"
    return document


def long_ids() -> dict[str, Any]:
    document = made()
    names = ["p" * 60 + end for end in ("a", "b")]
    (source, *others), (first, *edges) = document["query"]["operators"], document["query"]["edges"]
    document["query"] = {
        "operators": [*(source | {"id": name} for name in names), *others],
        "edges": [*(first | {"source": name} for name in names), *edges],
    }
    document["workload"]["sources"] = dict.fromkeys(names, document["workload"]["sources"]["purchases"])
    return document


def started(kind: str, **start: float) -> dict[str, Any]:
    """A query that starts while the engine runs."""
    document = made(policies={"engine": {"kind": kind}})
    document["query"]["queries"] = [{"name": "sums", "operators": ["purchases", "sum", "sink"], **start}]
    return document


def driver(**driver: Any) -> dict[str, Any]:
    return made(policies={"engine": {"kind": "flink", "driver": driver}})


def storm(**fields: Any) -> dict[str, Any]:
    return made(policies={"engine": {"kind": "storm"} | fields})


def spark(**parts: Any) -> dict[str, Any]:
    """parts: of the document."""
    return made(policies={"engine": {"kind": "spark"}}) | parts


def of_spark(**fields: Any) -> dict[str, Any]:
    return spark(policies={"engine": {"kind": "spark"} | fields})


def summed_by(kind: str = "aggregate", id: str = "sum", **params: Any) -> dict[str, Any]:
    """Under Spark, with another operator in place of the sum, or other parameters of it."""
    document = spark()
    total = document["query"]["operators"][1]
    total |= {"id": id, "kind": kind, "params": {} if kind != "aggregate" else total["params"] | params}
    for edge, end in ((0, "target"), (1, "source")):
        document["query"]["edges"][edge][end] = id
    return document


def sum_of_each_block() -> dict[str, Any]:
    """Its only instance takes the records of the only instance of the source."""
    document = of_spark(block_ms=250)
    for operator in document["query"]["operators"]:
        operator["parallelism"] = 1
    del document["query"]["edges"][0]["partitioning"]
    return document


def window(**fields: Any) -> dict[str, Any]:
    return summed_by(window={"kind": "sliding", "size_s": 8, "slide_s": 4} | fields)


def with_edge(**fields: Any) -> dict[str, Any]:
    document = spark()
    document["query"]["edges"][1] |= fields
    return document


def spark_hosts(**host: Any) -> dict[str, Any]:
    return hosts(memory_mb=32_000, **host) | {"policies": {"engine": {"kind": "spark"}}}


def structured(**fields: Any) -> dict[str, Any]:
    """Under Structured Streaming, with a source of its watermarks."""
    document = made(policies={"engine": {"kind": "spark_structured"} | fields})
    document["workload"]["sources"]["purchases"]["watermarks"] = {"kind": "bounded", "lag_ms": 0}
    return document


def summed_in_batches(id: str = "sum", kind: str = "aggregate", **params: Any) -> dict[str, Any]:
    document = structured()
    total = document["query"]["operators"][1]
    total |= {"kind": kind, "params": (total["params"] if kind == "aggregate" else {"key": "gem_pack", "gap_s": 3}) | params}
    document["query"]["operators"][2] |= {"id": id} if id != "sum" else {}
    document["query"]["edges"][1]["target"] = document["query"]["operators"][2]["id"]
    return document


def source_of_batches(**fields: Any) -> dict[str, Any]:
    document = structured()
    document["workload"]["sources"]["purchases"] |= fields
    return document


AT = "/policies"
WINDOW = "/query/operators/1/params/window"
CASES = {
    "an unknown engine": (made(policies={"engine": {"kind": "heron"}}), f"{AT}/engine/kind", ["heron", "flink"]),
    "no hosts for the driver": (driver(hosts=0), f"{AT}/engine/driver/hosts", ["0"]),
    "no trunk": (driver(trunk_mbit_per_s=0), f"{AT}/engine/driver/trunk_mbit_per_s", ["0"]),
    "a protocol that it does not have": (
        policies(checkpointing={"kind": "uncoordinated", "interval_s": 3}),
        f"{AT}/checkpointing/kind",
        ["uncoordinated", "Flink", "coordinated"],
    ),
    "an autoscaler": (policies(scaling={"kind": "ds2"}), f"{AT}/scaling/kind", ["ds2", "Flink", "none"]),
    "a scheduler": (policies(scheduling={"kind": "fcfs"}), f"{AT}/scheduling/kind", ["fcfs", "Flink"]),
    "an ingress policy": (policies(ingress={"kind": "throttle", "queued_max": 10}), f"{AT}/ingress/kind", ["throttle", "read"]),
    "prices of something else": (made(prices="klink_2020"), "/prices", ["klink_2020", "flink_2020"]),
    "a host of the driver's name": (hosts(name="driver"), "/cluster/hosts/0/name", ["driver"]),
    "a trunk of the driver's name": (trunk(), "/cluster/trunks/0/name", ["driver"]),
    "two sources whose receivers would have one name": (long_ids(), f"/workload/sources/{'p' * 60}b", ["receiver", "shorter"]),
    "a query submitted to Flink while it runs": (started("flink", start_s=3), "/query/queries/0/start_s", ["sums", "Flink", "3", "0 s"]),
    "a query submitted to Storm while it runs": (started("storm", start_s=3), "/query/queries/0/start_s", ["sums", "Storm", "0 s"]),
    "queries submitted to Spark while it runs": (
        started("spark", start_within_s=2),
        "/query/queries/0/start_within_s",
        ["sums", "Spark", "2", "0 s"],
    ),
    "a low mark that is not below the high one": (storm(low=0.9), f"{AT}/engine/low", ["0.9", "high mark"]),
    "a high mark above the queue": (storm(high=1.1), f"{AT}/engine/high", ["1.1"]),
    "a queue of nothing": (storm(queue=1), f"{AT}/engine/queue", ["1", "2"]),
    "a check at no time": (storm(check_ms=0), f"{AT}/engine/check_ms", ["0"]),
    "bounded queues in Storm": (
        made(policies={"engine": {"kind": "storm"}, "flow_control": {"kind": "credits"}}),
        f"{AT}/flow_control/kind",
        ["credits", "switch"],
    ),
    "checkpoints in Storm": (
        made(policies={"engine": {"kind": "storm"}, "checkpointing": {"kind": "coordinated", "interval_s": 3}}),
        f"{AT}/checkpointing/kind",
        ["coordinated", "Storm"],
    ),
    "a batch of no time": (of_spark(batch_s=0), f"{AT}/engine/batch_s", ["0"]),
    "blocks that do not fill a batch": (of_spark(block_ms=300), f"{AT}/engine/block_ms", ["300", "4 s", "multiple"]),
    "a block of no time": (of_spark(block_ms=0), f"{AT}/engine/block_ms", ["0"]),
    "more blocks than tasks": (of_spark(block_ms=2), f"{AT}/engine/block_ms", ["2", "4,000", "purchases", "longer"]),
    "a sum of each block": (sum_of_each_block(), "/query/edges/0/partitioning", ["forward", "sum", "hash"]),
    "a window of one and a half batches": (window(size_s=6), f"{WINDOW}/size_s", ["6", "4 s", "whole batches"]),
    "a slide of half a batch": (window(slide_s=2), f"{WINDOW}/slide_s", ["2", "multiple"]),
    "a window that begins within a batch": (window(origin_s=1), f"{WINDOW}/origin_s", ["1", "multiple"]),
    "a window that ends at a time in the records": (
        summed_by(window={"kind": "until", "field": "time"}),
        f"{WINDOW}/kind",
        ["until", "tumbling"],
    ),
    "sessions in Spark": (summed_by("session_aggregate"), "/query/operators/1/kind", ["session_aggregate", "Spark", "aggregate"]),
    "a status that is faster than the network": (
        of_spark(status_ms=0.2, driver={"egress_latency_ms": 0.3}),
        f"{AT}/engine/status_ms",
        ["0.2", "0.3"],
    ),
    "bounded channels in Spark": (
        spark(policies={"engine": {"kind": "spark"}, "flow_control": {"kind": "credits"}}),
        f"{AT}/flow_control/kind",
        ["credits", "batches"],
    ),
    "an edge of a capacity in Spark": (with_edge(capacity=5), "/query/edges/1/capacity", ["capacity", "batches"]),
    "checkpoints in Spark": (
        spark(policies={"engine": {"kind": "spark"}, "checkpointing": {"kind": "coordinated", "interval_s": 3}}),
        f"{AT}/checkpointing/kind",
        ["coordinated", "Spark"],
    ),
    "a lost host in Spark": (
        spark(faults=[{"kind": "host_loss", "host": "w1", "when": {"kind": "at", "at_s": 3}}]),
        "/faults/0/kind",
        ["executors"],
    ),
    "a host that restarts in Spark": (
        spark_hosts(memory={"kind": "klink_2020", "on_full": "die", "restart_after_s": 3}),
        "/cluster/hosts/0/memory/restart_after_s",
        ["executors"],
    ),
    "an operator that Spark puts behind a receiver": (
        summed_by(id="purchases-read"),
        "/query/operators/1/id",
        ["purchases-read", "source"],
    ),
    "a micro-batch of nothing": (structured(records_max=0), f"{AT}/engine/records_max", ["0"]),
    "a trigger before the last one": (structured(trigger_s=-1), f"{AT}/engine/trigger_s", ["-1"]),
    "an operator that Structured Streaming does not have": (
        summed_in_batches(kind="count_window_aggregate"),
        "/query/operators/1/kind",
        ["count_window_aggregate", "Structured", "session_aggregate"],
    ),
    "windows of processing time in Structured Streaming": (
        summed_in_batches(window={"kind": "tumbling", "size_s": 4, "clock": "processing"}),
        f"{WINDOW}/clock",
        ["event"],
    ),
    "results for each record in Structured Streaming": (
        summed_in_batches(emit="on_update"),
        "/query/operators/1/params/emit",
        ["append", "on_close"],
    ),
    "sessions with results for each record": (
        summed_in_batches(kind="session_aggregate", emit="on_update"),
        "/query/operators/1/params/emit",
        ["append", "on_close"],
    ),
    "watermarks of devices in Structured Streaming": (
        source_of_batches(watermarks={"kind": "device", "lag_ms": 0}),
        "/workload/sources/purchases/watermarks/kind",
        ["bounded"],
    ),
    "a generator that waits for Structured Streaming": (
        source_of_batches(generation={"kind": "coordinated"}),
        "/workload/sources/purchases/generation/kind",
        ["generator"],
    ),
    "an operator that Structured Streaming puts before a sum": (
        summed_in_batches(id="sum-combine"),
        "/query/operators/2/id",
        ["sum-combine", "aggregate"],
    ),
    "a lost host in Structured Streaming": (
        structured() | {"faults": [{"kind": "host_loss", "host": "w1", "when": {"kind": "at", "at_s": 3}}]},
        "/faults/0/kind",
        ["executors"],
    ),
    "prices of another engine": (structured() | {"prices": "spark_2020"}, "/prices", ["spark_2020", "spark_structured"]),
    "an operator of a receiver's name": (receiver(), "/query/operators/1/id", ["purchases-receiver", "purchases"]),
}


def test_storm_warns_of_a_scale_at_which_chance_throws_its_switch() -> None:
    for scale, warned in ((46, False), (47, True)):
        document = storm()
        document["workload"]["scale"] = scale
        found = [(one.pointer, one.severity) for one in validate(document)]
        assert found == ([("/workload/scale", "warning")] if warned else [])


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_it_is_refused_at_its_place(case: tuple[dict[str, Any], str, list[str]]) -> None:
    document, at, words = case
    problems = {problem.pointer: problem.message for problem in validate(document)}
    assert at in problems, problems
    assert all(word in problems[at] for word in words), problems[at]


def test_its_own_prices_may_be_named() -> None:
    assert validate(made(prices="flink_2020")) == []
    assert validate(made()) == []
