"""Random traces: a query, the hosts under it, and where its operators stand, as a pure function of a seed and an index."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial

from engine.core.random import Chance
from engine.costmodels.description import Host
from engine.placement.space import Placed, Space

from .grid import BEYOND, TRAINING, UNSEEN, Hardware
from .queries import DrawnQuery, chain_of_filters, drawn

HOSTS_MAX = 5


@dataclass(frozen=True)
class DrawnHost(Host):
    """bin: 1 to 3, that its features were drawn from; for enumeration alone, never a feature."""

    bin: int


@dataclass(frozen=True)
class Trace:
    """placed: by operator, the number of its host. Each host has an operator."""

    query: DrawnQuery
    hosts: tuple[DrawnHost, ...]
    placed: Placed

    @property
    def group(self) -> str:
        """Identity of the query: traces of one group stay in one part of a split."""
        text = json.dumps([asdict(operator) for operator in self.query.operators] + [list(self.query.edges)], sort_keys=True)
        return hashlib.sha256(f"{self.query.template} {text}".encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Draw:
    """From what the traces of a corpus are drawn."""

    query: Callable[[Chance], DrawnQuery] = drawn
    hardware: Hardware = TRAINING


CHANGED_ENGINE = "changed_engine"
"""Queries and hosts as in training, run by an engine with other prices."""

DRAWS: Mapping[str, Draw] = {
    "training": Draw(),
    "calibration": Draw(),
    "unseen_hardware": Draw(hardware=UNSEEN),
    CHANGED_ENGINE: Draw(),
    **{name: Draw(hardware=hardware) for name, hardware in BEYOND.items()},
    **{f"chains_of_{count}": Draw(partial(chain_of_filters, count)) for count in (2, 3, 4)},
}
"""By name. Prices are calibrated on traces of their own."""


def trace(namespace: str, seed: int, index: int) -> Trace:
    """namespace: the name of a draw, or any other for traces as in training; different ones share nothing."""
    draw, chance = DRAWS.get(namespace, DRAWS["training"]), Chance(seed, namespace, index)
    query = draw.query(chance)
    hosts, placed = hosted(query, draw.hardware, chance)
    return Trace(query, hosts, placed)


def hosted(query: DrawnQuery, hardware: Hardware, chance: Chance) -> tuple[tuple[DrawnHost, ...], Placed]:
    """A placement by rule 3 on at most five hosts, then their bins by rule 2: against the flow, from the sink's host, which is strong.
    Hosts without an operator are left out."""
    space = Space(len(query.operators), query.edges, (1,) * HOSTS_MAX)
    placed = None
    while placed is None:
        placed = space.draw(chance)
    number = {host: n for n, host in enumerate(dict.fromkeys(placed))}
    placed = tuple(number[host] for host in placed)
    bins = _bins(query.edges, placed, len(number), chance)
    return tuple(host_of(bin, hardware, chance) for bin in bins), placed


def _bins(edges: Sequence[tuple[int, int]], placed: Placed, hosts: int, chance: Chance) -> list[int]:
    """By host. Each is as strong as the weakest that it sends to, or, in half of the cases, one bin weaker."""
    to: dict[int, set[int]] = {host: set() for host in range(hosts)}
    for sender, receiver in edges:
        if placed[sender] != placed[receiver]:
            to[placed[sender]].add(placed[receiver])
    bins: dict[int, int] = {}
    while len(bins) < hosts:
        host = next(host for host in range(hosts) if host not in bins and all(receiver in bins for receiver in to[host]))
        if not to[host]:
            bins[host] = 3
        else:
            bins[host] = max(1, min(bins[receiver] for receiver in to[host]) - chance.coin())
    return [bins[host] for host in range(hosts)]


def host_of(bin: int, hardware: Hardware, chance: Chance) -> DrawnHost:
    features = (hardware.cpu_percent, hardware.ram_mb, hardware.mbit_per_s, hardware.latency_ms)
    cpu_percent, ram_mb, mbit_per_s, latency_ms = (chance.choice(values[bin - 1]) for values in features)
    return DrawnHost(cpu_percent, ram_mb, mbit_per_s, latency_ms, bin)
