"""Read settings from environment variables. Errors name the variable and its valid values."""

from __future__ import annotations

import os
import secrets
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

SOCKET_PATH_BYTES_MAX = 100  # the kernel allows 107, including the terminating NUL


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
    """Return one of the values; the first is the default."""
    value = text(name, values[0]).lower()
    if value not in values:
        raise ImproperlyConfigured(f"{name} is {value!r}; it must be {' or '.join(map(repr, values))}")
    return value


def words(name: str, default: str = "") -> list[str]:
    """Return comma-separated values."""
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def networks(name: str, default: str = "") -> list[IPv4Network | IPv6Network]:
    """Return comma-separated addresses and networks."""
    found = []
    for word in words(name, default):
        try:
            found.append(ip_network(word))
        except ValueError as error:
            raise ImproperlyConfigured(
                f"{name} has {word!r}; it must be an address or a network, such as 172.18.0.0/16 ({error})"
            ) from None
    return found


def secret_key(data_directory: Path) -> str:
    """Return MILLRACE_SECRET_KEY, or a random key generated once and stored in the data directory, readable only by the owner."""
    given = text("MILLRACE_SECRET_KEY")
    if given:
        return given
    path = data_directory / "secret_key"
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        kept = path.read_text().strip()
        if not kept:
            raise ImproperlyConfigured(f"{path} is empty; delete it to have a new key generated") from None
        return kept
    key = secrets.token_urlsafe(48)
    with os.fdopen(descriptor, "w") as file:
        file.write(key)
    return key


def celery_broker_url(redis_url: str) -> str:
    """Convert a redis-py URL to Kombu's form, which has its own scheme for unix sockets."""
    if redis_url.startswith("unix://"):
        return redis_url.replace("unix://", "redis+socket://", 1).replace("?db=", "?virtual_host=", 1)
    return redis_url


def identity_providers(url: str, name: str, client: str, secret: str) -> dict[str, Any]:
    """Return django-allauth's description of an OpenID Connect provider; without an address, of none."""
    if url and not client:
        raise ImproperlyConfigured(
            "MILLRACE_OIDC_URL names an identity provider, but MILLRACE_OIDC_CLIENT is empty; set it to the client's id"
        )
    app = {"provider_id": "provider", "name": name, "client_id": client, "secret": secret, "settings": {"server_url": url}}
    return {"openid_connect": {"OAUTH_PKCE_ENABLED": True, "APPS": [app] if url else []}}
