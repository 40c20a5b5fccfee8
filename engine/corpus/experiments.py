"""A trace as an experiment that anybody can open, change and run (docs/learned-placement.md).

Windows of time follow the processing clock, and every firing reads its whole window, as in the system of the source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.costmodels.description import Aggregate, Dtype, Filter, Host, Join, Operator, Sink, Source, Window, WindowedAggregate

from .queries import DrawnQuery
from .traces import Trace

Document = dict[str, Any]

FIRST: Mapping[Dtype, str] = {"int": "i1", "double": "f1", "string": "s1"}
"""Name of the first attribute of a type in the records of a source."""

KEYS: Mapping[Dtype, str] = {**FIRST, "double": "key"}
"""What records are joined and grouped by. Floats are no keys: the stream's own key takes as many values as its doubles do."""

DOUBLES = 11  # values from -0.05 to 0.05
FUNCTIONS = {"min": "min", "max": "max", "mean": "avg", "sum": "sum"}
TEXT_FUNCTIONS = ("startswith", "endswith", "contains")
PRICES = "costream_2024"
CHANGED_PRICES = "costream_2024_changed"
PAUSES = {"above": 0.9, "every_s": 1, "full_ms": 500}
MEMORY = {"kind": "costream_2024", "pauses": PAUSES}
CHANGED_MEMORY = MEMORY | {"slow_down": {"kind": "klink"}}
ENVELOPE_BYTES = 120
CREDITS = 32_768  # records that a receiver's queue holds
VALUE_BYTES: Mapping[Dtype, int] = {"int": 10, "double": 14, "string": 9}
"""On the wire, besides the envelope. A record's key and number are integers, too; its time is free."""


BURST: Document = {"kind": "slow_host", "when": {"kind": "random", "mean_s": 10}, "for_ms": 500, "factor": 0.6}
"""Load of others on a host, which all of its operators feel."""

COST: Document = {"noise": {"kind": "lognormal", "cv": 0.1}, "warmup": {"kind": "time", "factor": 2, "over_s": 5}}
"""What no feature tells: services vary, and a new process is slower at first."""


def experiment(trace: Trace, seed: int, horizon_s: float) -> Document:
    """seed: of the streams. horizon_s: length of the run in virtual time."""
    query = trace.query
    ids = ids_of(query)
    operators = [_operator(query, number, ids[number]) | {"cost": COST} for number in range(len(ids))]
    sources = {id: _source(of) for id, of in zip(ids, query.operators, strict=True) if isinstance(of, Source)}
    name = f"{query.template.replace('_', '-')} query over {len(trace.hosts)} hosts"
    placed = dict(zip(ids, trace.placed, strict=True))
    return assembled(name, operators, _edges(query, ids), sources, trace.hosts, placed, seed, horizon_s)


def on_changed_engine(document: Document) -> Document:
    """The same experiment where strings and serialising cost twice as much, collecting garbage slows down along another curve, and sources
    need not fetch."""
    hosts = [host | {"memory": CHANGED_MEMORY} for host in document["cluster"]["hosts"]]
    sources = {id: source | {"disorder": {"kind": "none"}} for id, source in document["workload"]["sources"].items()}
    return document | {
        "prices": CHANGED_PRICES,
        "cluster": document["cluster"] | {"hosts": hosts},
        "workload": document["workload"] | {"sources": sources},
    }


def assembled(
    name: str,
    operators: Sequence[Document],
    edges: Sequence[Document],
    sources: Mapping[str, Document],
    hosts: Sequence[Host],
    placed: Mapping[str, int],
    seed: int,
    horizon_s: float,
) -> Document:
    """placed: by operator id, the number of its host."""
    names = [f"h{number + 1}" for number in range(len(hosts))]
    fetched = {id: source | {"disorder": _fetches(hosts[placed[id]])} if id in placed else source for id, source in sources.items()}
    return {
        "format": 1,
        "name": name,
        "query": {"operators": list(operators), "edges": list(edges)},
        "cluster": {
            "envelope_bytes": ENVELOPE_BYTES,
            "hosts": [_host(host, named) for host, named in zip(hosts, names, strict=True)],
        },
        "placement": {"kind": "explicit", "hosts": {id: [names[place]] for id, place in placed.items()}},
        "prices": PRICES,
        "policies": {"flow_control": {"kind": "credits", "per_channel": CREDITS}},
        "workload": {"seed": seed, "horizon_s": horizon_s, "sources": fetched},
        "faults": [BURST | {"host": name} for name in names],
        "measurement": {
            "latency": {"from": "ingest", "anchor": "oldest"},
            "also": [
                {"name": "end_to_end", "from": "event", "anchor": "oldest", "to": "sink"},
                {"name": "mixed", "from": "ingest", "anchor": "mixed", "to": "sink"},
            ],
        },
    }


def ids_of(query: DrawnQuery) -> list[str]:
    """By operator: its kind, and a number where there are several of it."""
    kinds = [_NAMES[type(of)] for of in query.operators]
    seen: dict[str, int] = {}
    ids = []
    for kind in kinds:
        seen[kind] = seen.get(kind, 0) + 1
        ids.append(kind if kinds.count(kind) == 1 else f"{kind}{seen[kind]}")
    return ids


_NAMES: Mapping[type, str] = {
    Source: "source",
    Filter: "filter",
    Join: "join",
    WindowedAggregate: "aggregate",
    Aggregate: "summary",
    Sink: "sink",
}


def _edges(query: DrawnQuery, ids: list[str]) -> list[Document]:
    edges: list[Document] = []
    for number, senders in enumerate(query.senders):
        for sender, side in zip(senders, ("left", "right"), strict=False):
            port = {"target_port": side} if isinstance(query.operators[number], Join) else {}
            edges.append({"source": ids[sender], "target": ids[number], **port})
    return edges


def _operator(query: DrawnQuery, number: int, id: str) -> Document:
    of: Operator = query.operators[number]
    match of:
        case Source():
            return {"id": id, "kind": "source"}
        case Sink():
            return {"id": id, "kind": "sink"}
        case Filter():
            return {"id": id, "kind": "filter", "params": {"predicate": _predicate(of, attribute(query, number, of.dtype))}}
        case Join():
            params = {"left_key": KEYS[of.key], "right_key": KEYS[of.key], "window": _join_window(of.window)}
            if any(isinstance(query.operators[receiver], Aggregate) for sender, receiver in query.edges if sender == number):
                params["select"] = [*_fields(query, number), "last_of_firing"]
            return {"id": id, "kind": "window_join", "params": params}
        case WindowedAggregate(window=Window(policy="count")):
            size = {"size": of.window.size, "slide": of.window.slide}
            return {"id": id, "kind": "count_window_aggregate", "params": _grouped(of) | size | {"counts": "all"}}
        case WindowedAggregate():
            return {"id": id, "kind": "aggregate", "params": _grouped(of) | {"window": _time(of.window), "emit": "on_close"}}
        case Aggregate():
            marked = {"kind": "marked", "field": "last_of_firing"}
            return {"id": id, "kind": "aggregate", "params": _grouped(of) | {"window": marked, "emit": "on_close"}}


def _grouped(of: WindowedAggregate | Aggregate) -> Document:
    value = {"name": "value", "function": FUNCTIONS[of.function], "field": FIRST[of.dtype]}
    return {"key": None if of.group_by is None else KEYS[of.group_by], "aggregates": [value], "evaluation": "at_firing"}


def _predicate(of: Filter, attribute: str) -> str:
    if of.dtype != "string":
        return f"{attribute} {of.function} {of.literal!r}"
    negated, name = of.function.startswith("not "), of.function.removeprefix("not ")
    assert name in TEXT_FUNCTIONS
    return f"{'not ' * negated}{name}({attribute}, {of.literal!r})"


def attribute(query: DrawnQuery, number: int, dtype: Dtype) -> str:
    """What a filter tests: the aggregate's value or key where it follows one, else the first attribute of its literal's type."""
    (sender,) = query.senders[number]
    of = query.operators[sender]
    if not isinstance(of, WindowedAggregate | Aggregate):
        return FIRST[dtype]
    return "value" if dtype == of.result else KEYS[dtype]


def _fields(query: DrawnQuery, number: int) -> list[str]:
    """Names of the fields that leave an operator, of a join without selection: those of the right input that are taken get a prefix."""
    of = query.operators[number]
    if isinstance(of, Source):
        numbered = [f"{letter}{n + 1}" for letter, count in (("i", of.ints), ("f", of.doubles), ("s", of.strings)) for n in range(count)]
        return ["key", "number", *numbered, "time"]
    inputs = [_fields(query, sender) for sender in query.senders[number]]
    names = list(inputs[0])
    for name in inputs[1] if isinstance(of, Join) else ():
        while name in names:
            name = f"right_{name}"
        names.append(name)
    return names


def _time(window: Window) -> Document:
    size = {"size_s": window.size / 1000, "clock": "processing"}
    return {"kind": "tumbling"} | size if window.kind == "tumbling" else {"kind": "sliding", "slide_s": window.slide / 1000} | size


def _join_window(window: Window) -> Document:
    return {"kind": "count", "size": window.size, "slide": window.slide} if window.policy == "count" else _time(window)


def _source(of: Source) -> Document:
    stream = {
        "kind": "synthetic",
        "keys": DOUBLES,
        "in_turn": False,
        "record_bytes": sum(VALUE_BYTES[dtype] * count for dtype, count in _values(of).items()),
        "integers": of.ints,
        "integer_min": -10,
        "integer_max": 10,
        "floats": of.doubles,
        "strings": of.strings,
    }
    return {"stream": stream, "rate": {"kind": "constant", "per_s": of.rate_per_s}, "arrivals": {"kind": "poisson"}}


def _fetches(host: Host) -> Document:
    """By a source on this host: a request and its response both take the host's latency."""
    return {"kind": "fetch", "round_trip_ms": 2 * host.latency_ms}


def _values(of: Source) -> dict[Dtype, int]:
    return {"int": of.ints + 2, "double": of.doubles, "string": of.strings}


def _host(host: Host, name: str) -> Document:
    """Below one core the quota of a period is used up; more cores than one are shared by the operators' threads."""
    cores = host.cpu_percent / 100
    processor: Document = {"kind": "processor_sharing"}
    if cores < 1:
        processor["quota_cores"] = cores
    return {
        "name": name,
        "processor": processor,
        "cores": max(cores, 1),
        "memory_mb": host.ram_mb,
        "memory": MEMORY,
        "egress_mbit_per_s": host.mbit_per_s,
        "egress_latency_ms": host.latency_ms,
    }
