"""Jobs whose outputs tell whether each record counted just once, whatever was lost on the way."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import engine
from engine.checkpointing import messages as M
from engine.checkpointing.recovery_line import Checkpoint, CheckpointRecord
from engine.checkpointing.uncoordinated import UncoordinatedCoordinator, UncoordinatedWorker
from engine.checkpointing.z_cycles import messages_between, useless_checkpoints
from engine.core import layout as L
from engine.spec import validate
from engine.spec.base.family import kind_of
from engine.spec.experiment.checkpointing import CHECKPOINTINGS
from engine.spec.experiment.checkpointing.checkpoints import Checkpoints
from engine.spec.experiment.checkpointing.hybrid import HybridCheckpoints
from engine.spec.experiment.checkpointing.logged import LoggedCheckpoints
from tests.support import corner_cases
from tests.support.loss_cases import loss as loss_at
from tests.support.strategies import host_names
from tests.support.tiers import tier

from .agreement import TINY, finished, traced

Document = dict[str, Any]
KEYS = 4


def counting(horizon_s: float = 0.3, per_s: float = 8000.0, protocol: Document | None = None, hosts: int = 4) -> Document:
    """Counts by key, each count hashed on to a sink (Siachamis 2024, artifact: the job *count*)."""
    narrow = [{"name": "bidder", "expression": f"bidder % {KEYS}"}]
    operators = [
        {"id": "bids", "kind": "source", "parallelism": hosts},
        {"id": "keys", "kind": "map", "parallelism": hosts, "params": {"fields": narrow}},
        {"id": "counts", "kind": "aggregate", "parallelism": hosts, "params": {"key": "bidder", "aggregates": [{"name": "count"}]}},
        {"id": "sink", "kind": "sink", "parallelism": hosts},
    ]
    edges = [
        {"source": "bids", "target": "keys"},
        {"source": "keys", "target": "counts", "partitioning": {"kind": "hash", "key": "bidder", "scheme": "modulo"}},
        {"source": "counts", "target": "sink", "partitioning": {"kind": "rebalance"}},
    ]
    made = corner_cases.document(
        operators, edges, [corner_cases.host("w", count=hosts)], {"bids": corner_cases.bids(per_s)}, horizon_s=horizon_s
    )
    made["workload"] |= {"drain": True}
    return with_protocol(made, protocol or coordinated())


def joining(horizon_s: float = 0.3, per_s: float = 3000.0, protocol: Document | None = None, hosts: int = 3) -> Document:
    """All pairs of auctions and bids of one auction, by way of a union and a rebalanced edge."""
    operators = [
        {"id": "auctions", "kind": "source", "parallelism": hosts},
        {"id": "bids", "kind": "source", "parallelism": 2},
        {"id": "some", "kind": "filter", "parallelism": hosts, "params": {"predicate": "price % 3 != 0"}},
        {"id": "pairs", "kind": "join", "parallelism": hosts, "params": {"left_key": "id", "right_key": "auction"}},
        {"id": "sink", "kind": "sink"},
    ]
    edges = [
        {"source": "bids", "target": "some", "partitioning": {"kind": "rebalance"}},
        {"source": "auctions", "target": "pairs", "target_port": "left", "partitioning": {"kind": "hash", "key": "id"}},
        {"source": "some", "target": "pairs", "target_port": "right", "partitioning": {"kind": "hash", "key": "auction"}},
        {"source": "pairs", "target": "sink", "partitioning": {"kind": "rebalance"}},
    ]
    auctions = corner_cases.bids(per_s) | {"stream": {"kind": "nexmark_auction"}}
    sources = {"auctions": auctions, "bids": corner_cases.bids(per_s)}
    made = corner_cases.document(operators, edges, [corner_cases.host("w", count=hosts)], sources, horizon_s=horizon_s)
    made["workload"] |= {"drain": True}
    return with_protocol(made, protocol or coordinated())


def circling(horizon_s: float = 0.3, per_s: float = 1500.0, protocol: Document | None = None, hosts: int = 3) -> Document:
    """Counts by key of records that go round twice or four times, by changing keys."""
    enter = [{"name": "key", "expression": "bidder"}, {"name": "hops", "expression": "bidder % 2 * 2 + 2"}]
    step = [{"name": "key", "expression": "key * 7 + 3"}, {"name": "hops", "expression": "hops - 1"}]
    operators = [
        {"id": "bids", "kind": "source", "parallelism": 2},
        {"id": "enter", "kind": "map", "parallelism": 2, "params": {"fields": enter}},
        {"id": "step", "kind": "map", "parallelism": hosts, "params": {"fields": step}},
        {"id": "counts", "kind": "aggregate", "parallelism": hosts, "params": {"key": "hops", "aggregates": [{"name": "count"}]}},
        {"id": "again", "kind": "filter", "parallelism": hosts, "params": {"predicate": "hops > 0"}},
        {"id": "sink", "kind": "sink"},
    ]
    hashed = {"kind": "hash", "key": "key"}
    edges = [
        {"source": "bids", "target": "enter"},
        {"source": "enter", "target": "step", "partitioning": hashed},
        {"source": "step", "target": "again"},
        {"source": "again", "target": "step", "partitioning": hashed, "feedback": True},
        {"source": "step", "target": "counts", "partitioning": {"kind": "hash", "key": "hops"}},
        {"source": "counts", "target": "sink", "partitioning": {"kind": "rebalance"}},
    ]
    sources = {"bids": corner_cases.bids(per_s)}
    made = corner_cases.document(operators, edges, [corner_cases.host("w", count=hosts)], sources, horizon_s=horizon_s)
    made["workload"] |= {"drain": True}
    return with_protocol(made, protocol or uncoordinated())


QUICK = {"restart_ms": 3, "capture_ms": 0.05, "store": {"request_ms": 1.0}, "open_log_ms": 0.01, "replay_us": 0.5}
"""Settings with which a protocol restarts quickly, as far as it has them."""


def example_of(kind: type[Checkpoints]) -> Callable[..., Document]:
    """Makes protocols of this kind: a checkpoint every 40 ms, give or take 10 where there is jitter, quick to restart, with other settings
    on demand."""

    def protocol(**more: Any) -> Document:
        interval_s = more.get("interval_s", 0.04)
        quick = {"interval_s": interval_s, "jitter_s": interval_s / 4, **QUICK}
        return {"kind": kind_of(kind)} | {name: value for name, value in quick.items() if name in kind.model_fields} | more

    protocol.__name__ = kind_of(kind)
    return protocol


def hybrid(*regions: Sequence[str], **more: Any) -> Document:
    """As uncoordinated, but these operators take rounds together; without any: the default."""
    written = [{"name": operators[0], "operators": list(operators)} for operators in regions]
    return example_of(HybridCheckpoints)(**more) | ({"regions": written} if regions else {})


KINDS = tuple(kind for kind in CHECKPOINTINGS.kinds if issubclass(kind, Checkpoints))
EXAMPLES = {kind_of(kind): example_of(kind) for kind in KINDS} | {"hybrid": hybrid}
PROTOCOLS = tuple(EXAMPLES.values())
LOGGED = tuple(EXAMPLES[kind_of(kind)] for kind in KINDS if issubclass(kind, LoggedCheckpoints))
"""Those with logs of channels, whose line is searched."""

coordinated, coordinated_unaligned = EXAMPLES["coordinated"], EXAMPLES["coordinated_unaligned"]
uncoordinated, communication_induced = EXAMPLES["uncoordinated"], EXAMPLES["communication_induced"]


def with_protocol(document: Document, protocol: Document) -> Document:
    return document | {"policies": {**document.get("policies", {}), "checkpointing": protocol}}


JOBS_AND_PROTOCOLS = [
    (job, protocol) for job in (counting, joining, circling) for protocol in PROTOCOLS if not validate(job(protocol=protocol()))
]
"""Each job with each protocol that takes it: rounds that are aligned, for one, do not take cycles."""


def loss(host: str, at_s: float, restart_after_s: float | None = 0.02) -> Document:
    return {"kind": "host_loss", "host": host, "when": {"kind": "at", "at_s": at_s}, "restart_after_s": restart_after_s}


def with_losses(document: Document, losses: Sequence[Document]) -> Document:
    return document | {"faults": [*document.get("faults", []), *losses]}


def without_losses(document: Document) -> Document:
    return document | {"faults": [fault for fault in document.get("faults", []) if fault["kind"] != "host_loss"]}


def values(simulation: engine.Simulation) -> Counter[tuple[Any, ...]]:
    """How often each row was delivered."""
    return Counter(record["values"] for record in simulation.sink_records("sink"))


def counted(rows: Counter[tuple[Any, ...]]) -> int:
    """What the last counts of all keys add up to."""
    last: dict[Any, int] = {}
    for key, count in rows:
        last[key] = max(count, last.get(key, 0))
    return sum(last.values())


def random_losses(chance: random.Random, hosts: Sequence[str], horizon_s: float) -> list[Document]:
    """One at any time, and often others: within its recovery, on other hosts, on the same one."""
    first_s = chance.uniform(0.001, horizon_s - 0.001)
    found = [loss(chance.choice(hosts), first_s, chance.uniform(0.0005, 0.03))]
    while chance.random() < 0.5:
        again_s = min(first_s + chance.choice((0.0003, 0.002, 0.01, 0.05)) * chance.random(), horizon_s - 0.0005)
        found.append(loss(chance.choice(hosts), again_s, chance.uniform(0.0005, 0.03)))
    return found


def each_record_counts_just_once(job: Callable[..., Document], protocol: Callable[..., Document], seed: str) -> None:
    document = job(protocol=protocol())
    hosts = [f"w{n + 1}" for n in range(document["cluster"]["hosts"][0]["count"])]
    expected = values(finished(document))
    assert expected.total() > 400
    assert expected.keys() == values(finished(document | {"policies": {}})).keys()
    chance = random.Random(seed)
    delivered_again = recoveries = 0
    tried = tier(13, 50)
    for n in range(tried):
        chosen = protocol(interval_s=chance.choice((0.005, 0.02, 0.04, 0.1)), detect_ms=chance.choice((0, 0, 1.5)))
        losses = random_losses(chance, hosts, document["workload"]["horizon_s"])
        made = with_losses(job(protocol=chosen), losses)
        simulation = finished(made, **({"capacity": TINY} if n % 3 == 0 else {}))
        found = values(simulation)
        assert found.keys() == expected.keys(), losses
        assert simulation.drained
        assert simulation.summary()["backlog"] == 0
        about = simulation.checkpointing
        assert about is not None
        assert about["recoveries"]
        assert all(recovery["go_ns"] > 0 for recovery in about["recoveries"][-1:])
        delivered_again += found.total() > expected.total()
        recoveries += len(about["recoveries"])
    assert delivered_again > tried // 5  # the sinks' log is outside
    assert recoveries > tried


def useless(document: dict[str, Any]) -> tuple[int, int]:
    """How many checkpoints are useless, and how many there are."""
    simulation = finished(document)
    coordinator, worker = simulation._actors.actors[0], simulation._actors.agent
    assert isinstance(coordinator, UncoordinatedCoordinator)
    assert isinstance(worker, UncoordinatedWorker)
    taken = [{row[M.NUMBER]: (sent, processed) for row, sent, processed in own} for own in coordinator.taken]
    for (number, i), (sent, processed) in worker.counters.items():  # at the end some are on their way to the store
        taken[i][number] = sent, processed
    checkpoints = [[Checkpoint(*own[number]) for number in sorted(own)] for own in taken]
    record = CheckpointRecord(coordinator.channels, checkpoints)
    messages = messages_between(record, simulation._world.arrays.carried[:, L.SEQ_PROCESSED])
    counts = [len(own) for own in taken]
    found = len(useless_checkpoints(counts, messages))
    assert simulation.summary()["checkpointing"]["useless"] == found
    w = simulation._world.arrays
    told = simulation._checkpoints.frame(w, simulation.now_ns - 1, simulation.now_ns, True)["useless"]  # type: ignore[union-attr]
    assert len({(one["operator"], one["index"], one["number"]) for one in told}) == found
    return found, sum(counts)


def with_random_losses(made: dict[str, Any], chance: random.Random, count: int = 3) -> dict[str, Any]:
    """Some hosts are lost, and most come back, at moments at which something happens, or a nanosecond later."""
    services = traced(made).trace().columns()
    moments = np.concatenate([services[name] for name in ("start_ns", "end_ns", "departed_ns")])
    horizon_ns = round(made["workload"]["horizon_s"] * 1e9)
    moments = np.unique(moments[(moments >= 0) & (moments < horizon_ns - 2)])
    losses = []
    for _ in range(count if len(moments) else 0):
        at_ns, other_ns = sorted(int(chance.choice(moments.tolist())) + chance.choice((0, 0, 1)) for _ in range(2))
        back_ns = None if chance.random() < 0.15 else max(other_ns, at_ns + 1)
        losses.append(loss_at(chance.choice(host_names(made["cluster"])), at_ns, back_ns))
    return made | {"faults": [*made.get("faults", []), *losses]}
