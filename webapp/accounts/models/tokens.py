"""Tokens. Only their hashes are stored: whoever reads the database cannot sign in with them."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

from ..rights import SCOPES, Right

SIGN_IN_TOKEN_LIFETIME = timedelta(hours=1)
NOTED_EVERY = timedelta(minutes=1)


def hashed(token: str) -> str:
    """SHA-256 in hex. The tokens carry 256 random bits, so a slow hash would protect nothing more."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


class SignInToken(models.Model):
    """A link that signs a person in, once."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    @classmethod
    def issue(cls, user: Any) -> str:
        """Make a token for the user; the return value is the only place where it can be read. Old ones are swept out."""
        now = timezone.now()
        cls.objects.filter(expires_at__lt=now).delete()
        token = secrets.token_urlsafe(32)
        cls.objects.create(user=user, hash=hashed(token), expires_at=now + SIGN_IN_TOKEN_LIFETIME)
        return token

    @classmethod
    def redeem(cls, token: str) -> Any | None:
        """The user, if the token is fresh; it is used up by that. Of two at the same time only one succeeds."""
        now = timezone.now()
        fresh = cls.objects.filter(hash=hashed(token), used_at__isnull=True, expires_at__gt=now)
        if fresh.update(used_at=now) == 0:
            return None
        return cls.objects.select_related("user").get(hash=hashed(token)).user


class ApiToken(models.Model):
    """A bearer token of a program that acts for a person. It stays in the list when it has ended, so that what it did can be told."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    name = models.CharField(max_length=100)
    hash = models.CharField(max_length=64, unique=True)
    scope = models.CharField(max_length=10, choices=[(scope, scope) for scope in SCOPES], default=str(Right.WRITE))
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    @classmethod
    def issue(cls, user: Any, name: str, scope: Right = Right.WRITE, lifetime: timedelta | None = None) -> tuple[ApiToken, str]:
        """Make a token, and the text that stands for it, which can be read here only."""
        text = "millrace_" + secrets.token_urlsafe(32)
        expires_at = timezone.now() + lifetime if lifetime else None
        return cls.objects.create(user=user, name=name, hash=hashed(text), scope=str(scope), expires_at=expires_at), text

    @classmethod
    def find(cls, text: str) -> ApiToken | None:
        return cls.objects.select_related("user").filter(hash=hashed(text)).first()

    @property
    def right(self) -> Right:
        return Right.of_scope(self.scope)

    @property
    def state(self) -> str:
        if self.revoked_at:
            return "revoked"
        return "expired" if self.expires_at and self.expires_at <= timezone.now() else "active"

    @property
    def why_ended(self) -> str:
        """As a sentence; empty if it can be used."""
        if self.state == "active":
            return ""
        ended_at = self.revoked_at or self.expires_at
        return f"this token {'was revoked' if self.revoked_at else 'ran out'} on {ended_at:%Y-%m-%d at %H:%M} UTC; issue a new one"

    def note_use(self) -> None:
        """To the minute: a program that asks all the time shall not write all the time."""
        now = timezone.now()
        if self.last_used_at is None or now - self.last_used_at > NOTED_EVERY:
            ApiToken.objects.filter(pk=self.pk).update(last_used_at=now)

    def revoke(self) -> None:
        ApiToken.objects.filter(pk=self.pk, revoked_at__isnull=True).update(revoked_at=timezone.now())
