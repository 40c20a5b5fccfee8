"""A driver apart from the system under test: it holds the queues, and the system pulls over its network (Karimov 2020, 3.2)."""

from __future__ import annotations

from collections.abc import Iterator

from engine.spec.experiment.cluster import Dedicated, Host
from engine.spec.experiment.engines.base import DRIVER, Driver, receiver_of
from engine.spec.experiment.experiment import Experiment
from engine.spec.experiment.network import Trunk
from engine.spec.experiment.partitionings.forward import Forward
from engine.spec.experiment.placement.explicit import Explicit
from engine.spec.experiment.query import Cost, Edge, OperatorSpec
from engine.spec.rules.resources import placed

QUEUE = Cost(record_us=0, output_us=0, control_us=0)
"""Costs of a source whose log is a queue in the driver's memory: handing its head over is the network's work, and the receiver's."""


def with_driver(experiment: Experiment, driver: Driver, pulled: int | None = None) -> Experiment:
    """The experiment with its sources on hosts of their own, in turn, and a receiver behind each, where the source was drawn.

    pulled: records that an instance of a receiver may hold. Default: as the flow control says.
    """
    query, cluster = experiment.query, experiment.cluster
    sources = {spec.id for spec in query.operators if spec.kind == "source"}
    hosts = experiment.expanded_hosts()
    drawn = placed(experiment.placement, query.operators, hosts)
    machines = driver.hosts or len(hosts)
    own = [f"{DRIVER}{k + 1}" for k in range(machines)]
    places = {id: tuple(hosts[index].name for index in indices) for id, indices in drawn.items()}
    for n, id in enumerate(sorted(sources)):
        places[receiver_of(id)] = places[id]
        places[id] = tuple(own[(n + k) % machines] for k in range(len(places[id])))
    feeds = tuple(
        Edge(source=spec.id, target=receiver_of(spec.id), partitioning=Forward(), capacity=pulled)
        for spec in query.operators
        if spec.id in sources
    )
    parts = query.model_copy(
        update={
            "operators": tuple(part for spec in query.operators for part in _parts(spec)),
            "edges": feeds
            + tuple(
                edge.model_copy(update={"source": receiver_of(edge.source)}) if edge.source in sources else edge for edge in query.edges
            ),
            "queries": tuple(
                named.model_copy(update={"operators": named.operators + tuple(receiver_of(id) for id in named.operators if id in sources)})
                for named in query.queries
            ),
        }
    )
    host = Host(
        name=DRIVER,
        count=machines,
        group=DRIVER,
        processor=Dedicated(),
        cores=1024,
        egress_mbit_per_s=driver.egress_mbit_per_s,
        egress_latency_ms=driver.egress_latency_ms,
    )
    trunks = cluster.trunks
    if driver.trunk_mbit_per_s is not None:
        trunks += (Trunk(name=DRIVER, mbit_per_s=driver.trunk_mbit_per_s, sources=(DRIVER,)),)
    return experiment.model_copy(
        update={
            "query": parts,
            "cluster": cluster.model_copy(update={"hosts": (*cluster.hosts, host), "trunks": trunks}),
            "placement": Explicit(hosts=places),
        }
    )


def _parts(spec: OperatorSpec) -> Iterator[OperatorSpec]:
    """A source with its receiver, which has the source's costs; any other operator as it is."""
    if spec.kind != "source":
        yield spec
        return
    yield spec.model_copy(update={"cost": QUEUE})
    yield OperatorSpec(
        id=receiver_of(spec.id), kind="receiver", name=spec.name and f"{spec.name}: receiver", parallelism=spec.parallelism, cost=spec.cost
    )
