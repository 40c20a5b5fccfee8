"""Durable services (docs/event-core.md, section 14) against a twin that works out every answer and its time by hand.

What this catches: an answer before its bytes are on the disk, requests that overtake one another, an object that is lost or old after it
was acknowledged, space that is not given back, a refusal that changes something, state that is not saved.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine.core.control.actors import ActorHost, Directory, Message, Post
from engine.core.layout import FAR
from engine.services import AppendLogs, Disk, ObjectStore
from engine.services import append_logs as logs
from engine.services import object_store as store
from engine.services.service import REPLY_BYTES

from ...support.agreement import DATASETS, TINY, template

HORIZON_S = 0.3
HOSTS = (ActorHost("one", 800, 30_000), ActorHost("two", 100, 200_000))
SERVICE = ActorHost("service", 400, 70_000)


class Request(NamedTuple):
    at_ns: int
    words: tuple[int, ...]
    size_bytes: int
    parcel: bytes = b""


class Client:
    """Sends its requests at their times, and notes what it hears."""

    def __init__(self, host: ActorHost, requests: list[Request]):
        self.host, self.requests = host, requests
        self.sent = 0
        self.heard: list[list[Any]] = []

    @property
    def next_ns(self) -> int:
        return self.requests[self.sent].at_ns if self.sent < len(self.requests) else FAR

    def start(self, directory: Directory) -> None:
        self.service = directory.actors["service"]

    def wake(self, now_ns: int, post: Post) -> None:
        request = self.requests[self.sent]
        self.sent += 1
        post.send(self.service, request.words, request.size_bytes, parcel=request.parcel)

    def receive(self, message: Message, now_ns: int, post: Post) -> None:
        self.heard.append([now_ns, list(message.words), message.size_bytes, message.parcel])

    def state(self) -> Any:
        return [self.sent, self.heard]

    def restore(self, state: Any) -> None:
        self.sent, self.heard = state


def document() -> dict[str, Any]:
    made = template("nexmark_q1", horizon_s=HORIZON_S)
    made["workload"]["sources"]["bids"]["rate"] = {"kind": "constant", "per_s": 200}
    return made


def simulated(service: Any, scripts: list[list[Request]], **options: Any) -> tuple[engine.Simulation, list[Client]]:
    clients = [Client(host, script) for host, script in zip(HOSTS, scripts, strict=True)]
    return engine.Simulation(document(), datasets=DATASETS, actors=[service, *clients], **options), clients


def heard_from(service: Any, scripts: list[list[Request]], **options: Any) -> list[list[Any]]:
    simulation, clients = simulated(service, scripts, **options)
    simulation.run_until(simulation.end_ns)
    return [client.heard for client in clients]


def wire_ns(size_bytes: int, mbit_per_s: int) -> int:
    return -(-size_bytes * 8000 // mbit_per_s)


def by_hand(disk: Disk, scripts: list[list[Request]], serve: Any) -> list[list[Any]]:
    """serve(request, at_ns) gives the answer's words, its content's bytes and content, and how long the disk works."""
    arrivals = []
    for n, script in enumerate(scripts):
        free_ns = 0
        for fifo, request in enumerate(script):
            free_ns = max(free_ns, request.at_ns) + wire_ns(request.size_bytes, HOSTS[n].egress_mbit_per_s)
            arrivals.append((free_ns + HOSTS[n].egress_latency_ns, n, fifo, request))
    heard: list[list[Any]] = [[] for _ in scripts]
    disk_ns = link_ns = 0
    for at_ns, n, _, request in sorted(arrivals):
        words, size_bytes, content, work_ns = serve(request, at_ns)
        disk_ns = max(disk_ns, at_ns) + work_ns
        link_ns = max(link_ns, disk_ns) + wire_ns(REPLY_BYTES + size_bytes, SERVICE.egress_mbit_per_s)
        heard[n].append([link_ns + SERVICE.egress_latency_ns, words, REPLY_BYTES + size_bytes, content])
    return heard


class Shelf:
    """An object store as a list of what was put, looked through from its end."""

    def __init__(self, disk: Disk):
        self.disk = disk
        self.history: list[tuple[int, int, bytes | None]] = []

    def now(self) -> dict[int, tuple[int, bytes]]:
        there: dict[int, tuple[int, bytes]] = {}
        for key, size, content in self.history:
            there.pop(key, None)
            if content is not None:
                there[key] = size, content
        return there

    def serve(self, request: Request, at_ns: int) -> tuple[list[int], int, bytes, int]:
        verb, number, key, *most = request.words
        there, disk = self.now(), self.disk
        if verb == store.PUT:
            used = sum(size for other, (size, _) in there.items() if other != key) + request.size_bytes
            grows = request.size_bytes > there.get(key, (0, b""))[0]
            closed = any(begin <= at_ns < end for begin, end in disk.full)
            if grows and (closed or used > (disk.capacity_bytes or 10**18)):
                return [store.FULL, number, key], 0, b"", disk.latency_ns
            self.history.append((key, request.size_bytes, request.parcel))
            return [store.DONE, number, key], 0, b"", disk.latency_ns + wire_ns(request.size_bytes, disk.write_mbit_per_s)
        if key not in there:
            return [store.MISSING, number, key], 0, b"", disk.latency_ns
        if verb == store.DELETE:
            self.history.append((key, 0, None))
            return [store.DONE, number, key], 0, b"", disk.latency_ns
        size, content = there[key]
        size = min([size, *most])
        return [store.DONE, number, key], size, content, disk.latency_ns + wire_ns(size, disk.read_mbit_per_s)


class Journal:
    """Append logs as one list of (log, size, content) in order of arrival, dropped entries as None."""

    def __init__(self, disk: Disk):
        self.disk = disk
        self.entries: dict[int, list[tuple[int, bytes] | None]] = {}

    def serve(self, request: Request, at_ns: int) -> tuple[list[int], int, bytes, int]:
        verb, number, log, *rest = request.words
        entries, disk = self.entries.setdefault(log, []), self.disk
        left = entries.count(None)
        if verb == logs.APPEND:
            used = sum(entry[0] for each in self.entries.values() for entry in each if entry is not None)
            closed = any(begin <= at_ns < end for begin, end in disk.full)
            if closed or used + request.size_bytes > (disk.capacity_bytes or 10**18):
                return [logs.FULL, number, log, len(entries)], 0, b"", disk.latency_ns
            entries.append((request.size_bytes, request.parcel))
            work_ns = disk.latency_ns + wire_ns(request.size_bytes, disk.write_mbit_per_s)
            return [logs.DONE, number, log, len(entries) - 1], 0, b"", work_ns
        if verb == logs.TRUNCATE:
            for place in range(min(rest[0], len(entries))):
                entries[place] = None
            return [logs.DONE, number, log, max(left, min(rest[0], len(entries)))], 0, b"", disk.latency_ns
        first, end = rest
        if first < left or end > len(entries) or end < first:
            return [logs.MISSING, number, log, left, len(entries)], 0, b"", disk.latency_ns
        chosen = [entry for entry in entries[first:end] if entry is not None]
        size = sum(entry[0] for entry in chosen)
        return [logs.DONE, number, log, *rest], size, b"".join(e[1] for e in chosen), disk.latency_ns + wire_ns(size, disk.read_mbit_per_s)


@st.composite
def disks(draw: st.DrawFn) -> Disk:
    full = draw(st.sampled_from(((), ((20_000_000, 60_000_000),), ((0, 1_000_000), (90_000_000, 91_000_000)))))
    return Disk(
        write_mbit_per_s=draw(st.sampled_from((1, 80, 8000))),
        read_mbit_per_s=draw(st.sampled_from((2, 100))),
        latency_ns=draw(st.sampled_from((0, 1, 900_000))),
        capacity_bytes=draw(st.sampled_from((None, 5_000, 40_000))),
        full=full,
    )


@st.composite
def scripts(draw: st.DrawFn, of_logs: bool) -> list[list[Request]]:
    found = []
    for _ in HOSTS:
        times = sorted(draw(st.lists(st.integers(1, 100_000_000), max_size=12, unique=True)))
        script = []
        for number, at_ns in enumerate(times):
            verb, place = draw(st.integers(0, 2)), draw(st.integers(0, 3))
            rest: tuple[int, ...] = ()
            if of_logs and verb == logs.READ:
                first = draw(st.integers(0, 3))
                rest = (first, first + draw(st.integers(0, 2)))
            elif of_logs and verb == logs.TRUNCATE:
                rest = (draw(st.integers(0, 4)),)
            elif not of_logs and verb == store.GET:
                rest = draw(st.sampled_from(((), (1,), (500,), (8_000,))))  # all of it, or so much
            size, parcel = (draw(st.integers(1, 9_000)), bytes([number, place])) if verb == 0 else (40, b"")
            script.append(Request(at_ns, (verb, number, place, *rest), size, parcel))
        found.append(script)
    return found


@given(disk=disks(), script=scripts(of_logs=False), tiny=st.booleans())
def test_an_object_store_answers_what_and_when_it_must(disk: Disk, script: list[list[Request]], tiny: bool) -> None:
    service = ObjectStore(SERVICE, disk)
    twin = Shelf(disk)
    assert heard_from(service, script, capacity=TINY if tiny else None) == by_hand(disk, script, twin.serve)
    assert service.objects == twin.now()
    assert service.used_bytes == sum(size for size, _ in service.objects.values())


@given(disk=disks(), script=scripts(of_logs=True), tiny=st.booleans())
def test_append_logs_answer_what_and_when_they_must(disk: Disk, script: list[list[Request]], tiny: bool) -> None:
    service = AppendLogs(SERVICE, disk)
    twin = Journal(disk)
    assert heard_from(service, script, capacity=TINY if tiny else None) == by_hand(disk, script, twin.serve)
    assert service.used_bytes == sum(entry[0] for each in twin.entries.values() for entry in each if entry is not None)


def test_a_snapshot_takes_its_bytes_over_the_link_and_the_disk() -> None:
    """8 MB at 800 Mbit/s are 80 ms on the link, at 240 Mbit/s (30 MB/s) 266.7 ms on the disk; the answer's 64 bytes take 1,280 ns."""
    disk = Disk(write_mbit_per_s=240, read_mbit_per_s=240, latency_ns=1_000_000)
    script = [[Request(1_000, (store.PUT, 7, 42), 1_000_000, b"state")], []]
    (answers, _) = heard_from(ObjectStore(SERVICE, disk), script)
    assert answers == [[1_000 + 10_000_000 + 30_000 + 1_000_000 + 33_333_334 + 1_280 + 70_000, [store.DONE, 7, 42], 64, b""]]


def test_services_are_saved_forked_and_hashed(tmp_path: Path) -> None:
    disk = Disk(write_mbit_per_s=4, read_mbit_per_s=4, latency_ns=100)
    script = [
        [Request(n * 1_000_000, (n % 2, n, n // 4), 3000, bytes([n])) for n in range(1, 30)],
        [Request(n * 1_700_000, (n % 3, n, 2), 500, b"x") for n in range(1, 20)],
    ]
    whole = heard_from(ObjectStore(SERVICE, disk), script)
    cut, _ = simulated(ObjectStore(SERVICE, disk), script)
    for stop_ns in (3_141_592, 9_000_000, 27_182_818):
        cut.run_until(stop_ns)
    cut.save(tmp_path / "cut")
    again = [ObjectStore(SERVICE, disk), *(Client(host, each) for host, each in zip(HOSTS, script, strict=True))]
    resumed = engine.Simulation.resume(document(), tmp_path / "cut", datasets=DATASETS, actors=again)
    fork = cut.fork()
    assert cut.digest() == resumed.digest() == fork.digest()
    for run in (cut, resumed, fork):
        run.run_until(run.end_ns)
        assert [client.heard for client in run._actors.actors[1:]] == whole
    assert cut.digest() == resumed.digest() == fork.digest()


@pytest.mark.parametrize(
    ("given_", "words"),
    [
        ({"write_mbit_per_s": 0}, "write_mbit_per_s is 0"),
        ({"read_mbit_per_s": -1}, "read_mbit_per_s is -1"),
        ({"latency_ns": -1}, "latency_ns is -1"),
        ({"capacity_bytes": 0}, "capacity_bytes is 0"),
        ({"full": ((5, 5),)}, "full from 5 to 5 ns"),
    ],
)
def test_disks_that_cannot_be_are_refused(given_: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Disk(**({"write_mbit_per_s": 1, "read_mbit_per_s": 1} | given_))


@pytest.mark.parametrize("service", [ObjectStore(SERVICE, Disk(1, 1)), AppendLogs(SERVICE, Disk(1, 1))])
@pytest.mark.parametrize("words", [(9, 1, 1), (0,), (1, 1, 1, 1, 1, 1)])
def test_requests_that_are_none_are_refused(service: Any, words: tuple[int, ...]) -> None:
    simulation, _ = simulated(service, [[Request(1_000, words, 10)], []])
    with pytest.raises(ValueError, match="not one of its requests"):
        simulation.run_until(simulation.end_ns)
