"""Records of a cluster join, one after the other: to which partitions and keys each goes, and with whom it is compared. The rules are those
of docs/event-core.md, section 7; `tests/engine/lessons/test_clusters_lesson.py` holds them against the operators."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from .clusters_document import ClusterCase, ClustersLesson
from .similarity import apart, sends, true_pairs, verdict, within
from .similarity_document import PlacedRecord
from .steps import CheckpointMark, Diagram, Explained, LessonStep, MessageArrow, Table, checkpoint_id, listed

Pair = tuple[str, str]


@dataclass
class Copy:
    """A record in a partition, its own one (inner) or another. act: number of records that had come then."""

    record: PlacedRecord
    partition: int
    inner: bool
    act: int

    @property
    def name(self) -> str:
        return f"{self.record.name} ({self.partition})"


@dataclass
class Group:
    """Copies that meet: those of a key, or of a partition."""

    number: int
    copies: list[Copy] = field(default_factory=list)
    compared: int = 0


@dataclass
class Meeting:
    """What happened when a copy came to its group. compared: names of those that it was compared with. pairs: of those that it matches."""

    group: Group
    copy: Copy
    compared: list[str] = field(default_factory=list)
    pairs: list[str] = field(default_factory=list)


class Play:
    """The join of a case."""

    def __init__(self, lesson: ClustersLesson, case: ClusterCase):
        self.lesson, self.case = lesson, case
        count = lesson.keys + 1 if case.meet == "key" else len(lesson.partitions)
        self.groups = [Group(n) for n in range(count)]
        self.found: Counter[Pair] = Counter()

    def key_of(self, partition: int) -> int:
        """From 0 to the number of keys. Source: Siachamis 2024, artefact."""
        count = len(self.lesson.partitions)
        return (partition * self.lesson.keys + count - 1) // count

    def worker_of(self, key: int) -> int:
        return min(key * self.lesson.workers // self.lesson.keys, self.lesson.workers - 1)

    def serve(self, record: PlacedRecord, act: int) -> list[Meeting]:
        """Its own partition comes first."""
        far = [apart(record.at, centroid) for centroid in self.lesson.partitions]
        home = far.index(min(far))
        near = [j for j, d in enumerate(far) if j != home and within(d, far[home] + 2 * self.lesson.threshold) and sends(home, j)]
        return [self._meet(Copy(record, j, j == home, act)) for j in (home, *near)]

    def _meet(self, copy: Copy) -> Meeting:
        group = self.groups[self.key_of(copy.partition) if self.case.meet == "key" else copy.partition]
        meeting = Meeting(group, copy)
        for other in group.copies:
            if other.record.stream == copy.record.stream or not (copy.inner or other.inner):
                continue
            meeting.compared.append(other.name)
            if self.case.dedupe and other.partition != copy.partition:
                continue
            if within(apart(copy.record.at, other.record.at), self.lesson.threshold):
                meeting.pairs.append(other.name)
                left, right = (copy, other) if copy.record.stream == "left" else (other, copy)
                self.found[left.record.name, right.record.name] += 1
        group.copies.append(copy)
        group.compared += len(meeting.compared)
        return meeting


def explained_clusters(lesson: ClustersLesson, case: ClusterCase) -> Explained:
    play = Play(lesson, case)
    told = [(record, play.serve(record, act), _table(play)) for act, record in enumerate(case.records, 1)]
    used = [group for group in play.groups if group.copies]
    rows = {group.number: n for n, group in enumerate(used)}
    arrows: list[MessageArrow] = []
    steps = [_beginning(play)]
    for act, (record, meetings, table) in enumerate(told, 1):
        sent = [_arrow(rows, meetings[0], meeting, act) for meeting in meetings[1:] if meeting.group is not meetings[0].group]
        arrows += sent
        focus = tuple(_id(rows, meeting.group, meeting.copy) for meeting in meetings)
        text = " ".join([_way(play, record, meetings), *map(_met, meetings)])
        title = f"{record.name} comes, {record.stream}, at {record.at:g}"
        steps.append(LessonStep(title=title, text=text, act=act, focus=focus, told=tuple(arrow.name for arrow in sent), table=table))
    compared = sum(group.compared for group in play.groups)
    steps.append(verdict(true_pairs(case.records, lesson.threshold), play.found, compared, len(case.records), _table(play)))
    directions = [*lesson.partitions, *(record.at for record in case.records)]
    diagram = Diagram(
        instances=tuple(f"{case.meet} {group.number}" for group in used),
        first=round(min(directions) - lesson.threshold, 6),
        last=round(max(directions) + lesson.threshold, 6),
        unit="π",
        checkpoints=tuple(_mark(rows, group, copy) for group in used for copy in group.copies),
        messages=tuple(arrows),
    )
    heading = f"{case.meet.title()}s, and the directions of their records"
    return Explained(name=case.name, text=case.text, shows="similarity", heading=heading, diagram=diagram, steps=tuple(steps))


# Texts


def _beginning(play: Play) -> LessonStep:
    lesson = play.lesson
    placed = [f"{n} at {at:g} (key {play.key_of(n)}, worker {play.worker_of(play.key_of(n))})" for n, at in enumerate(lesson.partitions)]
    meet = "key, whatever its partitions" if play.case.meet == "key" else "partition"
    only = " A pair counts only where both copies are of one partition." if play.case.dedupe else ""
    text = f"Centroids of partitions: {listed(placed)}. Records match at a distance of at most {lesson.threshold:g}, in half turns. Copies "
    text += f"meet by {meet}.{only} In brackets stand the partitions of copies."
    return LessonStep(title="Before the first record", text=text, act=0)


def _way(play: Play, record: PlacedRecord, meetings: list[Meeting]) -> str:
    home, *others = [meeting.copy.partition for meeting in meetings]
    text = f"The nearest centroid is that of partition {home}, with key {play.key_of(home)}."
    if others:
        to = listed([f"{j} (key {play.key_of(j)})" for j in others])
        text += f" Matches may be at home in partition {to}, which gets a copy."
    return text


def _met(meeting: Meeting) -> str:
    copy, what = meeting.copy, "has nobody to meet yet"
    if meeting.compared:
        what = f"is compared with {listed(meeting.compared)}, and "
        what += f"matches {listed(meeting.pairs)}" if meeting.pairs else "no pair counts"
    return f"{copy.name}, {'inner' if copy.inner else 'outer'}, {what}."


def _table(play: Play) -> Table:
    def names(group: Group, inner: bool) -> str:
        return ", ".join(copy.name for copy in group.copies if copy.inner == inner) or "–"

    rows = tuple((str(group.number), names(group, True), names(group, False), str(group.compared)) for group in play.groups if group.copies)
    columns = (play.case.meet.title(), "Inner, with their partitions", "Outer, with their partitions", "Comparisons")
    return Table(title=f"The {play.case.meet}s after this step", columns=columns, rows=rows)


# Diagram


def _id(rows: dict[int, int], group: Group, copy: Copy) -> str:
    return checkpoint_id(rows[group.number], group.copies.index(copy))


def _mark(rows: dict[int, int], group: Group, copy: Copy) -> CheckpointMark:
    return CheckpointMark(
        id=_id(rows, group, copy), instance=rows[group.number], index=group.copies.index(copy), name=copy.record.name, at=copy.record.at,
        act=copy.act, kind="result" if copy.inner else "cycle",
    )  # fmt: skip


def _arrow(rows: dict[int, int], home: Meeting, meeting: Meeting, act: int) -> MessageArrow:
    record = meeting.copy.record
    return MessageArrow(
        name=f"{record.name} to partition {meeting.copy.partition}", kind="record", sender=rows[home.group.number],
        receiver=rows[meeting.group.number], sent_at=record.at, sent_act=act, arrives_at=record.at, arrives_act=act,
        processed_at=record.at, processed_act=act,
    )  # fmt: skip
