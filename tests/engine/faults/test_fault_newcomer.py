"""A fault of another package: offered, checked, carried out, and continued from a snapshot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

import pytest

import engine
from engine.lowering.network import lower
from engine.spec import catalogue, load, validate
from engine.spec.experiment import registry
from engine.spec.experiment.faults import FAULTS
from engine.spec.experiment.faults.host_fault import PassingFault
from engine.spec.experiment.faults.link_fault import LinkFault
from tests.newcomers.fault import HotHost

from ...support.agreement import MS, template, traced
from ...support.worked_examples import chains_on_a_host


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    registry.load_packages()
    before = FAULTS.kinds
    FAULTS.register(HotHost)
    yield
    FAULTS.offer(before)


def made(**more: Any) -> dict[str, Any]:
    """A service of 10 ms each 20 ms, on a host that is hot from 10 to 70 ms."""
    document = chains_on_a_host({"kind": "shared_fifo"}, 1, 1, gap_ms=20.0)
    document["workload"]["horizon_s"] = 0.1
    fault = {"kind": "hot_host", "host": "h", "when": {"kind": "at", "at_s": 0.01}, "for_ms": 60.0, "step_ms": 20.0}
    return document | {"faults": [fault | more]}


def test_it_is_offered_with_its_form() -> None:
    entry = next(entry for entry in catalogue()["faults"] if entry["kind"] == "hot_host")
    assert entry["schema"]["properties"]["step_ms"]["x-unit"] == "ms"
    assert "hot_host" in str(registry.document_schema())


def test_stored_faults_begin_as_their_kinds_say() -> None:
    """A kind of another package and one that is no longer installed; a time of its own, under `when`, and a random one."""
    assert FAULTS.begins_ns(made()["faults"][0]) == 10 * MS
    partition = {"kind": "partition", "sources": ["a"], "targets": ["b"], "both_ways": True, "from_s": 0.002, "to_s": 0.004}
    assert FAULTS.begins_ns(partition) == 2 * MS
    assert FAULTS.begins_ns(made(when={"kind": "random", "mean_s": 1.0})["faults"][0]) is None
    assert FAULTS.begins_ns({"kind": "gone", "at_s": 1.0}) is None


def test_services_take_twice_and_four_times_as_long() -> None:
    """At 20 ms the speed is a half, at 40 a quarter. That service ends at 80, when all is over."""
    rows = traced(made()).service_trace()
    assert [(end - start) / MS for i, start, end, _ in rows.tolist() if i == 0] == [10, 20, 40, 10, 10]


def test_it_multiplies_with_other_faults_of_the_host() -> None:
    """The service of 40 ms begins at a quarter of the speed, halved once more by a slow host. Nothing is left of either afterwards."""
    document = made()
    document["faults"].append({"kind": "slow_host", "host": "h", "when": {"kind": "at", "at_s": 0.035}, "for_ms": 10.0, "factor": 0.5})
    rows = traced(document).service_trace()
    assert [(end - start) / MS for i, start, end, _ in rows.tolist() if i == 0] == [10, 20, 80, 10, 10]


class NoControl(PassingFault):
    """Nobody acts."""

    title: ClassVar[str] = "No control"
    kind: Literal["no_control"] = "no_control"


class Jitter(LinkFault):
    """Links become slower by a millisecond."""

    title: ClassVar[str] = "One millisecond"
    kind: Literal["one_ms"] = "one_ms"

    @property
    def added_ns(self) -> int:
        return MS


def test_a_fault_of_a_host_needs_what_acts_and_one_of_links_does_not() -> None:
    with pytest.raises(ValueError, match="has no `control`"):
        FAULTS.register(NoControl)
    FAULTS.register(Jitter)
    document = template("nexmark_q1", horizon_s=0.2, drain=True)
    document["cluster"]["hosts"] = [{"name": "a", "egress_latency_ms": 0.5}, {"name": "b"}]
    experiment = load(document | {"faults": [{"kind": "one_ms", "sources": ["a"], "targets": ["b"], "both_ways": False, "from_s": 0.1}]})
    changes = lower(experiment).changes
    assert {at_ns: [change.latency_ns for change in here] for at_ns, here in changes.items()} == {100 * MS: [3 * MS // 2]}


@pytest.mark.parametrize("cut_ms", [5, 15, 45, 65, 75])
def test_a_run_continues_from_a_snapshot(cut_ms: int) -> None:
    whole = engine.Simulation(made())
    whole.run_until(whole.end_ns)
    first = engine.Simulation(made())
    first.run_until(cut_ms * MS)
    second = engine.Simulation(made())
    second.restore(first.snapshot())
    second.run_until(second.end_ns)
    assert second.digest() == whole.digest()


def test_what_is_wrong_with_its_parameters_is_said_where_it_stands() -> None:
    assert [(problem.pointer, problem.code) for problem in validate(made(host="g", step_ms=0))] == [
        ("/faults/0/step_ms", "out_of_range"),
    ]
    assert [(problem.pointer, problem.code) for problem in validate(made(host="g"))] == [("/faults/0/host", "unknown_host")]
