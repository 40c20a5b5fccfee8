"""A driver apart from the system under test: it holds the queues, and the system pulls over its network (Karimov 2020, 3.2).

Between the two there may be a broker, one hop more (Figure 3.2b).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from engine.spec.experiment.cluster import Dedicated, Host
from engine.spec.experiment.engines.base import BROKER, DRIVER, Driver, receiver_of, topic_of
from engine.spec.experiment.experiment import Experiment
from engine.spec.experiment.flow_control.unbounded import Unbounded
from engine.spec.experiment.network import Trunk
from engine.spec.experiment.partitionings.forward import Forward
from engine.spec.experiment.placement.explicit import Explicit
from engine.spec.experiment.query import Cost, Edge, OperatorSpec
from engine.spec.rules.resources import placed

QUEUE = Cost(record_us=0, output_us=0, control_us=0)
"""Costs of a source whose log is a queue in the driver's memory: handing its head over is the network's work, and the receiver's."""


APPENDED = 64
"""Records that a topic has taken and not passed on. All others wait in the driver's queue, whatever the engine does."""


def with_driver(experiment: Experiment, driver: Driver, pulled: int | None = None) -> Experiment:
    """The experiment with its sources on hosts of their own, in turn, and a receiver behind each, where the source was drawn. With a
    broker, the topic of a source stands in between.

    pulled: records that an instance of a receiver, or of a topic, may hold. Default: as the flow control says, and a topic APPENDED where
    that sets no bound.
    """
    bounded = pulled is not None or not isinstance(experiment.policies.flow_control, Unbounded)
    query, cluster = experiment.query, experiment.cluster
    sources = {spec.id for spec in query.operators if spec.kind == "source"}
    hosts = experiment.expanded_hosts()
    drawn = placed(experiment.placement, query.operators, hosts)
    machines = driver.hosts or len(hosts)
    places = {id: tuple(hosts[index].name for index in indices) for id, indices in drawn.items()}
    for n, id in enumerate(sorted(sources)):
        places[receiver_of(id)] = places[id]
        numbers = [(n + k) % machines + 1 for k in range(len(places[id]))]
        places[id] = tuple(f"{DRIVER}{number}" for number in numbers)
        if driver.broker:
            places[topic_of(id)] = tuple(f"{BROKER}{number}" for number in numbers)
    feeds = tuple(
        Edge(
            source=sender,
            target=target,
            partitioning=Forward(),
            capacity=pulled if bounded or target == receiver_of(spec.id) else APPENDED,
        )
        for spec in query.operators
        if spec.id in sources
        for sender, target in pairwise(own_of(spec.id, driver))
    )
    parts = query.model_copy(
        update={
            "operators": tuple(part for spec in query.operators for part in _parts(spec, driver)),
            "edges": feeds
            + tuple(
                edge.model_copy(update={"source": receiver_of(edge.source)}) if edge.source in sources else edge for edge in query.edges
            ),
            "queries": tuple(
                named.model_copy(
                    update={
                        "operators": named.operators
                        + tuple(own for id in named.operators if id in sources for own in own_of(id, driver)[1:])
                    }
                )
                for named in query.queries
            ),
        }
    )
    groups = (DRIVER, BROKER) if driver.broker else (DRIVER,)
    apart = tuple(
        Host(
            name=group,
            count=machines,
            group=group,
            processor=Dedicated(),
            cores=1024,
            egress_mbit_per_s=driver.egress_mbit_per_s,
            egress_latency_ms=driver.egress_latency_ms,
        )
        for group in groups
    )
    trunks = cluster.trunks
    if driver.trunk_mbit_per_s is not None:
        trunks += (Trunk(name=DRIVER, mbit_per_s=driver.trunk_mbit_per_s, sources=(groups[-1],)),)
    return experiment.model_copy(
        update={
            "query": parts,
            "cluster": cluster.model_copy(update={"hosts": (*cluster.hosts, *apart), "trunks": trunks}),
            "placement": Explicit(hosts=places),
        }
    )


def own_of(source: str, driver: Driver) -> tuple[str, ...]:
    """Ids of a source and of what it is followed by, up to its receiver."""
    return (source, topic_of(source), receiver_of(source)) if driver.broker else (source, receiver_of(source))


def _parts(spec: OperatorSpec, driver: Driver) -> Iterator[OperatorSpec]:
    """A source with its receiver, which has the source's costs, and its topic; any other operator as it is."""
    if spec.kind != "source":
        yield spec
        return
    yield spec.model_copy(update={"cost": QUEUE})
    if driver.broker:
        cost = Cost(record_us=driver.broker_us, output_us=0, control_us=0)
        yield OperatorSpec(
            id=topic_of(spec.id), kind="union", name=spec.name and f"{spec.name}: topic", parallelism=spec.parallelism, cost=cost
        )
    yield OperatorSpec(
        id=receiver_of(spec.id), kind="receiver", name=spec.name and f"{spec.name}: receiver", parallelism=spec.parallelism, cost=spec.cost
    )
