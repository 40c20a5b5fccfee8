"""Assignment of savepoint state to the instances of a new arrangement: arithmetic on instance numbers and key groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .messages import Fetch, Mark


class OperatorSlots(NamedTuple):
    """Layout of an operator. first, most: number of its first instance, and its number of instances. groups: key groups of its state.
    together: operators of its vertex. feeds: numbers of the operators that it sends to."""

    id: str
    first: int
    most: int
    is_source: bool
    groups: int
    together: tuple[str, ...]
    feeds: tuple[int, ...] = ()

    def active(self, parallelism: Mapping[str, int], begins: Mapping[str, int]) -> range:
        """begins: index of the first active instance of operators that move."""
        first = self.first + begins.get(self.id, 0)
        return range(first, first + parallelism[self.id])


class Stored(NamedTuple):
    """The checkpoint of an instance in the store. groups: bytes of state by key group, without empty groups."""

    size_bytes: int
    pieces: int
    groups: dict[int, int]


class Savepoint(NamedTuple):
    """A savepoint of one arrangement, and the arrangement that restarts from it. before, after: parallelism by operator. begins_before,
    begins_after: index of the first active instance of operators that move."""

    number: int
    before: dict[str, int]
    after: dict[str, int]
    marks: dict[int, Mark]
    stored: dict[int, Stored]
    begins_before: dict[str, int]
    begins_after: dict[str, int]

    def olds(self, laid: OperatorSlots) -> range:
        return laid.active(self.before, self.begins_before)

    def news(self, laid: OperatorSlots) -> range:
        return laid.active(self.after, self.begins_after)

    def state(self) -> Any:
        stored = [[i, one.size_bytes, one.pieces, [list(item) for item in one.groups.items()]] for i, one in self.stored.items()]
        marks = [list(mark) for mark in self.marks.values()]
        return [self.number, self.before, self.after, marks, stored, self.begins_before, self.begins_after]

    @classmethod
    def from_state(cls, state: Any) -> Savepoint:
        number, before, after, marks, stored, *begins = state
        found = {i: Stored(size_bytes, pieces, dict(groups)) for i, size_bytes, pieces, groups in stored}
        return cls(number, before, after, {mark[0]: Mark(*mark) for mark in marks}, found, *begins)


def groups_of(index: int, parallelism: int, groups: int) -> range:
    """Return the key groups of the instance with this index: those g with floor(g x parallelism / groups) = index."""
    return range(-(-index * groups // parallelism), -(-(index + 1) * groups // parallelism))


def fetches(saved: Savepoint, operators: Sequence[OperatorSlots]) -> Iterator[Fetch]:
    """Yield the fetches, by instance, then old instance."""
    for laid in operators:
        whole = saved.before[laid.id] == saved.after[laid.id]  # each takes over from one other, or from itself
        for n, i in enumerate(saved.news(laid)):
            olds = saved.olds(laid)[n : n + 1] if whole else saved.olds(laid)
            wanted = None if whole else groups_of(n, saved.after[laid.id], laid.groups)
            for old in olds:
                stored = saved.stored[old]
                size = sum(held for group, held in stored.groups.items() if wanted is None or group in wanted)
                if size:
                    first, end = (0, -1) if wanted is None else (wanted.start, wanted.stop)
                    yield Fetch(i, old, first, end, size, stored.size_bytes, stored.pieces)


def marks(saved: Savepoint, operators: Sequence[OperatorSlots]) -> Iterator[Mark]:
    """Yield the marks with which instances restart. Instances of an operator that changes get the minimum over the old ones, so that
    nothing they read becomes late. (Instances with keyed state have all seen the same.)"""
    for laid in operators:
        old = [saved.marks[i] for i in saved.olds(laid)]
        watermark_ns, newest_ns = min(mark.watermark_ns for mark in old), min(mark.newest_ns for mark in old)
        for n, i in enumerate(saved.news(laid)):
            if saved.before[laid.id] == saved.after[laid.id]:
                yield old[n]._replace(instance=i)
            else:
                yield Mark(i, watermark_ns, newest_ns, 0)


def requests(fetch: Fetch, piece_bytes: int) -> Iterator[tuple[int, int]]:
    """Yield the pieces of the old checkpoint to request, and the bytes of each. The last piece is always included, since it carries the
    content."""
    rest = fetch.bytes
    for piece in (fetch.pieces - 1, *range(fetch.pieces - 1)):
        has = min(piece_bytes, fetch.size_bytes - piece * piece_bytes)
        if rest:
            yield piece, min(rest, has)
        rest -= min(rest, has)
