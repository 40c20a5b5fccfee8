"""Tokens. Only their hashes are stored, so reading the database does not reveal usable tokens."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

from webapp.lab.models import Lab, Membership

from ..rights import SCOPES, Right

SIGN_IN_TOKEN_LIFETIME = timedelta(hours=1)
NOTED_EVERY = timedelta(minutes=1)


def hashed(token: str) -> str:
    """SHA-256 in hex. Tokens have 256 random bits, so a slow hash would add no protection."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


class SignInToken(models.Model):
    """A single-use sign-in link. Of a link that a lab's owner has made, the session sees no other lab of the person."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    lab = models.ForeignKey(Lab, null=True, on_delete=models.CASCADE)  # of the owner; null: made on the server
    hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    @classmethod
    def issue(cls, user: Any, lab: Lab | None = None) -> str:
        """Create a token for the user and return its text, which is not stored. Deletes expired tokens."""
        now = timezone.now()
        cls.objects.filter(expires_at__lt=now).delete()
        token = secrets.token_urlsafe(32)
        cls.objects.create(user=user, lab=lab, hash=hashed(token), expires_at=now + SIGN_IN_TOKEN_LIFETIME)
        return token

    @classmethod
    def redeem(cls, token: str) -> SignInToken | None:
        """Return a fresh token and mark it as used. Of concurrent calls, only one succeeds."""
        now = timezone.now()
        fresh = cls.objects.filter(hash=hashed(token), used_at__isnull=True, expires_at__gt=now)
        if fresh.update(used_at=now) == 0:
            return None
        return cls.objects.select_related("user").get(hash=hashed(token))


class ApiToken(models.Model):
    """A bearer token of a program that acts for a person in one lab. Ended tokens are kept, so that their past actions remain
    attributable."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    lab = models.ForeignKey(Lab, on_delete=models.CASCADE)
    name = models.CharField(max_length=100)
    hash = models.CharField(max_length=64, unique=True)
    scope = models.CharField(max_length=10, choices=[(scope, scope) for scope in SCOPES], default=str(Right.WRITE))
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    @classmethod
    def issue(
        cls, membership: Membership, name: str, scope: Right = Right.WRITE, lifetime: timedelta | None = None
    ) -> tuple[ApiToken, str]:
        """Create a token. Returns it with its secret text, which is not stored."""
        text = "millrace_" + secrets.token_urlsafe(32)
        expires_at = timezone.now() + lifetime if lifetime else None
        token = cls.objects.create(
            user=membership.user, lab=membership.lab, name=name, hash=hashed(text), scope=str(scope), expires_at=expires_at
        )
        return token, text

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
        """Why it is no longer valid, as a sentence; empty if it is."""
        if self.state == "active":
            return ""
        ended_at = self.revoked_at or self.expires_at
        return f"this token {'was revoked' if self.revoked_at else 'expired'} on {ended_at:%Y-%m-%d at %H:%M} UTC; issue a new one"

    def note_use(self) -> None:
        """Record the last use, at most once a minute, so that frequent requests do not cause frequent writes."""
        now = timezone.now()
        if self.last_used_at is None or now - self.last_used_at > NOTED_EVERY:
            ApiToken.objects.filter(pk=self.pk).update(last_used_at=now)

    def revoke(self) -> None:
        ApiToken.objects.filter(pk=self.pk, revoked_at__isnull=True).update(revoked_at=timezone.now())
