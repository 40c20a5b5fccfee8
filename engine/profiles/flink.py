"""Flink: records one at a time, through network buffers (Karimov 2020, 2.2; specification of the benchmark, B3)."""

from __future__ import annotations

from engine.spec.experiment.engines.flink import FlinkEngine
from engine.spec.experiment.experiment import Experiment
from engine.spec.experiment.flow_control.buffers import Buffers
from engine.spec.experiment.flow_control.unbounded import Unbounded

from .driver import with_driver


def profile(about: FlinkEngine, experiment: Experiment) -> Experiment:
    """The experiment with a driver apart and, unless it bounds its channels otherwise, Flink's network buffers."""
    policies = experiment.policies
    if isinstance(policies.flow_control, Unbounded):
        policies = policies.model_copy(update={"flow_control": Buffers()})
    return with_driver(experiment.model_copy(update={"policies": policies}), about.driver)
