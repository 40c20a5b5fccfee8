"""Health of the server, and the signed-in user."""

from __future__ import annotations

from django.db import DatabaseError, connection
from django.http import HttpRequest
from ninja import Router, Schema, Status

from webapp.accounts.access import CONFINED_TO_LAB
from webapp.accounts.rights import Right, RoleName, Scope
from webapp.lab.people import memberships_of
from webapp.lib import redis_connection
from webapp.lib.version import VERSION
from webapp.messaging.heartbeats import workers_alive

router = Router()


class Health(Schema):
    ok: bool
    redis: bool
    database: bool
    worker: bool
    version: str


class Alive(Schema):
    ok: bool
    version: str


class LabOfMine(Schema):
    id: int
    name: str
    role: RoleName


class Me(Schema):
    """lab: the one that this request is about. labs: all that this session can choose, in the order in which the person joined them."""

    name: str
    lab: str
    role: RoleName
    scopes: list[Scope]  # what they may do; also the scopes their tokens may have
    labs: list[LabOfMine]


@router.get("/health", response={200: Health, 503: Health}, auth=None, summary="Are all parts up?")
def health(request: HttpRequest) -> Status:
    answer = parts()
    return Status(200 if answer.ok else 503, answer)


def parts() -> Health:
    redis_up, database_up = redis_connection.is_up(), database_is_up()
    worker_up = redis_up and workers_alive() > 0
    return Health(ok=redis_up and database_up and worker_up, redis=redis_up, database=database_up, worker=worker_up, version=VERSION)


@router.get("/health/live", response=Alive, auth=None, summary="Does the web server answer? It needs no other part")
def live(request: HttpRequest) -> Alive:
    return Alive(ok=True, version=VERSION)


@router.get("/health/ready", response={200: Health, 503: Health}, auth=None, summary="Can it serve pages? Runs may wait for a worker")
def ready(request: HttpRequest) -> Status:
    answer = parts()
    return Status(200 if answer.database and answer.redis else 503, answer)


@router.get("/me", response=Me, summary="Who am I?")
def me(request: HttpRequest) -> Me:
    asker = request.auth
    scopes = [str(right) for right in Right if right <= asker.right]
    confined = asker.token is not None or request.session.get(CONFINED_TO_LAB) is not None
    memberships = [asker.membership] if confined else memberships_of(asker.user)
    labs = [LabOfMine(id=one.lab.pk, name=one.lab.name, role=one.role) for one in memberships]
    return Me(name=asker.user.get_username(), lab=asker.lab.name, role=asker.membership.role, scopes=scopes, labs=labs)


def database_is_up() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True
