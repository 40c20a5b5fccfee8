"""Judge candidate lines: orphans and in-flight messages (Siachamis 2024, 3.2.2, Figures 3.1 and 3.2)."""

from __future__ import annotations

from engine.checkpointing.recovery_line import in_flight, is_consistent, orphans
from engine.spec.base.problems import Refusal, suggestion

from .document import Case, JudgedLine, Lines
from .history import At, History
from .steps import LessonStep, listed


def steps_of_lines(history: History, shows: Lines, case: Case, at: At) -> list[LessonStep]:
    steps = [
        LessonStep(
            title="What happened",
            text="Each row is an instance; time runs to the right. A square is a checkpoint of the instance's state, an arrow is a "
            "message, from its send to its processing. A recovery rolls every instance back to one of its squares.",
        )
    ]
    for n, line in enumerate(shows.lines):
        steps += _judged(history, line, (*at, "shows", "lines", n))
    return steps


def _judged(history: History, judged: JudgedLine, at: At) -> list[LessonStep]:
    record = history.record()
    line = [_index(history, i, judged.checkpoints.get(name), (*at, "checkpoints", name)) for i, name in enumerate(history.instances)]
    channel_state = _stored(history, judged.stored, at)
    ids, names = history.line_ids(line), listed(history.line_names(line))
    lost_back = history.names(orphans(record, line))
    under_way = history.names(in_flight(record, line))
    consistent = is_consistent(record, line, channel_state)
    drawn = LessonStep(
        title=judged.name or "A line",
        text=f"The line of {names}: one checkpoint per instance. What matters are the messages that cross it.",
        line=ids,
    )
    reasons = [_orphan(history, name, line) for name in lost_back]
    missing = [name for name in under_way if name not in judged.stored]
    if kept := [name for name in under_way if name in judged.stored]:
        reasons.append(
            f"{listed(kept)} {_is(kept)} in flight: sent before the line but not processed before it. The line was stored with "
            f"{_it(kept)}, so the recovery replays {_it(kept)}."
        )
    if missing:
        reasons.append(
            f"{listed(missing)} {_is(missing)} in flight, but the line lacks {_it(missing)}: {_its(missing)} sender will not send "
            f"{_it(missing)} again, so {_it(missing)} would be lost."
        )
    if not lost_back and not under_way:
        reasons.append("No message crosses the line: each was both sent and processed before it, or neither.")
    reasons.append("The line is consistent: a run could have been in this state." if consistent else "The line is not consistent.")
    verdict = LessonStep(
        title="Consistent" if consistent else "Orphan" if lost_back else "Lost message",
        text=" ".join(reasons),
        verdict="good" if consistent else "bad",
        line=ids,
        orphans=tuple(lost_back),
        stored=tuple(kept),
        lost=tuple(missing),
    )
    return [drawn, verdict]


def _index(history: History, instance: int, name: str | None, at: At) -> int:
    known = [taken.name for taken in history.taken[instance]]
    if name is None:
        return 0
    if name not in known:
        text = f"{history.instances[instance]} has no checkpoint '{name}' in this case"
        raise Refusal(text, at=at, code="unknown", value=name, hint=suggestion(name, known))
    return known.index(name)


def _stored(history: History, names: tuple[str, ...], at: At) -> dict[int, range]:
    """Convert names to the engine's form: numbers by channel."""
    numbers: dict[int, list[int]] = {}
    for n, name in enumerate(names):
        if name not in history.messages:
            text = f"there is no message '{name}' in this case"
            raise Refusal(text, at=(*at, "stored", n), code="unknown", value=name, hint=suggestion(name, history.messages))
        numbers.setdefault(history.messages[name].channel, []).append(history.messages[name].number)
    for channel, found in numbers.items():
        if sorted(found) != list(range(min(found), max(found) + 1)):
            of_channel = listed(history.on(channel, range(1, history.sent[channel] + 1)))
            text = f"the stored messages of a channel must have no gaps; store consecutive ones of {of_channel}"
            raise Refusal(text, at=(*at, "stored"), code="gap", value=listed(names))
    return {channel: range(min(found), max(found) + 1) for channel, found in numbers.items()}


def _orphan(history: History, name: str, line: list[int]) -> str:
    channel = history.channels[history.messages[name].channel]
    sender, receiver = history.instances[channel.sender], history.instances[channel.receiver]
    behind, before = history.taken[channel.sender][line[channel.sender]].name, history.taken[channel.receiver][line[channel.receiver]].name
    return (
        f"{name} is an orphan: {receiver} processed it before {before}, but {sender} sends it only after {behind}. On this line, "
        f"{receiver} would have processed a message that {sender} has not sent, and would receive it twice."
    )


def _is(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _it(names: list[str]) -> str:
    return "it" if len(names) == 1 else "them"


def _its(names: list[str]) -> str:
    return "its" if len(names) == 1 else "their"
