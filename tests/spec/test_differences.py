"""Differences between documents, in words. The tests catch pointers or field names where labels belong, defaults that count as differences,
and a difference that is not told."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from engine.spec import Experiment
from engine.spec.base.pointers import found
from engine.spec.experiment.differences import differences, filled
from engine.spec.experiment.faults import FAULTS
from engine.spec.experiment.faults.host_fault import HostFault
from engine.spec.rules.forking import Fork

from .documents import q3

Change = Callable[[dict[str, Any]], object]


def changed(*changes: Change) -> dict[str, Any]:
    document = copy.deepcopy(q3())
    for change in changes:
        change(document)
    return document


def told(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return [difference.text for difference in differences(before, after)]


def forked(document: dict[str, Any] | None = None, **fork: Any) -> dict[str, Any]:
    document = document or q3()
    return Fork.model_validate({"at_s": 10, **fork}).applied(Experiment.model_validate(document), document)


def at(at_s: float) -> dict[str, Any]:
    return {"kind": "at", "at_s": at_s}


FORKS = {
    "load": ({"load": 1.5}, "Load × 1.5 from 10 s"),
    "rates": ({"rates": {"persons": {"kind": "constant", "per_s": 50}}}, "persons: Rate × 0.05 from 10 s"),
    "another pattern": (
        {"rates": {"persons": {"kind": "cosine"}}},
        "persons: Rate Cosine from 10 s",
    ),
    "a lost host": ({"faults": [{"kind": "host_loss", "host": "w1", "when": at(12)}]}, "Fault added: w1 is lost permanently at 12 s"),
    "a host that comes back": (
        {"faults": [{"kind": "host_loss", "host": "w1", "when": at(12), "restart_after_s": 2.5}]},
        "Fault added: w1 is lost at 12 s and restarts after 2.5 s",
    ),
    "a pause": (
        {"faults": [{"kind": "pause", "host": "w2", "for_ms": 400, "when": at(10.25)}]},
        "Fault added: w2 pauses for 400 ms at 10.25 s",
    ),
    "a slow host": (
        {"faults": [{"kind": "slow_host", "host": "w2", "for_ms": 5000, "factor": 0.25, "when": at(11)}]},
        "Fault added: w2 runs at 0.25 x its speed for 5 s at 11 s",
    ),
    "slow links": (
        {"faults": [{"kind": "delay", "sources": ["w1"], "targets": ["w2", "w3"], "both_ways": False, "from_s": 10, "added_ms": 5}]},
        "Fault added: 5 ms more latency from w1 to w2, w3 from 10 s on",
    ),
    "a partition": (
        {"faults": [{"kind": "partition", "sources": ["w1"], "from_s": 10, "to_s": 12}]},
        "Fault added: Network partition between w1 and all other hosts from 10 s to 12 s",
    ),
    "a rescale": (
        {"rescales": [{"at_s": 12, "parallelism": {"join": 2, "sink": 3}}]},
        "Scaling: by hand, join to 2, sink to 3 at 12 s",
    ),
}


@pytest.mark.parametrize(("fork", "text"), FORKS.values(), ids=FORKS)
def test_a_fork_is_one_sentence(fork: dict[str, Any], text: str) -> None:
    assert told(q3(), forked(**fork)) == [text]


def test_forks_of_forks_and_forks_beside_one_another() -> None:
    once = forked(load=1.5)
    assert told(once, forked(load=2)) == ["Load × 1.5 from 10 s → × 2 from 10 s"]
    assert told(once, forked(once, load=2, at_s=20)) == ["Load × 2 from 20 s"]
    assert told(once, q3()) == ["Load no longer × 1.5 from 10 s"]
    rescaled = forked(rescales=[{"at_s": 12, "parallelism": {"join": 2}}])
    again = forked(rescaled, rescales=[{"at_s": 14, "parallelism": {"join": 3}}])
    assert told(rescaled, again) == ["Scaling: order added: join to 3 at 14 s"]


def test_every_kind_of_fault_has_a_sentence() -> None:
    for kind in FAULTS.kinds:
        base = HostFault.in_words if issubclass(kind, HostFault) else None
        assert kind.in_words is not base, kind


def operators(document: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = document["query"]["operators"]
    return found


EDITS: dict[str, tuple[Change, list[str]]] = {
    "a field of an operator": (lambda d: operators(d)[3].update(parallelism=8), ["join: Parallelism 4 → 8"]),
    "an expression": (
        lambda d: operators(d)[2]["params"].update(predicate="state == 'OR'"),
        ["filter: Predicate state in ('OR', 'ID', 'CA') → state == 'OR'"],
    ),
    "a list of names": (
        lambda d: operators(d)[3]["params"].update(select=["name"]),
        ["join: Select name, city, state, right_id → name"],
    ),
    "another kind of operator": (lambda d: operators(d)[2].update(kind="map", params={}), ["filter: Kind Filter → Map"]),
    "an operator and its edge": (
        lambda d: (operators(d).append({"id": "big", "kind": "filter"}), d["query"]["edges"].append({"source": "join", "target": "big"})),
        ["Operator added: big (Filter)", "Edge added: join → big"],
    ),
    "an operator less": (lambda d: operators(d).pop(2), ["Operator removed: filter (Filter)"]),
    "operators in another order": (lambda d: operators(d).insert(0, operators(d).pop(3)), ["Operator moved from place 4 to 1: join"]),
    "a port": (
        lambda d: d["query"]["edges"][0].update(partitioning={"kind": "rebalance"}),
        ["persons → filter: Partitioning Hash (Key id, Scheme modulo) → Rebalance"],
    ),
    "hosts": (
        lambda d: (d["cluster"]["hosts"][0].update(speed=0.5), d["cluster"]["hosts"].append({"name": "slow", "count": 2})),
        ["w: Speed 1 x → 0.5 x", "Host added: slow (2 machines)"],
    ),
    "a link between regions": (
        lambda d: (
            d["cluster"]["hosts"].append({"name": "edge", "group": "edge"}),
            d["cluster"].update(region_links=[{"source": "cloud", "target": "edge", "latency_ms": 40, "mbit_per_s": 1000}]),
        ),
        ["Host added: edge", "Region link added: cloud ↔ edge (40 ms, 1,000 Mbit/s)"],
    ),
    "another kind": (
        lambda d: d.update(policies={"checkpointing": {"kind": "coordinated", "interval_s": 10}}),
        ["Checkpointing: None → Coordinated (Interval 10 s)"],
    ),
    "a source": (
        lambda d: d["workload"]["sources"]["persons"].update(disorder={"kind": "constant", "delay_ms": 5}),
        ["persons: Delay None → Constant (Delay 5 ms)"],
    ),
    "rates that differ": (
        lambda d: d["workload"]["sources"]["persons"]["rate"].update(per_s=2500),
        ["persons: Rate 1,000 records/s → 2,500 records/s"],
    ),
    "a section's own fields": (lambda d: d["workload"].update(seed=7, drain=True), ["Workload: Seed 1 → 7", "Workload: Drain off → on"]),
    "what no run depends on": (
        lambda d: (d.update(name="Q3b", ui={"x": 1}), operators(d)[0].update(name="People")),
        ["Name: Q3 → Q3b", "persons: Name empty → People", "Canvas: layout changed"],
    ),
    "defaults that are spelled out": (
        lambda d: (d.update(policies={"scaling": {"kind": "none"}}, faults=[]), d["workload"].update(seed=1, drain_limit_s=60)),
        [],
    ),
}


@pytest.mark.parametrize(("edit", "texts"), EDITS.values(), ids=EDITS)
def test_an_edit_is_told_by_labels(edit: Change, texts: list[str]) -> None:
    assert told(q3(), changed(edit)) == texts


def test_a_nested_setting_has_the_labels_above_it() -> None:
    def join(document: dict[str, Any], size_s: float) -> None:
        operators(document)[3].update(kind="window_join", cost={"record_us": 5, "noise": {"kind": "exponential"}})
        operators(document)[3]["params"]["window"] = {"kind": "tumbling", "size_s": size_s}

    before, after = changed(lambda d: join(d, 5)), changed(lambda d: join(d, 10.0))
    (only,) = differences(before, after)
    assert (only.text, only.where, only.label) == ("join: Window, Size 5 s → 10 s", "join", "Window, Size")
    assert (only.path, only.before, only.after) == ("/query/operators/3/params/window/size_s", 5, 10)


def test_faults_without_names_are_matched_by_their_content() -> None:
    faults = [{"kind": "pause", "host": "w1", "for_ms": ms, "when": at(ms / 1000)} for ms in (1000, 2000, 3000)]
    before = changed(lambda d: d.update(faults=faults))
    assert told(before, changed(lambda d: d.update(faults=faults[1:]))) == ["Fault removed: w1 pauses for 1 s at 1 s"]
    longer = [faults[0], {**faults[1], "for_ms": 2500}, faults[2]]
    after = changed(lambda d: d.update(faults=longer))
    assert told(before, after) == ["Faults: w1 pauses for 2 s at 2 s → w1 pauses for 2.5 s at 2 s"]


def test_links_between_regions_are_matched_by_their_ends() -> None:
    def linked(*links: dict[str, Any]) -> dict[str, Any]:
        return changed(lambda d: d["cluster"].update(region_links=list(links)))

    west, within = {"source": "eu", "target": "us", "latency_ms": 40}, {"source": "eu", "target": "eu", "latency_ms": 0.2}
    before = linked(west, within)
    assert told(before, linked({**west, "latency_ms": 45.5}, within)) == ["eu → us: Latency 40 ms → 45.5 ms"]
    assert told(before, linked({**west, "both_ways": False}, within)) == ["eu → us: Both ways on → off"]
    assert told(before, linked(west)) == ["Region link removed: within eu (0.2 ms)"]


def test_what_changes_no_run_can_be_left_out() -> None:
    edit, _ = EDITS["what no run depends on"]
    assert differences(q3(), changed(edit), hashed_only=True) == []


def test_documents_differ_in_words_if_their_hashes_differ_and_paths_lead_there() -> None:
    valid = [changed(), *(forked(**fork) for fork, _ in FORKS.values())]
    valid += [changed(edit) for name, (edit, _) in EDITS.items() if "operator" not in name]
    for before, after in zip(valid, [*valid[1:], valid[0]], strict=True):
        hashes = [Experiment.model_validate(document).hash for document in (before, after)]
        told = differences(before, after, hashed_only=True)
        assert bool(told) == (hashes[0] != hashes[1])
        for one in told:
            found(filled(Experiment, before if one.after is None else after), one.path)


@pytest.mark.parametrize(
    "draft",
    [{}, {"query": None}, {"query": {"operators": [{"id": "x", "kind": "nowhere", "parallelism": "4"}, 3]}}, {"faults": [{"kind": "odd"}]}],
)
def test_drafts_are_compared_as_they_are(draft: dict[str, Any]) -> None:
    assert differences(draft, draft) == []
    assert differences(draft, q3())
    assert all(one.text for one in differences(q3(), draft))
