"""Placements that need no model: what a learned one has to beat (specification 4.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from .space import Placed, Space

Strength = Sequence[float]
"""By host; of equal ones the first counts as stronger."""


def all_on_one(space: Space, strength: Strength) -> Placed | None:
    """Everything on the strongest host."""
    return _filled(space, lambda _: _strongest(range(len(space.bins)), strength))


def top_down(space: Space, strength: Strength) -> Placed | None:
    """Sources on the weakest host, everything else on the strongest."""
    hosts = range(len(space.bins))
    weakest = max(hosts, key=lambda host: (-strength[host], host))
    return _filled(space, lambda operator: _strongest(hosts, strength) if space.senders[operator] else weakest)


def bottom_up(space: Space, strength: Strength, demand: Sequence[float]) -> Placed | None:
    """From the sources on the weakest hosts upward: an operator stays with its senders until the host is full, then moves on to the next
    stronger one. demand: by operator, in the unit of strength."""
    ranked = sorted(range(len(space.bins)), key=lambda host: (space.bins[host], strength[host], host))
    free = list(strength)
    place: dict[int, int] = {}
    for operator in space.order:
        rank = max((ranked.index(place[sender]) for sender in space.senders[operator]), default=0)
        while rank < len(ranked) - 1 and free[ranked[rank]] < demand[operator]:
            rank += 1
        place[operator] = ranked[rank]
        free[ranked[rank]] -= demand[operator]
    placed = tuple(place[operator] for operator in range(space.operators))
    return None if space.broken(placed) else placed


HEURISTICS: Mapping[str, Callable[[Space, Strength], Placed | None]] = {"all on one host": all_on_one, "all but sources on one": top_down}


def _strongest(hosts: Sequence[int], strength: Strength) -> int:
    return max(hosts, key=lambda host: (strength[host], -host))


def _filled(space: Space, wanted: Callable[[int], int]) -> Placed | None:
    """What is wanted where an operator may run there, else the first host that it may run on; None if a rule is broken."""
    placed = []
    for operator in range(space.operators):
        allowed = None if space.hosts is None else space.hosts[operator]
        host = wanted(operator)
        placed.append(host if allowed is None or host in allowed else allowed[0])
    return None if space.broken(placed) else tuple(placed)
