"""Queries of benchmarks on streams of their own, which training has never seen (Heinrich et al. 2024, experiment 6; DSPBench).

They are experiments as a user would draw them, and are described to models as such. Only rates, hosts and placements are random.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from engine.advice.describe import describe
from engine.core.random import Chance
from engine.spec import load

from .experiments import COST, Document, assembled
from .grid import RATES, TRAINING
from .labels import horizon_s, timed
from .queries import DrawnQuery
from .traces import Trace, hosted

STREAM_SEEDS = 1 << 31
DAY_S = 10
ONE_HOST = {"name": "any", "egress_mbit_per_s": 1000, "egress_latency_ms": 1}


@dataclass(frozen=True)
class Drawn:
    """One query with its hosts. ids, selectivities: by operator."""

    document: Document
    trace: Trace
    ids: tuple[str, ...]
    selectivities: tuple[float, ...]


@dataclass(frozen=True)
class Benchmark:
    """operators: documents, senders first. streams: by source."""

    title: str
    operators: tuple[Document, ...]
    edges: tuple[Document, ...]
    streams: Mapping[str, Document]

    def drawn(self, name: str, seed: int, index: int) -> Drawn:
        """name: of the benchmark. A pure function of these."""
        chance = Chance(seed, name, index)
        sources = {id: self._source(stream, chance) for id, stream in self.streams.items()}
        stream_seed = chance.below(STREAM_SEEDS)
        operators = [operator | {"cost": COST} for operator in self.operators]
        ids = [operator["id"] for operator in operators]
        somewhere = assembled(self.title, operators, list(self.edges), sources, [], {}, stream_seed, 10.0)
        somewhere |= {"cluster": {"hosts": [ONE_HOST]}, "placement": {"kind": "explicit", "hosts": {id: ["any"] for id in ids}}}
        described = describe(load(somewhere), lambda name: None)
        query = DrawnQuery(described.query.operators, described.query.edges, name)
        hosts, placed = hosted(query, TRAINING, chance)
        place = dict(zip(described.ids, placed, strict=True))
        title = f"{self.title} over {len(hosts)} hosts"
        document = assembled(title, operators, list(self.edges), sources, hosts, place, stream_seed, horizon_s(query))
        return Drawn(timed(document), Trace(query, hosts, placed), tuple(described.ids), described.selectivities)

    @staticmethod
    def _source(stream: Document, chance: Chance) -> Document:
        rate_per_s = chance.choice(RATES["linear"])
        return {"stream": stream, "rate": {"kind": "constant", "per_s": rate_per_s}, "arrivals": {"kind": "poisson"}}


def _chain(*ids: str) -> tuple[Document, ...]:
    return tuple({"source": sender, "target": receiver} for sender, receiver in pairwise(ids))


def _mean(field: str, key: str | None, **params: Any) -> Document:
    value = {"name": "value", "function": "avg", "field": field}
    return {"key": key, "aggregates": [value], "evaluation": "at_firing", **params}


def _filter(predicate: str, id: str = "filter") -> Document:
    return {"id": id, "kind": "filter", "params": {"predicate": predicate}}


SOURCE, SINK = {"id": "source", "kind": "source"}, {"id": "sink", "kind": "sink"}

ADVERTISEMENT = Benchmark(
    "Clicks and impressions of advertisements",
    (
        {"id": "clicks", "kind": "source"},
        {"id": "impressions", "kind": "source"},
        _filter("not startswith(url, '---')"),  # all pass
        {
            "id": "join",
            "kind": "window_join",
            "params": {"left_key": "key", "right_key": "key", "window": {"kind": "tumbling", "size_s": 4, "clock": "processing"}},
        },
        SINK,
    ),
    (
        {"source": "clicks", "target": "filter"},
        {"source": "filter", "target": "join", "target_port": "left"},
        {"source": "impressions", "target": "join", "target_port": "right"},
        {"source": "join", "target": "sink"},
    ),
    {"clicks": {"kind": "ad_click"}, "impressions": {"kind": "ad_impression"}},
)

SPIKE_DETECTION = Benchmark(
    "Spikes of temperature",
    (
        SOURCE,
        _filter("mote >= 0"),  # all pass
        {
            "id": "aggregate",
            "kind": "count_window_aggregate",
            "params": _mean("temperature", "mote", size=500, slide=500, counts="all"),
        },
        _filter("value > 27.0", "spikes"),
        SINK,
    ),
    _chain("source", "filter", "aggregate", "spikes", "sink"),
    {"source": {"kind": "sensor_reading", "day_s": DAY_S}},  # else a run would see nothing but midnight
)

WINDOW = {"kind": "sliding", "size_s": 6, "slide_s": 1, "clock": "processing"}
SMART_GRID_GLOBAL = Benchmark(
    "Load of a smart grid",
    (
        SOURCE,
        _filter("load >= 0.0"),  # all pass
        {"id": "aggregate", "kind": "aggregate", "params": _mean("load", None, window=WINDOW, emit="on_close")},
        SINK,
    ),
    _chain("source", "filter", "aggregate", "sink"),
    {"source": {"kind": "smart_plug_reading"}},
)


def _by_household(operators: Sequence[Document]) -> tuple[Document, ...]:
    return tuple(of | {"params": of["params"] | {"key": "household"}} if of["id"] == "aggregate" else of for of in operators)


SMART_GRID_LOCAL = replace(
    SMART_GRID_GLOBAL, title="Load of households in a smart grid", operators=_by_household(SMART_GRID_GLOBAL.operators)
)

BENCHMARKS: Mapping[str, Benchmark] = {
    "advertisement": ADVERTISEMENT,
    "spike_detection": SPIKE_DETECTION,
    "smart_grid_global": SMART_GRID_GLOBAL,
    "smart_grid_local": SMART_GRID_LOCAL,
}
"""By name of the draw."""
