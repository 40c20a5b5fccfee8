"""Sessions in the database, under hashes of their keys: whoever reads the database, or a backup, cannot sign in with what is there."""

from __future__ import annotations

import hashlib
from typing import Any

from asgiref.sync import sync_to_async
from django.contrib.sessions.backends import db
from django.utils import timezone

HASH_BYTES = 20
"""As hexadecimal digits it has the 40 characters of the column."""


def stored(key: str) -> str:
    """What the database has in place of a session's key. Keys are random and long, so a plain hash cannot be searched through."""
    return hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=HASH_BYTES).hexdigest()


class SessionStore(db.SessionStore):
    """As the one of Django, whose methods are given the key itself."""

    def _get_session_from_db(self) -> Any:
        key = self.session_key
        found = None if key is None else self.model.objects.filter(session_key=stored(key), expire_date__gt=timezone.now()).first()
        if found is None:
            self._session_key = None
        return found

    async def _aget_session_from_db(self) -> Any:
        return await sync_to_async(self._get_session_from_db)()

    def exists(self, session_key: str) -> bool:
        return super().exists(stored(session_key))

    async def aexists(self, session_key: str) -> bool:
        return await super().aexists(stored(session_key))

    def create_model_instance(self, data: Any) -> Any:
        made = super().create_model_instance(data)
        made.session_key = stored(made.session_key)
        return made

    async def acreate_model_instance(self, data: Any) -> Any:
        made = await super().acreate_model_instance(data)
        made.session_key = stored(made.session_key)
        return made

    def delete(self, session_key: str | None = None) -> None:
        key = session_key or self.session_key
        if key is not None:
            super().delete(stored(key))

    async def adelete(self, session_key: str | None = None) -> None:
        key = session_key or self.session_key
        if key is not None:
            await super().adelete(stored(key))
