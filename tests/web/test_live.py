"""The live stream: every frame once and in order, whatever happens to the stream, the files, Redis, and the viewer."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from django.contrib.auth import get_user_model
from django.contrib.sessions.models import Session
from django.db import OperationalError
from django.utils import timezone

from tests.support.patience import PATIENCE_S
from webapp.accounts.models import ApiToken
from webapp.lab.models import Lab, Membership, Run, RunState
from webapp.lab.people import member
from webapp.lib import outages
from webapp.lib.redis_connection import connection
from webapp.live import listeners
from webapp.live.feed import FEEDS, RunFeed
from webapp.live.rows import run_row
from webapp.live.shared import Feeds
from webapp.messaging.stream import Entry, announce, live_key, pack, publish, text_of

from .conftest import RedisProcess, new_experiment, new_run, small_document, wait_for
from .executing import calls_of
from .sockets import Socket, close_code, in_thread, session_cookie

pytestmark = pytest.mark.django_db(transaction=True)


class Stage:
    """A running run whose frames the test writes, as a worker would."""

    def __init__(self, run: Run) -> None:
        self.run, self.parts = run, 0

    def send(self, first: int, last: int) -> None:
        """Frames to the stream, in one entry."""
        for entry in pack(first, [text_of(frame(n)) for n in range(first, last + 1)], at_s=1.0):
            publish(connection(), self.run.pk, entry)

    def store(self, first: int, last: int) -> None:
        """Frames to the files, in one part."""
        directory = self.run.directory / "live"
        directory.mkdir(parents=True, exist_ok=True)
        numbers = list(range(first, last + 1))
        table = pa.table({"n": pa.array(numbers, pa.int32()), "json": [text_of(frame(n)) for n in numbers]})
        unfinished = directory / "unfinished.tmp"
        parquet.write_table(table, unfinished)
        unfinished.rename(directory / f"part-{self.parts:05d}.parquet")
        self.parts += 1

    def end(self, state: str = RunState.SUCCEEDED, frames: int = 0) -> None:
        Run.objects.filter(pk=self.run.pk).update(state=state, frames=frames)
        announce(connection(), self.run.pk, ended=True)


def frame(n: int) -> dict[str, Any]:
    return {"n": n, "t_s": (n + 1) / 4}


@pytest.fixture
def stage(transactional_db: None, redis: RedisProcess) -> Stage:
    run = new_run(new_experiment(member("ada").lab, small_document()))
    Run.objects.filter(pk=run.pk).update(state=RunState.RUNNING)
    run.refresh_from_db()
    return Stage(run)


@pytest.fixture
def token(stage: Stage) -> str:
    return ApiToken.issue(member("ada"), "test")[1]


class Viewer:
    """A browser on the run's page: collects what it gets."""

    def __init__(self, socket: Socket) -> None:
        self.socket = socket
        self.frames: list[int] = []
        self.states: list[str] = []
        self.ended = False

    async def receive(self, timeout_s: float = PATIENCE_S) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(await self.socket.receive(timeout_s))
        if message["type"] == "frames":
            self.frames += [item["n"] for item in message["frames"]]
        elif message["type"] == "state":
            self.states.append(message["run"]["state"])
        elif message["type"] == "end":
            self.ended = True
        return message

    async def until(self, last_frame: int) -> None:
        while not self.frames or self.frames[-1] < last_frame:
            await self.receive()

    async def until_end(self) -> None:
        while not self.ended:
            await self.receive()


def path(run: Run, after: int | str = -1) -> str:
    return f"/ws/runs/{run.pk}?after={after}"


@asynccontextmanager
async def viewer(run: Run, token: str, after: int = -1) -> AsyncIterator[Viewer]:
    socket = Socket(path(run, after), [(b"authorization", f"Bearer {token}".encode())])
    await socket.connect()
    yield Viewer(socket)
    await socket.disconnect()


async def test_frames_of_a_running_run_come_as_they_are_sent(stage: Stage, token: str) -> None:
    async with viewer(stage.run, token) as ada:
        first = await ada.receive()
        assert (first["type"], first["run"]["state"], first["run"]["id"]) == ("state", "running", str(stage.run.pk))
        assert "document" not in first["run"]
        await in_thread(stage.send, 0, 0)
        assert (await ada.receive())["frames"] == [frame(0)]
        await in_thread(stage.send, 1, 5)
        assert (await ada.receive()) == {"type": "frames", "at_s": 1.0, "frames": [frame(n) for n in range(1, 6)]}
        await in_thread(stage.end, frames=6)
        assert (await ada.receive())["run"]["state"] == "succeeded"
        assert await ada.receive() == {"type": "end"}


@pytest.mark.parametrize("after", [-1, 0, 4, 9, 17, 18, 19, 25])
async def test_a_late_viewer_gets_files_and_stream_without_gap_or_double(stage: Stage, token: str, after: int) -> None:
    await in_thread(stage.store, 0, 9)
    await in_thread(stage.store, 10, 18)
    await in_thread(stage.send, 15, 20)
    await in_thread(stage.send, 21, 22)
    async with viewer(stage.run, token, after) as ada:
        if after < 22:
            await ada.until(22)
        await in_thread(stage.send, 23, 26)
        await in_thread(stage.end, frames=27)
        await ada.until_end()
    assert ada.frames == list(range(after + 1, 27))


@pytest.mark.parametrize("after", [-1, 5, 8, 12])
async def test_a_paused_run_is_shown_as_far_as_its_files_go(stage: Stage, token: str, after: int) -> None:
    """Its worker is gone, and the last frames never came to Redis; the viewer stays and sees what comes when the run goes on."""
    await in_thread(stage.send, 0, 8)
    await in_thread(stage.store, 0, 12)
    await in_thread(Run.objects.filter(pk=stage.run.pk).update, state=RunState.PAUSED, frames=13)
    async with viewer(stage.run, token, after) as ada:
        assert (await ada.receive())["run"]["state"] == "paused"
        if after < 12:
            await ada.until(12)
        await in_thread(Run.objects.filter(pk=stage.run.pk).update, state=RunState.RUNNING)
        await in_thread(announce, connection(), stage.run.pk)
        assert (await ada.receive())["run"]["state"] == "running"
        await in_thread(stage.send, 13, 14)
        await in_thread(stage.store, 13, 14)
        await in_thread(stage.end, frames=15)
        await ada.until_end()
    assert ada.frames == list(range(after + 1, 15))


async def test_a_finished_run_is_replayed_from_its_files_alone(stage: Stage, token: str) -> None:
    await in_thread(stage.store, 0, 1499)
    await in_thread(stage.store, 1500, 2999)
    await in_thread(stage.end, frames=3000)
    async with viewer(stage.run, token, 99) as ada:
        await ada.until_end()
    assert ada.frames == list(range(100, 3000))
    assert ada.states == ["succeeded"]


async def test_reconnecting_continues_where_the_viewer_stopped(stage: Stage, token: str) -> None:
    async with viewer(stage.run, token) as ada:
        await in_thread(stage.send, 0, 3)
        await ada.until(3)
    await in_thread(stage.send, 4, 8)
    async with viewer(stage.run, token, ada.frames[-1]) as again:
        await again.until(8)
    assert ada.frames + again.frames == list(range(9))


async def test_frames_that_a_resumed_worker_computes_again_are_not_shown_again(stage: Stage, token: str) -> None:
    async with viewer(stage.run, token) as ada:
        await in_thread(stage.send, 0, 7)
        await ada.until(7)
        await in_thread(stage.send, 3, 5)  # from the snapshot on
        await in_thread(stage.send, 6, 9)
        await ada.until(9)
        await in_thread(stage.end, frames=10)
        await ada.until_end()
    assert ada.frames == list(range(10))


async def test_a_hole_in_the_stream_is_filled_from_the_files_when_they_have_it(
    stage: Stage, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[int] = []  # behind which frame, since the one after the hole is known
    look = RunFeed._entries_after

    async def noted(feed: RunFeed, position: int, thorough: bool) -> list[Entry]:
        found = await look(feed, position, thorough)
        if feed.tail and feed.tail[-1].last == 7:
            looked.append(position)
        return found

    monkeypatch.setattr(RunFeed, "_entries_after", noted)
    async with viewer(stage.run, token) as ada:
        await in_thread(stage.send, 0, 2)
        await ada.until(2)
        await in_thread(stage.send, 6, 7)  # 3 to 5 were lost with Redis
        await asyncio.to_thread(wait_for, lambda: len(looked) >= 2, "two looks for what comes next")
        while not ada.socket.output_queue.empty():
            await ada.receive()
        assert ada.frames == [0, 1, 2], "nothing is shown out of order"
        assert set(looked) == {2}
        await in_thread(stage.store, 0, 7)
        await ada.until(7)
    assert ada.frames == list(range(8))


async def test_a_restart_of_redis_without_its_data_is_survived(stage: Stage, token: str, redis: RedisProcess) -> None:
    async with viewer(stage.run, token) as ada:
        await in_thread(stage.send, 0, 2)
        await ada.until(2)
        await in_thread(redis.stop)
        await in_thread(stage.store, 0, 4)
        await ada.until(4)  # while Redis is away the files serve
        await in_thread(redis.start)
        await in_thread(stage.send, 5, 6)
        await ada.until(6)
        await in_thread(stage.end, frames=7)
        await ada.until_end()
    assert ada.frames == list(range(7))


async def test_a_trimmed_stream_is_completed_from_the_files(stage: Stage, token: str) -> None:
    for n in range(50):
        await in_thread(stage.send, n, n)
    await in_thread(stage.store, 0, 44)
    await in_thread(connection().xtrim, live_key(stage.run.pk), maxlen=10, approximate=False)
    async with viewer(stage.run, token) as ada:
        await ada.until(49)
    assert ada.frames == list(range(50))


async def test_many_viewers_share_one_reader_and_see_the_same(stage: Stage, token: str) -> None:
    draw = random.Random(1)
    sockets = [viewer(stage.run, token, after=draw.randrange(-1, 3)) for _ in range(5)]
    viewers = [await socket.__aenter__() for socket in sockets]
    await in_thread(stage.send, 0, 3)
    for one in viewers:
        await one.until(3)
    assert len(FEEDS.open) == 1
    assert FEEDS.open[stage.run.pk].viewers == 5
    for n in range(4, 300, 7):
        await in_thread(stage.send, n, n + 6)
    await in_thread(stage.end, frames=305)
    for one in viewers:
        await one.until_end()
        assert one.frames == list(range(one.frames[0], 305))
    for socket in sockets:
        await socket.__aexit__(None, None, None)
    assert FEEDS.open == {}


async def test_a_slow_viewer_misses_nothing(stage: Stage, token: str) -> None:
    """More entries than the reader keeps in memory come while the viewer does not read; the stream still has them."""
    async with viewer(stage.run, token) as ada:
        await in_thread(stage.send, 0, 0)
        await ada.until(0)

        def flood() -> None:
            for n in range(1, 1200):
                stage.send(n, n)

        await in_thread(flood)
        await ada.until(1199)
    assert ada.frames == list(range(1200))


async def test_every_change_of_state_is_told(stage: Stage, token: str) -> None:
    await in_thread(Run.objects.filter(pk=stage.run.pk).update, state=RunState.QUEUED)
    async with viewer(stage.run, token) as ada:
        await ada.receive()
        await in_thread(Run.objects.filter(pk=stage.run.pk).update, state=RunState.RUNNING)
        await in_thread(announce, connection(), stage.run.pk)
        await ada.receive()
        await in_thread(stage.end, RunState.FAILED)
        await ada.until_end()
    assert ada.states == ["queued", "running", "failed"]


async def test_a_change_whose_hint_was_lost_is_seen_a_little_later(stage: Stage, token: str) -> None:
    async with viewer(stage.run, token) as ada:
        await ada.receive()
        await in_thread(Run.objects.filter(pk=stage.run.pk).update, state=RunState.CANCELLED)
        await ada.until_end()
    assert ada.states == ["running", "cancelled"]


async def test_when_the_reader_fails_the_viewer_is_sent_away_and_may_come_again(
    stage: Stage, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(self: Any) -> None:
        raise ValueError("nobody thought of this")

    with monkeypatch.context() as patch:
        patch.setattr("webapp.live.feed.RunFeed._follow_streams", broken)
        async with viewer(stage.run, token) as ada:
            message = await ada.socket.receive_output(timeout=PATIENCE_S)
            while message["type"] == "websocket.send":
                message = await ada.socket.receive_output(timeout=PATIENCE_S)
            assert (message["type"], message["code"]) == ("websocket.close", 1011)
    async with viewer(stage.run, token) as again:
        await in_thread(stage.send, 0, 1)
        await again.until(1)


async def first_message(feeds: Feeds[Any, RunFeed], run: Run, load_row: Callable[[], Awaitable[Any]]) -> dict[str, Any]:
    """What a viewer of the run is told first."""
    async with feeds.feed(run.pk, lambda: RunFeed(run.pk, run.directory, load_row)) as feed:
        async for message in feed.messages(-1):
            told: dict[str, Any] = json.loads(message)
            return told
    raise AssertionError("nothing was told")


async def two_viewers(
    feeds: Feeds[Any, RunFeed], run: Run, load_row: Callable[[], Awaitable[Any]], reading: asyncio.Event
) -> list[asyncio.Task[dict[str, Any]]]:
    """Both wait for the row: the second one came while it was read for the first."""
    first = asyncio.create_task(first_message(feeds, run, load_row))
    await reading.wait()
    second = asyncio.create_task(first_message(feeds, run, load_row))
    while feeds.open[run.pk].viewers < 2:
        await asyncio.sleep(0)
    return [first, second]


@pytest.mark.usefixtures("outages_take_no_time")
async def test_viewers_wait_while_the_database_is_away(
    stage: Stage, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is told that the run has ended, and the log has a line for the outage, not for each try."""
    monkeypatch.setattr("webapp.live.feed.RETRY_S", 0.01)
    feeds: Feeds[Any, RunFeed] = Feeds()
    reading = asyncio.Event()
    tries = 0

    async def load_row() -> Any:
        nonlocal tries
        reading.set()
        tries += 1
        if tries < 5:
            raise OperationalError("connection refused")
        return await run_row(stage.run.pk)

    viewers = await two_viewers(feeds, stage.run, load_row, reading)
    told = await asyncio.wait_for(asyncio.gather(*viewers), PATIENCE_S)
    assert [(each["type"], each["run"]["state"]) for each in told] == [("state", "running")] * 2
    outages.DATABASE.over()
    said = [record.getMessage() for record in caplog.records if record.name == "webapp.lib.outages"]
    assert said == ["the database cannot be reached (connection refused)", "the database is back after 0 s"]


async def test_a_row_that_cannot_be_read_is_not_taken_for_the_end_of_the_run(stage: Stage) -> None:
    feeds: Feeds[Any, RunFeed] = Feeds()
    reading, wrong = asyncio.Event(), asyncio.Event()

    async def load_row() -> Any:
        reading.set()
        await wrong.wait()
        raise ValueError("what is stored cannot be read")

    viewers = await two_viewers(feeds, stage.run, load_row, reading)
    wrong.set()
    told = await asyncio.wait_for(asyncio.gather(*viewers, return_exceptions=True), 5)
    assert [isinstance(each, Exception) for each in told] == [True, True], told
    again = await first_message(feeds, stage.run, lambda: run_row(stage.run.pk))
    assert (again["type"], again["run"]["state"]) == ("state", "running"), "whoever comes again is told how the run is"


async def test_a_viewer_who_leaves_while_the_row_is_read_takes_nobody_along(stage: Stage) -> None:
    feeds: Feeds[Any, RunFeed] = Feeds()
    reading, there = asyncio.Event(), asyncio.Event()

    async def load_row() -> Any:
        reading.set()
        await there.wait()
        return await run_row(stage.run.pk)

    first, second = await two_viewers(feeds, stage.run, load_row, reading)
    first.cancel()
    await asyncio.wait([first], timeout=PATIENCE_S)
    there.set()
    told = await asyncio.wait_for(second, 5)
    assert (told["type"], told["run"]["state"]) == ("state", "running")


async def test_a_ping_is_answered_and_nonsense_is_ignored(stage: Stage, token: str) -> None:
    async with viewer(stage.run, token) as ada:
        await ada.receive()
        for text in ("nonsense", "[]", "3", '{"type": "dance"}', "[" * 100_000):
            await ada.socket.send(text)
        await ada.socket.send('{"type": "ping"}')
        assert await ada.receive() == {"type": "pong"}


# --- who may watch ------------------------------------------------------------------------------------------------------------------------


async def test_a_stranger_is_told_to_sign_in(stage: Stage) -> None:
    assert await close_code(path(stage.run), []) == 4401
    assert await close_code(path(stage.run), [(b"authorization", b"Bearer wrong")]) == 4401


async def test_a_session_counts_only_on_our_own_page(stage: Stage) -> None:
    cookie = (b"cookie", await session_cookie(await in_thread(member, "ada")))
    host = (b"host", b"127.0.0.1:8000")
    assert await close_code(path(stage.run), [cookie, host, (b"origin", b"http://127.0.0.1:8000")]) is None
    assert await close_code(path(stage.run), [cookie, host, (b"origin", b"http://evil.example")]) == 4401
    assert await close_code(path(stage.run), [cookie, host, (b"origin", b"http://127.0.0.1:9")]) == 4401
    assert await close_code(path(stage.run), [cookie, host]) == 4401
    assert await close_code(path(stage.run), [cookie, (b"host", b"evil.example"), (b"origin", b"http://evil.example")]) == 4401
    for origin in (b"http://[", b"http://[::1", b"\xff", b"null", b"http://127.0.0.1:8000\x00"):
        assert await close_code(path(stage.run), [cookie, host, (b"origin", origin)]) == 4401


@pytest.mark.parametrize("address", ["/ws/nowhere", "/ws/runs/7", "/", "/ws/news/"])
async def test_an_address_without_a_socket_is_told_so(address: str, caplog: pytest.LogCaptureFixture) -> None:
    """Nobody needs an account for that, so it must not fill the log."""
    assert await close_code(address, []) == 4404
    assert not caplog.records


def sign_out(membership: Membership) -> None:
    Session.objects.all().delete()


def run_out(membership: Membership) -> None:
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))


def change_password(membership: Membership) -> None:
    membership.user.set_password("another")
    membership.user.save()


def deactivate(membership: Membership) -> None:
    type(membership.user).objects.filter(pk=membership.user.pk).update(is_active=False)


def leave(membership: Membership) -> None:
    membership.delete()


@pytest.mark.parametrize("address", ["run", "/ws/news"])
@pytest.mark.parametrize(("end", "code"), [(sign_out, 4401), (run_out, 4401), (change_password, 4401), (deactivate, 4401), (leave, 4403)])
async def test_who_may_not_watch_any_more_gets_nothing_more(
    stage: Stage, address: str, end: Any, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listeners, "LOOK_S", 0.1)
    looks = calls_of(monkeypatch, listeners.Credentials, "membership")
    ada = await in_thread(member, "ada")
    host = (b"host", b"127.0.0.1:8000")
    headers = [(b"cookie", await session_cookie(ada)), host, (b"origin", b"http://127.0.0.1:8000")]
    socket = Socket(path(stage.run) if address == "run" else address, headers)
    await socket.connect()
    await socket.receive(60)
    await asyncio.to_thread(wait_for, lambda: len(looks) >= 4, "three looks at who listens, after the one at the beginning")
    await in_thread(stage.send, 0, 1)
    if address == "run":
        assert json.loads(await socket.receive(60))["type"] == "frames", "whoever is still signed in goes on"
    await in_thread(end, ada)
    message = await socket.receive_output(timeout=PATIENCE_S)
    while message["type"] == "websocket.send":
        message = await socket.receive_output(timeout=PATIENCE_S)
    assert (message["type"], message["code"]) == ("websocket.close", code)
    await in_thread(stage.send, 2, 3)
    assert await socket.receive_nothing(timeout=0.25)
    await socket.disconnect()


async def test_a_revoked_token_gets_nothing_more(stage: Stage, token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listeners, "LOOK_S", 0.1)
    async with viewer(stage.run, token) as program:
        await program.receive()
        await in_thread(ApiToken.objects.update, revoked_at=timezone.now())
        message = await program.socket.receive_output(timeout=PATIENCE_S)
        assert (message["type"], message["code"]) == ("websocket.close", 4401)


async def test_viewers_with_the_same_credentials_are_looked_up_once(stage: Stage, token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A class of fifty would keep the server busy with itself."""
    monkeypatch.setattr(listeners, "LOOK_S", 0.1)
    async with viewer(stage.run, token) as first, viewer(stage.run, token) as second:
        await first.receive()
        await second.receive()
        looks: list[tuple[int, int]] = []
        look_up = listeners.look_up

        def noted(all: set[listeners.Credentials]) -> Any:
            looks.append((len(listeners.LISTENERS.present), len(all)))
            return look_up(all)

        monkeypatch.setattr(listeners, "look_up", noted)
        await asyncio.to_thread(wait_for, lambda: len(looks) >= 3, "three looks at who listens")
        assert set(looks) == {(2, 1)}
    assert not listeners.LISTENERS.present


def test_it_is_looked_every_few_seconds_who_may_watch() -> None:
    assert listeners.LOOK_S <= 3


async def test_a_run_of_another_lab_does_not_exist(stage: Stage) -> None:
    def token_from_elsewhere() -> str:
        user = get_user_model().objects.create(username="eve")
        membership = Membership.objects.create(lab=Lab.objects.create(name="Elsewhere"), user=user)
        return ApiToken.issue(membership, "test")[1]

    bearer = (b"authorization", f"Bearer {await in_thread(token_from_elsewhere)}".encode())
    assert await close_code(path(stage.run), [bearer]) == 4404


@pytest.mark.parametrize("after", ["x", "-2", "1.5", "%FF"])
async def test_a_bad_position_is_refused(stage: Stage, token: str, after: str) -> None:
    assert await close_code(path(stage.run, after), [(b"authorization", f"Bearer {token}".encode())]) == 4400


@pytest.mark.parametrize("others", [0, 1])
async def test_a_viewer_who_leaves_is_gone_whatever_it_waits_for(stage: Stage, others: int) -> None:
    """Catches: a cancellation that is lost while Redis answers, after which a viewer who has left follows the run to its end, and a feed
    whose last viewer leaves is never closed."""
    row = await run_row(stage.run.pk)
    feeds: Feeds[Any, RunFeed] = Feeds()

    async def load_row() -> Any:
        return row

    async def follow() -> None:
        async with feeds.feed(stage.run.pk, lambda: RunFeed(stage.run.pk, stage.run.directory, load_row)) as feed:
            async for _ in feed.messages(-1):
                await asyncio.sleep(0)

    staying = [asyncio.create_task(follow()) for _ in range(others)]
    for steps in range(60):
        leaving = asyncio.create_task(follow())
        for _ in range(steps):
            await asyncio.sleep(0)
        leaving.cancel()
        await asyncio.wait([leaving], timeout=PATIENCE_S)
        assert leaving.done(), f"{steps} steps"
        assert len(feeds.open) == others
    for task in staying:
        task.cancel()
        await asyncio.wait([task], timeout=PATIENCE_S)
    assert not feeds.open
