"""Changes to the network between two calls of the loop (docs/event-core.md, section 4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.core import layout as L
from engine.core.kernels import transmission
from engine.core.tables import Arrays, Words
from engine.core.world import World


def look_ahead(w: Arrays) -> int:
    """The least latency in ns over pairs of hosts that exchange messages or credits; FAR if there are none.

    With actors, every machine with instances may send to every other one and to the actors. A host that dies restarts after the window.
    """
    senders, receivers = w.inst[w.chan[:, L.C_SENDER], L.I_HOST], w.inst[w.chan[:, L.C_RECEIVER], L.I_HOST]
    remote = senders != receivers
    bounded = remote & (w.edge[w.chan[:, L.C_EDGE], L.E_BOUND] > 0)  # credits travel back
    ways = np.concatenate([w.latency[senders[remote], receivers[remote]], w.latency[receivers[bounded], senders[bounded]]])
    actors = np.arange(w.g[L.G_ACTORS], len(w.next_ns))
    if len(actors):
        everyone = np.concatenate([np.unique(w.inst[:, L.I_HOST]), actors])
        between = w.latency[np.ix_(everyone, everyone)]
        ways = np.concatenate([ways, between[~np.eye(len(everyone), dtype=bool)]])
    plain = ways[ways >= 0]
    own = w.link[-1 - ways[ways < 0], L.LINK_LATENCY]
    return int(min(plain.min(initial=L.FAR), own.min(initial=L.FAR), w.memory[:, L.Z_RESTART].min(initial=L.FAR)))


def change_links(world: World, changes: Sequence[tuple[int, int, int]]) -> None:
    """Change links (row, up_ns, latency_ns) from the next instant on: each passes only messages sent at `up_ns` or later."""
    w = world.arrays
    for k, up_ns, latency_ns in changes:
        w.link[k, L.LINK_UP], w.link[k, L.LINK_LATENCY] = up_ns, latency_ns
    if changes:
        w.g[L.G_LOOKAHEAD] = look_ahead(w)


def send_beside(world: World, h: int, h2: int, size_bytes: int, now_ns: int) -> int:
    """Send a message from host `h` to host `h2` that no instance sends or receives, as controls of hosts tell one another. It takes the
    links like any message, and a trunk as soon as it is sent. Returns when it arrives; FAR if the link is down, and then it is lost."""
    w = world.arrays
    way = int(w.latency[h, h2])
    if way >= 0:
        w.host[h, L.H_SENT_BYTES] += size_bytes
        return _pass(w.host, h, L.H_LINK_FREE, int(w.host[h, L.H_MBIT]), size_bytes, now_ns) + way
    k = -1 - way
    if w.link[k, L.LINK_UP] > now_ns:
        return L.FAR
    w.host[h, L.H_SENT_BYTES] += size_bytes
    w.link[k, L.LINK_BYTES] += size_bytes
    if w.link[k, L.LINK_MBIT] > 0:
        left_ns = _pass(w.link, k, L.LINK_FREE, int(w.link[k, L.LINK_MBIT]), size_bytes, now_ns)
    else:
        left_ns = _pass(w.host, h, L.H_LINK_FREE, int(w.host[h, L.H_MBIT]), size_bytes, now_ns)
    trunk = int(w.link[k, L.LINK_INBOX])
    if trunk != h2:
        w.host[trunk, L.H_SENT_BYTES] += size_bytes
        left_ns = _pass(w.host, trunk, L.H_LINK_FREE, int(w.host[trunk, L.H_MBIT]), size_bytes, left_ns)
    return int(transmission.land(w.link, k, left_ns))  # type: ignore[no-untyped-call]


def up_ns(w: Arrays, h: int, h2: int) -> int:
    """From when on the link from host `h` to host `h2` passes messages; FAR if it never does again."""
    way = int(w.latency[h, h2])
    return 0 if way >= 0 else int(w.link[-1 - way, L.LINK_UP])


def _pass(fifo: Words, row: int, free: int, mbit: int, size_bytes: int, now_ns: int) -> int:
    """When a message that enters a FIFO link at `now_ns` has left it."""
    begun = transmission.begin(fifo, row, free, now_ns)  # type: ignore[no-untyped-call]
    return int(transmission.leave(fifo, row, free, mbit, size_bytes, begun))  # type: ignore[no-untyped-call]


def release(world: World, k: int, now_ns: int) -> None:
    """Send the messages waiting for link `k`, in order. Call it after everything before `now_ns` and before anything at `now_ns`."""
    while transmission.release(world.arrays, k, now_ns) == 1:
        world.grow(L.NEED_RING)


def held(w: Arrays) -> int:
    """Number of messages that wait for a link that will come up again."""
    return int(w.link[w.link[:, L.LINK_UP] < L.FAR, L.LINK_HELD_COUNT].sum())
