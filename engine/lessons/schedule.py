"""Queries on one core under a policy, cycle by cycle. The policies are the engine's own; they see the statistics that they see in runs."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.core.layout import FAR
from engine.scheduling.policy import Policy, Selection
from engine.scheduling.statistics import Statistics
from engine.spec.base.family import implementation
from engine.spec.base.problems import Refusal
from engine.spec.experiment.scheduling.base import Scheduling

from .measured import S_NS, Part, due, due_once, statistics_of, tasks_of
from .schedule_document import PolicyCase, ScheduleLesson
from .steps import Bar, CheckpointMark, Diagram, Explained, LessonStep, Table, checkpoint_id, listed

CYCLES_MAX = 500
NEVER_MS = 1e9
WHY = {
    "slack_ms": "Slack",
    "cost_ms": "Cost",
    "expected_ms": "Watermark in",
    "sigma_ms": "± σ",
    "deadline_ms": "Deadline in",
    "waits_ms": "Waits",
    "work_ms": "Work",
    "rate_per_ms": "Rate per ms",
    "turn": "Turn",
}


@dataclass
class _State:
    """left: events by query. served_s: when its last one was served, by query. bars: one for each event served."""

    lesson: ScheduleLesson
    left: list[int] = field(init=False)
    served_s: list[float] = field(init=False)
    now_s: float = 0.0
    bars: list[Bar] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.left = [len(query.events_s) for query in self.lesson.queries]
        self.served_s = [0.0] * len(self.left)

    def results_s(self) -> list[float]:
        """When each query gives its result, if all of its events are served: when the last one is, and its watermark has come."""
        return [max(at_s, query.deadline_s) for at_s, query in zip(self.served_s, self.lesson.queries, strict=True)]


def explained_schedule(lesson: ScheduleLesson, case: PolicyCase) -> Explained:
    """Raises Refusal for a policy under which the queries never end."""
    about = case.policy
    assert isinstance(about, Scheduling)
    policy: Policy = implementation(type(about), "engine.scheduling", "policy")(about)
    state, cycle_s, steps = _State(lesson), about.cycle_ms / 1000, [_beginning(lesson)]
    cycles = 0
    while any(state.left):
        cycles += 1
        if cycles > CYCLES_MAX:
            at = ("cases", lesson.cases.index(case), "policy")
            message = f"cycle_ms is {about.cycle_ms:g}, and after {CYCLES_MAX} cycles events still wait; give a longer one"
            raise Refusal(message, at=(*at, "cycle_ms"), code="too_long", value=about.cycle_ms)
        began_s, end_s = state.now_s, state.now_s + cycle_s
        left = list(state.left)
        selection = policy.select(_statistics(state, about.cycle_ns))
        served: list[tuple[int, int]] = []  # query, events
        while state.now_s < end_s - 1e-9:
            q = next((q for q in selection.order if state.left[q]), None)
            if q is None:
                break
            state.left[q] -= 1
            cost_s = lesson.queries[q].cost_s
            state.bars.append(Bar(instance=q, at=round(state.now_s, 6), until=round(state.now_s + cost_s, 6), act=cycles))
            state.now_s += cost_s
            state.served_s[q] = state.now_s
            served = [*served[:-1], (q, served[-1][1] + 1)] if served and served[-1][0] == q else [*served, (q, 1)]
        if not served:
            state.now_s = end_s
        step = _cycle(state, left, selection, served, began_s, cycles)
        if not served and steps[-1].title == step.title:
            step = step.model_copy(update={"table": steps.pop().table})  # it goes on idling
        steps.append(step)
    out_s = state.results_s()
    steps.append(_ending(lesson, out_s, cycles + 1))
    names = tuple(query.name for query in lesson.queries)
    marks = [_mark(q, "deadline", query.deadline_s, 0) for q, query in enumerate(lesson.queries)]
    marks += [_mark(q, "result", at_s, cycles + 1) for q, at_s in enumerate(out_s)]
    last = max([*out_s, *(bar.until for bar in state.bars)])
    diagram = Diagram(instances=names, first=0, last=last, unit="s", checkpoints=tuple(marks), messages=(), bars=tuple(state.bars))
    return Explained(name=case.name, text=case.text, shows="schedule", heading="Queries over time", diagram=diagram, steps=tuple(steps))


def _statistics(state: _State, cycle_ns: int) -> Statistics:
    """Each query is a source and a window behind it."""
    now_ns = round(state.now_s * S_NS)
    parts, inputs, progress = [], [], []
    for q, (query, left, out_s) in enumerate(zip(state.lesson.queries, state.left, state.results_s(), strict=True)):
        deadline_ns = round(query.deadline_s * S_NS)
        head_ns = round(query.events_s[-left] * S_NS) if left else FAR
        watermark_ns = deadline_ns if not left and out_s <= state.now_s else -FAR
        parts += [Part(q, is_source=True), Part(q, False, True, query.cost_s * S_NS, left, head_ns, watermark_ns)]
        inputs.append(due_once(q, 0, deadline_ns))
        progress.append(due(q, deadline_ns, deadline_ns if left and deadline_ns <= now_ns else -1))
    tasks = tasks_of(0, "core", [query.name for query in state.lesson.queries], parts, inputs)
    return statistics_of(tasks, parts, progress, now_ns, cycle_ns)


# Texts


def _beginning(lesson: ScheduleLesson) -> LessonStep:
    told = [
        f"{query.name} has {len(query.events_s)} event{'s' * (len(query.events_s) > 1)} of {query.cost_s:g} s, and its watermark comes at "
        f"{query.deadline_s:g} s"
        for query in lesson.queries
    ]
    return LessonStep(title="All events wait", text=f"There is one core. {'; '.join(told)}.", act=0)


def _cycle(state: _State, left: list[int], selection: Selection, served: list[tuple[int, int]], began_s: float, act: int) -> LessonStep:
    """left: events by query at the beginning. served: queries and numbers of events, in turn."""
    names, end_s = [query.name for query in state.lesson.queries], state.now_s
    who = list(dict.fromkeys(names[q] for q, _ in served))
    if served:
        title = f"{listed(who)} {'runs' if len(who) == 1 else 'run'}"
        what = listed([f"{count} event{'s' * (count > 1)} of {names[q]}" for q, count in served])
        text = f"From {began_s:g} to {end_s:g} s the core serves {what}."
    else:
        title = "The core idles"
        text = f"Until {end_s:g} s it waits for the watermark of {listed([names[q] for q in selection.order])}, though others have work."
    order = [names[q] for q in selection.order]
    if len(order) > 1:
        text += f" The order is {listed(order)}."
    columns = [name for name in WHY if any(name in of for of in selection.why.values())]
    rows = tuple(
        (names[q], str(left[q]), *(_value(column, selection.why.get(q, {}).get(column)) for column in columns))
        for q in [*selection.order, *(q for q in range(len(names)) if q not in selection.order)]
        if q in selection.why or left[q]
    )
    title_of_table = f"On what the policy decided, at {began_s:g} s"
    table = Table(title=title_of_table, columns=("Query", "Events", *(WHY[name] for name in columns)), rows=rows) if rows else None
    return LessonStep(title=title, text=text, act=act, table=table)


def _value(column: str, value: float | None) -> str:
    if value is None or value >= NEVER_MS:
        return "–"
    return f"{value / 1000:g} s".replace("-", "−") if column.endswith("_ms") and column != "rate_per_ms" else f"{value:g}"


def _ending(lesson: ScheduleLesson, out_s: list[float], act: int) -> LessonStep:
    late = [round(at_s - query.deadline_s, 6) for at_s, query in zip(out_s, lesson.queries, strict=True)]
    told = [
        f"{query.name} gives its result at {at_s:g} s, {'in time' if not by else f'{by:g} s late'}"
        for query, at_s, by in zip(lesson.queries, out_s, late, strict=True)
    ]
    text = f"{'; '.join(told)}. That is {sum(late) / len(late):g} s in the mean."
    return LessonStep(title="The results", text=text, act=act, verdict="bad" if any(late) else "good")


def _mark(q: int, kind: str, at_s: float, act: int) -> CheckpointMark:
    index = 0 if kind == "deadline" else 1
    return CheckpointMark(id=checkpoint_id(q, index), instance=q, index=index, name=kind, at=at_s, act=act, kind=kind)  # type: ignore[arg-type]
