"""Whose run a free worker takes next.

The queue has a message for each run that waits, but a message only says that there is work: which run it is, is decided when a worker is
free. People take turns. Whoever has the fewest runs in progress is next, and of several the one who was served longest ago. Of one
person, runs that they started by hand go before those of their studies, and then the oldest first.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any

import redis
from django.db.models import Case, Value, When

from webapp.lib.redis_connection import connection
from webapp.messaging import queue

from .models import Lab, Run
from .models.work import TAKEN, is_active
from .person_limits import PersonLimits

SERVED, TURNS = "turns:served", "turns:count"
TRIES = 10
Person = tuple[int, str]
"""A lab's id and a name, since the labs of an installation take turns, too."""


def order(hint: uuid.UUID | str) -> Iterator[str]:
    """Yield the run whose turn it is, and others in case other workers claim these first. Nothing if everybody who waits has as many runs
    in progress as they may. hint: the run that the message was sent for."""
    tried: list[uuid.UUID] = []
    while len(tried) < TRIES and (chosen := _next(tried)) is not None:
        tried.append(chosen)
        yield str(chosen)
    if not tried and not _waiting().filter(pk=hint).exists():
        yield str(hint)


def wake(run_id: uuid.UUID | str) -> None:
    """Tell the workers that the person of a run that has ended may have another one in progress, if there is a limit on these."""
    run = Run.objects.filter(pk=run_id).select_related("lab").only("lab", "author").first()
    if run is None or PersonLimits.of(run.lab).running is None:
        return
    waiting = _waiting().filter(lab=run.lab, author=run.author).values_list("pk", flat=True).first()
    if waiting is not None:
        queue.send(Run.TASK, waiting, Run.QUEUE)


def _waiting() -> Any:
    return Run.objects.queued().filter(cancel_requested=False, enqueued_at__isnull=False)


def _next(without: Collection[uuid.UUID]) -> uuid.UUID | None:
    people = list(_waiting().exclude(pk__in=without).order_by().values_list("lab", "author").distinct())
    running = Counter(Run.objects.filter(is_active(), state__in=TAKEN).exclude(lease_holder="").values_list("lab", "author"))
    labs = {lab.pk: PersonLimits.of(lab).running for lab in Lab.objects.filter(pk__in={lab for lab, _ in people})}
    free = [person for person in people if (limit := labs[person[0]]) is None or running[person] < limit]
    if not free:
        return None
    served = _served(free)
    person = min(free, key=lambda one: (running[one], served[one], one))
    _note(person)
    own = _waiting().filter(lab=person[0], author=person[1]).exclude(pk__in=without)
    first: uuid.UUID | None = (
        own.order_by(Case(When(study=None, then=Value(0)), default=Value(1)), "created_at", "number").values_list("pk", flat=True).first()
    )
    return first


def _served(people: Collection[Person]) -> dict[Person, int]:
    """When each was served last, as a number of turns; 0 if that is not known."""
    try:
        turns: list[Any] = connection().hmget(SERVED, [_key(person) for person in people])
    except (redis.RedisError, OSError):
        turns = [None] * len(people)
    return {person: int(turn or 0) for person, turn in zip(people, turns, strict=True)}


def _note(person: Person) -> None:
    try:
        connection().hset(SERVED, _key(person), connection().incr(TURNS))
    except (redis.RedisError, OSError):
        return


def _key(person: Person) -> str:
    return f"{person[0]}:{person[1]}"
