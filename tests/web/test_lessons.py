"""Lessons over the API.

What this catches: a lesson that a page cannot draw, an unknown one that is an error of the server, a broken document without its place.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client

from engine.lessons import LessonFiles
from webapp.api import lessons

S3J = ("2.2a", "2.2b", "2.3", "", "")


def test_lessons_are_listed_and_told(client: Client) -> None:
    listed = client.get("/api/lessons").json()
    assert [one["figure"] for one in listed] == [
        "3.1",
        "3.2",
        "3.3",
        "3.4",
        "3.5",
        "3.6",
        "3.3",
        "3.4",
        "5.2",
        "",
        "1.1",
        "2.2",
        "3.1",
        "3.2",
        "",
        *S3J,
    ]
    groups = ["Scheduling", "Watermarks", "Watermarks", "Scheduling", "Scheduling"]
    groups = ["Changelogs", "Changelogs", "Joins of many streams", "Changelogs", *groups]
    assert [one["group"] for one in listed] == ["Checkpoints"] * 6 + groups + ["Similarity joins"] * 5
    told = client.get("/api/lessons/checkmate-3.5").json()
    assert {name: told[name] for name in listed[4]} == listed[4]
    first = told["cases"][0]
    assert (first["name"], first["shows"], first["diagram"]["instances"]) == ("With m6", "rollback", ["O1", "O2", "O3"])
    assert [step["orphans"] for step in first["steps"] if step["marked"]] == [["m6"], ["m4"], ["m5"], ["m3"], ["m2"]]
    marks = {mark["id"]: mark["name"] for mark in first["diagram"]["checkpoints"]}
    assert [marks[id] for id in first["steps"][-1]["line"]] == ["c11", "c21", "c31"]


def test_a_lesson_that_is_not_there(client: Client) -> None:
    answer = client.get("/api/lessons/checkmate-3.9")
    assert answer.status_code == 404
    assert answer.json()["detail"].startswith("there is no lesson 'checkmate-3.9'; did you mean 'checkmate-3.")


def test_a_lesson_that_cannot_be_says_where_and_why(client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lessons").mkdir()
    broken = "title: T\ntext: T\ninstances: [A]\nhistory: [{receive: m1}]\ncases: [{name: c, shows: {kind: rollback}}]\n"
    (tmp_path / "lessons" / "broken.yaml").write_text(broken)
    monkeypatch.setattr(lessons, "FILES", LessonFiles(tmp_path))
    for address in ("/api/lessons", "/api/lessons/broken"):
        answer = client.get(address)
        assert answer.status_code == 422
        assert answer.json()["detail"] == "lesson 'broken' is invalid: receive: message 'm1' has not been sent"
        assert answer.json()["problems"][0]["pointer"] == "/history/0/receive"


def test_lessons_need_somebody_who_is_signed_in() -> None:
    assert Client(HTTP_HOST="127.0.0.1").get("/api/lessons").status_code == 401
