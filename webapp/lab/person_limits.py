"""What one person of a lab may have at a time: running, waiting, stored, requests. The lab's owners set it, for everybody alike."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Any

import redis
from django.db.models import Count, Sum

from webapp.lib.file_sizes import in_words, size_of
from webapp.lib.redis_connection import connection

from .models import Dataset, Lab, Run, RunState
from .models.work import TAKEN, is_active
from .quota import LimitReached, check_room

MINUTE_S = 60


@dataclass(frozen=True)
class PersonLimits:
    """running, waiting: runs. requests: in a minute. None: no limit."""

    running: int | None = None
    waiting: int | None = None
    stored_bytes: int | None = None
    requests: int | None = None

    @classmethod
    def of(cls, lab: Lab) -> PersonLimits:
        """As they were when the row was read."""
        return cls(**lab.person_limits)

    def store(self, lab: Lab) -> None:
        Lab.objects.filter(pk=lab.pk).update(person_limits={name: limit for name, limit in asdict(self).items() if limit is not None})


@dataclass(frozen=True)
class Usage:
    """What a person has now. requests: so far in this minute; they are counted only while there is a limit."""

    running: int
    waiting: int
    stored_bytes: int
    requests: int

    @classmethod
    def of(cls, lab: Lab, name: str, user: int) -> Usage:
        """name: of the person, as runs and data sets have it. user: id of the account."""
        states = dict(_active(lab, name).values_list("state").annotate(Count("pk")))
        return cls(
            running=sum(states.get(state, 0) for state in TAKEN), waiting=states.get(RunState.QUEUED, 0),
            stored_bytes=_stored_bytes(lab, name), requests=_requests(lab, user),
        )  # fmt: skip


def check_start(lab: Lab, author: str, *, waits: bool) -> None:
    """Check the limits of the lab and of the person, as they were when the lab's row was read, before work starts. author: empty without a
    person. waits: whether it counts among what waits for that person. Raises LimitReached."""
    check_room(lab)
    check_stored(lab, author)
    if waits:
        check_waiting(lab, author)


def check_waiting(lab: Lab, name: str) -> None:
    """Check the limit before a person starts a run or a study. Raises LimitReached."""
    limit = PersonLimits.of(lab).waiting
    if limit is not None and name and (waiting := _active(lab, name).filter(state=RunState.QUEUED).count()) >= limit:
        raise LimitReached(
            f"you have {waiting} {'run' if waiting == 1 else 'runs'} waiting, and the lab's limit for a person is {limit}; wait until some "
            "have started, cancel some, or ask an owner to raise the limit (page Lab, People)"
        )


def check_stored(lab: Lab, name: str) -> None:
    """Check the limit before work of a person starts that needs space. Raises LimitReached."""
    limit = PersonLimits.of(lab).stored_bytes
    if limit is not None and name and (stored := _stored_bytes(lab, name)) >= limit:
        raise LimitReached(
            f"the runs and data sets of {name} take {in_words(stored)}, and the lab's limit for a person is {in_words(limit)}; delete "
            "some, or ask an owner to raise the limit (page Lab, People)"
        )


def count_request(lab: Lab, user: int) -> int:
    """Count a request of an account. Returns in how many seconds it may ask again; 0 if it may go on. While Redis is away, nobody is
    refused."""
    limit = PersonLimits.of(lab).requests
    if limit is None:
        return 0
    now_s = time.time()
    try:
        with connection().pipeline(transaction=False) as pipeline:
            pipeline.incr(_key(lab, user, now_s))
            pipeline.expire(_key(lab, user, now_s), 2 * MINUTE_S)
            count = pipeline.execute()[0]
    except (redis.RedisError, OSError):
        return 0
    return 0 if count <= limit else max(1, MINUTE_S - int(now_s) % MINUTE_S)


def _active(lab: Lab, name: str) -> Any:
    return Run.objects.filter(is_active(), lab=lab, author=name, deleted_at__isnull=True)


def _stored_bytes(lab: Lab, name: str) -> int:
    of_runs = Run.objects.filter(lab=lab, author=name, deleted_at__isnull=True).aggregate(sum=Sum("stored_bytes"))["sum"] or 0
    return of_runs + sum(size_of(one.path) for one in Dataset.objects.filter(lab=lab, author=name, deleted_at__isnull=True))


def _requests(lab: Lab, user: int) -> int:
    try:
        return int(connection().get(_key(lab, user, time.time())) or 0)
    except (redis.RedisError, OSError):
        return 0


def _key(lab: Lab, user: int, now_s: float) -> str:
    return f"requests:{lab.pk}:{user}:{int(now_s) // MINUTE_S}"
