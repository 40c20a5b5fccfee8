"""What every partitioning promises, from inside the package or not, and one of another package against the definition of its paper."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

import pytest

import engine
from engine.core.kernels.hashing import group_of
from engine.core.layout import SCHEME_KEY_GROUPS
from engine.spec import catalogue, validate
from engine.spec.base.family import kind_of
from engine.spec.experiment import registry
from engine.spec.experiment.partitionings import PARTITIONINGS, Partitioning
from tests.newcomers.partitioning import TwoChoices
from tests.support.agreement import TINY, finished, template
from tests.support.contracts import assert_the_same_without_the_compiler
from tests.support.recovery_examples import coordinated, loss, uncoordinated, with_losses, with_protocol

INSTANCES = 4
TWO_CHOICES = {"kind": "two_choices", "key": "auction"}


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    registry.load_packages()
    before = PARTITIONINGS.kinds
    PARTITIONINGS.register(TwoChoices)
    yield
    PARTITIONINGS.offer(before)


def document(partitioning: Any, senders: int = 1, horizon_s: float = 0.1) -> dict[str, Any]:
    """Bids with a few hot auctions, sent to four sinks."""
    made = template("nexmark_q1", horizon_s=horizon_s, drain=True)
    made["workload"]["sources"]["bids"]["stream"]["hot_ratio"] = 0.8
    for operator in made["query"]["operators"]:
        operator["parallelism"] = INSTANCES if operator["id"] == "sink" else senders
    made["query"]["edges"][-1]["partitioning"] = partitioning
    return made


def delivered(made: Any, **options: Any) -> list[tuple[int, int, int]]:
    """Event time, auction and receiving instance of every record, by event time."""
    return _delivered(finished(made, **options), made)


def _delivered(simulation: engine.Simulation, made: Any) -> list[tuple[int, int, int]]:
    auction = simulation.sink_schema("sink").index("auction")
    first = sum(operator["parallelism"] for operator in made["query"]["operators"][:-1])
    records = simulation.sink_records("sink")
    return sorted((record["event_ns"], record["values"][auction], record["instance"] - first) for record in records)


def one_of(kind: type[Partitioning]) -> Partitioning:
    """A partitioning of this kind; fields of records that it asks for are `auction`."""
    needed = {name: "auction" for name, field in kind.model_fields.items() if field.is_required()}
    return kind.model_validate({"kind": kind_of(kind)} | needed)


def all_kinds() -> list[type[Partitioning]]:
    return [*PARTITIONINGS.kinds, *({TwoChoices} - set(PARTITIONINGS.kinds))]


@pytest.mark.parametrize("kind", all_kinds(), ids=kind_of)
def test_records_reach_their_receivers_however_the_run_is_cut(kind: type[Partitioning]) -> None:
    """All records arrive, at one receiver or at all; equal keys meet where that is promised; small tables change nothing."""
    partitioning = one_of(kind)
    made = document(partitioning.model_dump(), INSTANCES if partitioning.one_to_one else 2)
    sent = delivered(document({"kind": "rebalance"}, 2))
    found = delivered(made)
    copies = Counter(event_ns for event_ns, _, _ in found)
    assert copies.keys() == {event_ns for event_ns, _, _ in sent}
    per_record = len(found) / len(sent)
    assert per_record in (1, INSTANCES)
    assert {instance for _, _, instance in found} == set(range(INSTANCES))
    if partitioning.keying is not None:
        instances_of = defaultdict(set)
        for _, auction, instance in found:
            instances_of[auction].add(instance)
        assert {len(instances) for instances in instances_of.values()} == {1}
    assert delivered(made, capacity=TINY) == found


def test_two_choices_balances_as_its_paper_says() -> None:
    """Every record goes to the less used of the two candidates of its key, which takes a third off the most loaded instance."""
    found = delivered(document(TWO_CHOICES))
    used = [0] * INSTANCES
    for _, auction, instance in found:
        first, second = (group_of(key, SCHEME_KEY_GROUPS, INSTANCES) for key in (auction, ~auction))
        expected = second if used[second] < used[first] else first
        assert instance == expected
        used[expected] += 1
    hashed = Counter(instance for _, _, instance in delivered(document({"kind": "hash", "key": "auction"})))
    assert max(used) < 2 / 3 * max(hashed.values())


@pytest.mark.parametrize("protocol", [coordinated, uncoordinated])
def test_a_replayed_record_finds_the_same_receiver(protocol: Any) -> None:
    """The counts that the kernel reads are part of checkpoints, so a host that was lost changes no choice."""
    made = with_protocol(document(TWO_CHOICES, 2, horizon_s=0.4), protocol())
    without = dict(_receivers(delivered(made)))
    simulation = finished(with_losses(made, [loss("w1", 0.13), loss("w2", 0.31)]))
    assert simulation.checkpointing is not None
    assert len(simulation.checkpointing["recoveries"]) == 2
    assert dict(_receivers(_delivered(simulation, made))) == without


def _receivers(found: list[tuple[int, int, int]]) -> Iterator[tuple[int, set[int]]]:
    """By event time, the instances that got the record, once or more often."""
    instances_of: dict[int, set[int]] = defaultdict(set)
    for event_ns, _, instance in found:
        instances_of[event_ns].add(instance)
    assert {len(instances) for instances in instances_of.values()} == {1}
    yield from instances_of.items()


def test_the_kernel_does_the_same_without_the_compiler() -> None:
    assert_the_same_without_the_compiler(document(TWO_CHOICES, 2, horizon_s=0.01))


def test_it_is_offered_with_its_form_and_refused_in_words() -> None:
    entry = next(entry for entry in catalogue()["partitionings"] if entry["kind"] == "two_choices")
    assert (entry["title"], entry["schema"]["required"]) == ("Partial key grouping", ["key"])
    (problem,) = [problem for problem in validate(document(TWO_CHOICES | {"key": "bidde"})) if problem.severity == "error"]
    assert (problem.pointer, problem.code, problem.hint) == ("/query/edges/1/partitioning", "unknown_field", "did you mean 'bidder'?")
    assert "from 'euros' to 'sink'" in problem.message
