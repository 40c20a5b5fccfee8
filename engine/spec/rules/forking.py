"""Forks: the same experiment up to a moment, another from then on.

A fork is a document of its own, which agrees with its parent's up to that moment. So it can be repeated without the parent, and has the
parent's past because nothing in a run looks ahead, not by a snapshot that must be kept. What plans from the load to come does look ahead,
so that its load is not to be changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from pydantic import Field

from ..base.operator import Model
from ..base.problems import Refusal, suggestion
from ..base.units import Number, seconds_ns
from ..experiment.document import upgrade
from ..experiment.experiment import Experiment
from ..experiment.faults import AnyFault
from ..experiment.rates import AnyPattern
from ..experiment.rates.file import FileRate
from ..experiment.rates.recorded import RecordedRate
from ..experiment.scaling.base import Order, Scaling
from ..experiment.scaling.manual import Manual
from .scalable import vertices


class Fork(Model):
    """What is different, and from when on. Without a difference the fork is its parent again."""

    at_s: Number = Field(ge=0, le=1e8, description="virtual time up to which all is as it was")
    load: Number | None = Field(default=None, gt=0, le=1e6, description="from then on all sources have so many times their rate")
    rates: dict[str, AnyPattern] = Field(default_factory=dict, description="patterns that sources have from then on, by operator")
    faults: tuple[AnyFault, ...] = Field(default=(), max_length=1000, description="what goes wrong besides, at that moment or later")
    rescales: tuple[Order, ...] = Field(
        default=(), max_length=1000, description="orders for other parallelisms besides, at that moment or later"
    )

    def applied(self, parent: Experiment, written: Mapping[str, Any]) -> dict[str, Any]:
        """The document of a fork of this experiment. written: its own document, in which the rest stays as it is. Raises Refusal, its
        place below the fork."""
        workload = parent.workload
        if not seconds_ns(self.at_s) < workload.horizon_ns:
            message = f"at_s is {self.at_s:g}, not before the horizon ({workload.horizon_s:g}); there is nothing left to be different"
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
        return document

    def _scaling(self, parent: Experiment, written: Any) -> dict[str, Any]:
        """The document's part on scaling with these orders. Where nobody scaled anything it begins by hand, with as many workers as the
        orders take."""
        for n, order in enumerate(self.rescales):
            if seconds_ns(order.at_s) < seconds_ns(self.at_s):
                message = f"at_s is {order.at_s:g}, before the fork at {self.at_s:g} s; let it be then or later"
                raise Refusal(message, at=("rescales", n, "at_s"), code="out_of_range", value=order.at_s)
        added = [order.model_dump(mode="json") for order in self.rescales]
        scaling = parent.policies.scaling
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

    def _patterns(self, parent: Experiment) -> dict[str, Any]:
        """What sources have from the moment on, by operator, as it stands in a document."""
        sources = parent.workload.sources
        for id in self.rates:
            if id not in sources:
                raise Refusal(f"there is no source '{id}'", at=("rates", id), code="unknown_source", value=id, hint=suggestion(id, sources))
        scaling = parent.policies.scaling
        if (self.rates or self.load is not None) and isinstance(scaling, Scaling) and scaling.plans_ahead:
            message = f"scaling is {scaling.plan_name}, which plans from the whole load before the run"
            message += ", so that another load would change its past, too"
            at, value = (("rates",), sorted(self.rates)) if self.rates else (("load",), self.load)
            raise Refusal(f"{message}; leave the load as it is, or begin a run of its own", at=at, code="load_known", value=value)
        patterns: dict[str, Any] = {id: rate.model_dump(mode="json", by_alias=True) for id, rate in self.rates.items()}
        if self.load is not None:
            for id, source in sources.items():
                patterns.setdefault(id, multiplied(source.rate.model_dump(mode="json", by_alias=True), self.load))
        for id in patterns:
            if isinstance(sources[id].rate, FileRate | RecordedRate):
                message = f"the rate of source '{id}' comes from a file, which cannot be switched; leave it as it is"
                raise Refusal(message, at=("rates", id) if id in self.rates else ("load",), code="rate_from_a_file", value=id)
        return patterns

    def _check(self, fault: AnyFault, n: int) -> None:
        begins_ns, field = fault.begins_ns, (fault.begins_field,)
        if begins_ns is None:
            raise Refusal("a fault at random would change the time before the fork, too; give it a time", at=("faults", n, *field))
        if begins_ns < seconds_ns(self.at_s):
            message = f"the fault begins at {begins_ns / 1e9:g} s, before the fork at {self.at_s:g} s; let it begin then or later"
            raise Refusal(message, at=("faults", n, *field), code="out_of_range", value=begins_ns / 1e9)


def multiplied(rate: Any, factor: float) -> Any:
    """A pattern with all its rates so many times as high."""
    if isinstance(rate, list):
        return [multiplied(one, factor) for one in rate]
    if not isinstance(rate, Mapping):
        return rate
    return {
        name: value * factor if name == "per_s" or (name.endswith("_per_s") and value is not None) else multiplied(value, factor)
        for name, value in rate.items()
    }
