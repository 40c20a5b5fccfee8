"""Ingress policies, one file each: what sources do while their host is full."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.family import Family
from .base import Ingress

INGRESSES = Family("ingresses", __name__, Ingress, {"marks": "it returns the load above which a host is full"})

if TYPE_CHECKING:
    AnyIngress = Ingress
else:
    AnyIngress = INGRESSES.union
