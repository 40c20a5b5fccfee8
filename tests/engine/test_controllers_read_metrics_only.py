"""What policies decide follows from the answers that they were given, and from nothing else (docs/autoscaling.md, section 5).

What this catches: a policy that reads a clock, draws a number, reaches behind its metrics, or changes what it was given. That they import
nothing else is tested with the layers (`tests/test_layers.py`).
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.autoscaling import POLICIES
from engine.autoscaling.metrics import Metrics
from engine.autoscaling.policy import NoAdvice
from engine.spec import scaling

from .fluid_job import SESSIONS, FluidJob

ABOUT: dict[str, scaling.Looped] = {
    "dhalion": scaling.Dhalion(),
    "ds2": scaling.DS2(),
    "hpa_cpu": scaling.HPACpu(),
    "hpa_varga": scaling.HPAVarga(),
    "flink": scaling.Flink(preset="tuned", window_s=60),
    "dhalion_heron": scaling.DhalionHeron(factor_max=0.5, cooldown_s=60),
    "ds2_original": scaling.DS2Original(),
    "hpa_k8s": scaling.HPAK8s(target=0.4),
    "varga_original": scaling.VargaOriginal(),
}


ASKED = {name for name in vars(Metrics) if not name.startswith("_")}
"""What a policy may ask; whoever answers knows more."""


class Recorder:
    """A policy that notes what it is asked, what it asks, what it is answered, and what becomes of it."""

    def __init__(self, policy: Any):
        self.policy = policy
        self.notes: list[tuple[Any, ...]] = []

    def advise(self, metrics: Metrics) -> Any:
        answers: dict[str, Any] = {}
        answer = outcome(self.policy, Listening(metrics, answers))
        self.notes.append(("advise", answers, answer))
        if isinstance(answer, str):
            raise NoAdvice(answer)
        return answer

    def acted(self, *about: Any) -> None:
        self.notes.append(("acted", about))
        self.policy.acted(*about)


def outcome(policy: Any, metrics: Any) -> Any:
    try:
        return policy.advise(metrics)
    except NoAdvice as nothing:
        return str(nothing)


class Listening:
    """Hands questions on, and notes the answers."""

    def __init__(self, metrics: Metrics, answers: dict[str, Any]):
        self._metrics, self._answers = metrics, answers

    def __getattr__(self, name: str) -> Any:
        assert name in ASKED, f"a policy asked for '{name}', which is not of its metrics"
        asked = getattr(self._metrics, name)
        if not callable(asked):
            self._answers[name] = asked
            return asked

        def ask(*about: Any) -> Any:
            self._answers[repr((name, about))] = answer = asked(*about)
            return answer

        return ask


class Replayed:
    """Answers as it was answered then; knows nothing else."""

    def __init__(self, answers: dict[str, Any]):
        self._answers = answers

    def __getattr__(self, name: str) -> Any:
        if name in self._answers:
            return self._answers[name]
        return lambda *about: self._answers[repr((name, about))]


@pytest.mark.parametrize("kind", POLICIES)
def test_a_policy_decides_the_same_when_it_is_told_the_same(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    recorders: list[Recorder] = []

    def recording(about: Any) -> Recorder:
        recorders.append(Recorder(POLICIES[kind](about)))
        return recorders[-1]

    monkeypatch.setattr("tests.engine.fluid_job.POLICIES", {kind: recording})
    job = FluidJob(SESSIONS, 4, lambda now_s: 5e5 + 800 * now_s if now_s < 1500 else 1e6, sigma=0.06)
    loop = job.run(ABOUT[kind], 60 * 60)
    (recorder,) = recorders
    assert sum(isinstance(note[-1], tuple) for note in recorder.notes) == len(job.orders) >= 2
    assert len({json.dumps(decision.advice) for decision in loop.decisions}) > 2, "it has decided several things"
    again = POLICIES[kind](ABOUT[kind])
    for note in recorder.notes:
        if note[0] == "acted":
            again.acted(*note[1])
        else:
            assert outcome(again, Replayed(note[1])) == note[2]
    assert again.state() == recorder.policy.state()
