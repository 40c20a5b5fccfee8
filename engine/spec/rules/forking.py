"""Forks: experiments that equal their parent up to a given time and differ afterwards.

A fork is a document of its own that agrees with its parent up to that time. It shares the parent's past because nothing in a run looks
ahead; it needs no stored snapshot, and can be repeated without the parent. Policies that plan from the future load do look ahead, so their
load must not change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from pydantic import Field

from ..base.family import kind_of
from ..base.operator import Model
from ..base.problems import Refusal, suggestion
from ..base.units import Number, seconds_ns
from ..experiment.balancings.base import BalancingOrder
from ..experiment.balancings.none import NoBalancing
from ..experiment.document import upgrade
from ..experiment.experiment import Experiment
from ..experiment.faults import AnyFault
from ..experiment.rates import AnyPattern
from ..experiment.rates.file import FileRate
from ..experiment.rates.multiples import multiplied
from ..experiment.rates.recorded import RecordedRate
from ..experiment.scaling.base import Order, Scaling
from ..experiment.scaling.manual import Manual
from ..experiment.scaling.moving import Move, Moving
from ..experiment.scaling.none import NoScaling
from ..experiment.scheduling import AnyScheduling
from ..experiment.scheduling.default import FairThreads
from ..experiment.scheduling.none import NoScheduling
from ..experiment.scheduling.switched import final_threads
from ..experiment.states.adjustment import Adjustment
from ..experiment.states.base import Changelog
from ..experiment.streams import AnyStream, FileStream
from .scalable import vertices


class Fork(Model):
    """The changes, and the time from which they apply. Without changes, a fork repeats its parent."""

    at_s: Number = Field(ge=0, le=1e8, description="virtual time up to which the fork equals its parent")
    load: Number | None = Field(default=None, gt=0, le=1e6, description="multiplier of all source rates from then on")
    rates: dict[str, AnyPattern] = Field(default_factory=dict, description="rate patterns of sources from then on, by operator")
    faults: tuple[AnyFault, ...] = Field(default=(), max_length=1000, description="additional faults, at that time or later")
    rescales: tuple[Order, ...] = Field(default=(), max_length=1000, description="additional rescales, at that time or later")
    moves: tuple[Move, ...] = Field(default=(), max_length=1000, description="additional moves to other hosts, at that time or later")
    scheduling: AnyScheduling | None = Field(default=None, description="scheduling policy from then on")
    streams: dict[str, AnyStream] = Field(default_factory=dict, description="records of sources from then on, by operator")
    balancing: tuple[BalancingOrder, ...] = Field(
        default=(), max_length=1000, description="additional orders to move worksets, at that time or later"
    )

    adjustments: tuple[Adjustment, ...] = Field(
        default=(), max_length=1000, description="additional changes of settings of local stores, at that time or later"
    )

    def applied(self, parent: Experiment, written: Mapping[str, Any]) -> dict[str, Any]:
        """Return the document of a fork. written: the parent's own document; everything else in it stays unchanged. Raises Refusal (path
        below the fork)."""
        workload = parent.workload
        if not seconds_ns(self.at_s) < workload.horizon_ns:
            message = f"at_s is {self.at_s:g}, not before the horizon ({workload.horizon_s:g}), so nothing could differ; lower it"
            raise Refusal(message, at=("at_s",), code="out_of_range", value=self.at_s)
        document = deepcopy(dict(upgrade(written)))
        for id, pattern in self._patterns(parent).items():
            source = document["workload"]["sources"][id]
            source["rate"] = {"kind": "switched", "before": source["rate"], "at_s": self.at_s, "after": pattern}
        for n, fault in enumerate(self.faults):
            self._check(fault, n)
        added = [fault.model_dump(mode="json", by_alias=True, exclude_none=True) for fault in self.faults]
        if added:
            document["faults"] = [*document.get("faults", []), *added]
        if self.rescales:
            policies = document.get("policies", {})
            document["policies"] = policies | {"scaling": self._scaling(parent, policies.get("scaling"))}
        if self.moves:
            policies = document.get("policies", {})
            document["policies"] = policies | {"scaling": self._moving(parent, policies.get("scaling"))}
        if self.scheduling is not None:
            policies = document.get("policies", {})
            document["policies"] = policies | {"scheduling": self._scheduling(parent, policies.get("scheduling"))}
        for id, stream in self.streams.items():
            self._check_stream(parent, id)
            source = document["workload"]["sources"][id]
            start_s = parent.query.starts_ns.get(id, 0) / 1e9
            after = stream.model_dump(mode="json", by_alias=True)
            source["stream"] = {"kind": "switched", "before": source["stream"], "at_s": max(self.at_s - start_s, 0.0), "after": after}
        if self.balancing:
            policies = document.get("policies", {})
            document["policies"] = policies | {"balancing": self._balancing(parent, policies.get("balancing"))}
        if self.adjustments:
            policies = document.get("policies", {})
            document["policies"] = policies | {"state": self._state(parent, policies.get("state"))}
        return document

    def _state(self, parent: Experiment, written: Any) -> dict[str, Any]:
        """The document's state with these adjustments added."""
        self._check_times("adjustments", [adjustment.at_s for adjustment in self.adjustments])
        if not isinstance(parent.policies.state, Changelog):
            message = "the parent has no local stores whose settings could change; leave out adjustments"
            raise Refusal(message, at=("adjustments",), code="no_stores", value=len(self.adjustments))
        added = [adjustment.model_dump(mode="json", exclude_none=True) for adjustment in self.adjustments]
        return {**written, "adjustments": [*written.get("adjustments", []), *added]}

    def _check_stream(self, parent: Experiment, id: str) -> None:
        sources = parent.workload.sources
        if id not in sources:
            raise Refusal(f"there is no source '{id}'", at=("streams", id), code="unknown_source", value=id, hint=suggestion(id, sources))
        if isinstance(sources[id].stream, FileStream):
            message = f"the records of source '{id}' come from a file and cannot be switched; keep them unchanged"
            raise Refusal(message, at=("streams", id), code="stream_from_a_file", value=id)

    def _balancing(self, parent: Experiment, written: Any) -> dict[str, Any]:
        """The document's balancing with these orders added. If the parent has none, worksets move by hand, with their records."""
        self._check_times("balancing", [order.at_s for order in self.balancing])
        added = [order.model_dump(mode="json") for order in self.balancing]
        if isinstance(parent.policies.balancing, NoBalancing):
            return {"kind": "by_hand", "mechanism": "online", "orders": added}
        return {**written, "orders": [*written.get("orders", []), *added]}

    def _scheduling(self, parent: Experiment, written: Any) -> dict[str, Any]:
        """The document's scheduling, switched to another one."""
        present = parent.policies.scheduling
        if final_threads(present) is not None:
            message = f"scheduling of the parent ends with '{FairThreads().kind}', where more operators may be in service than there are "
            message += "cores, so no other policy can follow; start a separate run with it"
            raise Refusal(message, at=("scheduling",), code="not_switched", value=kind_of(type(present)))
        assert self.scheduling is not None
        kind = kind_of(type(self.scheduling))
        after = self.scheduling.model_dump(mode="json", by_alias=True, exclude_unset=True) | {"kind": kind}
        return {"kind": "switched", "before": written or {"kind": NoScheduling().kind}, "at_s": self.at_s, "after": after}

    def _scaling(self, parent: Experiment, written: Any) -> dict[str, Any]:
        """The document's scaling with these orders added. If the parent has no scaling, use `manual` with enough instances for the
        orders."""
        self._check_times("rescales", [order.at_s for order in self.rescales])
        added = [order.model_dump(mode="json") for order in self.rescales]
        scaling = parent.policies.scaling
        if isinstance(scaling, Moving):
            message = f"scaling of the parent is '{kind_of(type(scaling))}', which moves operators of one instance each; omit rescales"
            raise Refusal(message, at=("rescales",), code="not_rescaled", value=len(self.rescales))
        if isinstance(scaling, Scaling):
            return {**written, "orders": [*written.get("orders", []), *added]}
        runs = {spec.id: spec.parallelism for spec in parent.query.operators}
        workers = [sum(runs.values())]
        together = vertices(parent.query)
        for order in sorted(self.rescales, key=lambda order: order.at_s):
            for vertex in together:
                runs |= {id: order.parallelism[named] for named in vertex if named in order.parallelism for id in vertex}
            workers.append(sum(runs.values()))
        return {"kind": "manual", "workers_max": max(Manual().workers_max, *workers), "orders": added}

    def _moving(self, parent: Experiment, written: Any) -> dict[str, Any]:
        """The document's scaling with these moves added. If the parent has no scaling, use `move`."""
        self._check_times("moves", [move.at_s for move in self.moves])
        added = [move.model_dump(mode="json") for move in self.moves]
        scaling = parent.policies.scaling
        if isinstance(scaling, Moving):
            return {**written, "moves": [*written.get("moves", []), *added]}
        if self.rescales or not isinstance(scaling, NoScaling):
            whose = "the fork has rescales" if self.rescales else f"scaling of the parent is '{kind_of(type(scaling))}'"
            message = f"{whose}, and a run either rescales operators or moves them; omit moves"
            raise Refusal(message, at=("moves",), code="not_moved", value=len(self.moves))
        return {"kind": "move", "moves": added}

    def _check_times(self, name: str, times_s: Sequence[float]) -> None:
        for n, at_s in enumerate(times_s):
            if seconds_ns(at_s) < seconds_ns(self.at_s):
                message = f"at_s is {at_s:g}, before the fork at {self.at_s:g} s; choose that time or later"
                raise Refusal(message, at=(name, n, "at_s"), code="out_of_range", value=at_s)

    def _patterns(self, parent: Experiment) -> dict[str, Any]:
        """Rates of sources after the fork, by operator, in document form."""
        sources = parent.workload.sources
        for id in self.rates:
            if id not in sources:
                raise Refusal(f"there is no source '{id}'", at=("rates", id), code="unknown_source", value=id, hint=suggestion(id, sources))
        scaling = parent.policies.scaling
        if (self.rates or self.load is not None) and isinstance(scaling, Scaling) and scaling.plans_ahead:
            message = f"scaling is {scaling.plan_name}, which plans from the whole load before the run"
            message += ", so a different load would also change the time before the fork"
            at, value = (("rates",), sorted(self.rates)) if self.rates else (("load",), self.load)
            raise Refusal(f"{message}; keep the load unchanged, or start a separate run", at=at, code="load_known", value=value)
        patterns: dict[str, Any] = {id: rate.model_dump(mode="json", by_alias=True) for id, rate in self.rates.items()}
        if self.load is not None:
            for id, source in sources.items():
                patterns.setdefault(id, multiplied(source.rate.model_dump(mode="json", by_alias=True), self.load))
        for id in patterns:
            if isinstance(sources[id].rate, FileRate | RecordedRate):
                message = f"the rate of source '{id}' comes from a file and cannot be switched; keep it unchanged"
                raise Refusal(message, at=("rates", id) if id in self.rates else ("load",), code="rate_from_a_file", value=id)
        return patterns

    def _check(self, fault: AnyFault, n: int) -> None:
        begins_ns, field = fault.begins_ns, (fault.begins_field,)
        if begins_ns is None:
            raise Refusal("a random fault would also change the time before the fork; give it a fixed time", at=("faults", n, *field))
        if begins_ns < seconds_ns(self.at_s):
            message = f"the fault begins at {begins_ns / 1e9:g} s, before the fork at {self.at_s:g} s; choose that time or later"
            raise Refusal(message, at=("faults", n, *field), code="out_of_range", value=begins_ns / 1e9)
