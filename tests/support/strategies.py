"""Hypothesis strategies for small valid experiments: random graphs, clusters, prices, windows, rates and disorder.

What is drawn leans to where engines go wrong: records that tie on regular grids, overload beside idleness, channels of one credit, links
that are slower than the cores behind them, watermarks that come too early.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from engine.spec import RecordSchema
from engine.spec.experiment import registry
from engine.spec.experiment.streams import NexmarkAuction, NexmarkBid, NexmarkPerson
from tests.support.tiers import tier

Document = dict[str, Any]

SCHEMAS = {stream.model_fields["kind"].default: stream.schema_fixed for stream in (NexmarkPerson, NexmarkAuction, NexmarkBid)}
KINDS = ("aggregate", "session_aggregate", "count_window_aggregate", "aggregate", "filter", "map", "split", "project", "union", "receiver")
JOINS = ("join", "window_join", "interval_join", "expiring_join")
JOIN_KEYS = ("id", "seller", "auction", "bidder", "state", "category")  # of many values first, so that joins stay small
RECORDS = tier(ci=(300, 100, 30), all=(800, 300, 100, 30))  # per run, before operators multiply them
TESTS_OF_TEXTS = ("startswith({0}, 'A')", "not endswith({0}, 'n')", "'B' <= {0} < 'S'", "like({0}, '%a_%')", "lower({0}) != upper({0})")
COMPUTED = (
    *("{0} * 2 + 1", "{0} / 3", "{0} * 0.908", "{0} // 7 - {0} % 5", "{0} if {0} % 2 == 0 else -{0}"),
    *("hash({0})", "bucket({0}, 5)", "round({0} / 7)", "sqrt({0} - 3)", "{0} // ({0} % 3)", "floor({0} / ({0} % 2))"),
)
COMPUTED_TEXTS = ("lower({0})", "upper({0})", "'even' if length({0}) % 2 == 0 else {0}", "'short' if length({0}) < 6 else 'long'")
MILLISECOND_NS = 1_000_000
LATENCIES_MS = ((0.001, 0.01, 0.1, 0.5, 1.0, 3.0), (0.1,), (0.5, 1.0, 3.0), (0.001, 0.002))  # of one cluster: all kinds, equal, long, short


def seconds(ns: int) -> float:
    """The decimal number of seconds that names exactly this many ns."""
    return float(f"{ns // 10**9}.{ns % 10**9:09d}") if ns >= 0 else -seconds(-ns)


def milliseconds(ns: int) -> float:
    return float(f"{ns // 10**6}.{ns % 10**6:06d}")


def ends(output: str) -> tuple[str, str]:
    """Operator and port of an output, which is written as the operator's id, or as id.port if the port is not `out`."""
    id, _, port = output.partition(".")
    return id, port or "out"


class Query:
    """A query under construction: operators, edges, and the schema of each output that something may read."""

    kinds: tuple[str, ...] = KINDS
    joins: tuple[str, ...] = JOINS

    def __init__(self, draw: st.DrawFn, horizon_ns: int):
        self.draw, self.horizon_ns = draw, horizon_ns
        self.operators: list[Document] = []
        self.edges: list[Document] = []
        self.schemas: dict[str, RecordSchema] = {}
        self.streams: dict[str, str] = {}
        self.records_factor = 1  # how many records one input record can become, roughly

    def parallelism(self) -> int:
        return self.draw(st.sampled_from((1, 1, 2, 2, 3, 4)))

    def cost(self) -> Document | None:
        if self.draw(st.booleans()):
            return None
        price_us = st.sampled_from((0.0, 0.001, 0.5, 1.0, 3.0, 10.0, 10.0, 33.333, 80.0))
        names = self.draw(st.sets(st.sampled_from(("record_us", "output_us", "control_us"))))
        return {name: self.draw(price_us) for name in sorted(names)} | self.variation()

    def variation(self) -> Document:
        """Noise and warm-up of a cost, mostly none."""
        varying: Document = {}
        noise = self.draw(
            st.sampled_from((None, None, None, {"kind": "exponential"}, {"kind": "lognormal", "cv": 1.5}, {"kind": "uniform"}))
        )
        if noise is not None:
            varying["noise"] = noise
        if self.draw(st.integers(0, 5)) == 0:
            varying["drift"] = {
                "kind": "ar1",
                "sigma": self.draw(st.sampled_from((0.06, 0.25))),
                "time_constant_s": self.draw(st.sampled_from((0.001, 0.03))),
                "step_s": self.draw(st.sampled_from((0.001, 0.0017, 1.0))),
            }
        if self.draw(st.integers(0, 5)) == 0:
            varying["state_reference_mb"] = self.draw(st.sampled_from((0.001, 0.01, 1.0)))
        if self.draw(st.integers(0, 5)) == 0:
            varying["warmup"] = {
                "kind": self.draw(st.sampled_from(("records", "time"))),
                "factor": self.draw(st.sampled_from((1.0, 1.5, 7.77))),
            }
            if varying["warmup"]["kind"] == "records":
                varying["warmup"]["records"] = self.draw(st.sampled_from((1, 3, 100)))
            else:
                varying["warmup"]["over_s"] = self.draw(st.sampled_from((0.000_000_007, 0.0013, 0.05)))
        return varying

    def add(self, kind: str, parallelism: int, params: Document) -> str:
        id = f"{kind}{len(self.operators)}"
        operator: Document = {"id": id, "kind": kind, "parallelism": parallelism, "params": params}
        cost = self.cost()
        self.operators.append(operator if cost is None else operator | {"cost": cost})
        return id

    def add_source(self, stream: str) -> str:
        id = self.add("source", self.parallelism(), {})
        self.streams[id], self.schemas[id] = stream, SCHEMAS[stream]
        return id

    def add_operator(self, kind: str, params: Document, inputs: dict[str, list[str]], keys: dict[str, str | None]) -> str:
        """inputs: the feeding outputs of each port. keys: the key by which a port's records have to be partitioned, if any."""
        model = registry.operator(kind)
        parsed = model.Params.model_validate(params)
        parallelism = min(self.parallelism(), model.parallelism_max(parsed) or 4)
        id = self.add(kind, parallelism, params)
        scheme = self.draw(
            st.sampled_from(({}, {"scheme": "modulo"}, {"key_groups": 7}, {"key_groups": 128}, {"key_groups": 7, "mixed": False}))
        )
        for port, feeding in inputs.items():
            for source in feeding:
                self.connect(source, id, port, parallelism, keys.get(port), scheme)
        if kind != "sink":
            schemas = model.output_schemas(parsed, {port: self.schemas[feeding[0]] for port, feeding in inputs.items()})
            ports = model.output_ports(parsed)
            self.schemas |= {id if port == "out" else f"{id}.{port}": schemas[port] for port in self.offered(ports)}
        return id

    def offered(self, ports: Sequence[str]) -> Sequence[str]:
        """The outputs that others may read."""
        return ports if len(ports) == 1 else sorted(self.draw(st.sets(st.sampled_from(ports), min_size=1)))

    def connect(
        self, source: str, target: str, port: str, parallelism: int, key: str | None, scheme: Document, may_broadcast: bool = True
    ) -> None:
        sender, source_port = ends(source)
        sender_parallelism = next(operator["parallelism"] for operator in self.operators if operator["id"] == sender)
        hashable = [f.name for f in self.schemas[source].fields if f.type != "float"]
        if key is not None and parallelism > 1:
            partitioning: Document = {"kind": "hash", "key": key} | scheme
        else:
            kinds = ["rebalance", "rescale"] + ["hash"] * bool(hashable) + ["forward"] * 2 * (sender_parallelism == parallelism)
            kinds += ["broadcast"] * (may_broadcast and self.records_factor * parallelism <= 4)
            kind = self.draw(st.sampled_from(kinds))
            if kind == "broadcast":
                self.records_factor *= parallelism
            partitioning = {"kind": kind}
            if kind == "hash":
                partitioning |= {"key": self.draw(st.sampled_from(hashable))} | scheme
        edge = {"source": sender, "source_port": source_port, "target": target, "target_port": port, "partitioning": partitioning}
        if self.draw(st.integers(0, 7)) == 0:
            edge["capacity"] = self.draw(st.sampled_from((1, 2, 7)))
        self.edges.append(edge)

    def fields(self, id: str, *types: str) -> list[str]:
        return [f.name for f in self.schemas[id].fields if f.type in types]

    # Parameters of the kinds

    def predicate(self, source: str) -> str:
        numbers, texts = self.fields(source, "int", "timestamp"), self.fields(source, "string")
        choices = ["True", "False"]
        choices += [f"{name} % {n} {sign} 0" for name in numbers[:3] for n in (2, 3) for sign in ("!=", "==")]
        choices += [f"{name} in ('OR', 'ID', 'CA')" for name in texts if name == "state"]
        choices += [test.format(name) for name in texts[:2] for test in TESTS_OF_TEXTS]
        choices += [f"abs({name}) * 0.5 > 1.5" for name in self.fields(source, "float")]
        choices += [f"bucket({name}, 3) != 1" for name in self.schemas[source].names[:3]]
        return self.draw(st.sampled_from(choices))

    def filter_params(self, source: str) -> Document:
        return {"predicate": self.predicate(source)}

    def split_params(self, source: str) -> Document:
        mode = self.draw(st.sampled_from(("first", "copy")))
        routes = [{"predicate": self.predicate(source)} for _ in range(self.draw(st.integers(1, 4)))]
        if mode == "copy":
            self.records_factor *= 2
        return {"mode": mode, "routes": routes}

    def project_params(self, source: str) -> Document:
        chosen = self.draw(st.lists(st.sampled_from(self.schemas[source].names), min_size=1, max_size=5, unique=True))
        return {
            "fields": [
                {"field": name} | ({"name": f"p{n}_{len(self.operators)}"} if self.draw(st.booleans()) else {})
                for n, name in enumerate(chosen)
            ]
        }

    def union_params(self, source: str) -> Document:
        return {}

    def receiver_params(self, source: str) -> Document:
        return {}

    def map_params(self, source: str) -> Document:
        names = self.draw(st.lists(st.sampled_from(self.schemas[source].names), min_size=1, max_size=4, unique=True))
        numbers, texts = self.fields(source, "int"), self.fields(source, "string")
        fields = [{"name": name, "expression": name} for name in names]
        if numbers:
            expression = self.draw(st.sampled_from(COMPUTED)).format(self.draw(st.sampled_from(numbers)))
            fields.append({"name": f"computed{len(self.operators)}", "expression": expression})
        if texts and self.draw(st.booleans()):
            expression = self.draw(st.sampled_from(COMPUTED_TEXTS)).format(self.draw(st.sampled_from(texts)))
            fields.append({"name": f"text{len(self.operators)}", "expression": expression})
        return {"fields": fields}

    def window(self, kinds: tuple[str, ...]) -> Document:
        kind = self.draw(st.sampled_from(kinds))
        if kind in ("none", "full_history"):
            return {"kind": kind}
        clock = self.draw(st.sampled_from(("event", "event", "processing")))
        size_ns = max(1000, self.horizon_ns // self.draw(st.sampled_from((10, 5, 3, 20, 1))))
        origin_ns = self.draw(st.sampled_from((0, 0, 1, size_ns // 3, -size_ns // 7, 5 * size_ns)))
        window = {"kind": kind, "size_s": seconds(size_ns), "origin_s": seconds(origin_ns), "clock": clock}
        if kind == "sliding":
            panes = self.draw(st.integers(1, 3))
            window["slide_s"] = seconds(max(1, size_ns // panes - self.draw(st.sampled_from((0, 0, 17)))))
        return window

    def grouped(self, source: str) -> Document:
        """Key, aggregates and evaluation."""
        keys = [name for name in self.fields(source, "int", "string", "bool", "timestamp") if name not in ("window_start", "window_end")]
        aggregates: list[Document] = [{"name": f"n{len(self.operators)}"}]
        for function, types in (
            ("sum", ("int", "float")),
            ("min", ("int", "float", "timestamp")),
            ("max", ("int", "float")),
            ("avg", ("int", "float")),
            ("count_distinct", ("int", "float", "string", "bool", "timestamp")),
        ):
            names = self.fields(source, *types)
            if names and self.draw(st.booleans()):
                aggregates.append(
                    {"name": f"{function}{len(self.operators)}", "function": function, "field": self.draw(st.sampled_from(names))}
                )
        params: Document = {"aggregates": self.draw(st.permutations(aggregates))}
        if keys and self.draw(st.sampled_from((True, True, True, False))):
            params["key"] = self.draw(st.sampled_from(keys))
        if self.draw(st.booleans()):
            params["evaluation"] = "at_firing"
        return params

    def emission(self, event_clock: bool) -> Document:
        params: Document = {"emit": self.draw(st.sampled_from(("on_close", "on_close", "on_update")))}
        if self.draw(st.booleans()):
            params["every"] = self.draw(st.sampled_from((2, 1, 3, 7)))
        if event_clock and self.draw(st.booleans()):
            params["lateness_ms"] = milliseconds(self.horizon_ns // self.draw(st.sampled_from((10, 3, 40))))
        return params

    def aggregate_params(self, source: str) -> Document:
        window = self.window(("tumbling", "sliding", "tumbling", "none"))
        times = self.fields(source, "timestamp")
        if times and self.draw(st.integers(0, 5)) == 0:
            window = {"kind": "until", "field": self.draw(st.sampled_from(times))}
        marks = self.fields(source, "bool")
        if marks and self.draw(st.booleans()):
            window = {"kind": "marked", "field": self.draw(st.sampled_from(marks))}
        params = self.grouped(source) | {"window": window}
        if window["kind"] == "marked":
            params |= self.emission(False)
        elif window["kind"] != "none":
            params |= self.emission(window.get("clock", "event") == "event")
        elif self.draw(st.booleans()):
            params["every"] = self.draw(st.sampled_from((2, 3, 7)))
        if window["kind"] == "sliding":
            self.records_factor *= 3
        return params

    def session_aggregate_params(self, source: str) -> Document:
        clock = self.draw(st.sampled_from(("event", "event", "processing")))
        gap_ns = max(1, self.horizon_ns // self.draw(st.sampled_from((20, 50, 100, 200, 7))) - self.draw(st.sampled_from((0, 0, 1))))
        return self.grouped(source) | {"gap_s": seconds(gap_ns), "clock": clock} | self.emission(clock == "event")

    def count_window_aggregate_params(self, source: str) -> Document:
        size = self.draw(st.sampled_from((2, 3, 5, 1, 20)))
        params = self.grouped(source) | {"size": size}
        if self.draw(st.booleans()):
            params["slide"] = self.draw(st.integers(1, size))
        if self.draw(st.integers(0, 2)) == 0:
            params["counts"] = "all"
        return params

    def join_keys(self, left: str, right: str) -> tuple[str, str] | None:
        """Keys of one type for both sides, None if there are none."""
        pairs = [
            (a, b)
            for a in JOIN_KEYS
            for b in JOIN_KEYS
            if a in self.schemas[left] and b in self.schemas[right] and self.schemas[left].type_of(a) == self.schemas[right].type_of(b)
        ]
        return self.draw(st.sampled_from(pairs)) if pairs else None

    def join_params(self, kind: str, left: str, right: str, keys: tuple[str, str]) -> Document:
        params: Document = {"left_key": keys[0], "right_key": keys[1]}
        params |= getattr(self, f"{kind}_own_params")(left, right)
        rules = ("newest", "trigger", "oldest", *(("window",) if kind == "window_join" else ()))
        if self.draw(st.booleans()):
            params["event_time"] = self.draw(st.sampled_from(rules))
        if self.draw(st.booleans()):
            chosen = self.draw(st.lists(st.sampled_from(self.schemas[left].names), min_size=1, max_size=3, unique=True))
            taken = [
                f"right_{name}"
                for name in self.schemas[right].names
                if name in self.schemas[left].names and f"right_{name}" not in self.schemas[left]
            ]
            params["select"] = chosen + taken[:2]
            named = [*self.schemas[left].names, *self.schemas[right].names]
            if params.get("window", {}).get("kind") in ("tumbling", "sliding") and self.draw(st.booleans()):
                params["select"] += [bound for bound in ("window_end", "window_start") if bound not in named]
            if kind == "window_join" and "last_of_firing" not in named and self.draw(st.booleans()):
                params["select"].append("last_of_firing")
        return params

    def lateness(self) -> Document:
        return {"lateness_ms": milliseconds(self.horizon_ns // self.draw(st.sampled_from((50, 10, 3))))} if self.draw(st.booleans()) else {}

    def join_own_params(self, left: str, right: str, kinds: tuple[str, ...] = ("tumbling", "full_history", "sliding")) -> Document:
        params: Document = {"window": self.window(kinds)}
        if params["window"].get("clock") == "event":
            params |= self.lateness()
            for side, source in (("left", left), ("right", right)):
                ends = sorted(self.fields(source, "timestamp"), key=lambda name: name != "window_end")
                if ends and self.draw(st.integers(0, 4)) == 0:
                    params[f"{side}_window_end"] = ends[0]
        return params

    def window_join_own_params(self, left: str, right: str) -> Document:
        if self.draw(st.integers(0, 3)) == 0:
            size = self.draw(st.sampled_from((2, 5, 1, 20)))
            return {"window": {"kind": "count", "size": size, "slide": self.draw(st.integers(1, size))}}
        return self.join_own_params(left, right, ("tumbling", "sliding"))

    def interval_join_own_params(self, left: str, right: str) -> Document:
        lower_ns = self.draw(st.sampled_from((0, 0, -self.horizon_ns // 10, -self.horizon_ns // 3, self.horizon_ns // 30)))
        length_ns = self.horizon_ns // self.draw(st.sampled_from((1, 5, 20))) * self.draw(st.sampled_from((1, 1, 1, 0)))
        params = {"lower_s": seconds(lower_ns), "upper_s": seconds(lower_ns + length_ns)} | self.lateness()
        times = self.fields(left, "timestamp")
        if times and self.draw(st.integers(0, 3)) == 0:
            del params["upper_s"]
            params["until"] = self.draw(st.sampled_from(times))
        return params

    def expiring_join_own_params(self, left: str, right: str) -> Document:
        keep = st.sampled_from(("all", "unmatched", "latest"))
        ttl_ns = max(1, self.horizon_ns // self.draw(st.sampled_from((2, 10, 50))))
        return {"ttl_s": seconds(ttl_ns), "keep_left": self.draw(keep), "keep_right": self.draw(keep)}

    # The graph

    def add_middle(self, unused: list[str]) -> str:
        """One more operator on what exists, preferably on what nothing reads yet."""
        everything = list(self.schemas)
        first = self.draw(st.sampled_from(unused or everything))
        if self.draw(st.sampled_from((True, False) if len(unused) > 1 else (False, False, False, False, True))):
            second = self.draw(st.sampled_from([id for id in unused if id != first] or everything))
            keys = self.join_keys(first, second)
            if keys is not None and self.records_factor <= 4:
                self.records_factor *= 4
                kind = self.draw(st.sampled_from(self.joins))
                params = self.join_params(kind, first, second, keys)
                return self.add_operator(kind, params, {"left": [first], "right": [second]}, {"left": keys[0], "right": keys[1]})
        feeding = [first] + [
            id for id in everything if id != first and self.schemas[id] == self.schemas[first] and self.draw(st.booleans())
        ]
        kind = self.draw(st.sampled_from(self.kinds))
        params = getattr(self, f"{kind}_params")(first)
        return self.add_operator(kind, params, {"in": feeding}, {"in": params.get("key")})

    def add_loop(self, source: str) -> None:
        """A map that counts how often a record went round, and a filter that sends it round again a few times."""
        names = self.draw(st.lists(st.sampled_from(self.schemas[source].names), min_size=1, max_size=3, unique=True))
        hops, most = f"hops{len(self.operators)}", self.draw(st.integers(1, 4))
        kept = [{"name": name, "expression": name} for name in names if name != hops]
        start = self.add_operator("map", {"fields": [*kept, {"name": hops, "expression": "0"}]}, {"in": [source]}, {})
        head = self.add_operator("map", {"fields": [*kept, {"name": hops, "expression": f"{hops} + 1"}]}, {"in": [start]}, {})
        numbers = [name for name in self.fields(start, "int", "timestamp") if name != hops]
        some = self.draw(st.sampled_from(["", *(f" and ({name} + {hops}) % 3 != 0" for name in numbers)]))
        gate = self.add_operator("filter", {"predicate": f"{hops} <= {most}{some}"}, {"in": [head]}, {})
        self.records_factor *= 1 + most
        parallelism = next(operator["parallelism"] for operator in self.operators if operator["id"] == head)
        self.connect(gate, head, "in", parallelism, None, {}, may_broadcast=False)
        self.edges[-1]["feedback"] = True

    def grow(self) -> None:
        """1 or 2 sources, up to 3 operators behind them, perhaps a cycle, a sink or two behind what nothing reads."""
        for _ in range(self.draw(st.sampled_from((1, 1, 2)))):
            self.add_source(self.draw(st.sampled_from(tuple(SCHEMAS))))
        for _ in range(self.draw(st.sampled_from((0, 1, 1, 2, 2, 3)[: 6 if len(self.streams) == 1 else 5]))):
            self.add_middle(self.unread())
        if self.records_factor <= 4 and self.draw(st.integers(0, 4)) == 0:
            self.add_loop(self.draw(st.sampled_from(list(self.schemas))))
        for _ in range(2):  # fan-out of an operator that others read, too
            unread = self.unread()
            if unread:
                same = [id for id in unread if self.schemas[id] == self.schemas[unread[0]]]
                together = same if self.draw(st.booleans()) else unread[:1]
                extra = [
                    id
                    for id in self.schemas
                    if id not in unread and self.schemas[id] == self.schemas[unread[0]] and self.draw(st.integers(0, 3)) == 0
                ]
                self.add_operator("sink", {}, {"in": together + extra}, {})
        for id in self.unread():
            self.add_operator("sink", {}, {"in": [id]}, {})

    def unread(self) -> list[str]:
        read = {(edge["source"], edge["source_port"]) for edge in self.edges if not edge.get("feedback")}
        return [output for output in self.schemas if ends(output) not in read]


@st.composite
def rates(draw: st.DrawFn, records: int, horizon_ns: int) -> Document:
    per_s = records * 1e9 / horizon_ns
    kind = draw(st.sampled_from(("constant", "constant", "steps", "cosine")))
    if kind == "constant":
        return {"kind": kind, "per_s": draw(st.sampled_from((per_s, float(round(per_s, -3) or per_s))))}
    if kind == "steps":
        turn = draw(st.integers(1, 3))
        steps = [{"at_s": 0.0, "per_s": round(per_s / 2, 3)}, {"at_s": seconds(horizon_ns * turn // 4), "per_s": round(1.5 * per_s, 3)}]
        return {"kind": kind, "steps": steps}
    period_s = max(0.001, seconds(horizon_ns // draw(st.integers(1, 3))))
    return {"kind": kind, "mean_per_s": round(per_s, 3), "amplitude_per_s": round(per_s / draw(st.integers(2, 4)), 3), "period_s": period_s}


@st.composite
def source_workloads(draw: st.DrawFn, stream: str, records: int, horizon_ns: int) -> Document:
    workload: Document = {
        "stream": {"kind": stream, "hot_ratio": draw(st.sampled_from((0.0, 0.0, 0.5)))},
        "rate": draw(rates(records, horizon_ns)),
    }
    if draw(st.sampled_from((False, False, True))):
        bursts = {"kind": "bursts", "every_ms": milliseconds(horizon_ns // 17)}
        workload["arrivals"] = draw(st.sampled_from(({"kind": "poisson"}, {"kind": "gamma"}, bursts)))
    if draw(st.sampled_from((True, True, False))):
        most_ms = milliseconds(horizon_ns // draw(st.sampled_from((10, 3, 20))))
        laws = (
            {"kind": "uniform", "max_ms": most_ms},
            {"kind": "exponential", "mean_ms": most_ms / 2},
            {"kind": "constant", "delay_ms": most_ms},
            {"kind": "gamma", "mean_ms": most_ms / 2, "shape": 2.0, "cap_ms": most_ms},
            {"kind": "lognormal", "median_ms": most_ms / 4, "cap_ms": most_ms},
            {"kind": "zipf", "ranks": 10, "step_ms": most_ms / 10},
            {"kind": "switched", "at_s": horizon_ns / 3e9, "after": {"kind": "uniform", "max_ms": most_ms}},
        )
        workload["disorder"] = draw(st.sampled_from(laws))
    if draw(st.sampled_from((True, True, True, False))):
        period_ns = max(1000, horizon_ns // draw(st.sampled_from((20, 7, 3, 50))))
        lag_ns = draw(st.sampled_from((0, 0, 0, horizon_ns // 20, horizon_ns // 5)))
        kind = draw(st.sampled_from(("bounded", "bounded", "device")))
        workload["watermarks"] = {"kind": kind, "lag_ms": milliseconds(lag_ns), "period_ms": milliseconds(period_ns)}
    if workload.get("watermarks", {}).get("kind") != "device" and draw(st.integers(0, 5)) == 0:
        workload["generation"] = {"kind": "coordinated"}
    return workload


@st.composite
def further_latencies(draw: st.DrawFn) -> list[Document]:
    clocks, anchors = ("event", "append", "ingest", "deadline"), ("trigger", "newest", "oldest", "mixed")
    points = ("sink", "emit", "sink", "emit", "read", "watermark", "marker")
    kinds = draw(st.lists(st.tuples(*map(st.sampled_from, (clocks, anchors, points))), max_size=8))
    return [
        {
            "name": f"latency_{n}",
            "from": "append" if to == "read" or (clock == "deadline" and to in ("watermark", "marker")) else clock,
            "anchor": anchor,
            "to": to,
        }
        for n, (clock, anchor, to) in enumerate(kinds)
    ]


@st.composite
def processors(draw: st.DrawFn) -> Document:
    kind = draw(st.sampled_from(("shared_fifo", "dedicated", "processor_sharing", "pool")))
    processor: Document = {"kind": kind}
    if kind == "processor_sharing":
        processor["tax"] = draw(st.sampled_from((0.0, 0.05, 0.3)))
        if draw(st.booleans()):
            processor |= {
                "quota_cores": draw(st.sampled_from((0.1, 0.25, 0.5))),
                "quota_period_ms": draw(st.sampled_from((0.01, 0.1, 1.0))),
            }
    return processor


@st.composite
def memories(draw: st.DrawFn) -> Document:
    """Budgets of the size of a few records, or of many; most hosts survive."""
    kind = draw(st.sampled_from(("budget", "budget", "budget", "klink_2020", "costream_2024")))
    budget_mb = draw(st.sampled_from((0.001, 0.005, 0.02, 0.1)))
    memory: Document = {"kind": kind, "budget_mb": budget_mb, "base_mb": draw(st.sampled_from((0.0, 0.0005)))}
    memory["on_full"] = draw(st.sampled_from(("nothing", "die", "restart")))
    if memory["on_full"] == "restart":
        memory |= {"on_full": "die", "restart_after_s": draw(st.sampled_from((0.0004, 0.000_001, 0.003, 0.02, 0.000_000_001)))}
    if draw(st.booleans()):
        memory["limit_mb"] = draw(st.sampled_from((0.1, 0.2)))
    if kind == "budget":
        memory["per_record_bytes"] = draw(st.sampled_from((0, 100, 33)))
        memory["per_value_bytes"] = draw(st.sampled_from((0, 7)))
        memory["per_byte"] = draw(st.sampled_from((1.0, 0.333, 0.0, 2.5)))
        memory["state_factor"] = draw(st.sampled_from((1.0, 0.25, 0.0, 3.001)))
        points = [
            {"share": 0.1, "factor": 1.0},
            {"share": 0.7, "factor": 1.337},
            {"share": 1.0, "factor": 3.0},
            {"share": 9.9, "factor": 2.5},
        ]
        slow_downs = {"kind": "none"}, {"kind": "points", "points": points}, {"kind": "points", "points": points[1:2]}, {"kind": "klink"}
        memory["slow_down"] = draw(st.sampled_from((*slow_downs, {"kind": "costream"})))
    return memory


@st.composite
def ingresses(draw: st.DrawFn, budgets: bool) -> Document:
    """What sources do when their hosts are full; marks on memory where all hosts have a budget."""
    kind = draw(st.sampled_from(("read", "throttle", "throttle", "drop")))
    if kind == "read":
        return {"kind": kind}
    policy: Document = {"kind": kind, "resume": draw(st.sampled_from((1.0, 0.5, 0.0)))}
    marks = draw(st.sampled_from(("queued_max", "memory_max", "both") if budgets else ("queued_max",)))
    if marks != "memory_max":
        policy["queued_max"] = draw(st.sampled_from((0, 1, 5, 30)))
    if marks != "queued_max":
        policy["memory_max"] = draw(st.sampled_from((0.3, 1.0, 2.0)))
    return policy


def cores(processor: Document) -> st.SearchStrategy[float]:
    if processor["kind"] == "dedicated":
        return st.just(32)  # a core for every instance
    if processor["kind"] == "processor_sharing":
        return st.sampled_from((0.5, 1, 1.5, 2, 3.337))
    return st.integers(1, 3)


@st.composite
def clusters(draw: st.DrawFn, budgets: str = "none") -> Document:
    """budgets: which hosts have a memory budget: none, some, all."""
    latency_ms = st.sampled_from(draw(st.sampled_from(LATENCIES_MS)))
    hosts: list[Document] = []
    for name in draw(st.sampled_from(("a", "ab", "abc"))):
        processor = draw(processors())
        host: Document = {
            "name": name,
            "processor": processor,
            "cores": draw(cores(processor)),
            "speed": draw(st.sampled_from((1.0, 1.0, 0.5, 2.0, 1.337))),
            "egress_mbit_per_s": draw(st.sampled_from((1, 10, 100, 1000, 1000, 10_000))),
            "egress_latency_ms": draw(latency_ms),
        }
        if draw(st.booleans()):
            host["count"] = draw(st.integers(1, 2))
        if budgets == "all" or (budgets == "some" and draw(st.booleans())):
            host["memory"] = draw(memories())
        hosts.append(host)
    cluster: Document = {"hosts": hosts, "local_latency_ns": draw(st.sampled_from((1, 7, 1000, 10_000)))}
    names = host_names(cluster)
    if len(names) > 1 and draw(st.booleans()):
        pairs = [(a, b) for a in names for b in names if a != b]
        chosen = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=3, unique=True))
        own = st.sampled_from(({}, {}, {"mbit_per_s": 1}, {"mbit_per_s": 100}))
        cluster["links"] = [{"source": a, "target": b, "latency_ms": draw(latency_ms)} | draw(own) for a, b in chosen]
    if len(names) > 1 and draw(st.integers(0, 2)) == 0:
        cluster["trunks"] = draw(trunks(names))
    return cluster


@st.composite
def trunks(draw: st.DrawFn, names: list[str]) -> list[Document]:
    """One trunk between some of the hosts, or two in opposite directions."""
    ends = draw(ends_of_links(names))
    made = [{"name": "there", "mbit_per_s": draw(st.sampled_from((2, 20, 1000)))} | ends]
    if draw(st.booleans()):
        targets = ends.get("targets") or [name for name in names if name not in ends["sources"]]
        if not set(targets) & set(ends["sources"]):
            made.append({"name": "back", "mbit_per_s": draw(st.sampled_from((2, 1000))), "sources": targets, "targets": ends["sources"]})
    return made


@st.composite
def ends_of_links(draw: st.DrawFn, names: list[str]) -> Document:
    """Sources and targets with at least one link between them."""
    sources = draw(st.lists(st.sampled_from(names), min_size=1, max_size=len(names) - 1, unique=True))
    others = [name for name in names if name not in sources]
    if draw(st.booleans()):
        return {"sources": sources}
    return {"sources": sources, "targets": draw(st.lists(st.sampled_from(others), min_size=1, unique=True))}


@st.composite
def link_faults(draw: st.DrawFn, names: list[str], horizon_ns: int) -> list[Document]:
    """Partitions and delays that overlap, touch, begin with the run, end with it or never."""
    found: list[Document] = []
    if len(names) < 2:
        return found
    for _ in range(draw(st.sampled_from((0, 0, 1, 3)))):
        tenth = horizon_ns // 10
        begin = draw(st.integers(0, 9))
        fault: Document = draw(ends_of_links(names)) | {"from_s": seconds(begin * tenth)}
        if draw(st.integers(0, 5)) > 0:
            fault["to_s"] = seconds((begin + draw(st.integers(1, 4))) * tenth + draw(st.sampled_from((0, 0, 1))))
        if draw(st.booleans()):
            fault["both_ways"] = draw(st.booleans())
        if draw(st.booleans()):
            fault |= {"kind": "partition"}
        else:
            fault |= {"kind": "delay", "added_ms": draw(st.sampled_from((0.000001, 0.3, 2.0)))}
        found.append(fault)
    return found


def host_names(cluster: Document) -> list[str]:
    return [
        name for h in cluster["hosts"] for name in ([f"{h['name']}{k + 1}" for k in range(h["count"])] if "count" in h else [h["name"]])
    ]


@st.composite
def placements(draw: st.DrawFn, operators: list[Document], names: list[str]) -> Document:
    kinds = ["spread", "staged", "explicit"] + ["by_operator"] * (len(names) >= len(operators))
    kind = draw(st.sampled_from(kinds))
    if kind != "explicit":
        return {"kind": kind}
    choice = st.lists(st.sampled_from(names), min_size=1, max_size=3)
    return {"kind": "explicit", "hosts": {operator["id"]: draw(choice) for operator in operators}}


@st.composite
def host_faults(draw: st.DrawFn, hosts: list[str], horizon_ns: int) -> list[Document]:
    made: list[Document] = []
    for _ in range(draw(st.sampled_from((0, 0, 1, 2, 4)))):
        span_ns = draw(st.sampled_from((horizon_ns // 50, horizon_ns // 7, horizon_ns // 2)))
        fault: Document = {
            "kind": draw(st.sampled_from(("pause", "slow_host", "host_loss"))),
            "host": draw(st.sampled_from(hosts)),
            "when": {"kind": "at", "at_s": seconds(draw(st.integers(0, 19)) * (horizon_ns // 20))},
        }
        if fault["kind"] != "host_loss":
            fault["for_ms"] = milliseconds(span_ns)
        elif draw(st.integers(0, 4)) > 0:
            fault["restart_after_s"] = seconds(span_ns)
        if fault["kind"] == "slow_host":
            fault["factor"] = draw(st.sampled_from((0.3, 0.5, 2.0)))
        made.append(fault)
    return made


@st.composite
def documents(draw: st.DrawFn, records: tuple[int, ...] = RECORDS, budgets: tuple[str, ...] = ("none", "none", "some", "all")) -> Document:
    """A random experiment with about so many input records (fewer where operators multiply them).

    budgets: which of its hosts may have a memory budget.
    """
    horizon_ns = draw(st.sampled_from((2, 4, 10, 50, 300))) * MILLISECOND_NS
    query = Query(draw, horizon_ns)
    query.grow()
    per_source = max(10, draw(st.sampled_from(records)) // (query.records_factor * len(query.streams)))
    budgeted = draw(st.sampled_from(budgets))
    cluster = draw(clusters(budgeted))
    flow_control = draw(st.sampled_from(({"kind": "unbounded"}, *({"kind": "credits", "per_channel": n} for n in (1, 3, 32)))))
    if flow_control["kind"] == "credits":
        in_bytes = st.sampled_from(({}, {}, {"per_channel_bytes": 5000}, {"per_instance_bytes": 100_000}, {"per_instance_ms": 0.1}))
        flow_control |= draw(in_bytes) | {"per_channel": draw(st.sampled_from((flow_control["per_channel"], 1000)))}
    sharing = any(host["processor"]["kind"] == "processor_sharing" for host in cluster["hosts"])
    if not sharing and draw(st.integers(0, 7)) == 0:
        for operator in query.operators:
            if "cost" in operator:
                operator["cost"]["attainable"] = draw(st.sampled_from((0.7, 0.05, 0.333, 1.0)))
    ingress = draw(ingresses(budgeted == "all")) if draw(st.integers(0, 3)) == 0 or budgeted == "all" else {"kind": "read"}
    drain = draw(st.booleans())
    prices = draw(st.sampled_from(("reference", "reference", "costream_2024")))
    sources = {id: draw(source_workloads(stream, per_source, horizon_ns)) for id, stream in query.streams.items()}
    also = draw(st.one_of(st.just([]), further_latencies()))
    measurement: Document = {
        "frame_ms": draw(st.sampled_from((1, 1.7, 250))),
        "latency": {
            "from": draw(st.sampled_from(("event", "append", "ingest"))),
            "anchor": draw(st.sampled_from(("trigger", "newest", "oldest"))),
        },
        "also": also,
    }
    if any("generation" in source for source in sources.values()):
        measurement["also"] = [further for further in also if further["to"] != "marker"]
    elif any(further["to"] == "marker" for further in also):
        measurement["marker_ms"] = milliseconds(horizon_ns // draw(st.sampled_from((5, 20, 41))))
    return {
        "format": 1,
        "name": "random",
        "query": {"operators": query.operators, "edges": query.edges},
        "cluster": cluster,
        "placement": draw(placements(query.operators, host_names(cluster))),
        "prices": prices,
        "workload": {
            "seed": draw(st.integers(0, 5)),
            "horizon_s": seconds(horizon_ns),
            "drain": drain,
            "drain_limit_s": draw(st.sampled_from((60.0, 60.0, 0.001))) if drain else 60.0,
            "sources": sources,
        },
        "policies": {"flow_control": flow_control, "ingress": ingress},
        "faults": draw(host_faults(host_names(cluster), horizon_ns)) + draw(link_faults(host_names(cluster), horizon_ns)),
        "measurement": measurement,
    }


@st.composite
def named_queries(draw: st.DrawFn, records: tuple[int, ...] = (60, 150)) -> Document:
    """A random experiment in which some operators, or all, are one query of up to three copies with starts of their own; the others are
    shared by its copies."""
    document = draw(documents(records))
    ids = [operator["id"] for operator in document["query"]["operators"]]
    inside = draw(st.one_of(st.just(ids), st.lists(st.sampled_from(ids), min_size=1, unique=True)))
    horizon_s = document["workload"]["horizon_s"]
    starts = {
        "start_s": draw(st.sampled_from((0, horizon_s / 4, horizon_s / 3))),
        "start_within_s": draw(st.sampled_from((0, horizon_s / 3))),
    }
    for host in document["cluster"]["hosts"]:
        if host["processor"]["kind"] == "dedicated":  # a core for each instance of all copies
            host["cores"] *= 3
    document["query"]["queries"] = [{"name": "q", "operators": inside, "copies": draw(st.sampled_from((None, 1, 2, 3))), **starts}]
    return document
