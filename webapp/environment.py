"""Reads the settings that come from environment variables, with errors that name the variable and what would be right."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

SOCKET_PATH_BYTES_MAX = 100  # the kernel allows 107, with the closing zero


def text(name: str, default: str = "") -> str:
    return os.environ.get(name, "").strip() or default


def flag(name: str, default: bool = False) -> bool:
    value = text(name).lower()
    if value in ("", "1", "true", "yes", "on", "0", "false", "no", "off"):
        return default if not value else value in ("1", "true", "yes", "on")
    raise ImproperlyConfigured(f"{name} is {value!r}; it must be 1 or 0")


def whole_number(name: str, default: int, minimum: int = 0) -> int:
    value = text(name, str(default))
    if not value.isdecimal() or int(value) < minimum:
        raise ImproperlyConfigured(f"{name} is {value!r}; it must be a whole number of at least {minimum}")
    return int(value)


def one_of(name: str, *values: str) -> str:
    """The first if it is not set."""
    value = text(name, values[0]).lower()
    if value not in values:
        raise ImproperlyConfigured(f"{name} is {value!r}; it must be {' or '.join(map(repr, values))}")
    return value


def words(name: str, default: str = "") -> list[str]:
    """Values separated by commas."""
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def secret_key(data_directory: Path) -> str:
    """MILLRACE_SECRET_KEY, or a random key that is made once and kept, readable by the owner only, in the data directory."""
    given = text("MILLRACE_SECRET_KEY")
    if given:
        return given
    path = data_directory / "secret_key"
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        kept = path.read_text().strip()
        if not kept:
            raise ImproperlyConfigured(f"{path} is empty; delete it, and a new key is made") from None
        return kept
    key = secrets.token_urlsafe(48)
    with os.fdopen(descriptor, "w") as file:
        file.write(key)
    return key


def celery_broker_url(redis_url: str) -> str:
    """The broker URL that Kombu understands for a redis-py URL: it has its own scheme for unix sockets."""
    if redis_url.startswith("unix://"):
        return redis_url.replace("unix://", "redis+socket://", 1).replace("?db=", "?virtual_host=", 1)
    return redis_url
