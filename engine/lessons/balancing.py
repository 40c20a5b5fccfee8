"""A plan of a balancer, move by move. The plan is the balancer's own (`engine.similarity`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from engine.similarity.loads import Loads, Move, Workset
from engine.spec.base.family import implementation

from .balancing_document import BalancingCase, BalancingLesson, LoadedWorker
from .steps import Bar, CheckpointMark, Diagram, Explained, LessonStep, MessageArrow, Table, checkpoint_id


@dataclass
class Place:
    """Where the bar of a workset is drawn, and since which act."""

    worker: int
    at: float
    load: float
    act: int

    @property
    def until(self) -> float:
        return self.at + self.load


def explained_balancing(lesson: BalancingLesson, case: BalancingCase) -> Explained:
    workers = case.workers or lesson.workers
    plan = implementation(type(case.balancing), "engine.similarity", "plan")
    planned, loads = _loads(workers), _loads(workers)
    plan(case.balancing, planned)
    before = loads.imbalance
    places = _stacked(workers)
    bars: list[Bar] = []
    arrows: list[MessageArrow] = []
    steps = [_beginning(workers, loads)]
    for act, move in enumerate(planned.moves, 1):
        was = loads.imbalance
        loads.move(loads.worksets[move.source][move.id], move.source, move.target, move.benefit)
        old = places[move.id]
        end = max([place.until for place in places.values() if place.worker == move.target], default=0.0)
        places[move.id] = new = Place(move.target, end, move.load, act)
        bars.append(_bar(old, act))
        arrows.append(_arrow(move, old, new, act))
        steps.append(_moved(workers, loads, move, was, act))
    bars += [_bar(place, None) for place in places.values()]
    steps.append(_ending(workers, loads, before, len(planned.moves)))
    last = max([loads.mean, *(bar.until for bar in bars)]) or 1.0
    diagram = Diagram(
        instances=tuple(worker.name for worker in workers), first=0, last=last, unit="load",
        checkpoints=tuple(_mean(n, loads.mean) for n in range(len(workers))), messages=tuple(arrows), bars=tuple(bars),
    )  # fmt: skip
    return Explained(
        name=case.name, text=case.text, shows="balancing", heading="Worksets of the workers, and the mean load", diagram=diagram,
        steps=tuple(steps),
    )  # fmt: skip


def _loads(workers: tuple[LoadedWorker, ...]) -> Loads:
    numbered = [(n, load) for n, worker in enumerate(workers) for load in worker.loads]
    return Loads.of([(n, Workset(id, load, 0)) for id, (n, load) in enumerate(numbered, 1)], len(workers))


def _stacked(workers: tuple[LoadedWorker, ...]) -> dict[int, Place]:
    """Worksets end to end, by number."""
    found: dict[int, Place] = {}
    for n, worker in enumerate(workers):
        at = 0.0
        for load in worker.loads:
            found[len(found) + 1] = Place(n, at, load, 0)
            at += load
    return found


# Texts


def _table(workers: tuple[LoadedWorker, ...], loads: Loads) -> Table:
    rows = tuple(
        (worker.name, ", ".join(f"{workset.load:g}" for workset in here.values()) or "–", f"{load:g}", f"{load - loads.mean:+.4g}")
        for worker, here, load in zip(workers, loads.worksets, loads.by_worker, strict=True)
    )
    return Table(title="The workers after this step", columns=("Worker", "Worksets", "Load", "From the mean"), rows=rows)


def _beginning(workers: tuple[LoadedWorker, ...], loads: Loads) -> LessonStep:
    over = [worker.name for worker, load in zip(workers, loads.by_worker, strict=True) if load >= loads.mean]
    text = (
        f"The mean load is {loads.mean:.4g}. At or above it: {', '.join(over)}. The imbalance is the sum of the deviations from the mean, "
        f"{loads.imbalance:.4g}."
    )
    return LessonStep(title="Before the plan", text=text, act=0, table=_table(workers, loads))


def _moved(workers: tuple[LoadedWorker, ...], loads: Loads, move: Move, was: float, act: int) -> LessonStep:
    source, target = workers[move.source].name, workers[move.target].name
    change = loads.imbalance - was
    word = "falls" if change < -1e-12 else "rises" if change > 1e-12 else "stays"
    text = f"The imbalance {word}{'' if word == 'stays' else f' by {abs(change):.4g}'}, to {loads.imbalance:.4g}."
    verdict: Literal["good", "bad"] = "bad" if word == "rises" else "good"
    return LessonStep(
        title=f"The workset of load {move.load:g} goes from {source} to {target}", text=text, act=act, verdict=verdict, told=(_name(act),),
        table=_table(workers, loads),
    )  # fmt: skip


def _ending(workers: tuple[LoadedWorker, ...], loads: Loads, before: float, moves: int) -> LessonStep:
    lower = loads.imbalance < before - 1e-12
    higher = loads.imbalance > before + 1e-12
    title = "Nothing moves" if not moves else "The plan has ended"
    text = f"The imbalance was {before:.4g} and is {loads.imbalance:.4g}. No further move is accepted."
    verdict: Literal["", "good", "bad"] = "good" if lower else "bad" if higher else ""
    return LessonStep(title=title, text=text, act=moves, verdict=verdict, table=_table(workers, loads))


# Diagram


def _name(act: int) -> str:
    return f"move {act}"


def _mean(worker: int, mean: float) -> CheckpointMark:
    return CheckpointMark(id=checkpoint_id(worker, 0), instance=worker, index=0, name="mean", at=mean, act=0, kind="deadline")


def _bar(place: Place, until_act: int | None) -> Bar:
    return Bar(instance=place.worker, at=place.at, until=place.until, act=place.act, until_act=until_act)


def _arrow(move: Move, old: Place, new: Place, act: int) -> MessageArrow:
    middle, there = old.at + move.load / 2, new.at + move.load / 2
    return MessageArrow(
        name=_name(act), kind="record", sender=move.source, receiver=move.target, sent_at=middle, sent_act=act, arrives_at=there,
        arrives_act=act, processed_at=there, processed_act=act,
    )  # fmt: skip
