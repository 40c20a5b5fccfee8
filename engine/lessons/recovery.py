"""Explain how a run found the line of a recovery, like a lesson, from its frames alone (docs/engine-api.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from .steps import CheckpointMark, Diagram, Explained, LessonStep, MessageArrow, checkpoint_id, listed

ROWS_ALL = 30
"""Up to this number, all instances are drawn."""

ROWS_MAX = 60
NAMED_MAX = 4

Instance = tuple[str, int]
"""Operator and index."""


class NotKnown(ValueError):
    """There is nothing to explain; the message says why."""


@dataclass(frozen=True)
class Stored:
    """A checkpoint known to the coordinator. captured_s: virtual time."""

    number: int
    captured_s: float
    kind: str


def explained_recovery(frames: Iterable[Mapping[str, Any]], epoch: int) -> Explained:
    """Explain the search for the recovery line of an epoch. frames: from the first one, at least to the one in which the loss was detected.
    Raises NotKnown."""
    recoveries: dict[int, Mapping[str, Any]] = {}
    searches: dict[int, Mapping[str, Any]] = {}
    stored: dict[Instance, list[Stored]] = {}
    for frame in frames:
        news = frame.get("checkpoints", {})
        recoveries |= {one["epoch"]: one for one in news.get("recoveries", ())}
        searches |= {one["epoch"]: one for one in news.get("searches", ())}
        for one in news.get("durable", ()):
            stored.setdefault((one["operator"], one["index"]), []).append(Stored(one["number"], one["captured_s"], one["kind"]))
    if epoch not in recoveries:
        known = listed([str(number) for number in sorted(recoveries)])
        raise NotKnown(f"there is no recovery {epoch}; {f'known: {known}' if known else 'no host has been lost so far'}")
    if recoveries[epoch].get("found_s", 0) is None:
        raise NotKnown(f"the search for the line of recovery {epoch} is still in progress")
    if epoch not in searches:
        raise NotKnown(f"recovery {epoch} needed no search: the checkpoints of a confirmed round are consistent")
    return _Told(recoveries, searches[epoch], stored, epoch).explained()


class _Told:
    def __init__(
        self, recoveries: Mapping[int, Mapping[str, Any]], search: Mapping[str, Any], stored: dict[Instance, list[Stored]], epoch: int
    ):
        self.recovery, self.search = recoveries[epoch], search
        self.newest = {(operator, i): number for operator, numbers in search["newest"].items() for i, number in enumerate(numbers)}
        self.back = {(operator, i): number for operator, numbers in self.recovery["line"].items() for i, number in enumerate(numbers)}
        before = [one for number, one in recoveries.items() if number < epoch]
        self.known = {i: [c for c in sorted(stored.get(i, ()), key=_number) if self._counts(i, c, before)] for i in self.newest}
        self.rows = self._rows()
        self.row_of = {instance: row for row, instance in enumerate(self.rows)}

    def _counts(self, instance: Instance, one: Stored, before: Iterable[Mapping[str, Any]]) -> bool:
        """Return whether the search knew the checkpoint: it was stored by then, and no earlier recovery had discarded it."""
        operator, index = instance
        left = any(one.number > other["line"][operator][index] and one.captured_s < (other["go_s"] or 0) for other in before)
        return one.number <= self.newest[instance] and not left

    def _rows(self) -> list[Instance]:
        """Return all instances; if there are too many, those that rolled back and their senders."""
        if len(self.newest) <= ROWS_ALL:
            return list(self.newest)
        needed = {(step[0], step[1]) for step in self.search["steps"]}
        senders = {(step[4], step[5]) for step in self.search["steps"]}
        if len(needed | senders) <= ROWS_MAX:
            needed |= senders
        return [instance for instance in self.newest if instance in needed][:ROWS_MAX]

    def explained(self) -> Explained:
        line = dict(self.newest)
        steps = [self._begin(), self._newest(line)]
        arrows: list[MessageArrow] = []
        discarded: list[str] = []
        for sender, group in groupby(self.search["steps"], key=lambda step: (step[4], step[5])):
            told, orphans = self._moved(sender, list(group), line, discarded)
            steps.append(told)
            arrows += orphans
        steps.append(self._found(line, discarded))
        marks = tuple(mark for instance in self.rows for mark in self._marks(instance))
        times = [mark.at for mark in marks]
        first, last = min(times, default=0.0), self.recovery["detected_s"]
        margin = max(last - first, 1e-3) * 0.04
        diagram = Diagram(
            instances=tuple(map(_spoken, self.rows)),
            first=first - margin,
            last=last + margin,
            unit="s",
            checkpoints=marks,
            messages=tuple({arrow.name: arrow for arrow in arrows}.values()),
        )
        left_out = len(self.newest) - len(self.rows)
        return Explained(
            name=f"Recovery {self.recovery['epoch']}",
            text=f"The loss of {listed(self.recovery['hosts'])} was detected at {self.recovery['detected_s']:.3f} s.",
            shows="recovery",
            diagram=diagram,
            steps=tuple(steps),
            left_out=left_out,
        )

    def _begin(self) -> LessonStep:
        count = sum(map(len, self.known.values()))
        return LessonStep(
            title="What the coordinator knew",
            text=f"{len(self.newest)} instances had {count} stored checkpoints, with the numbers of the last record that each had sent and "
            "processed on each of its channels. Uploads in progress do not count.",
        )

    def _newest(self, line: Mapping[Instance, int]) -> LessonStep:
        return LessonStep(
            title="The newest checkpoints",
            text="The search starts with the newest checkpoint of each instance. On each channel, it compares the records the receiver has "
            "processed with those the sender has sent.",
            line=self._ids(line),
        )

    def _moved(
        self, sender: Instance, moves: list[list[Any]], line: dict[Instance, int], discarded: list[str]
    ) -> tuple[LessonStep, list[MessageArrow]]:
        """Return the step of the instances rolled back because of one sender's checkpoint or region. Updates line and discarded."""
        at = line[sender]
        sentences, arrows, gone, focus = [], [], [], []
        for operator, index, before, after, _, _, sent, processed in moves:
            receiver = (operator, index)
            gone += [self._id(receiver, c.number) for c in self.known[receiver] if after < c.number <= before]
            line[receiver] = after
            focus.append(self._id(receiver, after))
            if sent is None:
                sentences.append(f"{_checkpoint(receiver, before)} belongs to another round: back to {_checkpoint(receiver, after)}")
                continue
            count = processed - sent
            name = f"{_spoken(sender)} → {_spoken(receiver)}, {_records(count)}"
            sentences.append(
                f"{_checkpoint(receiver, before)} has processed {_record_numbers(processed)}, of which {_records(count)} "
                f"{'was' if count == 1 else 'were'} sent only later: back to {_checkpoint(receiver, after)}"
            )
            if sender in self.row_of and receiver in self.row_of:
                arrows.append(self._arrow(name, sender, at, receiver, before))
        discarded += [id for id in gone if id]
        more = len(moves) - NAMED_MAX
        sent = next(((move[6], (move[0], move[1])) for move in moves if move[6] is not None), None)
        head = f"{_checkpoint(sender, at)} had sent {_record_numbers(sent[0])} to {_spoken(sent[1])}. " if sent else ""
        if any(move[6] is None for move in moves):
            head += f"A region rolls back to one common round, and {_checkpoint(sender, at)} belongs to an older one. "
        tail = f"; and so {'does' if more == 1 else 'do'} {more} more" if more > 0 else ""
        same = {(step[0], step[1]) for step in moves}
        title = (
            f"{_spoken((moves[0][0], moves[0][1]))} rolls back" if len(same) == 1 else f"{_spoken(sender)} rolls back {len(same)} instances"
        )
        step = LessonStep(
            title=title,
            text=f"{head}{'; '.join(sentences[:NAMED_MAX])}{tail}. Discarded so far: {len(discarded)}.",
            line=self._ids(line),
            discarded=tuple(discarded),
            focus=tuple(filter(None, focus)),
            orphans=tuple(arrow.name for arrow in arrows),
        )
        return step, arrows

    def _found(self, line: Mapping[Instance, int], discarded: list[str]) -> LessonStep:
        count = sum(sum(line[i] < c.number for c in known) for i, known in self.known.items())
        of = sum(map(len, self.known.values()))
        began = sum(number == 0 for number in line.values())
        start = f" {began} of the instances roll back to the start of the run." if began else ""
        share = f" ({count / of:.0%})" if of else ""
        return LessonStep(
            title="The recovery line",
            text=f"No receiver has processed more than its sender has sent: this is the line. Of {of} checkpoints, {count} are discarded"
            f"{share}.{start} In flight, sent but not processed: {_records(self.search['in_flight'])}.",
            verdict="good",
            line=self._ids(line),
            discarded=tuple(discarded),
        )

    def _arrow(self, name: str, sender: Instance, at: int, receiver: Instance, before: int) -> MessageArrow:
        """Return an arrow between the two checkpoints; the exact times are not stored."""
        sent_s, processed_s = self._captured_s(sender, at), self._captured_s(receiver, before)
        span_s = processed_s - sent_s
        begin, end = sent_s + 0.2 * span_s, processed_s - 0.2 * span_s
        return MessageArrow(
            name=name,
            kind="record",
            sender=self.row_of[sender],
            receiver=self.row_of[receiver],
            sent_at=begin,
            sent_act=0,
            arrives_at=end,
            arrives_act=0,
            processed_at=end,
            processed_act=0,
        )

    def _captured_s(self, instance: Instance, number: int) -> float:
        return next((c.captured_s for c in self.known[instance] if c.number == number), 0.0)

    def _marks(self, instance: Instance) -> Iterable[CheckpointMark]:
        """Yield marks from the checkpoint before the line; the start only if it is on the line."""
        row, name = self.row_of[instance], _spoken(instance)
        back = self.back[instance]
        older = [c for c in self.known[instance] if c.number < back][-1:]
        if back == 0:
            yield CheckpointMark(id=checkpoint_id(row, 0), instance=row, index=0, name=f"start of {name}", at=0, act=0, kind="start")
        for c in [*older, *(c for c in self.known[instance] if c.number >= back)]:
            kind = c.kind if c.kind in ("basic", "forced", "coordinated") else "basic"
            id = checkpoint_id(row, c.number)
            yield CheckpointMark(
                id=id,
                instance=row,
                index=c.number,
                name=f"{name} {c.number}",
                at=c.captured_s,
                act=0,
                kind=kind,  # type: ignore[arg-type]
            )

    def _id(self, instance: Instance, number: int) -> str:
        """Return the id of its mark; empty if it is not drawn."""
        return checkpoint_id(self.row_of[instance], number) if instance in self.row_of else ""

    def _ids(self, line: Mapping[Instance, int]) -> tuple[str, ...]:
        return tuple(self._id(instance, line[instance]) for instance in self.rows)


def _number(one: Stored) -> int:
    return one.number


def _spoken(instance: Instance) -> str:
    return f"{instance[0]}[{instance[1]}]"


def _checkpoint(instance: Instance, number: int) -> str:
    return f"{_spoken(instance)} at checkpoint {number}" if number else f"{_spoken(instance)} at the start"


def _records(count: int) -> str:
    return "1 record" if count == 1 else f"{count:,} records"


def _record_numbers(last: int) -> str:
    return f"records up to {last:,}" if last else "no record"
