"""Durable append-only logs of channel contents, for replay."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from engine.core.control.actors import ActorHost, Message, Post

from .disk import Disk
from .service import Service

APPEND, READ, TRUNCATE = range(3)
"""Requests: (APPEND, number, log), with the entry as the message's size and parcel; (READ, number, log, first, end) for entries first ..
end - 1; (TRUNCATE, number, log, first) to drop all entries before `first`."""

DONE, FULL, MISSING = range(3)
"""Outcomes: (DONE, number, log, place of the entry); (DONE, number, log, first, end), with the entries concatenated; (DONE, number, log,
first remaining entry). A READ of entries that do not exist (any more) returns MISSING with the first entry and the end of the log."""


@dataclass
class Log:
    """first: place of the first remaining entry. entries: (size, content)."""

    first: int = 0
    entries: list[tuple[int, bytes]] = field(default_factory=list)

    @property
    def end(self) -> int:
        return self.first + len(self.entries)


class AppendLogs(Service):
    """Logs by number, usually one per channel, created on the first append. The place of an entry is its number in its log, from 0, and
    never changes. An entry counts as many bytes as the message that brought it."""

    def __init__(self, host: ActorHost, disk: Disk, request_ns: int = 0):
        super().__init__(host, disk, request_ns)
        self.logs: dict[int, Log] = {}

    def receive(self, message: Message, now_ns: int, post: Post) -> None:
        if len(message.words) < 3:
            raise self.unknown(message)
        verb, _, number, *rest = message.words
        log = self.logs.setdefault(number, Log())
        if (verb, len(rest)) == (APPEND, 0):
            if not self.disk.has_space(self.used_bytes, message.size_bytes, now_ns):
                self.answer(message, now_ns, post, self.disk.latency_ns, (FULL, number, log.end))
                return
            log.entries.append((message.size_bytes, message.parcel))
            self.used_bytes += message.size_bytes
            self.answer(message, now_ns, post, self.disk.write_ns(message.size_bytes), (DONE, number, log.end - 1))
        elif (verb, len(rest)) == (READ, 2):
            first, end = rest
            if not log.first <= first <= end <= log.end:
                self.answer(message, now_ns, post, self.disk.latency_ns, (MISSING, number, log.first, log.end))
                return
            entries = log.entries[first - log.first : end - log.first]
            size_bytes = sum(size for size, _ in entries)
            content = b"".join(content for _, content in entries)
            self.answer(message, now_ns, post, self.disk.read_ns(size_bytes), (DONE, number, first, end), size_bytes, content)
        elif (verb, len(rest)) == (TRUNCATE, 1):
            dropped = min(max(rest[0] - log.first, 0), len(log.entries))
            self.used_bytes -= sum(size for size, _ in log.entries[:dropped])
            del log.entries[:dropped]
            log.first += dropped
            self.answer(message, now_ns, post, self.disk.latency_ns, (DONE, number, log.first))
        else:
            raise self.unknown(message)

    def state(self) -> Any:
        return [super().state(), [[number, log.first, [list(entry) for entry in log.entries]] for number, log in sorted(self.logs.items())]]

    def restore(self, state: Any) -> None:
        own, logs = state
        super().restore(own)
        self.logs = {number: Log(first, [(size, content) for size, content in entries]) for number, first, entries in logs}
