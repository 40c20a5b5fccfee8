"""Problems of assertions: expressions that cannot be read, and measurements that the run will not have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..base.problems import Problem, Refusal, pointer
from ..experiment.checkpointing.none import NoCheckpoints
from ..experiment.experiment import Experiment
from ..experiment.memory import Counted
from ..experiment.metrics import RECOVERY, RESCALES, Quantity, quantities
from ..experiment.scaling.none import NoScaling
from ..expressions.assertions import Expression, assertion_of, parse_of_run


def assertion_problems(experiment: Experiment) -> Iterator[Problem]:
    """Errors, and a warning for each assertion that no run of the experiment can be judged by."""
    known = quantities(experiment) if experiment.assertions else {}
    for n, assertion in enumerate(experiment.assertions):
        at = ("assertions", n, "check")
        try:
            expression = expression_of(assertion.check, known)
        except Refusal as refusal:
            yield Problem(pointer(*at), refusal.code, f"'{assertion.name}': {refusal}", refusal.value or assertion.check[:80], refusal.hint)
            continue
        for name in sorted(expression.names):
            if why := why_missing(experiment, name):
                message = f"'{assertion.name}': {name} will not be measured: {why}"
                yield Problem(pointer(*at), "not_measured", message, name, severity="warning")
                break


def expression_of(check: str, known: Mapping[str, Quantity]) -> Expression:
    """Read an assertion. known: what is measured, by name. Raises Refusal."""
    expression = assertion_of(parse_of_run(check, {name: quantity.type for name, quantity in known.items()}))
    if not expression.names:
        raise Refusal("it uses no measured value; compare at least one, such as latency_ms.p99", code="not_measured", value=check)
    return expression


def why_missing(experiment: Experiment, name: str) -> str:
    """Why runs of the experiment do not measure this; empty if they may."""
    policies = experiment.policies
    rescales = not isinstance(policies.scaling, NoScaling)
    if name.startswith("checkpointing.") and isinstance(policies.checkpointing, NoCheckpoints) and not rescales:
        return "checkpointing is 'none'; choose a protocol"
    if name.startswith(("scaling.", "frames.scaling.", RESCALES)) and not rescales:
        return "scaling is 'none'; choose a policy, or give orders"
    memories = {host.name: host.memory for host in experiment.expanded_hosts()}
    counted = {host for host, memory in memories.items() if isinstance(memory, Counted)}
    if name.startswith("memory.") and name.removeprefix("memory.").rpartition(".")[0] in counted:
        return "the host's memory is only counted; choose a memory model"
    if name.startswith(RECOVERY):
        if any(fault.begins_ns is None for fault in experiment.faults):
            return "the time of a random fault is not recorded; give every fault a fixed time"
        if not experiment.faults and len(counted) == len(memories):
            return "the experiment has no fault; add one"
    return ""
