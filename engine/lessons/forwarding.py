"""Schedulers of several hosts, cycle by cycle: what they know, and what they tell their neighbours. The knowledge, the messages and the
slack are the engine's own (`engine.scheduling.forwarding`, `engine.scheduling.slack`)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engine.scheduling.forwarding import Knowledge, Message
from engine.scheduling.slack import costs_ns, slacks
from engine.scheduling.statistics import Statistics
from engine.scheduling.tasks import Input

from .forwarding_document import DividedQuery, ForwardingLesson, NetworkCase
from .measured import S_NS, Part, due, due_once, statistics_of, tasks_of
from .steps import CheckpointMark, Diagram, Explained, LessonStep, MessageArrow, Table, checkpoint_id, listed

CONFIDENCE, VARIANCE = 0.95, "event"
NO_WATERMARKS = np.zeros(0, np.int64)


class _Host:
    """A host with its queries, in the order of the document. here: their numbers."""

    def __init__(self, lesson: ForwardingLesson, number: int):
        self.lesson, self.number, self.name = lesson, number, lesson.hosts[number]
        self.here = [q for q, query in enumerate(lesson.queries) if self.name in _hosts(query)]
        own = {q: k for k, q in enumerate(self.here)}
        inputs: list[Input] = []
        remote: list[Input] = []
        down: dict[int, list[int]] = {}
        up: dict[int, list[int]] = {}
        self.parts: list[Part] = []
        for q, k in own.items():
            query = lesson.queries[q]
            hosts = _hosts(query)
            place = hosts.index(self.name)
            made = due_once(k, lesson.hosts.index(hosts[0]), _ns(query.due_s))._replace(instance=q)
            (inputs if place == 0 else remote).append(made)
            if place + 1 < len(hosts):
                down.setdefault(lesson.hosts.index(hosts[place + 1]), []).append(k)
            if place > 0:
                up.setdefault(lesson.hosts.index(hosts[place - 1]), []).append(k)
            self.parts.append(Part(k, cost_ns=_ns(query.parts[place].waiting_s), waiting=1))
        self.tasks = tasks_of(
            number,
            self.name,
            [lesson.queries[q].name for q in self.here],
            self.parts,
            inputs,
            remote,
            {to: tuple(of) for to, of in down.items()},
            {to: tuple(of) for to, of in up.items()},
        )
        self.knowledge = Knowledge(self.tasks)

    def collected(self, now_ns: int) -> Statistics:
        """What the host measures itself."""
        progress = [due(about.query, _ns(self.lesson.queries[about.instance].due_s)) for about in self.tasks.inputs]
        return statistics_of(self.tasks, self.parts, progress, now_ns, _ns(self.lesson.cycle_s))


def explained_forwarding(lesson: ForwardingLesson, case: NetworkCase) -> Explained:
    hosts = [_Host(lesson, n) for n in range(len(lesson.hosts))]
    mail: list[Message] = []
    steps, marks, arrows = [_beginning(lesson)], [], []
    for cycle in range(lesson.cycles):
        now_ns, act = _ns(cycle * lesson.cycle_s), cycle + 1
        arrived = [message for message in mail if message.arrival_ns <= now_ns]
        mail = [message for message in mail if message.arrival_ns > now_ns]
        sent, rows = [], []
        for host in hosts:
            for message in arrived:
                if message.receiver == host.number:
                    host.knowledge.receive(message)
            own = host.collected(now_ns)
            seen = host.knowledge.added_to(own, NO_WATERMARKS) if case.forwarding else own
            rows += _rows(host, seen)
            marks.append(_mark(host.number, cycle, now_ns, act))
            if case.forwarding:
                cost = costs_ns(own)
                for to in sorted({*host.tasks.downstream, *host.tasks.upstream}):
                    message = host.knowledge.message(to, own, cost)
                    sent.append(replace(message, arrival_ns=now_ns + _ns(case.transit_s)))
        mail += sent
        arrows += [_arrow(message, lesson, act) for message in sent]
        steps.append(_cycle(lesson, sent, arrived, rows, now_ns, act))
    last_s = max([lesson.cycles * lesson.cycle_s, *(arrow.arrives_at or 0 for arrow in arrows)])
    diagram = Diagram(instances=lesson.hosts, first=0, last=last_s, unit="s", checkpoints=tuple(marks), messages=tuple(arrows))
    return Explained(
        name=case.name, text=case.text, shows="forwarding", heading="Messages between schedulers", diagram=diagram, steps=tuple(steps)
    )


def _hosts(query: DividedQuery) -> list[str]:
    return [part.host for part in query.parts]


def _ns(seconds: float) -> int:
    return round(seconds * S_NS)


# Texts


def _beginning(lesson: ForwardingLesson) -> LessonStep:
    told = []
    for query in lesson.queries:
        where = listed([f"{part.waiting_s:g} s of work wait on {part.host} ({', '.join(part.operators)})" for part in query.parts])
        told.append(f"The watermark of {query.name} is due at {query.due_s:g} s; {where}.")
    text = f"{' '.join(told)} Each host decides alone, every {lesson.cycle_s:g} s. Nothing is served here, to keep the numbers simple."
    return LessonStep(title="What waits", text=text, act=0)


def _rows(host: _Host, seen: Statistics) -> list[tuple[str, ...]]:
    of = slacks(seen, CONFIDENCE, VARIANCE, normalise=False)
    own = costs_ns(seen)
    measured = {about.query: about.measured_ns for about in seen.inputs}
    rows: list[tuple[str, ...]] = []
    for k, q in enumerate(host.here):
        known = k in measured
        at_ns = measured.get(k)
        age = "–" if not known else "own" if at_ns is None else _s(seen.now_ns - at_ns)
        elsewhere = seen.elsewhere_ns[k]
        rows.append(
            (
                host.name,
                host.lesson.queries[q].name,
                _s(own[k]),
                _s(elsewhere) if elsewhere > 0 else "–",
                _s(of.mean_ns[k] - seen.now_ns) if known else "not known",
                age,
                _s(of.slack_ns[k]) if known else "not known",
            )
        )
    return rows


COLUMNS = ("Host", "Query", "Waits here", "Waits downstream", "Watermark in", "Age of that", "Slack")


def _cycle(
    lesson: ForwardingLesson,
    sent: list[Message],
    arrived: list[Message],
    rows: list[tuple[str, ...]],
    now_ns: int,
    act: int,
) -> LessonStep:
    heard = dict.fromkeys(f"{lesson.hosts[message.receiver]} hears from {lesson.hosts[message.sender]}" for message in arrived)
    unknown = [f"{row[0]} knows no watermark of {row[1]}" for row in rows if row[-1] == "not known"]
    title = f"Cycle {act}, at {_s(now_ns)}"
    told = [*heard, *unknown] or ["No message has arrived"]
    text = f"{'; '.join(told)}." + "".join(f" {_told(lesson, message)}" for message in sent)
    names = tuple(_name(lesson, message) for message in [*sent, *arrived])
    table = Table(title=f"On what each host decides at {_s(now_ns)}", columns=COLUMNS, rows=tuple(rows))
    return LessonStep(title=title, text=text, act=act, told=names, table=table, verdict="bad" if unknown else "good")


def _told(lesson: ForwardingLesson, message: Message) -> str:
    names = [query.name for query in lesson.queries]
    what = []
    if message.progress:
        what.append(f"the progress of {listed([names[instance] for instance in sorted(message.progress)])}")
    for (query, host), cost in sorted(message.costs.items()):
        what.append(f"that {query} takes {_s(cost.cost_ns)} on {lesson.hosts[host]}")
    return f"{lesson.hosts[message.sender]} tells {lesson.hosts[message.receiver]} {listed(what) or 'nothing'}."


def _name(lesson: ForwardingLesson, message: Message) -> str:
    """Of its arrow; what stands behind the comma is drawn."""
    what = " + ".join([*["progress"] * bool(message.progress), *["cost"] * bool(message.costs)])
    return f"{lesson.hosts[message.sender]} to {lesson.hosts[message.receiver]} at {_s(message.sent_ns)}, {what}"


def _s(ns: float) -> str:
    return f"{ns / S_NS:g} s".replace("-", "−")


# Diagram


def _mark(host: int, index: int, now_ns: int, act: int) -> CheckpointMark:
    id = checkpoint_id(host, index)
    return CheckpointMark(id=id, instance=host, index=index, name=f"cycle {act}", at=now_ns / S_NS, act=act, kind="cycle")


def _arrow(message: Message, lesson: ForwardingLesson, act: int) -> MessageArrow:
    """It is drawn as arrived in the step of the cycle in which it arrives."""
    sent_s, arrival_s = message.sent_ns / S_NS, message.arrival_ns / S_NS
    seen = act + (message.arrival_ns - message.sent_ns) // _ns(lesson.cycle_s)
    return MessageArrow(
        name=_name(lesson, message),
        kind="record",
        sender=message.sender,
        receiver=message.receiver,
        sent_at=sent_s,
        sent_act=act,
        arrives_at=arrival_s,
        arrives_act=seen,
        processed_at=arrival_s,
        processed_act=seen,
    )
