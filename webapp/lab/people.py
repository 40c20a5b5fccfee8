"""Finding and making the people of the lab."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction

from .models import Lab, Membership

LOCAL_LAB = "Lab"


def lab() -> Lab:
    """The lab of this installation; made when there is none."""
    found = Lab.objects.order_by("pk").first()
    return found or Lab.objects.get_or_create(name=LOCAL_LAB)[0]


@transaction.atomic
def member(username: str, role: str = "owner") -> Membership:
    """The person's membership. An unknown person is made, without a password: sign-in is by link, and gets `role`."""
    user, made = get_user_model().objects.get_or_create(username=username)
    if made:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    membership, _ = Membership.objects.get_or_create(lab=lab(), user=user, defaults={"role": role})
    return membership


def membership_of(user: Any) -> Membership | None:
    """The person's place in the lab, or None for strangers."""
    if not user.is_authenticated or not user.is_active:
        return None
    return Membership.objects.select_related("lab", "user").filter(user=user).order_by("pk").first()
