"""Storm: tuples one at a time, and one switch for all spouts (Karimov 2020, 2.2; specification of the benchmark, B1)."""

from __future__ import annotations

from engine.core.control.policy import Control
from engine.spec.experiment.engines.base import receiver_of
from engine.spec.experiment.engines.storm import StormEngine
from engine.spec.experiment.experiment import Experiment
from engine.spec.experiment.query import Cost, OperatorSpec

from .driver import own_of, with_driver
from .throttle import Throttle

PULLED = 64
"""Tuples that a spout has pulled and not emitted."""

TUPLE_US, PEER_US, CONNECTION_US = 70.8, 2.9, 0.28
"""Core time of a tuple: of the base, for each other worker, and for each connection between workers. Fitted to the throughput of windowed
sums on 2, 4 and 8 workers with the switch at work, which stops the spouts for 7, 10 and 14 % of the time there."""

WINDOW_US = 5.0
"""Part of it that its window takes (prices of `storm_2020`)."""

BUSY = 0.65
"""Share of that core time in which the processor is busy. The rest is waiting for queues and acknowledgements."""

FITTED_TO = ("benchmark/table-3.1",)


def profile(about: StormEngine, experiment: Experiment) -> Experiment:
    """The experiment with a driver apart, spouts that cost more the more workers there are, and windows that are computed when they end."""
    made = with_driver(experiment, about.driver, PULLED)
    workers = len(experiment.expanded_hosts())
    receivers = {receiver_of(spec.id) for spec in experiment.query.operators if spec.kind == "source"}
    operators = tuple(_spout(spec, workers) if spec.id in receivers else _at_firing(spec) for spec in made.query.operators)
    return made.model_copy(update={"query": made.query.model_copy(update={"operators": operators})})


def controls(about: StormEngine, executed: Experiment) -> list[Control]:
    """The switch. executed: the experiment with all operators of the run, in their order."""
    specs = executed.query.operators
    receivers = [n for n, spec in enumerate(specs) if spec.kind == "receiver"]
    apart = {own for spec in specs if spec.kind == "source" for own in own_of(spec.id, about.driver)}
    watched = [n for n, spec in enumerate(specs) if spec.id not in apart]
    high, low = int(about.high * about.queue), int(about.low * about.queue)
    return [Throttle(receivers, watched, high, low, about.check_ns, about.notify_ns)]


def _spout(spec: OperatorSpec, workers: int) -> OperatorSpec:
    """With the cost of a tuple on so many workers, unless the document gives it one."""
    if spec.cost is not None:
        return spec
    others = workers - 1
    tuple_us = TUPLE_US + PEER_US * others + CONNECTION_US * workers * others - WINDOW_US
    return spec.model_copy(update={"cost": Cost(record_us=tuple_us * BUSY, attainable=BUSY, fitted_to=FITTED_TO)})


def _at_firing(spec: OperatorSpec) -> OperatorSpec:
    """A window of a bolt keeps its tuples, and the user's function reads all of them when it ends. Aggregates that emit at each update are
    no windows of Storm, but state of a bolt."""
    ends = spec.params.get("emit") == "on_close" or spec.kind == "count_window_aggregate"
    if not spec.kind.endswith("aggregate") or not ends or "evaluation" in spec.params:
        return spec
    return spec.model_copy(update={"params": spec.params | {"evaluation": "at_firing"}})
