"""Labs and their members: look up, create, change, remove."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.db import IntegrityError, transaction
from django.db.models import Case, QuerySet, Value, When

from .models import Lab, Membership
from .models.people import Role

LOCAL_LAB = "Lab"


class NoSuchLab(Exception):
    """There is no lab of this name, or there is one already; the message says which there are."""


def lab() -> Lab:
    """Return the first lab of this installation; create it if there is none."""
    found = Lab.objects.order_by("pk").first()
    return found or Lab.objects.get_or_create(name=LOCAL_LAB, defaults={"folder": ""})[0]


def lab_named(name: str) -> Lab:
    """Raises NoSuchLab."""
    found = Lab.objects.filter(name=name).first()
    if found is None:
        raise NoSuchLab(f"there is no lab '{name}'; there are {', '.join(Lab.objects.order_by('pk').values_list('name', flat=True))}")
    return found


def new_lab(name: str) -> Lab:
    """Raises NoSuchLab if the name is taken."""
    lab()  # the first one has the data directory itself
    try:
        with transaction.atomic():
            return Lab.objects.create(name=name)
    except IntegrityError:
        raise NoSuchLab(f"there is a lab '{name}' already; choose another name") from None


@transaction.atomic
def member(username: str, role: str = "owner", of: Lab | None = None) -> Membership:
    """Return the person's membership. An unknown person is created with `role` and without a password, to sign in by link.

    of: the lab; default: one that the person belongs to, and the first one for a person that belongs to none.
    """
    user, made = get_user_model().objects.get_or_create(username=username)
    if made:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    found = membership_of(user) if of is None else None
    return found or Membership.objects.get_or_create(lab=of or lab(), user=user, defaults={"role": role})[0]


def join(user: Any, role: str) -> Membership:
    """Make a person a member of the first lab. Has no effect on one who is a member already."""
    return Membership.objects.get_or_create(lab=lab(), user=user, defaults={"role": role})[0]


def memberships_of(user: Any) -> QuerySet[Membership]:
    """Return the person's memberships in the order in which they joined; none of a person who was deactivated."""
    if not user.is_authenticated or not user.is_active:
        return Membership.objects.none()
    return Membership.objects.select_related("lab", "user").filter(user=user).order_by("pk")


def membership_of(user: Any, chosen: int | None = None, *, confined: bool = False) -> Membership | None:
    """Return the membership in the chosen lab, or the first one if the person does not belong to it. None if there is none.

    confined: no other lab than the chosen one counts.
    """
    if not user.is_authenticated or not user.is_active:
        return None
    found = Membership.objects.select_related("lab").filter(user=user).order_by("pk")
    if confined:
        found = found.filter(lab=chosen)
    elif chosen is not None:
        found = found.order_by(Case(When(lab=chosen, then=Value(0)), default=Value(1)), "pk")
    membership = found.first()
    if membership is not None:
        membership.user = user  # read for each request, so without what is known already
    return membership


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
