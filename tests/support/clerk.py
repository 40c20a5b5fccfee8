"""Does at an installation what tests prepare there: management commands, and labs of their own, without a new process for each.

    python -m tests.support.clerk       in the environment of the installation; a request a line, an answer a line, both JSON

{"manage": [words]}: run a management command -> {"printed": text}
{"lab": name}: make a lab with the examples and its owner; "": the lab of the installation, and `local` -> {"cookie": {name: session key},
"token": text, "home": where its corpora and models are}
Whatever fails gives {"failed": text}.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


class Clerk:
    """The process, as a test sees it."""

    def __init__(self, environment: dict[str, str]) -> None:
        command = [sys.executable, "-m", "tests.support.clerk"]
        self._process = subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._lock = threading.Lock()

    def ask(self, **request: Any) -> dict[str, Any]:
        """Raises AssertionError with what went wrong there."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._lock:
            print(json.dumps(request), file=self._process.stdin, flush=True)
            line = self._process.stdout.readline()
        answer: dict[str, Any] = json.loads(line or '{"failed": "the clerk has ended"}')
        assert "failed" not in answer, f"{request}: {answer['failed']}"
        return answer

    def manage(self, *words: str) -> str:
        return str(self.ask(manage=words)["printed"]).strip()

    def stop(self) -> None:
        with suppress(OSError):
            self._process.communicate(timeout=20)


def manage(words: list[str]) -> dict[str, str]:
    from django.core.management import call_command

    printed = io.StringIO()
    call_command(*words, stdout=printed)
    return {"printed": printed.getvalue()}


def lab(name: str) -> dict[str, Any]:
    from django.conf import settings
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY

    from webapp.accounts.models import ApiToken
    from webapp.accounts.rights import Right
    from webapp.accounts.sessions import SessionStore
    from webapp.accounts.views import BY_LINK
    from webapp.lab import fixtures, people

    if name:
        made = people.new_lab(name)
        membership = people.member(f"owner of {name}", of=made)
        fixtures.load(made)
    else:
        membership = people.member("local")
    user = membership.user
    session = SessionStore()
    session.update(
        {
            SESSION_KEY: str(user.pk),
            BACKEND_SESSION_KEY: "django.contrib.auth.backends.ModelBackend",
            HASH_SESSION_KEY: user.get_session_auth_hash(),
            BY_LINK: True,
        }
    )
    session.create()
    _, token = ApiToken.issue(membership, "browser tests", Right.of_scope(str(Right.WRITE)), None)
    return {"cookie": {settings.SESSION_COOKIE_NAME: str(session.session_key)}, "token": token, "home": str(membership.lab.home)}


def main() -> None:
    import django

    django.setup()
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = manage(request["manage"]) if "manage" in request else lab(request["lab"])
        except Exception as error:
            answer = {"failed": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
