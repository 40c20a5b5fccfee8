"""Verdicts on the assertions of a run, from its summary and what it recorded. Pure: the same run gives the same verdicts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

from engine.spec.base.problems import Refusal
from engine.spec.experiment.assertion import Assertion, Measured, State, Verdict
from engine.spec.experiment.experiment import Experiment
from engine.spec.experiment.metrics import FRAMES, RECOVERY, RESCALES, Quantity, flat, quantities
from engine.spec.experiment.spans import Span
from engine.spec.rules.assertions import expression_of, why_missing
from engine.telemetry.recorded import NoFiles, Recorded
from engine.telemetry.summaries import Frames, recoveries

from .evaluation import NotEvaluated, Side, evaluate
from .series import AtLeast, Missing, Number, Series, Value


def judge(experiment: Experiment, summary: Mapping[str, Any], recorded: Callable[[], Recorded]) -> tuple[Verdict, ...]:
    """Return the verdicts on the assertions of a run that has reached its end. recorded: called only if an assertion needs it; may raise
    NoFiles."""
    if not experiment.assertions:
        return ()
    known = quantities(experiment)
    measurements = Measurements(experiment, summary, recorded)
    return tuple(_judged(assertion, known, measurements) for assertion in experiment.assertions)


def _judged(assertion: Assertion, known: Mapping[str, Quantity], measurements: Measurements) -> Verdict:
    sides: list[Side] = []
    reason = ""
    try:
        expression = expression_of(assertion.check, known)
        values = {name: measurements.value(name) for name in sorted(expression.names)}
        state: State = "holds" if evaluate(expression.tree, values, sides=sides) else "fails"
        reason = "; ".join(value.value.why for value in values.values() if isinstance(value, Number) and isinstance(value.value, AtLeast))
    except (NotEvaluated, NoFiles, Refusal) as error:
        state, reason = "cannot be judged", str(error)
    measured = dict.fromkeys(_measured(side, known) for side in sides)  # a side may be compared twice
    return Verdict(assertion.name, assertion.check, assertion.note, state, tuple(measured), reason)


def _measured(side: Side, known: Mapping[str, Quantity]) -> Measured:
    most = side.most if math.isfinite(side.most) else None
    return Measured(side.text, side.least, most, known[side.text].unit if side.text in known else "")


class Measurements:
    """The values that a run measured, by name (`engine.spec.experiment.metrics.QUANTITIES`)."""

    def __init__(self, experiment: Experiment, summary: Mapping[str, Any], recorded: Callable[[], Recorded]):
        self._experiment, self._numbers, self._record = experiment, dict(flat(summary)), recorded

    def value(self, name: str) -> Value:
        """Return the value, or why there is none."""
        if name.startswith(FRAMES):
            value = self._over_time(name.removeprefix(FRAMES).split("."))
        elif name.startswith(RECOVERY):
            value = self._recovery(name.removeprefix(RECOVERY))
        elif name.startswith(RESCALES):
            value = self._rescales(name.removeprefix(RESCALES))
        else:
            value = Number(self._numbers[name]) if name in self._numbers else Missing("")
        if isinstance(value, Missing) and not value.reason:
            return Missing(why_missing(self._experiment, name) or _without(name))
        return value

    @cached_property
    def _recorded(self) -> Recorded:
        return self._record()

    def _over_time(self, path: list[str]) -> Value:
        xs, ys = [], []
        for frame in self._recorded.live:
            y = _field(frame, path)
            if y is not None:
                xs.append(float(frame["t_s"]))
                ys.append(y)
        return Series(tuple(xs), tuple(ys)) if xs else Missing("")

    # --- faults -------------------------------------------------------------------------------------------------------------------------

    def _recovery(self, name: str) -> Value:
        if why := why_missing(self._experiment, RECOVERY + name):
            return Missing(why)
        if name == "faults":
            return Number(float(len(self._recoveries)))
        for row in self._recoveries:
            if row["reason"]:
                return Missing(f"the recovery from the fault at {row['at_s']:g} s is unknown: {row['reason']}")
        unrecovered = [row for row in self._recoveries if row["recovery_s"] is None]
        if name == "unrecovered":
            return Number(float(len(unrecovered)))
        if not self._recoveries:
            return Missing("no fault began between the warm-up and the end of the run")
        known_s = [row["recovery_s"] for row in self._recoveries if row["recovery_s"] is not None]
        open_s = [(row["observed_s"], row["at_s"]) for row in unrecovered]
        if not open_s:
            return Number(max(known_s))
        told = ", ".join(f"{at_s:g} s ({observed_s:g} s later)" for observed_s, at_s in open_s[:3])
        more = f" and {len(open_s) - 3} more" if len(open_s) > 3 else ""
        why = f"not recovered at the next fault or the end of the run from the fault at {told}{more}"
        return Number(AtLeast(max(*known_s, *(observed_s for observed_s, _ in open_s), 0.0), why))

    @cached_property
    def _recoveries(self) -> list[dict[str, Any]]:
        """The rows of `recoveries`, each with observed_s, the time from the fault to the end of its observation."""
        workload = self._experiment.workload
        begins_ns = tuple(sorted(fault.begins_ns for fault in self._experiment.faults if fault.begins_ns is not None))
        frames = Frames.of(self._recorded)
        last_ns = int(frames.end_ns[-1])
        rows = recoveries(frames, Span(), begins_ns, workload.warmup_ns, last_ns, workload.horizon_ns)
        ends_s = [*(row["at_s"] for row in rows[1:]), min(last_ns, workload.horizon_ns) / 1e9]
        return [{**row, "observed_s": round(end_s - row["at_s"], 9)} for row, end_s in zip(rows, ends_s, strict=True)]

    # --- rescales -----------------------------------------------------------------------------------------------------------------------

    def _rescales(self, name: str) -> Value:
        begins = {"longest_s": "ordered_s", "longest_stop_s": "stopped_s"}[name]
        actions = {action["number"]: action for action in self._actions()}  # the last report of each
        end_s = float(self._recorded.live[-1]["t_s"])
        known: list[float] = []
        unfinished: list[float] = []
        for action in actions.values():
            if action[begins] is not None and action["outcome"] != "aborted":
                (known if action["ended_s"] is not None else unfinished).append((action["ended_s"] or end_s) - action[begins])
        if not known and not unfinished:
            return Missing("" if not actions else "no rescale was completed" if begins == "ordered_s" else "no rescale stopped operators")
        longest_s = round(max([*known, *unfinished]), 9)
        if not unfinished:
            return Number(longest_s)
        return Number(AtLeast(longest_s, "a rescale was still in progress at the end of the run"))

    def _actions(self) -> Iterator[Mapping[str, Any]]:
        for frame in self._recorded.live:
            yield from frame.get("scaling", {}).get("actions", ())


def _field(frame: Mapping[str, Any], path: list[str]) -> float | None:
    """Return the number at a path; None if there is none. Names of hosts may themselves have dots."""
    here: Any = frame
    first, last = path[0], path[-1]
    if first in ("operators", "hosts", "latencies_ms"):
        path = [first, ".".join(path[1:-1]), last]
    for part in path:
        here = here.get(part) if isinstance(here, Mapping) else None
    if here is None or isinstance(here, bool) or not math.isfinite(here):
        return None
    return float(here)


def _without(name: str) -> str:
    """Say why a run has no value of this name, although it might have had one."""
    if "latenc" in name:
        return "no record with this latency was delivered after the warm-up"
    if name.startswith(RESCALES):
        return "no rescale was ordered"
    return "this run has no such measurement"
