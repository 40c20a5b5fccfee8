"""Examples of docs/event-core.md, worked by hand, against the oracle: the twin itself must be right."""

from __future__ import annotations

from typing import Any

from engine.spec import Experiment
from tests.oracle import OracleResult, simulate
from tests.oracle.build import mix64

CLUSTER_OF_ONE = [{"name": "w"}]
DEDICATED = [{"name": "w", "processor": {"kind": "dedicated"}}]
COST = {"record_us": 10, "output_us": 0, "control_us": 5}


def pipeline(*, records: int, per_s: float, horizon_s: float = 0.001, hosts: list[dict[str, Any]] = CLUSTER_OF_ONE) -> dict[str, Any]:
    """source -> sink over one channel, so many records, drained; a record takes 10 us, a control element 5, a hand-over 1."""
    stop_s = (records - 0.5) / per_s
    return {
        "format": 1,
        "query": {
            "operators": [{"id": "bids", "kind": "source", "cost": dict(COST)}, {"id": "sink", "kind": "sink", "cost": dict(COST)}],
            "edges": [{"source": "bids", "target": "sink"}],
        },
        "cluster": {"local_latency_ns": 1000, "hosts": hosts},
        "workload": {
            "horizon_s": horizon_s,
            "drain": True,
            "sources": {
                "bids": {
                    "stream": {"kind": "nexmark_bid"},
                    "rate": {"kind": "steps", "steps": [{"at_s": 0, "per_s": per_s}, {"at_s": stop_s, "per_s": 0}]},
                }
            },
        },
        "measurement": {"latency": {"from": "append"}},
    }


def run(document: dict[str, Any]) -> OracleResult:
    return simulate(Experiment.model_validate(document))


def starts(result: OracleResult, instance: int, kind: int = 0) -> list[int]:
    return [start for number, start, _, of_kind in result.services if number == instance and of_kind == kind]


def test_one_record_takes_service_hand_over_and_service() -> None:
    result = run(pipeline(records=1, per_s=1000))
    assert result.services == [(0, 0, 10_000, 0), (1, 11_000, 21_000, 0)]
    assert [(d.end_ns, d.latency_ns, d.event_ns) for d in result.outputs["sink"]] == [(21_000, 21_000, 0)]


def test_a_shared_core_is_one_queue_by_ready_time() -> None:
    """Records at 0, 10, 20 us on one core: the second log record is ready at 10 us, the first one's message at 11 us, and so on."""
    result = run(pipeline(records=3, per_s=100_000))
    assert result.services == [
        (0, 0, 10_000, 0),
        (0, 10_000, 20_000, 0),
        (1, 20_000, 30_000, 0),  # ready at 11 us, before the log record of 20 us
        (0, 30_000, 40_000, 0),
        (1, 40_000, 50_000, 0),
        (1, 50_000, 60_000, 0),
    ]


def test_another_host_costs_bandwidth_and_latency() -> None:
    """100 bytes at 10 Mbit/s are 80 us; the second record is sent at 20 us and waits for the link until 90 us."""
    hosts = [{"name": "a", "egress_mbit_per_s": 10, "egress_latency_ms": 0.5}, {"name": "b"}]
    document = pipeline(records=2, per_s=100_000, hosts=hosts)
    document["placement"] = {"kind": "explicit", "hosts": {"bids": ["a"], "sink": ["b"]}}
    assert starts(run(document), 1) == [10_000 + 80_000 + 500_000, 90_000 + 80_000 + 500_000]


def test_the_second_record_on_a_channel_of_one_waits_for_the_credit_of_the_first() -> None:
    """The sink takes 100 us. It starts record 0 at 11 us, so the credit is back at 12 us and record 1, served until 20 us, goes at once.

    Record 1 starts there at 111 us, so record 2, served until 30 us, may go at 112 us, and the source, blocked from 30 us on, takes its
    fourth record only then. That one is served until 122 us and waits for the start of record 2 at 211 us.
    """
    document = pipeline(records=4, per_s=100_000, hosts=DEDICATED)
    document["policies"] = {"flow_control": {"kind": "credits", "per_channel": 1}}
    document["query"]["operators"][1]["cost"]["record_us"] = 100
    result = run(document)
    assert starts(result, 0) == [0, 10_000, 20_000, 112_000]
    assert starts(result, 1) == [11_000, 111_000, 211_000, 311_000]
    assert result.blocked_count == 2


WATERMARKS = {"kind": "bounded", "lag_ms": 0, "period_ms": 1}


def test_watermarks_follow_the_records_and_the_log_ends_with_the_largest() -> None:
    """Records at 0, 1 ms; ticks at 1, 2 ms; the end of the log at the horizon, 2 ms, after the tick of that time."""
    document = pipeline(records=2, per_s=1000, horizon_s=0.002, hosts=DEDICATED)
    document["workload"]["sources"]["bids"]["watermarks"] = WATERMARKS
    result = run(document)
    assert [(start, kind) for instance, start, _, kind in result.services if instance == 0] == [
        (0, 0),
        (1_000_000, 2),  # before the record of the same time: a tick is of a lower class
        (1_005_000, 0),
        (2_000_000, 2),
        (2_005_000, 3),
    ]
    # The first tick has seen event time 0 and sends watermark 0, the second 1 ms; then the end of the log.
    assert starts(result, 1, kind=1) == [1_006_000, 2_006_000, 2_011_000]


def test_panes_close_by_watermark_and_give_one_row_each() -> None:
    """Windows of 2 ms over records at 0, 1, 2, 3 ms: one row by the tick of 3 ms, which has seen 2 ms, one by the end of the log."""
    document = pipeline(records=4, per_s=1000, horizon_s=0.004, hosts=DEDICATED)
    window = {"kind": "tumbling", "size_s": 0.002, "clock": "event"}
    count = {"id": "count", "kind": "aggregate", "params": {"window": window, "emit": "on_close"}, "cost": COST | {"output_us": 7}}
    document["query"]["operators"].insert(1, count)
    document["query"]["edges"] = [{"source": "bids", "target": "count"}, {"source": "count", "target": "sink"}]
    document["workload"]["sources"]["bids"]["watermarks"] = WATERMARKS
    result = run(document)
    assert [d.values for d in result.outputs["sink"]] == [(0, 2_000_000, 2), (2_000_000, 4_000_000, 2)]
    assert [d.event_ns for d in result.outputs["sink"]] == [1_999_999, 3_999_999]
    # Tick 5, hand-over 1, watermark 5 and one output 7, hand-over 1, sink 10 us. The trigger is the pane's last record, of 1 ms.
    assert result.outputs["sink"][0].end_ns == 3_000_000 + 5_000 + 1_000 + 12_000 + 1_000 + 10_000
    assert result.outputs["sink"][0].latency_ns == result.outputs["sink"][0].end_ns - 1_000_000


def test_mix64_is_the_finaliser_of_splitmix64() -> None:
    """The first two numbers of splitmix64 with seed 0 are the mix of the golden ratio's multiples."""
    golden = 0x9E3779B97F4A7C15
    assert [mix64(golden), mix64(2 * golden % 2**64)] == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]
