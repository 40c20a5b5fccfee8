"""Bases of engines: what they cannot be combined with, and the driver that feeds most of them from hosts of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from pydantic import Field

from ...base.operator import Model
from ...base.origins import Charge
from ...base.problems import Problem, pointer
from ...base.units import Integer, Number, latency, quantity
from ...base.variant import Variant
from ..cluster import host_names
from ..network import bandwidth

DRIVER = "driver"
"""Name of the hosts of the driver, of their region, and of the trunk between them and the system under test."""
BROKER = "broker"
"""Name of the hosts of a broker, and of their region."""


class Driver(Model):
    """The driver: hosts apart from the system under test, which hold the queues of the generated records."""

    hosts: Integer | None = quantity(
        None, unit="hosts", ge=1, le=1000, title="Hosts", description="Hosts of the driver. Default: as many as the cluster has."
    )
    egress_mbit_per_s: Integer = bandwidth(1000, title="Egress", description="Bandwidth of the outgoing link of each host.")
    egress_latency_ms: Number = latency(0.5, description="Latency from a host of the driver to every other host.")
    trunk_mbit_per_s: Integer | None = bandwidth(
        1000, title="Trunk", description="Bandwidth on which all records reach the engine. Null: no common link."
    )
    broker: bool = Field(
        default=False,
        title="Broker",
        description="Whether records go through a broker, on as many hosts as the driver has, with the same links.",
        exclude_if=lambda broker: not broker,  # documents without the field keep their hashes
    )
    broker_us: Number = quantity(
        10,
        unit="us",
        ge=0,
        le=1e6,
        title="Broker's time",
        description="Core time in which the broker reads, appends and writes a record.",
        advanced=True,
        charge=Charge("assumed", "of the order of reading and writing a small record"),
        exclude_if=lambda broker_us: broker_us == 10,
    )


class Engine(Variant):
    """Base of engines. The class attributes say what a document with the engine may have besides."""

    facts: ClassVar[tuple[str, ...]] = ("price_list", "compared")
    compared: ClassVar[bool] = True  # whether *Which engine?* compares it with others: its prices are of the same hardware
    price_list: ClassVar[str] = ""  # its own, in place of the document's; empty: it charges what the document names
    checkpointings: ClassVar[tuple[str, ...]] = ("none",)  # protocols that it has
    acts: ClassVar[bool] = False  # whether it has `controls`, which act while a run executes
    takes_queries: ClassVar[bool] = False  # whether a query may start while it runs

    def problems(self, draft: Any) -> Iterator[Problem]:
        """Yield reasons why the engine cannot execute the experiment. draft: `engine.spec.rules.draft.Draft`."""
        yield from self._policy_problems(draft)
        if not self.takes_queries:
            yield from self._late_query_problems(draft)
        written = draft.document.get("prices")
        if self.price_list and written not in (None, "reference", self.price_list):
            message = f"prices is '{written}', but {self.title} has its own list, '{self.price_list}'; omit prices"
            yield Problem("/prices", "not_with_engine", message, written)

    def _policy_problems(self, draft: Any) -> Iterator[Problem]:
        policies = {"checkpointing": self.checkpointings, "scaling": ("none",), "scheduling": ("none",), "ingress": ("read",)}
        for name, allowed in policies.items():
            policy = getattr(draft, name)
            if policy is not None and policy.kind not in allowed:
                message = f"{name} is '{policy.kind}', which {self.title} does not have; choose {' or '.join(allowed)}, or no engine"
                yield Problem(pointer("policies", name, "kind"), "not_with_engine", message, policy.kind)

    def _late_query_problems(self, draft: Any) -> Iterator[Problem]:
        """Queries that start during the run: Storm, Spark and Flink all failed at them (Karimov 2020, 3.6.2.11)."""
        for n, query in draft.queries.items():
            for name in ("start_s", "start_within_s"):
                if value := getattr(query, name):
                    message = (
                        f"{name} of '{query.name}' is {value:g}, but {self.title} takes no query while it runs; choose 0 s, or no engine"
                    )
                    yield Problem(pointer("query", "queries", n, name), "not_with_engine", message, value)


class DrivenEngine(Engine):
    """Base of engines that pull their records from a driver."""

    driver: Driver = Field(default=Driver(), title="Driver", description="Hosts that feed the engine.")

    def problems(self, draft: Any) -> Iterator[Problem]:
        yield from super().problems(draft)
        yield from self._name_problems(draft)

    def _name_problems(self, draft: Any) -> Iterator[Problem]:
        owners: dict[str, str] = {}
        for id in draft.source_ids:
            own = receiver_of(id)
            if (other := owners.setdefault(own, id)) != id:
                message = f"sources '{other}' and '{id}' would both have the receiver '{own}'; choose a shorter id for one"
                yield Problem(pointer("workload", "sources", id), "duplicate_id", message, id)
            if own in draft.ids:
                message = f"the id '{own}' is taken by the receiver that {self.title} puts behind source '{id}'; choose another"
                yield Problem(pointer("query", "operators", draft.ids[own], "id"), "duplicate_id", message, own)
            if self.driver.broker and (topic := topic_of(id)) in draft.ids:
                message = f"the id '{topic}' is taken by the topic of source '{id}' at the broker; choose another"
                yield Problem(pointer("query", "operators", draft.ids[topic], "id"), "duplicate_id", message, topic)
        if draft.cluster is None:
            return
        apart = (DRIVER, BROKER) if self.driver.broker else (DRIVER,)
        for n, host in enumerate(draft.cluster.hosts):
            if taken := next((name for name in [host.name, *host_names(host)[:1000]] if name.startswith(apart)), None):
                begins = next(name for name in apart if taken.startswith(name))
                message = f"the name '{taken}' begins with '{begins}', as those of the hosts that feed {self.title} do; choose another"
                yield Problem(pointer("cluster", "hosts", n, "name"), "duplicate_name", message, host.name)
        for n, trunk in enumerate(draft.cluster.trunks):
            if trunk.name == DRIVER:
                message = f"the trunk '{DRIVER}' exists already, behind the hosts that feed {self.title}; choose another name"
                yield Problem(pointer("cluster", "trunks", n, "name"), "duplicate_name", message, trunk.name)


def topic_of(source: str) -> str:
    """Id of the operator that passes the records of a source on at the broker."""
    return f"{source[:56]}-topic"


def receiver_of(source: str) -> str:
    """Id of the operator that takes over the records of a source."""
    return f"{source[:53]}-receiver"
