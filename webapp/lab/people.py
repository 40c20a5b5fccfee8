"""Members of the lab: look up, create, change, remove."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction

from .models import Lab, Membership
from .models.people import Role

LOCAL_LAB = "Lab"


def lab() -> Lab:
    """Return the lab of this installation; create it if there is none."""
    found = Lab.objects.order_by("pk").first()
    return found or Lab.objects.get_or_create(name=LOCAL_LAB)[0]


@transaction.atomic
def member(username: str, role: str = "owner") -> Membership:
    """Return the person's membership. An unknown person is created with `role` and without a password, to sign in by link."""
    user, made = get_user_model().objects.get_or_create(username=username)
    if made:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    membership, _ = Membership.objects.get_or_create(lab=lab(), user=user, defaults={"role": role})
    return membership


def membership_of(user: Any) -> Membership | None:
    """Return the person's membership, or None if they are not a member."""
    if not user.is_authenticated or not user.is_active:
        return None
    return Membership.objects.select_related("lab", "user").filter(user=user).order_by("pk").first()


class LastOwner(Exception):
    """The change would leave the lab without an owner."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} is the last owner of the lab; make someone else an owner first")


@transaction.atomic
def change_role(membership: Membership, role: str) -> None:
    """Raises LastOwner."""
    if role != Role.OWNER:
        _leave_an_owner(membership)
    Membership.objects.filter(pk=membership.pk).update(role=role)


@transaction.atomic
def remove(membership: Membership) -> None:
    """End the person's membership; their work stays. Raises LastOwner."""
    _leave_an_owner(membership)
    membership.delete()


def _leave_an_owner(membership: Membership) -> None:
    """Raise LastOwner unless another owner remains. The lab's row is locked, so that two owners cannot demote each other at the same
    time."""
    Lab.objects.select_for_update().get(pk=membership.lab_id)
    owners = Membership.objects.filter(lab=membership.lab_id, role=Role.OWNER, user__is_active=True)
    if owners.filter(pk=membership.pk).exists() and not owners.exclude(pk=membership.pk).exists():
        raise LastOwner(membership.user.get_username())
