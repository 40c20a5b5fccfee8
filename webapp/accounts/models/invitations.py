"""Invitations to the lab: single-use links that make a person a member."""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

from webapp.lab.models import Lab
from webapp.lab.models.people import Role

from .tokens import hashed


class Invitation(models.Model):
    """Anyone who has its text may join the lab with its role."""

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE)
    role = models.CharField(max_length=10, choices=Role, default=Role.MEMBER)
    hash = models.CharField(max_length=64, unique=True)
    invited_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="invitations")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    withdrawn_at = models.DateTimeField(null=True)
    used_at = models.DateTimeField(null=True)

    @classmethod
    def issue(cls, lab: Lab, role: str, invited_by: Any, lifetime: timedelta) -> tuple[Invitation, str]:
        """Create an invitation. Returns it with its secret text, which is not stored."""
        text = secrets.token_urlsafe(32)
        expires_at = timezone.now() + lifetime
        return cls.objects.create(lab=lab, role=role, invited_by=invited_by, hash=hashed(text), expires_at=expires_at), text

    @classmethod
    def find(cls, text: str) -> Invitation | None:
        return cls.objects.select_related("lab", "invited_by").filter(hash=hashed("".join(text.split()))).first()

    @property
    def why_ended(self) -> str:
        """Why it is no longer valid, as a sentence; empty if it is."""
        if self.used_at:
            return "this invitation has been used; each is for one person"
        if self.withdrawn_at:
            return "this invitation was withdrawn"
        return "this invitation has expired" if self.expires_at <= timezone.now() else ""

    def use(self) -> bool:
        """Mark the invitation as used. Of concurrent calls, only one succeeds."""
        now = timezone.now()
        fresh = Invitation.objects.filter(pk=self.pk, used_at__isnull=True, withdrawn_at__isnull=True, expires_at__gt=now)
        return fresh.update(used_at=now) == 1
