"""Base of durable services: they serve requests one after the other, and reply when the disk is done."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from engine.core.control.actors import ActorHost, Directory, Message, Post
from engine.core.layout import FAR
from engine.spec.base.origins import constant

from .disk import Disk

REPLY_BYTES = constant(64, "assumed")
"""Size of a reply without content."""


class Service(ABC):
    """An actor whose disk serves requests in order of arrival.

    A request is (verb, number, ...), where the client chooses the number; the reply is (outcome, number, ...), sent to the client when the
    disk is done. Acknowledged requests are durable: no failure of the run's hosts undoes them.
    """

    def __init__(self, host: ActorHost, disk: Disk, request_ns: int = 0):
        """request_ns: time per request in addition to the disk's work, concurrently with other requests."""
        self.host, self.disk, self.request_ns = host, disk, request_ns
        self.next_ns = FAR
        self._free_ns = 0  # when the disk has finished all requests so far
        self.used_bytes = 0

    def start(self, directory: Directory) -> None:  # noqa: B027 clients send the address to reply to
        """Nothing to do: services only reply to clients."""

    def wake(self, now_ns: int, post: Post) -> None:
        raise AssertionError("a service has no timer")

    @abstractmethod
    def receive(self, message: Message, now_ns: int, post: Post) -> None:
        """Serve an arrived request with `answer`, or refuse it with `unknown`."""

    def answer(
        self, message: Message, now_ns: int, post: Post, work_ns: int, words: tuple[int, ...], size_bytes: int = 0, parcel: bytes = b""
    ) -> None:
        """Let the disk work for work_ns after all earlier requests, then reply with the outcome, the request's number and the rest."""
        self._free_ns = max(self._free_ns, now_ns) + work_ns
        outcome, *rest = words
        post.send(
            message.sender,
            (outcome, message.words[1], *rest),
            REPLY_BYTES + size_bytes,
            parcel=parcel,
            after_ns=self._free_ns - now_ns + self.request_ns,
        )

    def unknown(self, message: Message) -> ValueError:
        return ValueError(f"'{self.host.name}' received {message.words} from {message.sender}, which is not one of its requests")

    def state(self) -> Any:
        return [self._free_ns, self.used_bytes]

    def restore(self, state: Any) -> None:
        self._free_ns, self.used_bytes = state
