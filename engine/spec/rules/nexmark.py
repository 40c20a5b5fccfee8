"""Warnings about NexMark topics that are joined, but do not stay in step."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from ..base.problems import Problem, pointer
from ..experiment.streams import Stream
from ..experiment.streams.nexmark import NexmarkAuction, NexmarkBid, NexmarkPerson, PickingStream
from .draft import Draft
from .flow import Datasets
from .resources import records_due
from .watermarks import downstream

PER_PERSON: dict[type[Stream], int] = {NexmarkPerson: 1, NexmarkAuction: 3, NexmarkBid: 46}
"""Records of each topic for every person who registers."""


def nexmark_warnings(draft: Draft, datasets: Datasets) -> Iterator[Problem]:
    """One warning per topic whose records, by the end of the run, refer to others that are long past or do not exist yet."""
    if draft.workload is None:
        return
    topics: dict[str, Stream] = {}
    people: dict[str, float] = {}  # who have registered by the end of the run, going by the records of each topic
    for id, source in draft.sources.items():
        due = records_due(draft.workload, source, datasets) if type(source.stream) in PER_PERSON else None
        if due is not None:
            topics[id] = source.stream
            people[id] = due(draft.workload.horizon_ns) / PER_PERSON[type(source.stream)]
    for id, other in permutations(topics, 2):
        referring, referred = topics[id], topics[other]
        if not isinstance(referring, PickingStream) or PER_PERSON[type(referred)] >= PER_PERSON[type(referring)]:
            continue
        join = _joining(draft, id, other)
        if join is None or abs(people[id] - people[other]) <= _people_in_reach(referring, referred):
            continue
        when = "do not exist yet" if people[id] > people[other] else "are long past"
        message = (
            f"the records of '{id}' and '{other}', which '{join}' joins, do not stay in step: by the end of the run '{id}' refers to "
            f"records of '{other}' that {when}, so fewer and fewer match; give '{id}' {_times(referring, referred)} the rate of '{other}'"
        )
        yield Problem(pointer("workload", "sources", id, "rate"), "drifts_apart", message, None, severity="warning")


def _people_in_reach(referring: PickingStream, referred: Stream) -> float:
    """How many people's registrations the topics may be apart before references miss."""
    if isinstance(referring, NexmarkBid) and isinstance(referred, NexmarkAuction):
        return referring.recent_auctions / PER_PERSON[NexmarkAuction]
    return float(referring.active_people)


def _times(referring: Stream, referred: Stream) -> str:
    many, one = PER_PERSON[type(referring)], PER_PERSON[type(referred)]
    return f"{many} times" if one == 1 else f"{many}/{one} times"


def _joining(draft: Draft, first: str, second: str) -> str | None:
    """The first operator that receives records of the two sources at different ports."""
    reaches = {id: {id, *downstream(draft, id)} for id in (first, second)}
    for id, kind in draft.kinds.items():
        if len(kind.inputs) < 2:
            continue
        into = [edge for edge in draft.edges.values() if edge.target == id and not edge.feedback]
        ports = {source: {edge.target_port for edge in into if edge.source in reached} for source, reached in reaches.items()}
        if any(a != b for a in ports[first] for b in ports[second]):
            return id
    return None
