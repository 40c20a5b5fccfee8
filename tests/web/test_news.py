"""What changes in the lab is pushed to those who look at it, and whoever may have missed something is told to read anew."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from django.test import Client

from tests.support.patience import PATIENCE_S
from webapp.accounts.models import ApiToken
from webapp.lab.models import Experiment, Lab, Reproduction, Run, RunState, Waterfalls
from webapp.lab.models.waterfalls import hash_of
from webapp.lab.people import member
from webapp.lib.redis_connection import connection
from webapp.live import news
from webapp.live.news import NEWS
from webapp.messaging import presence
from webapp.messaging.stream import announce, announce_lists, announce_row
from workers import execution, figures
from workers import waterfalls as worker

from .conftest import RedisProcess, new_experiment, new_run, small_document
from .sockets import Socket, in_thread

pytestmark = pytest.mark.django_db(transaction=True)


class Listener:
    """A page that is open: the newest row of all that it was told, and what else it heard."""

    def __init__(self, socket: Socket) -> None:
        self.socket = socket
        self.rows: dict[str, dict[str, Any]] = {}
        self.states: list[str] = []
        self.heard: list[str] = []
        self.people: dict[str, list[str]] = {}
        self.saved: list[dict[str, Any]] = []

    async def receive(self) -> None:
        message = json.loads(await self.socket.receive(60))
        self.heard.append(message["type"])
        for told in message.get("presences", []):
            self.people[told["id"]] = [one["name"] for one in told["pages"]]
        self.saved += [experiment["saved"] for experiment in message.get("experiments", [])]
        for row in message.get("runs", []) + message.get("questions", []) + message.get("reproductions", []):
            if self.rows.get(row["id"], {}).get("state") != row["state"]:
                self.states.append(row["state"])
            self.rows[row["id"]] = row

    async def until(self, condition: Any) -> None:
        while not condition():
            await self.receive()


@pytest.fixture
def token(redis: RedisProcess, lab: Lab) -> str:
    return ApiToken.issue(member("ada"), "test")[1]


@asynccontextmanager
async def listener(token: str) -> AsyncIterator[Listener]:
    socket = Socket("/ws/news", [(b"authorization", f"Bearer {token}".encode())])
    await socket.connect()
    page = Listener(socket)
    await page.receive()
    assert page.heard == ["ready"]
    yield page
    await socket.disconnect()


async def test_a_run_is_told_from_its_start_to_its_end(client: Client, experiment: Experiment, token: str) -> None:
    async with listener(token) as page:
        answer = await in_thread(client.post, f"/api/experiments/{experiment.pk}/runs", {}, content_type="application/json")
        id = answer.json()["id"]
        await page.until(lambda: id in page.rows)
        await in_thread(execution.execute, id)
        await page.until(lambda: page.rows[id]["state"] == "succeeded")
        assert page.states[0] == "queued"
        assert page.states[-1] == "succeeded"
        assert "document" not in page.rows[id]
        shown = (await in_thread(client.get, f"/api/runs/{id}")).json()
        assert {name: value for name, value in page.rows[id].items() if not name.endswith("_at")}.items() <= shown.items()


async def test_a_run_that_is_paused_goes_on_being_told(client: Client, experiment: Experiment, token: str) -> None:
    run = await in_thread(new_run, experiment)
    async with listener(token) as page:
        for action, state in (("pause", "paused"), ("resume", "queued"), ("cancel", "cancelled")):
            answer = await in_thread(client.post, f"/api/runs/{run.pk}/{action}", {}, content_type="application/json")
            assert answer.status_code == 202, answer.content
            await page.until(lambda state=state: page.rows.get(str(run.pk), {}).get("state") == state)


async def test_a_question_is_told_with_its_progress(
    client: Client, experiment: Experiment, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.run_monitor.PROGRESS_S", 0.0)
    run = await in_thread(new_run, experiment)
    await in_thread(execution.execute, str(run.pk))
    async with listener(token) as page:
        answer = await in_thread(client.post, f"/api/runs/{run.pk}/waterfalls", {"slowest": 3}, content_type="application/json")
        id = answer.json()["id"]
        await page.until(lambda: id in page.rows)
        await in_thread(worker.make, id)
        await page.until(lambda: page.rows[id]["state"] == "succeeded")
        assert (page.rows[id]["run"], page.rows[id]["records"], page.rows[id]["progress"]) == (str(run.pk), 3, 1.0)
        deleted = await in_thread(client.delete, f"/api/runs/{run.pk}/waterfalls/{id}")
        assert deleted.status_code == 204
        await page.until(lambda: page.heard[-1] == "lists")


async def test_the_progress_of_a_question_is_told(experiment: Experiment, token: str) -> None:
    def question() -> Waterfalls:
        run = new_run(experiment)
        Run.objects.filter(pk=run.pk).update(state=RunState.SUCCEEDED)
        asked = Waterfalls.objects.create(run=run, selection={"slowest": 1}, selection_hash=hash_of({}))
        Waterfalls.objects.claim(asked.pk, "w")
        return asked

    asked = await in_thread(question)
    async with listener(token) as page:
        for share in (0.25, 0.5):
            await in_thread(Waterfalls.objects.filter(pk=asked.pk).update, progress=share)
            await in_thread(announce_row, connection(), "question", asked.pk)
            await page.until(lambda share=share: page.rows.get(str(asked.pk), {}).get("progress") == share)


async def test_a_figure_that_is_carried_out_is_told_from_its_start_to_its_end(client: Client, token: str) -> None:
    path = "/api/figures/benchmark/3.5/reproductions"
    async with listener(token) as page:
        asked = (await in_thread(client.post, path, {"scale": "smoke"}, content_type="application/json")).json()
        id = asked["id"]
        await page.until(lambda: id in page.rows)
        assert (page.rows[id]["figure"], page.rows[id]["state"]) == ("benchmark/3.5", "queued")
        await in_thread(figures.make, id)
        await page.until(lambda: page.rows[id]["state"] == "succeeded")
        assert page.rows[id]["progress"] == 1.0
        again = (await in_thread(client.post, path, {"scale": "smoke"}, content_type="application/json")).json()["id"]
        await in_thread(Reproduction.objects.claim, again, "w")
        await in_thread(client.post, f"{path}/{again}/cancel")
        await page.until(lambda: page.rows.get(again, {}).get("cancel_requested"))


@pytest.mark.parametrize(("action", "undo"), [("delete", "restore"), ("tag", "untag")])
async def test_changes_of_what_is_listed_are_told(client: Client, experiment: Experiment, token: str, action: str, undo: str) -> None:
    run = await in_thread(new_run, experiment)
    await in_thread(Run.objects.filter(pk=run.pk).update, state=RunState.SUCCEEDED)
    async with listener(token) as page:
        for one in (action, undo):
            body = {"action": one, "ids": [str(run.pk)], **({"tag": "old"} if "tag" in one else {})}
            page.heard.clear()
            answer = await in_thread(client.post, "/api/runs/bulk", body, content_type="application/json")
            assert answer.status_code == 200
            await page.until(lambda: "lists" in page.heard)


async def test_another_labs_runs_are_not_told(lab: Lab, experiment: Experiment, token: str) -> None:
    elsewhere = await in_thread(Lab.objects.create, name="Elsewhere")
    theirs = await in_thread(lambda: new_run(new_experiment(elsewhere, small_document())))
    ours = await in_thread(new_run, experiment)
    async with listener(token) as page:
        await in_thread(announce, connection(), theirs.pk)
        await in_thread(announce_lists, connection(), elsewhere.pk)
        await in_thread(announce, connection(), ours.pk)
        await page.until(lambda: str(ours.pk) in page.rows)
        assert await page.socket.receive_nothing(timeout=0.7)
        assert list(page.rows) == [str(ours.pk)]
        assert "lists" not in page.heard


@pytest.mark.slow
async def test_without_redis_what_is_active_is_told_and_then_all_is_read_anew(
    experiment: Experiment, token: str, redis: RedisProcess
) -> None:
    run = await in_thread(new_run, experiment)
    async with listener(token) as page:
        await page.until(lambda: str(run.pk) in page.rows)
        await in_thread(redis.stop)
        await in_thread(Run.objects.filter(pk=run.pk).update, state=RunState.CANCELLED)
        await page.until(lambda: page.rows[str(run.pk)]["state"] == "cancelled")
        page.heard.clear()
        await in_thread(redis.start)
        await page.until(lambda: "ready" in page.heard)
        again = await in_thread(new_run, experiment)
        await in_thread(announce, connection(), again.pk)
        await page.until(lambda: str(again.pk) in page.rows)


async def test_listeners_share_one_reader_and_one_that_is_far_behind_reads_anew(experiment: Experiment, token: str) -> None:
    async with listener(token) as page, listener(token) as other:
        assert [feed.viewers for feed in NEWS.open.values()] == [2]
        feed = next(iter(NEWS.open.values()))
        for _ in range(news.WAITING_MAX + 1):
            feed._tell(news.LISTS)
        await page.until(lambda: page.heard[-1] == "ready")
        await other.until(lambda: other.heard[-1] == "ready")
        assert page.heard.count("lists") < news.WAITING_MAX
    assert NEWS.open == {}


async def test_when_the_reader_fails_the_page_is_sent_away_and_may_come_again(token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(self: Any) -> None:
        raise ValueError("nobody thought of this")

    with monkeypatch.context() as patch:
        patch.setattr("webapp.live.news.LabFeed._follow", broken)
        socket = Socket("/ws/news", [(b"authorization", f"Bearer {token}".encode())])
        await socket.connect()
        message = await socket.receive_output(timeout=PATIENCE_S)
        assert (message["type"], message["code"]) == ("websocket.close", 1011)
        await socket.disconnect()
        await asyncio.sleep(0)
    async with listener(token):
        pass


async def test_a_save_is_told_with_who_and_from_where(client: Client, experiment: Experiment, token: str) -> None:
    async with listener(token) as page:
        body = {"version": 1, "document": {"name": "Mine"}, "editor": "tab-1"}
        await in_thread(client.put, f"/api/experiments/{experiment.pk}", body, content_type="application/json")
        await page.until(lambda: page.saved)
        assert [(one["number"], one["author"], one["editor"]) for one in page.saved] == [(2, "ada", "tab-1")]


async def test_who_has_an_experiment_open_is_told_until_they_leave(experiment: Experiment, token: str) -> None:
    id = str(experiment.pk)
    other = await in_thread(lambda: ApiToken.issue(member("ben"), "test")[1])

    def opens(experiment: Any, editor: Any = "tab") -> str:
        return json.dumps({"type": "open", "experiment": experiment, "editor": editor})

    async with listener(token) as ada:
        await ada.socket.send(opens(id))
        await ada.until(lambda: ada.people.get(id) == ["ada"])
        async with listener(other) as ben:
            for nonsense in (opens("x"), opens(7), opens(id, 7), opens(str(uuid.uuid4())), '{"type":"open"}', "[1]", '{"type":["open"]}'):
                await ben.socket.send(nonsense)
            await ben.socket.send(opens(id))
            await ada.until(lambda: ada.people[id] == ["ada", "ben"])
            await ben.until(lambda: ben.people.get(id) == ["ada", "ben"])
            await ben.socket.send(opens(None))
            await ada.until(lambda: ada.people[id] == ["ada"])
            await ben.socket.send(opens(id))
            await ada.until(lambda: ada.people[id] == ["ada", "ben"])
        await ada.until(lambda: ada.people[id] == ["ada"])


async def test_who_goes_without_a_word_is_gone_for_others_too(experiment: Experiment, token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process of a page may die; nobody hints at what becomes of its entry."""
    id = str(experiment.pk)
    async with listener(token) as page:
        await in_thread(presence.Open(experiment.pk, "1", "ben", "tab").renew, announced=True)
        await page.until(lambda: page.people.get(id) == ["ben"])
        now = time.time()
        monkeypatch.setattr(presence.time, "time", lambda: now + presence.GONE_AFTER_S + 1)
        await page.until(lambda: page.people[id] == [])


def test_pages_of_a_process_that_died_are_gone_after_a_moment(
    redis: RedisProcess, experiment: Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    presence.Open(experiment.pk, "1", "ada", "tab").renew()
    assert presence.people_at(experiment.pk) == [("ada", "tab")]
    now = time.time()
    monkeypatch.setattr(presence.time, "time", lambda: now + presence.GONE_AFTER_S + 1)
    assert presence.people_at(experiment.pk) == []
    redis.stop()
    presence.Open(experiment.pk, "1", "ada", "tab").renew(announced=True)
    assert presence.people_at(experiment.pk) == [], "nobody is shown without Redis, and nothing fails"
    redis.start()
