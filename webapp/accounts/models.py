"""Tokens. Only their hashes are stored: whoever reads the database cannot sign in with them."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

SIGN_IN_TOKEN_LIFETIME = timedelta(hours=1)


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
    """A bearer token of a program that acts for a person."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    name = models.CharField(max_length=100)
    hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    revoked_at = models.DateTimeField(null=True)

    @classmethod
    def issue(cls, user: Any, name: str) -> str:
        """Make a token; the return value is the only place where it can be read."""
        token = "millrace_" + secrets.token_urlsafe(32)
        cls.objects.create(user=user, name=name, hash=hashed(token))
        return token

    @classmethod
    def user_of(cls, token: str) -> Any | None:
        found = cls.objects.select_related("user").filter(hash=hashed(token), revoked_at__isnull=True, user__is_active=True).first()
        return found.user if found else None
