"""What a worker does when it is connected with the queue again."""

from __future__ import annotations

from typing import Any

from celery import Celery, bootsteps

from webapp.lib.redis_outages import REDIS


class NoteThatRedisIsBack(bootsteps.StartStopStep):  # type: ignore[misc]
    """A part of Celery's consumer, started whenever it has connected."""

    requires = ("celery.worker.consumer.connection:Connection",)

    def start(self, consumer: Any) -> None:
        REDIS.over()


def watch(application: Celery) -> None:
    application.steps["consumer"].add(NoteThatRedisIsBack)
