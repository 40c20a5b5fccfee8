"""An engine from outside the package, all of it in one file: parameters and profile."""

from __future__ import annotations

from typing import ClassVar, Literal

from engine.profiles.driver import with_driver
from engine.spec.base.units import Integer, quantity
from engine.spec.experiment.engines.base import DrivenEngine
from engine.spec.experiment.experiment import Experiment
from engine.spec.experiment.flow_control.credits import Credits


class Sluice(DrivenEngine):
    """Each channel holds a few records, whatever the document says. It charges the document's own prices."""

    title: ClassVar[str] = "Sluice"
    source: ClassVar[str] = "Newcomer et al., section 7"
    kind: Literal["sluice"] = "sluice"
    gate: Integer = quantity(4, unit="records", ge=1, le=10**6, title="Gate", description="Records that a channel holds.")

    def profile(self, experiment: Experiment) -> Experiment:
        policies = experiment.policies.model_copy(update={"flow_control": Credits(per_channel=self.gate)})
        return with_driver(experiment.model_copy(update={"policies": policies}), self.driver)
