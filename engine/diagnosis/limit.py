"""The verdict of a diagnosis."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class LimitKind(StrEnum):
    """What can limit a run."""

    NOTHING = "nothing"
    INSTANCES = "instances"  # all instances of an operator are busy
    SKEW = "skew"  # one of its instances gets more than its share
    SOURCE = "source"  # reading the logs
    CORES = "cores"  # of a host
    LINK = "link"
    CREDITS = "credits"
    COLLECTOR = "collector"  # a full memory slows services down, or stops sources
    PROTOCOL = "protocol"  # checkpoints
    RECOVERY = "recovery"
    RESCALE = "rescale"
    FAULT = "fault"
    UNCLEAR = "unclear"


@dataclass(frozen=True)
class Evidence:
    """A measurement behind a verdict, as text with its unit."""

    label: str
    value: str


@dataclass(frozen=True)
class Limit:
    """What limits a run over a span, or nothing.

    sentence: the verdict in words. evidence: the measurements behind it, the weightiest first. operator, instances: what stands at its
    limit, if that is an operator or some of its instances. host: likewise. link: likewise, as its sending and its receiving host, or a
    trunk's name alone. also: operators at their limit whose relief alone would not help.
    """

    kind: LimitKind
    sentence: str
    evidence: tuple[Evidence, ...] = ()
    operator: str | None = None
    instances: tuple[int, ...] = ()
    host: str | None = None
    link: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
