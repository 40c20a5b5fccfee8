"""A policy whose questions and answers are written down, and told to another one, which knows nothing else."""

from __future__ import annotations

from typing import Any

from engine.autoscaling.metrics import Metrics
from engine.autoscaling.policy import NoAdvice

ASKED = {name for name in vars(Metrics) if not name.startswith("_")}
"""What a policy may ask. Behind whoever answers stands the job itself, which would else be handed on as an answer."""


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

    def state(self) -> Any:
        return self.policy.state()

    def restore(self, state: Any) -> None:
        self.policy.restore(state)


def assert_the_same_again(recorder: Recorder, fresh: Any) -> None:
    """Told what the recorded policy was told, `fresh` says what that said, and comes to its state."""
    for note in recorder.notes:
        if note[0] == "acted":
            fresh.acted(*note[1])
        else:
            assert outcome(fresh, Replayed(note[1])) == note[2]
    assert fresh.state() == recorder.policy.state()


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
