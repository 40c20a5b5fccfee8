"""The hottest keys of an instance against the services of the run itself: which instance served which record, by the trace.

Catches: keys that go to other instances than the run's, records of another frame, filters that keep other records, answers where nobody can
know.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import engine
from engine.diagnosis import CannotTell, HotKeys, hot_keys
from engine.spec.rules.validation import Context, examine
from engine.telemetry.instances import measured
from engine.workloads import Strings, build_feed, datasets, files

from ...support.agreement import DATASETS, EXPERIMENTS, simulated

HOT_KEYS = import_module("engine.diagnosis.hot_keys")  # the package has a function of this name

ZIPF = {"kind": "zipf", "exponent": 1.1}
CHEAP = {"record_us": 1, "output_us": 0, "control_us": 1}
HOST = {"processor": {"kind": "dedicated"}, "cores": 16, "egress_mbit_per_s": 1000, "egress_latency_ms": 0.5}
COUNT = {"key": "key", "window": {"kind": "tumbling", "size_s": 1}, "aggregates": [{"name": "n", "function": "count"}]}


def skewed(stream: dict[str, Any] | None = None, **partitioning: Any) -> dict[str, Any]:
    """Records with drawn keys, filtered, projected and counted by key."""
    made = {"kind": "synthetic", "keys": 500, "in_turn": False, "skew": ZIPF, "integers": 1, "strings": 1, **(stream or {})}
    return {
        "format": 1,
        "name": "Skewed",
        "query": {
            "operators": [
                {"id": "records", "kind": "source", "parallelism": 3, "cost": CHEAP},
                {"id": "some", "kind": "filter", "parallelism": 2, "params": {"predicate": "i1 % 10 < 7 and s1 != '3'"}, "cost": CHEAP},
                {"id": "short", "kind": "project", "parallelism": 2, "params": {"fields": [{"field": "key"}]}, "cost": CHEAP},
                {"id": "count", "kind": "aggregate", "parallelism": 4, "params": COUNT, "cost": CHEAP},
                {"id": "sink", "kind": "sink", "parallelism": 1, "cost": CHEAP},
            ],
            "edges": [
                {"source": "records", "target": "some", "partitioning": {"kind": "rebalance"}},
                {"source": "some", "target": "short", "partitioning": {"kind": "forward"}},
                {"source": "short", "target": "count", "partitioning": {"kind": "hash", "key": "key", **partitioning}},
                {"source": "count", "target": "sink", "partitioning": {"kind": "rebalance"}},
            ],
        },
        "cluster": {"hosts": [{"name": "w", "count": 2, **HOST}]},
        "workload": {
            "seed": 11,
            "horizon_s": 2.0,
            "warmup_s": 0.0,
            "sources": {
                "records": {
                    "stream": made,
                    "rate": {"kind": "constant", "per_s": 4000},
                    "arrivals": {"kind": "poisson"},
                    "watermarks": {"kind": "bounded", "lag_ms": 0, "period_ms": 100},
                }
            },
        },
        "policies": {"flow_control": {"kind": "unbounded"}},
        "measurement": {"frame_ms": 250},
    }


def frames_of(simulation: engine.Simulation) -> list[dict[str, Any]]:
    frames = []
    while (frame := simulation.advance()) is not None:
        frames.append(frame)
    return frames


def asked(document: dict[str, Any], frames: list[dict[str, Any]], number: int, operator: str, index: int) -> HotKeys:
    findings = examine(document, Context(datasets=DATASETS))
    assert findings.experiment is not None, findings.problems
    before = frames[number - 1] if number else None
    return hot_keys(findings.experiment, findings.schemas, DATASETS, operator, index, frames[number], before)


def served(
    document: dict[str, Any], simulation: engine.Simulation, frames: list[dict[str, Any]], source: str, operator: str, field: str
) -> list[dict[int, Counter[int]]]:
    """By frame in which the source served a record: by instance of the operator, how often each key was served there."""
    feed = build_feed(simulation.experiment, source, 0, Strings(), DATASETS)
    chunk = feed.chunk(0, 1 << 62)
    key_of = dict(zip(chunk.trigger.tolist(), chunk.words[:, feed.fields.index(field)].tolist(), strict=True))
    first = dict(zip((spec.id for spec in simulation.experiment.query.operators), np.cumsum([0, *(
        spec.parallelism for spec in simulation.experiment.query.operators)]).tolist()[:-1], strict=True))  # fmt: skip
    size = {spec.id: spec.parallelism for spec in simulation.experiment.query.operators}
    ends_ns = [round(frame["t_s"] * 1e9) for frame in frames]
    read: dict[int, int] = {}
    goes: dict[int, int] = {}
    for instance, _, end_ns, kind, trigger in simulation.service_trace(with_trigger=True).tolist():
        if kind != 0:
            continue
        if first[source] <= instance < first[source] + size[source]:
            read[trigger] = int(np.searchsorted(ends_ns, end_ns))
        if first[operator] <= instance < first[operator] + size[operator]:
            goes[trigger] = instance - first[operator]
    found: list[dict[int, Counter[int]]] = [{index: Counter() for index in range(size[operator])} for _ in frames]
    for trigger, index in goes.items():
        if read[trigger] < len(frames):
            found[read[trigger]][index][key_of[trigger]] += 1
    return found


def same(found: HotKeys, truth: Counter[int]) -> bool:
    most = sorted(truth.items(), key=lambda one: (-one[1], one[0]))[:10]
    return (
        [(int(one.key), one.records) for one in found.keys] == most
        and (found.records, found.distinct) == (truth.total(), len(truth))
        and [one.share for one in found.keys] == [pytest.approx(count / truth.total()) for _, count in most]
    )


def hot_on_one(keys: int, groups: int, instances: int) -> tuple[int, int]:
    """Two keys of the first ones that the run puts on one instance, by trying."""
    from engine.core.kernels.hashing import group_of
    from engine.core.layout import SCHEME_KEY_GROUPS

    with np.errstate(over="ignore"):
        on = [int(group_of(np.int64(key), SCHEME_KEY_GROUPS, groups)) * instances // groups for key in range(keys)]
    first = next(a for a in range(keys) for b in range(a) if on[a] == on[b])
    return first, next(b for b in range(first) if on[b] == on[first])


@pytest.mark.parametrize("partitioning", [{}, {"scheme": "modulo"}, {"mixed": False, "key_groups": 100}, {"key_groups": 7}])
def test_the_keys_of_every_instance_are_those_that_the_run_served_there(partitioning: dict[str, Any]) -> None:
    document = skewed(**partitioning)
    simulation = simulated(document)
    frames = frames_of(simulation)
    truth = served(document, simulation, frames, "records", "count", "key")
    for number in (0, 1, 5):
        for index in range(4):
            found = asked(document, frames, number, "count", index)
            assert same(found, truth[number][index]), (number, index)
            assert (found.field, found.of_operator) == ("key", sum(each.total() for each in truth[number].values()))


@pytest.mark.parametrize("late", [{}, {"kind": "exponential", "mean_ms": 60}])
def test_late_records_and_watermarks_of_devices_and_branches(late: dict[str, Any]) -> None:
    """A split whose branches meet again, so that the operator has two edges from one source."""
    document = skewed()
    source = document["workload"]["sources"]["records"]
    source["watermarks"] = {"kind": "device", "lag_ms": 0, "period_ms": 40}
    if late:
        source["disorder"] = late
    routes = {"routes": [{"predicate": "i1 < 30"}, {"predicate": "i1 < 60"}]}
    operators, edges = document["query"]["operators"], document["query"]["edges"]
    operators[1] = {"id": "some", "kind": "split", "parallelism": 2, "params": routes, "cost": CHEAP}
    edges[1]["source_port"] = "out2"
    edges.append({"source": "some", "source_port": "rest", "target": "short", "partitioning": {"kind": "forward"}})
    simulation = simulated(document)
    frames = frames_of(simulation)
    truth = served(document, simulation, frames, "records", "count", "key")
    for index in range(4):
        assert same(asked(document, frames, 4, "count", index), truth[4][index]), index


def test_two_hot_keys_on_one_instance_are_both_named(tmp_path: Path) -> None:
    """The worst that can happen to a hash: most records are of two keys, and the two meet."""
    one, other = hot_on_one(500, 128, 4)
    document = skewed({"integers": 1})
    # most records get one of the two keys
    fields = [{"name": "key", "expression": f"({one} if i1 % 2 == 0 else {other}) if i1 < 80 else key"}]
    document["query"]["operators"][2] = {"id": "short", "kind": "map", "parallelism": 2, "params": {"fields": fields}, "cost": CHEAP}
    simulation = simulated(document)
    frames = frames_of(simulation)
    shares = {index: asked(document, frames, 4, "count", index) for index in range(4)}
    most = max(shares.values(), key=lambda found: found.records)
    assert {key.key for key in most.keys[:2]} == {str(one), str(other)}
    assert most.records > 0.8 * most.of_operator
    assert sum(found.records for found in shares.values()) == most.of_operator
    simulation.telemetry.write(tmp_path)
    rows = measured(tmp_path, round(frames[3]["t_s"] * 1e9), round(frames[4]["t_s"] * 1e9)).instances
    counted = rows.sums["served"][rows.name == "count"]
    assert all(abs(found.records - counted[index]) <= 20 for index, found in shares.items()), "but for records on their way"


def test_a_backlog_in_the_logs_is_followed_to_what_the_sources_read() -> None:
    """Sources that take longer than there is time: they read records of long ago, whose hot keys are others."""
    document = even(skewed())
    document["query"]["operators"][0]["cost"] = {"record_us": 1500, "output_us": 0, "control_us": 1}
    simulation = simulated(document)
    frames = frames_of(simulation)
    assert frames[6]["operators"]["records"]["lag"] > 2000
    truth = served(document, simulation, frames, "records", "count", "key")
    found = [asked(document, frames, 6, "count", index) for index in range(4)]
    missed = sum(abs(one.records - truth[6][index].total()) for index, one in enumerate(found))
    assert missed <= 0.05 * found[0].of_operator, "the three instances of the source are not equally far"


def test_words_and_instances_that_carry_their_key_along() -> None:
    """Texts by their code in the run, and instances reached by forward from one that a hash leads to."""
    document = skewed()
    document["query"]["edges"][0]["partitioning"] = {"kind": "hash", "key": "s1"}
    simulation = simulated(document)
    frames = frames_of(simulation)
    for operator in ("some", "short"):
        found = [asked(document, frames, 3, operator, index) for index in range(2)]
        texts = [{key.key for key in one.keys} for one in found]
        assert all(text in "0123456789abcdef" for one in texts for text in one)
        assert not texts[0] & texts[1], "a key is on one instance"
    by_trigger = served(document, simulation, frames, "records", "some", "s1")
    assert [asked(document, frames, 3, "some", index).records for index in range(2)] == [by_trigger[3][index].total() for index in range(2)]


def mapped(expression: str) -> dict[str, Any]:
    """Records that are hashed to `short` by a field that `some` makes."""
    document = even(skewed())
    fields = [{"name": "tier", "expression": expression}]
    document["query"]["operators"][1] = {"id": "some", "kind": "map", "parallelism": 2, "params": {"fields": fields}, "cost": CHEAP}
    document["query"]["operators"][2]["params"] = {"fields": [{"field": "tier"}]}
    document["query"]["operators"][3]["params"] = COUNT | {"key": "tier"}
    document["query"]["edges"][1]["partitioning"] = {"kind": "hash", "key": "tier"}
    document["query"]["edges"][2]["partitioning"] = {"kind": "hash", "key": "tier"}
    return document


FIRST = {"t_s": 0.25, "n": 0, "operators": {"records": {"lag": 0, "in_per_s": 4000.0}}}


def test_texts_that_a_map_makes_are_told_if_the_input_has_them() -> None:
    found = [asked(mapped("'3' if i1 < 10 else s1"), [FIRST], 0, "short", index) for index in range(2)]
    assert {key.key for one in found for key in one.keys} <= set("0123456789abcdef")
    assert sum(one.records for one in found) == found[0].of_operator
    for expression in ("'vip' if i1 < 10 else 'plain'", "'vip' if i1 < 10 else s1"):
        with pytest.raises(CannotTell, match="'some' makes texts that its input does not have"):
            asked(mapped(expression), [FIRST], 0, "short", 0)


def test_a_data_set_is_read_once_and_of_it_what_the_key_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    document = yaml.safe_load((EXPERIMENTS / "flights.yaml").read_text())
    document["query"]["operators"].insert(
        1, {"id": "far", "kind": "split", "parallelism": 2, "params": {"routes": [{"predicate": "distance > 900"}]}}
    )
    document["query"]["edges"][0] = {"source": "flights", "target": "far", "partitioning": {"kind": "rebalance"}}
    for port in ("out1", "rest"):
        document["query"]["edges"].append(
            {"source": "far", "source_port": port, "target": "average", "partitioning": {"kind": "hash", "key": "origin"}}
        )
    reads: list[Path] = []
    fields: list[tuple[str, ...]] = []
    monkeypatch.setattr(files, "read", lambda path: reads.append(path) or datasets.read(path))
    monkeypatch.setattr(HOT_KEYS, "build_feed", lambda *given: fields.append(tuple(given[5])) or build_feed(*given))
    frame = {"t_s": 0.25, "n": 0, "operators": {"flights": {"lag": 0, "in_per_s": 0.0}}}
    found = [asked(document, [frame], 0, "average", index) for index in range(4)]
    assert sum(one.records for one in found) == found[0].of_operator > 0
    assert all(key.key.isalpha() for one in found for key in one.keys), "airports"
    assert (len(reads), fields) == (4, [("distance", "origin")] * 4), "one read for each of four questions"
    monkeypatch.setattr(HOT_KEYS, "CELLS_MAX", 500_000)
    with pytest.raises(CannotTell, match="The data sets of the sources have 567,465 cells; those of at most 500,000 are read"):
        asked(document, [frame], 0, "average", 0)
    assert len(reads) == 4


def test_times_as_keys_have_all_their_nanoseconds() -> None:
    for expression, expected in (
        ("timestamp(1700000000000000000 + i1 % 2)", {"1700000000 s", "1700000000.000000001 s"}),
        ("timestamp(0 - 1500000000)", {"-1.5 s"}),
    ):
        found = [asked(mapped(expression), [FIRST], 0, "short", index) for index in range(2)]
        assert {key.key for one in found for key in one.keys} == expected


def even(document: dict[str, Any]) -> dict[str, Any]:
    """The same with 1000 records in each frame."""
    document["workload"]["sources"]["records"]["arrivals"] = {"kind": "even"}
    return document


def change(path: tuple[Any, ...], value: Any) -> Callable[[dict[str, Any]], None]:
    def carry_out(document: dict[str, Any]) -> None:
        here: Any = document
        for part in path[:-1]:
            here = here[part]
        here[path[-1]] = value

    return carry_out


EDGES = ("query", "edges")


@pytest.mark.parametrize(
    ("changed", "operator", "why"),
    [
        (lambda document: None, "records", "is a source"),
        (lambda document: None, "sink", "by rebalance, not by a key"),
        (change((*EDGES, 3, "partitioning"), {"kind": "hash", "key": "n"}), "sink", "come from 'count' (aggregate)"),
        (lambda document: None, "some", "by rebalance, not by a key"),
        (lambda document: None, "short", "by forward, not by a key"),
        (change(("query", "operators", 1, "params", "predicate"), "lower(s1) != '3'"), "count", "'some' uses the text function lower"),
        (
            change(("workload", "sources", "records", "generation"), {"kind": "coordinated"}), "count",
            "'records' has a closed loop",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_told_is_said(changed: Callable[[dict[str, Any]], None], operator: str, why: str) -> None:
    document = even(skewed())
    changed(document)
    frame = {"t_s": 0.25, "n": 0, "operators": {"records": {"lag": 0, "in_per_s": 4000.0}}}
    with pytest.raises(CannotTell) as refusal:
        asked(document, [frame], 0, operator, 0)
    assert why in str(refusal.value)


@pytest.mark.parametrize(
    ("of_frame", "of_source", "why"),
    [
        ({"dropped": 3}, {}, "dropped records"),
        ({}, {"shed": 3}, "discarded records"),
        ({}, {"in_per_s": 9000.0}, "read records again"),
        ({}, {"lag": None}, "Run it again"),
        ({"scaling": {"parallelism": {"count": 3}}}, {}, "went from 4 to 3 instances"),
    ],
)
def test_frames_in_which_something_was_lost_are_refused(of_frame: dict[str, Any], of_source: dict[str, Any], why: str) -> None:
    source = {"lag": 0, "in_per_s": 4000.0}
    frames = [
        {"t_s": 0.25, "n": 0, "operators": {"records": source}},
        {"t_s": 0.5, "n": 1, **of_frame, "operators": {"records": source | of_source}},
    ]
    with pytest.raises(CannotTell, match=why):
        asked(even(skewed()), frames, 1, "count", 0)


def test_after_a_move_the_instance_is_that_of_the_new_host() -> None:
    document = even(skewed())
    document["query"]["operators"][3]["parallelism"] = 1
    document["cluster"]["hosts"] = [{"name": name, "cores": 8} for name in ("w1", "w2", "w3")]
    frames = [{"t_s": t_s, "operators": {"records": {"lag": 0, "in_per_s": 4000.0}}} for t_s in (0.25, 0.5)]
    found = asked(document, frames, 1, "count", 0)
    for frame in frames:
        frame["scaling"] = {"parallelism": {"count": 1}, "hosts": {"count": "w3"}}
    assert asked(document, frames, 1, "count", 2) == found
    with pytest.raises(CannotTell, match="'count' is instance 2 in this frame; there is no 0"):
        asked(document, frames, 1, "count", 0)
    frames[0]["scaling"] = {"parallelism": {"count": 1}, "hosts": {"count": "w1"}}
    with pytest.raises(CannotTell, match="'count' moved from host 'w1' to 'w3' in this frame"):
        asked(document, frames, 1, "count", 2)


def test_after_a_rescale_the_instances_are_the_new_ones() -> None:
    document = even(skewed())
    frames = [
        {"t_s": t_s, "operators": {"records": {"lag": 0, "in_per_s": 4000.0}}, "scaling": {"parallelism": {"count": 2}}}
        for t_s in (0.25, 0.5)
    ]
    found = [asked(document, frames, 1, "count", index) for index in range(2)]
    assert sum(one.records for one in found) == found[0].of_operator
    document["query"]["operators"][3]["parallelism"] = 2
    for frame in frames:
        del frame["scaling"]
    assert [asked(document, frames, 1, "count", index) for index in range(2)] == found
