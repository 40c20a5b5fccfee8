"""The online monitor in runs: what it measures, when it looks, and what a move costs (specification of Costream, 4.3 and 9, point 14).

What this catches: overhead by fiat. Nothing here is a constant that somebody wrote down: a shorter window, a faster restart and less state
make it shorter, since looks wait for measurements, and a move for its savepoint.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from ...support.agreement import finished, frames_of, simulated

Document = dict[str, Any]
CHAIN = ("source", "filter", "aggregate", "sink")


def spread(per_s: float = 2_000, keys: int = 1000, cores: float = 2, **monitor: Any) -> Document:
    """A chain over three hosts that fits into one."""
    aggregate = {"key": "key", "aggregates": [{"name": "n", "function": "count"}], "window": {"kind": "none"}, "emit": "on_update"}
    operators: list[Document] = [{"id": id, "kind": id} for id in CHAIN]
    operators[1]["params"] = {"predicate": "key >= 0"}
    operators[2]["params"] = aggregate
    host = {"processor": {"kind": "processor_sharing"}, "cores": cores, "egress_mbit_per_s": 100, "egress_latency_ms": 20}
    stream = {"kind": "synthetic", "keys": keys, "record_bytes": 100}
    policy = {"kind": "online_monitor", "start_s": 12, "window_s": 8, "sample_s": 4, "every_s": 8} | monitor
    return {
        "format": 1,
        "name": "spread",
        "query": {"operators": operators, "edges": [{"source": a, "target": b} for a, b in itertools.pairwise(CHAIN)]},
        "cluster": {"hosts": [host | {"name": name} for name in ("h1", "h2", "h3")]},
        "placement": {"kind": "explicit", "hosts": dict(zip(CHAIN, (["h1"], ["h2"], ["h3"], ["h1"]), strict=True))},
        "policies": {"scaling": policy},
        "workload": {
            "seed": 1,
            "horizon_s": 60,
            "sources": {"source": {"stream": stream, "rate": {"kind": "constant", "per_s": per_s}, "arrivals": {"kind": "poisson"}}},
        },
        "measurement": {"frame_ms": 1000, "latency": {"from": "ingest", "anchor": "trigger"}},
    }


def told(made: Document) -> tuple[list[Document], list[Document], list[Document]]:
    """Frames, decisions and finished moves."""
    frames = frames_of(simulated(made, trace=False))
    of_scaling = [frame["scaling"] for frame in frames]
    actions = [action for each in of_scaling for action in each["actions"] if action["outcome"]]
    return frames, [decision for each in of_scaling for decision in each["decisions"]], actions


def test_it_joins_what_talks_and_latency_falls() -> None:
    frames, decisions, (action,) = told(spread())
    first = decisions[0]
    assert (first["t_s"], first["verdict"]) == (20.0, "order")
    assert {row["operator"]: row["host"] for row in first["read"]} == {"source": "h1", "filter": "h2", "aggregate": "h3", "sink": "h1"}
    rates = {sender: (name, rate) for name, sender, rate in first["values"]}
    assert rates["source"][0] == "to filter"
    assert rates["source"][1] == pytest.approx(2_000, rel=0.05)
    assert rates["aggregate"][1] == pytest.approx(2_000, rel=0.05)
    assert len(set(frames[-1]["scaling"]["hosts"].values())) == 1
    assert 2 <= len(action["moves"]) <= 3
    before, after = frames[10]["latency_ms"]["mean"], frames[-1]["latency_ms"]["mean"]
    assert before > 60
    assert after < 5
    assert [decision["verdict"] for decision in decisions[1:]] == ["keep"] * (len(decisions) - 1)
    assert len(decisions) > 3


def test_after_a_move_it_looks_when_a_whole_window_is_measured_again() -> None:
    _, decisions, (action,) = told(spread())
    assert decisions[1]["t_s"] >= action["ended_s"] + 8


@pytest.mark.parametrize("quota", [None, 0.5])
def test_measured_cores_are_those_that_a_host_gives(quota: float | None) -> None:
    """Threads that would always be busy take no more than their host has, also below one core."""
    made = spread(per_s=60_000, cores=1) | {"prices": "costream_2024"}
    for host in made["cluster"]["hosts"]:
        host["processor"] |= {} if quota is None else {"quota_cores": quota}
    _, decisions, _ = told(made)
    read = {row["operator"]: row["cores"] for row in decisions[0]["read"]}
    assert read["source"] + read["sink"] == pytest.approx(quota or 1, rel=0.02)
    assert read["source"] > 0.7 * (quota or 1)


def test_it_waits_until_throughput_is_steady() -> None:
    made = spread(steady=0.05)
    steps = [{"at_s": at_s, "per_s": 500 * (n + 1)} for n, at_s in enumerate(range(0, 28, 4))]
    made["workload"]["sources"]["source"]["rate"] = {"kind": "steps", "steps": steps}
    _, decisions, _ = told(made)
    assert decisions[0]["t_s"] >= 28


def overhead_s(made: Document) -> float:
    """From the start until latency is what it is at the end."""
    frames, _, _ = told(made)
    means = [frame["latency_ms"]["mean"] for frame in frames]
    return next(frame["t_s"] for frame, mean in zip(frames, means, strict=True) if mean is not None and mean < 2 * means[-1])


def test_traffic_is_that_of_the_edge_and_not_of_all_outputs() -> None:
    made = spread()
    made["query"]["operators"][1] = {"id": "filter", "kind": "split", "params": {"routes": [{"predicate": "key < 50"}]}}
    made["query"]["operators"].append({"id": "rest", "kind": "sink"})
    made["query"]["edges"][1] |= {"source_port": "out1"}
    made["query"]["edges"].append({"source": "filter", "source_port": "rest", "target": "rest"})
    made["placement"]["hosts"]["rest"] = ["h3"]
    _, decisions, _ = told(made)
    rates = {to: rate for to, _, rate in decisions[0]["values"]}
    assert rates["to aggregate"] == pytest.approx(100, rel=0.25)
    assert rates["to rest"] == pytest.approx(1_900, rel=0.05)


@pytest.mark.slow
def test_overhead_follows_from_window_restart_and_state() -> None:
    usual = overhead_s(spread())
    quick = overhead_s(spread(start_s=5, window_s=5, sample_s=2.5, rescaling={"kind": "stop_and_restart", "restart_s": 0}))
    assert quick < usual - 10
    slow = {"kind": "stop_and_restart", "store": {"write_mb_per_s": 0.5, "read_mb_per_s": 0.5}}
    few, many = (overhead_s(spread(keys=keys, rescaling=slow)) for keys in (100, 20_000))
    assert many > few


@pytest.mark.slow
def test_saved_and_forked_in_the_middle_it_decides_the_same() -> None:
    made = spread()
    whole = finished(made)
    for at_s in (9, 13, 30):
        cut = simulated(made, trace=False)
        cut.run_until(at_s * 10**9)
        fork = cut.fork()
        for simulation in (fork, cut):
            simulation.run_until(simulation.end_ns)
            assert simulation.digest() == whole.digest()


def test_cores_are_those_of_speed_one() -> None:
    made = spread()
    for host in made["cluster"]["hosts"]:
        host["speed"] = 2.0
    usual, fast = ({row["operator"]: row["cores"] for row in told(one)[1][0]["read"]} for one in (spread(), made))
    assert fast["source"] == pytest.approx(usual["source"], rel=0.05), "half the time on cores twice as fast"
