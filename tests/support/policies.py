"""The autoscalers that there are, found as the engine finds them."""

from __future__ import annotations

from typing import Any

from engine.autoscaling.policy import Policy
from engine.spec.base.family import implementation, kind_of
from engine.spec.experiment.scaling import SCALINGS
from engine.spec.experiment.scaling.looped import Looped

POLICIES = {kind_of(kind): kind for kind in SCALINGS.kinds if issubclass(kind, Looped)}
"""The parameters of all kinds that decide live, by kind."""


def policy_of(about: Any) -> Policy:
    """The policy with these parameters."""
    policy: Policy = implementation(type(about), "engine.autoscaling", "policy")(about)
    return policy
