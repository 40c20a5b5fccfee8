"""Records of a similarity join, one after the other: to which spaces and worksets each goes, and with whom it is compared. The rules are
those of docs/event-core.md, section 7; `tests/engine/lessons/test_similarity_lessons.py` holds them against the operators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product

from .similarity_document import PlacedRecord, SimilarityCase, SimilarityLesson
from .steps import Bar, CheckpointMark, Diagram, Explained, Kind, LessonStep, MessageArrow, Table, checkpoint_id, listed

INNER, OUTER, OUTLIER = "inner", "outer", "outlier"
MARKS: dict[str, Kind] = {INNER: "result", OUTER: "cycle", OUTLIER: "event"}
EXACT = 1e-12
"""Differences of directions are decimal fractions in a document, and not quite in a float."""

Pair = tuple[str, str]


def apart(a: float, b: float) -> float:
    """The angle between two directions, in half turns."""
    return min(abs(a - b), 2 - abs(a - b))


def within(distance: float, reach: float) -> bool:
    return distance <= reach + EXACT


def sends(home: int, other: int) -> bool:
    """Whether of two spaces `other` gets copies of the records of `home`."""
    return (home < other) != ((home + other) % 2 == 1)


@dataclass
class Member:
    """A record in a workset. act: number of records that had come then."""

    record: PlacedRecord
    role: str
    act: int


@dataclass
class Workset:
    space: int
    number: int
    centroid: float
    act: int
    members: list[Member] = field(default_factory=list)
    compared: int = 0

    @property
    def name(self) -> str:
        return f"{self.space}.{self.number}"


@dataclass
class Meeting:
    """What happened when a copy of a record came to a workset. uncompared, compared, pairs: names of records of the other stream."""

    workset: Workset
    member: Member
    uncompared: list[str] = field(default_factory=list)
    compared: list[str] = field(default_factory=list)
    pairs: list[str] = field(default_factory=list)


class Play:
    """The join of a case."""

    def __init__(self, lesson: SimilarityLesson, case: SimilarityCase):
        self.spaces, self.t, self.case = lesson.spaces, lesson.threshold, case
        self.worksets: list[list[Workset]] = [[] for _ in lesson.spaces]
        self.kept: list[tuple[int, PlacedRecord]] = []  # copies from other spaces, with the space that they went to
        self.found: Counter[Pair] = Counter()

    @property
    def all(self) -> list[Workset]:
        return [workset for here in self.worksets for workset in here]

    def serve(self, record: PlacedRecord, act: int) -> tuple[int, list[int], list[int], bool, list[Meeting]]:
        """Its home, the spaces that get copies, those that are near but do not, whether it opens a workset, and what it met."""
        far = [apart(record.at, centroid) for centroid in self.spaces]
        home = far.index(min(far))
        near = [j for j, d in enumerate(far) if j != home and within(d, far[home] + 2 * self.t)]
        copies = [j for j in near if sends(home, j) or not self.case.parity]
        opened, meetings = self._in_home(record, home, act)
        for j in copies:
            self.kept.append((j, record))
            meetings += [self._meet(workset, record, OUTER, act) for workset in self.worksets[j] if self._needs(record, workset)]
        return home, copies, [j for j in near if j not in copies], opened, meetings

    def _in_home(self, record: PlacedRecord, home: int, act: int) -> tuple[bool, list[Meeting]]:
        here = self.worksets[home]
        nearest = min(here, key=lambda workset: apart(record.at, workset.centroid), default=None)
        if nearest is None or not within(apart(record.at, nearest.centroid), self.t):
            opened = Workset(home, len(here) + 1, record.at, act)
            meetings = [self._meet(opened, record, INNER, act)]
            waiting = [kept for space, kept in self.kept if space == home and self.case.replay and self._needs(kept, opened)]
            meetings += [self._meet(opened, kept, OUTER, act) for kept in waiting]
            older = list(here)
            here.append(opened)
            return True, meetings + [self._meet(one, record, OUTER, act) for one in older if self._reaches(record, one)]
        role = INNER if within(apart(record.at, nearest.centroid), self.t / 2) else OUTLIER
        meetings = [self._meet(nearest, record, role, act)]
        older = here[: nearest.number - 1]
        return False, meetings + [self._meet(one, record, OUTER, act) for one in older if self._reaches(record, one)]

    def _reaches(self, record: PlacedRecord, workset: Workset) -> bool:
        return within(apart(record.at, workset.centroid), 2 * self.t)

    def _needs(self, record: PlacedRecord, workset: Workset) -> bool:
        """Whether a copy from another space goes to a workset."""
        beyond = not within(apart(record.at, workset.centroid), self.t / 2)
        return self._reaches(record, workset) and (beyond or not self.case.lower_bound)

    def _meet(self, workset: Workset, record: PlacedRecord, role: str, act: int) -> Meeting:
        member = Member(record, role, act)
        meeting = Meeting(workset, member)
        for other in workset.members:
            if other.record.stream == record.stream or {role, other.role} == {OUTER}:
                continue
            if {role, other.role} == {INNER}:
                meeting.uncompared.append(other.record.name)
            else:
                meeting.compared.append(other.record.name)
                if not within(apart(record.at, other.record.at), self.t):
                    continue
            meeting.pairs.append(other.record.name)
            left, right = (record, other.record) if record.stream == "left" else (other.record, record)
            self.found[left.name, right.name] += 1
        workset.members.append(member)
        workset.compared += len(meeting.compared)
        return meeting


def true_pairs(records: Sequence[PlacedRecord], threshold: float) -> set[Pair]:
    left, right = ([record for record in records if record.stream == stream] for stream in ("left", "right"))
    return {(a.name, b.name) for a, b in product(left, right) if within(apart(a.at, b.at), threshold)}


def explained_similarity(lesson: SimilarityLesson, case: SimilarityCase) -> Explained:
    play = Play(lesson, case)
    told = []
    for act, record in enumerate(case.records, 1):
        known = {id(workset): len(workset.members) for workset in play.all}
        happened = play.serve(record, act)
        new = [(workset, member) for workset in play.all for member in workset.members[known.get(id(workset), 0) :]]
        told.append((record, happened, new, _table(play)))
    rows = {workset.name: n for n, workset in enumerate(play.all)}
    steps, arrows = [_beginning(lesson, case)], []
    for act, (record, (home, copies, spared, opened, meetings), new, table) in enumerate(told, 1):
        here, *elsewhere = meetings
        sent = [_arrow(rows, here, meeting, act) for meeting in elsewhere if meeting.member.record is record]
        arrows += sent
        focus = tuple(_id(rows, workset, member) for workset, member in new)
        text = " ".join([_way(lesson, record, home, copies, spared, opened, here), *map(_met, meetings)])
        title = f"{record.name} comes, {record.stream}, at {record.at:g}"
        names = tuple(arrow.name for arrow in sent)
        steps.append(LessonStep(title=title, text=text, act=act, focus=focus, told=names, table=table))
    compared = sum(workset.compared for workset in play.all)
    steps.append(verdict(true_pairs(case.records, play.t), play.found, compared, len(case.records), _table(play)))
    directions = [*lesson.spaces, *(record.at for record in case.records)]
    diagram = Diagram(
        instances=tuple(rows),
        first=round(min(directions) - lesson.threshold, 6),
        last=round(max(directions) + lesson.threshold, 6),
        unit="π",
        checkpoints=tuple(_mark(rows, workset, member) for workset in play.all for member in workset.members),
        messages=tuple(arrows),
        bars=tuple(_bar(rows, workset, lesson.threshold) for workset in play.all),
    )
    return Explained(
        name=case.name, text=case.text, shows="similarity", heading="Worksets, and the directions of their records", diagram=diagram,
        steps=tuple(steps),
    )  # fmt: skip


# Texts


def _beginning(lesson: SimilarityLesson, case: SimilarityCase) -> LessonStep:
    spaces = listed([f"{n} at {at:g}" for n, at in enumerate(lesson.spaces)])
    changed = [
        text
        for text, holds in (
            ("both of two spaces send copies to each other", not case.parity),
            ("a workset does not get the copies that came before it", not case.replay),
            ("copies from other spaces go only to worksets farther away than half the threshold", case.lower_bound),
        )
        if holds
    ]
    rule = f" Here a rule is changed: {listed(changed)}." if changed else ""
    t = lesson.threshold
    text = (
        f"Centroids of spaces: {spaces}. Records match at a distance of at most {t:g}, in half turns. A bar is the inner range of a "
        f"workset, {t / 2:g} to both sides of its centroid.{rule}"
    )
    return LessonStep(title="Before the first record", text=text, act=0)


def _way(
    lesson: SimilarityLesson, record: PlacedRecord, home: int, copies: list[int], spared: list[int], opened: bool, here: Meeting
) -> str:
    workset, t = here.workset, lesson.threshold
    far = apart(record.at, workset.centroid)
    told = [f"The nearest centroid is that of space {home}."]
    if opened:
        told.append(f"No workset there has its centroid within {t:g}, so {record.name} becomes the centroid of workset {workset.name}.")
    else:
        half = "at most" if here.member.role == INNER else "more than"
        told.append(
            f"{record.name} is {far:.3g} from the centroid of workset {workset.name}, {half} half the threshold: {here.member.role}."
        )
    if copies:
        told.append(f"Matches may be at home in space {listed([str(j) for j in copies])}, which gets a copy.")
    if spared:
        told.append(f"Space {listed([str(j) for j in spared])} gets none: its own records are copied here.")
    return " ".join(told)


def _met(meeting: Meeting) -> str:
    name, workset = meeting.member.record.name, meeting.workset.name
    met = []
    if meeting.uncompared:
        met.append(f"matches {listed(meeting.uncompared)} without a comparison, both being inner")
    if meeting.compared:
        hits = [other for other in meeting.compared if other in meeting.pairs]
        met.append(f"is compared with {listed(meeting.compared)}, and {'matches ' + listed(hits) if hits else 'matches none'}")
    what = "; ".join(met) if met else "has nobody to meet yet"
    return f"In {workset} {name} ({meeting.member.role}) {what}."


def _table(play: Play) -> Table:
    def names(workset: Workset, role: str) -> str:
        return ", ".join(member.record.name for member in workset.members if member.role == role) or "–"

    rows = tuple((w.name, names(w, INNER), names(w, OUTLIER), names(w, OUTER), str(w.compared)) for w in play.all)
    return Table(title="The worksets after this step", columns=("Workset", "Inner", "Outliers", "Outer", "Comparisons"), rows=rows)


def verdict(true: set[Pair], found: Counter[Pair], compared: int, act: int, table: Table) -> LessonStep:
    """The last step: whether each pair was found once."""
    missing = sorted(true - found.keys())
    twice = sorted(pair for pair, times in found.items() if times > 1)
    told = f"Pairs within the threshold: {len(true)}. Pairs found: {sum(found.values())}, with comparisons: {compared}."
    if missing:
        told += f" Missing: {_pairs_in_words(missing)}."
    if twice:
        told += f" Found more than once: {_pairs_in_words(twice)}."
    good = not missing and not twice
    title = "Every pair was found once" if good else "Not every pair was found once"
    return LessonStep(title=title, text=told, act=act, verdict="good" if good else "bad", table=table)


def _pairs_in_words(pairs: list[Pair]) -> str:
    return ", ".join(f"{left} with {right}" for left, right in pairs)


# Diagram


def _id(rows: dict[str, int], workset: Workset, member: Member) -> str:
    return checkpoint_id(rows[workset.name], workset.members.index(member))


def _mark(rows: dict[str, int], workset: Workset, member: Member) -> CheckpointMark:
    return CheckpointMark(
        id=_id(rows, workset, member), instance=rows[workset.name], index=workset.members.index(member), name=member.record.name,
        at=member.record.at, act=member.act, kind=MARKS[member.role],
    )  # fmt: skip


def _arrow(rows: dict[str, int], home: Meeting, copy: Meeting, act: int) -> MessageArrow:
    record = copy.member.record
    return MessageArrow(
        name=f"{record.name} to {copy.workset.name}", kind="record", sender=rows[home.workset.name], receiver=rows[copy.workset.name],
        sent_at=record.at, sent_act=act, arrives_at=record.at, arrives_act=act, processed_at=record.at, processed_act=act,
    )  # fmt: skip


def _bar(rows: dict[str, int], workset: Workset, threshold: float) -> Bar:
    half = threshold / 2
    return Bar(instance=rows[workset.name], at=workset.centroid - half, until=workset.centroid + half, act=workset.act)
