"""Sessions are stored as hashes. Catches: a database or a backup with which somebody can sign in."""

from __future__ import annotations

from importlib import import_module

import pytest
from asgiref.sync import async_to_sync
from django.apps import apps
from django.conf import settings
from django.contrib.sessions.models import Session
from django.test import Client

from webapp.accounts.sessions import SessionStore, stored
from webapp.lab.people import member

pytestmark = pytest.mark.django_db


def signed_in() -> Client:
    client = Client(HTTP_HOST="127.0.0.1")
    client.force_login(member("local").user)
    return client


def with_cookie(key: str) -> Client:
    client = Client(HTTP_HOST="127.0.0.1")
    client.cookies[settings.SESSION_COOKIE_NAME] = key
    return client


def test_nobody_signs_in_with_what_the_database_has() -> None:
    client = signed_in()
    key = client.cookies[settings.SESSION_COOKIE_NAME].value
    (row,) = Session.objects.all()
    assert row.session_key == stored(key) != key
    assert with_cookie(key).get("/api/me").status_code == 200
    assert with_cookie(row.session_key).get("/api/me").status_code == 401


def test_signing_out_ends_the_session() -> None:
    client = signed_in()
    key = client.cookies[settings.SESSION_COOKIE_NAME].value
    assert client.delete("/api/session").status_code < 300
    assert with_cookie(key).get("/api/me").status_code == 401


@pytest.mark.parametrize("is_async", [False, True])
def test_a_session_is_kept_under_its_key(is_async: bool) -> None:
    """Both ways of Django, with a new key at each sign-in."""
    session = SessionStore()
    session["a"] = 1
    (async_to_sync(session.acreate) if is_async else session.create)()
    key = str(session.session_key)
    again = SessionStore(key)
    assert (async_to_sync(again.aload) if is_async else again.load)() == {"a": 1}
    assert (async_to_sync(again.aexists)(key), again.exists(key), again.exists(stored(key))) == (True, True, False)
    again["a"] = 2
    (async_to_sync(again.asave) if is_async else again.save)()
    assert SessionStore(key).load() == {"a": 2}
    again.cycle_key()
    assert (SessionStore(key).load(), SessionStore(again.session_key).load()) == ({}, {"a": 2})
    (async_to_sync(again.adelete) if is_async else again.delete)()
    assert not Session.objects.exists()


def test_people_stay_signed_in_when_their_keys_are_hashed() -> None:
    client = signed_in()
    key = client.cookies[settings.SESSION_COOKIE_NAME].value
    Session.objects.update(session_key=key)  # as before
    migration = import_module("migrations.accounts.0005_session_keys")
    for _ in range(2):  # a second time it changes nothing
        migration.hash_keys(apps, None)
        assert with_cookie(key).get("/api/me").status_code == 200
