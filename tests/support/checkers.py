"""Judges of a finished run that know only its document, its trace and what its sinks delivered.

They import no part of the engine but the document's models, and recompute nothing of its order: each says what must be true of any run,
so they also judge runs that are too long for the oracle. Every checker raises AssertionError with the first thing that is wrong.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from engine.spec import Experiment


class Service(NamedTuple):
    """One row of a trace. trigger: identity of the input record, -1 for control elements."""

    instance: int
    start_ns: int
    end_ns: int
    kind: int
    trigger: int


@dataclass(frozen=True)
class Topology:
    """What of the document the checkers need: operator and index of each instance, and who sends to whom."""

    experiment: Experiment
    operator_of: tuple[str, ...]
    first: Mapping[str, int]

    @classmethod
    def of(cls, experiment: Experiment) -> Topology:
        names: list[str] = []
        first = {}
        for operator in experiment.query.operators:
            first[operator.id] = len(names)
            names += [operator.id] * operator.parallelism
        return cls(experiment, tuple(names), first)

    def instances(self, operator_id: str) -> range:
        return range(self.first[operator_id], self.first[operator_id] + self.experiment.operator(operator_id).parallelism)

    def senders(self, instance: int) -> list[int]:
        """Instances that have a channel to this one."""
        senders = []
        for edge in self.experiment.query.edges:
            if edge.target == self.operator_of[instance]:
                index = instance - self.first[edge.target]
                every = self.instances(edge.source)
                senders += [every[index]] if edge.partitioning.kind == "forward" else list(every)
        return senders


def services(trace: Iterable[Sequence[int]]) -> list[Service]:
    return [Service(*map(int, row)) for row in trace]


def check_services(topology: Topology, trace: Sequence[Service], deaths_ns: Iterable[int] = ()) -> None:
    """An instance serves one item at a time, each for at least 1 ns, unless its host is lost, or dies, at that very time."""
    free_ns: dict[int, int] = defaultdict(int)
    losses_ns = {fault.begins_ns for fault in topology.experiment.faults if fault.kind == "host_loss"} | set(deaths_ns)
    for service in trace:
        lost = service.end_ns == service.start_ns in losses_ns
        assert lost or service.end_ns > service.start_ns >= 0, f"{service} takes no time"
        assert service.start_ns >= free_ns[service.instance], (
            f"{service} begins before its instance is free, at {free_ns[service.instance]}"
        )
        free_ns[service.instance] = service.end_ns


def check_processors(topology: Topology, trace: Sequence[Service], processors_of: Sequence[Sequence[int]]) -> None:
    """A processor serves one item at a time; `processors_of[instance]` says which may serve each instance."""
    busy_until_ns: dict[tuple[int, ...], list[int]] = {}
    for service in trace:
        group = tuple(processors_of[service.instance])
        ends_ns = busy_until_ns.setdefault(group, [0] * len(group))
        free = min(range(len(group)), key=ends_ns.__getitem__)
        assert service.start_ns >= ends_ns[free], f"{service} begins before one of the processors {group} is free, at {ends_ns[free]}"
        ends_ns[free] = service.end_ns


def check_causality(topology: Topology, trace: Sequence[Service]) -> None:
    """A record is served only where a sender served its trigger before, at least a hand-over earlier."""
    hand_over_ns = min(
        topology.experiment.cluster.local_latency_ns,
        *(round(host.egress_latency_ms * 1e6) for host in topology.experiment.cluster.hosts),
        *(
            round(link.latency_ms * 1e6)
            for link in (*topology.experiment.cluster.region_links, *topology.experiment.cluster.links)
            if link.latency_ms is not None
        ),
    )
    ends_ns: dict[tuple[int, int], int] = {}  # (instance, trigger) -> first end
    for service in trace:
        if service.kind == 0:
            ends_ns.setdefault((service.instance, service.trigger), service.end_ns)
    for service in trace:
        senders = topology.senders(service.instance)
        if service.kind == 0 and senders:
            earlier = [ends_ns[sender, service.trigger] for sender in senders if (sender, service.trigger) in ends_ns]
            assert earlier, f"{service}: no sender has served its trigger"
            assert service.start_ns >= min(earlier) + hand_over_ns, f"{service} begins before its record can have come, at {min(earlier)}"


def check_fifo(topology: Topology, trace: Sequence[Service]) -> None:
    """Per channel: records are served in the order in which the sender served what caused them.

    Only where the sender sends at once what a record causes (no rows of closing panes), and a trigger tells which sender a record is from
    and which of the sender's services caused it.
    """
    times_served = Counter((service.instance, service.trigger) for service in trace if service.kind == 0)
    place: dict[int, dict[int, int]] = defaultdict(dict)  # instance -> trigger -> position in its order of service
    for service in trace:
        if service.kind == 0 and times_served[service.instance, service.trigger] == 1:
            place[service.instance][service.trigger] = len(place[service.instance])
    newest: dict[tuple[int, int], int] = defaultdict(int)
    for service in trace:
        if service.kind != 0:
            continue
        senders = [sender for sender in topology.senders(service.instance) if (sender, service.trigger) in times_served]
        if (
            len(senders) != 1
            or service.trigger not in place[senders[0]]
            or holds_rows_back(topology.experiment.operator(topology.operator_of[senders[0]]))
        ):
            continue
        channel, position = (senders[0], service.instance), place[senders[0]][service.trigger]
        assert position >= newest[channel], f"{service} overtook an earlier record on the channel {channel}"
        newest[channel] = position


def holds_rows_back(operator: Any) -> bool:
    if operator.kind == "count_window_aggregate":
        return bool(operator.parameters.counts == "all")
    return operator.kind == "window_join" or (
        operator.kind in ("aggregate", "session_aggregate") and operator.parameters.emit == "on_close"
    )


def check_conservation(topology: Topology, counts: Mapping[str, Mapping[str, Any]]) -> None:
    """In a drained run nothing is made, and what is lost is counted: what was sent to an operator was served or lost, once per copy.

    counts: per operator, records `in`, `out`, `shed`, `lost` and `unsent` (which is part of
    `lost`), and `attribution`, with those `sent`.
    """
    experiment = topology.experiment
    edges = experiment.query.edges
    taken = {id: count["in"] + count["lost"] - count["unsent"] for id, count in counts.items()}
    fed = {edge.target for edge in edges}
    sent_in_all = sum(count["attribution"]["sent"] for count in counts.values())
    taken_in_all = sum(taken[id] for id in fed)
    assert sent_in_all == taken_in_all, f"{sent_in_all} records were sent, {taken_in_all} served or lost"
    for operator in experiment.query.operators:
        feeding = [edge for edge in edges if edge.target == operator.id]
        copies = [operator.parallelism if edge.partitioning.kind == "broadcast" else 1 for edge in feeding]
        made = sum(counts[edge.source]["out"] * copy for edge, copy in zip(feeding, copies, strict=True))
        unsent = sum(counts[source]["unsent"] for source in {edge.source for edge in feeding})
        ports = [{edge.source_port for edge in edges if edge.source == sender.source} for sender in feeding]
        if feeding:
            assert taken[operator.id] <= made, f"{operator.id} took {taken[operator.id]} records, but at most {made} were made for it"
        if all(len(used) == 1 for used in ports):  # counts do not tell the ports of one sender apart
            assert taken[operator.id] >= made - unsent, f"{operator.id} took {taken[operator.id]} records of {made}, {unsent} were not sent"
        leaving = [edge for edge in edges if edge.source == operator.id]
        if len({edge.source_port for edge in leaving}) == 1 and operator.kind != "sink":
            copies = [experiment.operator(e.target).parallelism if e.partitioning.kind == "broadcast" else 1 for e in leaving]
            sent, unsent = counts[operator.id]["attribution"]["sent"], counts[operator.id]["unsent"]
            assert counts[operator.id]["out"] * sum(copies) == sent + unsent, f"{operator.id} made records that it neither sent nor lost"
        if operator.kind in ("source", "map", "project", "union"):
            assert counts[operator.id]["out"] + counts[operator.id]["shed"] == counts[operator.id]["in"], (
                f"{operator.id} puts out another number of records than it serves"
            )
        if operator.kind == "filter":
            assert counts[operator.id]["out"] <= counts[operator.id]["in"], f"{operator.id} puts out more records than it serves"


def check_every_input_is_served_once(topology: Topology, trace: Sequence[Service], offered: int) -> None:
    """Sources serve each log record exactly once (in a run that drained)."""
    sources = {operator.id for operator in topology.experiment.query.operators if operator.kind == "source"}
    served = Counter(service.trigger for service in trace if service.kind == 0 and topology.operator_of[service.instance] in sources)
    assert len(served) == offered, f"{offered} records were offered, {len(served)} served"
    assert not served or max(served.values()) == 1, f"record {served.most_common(1)[0][0]} was served more than once"


def check_panes_close_once(rows: Iterable[Mapping[str, Any]], key: str | None) -> None:
    """Watermarks never fall: a pane that has closed gives no second row for a key, and no row ends after its pane reopened.

    rows: what an aggregate that emits on close has delivered to a sink, in the sink's order.
    """
    seen: set[tuple[Any, int]] = set()
    for row in rows:
        group = (row[key] if key else None, row["window_start"])
        assert group not in seen, f"pane {group} closed twice"
        seen.add(group)


def check_latencies(records: Iterable[Mapping[str, Any]], trace: Sequence[Service]) -> None:
    """A sink delivers at the end of one of its services, with that service's trigger."""
    ends = {(service.instance, service.end_ns): service.trigger for service in trace if service.kind == 0}
    for record in records:
        place = (record["instance"], record["end_ns"])
        assert place in ends, f"nothing was served at {place}, yet a record was delivered"
        assert ends[place] == record["trigger"], f"the record delivered at {place} has another trigger than the one served"
