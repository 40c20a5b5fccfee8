"""What durable services have in common: they take requests one after another, and answer when the disk is done."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from engine.core.control.actors import ActorHost, Directory, Message, Post
from engine.core.layout import FAR

from .disk import Disk

REPLY_BYTES = 64
"""Of an answer without content."""


class Service(ABC):
    """An actor whose disk serves requests in the order in which they arrive.

    A request is (verb, number, ...), the number being the client's own; its answer is (outcome, number, ...), sent to the same client
    when the disk is done. What was answered is durable, and nothing that hosts of the run do or suffer takes it back.
    """

    def __init__(self, host: ActorHost, disk: Disk, request_ns: int = 0):
        """request_ns: what each request takes beside the disk's work, at the same time as others."""
        self.host, self.disk, self.request_ns = host, disk, request_ns
        self.next_ns = FAR
        self._free_ns = 0  # when the disk has done all that came so far
        self.used_bytes = 0

    def start(self, directory: Directory) -> None:  # noqa: B027 whoever asks brings the address to answer to
        """Services send to whoever has asked."""

    def wake(self, now_ns: int, post: Post) -> None:
        raise AssertionError("a service has no timer")

    @abstractmethod
    def receive(self, message: Message, now_ns: int, post: Post) -> None:
        """A request has arrived: serve it with `answer`, or refuse it with `unknown`."""

    def answer(
        self, message: Message, now_ns: int, post: Post, work_ns: int, words: tuple[int, ...], size_bytes: int = 0, parcel: bytes = b""
    ) -> None:
        """Let the disk work for so long, after all that came before, and answer then: the outcome, the request's number, the rest."""
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
        return ValueError(f"'{self.host.name}' was sent {message.words} by {message.sender}, which is none of its requests")

    def state(self) -> Any:
        return [self._free_ns, self.used_bytes]

    def restore(self, state: Any) -> None:
        self._free_ns, self.used_bytes = state
