"""Durable object store: snapshots, tables, results by key."""

from __future__ import annotations

from typing import Any

from engine.core.control.actors import ActorHost, Message, Post

from .disk import Disk
from .service import Service

PUT, GET, DELETE = range(3)
"""Requests: (PUT, number, key), with the object as the message's size and parcel; (GET, number, key); (DELETE, number, key), or (DELETE,
number, first, end) for all objects with keys first .. end - 1. (GET, number, key, bytes) reads only that many bytes of the object."""

DONE, FULL, MISSING = range(3)
"""Outcomes. A GET returns (DONE, number, key) with the object, and its whole parcel even if only a part was requested; a DELETE of many
returns (DONE, number, first). A PUT that finds no space changes nothing."""


class ObjectStore(Service):
    """Objects by key; a key is one word. An object counts as many bytes as the message that brought it.

    A put replaces the object as soon as the disk accepts it; a get that arrives later returns the new object, after the put is done.
    """

    def __init__(self, host: ActorHost, disk: Disk, request_ns: int = 0):
        super().__init__(host, disk, request_ns)
        self.objects: dict[int, tuple[int, bytes]] = {}  # size, content

    def receive(self, message: Message, now_ns: int, post: Post) -> None:
        if len(message.words) == 4 and message.words[0] == DELETE:
            _, _, first, end = message.words
            for key in [key for key in self.objects if first <= key < end]:
                self.used_bytes -= self.objects.pop(key)[0]
            self.answer(message, now_ns, post, self.disk.latency_ns, (DONE, first))
            return
        partial = len(message.words) == 4 and message.words[0] == GET
        if len(message.words) != 3 and not partial:
            raise self.unknown(message)
        verb, _, key = message.words[:3]
        size_bytes, content = self.objects.get(key, (0, b""))
        if partial:
            size_bytes = min(size_bytes, message.words[3])
        if verb == PUT:
            if not self.disk.has_space(self.used_bytes, message.size_bytes - size_bytes, now_ns):
                self.answer(message, now_ns, post, self.disk.latency_ns, (FULL, key))
                return
            self.objects[key] = message.size_bytes, message.parcel
            self.used_bytes += message.size_bytes - size_bytes
            self.answer(message, now_ns, post, self.disk.write_ns(message.size_bytes), (DONE, key))
        elif verb not in (GET, DELETE):
            raise self.unknown(message)
        elif key not in self.objects:
            self.answer(message, now_ns, post, self.disk.latency_ns, (MISSING, key))
        elif verb == GET:
            self.answer(message, now_ns, post, self.disk.read_ns(size_bytes), (DONE, key), size_bytes, content)
        else:
            del self.objects[key]
            self.used_bytes -= size_bytes
            self.answer(message, now_ns, post, self.disk.latency_ns, (DONE, key))

    def state(self) -> Any:
        return [super().state(), [[key, size_bytes, content] for key, (size_bytes, content) in sorted(self.objects.items())]]

    def restore(self, state: Any) -> None:
        own, objects = state
        super().restore(own)
        self.objects = {key: (size_bytes, content) for key, size_bytes, content in objects}
