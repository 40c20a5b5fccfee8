"""Labs and who belongs to them."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class Lab(models.Model):
    """People who share experiments, data sets and runs."""

    name = models.CharField(max_length=100, unique=True)
    runs_numbered = models.PositiveIntegerField(default=0)  # the number of the newest run
    created_at = models.DateTimeField(auto_now_add=True)


class Role(models.TextChoices):
    OWNER = "owner"
    MEMBER = "member"
    VIEWER = "viewer"  # reads, changes nothing


class Membership(models.Model):
    """A person's place in a lab."""

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    role = models.CharField(max_length=10, choices=Role, default=Role.MEMBER)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["lab", "user"], name="one_membership")]

    @property
    def may_write(self) -> bool:
        return self.role != Role.VIEWER
