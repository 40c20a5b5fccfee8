"""Rules of the query as a graph: ids, kinds, ports, parallelism, cycles, and that every operator lies on a path from a source to a sink.

Only feedback edges close cycles. Without them the graph is acyclic, and its topological order is the order in which schemas are derived.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from ..base.problems import Problem, Refusal, pointer, suggestion
from ..base.structure import refusal_problem
from ..experiment import registry
from ..experiment.query import Edge
from .draft import Draft, section


def graph_problems(draft: Draft) -> Iterator[Problem]:
    yield from _operators(draft)
    yield from _wires(draft)
    yield from _partitionings(draft)
    yield from _ends(draft)
    yield from _cycles(draft)
    yield from _feedback(draft)
    yield from _connections(draft)


def at_operator(draft: Draft, id: str, *below: str | int) -> str:
    return pointer("query", "operators", draft.ids[id], *below)


def topological(draft: Draft) -> list[str]:
    """Ids of the sound operators, senders before receivers, ignoring feedback edges. Leaves out those on or downstream of another cycle."""
    senders = _neighbours(draft, forward=False, feedback=False)
    receivers = _neighbours(draft, forward=True, feedback=False)
    waiting = {id: len(senders[id]) for id in draft.ids}
    ready = [id for id in draft.ids if not waiting[id]]
    order = []
    for id in ready:  # grows during the iteration
        order.append(id)
        for receiver in receivers[id]:
            waiting[receiver] -= 1
            if not waiting[receiver]:
                ready.append(receiver)
    return [id for id in order if id in draft.by_id]


def _neighbours(draft: Draft, forward: bool, feedback: bool = True) -> dict[str, list[str]]:
    """Downstream (or upstream) operators by operator, each once, without unknown ids. feedback: include feedback edges."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for wire in draft.wires:
        if wire.source in draft.ids and wire.target in draft.ids and (feedback or not wire.feedback):
            here, there = (wire.source, wire.target) if forward else (wire.target, wire.source)
            found[here][there] = None
    return {id: list(found[id]) for id in draft.ids}


def _operators(draft: Draft) -> Iterator[Problem]:
    known = registry.operators()
    for position, operator in draft.operators.items():
        if draft.ids[operator.id] != position:
            message = f"the id '{operator.id}' is already used by operator {draft.ids[operator.id] + 1} of the list; choose another"
            yield Problem(pointer("query", "operators", position, "id"), "duplicate_id", message, operator.id)
        if operator.kind not in known:
            message = (
                f"the kind of operator '{operator.id}' is '{operator.kind}', which does not exist; it must be one of {', '.join(known)}"
            )
            place = pointer("query", "operators", position, "kind")
            yield Problem(place, "unknown_kind", message, operator.kind, suggestion(operator.kind, known))


def _wires(draft: Draft) -> Iterator[Problem]:
    seen: dict[tuple[str, str, str, str], int] = {}
    for wire in draft.wires:
        for end, id, port, side in (
            ("source", wire.source, wire.source_port, "output"),
            ("target", wire.target, wire.target_port, "input"),
        ):
            if id not in draft.ids:
                message = f"{end} is '{id}', but the query has no such operator; name an operator's id"
                yield Problem(pointer("query", "edges", wire.index, end), "unknown_operator", message, id, suggestion(id, draft.ids))
            elif id in draft.kinds:
                kind = draft.kinds[id]
                ports = kind.outputs if end == "source" else kind.inputs
                if port not in ports:
                    has = f"its {side} ports are {', '.join(ports)}" if ports else f"a {kind.kind} has no {side} ports"
                    message = f"{end}_port is '{port}', but operator '{id}' has no such {side} port; {has}"
                    place = pointer("query", "edges", wire.index, f"{end}_port")
                    yield Problem(place, "unknown_port", message, port, suggestion(port, ports))
        ends = (wire.source, wire.source_port, wire.target, wire.target_port)
        first = seen.setdefault(ends, wire.index)
        if first != wire.index:
            message = f"the edge from '{wire.source}' to '{wire.target}' repeats edge {first + 1} of the list; remove one of them"
            yield Problem(pointer("query", "edges", wire.index), "duplicate_edge", message, f"{wire.source} -> {wire.target}")
    fed = {(wire.target, wire.target_port) for wire in draft.wires}
    for id, kind in draft.kinds.items():
        for port in kind.inputs:
            if (id, port) not in fed:
                message = f"input port '{port}' of operator '{id}' has no edge; connect an operator to it"
                yield Problem(at_operator(draft, id), "missing_edge", message, port)


def _partitionings(draft: Draft) -> Iterator[Problem]:
    for index, edge in draft.edges.items():
        source, target = draft.by_id.get(edge.source), draft.by_id.get(edge.target)
        if source is None or target is None:
            continue
        try:
            edge.partitioning.check_parallelism(source.parallelism, target.parallelism)
        except Refusal as refusal:
            yield partitioning_problem(refusal, index, edge)


def partitioning_problem(refusal: Refusal, index: int, edge: Edge) -> Problem:
    """The problem with an edge's partitioning. Its message starts with the edge."""
    problem = refusal_problem(refusal, ("query", "edges", index, "partitioning"))
    return replace(problem, message=f"edge from '{edge.source}' to '{edge.target}': {problem.message}")


def _ends(draft: Draft) -> Iterator[Problem]:
    written = section(draft.document, "query", "operators")
    if not isinstance(written, list | tuple) or len(draft.kinds) < len(written):
        return  # an unreadable operator may be the missing one
    place = pointer("query", "operators")
    if not any(not kind.inputs for kind in draft.kinds.values()):
        yield Problem(place, "no_source", "the query has no source, so no record would enter; add an operator of kind source")
    if not any(not kind.outputs for kind in draft.kinds.values()):
        yield Problem(place, "no_sink", "the query has no sink, so nothing would be delivered; add an operator of kind sink")


def _cycles(draft: Draft) -> Iterator[Problem]:
    """One problem per cycle without a feedback edge, for a set of such cycles that share no operator."""
    receivers = _neighbours(draft, forward=True, feedback=False)
    while True:
        cycle = _cycle(receivers)
        if not cycle:
            return
        index = next(wire.index for wire in draft.wires if (wire.source, wire.target, wire.feedback) == (cycle[-1], cycle[0], False))
        shown = " -> ".join([*cycle, cycle[0]])
        message = (
            f"the edge from '{cycle[-1]}' to '{cycle[0]}' closes the cycle {shown}; remove one of its edges, or mark the one that leads "
            "back with feedback: true"
        )
        yield Problem(pointer("query", "edges", index), "cycle", message, shown)
        receivers = {id: [receiver for receiver in behind if receiver not in cycle] for id, behind in receivers.items() if id not in cycle}


def _feedback(draft: Draft) -> Iterator[Problem]:
    """Feedback edges that close no cycle or are the only path to an operator, and declared fields on other edges."""
    receivers = _neighbours(draft, forward=True)
    region = _regions(receivers, _neighbours(draft, forward=False))
    starts = [id for id in draft.ids if id not in draft.kinds or not draft.kinds[id].inputs]
    fed = _reachable(starts, receivers)
    first_fed = _reachable(starts, _neighbours(draft, forward=True, feedback=False))
    for wire in draft.wires:
        if not wire.feedback or wire.source not in draft.ids or wire.target not in draft.ids:
            continue
        place = pointer("query", "edges", wire.index, "feedback")
        if region[wire.source] != region[wire.target]:
            message = f"feedback is true, but no path leads from '{wire.target}' back to '{wire.source}', so it closes no cycle; remove it"
            yield Problem(place, "no_cycle", message, True)
        elif wire.target in fed and wire.target not in first_fed:
            message = (
                f"feedback is true, but the sources reach '{wire.target}' only over feedback edges, so it would never receive a watermark; "
                "mark instead the edge that leads back to the operator of the cycle that the sources reach first"
            )
            yield Problem(place, "only_feedback", message, True)
    for index, edge in draft.edges.items():
        if edge.fields is not None and not edge.feedback:
            message = f"fields are declared on the edge from '{edge.source}', but only feedback edges declare fields; remove them"
            yield Problem(pointer("query", "edges", index, "fields"), "unexpected", message, [field.name for field in edge.fields])


def _cycle(receivers: Mapping[str, list[str]]) -> list[str]:
    """The operators of one cycle, each before its receiver. Empty if there is no cycle."""
    senders = Counter(receiver for behind in receivers.values() for receiver in behind)
    rest = dict(receivers)
    ready = [id for id in rest if not senders[id]]
    for id in ready:  # grows during the iteration
        for receiver in rest.pop(id):
            senders[receiver] -= 1
            if not senders[receiver]:
                ready.append(receiver)
    # The remaining operators lie on cycles or downstream of one. Walking upstream from any of them must revisit an operator.
    before = {receiver: id for id, behind in rest.items() for receiver in behind}
    walk: dict[str, None] = {}
    here = next(iter(rest), None)
    while here is not None and here not in walk:
        walk[here] = None
        here = before[here]
    if here is None:
        return []
    names = list(walk)
    cycle = names[names.index(here) :][::-1]
    start = min(range(len(cycle)), key=lambda k: list(receivers).index(cycle[k]))  # start with the first in the document
    return cycle[start:] + cycle[:start]


def _connections(draft: Draft) -> Iterator[Problem]:
    """Operators that no record reaches, and operators whose records reach no sink. Operators of unknown kind count as source and sink."""
    entries = [id for id in draft.ids if id not in draft.kinds or not draft.kinds[id].inputs]
    exits = [id for id in draft.ids if id not in draft.kinds or not draft.kinds[id].outputs]
    fed = _reachable(entries, _neighbours(draft, forward=True))
    heard = _reachable(exits, _neighbours(draft, forward=False))
    targets = {wire.target for wire in draft.wires}
    for id in draft.by_id:
        lacks = []
        if entries and id not in fed and id in targets:  # without any edge, it was reported as an unconnected port
            lacks.append("no path leads to it from a source")
        if exits and id not in heard:
            lacks.append("no path leads from it to a sink")
        if lacks:
            message = f"operator '{id}' is disconnected: {' and '.join(lacks)}; connect it or remove it"
            yield Problem(at_operator(draft, id), "disconnected", message, id)


def _regions(receivers: Mapping[str, list[str]], senders: Mapping[str, list[str]]) -> dict[str, int]:
    """Number of each operator's strongly connected component. Operators on a common cycle share one."""
    finished: dict[str, None] = {}  # in postorder: each operator after those reached from it
    for start in receivers:
        walk = [(start, iter(receivers[start]))] if start not in finished else []
        entered = {start}
        while walk:
            here, behind = walk[-1]
            following = next((id for id in behind if id not in finished and id not in entered), None)
            if following is None:
                finished[here] = None
                walk.pop()
            else:
                entered.add(following)
                walk.append((following, iter(receivers[following])))
    region: dict[str, int] = {}
    for number, start in enumerate(reversed(finished)):
        waiting = [start] if start not in region else []
        while waiting:
            here = waiting.pop()
            if here not in region:
                region[here] = number
                waiting += [id for id in senders[here] if id not in region]
    return region


def _reachable(starts: Iterable[str], neighbours: Mapping[str, list[str]]) -> set[str]:
    found = set(starts)
    waiting = list(found)
    while waiting:
        for id in neighbours[waiting.pop()]:
            if id not in found:
                found.add(id)
                waiting.append(id)
    return found
