"""What a worker does while the database is away: it waits, and begins its work again. The log has one line when the database goes, and one
when it is back, however much work waits."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from django.db import DatabaseError, InterfaceError, connections

from webapp.lab.waiting_work import KINDS
from webapp.lib import outages

from .execution import SHUTTING_DOWN
from .identity import worker_name

AGAIN_S = 1.0


def waiting_for_the_database(work: Callable[[str], None]) -> Callable[[str], None]:
    """Decorates idempotent work, named by the id of its row, of a process that does one thing at a time. Errors of statements are raised. A
    worker that shuts down leaves the work to the sweeper of another."""

    @wraps(work)
    def done(id: str) -> None:
        again = False
        while True:
            try:
                if again:  # nobody has died, so it need not wait until the lease expires, and is no loss
                    for kind in KINDS:
                        kind.objects.release_all_of(worker_name())
                work(id)
            except (DatabaseError, InterfaceError) as error:
                if not outages.note(error):
                    raise
            else:
                outages.DATABASE.over(written=True)
                return
            connections.close_all()
            again = True
            if SHUTTING_DOWN.wait(AGAIN_S):
                return

    return done
