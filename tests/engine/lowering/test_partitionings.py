"""What every partitioning promises, from inside the package or not, and one of another package against the definition of its paper."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

import pytest

import engine
from engine.core.kernels.hashing import group_of
from engine.core.layout import SCHEME_KEY_GROUPS
from engine.spec import validate
from engine.spec.base.family import kind_of
from engine.spec.experiment.partitionings import PARTITIONINGS, Keying, Partitioning
from tests.newcomers.partitioning import TwoChoices
from tests.support.agreement import TINY, finished, template
from tests.support.contracts import assert_the_same_without_the_compiler
from tests.support.family_contracts import assert_is_shown, offered
from tests.support.recovery_examples import coordinated, loss, uncoordinated, with_losses, with_protocol

INSTANCES = 4
TWO_CHOICES = {"kind": "two_choices", "key": "auction"}


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    with offered(PARTITIONINGS, TwoChoices):
        yield


def document(partitioning: Any, senders: int = 1, horizon_s: float = 0.1) -> dict[str, Any]:
    """Bids with a few hot auctions, sent to four sinks."""
    made = template("nexmark_q1", horizon_s=horizon_s, drain=True)
    made["workload"]["sources"]["bids"]["stream"]["hot_ratio"] = 0.8
    for operator in made["query"]["operators"]:
        operator["parallelism"] = INSTANCES if operator["id"] == "sink" else senders
    made["query"]["edges"][-1]["partitioning"] = partitioning
    return made


def delivered(simulation: engine.Simulation) -> list[tuple[int, int, int]]:
    """Event time, auction and receiving instance of every record, by event time."""
    auction = simulation.sink_schema("sink").index("auction")
    first = sum(spec.parallelism for spec in simulation.experiment.query.operators[:-1])
    records = simulation.sink_records("sink")
    return sorted((record["event_ns"], record["values"][auction], record["instance"] - first) for record in records)


def instances_by(found: list[tuple[int, int, int]], column: int) -> dict[int, set[int]]:
    """The instances that got records, by event time (column 0) or auction (1)."""
    instances: dict[int, set[int]] = defaultdict(set)
    for record in found:
        instances[record[column]].add(record[2])
    return instances


def one_of(kind: type[Partitioning]) -> Partitioning:
    """A partitioning of this kind; fields of records that it asks for are `auction`."""
    needed = {name: "auction" for name, field in kind.model_fields.items() if field.is_required()}
    return kind.model_validate({"kind": kind_of(kind)} | needed)


@pytest.mark.parametrize("kind", dict.fromkeys([*PARTITIONINGS.kinds, TwoChoices]), ids=kind_of)
def test_records_reach_their_receivers_however_the_run_is_cut(kind: type[Partitioning]) -> None:
    """All records arrive, at one receiver or at all; equal keys meet where that is promised; small tables change nothing."""
    partitioning = one_of(kind)
    made = document(partitioning.model_dump(), INSTANCES if partitioning.one_to_one else 2)
    sent = delivered(finished(document({"kind": "rebalance"}, 2)))
    found = delivered(finished(made))
    assert instances_by(found, 0).keys() == {event_ns for event_ns, _, _ in sent}
    assert len(found) / len(sent) in (1, INSTANCES)
    assert {instance for _, _, instance in found} == set(range(INSTANCES))
    if partitioning.keying is not None:
        assert {len(instances) for instances in instances_by(found, 1).values()} == {1}
    assert delivered(finished(made, capacity=TINY)) == found


def test_rescale_gives_each_sender_its_own_receivers_in_turn() -> None:
    """Of three senders the first has two of the four receivers; of six, two share a receiver with another."""

    def counts(senders: int) -> list[int]:
        found = Counter(instance for _, _, instance in delivered(finished(document({"kind": "rescale"}, senders))))
        return [found[instance] for instance in range(INSTANCES)]

    first, second, third, fourth = counts(3)
    assert abs(first - fourth) <= 1
    assert [first + fourth, second, third] == pytest.approx([second] * 3, rel=0.15)
    assert counts(6) == pytest.approx([2 * counts(6)[2]] * 2 + [counts(6)[2]] * 2, rel=0.2)


def test_two_choices_balances_as_its_paper_says() -> None:
    """Every record goes to the less used of the two candidates of its key, which takes a third off the most loaded instance."""
    found = delivered(finished(document(TWO_CHOICES)))
    used = [0] * INSTANCES
    for _, auction, instance in found:
        first, second = (group_of(key, SCHEME_KEY_GROUPS, INSTANCES) for key in (auction, ~auction))
        expected = second if used[second] < used[first] else first
        assert instance == expected
        used[expected] += 1
    hashed = Counter(instance for _, _, instance in delivered(finished(document({"kind": "hash", "key": "auction"}))))
    assert max(used) < 2 / 3 * max(hashed.values())


@pytest.mark.parametrize("protocol", [coordinated, uncoordinated])
def test_a_replayed_record_finds_the_same_receiver(protocol: Any) -> None:
    """The counts that the kernel reads are part of checkpoints, so a host that was lost changes no choice."""
    made = with_protocol(document(TWO_CHOICES, 2, horizon_s=0.4), protocol())
    without = instances_by(delivered(finished(made)), 0)
    assert {len(instances) for instances in without.values()} == {1}
    simulation = finished(with_losses(made, [loss("w1", 0.13), loss("w2", 0.31)]))
    assert simulation.checkpointing is not None
    assert len(simulation.checkpointing["recoveries"]) == 2
    assert instances_by(delivered(simulation), 0) == without


def test_the_kernel_does_the_same_without_the_compiler() -> None:
    assert_the_same_without_the_compiler(document(TWO_CHOICES, 2, horizon_s=0.01))


def test_it_is_offered_with_its_form_and_refused_in_words() -> None:
    assert_is_shown(PARTITIONINGS, TwoChoices)
    (problem,) = validate(document(TWO_CHOICES | {"key": "bidde"}))
    assert (problem.pointer, problem.code, problem.hint) == ("/query/edges/1/partitioning/key", "unknown_field", "did you mean 'bidder'?")
    assert "from 'euros' to 'sink'" in problem.message


def test_only_the_loops_own_connect_one_to_one_or_have_key_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TwoChoices, "one_to_one", True)
    with pytest.raises(ValueError, match="only `forward` connects index to index"):
        engine.Simulation(document(TWO_CHOICES, INSTANCES))
    monkeypatch.setattr(TwoChoices, "one_to_one", False)
    monkeypatch.setattr(TwoChoices, "keying", Keying("auction", "own", 128))
    with pytest.raises(ValueError, match="a rescale can hand over only those of `hash`"):
        engine.Simulation(document(TWO_CHOICES))
