"""Balancing by hand: an order without moves plans once."""

from __future__ import annotations

from engine.spec.experiment.balancings.by_hand import BalancingByHand
from engine.spec.experiment.balancings.s3j import S3JBalancing

from . import s3j
from .loads import Loads


def plan(about: BalancingByHand, loads: Loads) -> None:
    """Plan as S3J does."""
    s3j.plan(S3JBalancing(), loads)
